//! IEEE-754 decimals as BSON carries them: 16 bytes, little-endian, coefficient as a binary integer.
//!
//! Text follows the rules of the BSON specification, so that Extended JSON round-trips every value that
//! arithmetic can produce, trailing zeros included. Payloads of NaN and non-canonical coefficients are read
//! as the standard says (plain NaN, zero) and not kept.
//!
//! Not here: comparing decimals with other numbers (`number`), and arithmetic, which no caller needs yet.

use std::fmt;
use std::str::FromStr;

const EXPONENT_BIAS: i32 = 6176;
const EXPONENT_MIN: i32 = -6176;
const EXPONENT_MAX: i32 = 6111;
const DIGITS_MAX: usize = 34;
const COEFFICIENT_MAX: u128 = 10u128.pow(DIGITS_MAX as u32) - 1;

/// A decimal number, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decimal {
    /// Not a number.
    NaN,
    /// Beyond all numbers.
    Infinity {
        /// Below rather than above.
        negative: bool,
    },
    /// `coefficient * 10^exponent`, with its sign.
    Finite {
        /// The sign, which zero has too.
        negative: bool,
        /// At most 34 decimal digits.
        coefficient: u128,
        /// From -6176 to 6111.
        exponent: i32,
    },
}

/// Why a text is no decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalError {
    /// The text does not have the form of a number.
    Malformed,
    /// The number needs more than 34 digits or an exponent out of range.
    Inexact,
}

impl fmt::Display for DecimalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            DecimalError::Malformed => "not a decimal number",
            DecimalError::Inexact => "decimal number out of range or with more than 34 digits",
        })
    }
}

impl std::error::Error for DecimalError {}

impl Decimal {
    /// Takes BSON's bytes apart.
    pub fn from_bytes(bytes: &[u8; 16]) -> Decimal {
        let bits = u128::from_le_bytes(*bytes);
        let negative = bits >> 127 == 1;
        let combination = (bits >> 122) & 0x1F;
        match combination {
            0x1F => Decimal::NaN,
            0x1E => Decimal::Infinity { negative },
            // The form with an implied leading 100 only holds coefficients beyond 34 digits, which mean zero.
            0x18.. => Decimal::Finite {
                negative,
                coefficient: 0,
                exponent: ((bits >> 111) & 0x3FFF) as i32 - EXPONENT_BIAS,
            },
            _ => {
                let coefficient = bits & ((1 << 113) - 1);
                Decimal::Finite {
                    negative,
                    coefficient: if coefficient > COEFFICIENT_MAX { 0 } else { coefficient },
                    exponent: ((bits >> 113) & 0x3FFF) as i32 - EXPONENT_BIAS,
                }
            }
        }
    }

    /// Returns BSON's bytes.
    pub fn to_bytes(self) -> [u8; 16] {
        let bits = match self {
            Decimal::NaN => 0x1F << 122,
            Decimal::Infinity { negative } => u128::from(negative) << 127 | 0x1E << 122,
            Decimal::Finite { negative, coefficient, exponent } => {
                let biased = (exponent + EXPONENT_BIAS) as u128 & 0x3FFF;
                u128::from(negative) << 127 | biased << 113 | coefficient
            }
        };
        bits.to_le_bytes()
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (negative, coefficient, exponent) = match *self {
            Decimal::NaN => return formatter.write_str("NaN"),
            Decimal::Infinity { negative } => {
                return formatter.write_str(if negative { "-Infinity" } else { "Infinity" });
            }
            Decimal::Finite { negative, coefficient, exponent } => (negative, coefficient, exponent),
        };
        if negative {
            formatter.write_str("-")?;
        }
        let digits = coefficient.to_string();
        let scientific = exponent + digits.len() as i32 - 1;
        if exponent > 0 || scientific < -6 {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            return write!(formatter, "{first}{point}{rest}E{scientific:+}");
        }
        let fraction_len = exponent.unsigned_abs() as usize;
        if fraction_len == 0 {
            formatter.write_str(&digits)
        } else if digits.len() > fraction_len {
            let (whole, fraction) = digits.split_at(digits.len() - fraction_len);
            write!(formatter, "{whole}.{fraction}")
        } else {
            write!(formatter, "0.{digits:0>fraction_len$}")
        }
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Decimal, DecimalError> {
        let (negative, body) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if body.eq_ignore_ascii_case("nan") {
            return Ok(Decimal::NaN);
        }
        if body.eq_ignore_ascii_case("infinity") || body.eq_ignore_ascii_case("inf") {
            return Ok(Decimal::Infinity { negative });
        }
        let (mantissa, mut exponent) = match body.find(['e', 'E']) {
            None => (body, 0i64),
            Some(at) => {
                let power: i64 = body[at + 1..].parse().map_err(|_| DecimalError::Malformed)?;
                // Far beyond every exponent, and far from overflow in the sums below.
                (&body[..at], power.clamp(-1_000_000_000, 1_000_000_000))
            }
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.len() + fraction.len() == 0
            || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit())
        {
            return Err(DecimalError::Malformed);
        }
        exponent -= fraction.len() as i64;
        let digits: String = whole.chars().chain(fraction.chars()).collect();
        let digits = digits.trim_start_matches('0');
        // Zeros at the end beyond 34 digits move into the exponent.
        let kept = digits.len().min(DIGITS_MAX);
        if digits[kept..].bytes().any(|digit| digit != b'0') {
            return Err(DecimalError::Inexact);
        }
        exponent += (digits.len() - kept) as i64;
        let coefficient: u128 =
            if kept == 0 { 0 } else { digits[..kept].parse().map_err(|_| DecimalError::Malformed)? };
        clamp(negative, coefficient, exponent)
    }
}

/// Brings an exponent into range by moving zeros, which is exact, or refuses.
fn clamp(negative: bool, mut coefficient: u128, mut exponent: i64) -> Result<Decimal, DecimalError> {
    if coefficient == 0 {
        let exponent = exponent.clamp(i64::from(EXPONENT_MIN), i64::from(EXPONENT_MAX)) as i32;
        return Ok(Decimal::Finite { negative, coefficient, exponent });
    }
    while exponent > i64::from(EXPONENT_MAX) && coefficient <= COEFFICIENT_MAX / 10 {
        coefficient *= 10;
        exponent -= 1;
    }
    while exponent < i64::from(EXPONENT_MIN) && coefficient.is_multiple_of(10) {
        coefficient /= 10;
        exponent += 1;
    }
    match i32::try_from(exponent) {
        Ok(exponent) if (EXPONENT_MIN..=EXPONENT_MAX).contains(&exponent) => {
            Ok(Decimal::Finite { negative, coefficient, exponent })
        }
        _ => Err(DecimalError::Inexact),
    }
}

#[cfg(test)]
#[path = "decimal_tests.rs"]
mod tests;
