//! Numbers inside JSON text: their grammar, and which type they get.

use super::error::{Fault, JsonErrorKind};
use crate::value::Kind;

/// Integers of up to this many digits fit in 64 bits whatever the digits are.
const INTEGER_DIGITS_SAFE: usize = 18;
/// Without an exponent, numbers with fewer whole digits than this are within a double's range.
const DOUBLE_DIGITS_SAFE: usize = 308;

/// Finds the end of the number at `start`, and its type: an integer where it fits in 64 bits, else a double.
pub(crate) fn scan(text: &str, start: usize) -> Result<(usize, Kind), Fault> {
    let bytes = text.as_bytes();
    let negative = bytes.get(start) == Some(&b'-');
    let whole_start = start + usize::from(negative);
    let mut at = skip_digits(bytes, whole_start);
    let whole_digits = at - whole_start;
    if whole_digits == 0 || (whole_digits > 1 && bytes[whole_start] == b'0') {
        return Err(fault(bytes, if whole_digits == 0 { at } else { whole_start }));
    }
    let (mut integer, mut exponent) = (true, false);
    if bytes.get(at) == Some(&b'.') {
        integer = false;
        at = required_digits(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        (integer, exponent) = (false, true);
        let signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = required_digits(bytes, at + 1 + usize::from(signed))?;
    }
    let raw = &text[start..at];
    if integer && fits_int64(raw, whole_digits) {
        return Ok((at, Kind::Int64));
    }
    let may_overflow = exponent || whole_digits > DOUBLE_DIGITS_SAFE;
    if may_overflow && !raw.parse::<f64>().is_ok_and(f64::is_finite) {
        return Err(Fault { kind: JsonErrorKind::NumberTooLarge, offset: start });
    }
    Ok((at, Kind::Double))
}

/// Minus zero is no integer: only a double has it.
fn fits_int64(raw: &str, digits: usize) -> bool {
    raw != "-0" && (digits <= INTEGER_DIGITS_SAFE || raw.parse::<i64>().is_ok())
}

fn required_digits(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let end = skip_digits(bytes, start);
    if end == start { Err(fault(bytes, end)) } else { Ok(end) }
}

fn skip_digits(bytes: &[u8], start: usize) -> usize {
    start + bytes.iter().skip(start).take_while(|byte| byte.is_ascii_digit()).count()
}

fn fault(bytes: &[u8], offset: usize) -> Fault {
    let kind = if offset < bytes.len() { JsonErrorKind::InvalidNumber } else { JsonErrorKind::UnexpectedEnd };
    Fault { kind, offset: offset.min(bytes.len()) }
}
