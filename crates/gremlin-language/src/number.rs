//! Numbers of scripts.
//!
//! Without a suffix an integer has the narrowest of 32, 64 and more bits that holds it, anything else is a double.

use std::sync::Arc;

use armilla_gremlin_value::Value;

use crate::limits::DECIMAL_DIGITS_MAX;

/// Reads a number with its sign and suffix, or says why it is none.
pub(crate) fn number(text: &str) -> Result<Value, String> {
    if let Some(short) = short(text) {
        return Ok(Value::Int32(short));
    }
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or_default()),
        Some(b'+') => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    if digits == "Infinity" {
        return Ok(Value::Double(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return integer(text, negative, hexadecimal, 16);
    }
    let fractional = digits.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
        || matches!(digits.bytes().last(), Some(b'f' | b'F' | b'd' | b'D' | b'm' | b'M'));
    if fractional {
        return decimal(text, negative, digits);
    }
    match digits.strip_prefix('0') {
        Some(octal) if octal.bytes().next().is_some_and(|byte| byte.is_ascii_digit() || byte == b'_') => {
            integer(text, negative, octal.trim_start_matches('_'), 8)
        }
        _ => integer(text, negative, digits, 10),
    }
}

/// Reads what most numbers of scripts are: a few digits.
fn short(text: &str) -> Option<i32> {
    if text.len() > 9 || (text.starts_with('0') && text.len() > 1) {
        return None;
    }
    text.bytes().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i32::from(byte - b'0')))
}

fn integer(text: &str, negative: bool, digits: &str, base: u32) -> Result<Value, String> {
    let (digits, suffix) = match digits.bytes().last() {
        Some(last) if !char::from(last).is_digit(base) && last.is_ascii_alphabetic() => {
            (digits.get(..digits.len() - 1).unwrap_or_default(), last.to_ascii_lowercase())
        }
        _ => (digits, b' '),
    };
    let magnitude = magnitude(digits, base).map_err(|problem| match problem {
        Problem::NotDigits => format!("'{text}' is not a number"),
        Problem::TooLarge => format!("The integer '{text}' is beyond 128 bits"),
    })?;
    let value =
        if negative { 0_i128.checked_sub_unsigned(magnitude) } else { i128::try_from(magnitude).ok() };
    let value = value.ok_or_else(|| format!("The integer '{text}' is beyond 128 bits"))?;
    let out = |range: &str| format!("The integer '{text}' is beyond {range}");
    match suffix {
        b' ' => Ok(match (i32::try_from(value), i64::try_from(value)) {
            (Ok(narrow), _) => Value::Int32(narrow),
            (_, Ok(wide)) => Value::Int64(wide),
            _ => Value::BigInteger(value),
        }),
        b'b' => i8::try_from(value).map(Value::Byte).map_err(|_| out("8 bits")),
        b's' => i16::try_from(value).map(Value::Int16).map_err(|_| out("16 bits")),
        b'i' => i32::try_from(value).map(Value::Int32).map_err(|_| out("32 bits")),
        b'l' => i64::try_from(value).map(Value::Int64).map_err(|_| out("64 bits")),
        b'n' => Ok(Value::BigInteger(value)),
        _ => Err(format!("'{text}' is not a number: suffixes are b s i l n of integers, f d m of others")),
    }
}

enum Problem {
    NotDigits,
    TooLarge,
}

fn magnitude(digits: &str, base: u32) -> Result<u128, Problem> {
    if !well_placed(digits) {
        return Err(Problem::NotDigits);
    }
    let mut sum = 0_u128;
    for byte in digits.bytes().filter(|byte| *byte != b'_') {
        let digit = char::from(byte).to_digit(base).ok_or(Problem::NotDigits)?;
        let wider = sum.checked_mul(u128::from(base)).and_then(|sum| sum.checked_add(u128::from(digit)));
        sum = wider.ok_or(Problem::TooLarge)?;
    }
    Ok(sum)
}

/// Returns whether there is a digit at both ends, so that underscores are only between.
fn well_placed(digits: &str) -> bool {
    !digits.is_empty() && !digits.starts_with('_') && !digits.ends_with('_')
}

fn decimal(text: &str, negative: bool, digits: &str) -> Result<Value, String> {
    let (digits, suffix) = match digits.bytes().last() {
        Some(last) if last.is_ascii_alphabetic() => {
            (digits.get(..digits.len() - 1).unwrap_or_default(), last.to_ascii_lowercase())
        }
        _ => (digits, b' '),
    };
    let wrong = || format!("'{text}' is not a number");
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let unsigned = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    for part in [Some(whole), fraction, unsigned].into_iter().flatten() {
        if !well_placed(part) || !part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
            return Err(wrong());
        }
    }
    let mut plain = String::with_capacity(digits.len() + 1);
    if negative {
        plain.push('-');
    }
    plain.extend(digits.chars().filter(|character| *character != '_'));
    let double: f64 = plain.parse().map_err(|_| wrong())?;
    let exact = |plain: String| match plain.len() <= DECIMAL_DIGITS_MAX {
        true => Ok(Value::BigDecimal(Arc::from(plain))),
        false => Err(format!("A decimal number has at most {DECIMAL_DIGITS_MAX} digits")),
    };
    match suffix {
        // As in TinkerPop, what no double holds is a decimal.
        b' ' if double.is_infinite() => exact(plain),
        b' ' | b'd' => Ok(Value::Double(double)),
        b'f' => plain.parse().map(Value::Float).map_err(|_| wrong()),
        b'm' => exact(plain),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
#[path = "number_tests.rs"]
mod tests;
