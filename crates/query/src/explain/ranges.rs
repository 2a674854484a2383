//! Ranges of index entries as text: `/city/? = "Oslo"`, `/age/? > 5`, `(/a ASC, /b DESC) = (1, ..)`.
//!
//! What is shown is read back from the bounds' bytes. Where they do not tell a value, their bytes are shown.

use std::ops::Bound;

use armilla_index::{IndexId, KeyRange, term};
use armilla_value::key::class;
use armilla_value::{Value, json};

/// Most values of a list that are shown.
const VALUES_SHOWN_MAX: usize = 5;

/// Returns the paths, and what of their index lies in the ranges.
pub(super) fn text(paths: &[String], ranges: &[KeyRange], is_equality: bool) -> String {
    let name = match paths {
        [path] => path.clone(),
        paths => format!("({})", paths.join(", ")),
    };
    format!("{name} {}", bounds(paths, ranges, is_equality))
}

/// Returns what of an index lies in the ranges.
pub(super) fn bounds(paths: &[String], ranges: &[KeyRange], is_equality: bool) -> String {
    let texts: Vec<String> = match paths {
        [_] => ranges.iter().take(VALUES_SHOWN_MAX).map(|range| interval(range, is_equality)).collect(),
        paths => ranges.iter().take(VALUES_SHOWN_MAX).map(|range| composite(paths, range)).collect(),
    };
    let more = ranges.len() > VALUES_SHOWN_MAX;
    match texts.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        all if is_equality => {
            let values: Vec<&str> = all.iter().map(|text| text.strip_prefix("= ").unwrap_or(text)).collect();
            format!("IN ({}{})", values.join(", "), if more { ", ..." } else { "" })
        }
        all => format!("{}{}", all.join(" or "), if more { " or ..." } else { "" }),
    }
}

/// Returns a bound's bytes behind the id of the index.
fn terms(bound: &Bound<bytes::Bytes>) -> &[u8] {
    match bound {
        Bound::Included(key) | Bound::Excluded(key) => key.get(IndexId::BYTES..).unwrap_or_default(),
        Bound::Unbounded => &[],
    }
}

fn interval(range: &KeyRange, is_equality: bool) -> String {
    let (low, high) = (terms(&range.lower), terms(&range.upper));
    if is_equality {
        return format!("= {}", value(low).unwrap_or_else(|| hashed(low)));
    }
    if range.is_empty() {
        return "nothing".to_owned();
    }
    if let ([first], [end]) = (low, high) {
        return classes(*first, *end);
    }
    if let (Some(value), true) = (value(low), before(high).is_some_and(|before| before == low)) {
        return format!("= {value}");
    }
    if let Some(prefix) = prefix(low, high) {
        return format!("begins with {prefix}");
    }
    let exact = |bound: &[u8]| value(bound).filter(|_| bound.len() > 1);
    let lower = match (exact(low), before(low).and_then(|before| value(&before))) {
        (Some(value), _) => Some(format!(">= {value}")),
        // Numbers begin behind the one that is none.
        (None, Some(value)) => (value != NAN).then(|| format!("> {value}")),
        (None, None) if low.len() <= 1 => None,
        (None, None) => Some(format!(">= {}", hashed(low))),
    };
    let upper = match (exact(high), before(high).and_then(|before| value(&before))) {
        (Some(value), _) => Some(format!("< {value}")),
        (None, Some(value)) => Some(format!("<= {value}")),
        (None, None) if high.len() <= 1 => None,
        (None, None) => Some(format!("< {}", hashed(high))),
    };
    let (low_class, end) = (low.first().copied().unwrap_or_default(), high.first().copied().unwrap_or(END));
    match (lower, upper) {
        (Some(lower), Some(upper)) => format!("{lower} and {upper}"),
        // The range ends with the type of its bound, or goes on through others.
        (Some(lower), None) if classes_between(low_class, end).len() <= 1 => lower,
        (Some(lower), None) => {
            let above = &classes_between(low_class, end)[1..];
            format!("{lower} or is {}", names(above))
        }
        (None, Some(upper)) => {
            let below = classes_between(low_class, end);
            let is_whole_type = low.len() > 1 || below.is_empty();
            if is_whole_type { upper } else { format!("is {} or {upper}", names(&below)) }
        }
        (None, None) => "all".to_owned(),
    }
}

/// Returns the values that a range of a composite index has in common.
fn composite(paths: &[String], range: &KeyRange) -> String {
    let (low, high) = (terms(&range.lower), terms(&range.upper));
    let mut values = Vec::new();
    let mut at = 0;
    for path in paths {
        let invert = |bytes: &[u8]| -> Vec<u8> {
            let descending = path.ends_with(" DESC");
            bytes.iter().map(|byte| if descending { !byte } else { *byte }).collect()
        };
        let rest = invert(low.get(at..).unwrap_or_default());
        let Some(length) = term::length(&rest) else { break };
        // The last of the range may be the end of what both bounds share.
        let shared = high.get(..at + length) == low.get(..at + length);
        let ends_here = low.len() == at + length && before(high).is_some_and(|before| before == low);
        if !shared && !ends_here {
            break;
        }
        values.push(value(&rest[..length]).unwrap_or_else(|| hashed(&rest[..length])));
        at += length;
    }
    if values.is_empty() {
        return "some".to_owned();
    }
    if values.len() < paths.len() {
        values.push("..".to_owned());
    }
    format!("= ({})", values.join(", "))
}

/// Returns the value of a whole term.
fn value(term: &[u8]) -> Option<String> {
    if term.is_empty() {
        return None;
    }
    Some(match term::decode(term)? {
        Some(Value::Double(number)) if number.is_nan() => NAN.to_owned(),
        Some(value) => json::to_string(&value),
        None => "undefined".to_owned(),
    })
}

/// How the number is shown that is none.
const NAN: &str = "NaN";

/// Returns what an array, object or long text is shown as.
fn hashed(term: &[u8]) -> String {
    match term.first() {
        Some(&class::ARRAY) if term.len() > 1 => "[...]".to_owned(),
        Some(&class::OBJECT) if term.len() > 1 => "{...}".to_owned(),
        Some(&class::STRING) if term.len() > term::FINGERPRINT_BYTES => "a long text".to_owned(),
        _ => term.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// Returns the bytes of which these are the next with no such beginning.
fn before(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    let last = bytes.last_mut().filter(|last| **last > 0)?;
    *last -= 1;
    (bytes.len() > 1).then_some(bytes)
}

/// Returns the text that all strings of a range begin with, if that is what the range is.
fn prefix(low: &[u8], high: &[u8]) -> Option<String> {
    if low.first() != Some(&class::STRING) || value(low).is_some() || before(high)? != low {
        return None;
    }
    // With an end behind it, a beginning is a string.
    let ended = [low, &[0x00, 0x01]].concat();
    Some(value(&ended).unwrap_or_else(|| "a long text".to_owned()))
}

/// Behind all classes.
const END: u8 = class::MAX_KEY + 1;

const CLASSES: [(u8, &str); 9] = [
    (class::UNDEFINED, "undefined"),
    (class::NULL, "null"),
    (class::FALSE, "false"),
    (class::TRUE, "true"),
    (class::NUMBER, "number"),
    (class::STRING, "string"),
    (class::ARRAY, "array"),
    (class::OBJECT, "object"),
    (class::MIN_KEY, "other"),
];

/// Returns the classes from one on to before another.
fn classes_between(first: u8, end: u8) -> Vec<&'static str> {
    CLASSES.iter().filter(|(byte, _)| (first..end).contains(byte)).map(|(_, name)| *name).collect()
}

fn names(classes: &[&str]) -> String {
    classes.join(", ").replace("false, true", "boolean")
}

fn classes(first: u8, end: u8) -> String {
    match (first, end) {
        (class::UNDEFINED, END) => "all".to_owned(),
        (class::NULL, END) => "defined".to_owned(),
        (first, end) => format!("is {}", names(&classes_between(first, end))),
    }
}
