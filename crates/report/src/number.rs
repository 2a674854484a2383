//! Numbers as people read them: one look for labels, tables and sentences.
//!
//! Thousands are grouped by commas, decimals follow a point, units follow a space, microseconds are `us`. What is
//! not a number is `n/a`.

use std::time::Duration;

use crate::limits::DECIMALS_MAX;

const NOT_A_NUMBER: &str = "n/a";

/// Writes a number in about three digits: `46,412`, `186`, `10.1`, `2.86`, `0.053`, `12.3 M`.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    if !value.is_finite() {
        NOT_A_NUMBER.to_string()
    } else if magnitude == 0.0 {
        "0".to_string()
    } else if magnitude >= 1e16 {
        format!("{value:.2e}")
    } else if magnitude >= 1e7 {
        let (divisor, unit) = match magnitude {
            1e13.. => (1e12, "T"),
            1e10.. => (1e9, "G"),
            _ => (1e6, "M"),
        };
        format!("{} {unit}", significant(value / divisor, 3))
    } else if magnitude < 0.000_95 {
        format!("{value:.1e}")
    } else if value.fract() == 0.0 {
        fixed(value, 0)
    } else {
        significant(value, if magnitude < 1.0 { 2 } else { 3 })
    }
}

/// Writes a number with so many decimals, for columns of equal precision: `2,063.54`.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NOT_A_NUMBER.to_string();
    }
    let text = format!("{value:.*}", decimals.min(DECIMALS_MAX));
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    // Rounding may leave a zero with a sign.
    let sign = if digits.bytes().all(|digit| matches!(digit, b'0' | b'.')) { "" } else { sign };
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    format!("{sign}{}{fraction}", grouped(whole))
}

/// Writes a count: `1,000,000`.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Writes a time in three digits: `833 us`, `10.1 ms`, `1.05 s`, `2 min 5 s`, `3 h 4 min`.
pub fn duration(value: Duration) -> String {
    let nanoseconds = value.as_nanos();
    let seconds = value.as_secs();
    // The bounds are where three digits round up to the next unit.
    match nanoseconds {
        0 => "0 us".to_string(),
        1..1_000 => format!("{nanoseconds} ns"),
        1_000..999_500 => format!("{} us", significant(nanoseconds as f64 / 1e3, 3)),
        999_500..999_500_000 => format!("{} ms", significant(nanoseconds as f64 / 1e6, 3)),
        999_500_000..59_950_000_000 => format!("{} s", significant(nanoseconds as f64 / 1e9, 3)),
        _ => {
            let rounded = seconds.saturating_add(u64::from(value.subsec_millis() >= 500));
            match rounded {
                0..3_600 => format!("{} min {} s", rounded / 60, rounded % 60),
                _ => format!("{} h {} min", count(rounded / 3_600), rounded % 3_600 / 60),
            }
        }
    }
}

/// Writes a size in decimal units: `400 bytes`, `2.05 kB`, `724 MB`.
pub fn bytes(value: u64) -> String {
    let value_float = value as f64;
    match value {
        1 => "1 byte".to_string(),
        0..1_000 => format!("{value} bytes"),
        1_000..999_500 => format!("{} kB", significant(value_float / 1e3, 3)),
        999_500..999_500_000 => format!("{} MB", significant(value_float / 1e6, 3)),
        999_500_000..999_500_000_000 => format!("{} GB", significant(value_float / 1e9, 3)),
        _ => format!("{} TB", significant(value_float / 1e12, 3)),
    }
}

/// Writes a difference as signed per cent: 0.0005 is `+0.05 %`.
pub fn percent(value: f64) -> String {
    if !value.is_finite() {
        return NOT_A_NUMBER.to_string();
    }
    let hundredfold = value * 100.0;
    let text = fixed(hundredfold, if hundredfold.abs() < 9.995 { 2 } else { 1 });
    let is_zero = text.bytes().all(|digit| matches!(digit, b'0' | b'.'));
    format!("{}{text} %", if is_zero || hundredfold < 0.0 { "" } else { "+" })
}

/// Writes the number at a tick of an axis: without zeros that say nothing.
pub(crate) fn tick(value: f64) -> String {
    let text = short(value);
    match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit.is_ascii_digit()) => {
            let fraction = fraction.trim_end_matches('0');
            if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") }
        }
        _ => text,
    }
}

/// Shortens what a tick says where there is little room: `10,000` is `10 k`.
pub(crate) fn compact(tick: &str) -> String {
    match tick.strip_suffix(",000") {
        Some(thousands) if !thousands.contains(',') => format!("{thousands} k"),
        _ => tick.to_string(),
    }
}

/// Writes so many significant digits, at least those before the point.
fn significant(value: f64, digits: usize) -> String {
    // The exponent is read off the rounded number: 9.996 has two digits before the point, not one.
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent: i64 =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(digits as i64 - 1 - exponent).unwrap_or(0);
    fixed(value, decimals)
}

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
