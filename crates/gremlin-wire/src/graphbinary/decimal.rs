//! Integers and decimals of any length, as far as 128 bits go.

use std::sync::Arc;

use super::Cursor;
use crate::error::Fault;
use crate::json::is_number;
use crate::limits::MAX_DECIMAL_SCALE;

/// Writes an integer as its length and its shortest two's complement.
pub(super) fn write_integer(out: &mut Vec<u8>, number: i128) {
    let bytes = number.to_be_bytes();
    let filler = if number < 0 { 0xff } else { 0 };
    let mut from = 0;
    // A byte may go if the sign of the rest still tells the same.
    while from < 15 && bytes[from] == filler && (bytes[from + 1] ^ filler) & 0x80 == 0 {
        from += 1;
    }
    let shortest = &bytes[from..];
    out.extend_from_slice(&(shortest.len() as i32).to_be_bytes());
    out.extend_from_slice(shortest);
}

pub(super) fn read_integer(cursor: &mut Cursor<'_>) -> Result<i128, Fault> {
    let length = cursor.length()?;
    let bytes = cursor.take(length)?;
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let filler = if negative { 0xff } else { 0 };
    let mut number = if negative { -1_i128 } else { 0 };
    let kept = bytes.len().min(16);
    let (spare, kept) = bytes.split_at(bytes.len() - kept);
    let same_sign = kept.first().is_none_or(|byte| (byte & 0x80 != 0) == negative);
    if bytes.is_empty() || !same_sign || spare.iter().any(|byte| *byte != filler) {
        return Err(Fault::refused("Integers beyond 128 bits are not supported."));
    }
    for byte in kept {
        number = number << 8 | i128::from(*byte);
    }
    Ok(number)
}

/// Splits a decimal into its digits and the places behind the point.
pub(super) fn split(text: &str) -> Option<(i128, i32)> {
    if !is_number(text) {
        return None;
    }
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent = exponent.parse::<i32>().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let unscaled = format!("{whole}{fraction}").parse().ok()?;
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    (scale.unsigned_abs() <= MAX_DECIMAL_SCALE).then_some((unscaled, scale))
}

/// Joins the digits and the places behind the point.
pub(super) fn join(unscaled: i128, scale: i32) -> Result<Arc<str>, Fault> {
    if scale.unsigned_abs() > MAX_DECIMAL_SCALE {
        return Err(Fault::refused(format!(
            "Decimals of more than {MAX_DECIMAL_SCALE} places are not supported."
        )));
    }
    if scale <= 0 {
        return Ok(match scale {
            0 => Arc::from(unscaled.to_string()),
            _ => Arc::from(format!("{unscaled}E+{}", -scale)),
        });
    }
    let places = scale.unsigned_abs() as usize;
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    Ok(Arc::from(format!("{}{whole}.{fraction}", if unscaled < 0 { "-" } else { "" })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_the_limit_are_refused() {
        for scale in [i32::MIN, i32::MIN + 1, -10_001, 10_001, i32::MAX] {
            assert!(join(1, scale).is_err(), "{scale}");
        }
        assert_eq!(split("1e2147483647"), None);
        assert_eq!(split("1e-2147483648"), None);
        assert_eq!(join(1, -10_000).unwrap().as_ref(), "1E+10000");
    }
}
