//! Text: joining, cutting, searching, replacing.

use armilla_value::Value;

use super::{give, give_count, is_given, is_nullish, kind, named, null, small_integer, text};
use crate::arithmetic::{integral, to_long};
use crate::date::format::iso_text;
use crate::error::{Error, Result};
use crate::parse::Named;
use crate::tree::{Argument, Budget, Frame, Node, Output};

/// `$concat`.
pub(crate) fn concat<'a>(budget: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut joined = String::new();
    for argument in &arguments {
        match argument.as_deref() {
            None | Some(Value::Null) => return null(),
            Some(Value::String(part)) => {
                budget.charge(part.len())?;
                joined.push_str(part);
            }
            Some(_) => {
                return Err(Error::new(
                    16702,
                    format!("$concat only supports strings, not {}", kind(argument)),
                ));
            }
        }
    }
    give(joined)
}

/// Returns the text that some scalars stand for where text is expected; null and missing are empty.
fn coerced(argument: &Argument<'_>) -> Result<String> {
    Ok(match argument.as_deref() {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_))) => {
            super::convert::number_text(value)
        }
        Some(Value::Date(ms)) => iso_text(*ms),
        Some(Value::Timestamp { seconds, increment }) => format!("Timestamp({seconds}, {increment})"),
        Some(_) => {
            return Err(Error::new(
                16007,
                format!("can't convert from BSON type {} to String", kind(argument)),
            ));
        }
    })
}

/// `$toLower`, of the letters from A to Z.
pub(crate) fn to_lower<'a>(budget: &Budget, argument: Argument<'a>) -> Output<'a> {
    let mut text = coerced(&argument)?;
    budget.charge(text.len())?;
    text.make_ascii_lowercase();
    give(text)
}

/// `$toUpper`, of the letters from a to z.
pub(crate) fn to_upper<'a>(budget: &Budget, argument: Argument<'a>) -> Output<'a> {
    let mut text = coerced(&argument)?;
    budget.charge(text.len())?;
    text.make_ascii_uppercase();
    give(text)
}

/// `$strcasecmp`.
pub(crate) fn compare_ignoring_case<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    let (left, right) = (coerced(&left)?.to_ascii_uppercase(), coerced(&right)?.to_ascii_uppercase());
    give(Value::Int32(left.cmp(&right) as i32))
}

/// `$substrBytes`.
pub(crate) fn substr_bytes<'a>(budget: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let [input, start, length] = &arguments[..] else { return Ok(None) };
    let text = coerced(input)?;
    let number = |argument: &Argument<'_>, code, what: &str| {
        argument.as_deref().and_then(to_long).ok_or_else(|| {
            Error::new(
                code,
                format!("$substrBytes: {what} must be a numeric type (is BSON type {})", kind(argument)),
            )
        })
    };
    let lower = number(start, 16034, "starting index")?;
    let length = number(length, 16035, "length")?;
    if lower < 0 {
        return Err(Error::new(
            50752,
            format!("$substrBytes: starting index must be non-negative (got: {lower})"),
        ));
    }
    let lower = usize::try_from(lower).unwrap_or(usize::MAX).min(text.len());
    let upper =
        usize::try_from(length).map_or(text.len(), |length| lower.saturating_add(length).min(text.len()));
    if !text.is_char_boundary(lower) {
        return Err(Error::new(
            28656,
            "$substrBytes: Invalid range, starting index is a UTF-8 continuation byte.",
        ));
    }
    if !text.is_char_boundary(upper) {
        return Err(Error::new(
            28657,
            "$substrBytes: Invalid range, ending index is in the middle of a UTF-8 character.",
        ));
    }
    budget.charge(upper - lower)?;
    give(&text[lower..upper])
}

/// `$substrCP`.
pub(crate) fn substr_code_points<'a>(budget: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let [input, start, length] = &arguments[..] else { return Ok(None) };
    let text = coerced(input)?;
    let number = |argument: &Argument<'_>, (not_numeric, not_integral, negative), what: &str| {
        let Some(value) = argument.as_deref().filter(|value| crate::is_number(value)) else {
            return Err(Error::new(
                not_numeric,
                format!("$substrCP: {what} must be a numeric type (is BSON type {})", kind(argument)),
            ));
        };
        match small_integer(value) {
            None => Err(Error::new(
                not_integral,
                format!(
                    "$substrCP: {what} cannot be represented as a 32-bit integral value: {}",
                    super::text(argument)
                ),
            )),
            Some(number) => usize::try_from(number).map_err(|_| {
                Error::new(negative, format!("$substrCP: {what} must be a nonnegative integer."))
            }),
        }
    };
    let start = number(start, (34450, 34451, 34455), "starting index")?;
    let length = number(length, (34452, 34453, 34454), "length")?;
    let cut: String = text.chars().skip(start).take(length).collect();
    budget.charge(cut.len())?;
    give(cut)
}

/// `$strLenBytes`.
pub(crate) fn length_bytes<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    match argument.as_deref() {
        Some(Value::String(text)) => give_count(text.len()),
        _ => Err(Error::new(
            34473,
            format!("$strLenBytes requires a string argument, found: {}", kind(&argument)),
        )),
    }
}

/// `$strLenCP`.
pub(crate) fn length_code_points<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    match argument.as_deref() {
        Some(Value::String(text)) => give_count(text.chars().count()),
        _ => Err(Error::new(
            34471,
            format!("$strLenCP requires a string argument, found: {}", kind(&argument)),
        )),
    }
}

/// `$split`.
pub(crate) fn split<'a>(budget: &Budget, input: Argument<'a>, separator: Argument<'a>) -> Output<'a> {
    if is_nullish(&input) || is_nullish(&separator) {
        return null();
    }
    let Some(Value::String(text)) = input.as_deref() else {
        return Err(Error::new(
            40085,
            format!(
                "$split requires an expression that evaluates to a string as a first argument, found: {}",
                kind(&input)
            ),
        ));
    };
    let Some(Value::String(separator)) = separator.as_deref() else {
        return Err(Error::new(
            40086,
            format!(
                "$split requires an expression that evaluates to a string as a second argument, found: {}",
                kind(&separator)
            ),
        ));
    };
    if separator.is_empty() {
        return Err(Error::new(40087, "$split requires a non-empty separator"));
    }
    let mut parts = Vec::new();
    for part in text.split(separator.as_str()) {
        budget.charge(part.len() + std::mem::size_of::<Value>())?;
        parts.push(part);
    }
    give(parts)
}

/// What `$trim` and its like take.
pub(crate) const TRIM: Named =
    Named { names: &["input", "chars"], required: &[(0, 50695)], not_object: 50696, unknown: 50694 };

/// `$trim`.
pub(crate) fn trim<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    trimmed("$trim", arguments, frame, true, true)
}

/// `$ltrim`.
pub(crate) fn trim_left<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    trimmed("$ltrim", arguments, frame, true, false)
}

/// `$rtrim`.
pub(crate) fn trim_right<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    trimmed("$rtrim", arguments, frame, false, true)
}

fn trimmed<'a>(
    name: &str,
    arguments: &'a [Option<Node>],
    frame: &Frame<'a, '_>,
    left: bool,
    right: bool,
) -> Output<'a> {
    let input = named(arguments, 0, frame)?;
    if is_nullish(&input) {
        return null();
    }
    let Some(Value::String(whole)) = input.as_deref() else {
        return Err(Error::new(
            50699,
            format!(
                "{name} requires its input to be a string, got {} (of type {}) instead.",
                text(&input),
                kind(&input)
            ),
        ));
    };
    let chars = named(arguments, 1, frame)?;
    let is_cut: Box<dyn Fn(char) -> bool> = if is_given(arguments, 1) {
        match chars.as_deref() {
            None | Some(Value::Null) => return null(),
            Some(Value::String(chars)) => {
                let mut chars: Vec<char> = chars.chars().collect();
                chars.sort_unstable();
                Box::new(move |letter| chars.binary_search(&letter).is_ok())
            }
            Some(_) => {
                return Err(Error::new(
                    50700,
                    format!(
                        "{name} requires 'chars' to be a string, got {} (of type {}) instead.",
                        text(&chars),
                        kind(&chars)
                    ),
                ));
            }
        }
    } else {
        Box::new(is_blank)
    };
    let mut cut = whole.as_str();
    if left {
        cut = cut.trim_start_matches(&*is_cut);
    }
    if right {
        cut = cut.trim_end_matches(&*is_cut);
    }
    frame.budget.charge(cut.len())?;
    give(cut)
}

/// What is cut where nothing else is asked for: white space, and the character of number zero.
fn is_blank(letter: char) -> bool {
    matches!(letter, '\0' | '\t'..='\r' | ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}')
}

/// `$indexOfBytes`.
pub(crate) fn index_of_bytes<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let Some((text, token)) = searched("$indexOfBytes", (40091, 40092), &arguments)? else { return null() };
    let (start, end) = bounds("$indexOfBytes", &arguments, text.len())?;
    if start > end || start > text.len() {
        return give(Value::Int32(-1));
    }
    // What is searched is whole characters, so that it is never found from the middle of one.
    let first = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let last = text.floor_char_boundary(end).max(first);
    match text[first..last].find(token) {
        Some(at) => give_count(first + at),
        None => give(Value::Int32(-1)),
    }
}

/// `$indexOfCP`.
pub(crate) fn index_of_code_points<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let Some((text, token)) = searched("$indexOfCP", (40093, 40094), &arguments)? else { return null() };
    let count = text.chars().count();
    let (start, end) = bounds("$indexOfCP", &arguments, count)?;
    if start > end || start > count {
        return give(Value::Int32(-1));
    }
    let at_byte = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    let (first, last) = (at_byte(start), at_byte(end));
    match text[first..last].find(token) {
        Some(at) => give_count(start + text[first..first + at].chars().count()),
        None => give(Value::Int32(-1)),
    }
}

/// Returns the text and what is searched in it; nothing where the text is null.
fn searched<'a>(
    name: &str,
    (not_text, not_token): (i32, i32),
    arguments: &'a [Argument<'_>],
) -> Result<Option<(&'a str, &'a str)>> {
    if arguments.first().is_none_or(is_nullish) {
        return Ok(None);
    }
    let string =
        |place: usize, code, which| match arguments.get(place).and_then(|argument| argument.as_deref()) {
            Some(Value::String(text)) => Ok(text.as_str()),
            other => Err(Error::new(
                code,
                format!(
                    "{name} requires a string as the {which} argument, found: {}",
                    crate::type_name_of(other)
                ),
            )),
        };
    Ok(Some((string(0, not_text, "first")?, string(1, not_token, "second")?)))
}

/// Returns from where to where is searched.
pub(crate) fn bounds(name: &str, arguments: &[Argument<'_>], count: usize) -> Result<(usize, usize)> {
    let index = |place: usize, which: &str| match arguments.get(place) {
        None => Ok(None),
        Some(argument) => {
            let Some(number) = argument.as_deref().and_then(integral) else {
                return Err(Error::new(
                    40096,
                    format!(
                        "{name} requires an integral {which} index, found a value of type: {}, with value: \"{}\"",
                        kind(argument),
                        text(argument)
                    ),
                ));
            };
            usize::try_from(number).map(Some).map_err(|_| {
                Error::new(40097, format!("{name} requires a nonnegative {which} index, found: {number}"))
            })
        }
    };
    let start = index(2, "starting")?.unwrap_or(0);
    let end = index(3, "ending")?.unwrap_or(count).min(count);
    Ok((start, end))
}

/// What `$replaceOne` and `$replaceAll` take.
pub(crate) const REPLACE: Named = Named {
    names: &["input", "find", "replacement"],
    required: &[(0, 51749), (1, 51748), (2, 51747)],
    not_object: 51751,
    unknown: 51750,
};

/// `$replaceOne`.
pub(crate) fn replace_one<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    replaced("$replaceOne", arguments, frame, 1)
}

/// `$replaceAll`.
pub(crate) fn replace_all<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    replaced("$replaceAll", arguments, frame, usize::MAX)
}

fn replaced<'a>(name: &str, arguments: &'a [Option<Node>], frame: &Frame<'a, '_>, most: usize) -> Output<'a> {
    let (input, find, replacement) =
        (named(arguments, 0, frame)?, named(arguments, 1, frame)?, named(arguments, 2, frame)?);
    let check = |argument: &Argument<'_>, code, what: &str| {
        if is_nullish(argument) || matches!(argument.as_deref(), Some(Value::String(_))) {
            return Ok(());
        }
        Err(Error::new(code, format!("{name} requires that '{what}' be a string, found: {}", text(argument))))
    };
    check(&input, 51746, "input")?;
    check(&find, 51745, "find")?;
    check(&replacement, 51744, "replacement")?;
    let (Some(Value::String(whole)), Some(Value::String(find)), Some(Value::String(replacement))) =
        (input.as_deref(), find.as_deref(), replacement.as_deref())
    else {
        return null();
    };
    let count = whole.matches(find.as_str()).take(most).count();
    frame.budget.charge(whole.len().saturating_add(count.saturating_mul(replacement.len())))?;
    give(whole.replacen(find.as_str(), replacement, most))
}
