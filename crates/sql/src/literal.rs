//! The values of string and number literals.
//!
//! A string literal knows the escapes of JSON and the escaped single quote; a surrogate escape needs its
//! other half, because strings here are Unicode text. A number literal has no sign of its own: the one
//! directly before it is handed in, so that the smallest 64-bit integer can be written.

use crate::ast::Literal;

/// Returns how many bytes the string literal at the start of `text` takes, and whether it is closed and all
/// its escapes are valid. One that is not closed takes the rest of the text.
pub(crate) fn string_end(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let quote = bytes[0];
    let mut valid = true;
    let mut position = 1;
    while let Some(&byte) = bytes.get(position) {
        if byte == quote {
            return (position + 1, valid);
        }
        if byte == b'\\' {
            match escape(&bytes[position..]) {
                Some((_, escape_bytes)) => position += escape_bytes,
                None => {
                    valid = false;
                    // The character after the backslash is skipped with it, lest a quote there ends the
                    // literal.
                    position = (position + 2).min(bytes.len());
                }
            }
        } else {
            position += 1;
        }
    }
    (bytes.len(), false)
}

/// Decodes a whole string literal, quotes included, that [`string_end`] found valid.
pub(crate) fn string_value(literal: &str) -> String {
    let inner = &literal[1..literal.len() - 1];
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(backslash) = rest.find('\\') {
        value.push_str(&rest[..backslash]);
        let (character, escape_bytes) =
            escape(&rest.as_bytes()[backslash..]).expect("the lexer found every escape valid");
        value.push(character);
        rest = &rest[backslash + escape_bytes..];
    }
    value.push_str(rest);
    value
}

/// Reads the escape that `bytes` begin with: the character it stands for and the bytes it takes.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let character = match bytes.get(1)? {
        b'\'' => '\'',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let unit = hexadecimal_unit(bytes)?;
            return match char::from_u32(unit) {
                Some(character) => Some((character, 6)),
                None => {
                    let low = hexadecimal_unit(&bytes[6..])?;
                    let is_pair = (0xD800..0xDC00).contains(&unit) && (0xDC00..0xE000).contains(&low);
                    let code_point = 0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF);
                    char::from_u32(code_point).filter(|_| is_pair).map(|character| (character, 12))
                }
            };
        }
        _ => return None,
    };
    Some((character, 2))
}

/// Reads the UTF-16 code unit of the `\uXXXX` that `bytes` begin with.
fn hexadecimal_unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?))
}

/// Whether a minus sign stands directly before a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    None,
    Minus,
}

/// Returns the value of an integer token: exact where 64 bits suffice, else the nearest double.
pub(crate) fn integer_value(token: &str, sign: Sign) -> Literal {
    let magnitude = integer_magnitude(token);
    let exact = match (magnitude, sign) {
        // Zero has a sign among doubles only.
        (Some(0), Sign::Minus) => None,
        (Some(magnitude), Sign::None) => i64::try_from(magnitude).ok(),
        (Some(magnitude), Sign::Minus) => 0_i64.checked_sub_unsigned(magnitude),
        (None, _) => None,
    };
    match exact {
        Some(integer) => Literal::Int(integer),
        None => Literal::Double(signed(nearest_double(token), sign)),
    }
}

/// Returns the value of a token with a point or an exponent.
pub(crate) fn double_value(token: &str, sign: Sign) -> Literal {
    Literal::Double(signed(nearest_double(token), sign))
}

/// Returns the value of an integer token if it fits.
pub(crate) fn integer_magnitude(token: &str) -> Option<u64> {
    match hexadecimal_digits(token) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => token.parse().ok(),
    }
}

fn signed(double: f64, sign: Sign) -> f64 {
    match sign {
        Sign::None => double,
        Sign::Minus => -double,
    }
}

fn nearest_double(token: &str) -> f64 {
    match hexadecimal_digits(token) {
        Some(digits) => hexadecimal_double(digits),
        None => token.parse().expect("the lexer takes only what a double can be read from"),
    }
}

fn hexadecimal_digits(token: &str) -> Option<&str> {
    token.strip_prefix("0x").or_else(|| token.strip_prefix("0X"))
}

/// Rounds once, to even: the first 64 significant bits with a last bit that says whether anything follows
/// them.
fn hexadecimal_double(digits: &str) -> f64 {
    let digits = digits.trim_start_matches('0');
    let (head, tail) = digits.split_at(digits.len().min(15));
    let mut leading = u64::from_str_radix(head, 16).unwrap_or(0) << 4;
    if tail.bytes().any(|digit| digit != b'0') {
        leading |= 1;
    }
    let exponent = 4 * tail.len() as i32 - 4;
    leading as f64 * 2_f64.powi(exponent)
}
