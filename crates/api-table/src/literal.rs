//! Values as filters spell them: `'it''s'`, `12L`, `-1.5e3`, `datetime'2022-05-06T00:47:36Z'`, `guid'…'`, `X'62'`.
//!
//! Not here: names and operators (`filter`).

use crate::edm::{EdmValue, Ticks, parse_guid};

/// A literal, and how many bytes it takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Literal {
    /// The value; `None` for null, which equals nothing.
    pub(crate) value: Option<EdmValue>,
    /// Bytes of its text.
    pub(crate) length: usize,
}

/// What stands at the beginning of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scanned {
    /// A literal.
    Literal(Literal),
    /// A name, and how many bytes it takes.
    Name(usize),
    /// Neither.
    Neither,
}

/// Reads what stands at the beginning of a text.
pub(crate) fn scan(text: &str) -> Scanned {
    let found = match text.as_bytes().first() {
        Some(b'\'') => string(text),
        Some(b'-' | b'0'..=b'9') => number(text),
        _ => return word(text),
    };
    found.map_or(Scanned::Neither, Scanned::Literal)
}

/// Says whether a character may stand in a name behind the first one.
pub(crate) fn is_name_character(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric() || character == '_'
    } else {
        // Letters beyond ASCII come with marks that are no letters themselves.
        !character.is_whitespace() && !character.is_control()
    }
}

/// Returns how many bytes of a name, or another word, a text begins with.
pub(crate) fn word_length(text: &str) -> usize {
    text.find(|character| !is_name_character(character)).unwrap_or(text.len())
}

fn word(text: &str) -> Scanned {
    let (word, rest) = text.split_at(word_length(text));
    if word.is_empty() {
        return Scanned::Neither;
    }
    if rest.starts_with('\'') {
        let typed = quoted(rest).and_then(|(inside, length)| {
            Some(Literal { value: Some(typed(word, &inside)?), length: word.len() + length })
        });
        return typed.map_or(Scanned::Neither, Scanned::Literal);
    }
    let value = match word {
        "NaN" => Some(EdmValue::Double(f64::NAN)),
        "INF" => Some(EdmValue::Double(f64::INFINITY)),
        _ if word.eq_ignore_ascii_case("true") => Some(EdmValue::Boolean(true)),
        _ if word.eq_ignore_ascii_case("false") => Some(EdmValue::Boolean(false)),
        _ if word.eq_ignore_ascii_case("null") => None,
        _ => return Scanned::Name(word.len()),
    };
    Scanned::Literal(Literal { value, length: word.len() })
}

fn string(text: &str) -> Option<Literal> {
    let (inside, length) = quoted(text)?;
    Some(Literal { value: Some(EdmValue::String(inside)), length })
}

/// Reads a text between quotes, where a quote inside is doubled.
fn quoted(text: &str) -> Option<(String, usize)> {
    let inside = text.strip_prefix('\'')?;
    let mut from = 0;
    loop {
        let end = from + inside[from..].find('\'')?;
        if inside[end + 1..].starts_with('\'') {
            from = end + 2;
            continue;
        }
        return Some((inside[..end].replace("''", "'"), end + 2));
    }
}

/// Reads a value whose type stands before its quotes.
fn typed(prefix: &str, inside: &str) -> Option<EdmValue> {
    let is = |name: &str| prefix.eq_ignore_ascii_case(name);
    if is("datetime") || is("datetimeoffset") {
        Ticks::parse(inside).map(EdmValue::DateTime)
    } else if is("guid") {
        parse_guid(inside).map(EdmValue::Guid)
    } else if is("x") || is("binary") {
        hexadecimal(inside).map(EdmValue::Binary)
    } else {
        None
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

/// Reads a number, with the letter of its type behind it if there is one.
fn number(text: &str) -> Option<Literal> {
    if let Some(rest) = text.strip_prefix("-INF")
        && word_length(rest) == 0
    {
        return Some(Literal { value: Some(EdmValue::Double(f64::NEG_INFINITY)), length: 4 });
    }
    let bytes = text.as_bytes();
    let digits_from =
        |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = usize::from(bytes.first() == Some(&b'-'));
    let mut end = digits_from(whole);
    if end == whole {
        return None;
    }
    let mut is_integer = true;
    if bytes.get(end) == Some(&b'.') {
        let fraction = end + 1;
        end = digits_from(fraction);
        if end == fraction {
            return None;
        }
        is_integer = false;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits_from(exponent.min(bytes.len()));
        if end == exponent {
            return None;
        }
        is_integer = false;
    }
    let digits = &text[..end];
    let suffix = &text[end..end + word_length(&text[end..])];
    let value = match suffix {
        "" if is_integer => integer(digits),
        "" => double(digits),
        "L" | "l" if is_integer => digits.parse().ok().map(EdmValue::Int64),
        "d" | "D" | "f" | "F" | "m" | "M" => double(digits),
        _ => None,
    };
    Some(Literal { value: Some(value?), length: end + suffix.len() })
}

fn integer(digits: &str) -> Option<EdmValue> {
    if let Ok(number) = digits.parse() {
        return Some(EdmValue::Int32(number));
    }
    match digits.parse() {
        Ok(number) => Some(EdmValue::Int64(number)),
        Err(_) => double(digits),
    }
}

fn double(text: &str) -> Option<EdmValue> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).map(EdmValue::Double)
}

#[cfg(test)]
mod tests;
