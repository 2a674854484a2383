//! Functions over strings.

use std::borrow::Cow;
use std::collections::HashSet;

use armilla_value::{Value, json};

use crate::aggregate::weight_bytes;
use crate::datum::{Datum, DatumKind, write_double};
use crate::limits::{PARSED_BYTES_MAX, REPLICATE_UNITS_MAX, RESULT_BYTES_MAX, SCAN_NEEDLE_BYTES_MAX};
use crate::meter::Meter;
use crate::operators::{and, or};
use crate::pattern_cache::PatternCache;
use crate::{case, units};

fn text<'d, 'a>(args: &'d [Datum<'a>], index: usize) -> Option<&'d Cow<'a, str>> {
    match args.get(index)? {
        Datum::Str(text) => Some(text),
        _ => None,
    }
}

/// Returns the argument that says whether letter case is ignored; false where it is not given.
fn ignores_case(args: &[Datum<'_>]) -> Option<bool> {
    args.get(2).map_or(Some(false), Datum::as_bool)
}

/// Joins strings.
pub(crate) fn concat<'a>(args: &[Datum<'a>]) -> Option<Datum<'a>> {
    let mut bytes = 0;
    for index in 0..args.len() {
        bytes += text(args, index)?.len();
    }
    if bytes > RESULT_BYTES_MAX {
        return None;
    }
    let mut joined = String::with_capacity(bytes);
    for arg in args {
        joined.push_str(arg.as_str()?);
    }
    Some(joined.into())
}

fn search<'a>(
    args: &[Datum<'_>],
    exact: impl FnOnce(&str, &str) -> bool,
    ignoring_case: impl FnOnce(&str, &str) -> bool,
) -> Option<Datum<'a>> {
    let (text, wanted) = (text(args, 0)?, text(args, 1)?);
    let found = if ignores_case(args)? { ignoring_case(text, wanted) } else { exact(text, wanted) };
    Some(Datum::Bool(found))
}

/// Says whether a string contains another.
pub(crate) fn contains<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    search(args, |text, part| text.contains(part), case::contains)
}

/// Says whether a string ends with another.
pub(crate) fn ends_with<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    search(args, |text, end| text.ends_with(end), case::ends_with)
}

/// Says whether a string begins with another.
pub(crate) fn starts_with<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    search(args, |text, start| text.starts_with(start), case::starts_with)
}

/// Says whether a string equals another.
pub(crate) fn string_equals<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    search(args, |left, right| left == right, case::equals)
}

/// Says whether a string contains all others; a false one decides, whatever the rest is.
pub(crate) fn contains_all<'a>(
    args: &[Datum<'_>],
    ignoring_case: bool,
    meter: &Meter<'_>,
) -> Option<Datum<'a>> {
    let text = text(args, 0)?;
    let mut truth = Some(true);
    for part in &args[1..] {
        if !meter.go_over(text.len()) {
            return None;
        }
        truth = and(truth, contains_part(text, part, ignoring_case));
        if truth == Some(false) {
            break;
        }
    }
    truth.map(Datum::Bool)
}

/// Says whether a string contains one of the others; a true one decides, whatever the rest is.
pub(crate) fn contains_any<'a>(
    args: &[Datum<'_>],
    ignoring_case: bool,
    meter: &Meter<'_>,
) -> Option<Datum<'a>> {
    let text = text(args, 0)?;
    let mut truth = Some(false);
    for part in &args[1..] {
        if !meter.go_over(text.len()) {
            return None;
        }
        truth = or(truth, contains_part(text, part, ignoring_case));
        if truth == Some(true) {
            break;
        }
    }
    truth.map(Datum::Bool)
}

fn contains_part(text: &str, part: &Datum<'_>, ignoring_case: bool) -> Option<bool> {
    let part = part.as_str()?;
    Some(if ignoring_case { case::contains(text, part) } else { text.contains(part) })
}

/// Returns where a string first contains another, from a position on; -1 where it does not.
pub(crate) fn index_of<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let (text, part) = (text(args, 0)?, text(args, 1)?);
    let start = match args.get(2) {
        Some(start) => usize::try_from(start.as_i64_saturated()?.max(0)).unwrap_or(usize::MAX),
        None => 0,
    };
    if start > text.len() {
        // A text has at most as many units as bytes.
        return Some(Datum::Int(-1));
    }
    let mut place = units::place(text, start);
    if place.inside {
        place.byte += text[place.byte..].chars().next().map_or(0, char::len_utf8);
    } else if place.byte == text.len() && units::length(text) < start {
        return Some(Datum::Int(-1));
    }
    Some(Datum::Int(match text[place.byte..].find(&**part) {
        Some(at) => units::length(&text[..place.byte + at]) as i64,
        None => -1,
    }))
}

/// Returns where a string last contains another that ends at or before a position; -1 where it does not.
pub(crate) fn last_index_of<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let (text, part) = (text(args, 0)?, text(args, 1)?);
    let end = match args.get(2) {
        Some(position) => {
            let after = position.as_i64_saturated()?.saturating_add(1).max(0);
            units::place(text, usize::try_from(after).unwrap_or(usize::MAX)).byte
        }
        None => text.len(),
    };
    Some(Datum::Int(match text[..end].rfind(&**part) {
        Some(at) => units::length(&text[..at]) as i64,
        None => -1,
    }))
}

/// Returns an argument that counts units: integral, negative ones as 0.
fn unit_count(args: &[Datum<'_>], index: usize) -> Option<usize> {
    let count = args.get(index)?.as_i64_saturated()?;
    Some(usize::try_from(count.max(0)).unwrap_or(usize::MAX))
}

/// Returns the first units.
pub(crate) fn left<'a>(args: &[Datum<'a>]) -> Option<Datum<'a>> {
    Some(Datum::Str(units::cut(text(args, 0)?, 0, unit_count(args, 1)?)))
}

/// Returns the last units.
pub(crate) fn right<'a>(args: &[Datum<'a>]) -> Option<Datum<'a>> {
    let (text, count) = (text(args, 0)?, unit_count(args, 1)?);
    let length = units::length(text);
    Some(Datum::Str(units::cut(text, length.saturating_sub(count), length)))
}

/// Returns the units from a position on.
pub(crate) fn substring<'a>(args: &[Datum<'a>]) -> Option<Datum<'a>> {
    let text = text(args, 0)?;
    let (start, count) = (args.get(1)?.as_i64_saturated()?, unit_count(args, 2)?);
    let Ok(start) = usize::try_from(start) else {
        return Some(Datum::text(""));
    };
    Some(Datum::Str(units::cut(text, start, start.saturating_add(count))))
}

/// Counts the units.
pub(crate) fn length<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    Some(Datum::Int(units::length(text(args, 0)?) as i64))
}

/// Maps to lower case.
pub(crate) fn lower<'a>(args: &[Datum<'a>]) -> Option<Datum<'a>> {
    Some(Datum::Str(case::lower(text(args, 0)?)))
}

/// Maps to upper case.
pub(crate) fn upper<'a>(args: &[Datum<'a>]) -> Option<Datum<'a>> {
    Some(Datum::Str(case::upper(text(args, 0)?)))
}

/// Strips white space, or the characters that the second argument lists, from the start, the end or both.
pub(crate) fn trim<'a>(args: &[Datum<'a>], start: bool, end: bool) -> Option<Datum<'a>> {
    let text = text(args, 0)?;
    let Some(listed) = args.get(1) else {
        return Some(strip(text, start, end, char::is_whitespace));
    };
    let listed = listed.as_str()?;
    if listed.len() <= SCAN_NEEDLE_BYTES_MAX {
        return Some(strip(text, start, end, |character| listed.contains(character)));
    }
    let set: HashSet<char> = listed.chars().collect();
    Some(strip(text, start, end, |character| set.contains(&character)))
}

fn strip<'a>(text: &Cow<'a, str>, start: bool, end: bool, strips: impl Fn(char) -> bool) -> Datum<'a> {
    let (mut from, mut to) = (0, text.len());
    if start {
        from = to - text.trim_start_matches(&strips).len();
    }
    if end {
        to = from + text[from..].trim_end_matches(&strips).len();
    }
    Datum::Str(units::slice(text, from, to))
}

/// Searches with a regular expression.
pub(crate) fn regex_match<'a>(
    args: &[Datum<'_>],
    patterns: &PatternCache,
    meter: &Meter<'_>,
) -> Option<Datum<'a>> {
    let (text, pattern) = (text(args, 0)?, text(args, 1)?);
    let modifiers = match args.get(2) {
        Some(modifiers) => modifiers.as_str()?,
        None => "",
    };
    patterns.is_match(text, pattern, modifiers, meter).map(Datum::Bool)
}

/// Replaces every occurrence; an empty search string finds nothing.
pub(crate) fn replace<'a>(args: &[Datum<'a>]) -> Option<Datum<'a>> {
    let (text, find, by) = (text(args, 0)?, text(args, 1)?, text(args, 2)?);
    if find.is_empty() || !text.contains(&**find) {
        return Some(Datum::Str(text.clone()));
    }
    let count = text.matches(&**find).count();
    let bytes = (text.len() - count * find.len()).saturating_add(count.saturating_mul(by.len()));
    (bytes <= RESULT_BYTES_MAX).then(|| text.replace(&**find, by).into())
}

/// Repeats a string.
pub(crate) fn replicate<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let text = text(args, 0)?;
    let count = args.get(1)?.as_f64()?.trunc();
    if !count.is_finite() || count < 0.0 {
        return None;
    }
    if text.is_empty() {
        return Some(Datum::text(""));
    }
    // Beyond the bound the conversion saturates, which is beyond the bound still.
    let count = count as usize;
    let unit_count = units::length(text).saturating_mul(count);
    (unit_count <= REPLICATE_UNITS_MAX).then(|| text.repeat(count).into())
}

/// Reverses a string, leaving surrogate pairs whole.
pub(crate) fn reverse<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    Some(text(args, 0)?.chars().rev().collect::<String>().into())
}

/// Joins an array of strings with a separator.
pub(crate) fn string_join<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let array = args.first()?;
    let separator = text(args, 1)?;
    array.array_len()?;
    let mut joined = String::new();
    for (index, element) in array.elements().enumerate() {
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(element.as_str()?);
        if joined.len() > RESULT_BYTES_MAX {
            return None;
        }
    }
    Some(joined.into())
}

/// Splits a string at a separator; an empty separator does not occur.
pub(crate) fn string_split<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let (text, separator) = (text(args, 0)?, text(args, 1)?);
    if separator.is_empty() {
        return Some(vec![Value::from(&**text)].into());
    }
    let mut parts = Vec::new();
    let mut bytes = text.len();
    for part in text.split(&**separator) {
        bytes += size_of::<Value>();
        if bytes > RESULT_BYTES_MAX {
            return None;
        }
        parts.push(Value::from(part));
    }
    Some(parts.into())
}

/// Writes any value as text.
pub(crate) fn to_string<'a>(args: &[Datum<'a>]) -> Option<Datum<'a>> {
    let datum = args.first()?;
    Some(match datum {
        Datum::Undefined => return None,
        Datum::Str(_) => datum.clone(),
        Datum::Null => Datum::text("null"),
        Datum::Bool(true) => Datum::text("true"),
        Datum::Bool(false) => Datum::text("false"),
        Datum::Double(number) => {
            let mut digits = Vec::new();
            write_double(*number, &mut digits);
            String::from_utf8(digits).expect("digits are ASCII").into()
        }
        Datum::Node(node) => Datum::text(node.raw()),
        Datum::Int(_) => datum.to_json().into(),
        // Text inside of text inside of text doubles its marks each time.
        Datum::Value(_) if weight_bytes(datum) > RESULT_BYTES_MAX => return None,
        Datum::Value(_) => {
            let json = datum.to_json();
            return (json.len() <= RESULT_BYTES_MAX).then(|| json.into());
        }
    })
}

/// Parses strict JSON that has to be of one type.
pub(crate) fn parse_as<'a>(args: &[Datum<'_>], kind: DatumKind) -> Option<Datum<'a>> {
    let text = text(args, 0)?;
    // What the first byte tells need not be found out by reading all.
    let first = text.bytes().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))?;
    let begins = match kind {
        DatumKind::Array => first == b'[',
        DatumKind::Object => first == b'{',
        DatumKind::Bool => matches!(first, b't' | b'f'),
        DatumKind::Null => first == b'n',
        DatumKind::Number => matches!(first, b'-' | b'0'..=b'9'),
        _ => false,
    };
    if !begins || text.len() > PARSED_BYTES_MAX {
        return None;
    }
    let datum = Datum::from_owned(json::parse(text.as_bytes()).ok()?);
    (datum.kind() == kind).then_some(datum)
}
