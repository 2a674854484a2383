//! Conversions between types: `$convert` and its short forms.

use armilla_value::{Decimal, Value};

use super::{give, is_given, is_nullish, kind, named, null};
use crate::date::{format::iso_text, read::read_date, zone::Zone};
use crate::decimal_arithmetic as decimal;
use crate::error::{Error, Result, codes};
use crate::parse::Named;
use crate::tree::{Argument, Budget, Frame, Node, Output};
use crate::types::type_number_of_name;
use crate::{arithmetic, type_name};

/// What `$convert` takes.
pub(crate) const CONVERT: Named = Named {
    names: &["input", "to", "onError", "onNull"],
    required: &[(0, codes::FAILED_TO_PARSE), (1, codes::FAILED_TO_PARSE)],
    not_object: codes::FAILED_TO_PARSE,
    unknown: codes::FAILED_TO_PARSE,
};

/// The types that can be converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Double,
    String,
    ObjectId,
    Bool,
    Date,
    Int,
    Long,
    Decimal,
}

impl Target {
    fn of(value: &Value) -> Result<Target> {
        let number = match value {
            Value::String(name) => type_number_of_name(name)
                .ok_or_else(|| Error::new(codes::BAD_VALUE, format!("Unknown type name: {name}")))?,
            other if crate::is_number(other) => arithmetic::integral(other)
                .and_then(|number| i32::try_from(number).ok())
                .ok_or_else(|| {
                    Error::new(
                        codes::FAILED_TO_PARSE,
                        "In $convert, numeric 'to' argument is not an integer".to_owned(),
                    )
                })?,
            other => {
                return Err(Error::new(
                    codes::FAILED_TO_PARSE,
                    format!(
                        "$convert's 'to' argument must be a string or number, but is {}",
                        type_name(other)
                    ),
                ));
            }
        };
        Ok(match number {
            1 => Target::Double,
            2 => Target::String,
            7 => Target::ObjectId,
            8 => Target::Bool,
            9 => Target::Date,
            16 => Target::Int,
            18 => Target::Long,
            19 => Target::Decimal,
            -1 | 3 | 4 | 5 | 6 | 10..=15 | 17 | 127 => {
                return Err(failure(format!(
                    "Unsupported conversion to type {number} in $convert with no onError value"
                )));
            }
            _ => {
                return Err(Error::new(
                    codes::FAILED_TO_PARSE,
                    format!(
                        "In $convert, numeric value for 'to' does not correspond to a BSON type: {number}"
                    ),
                ));
            }
        })
    }

    fn name(self) -> &'static str {
        match self {
            Target::Double => "double",
            Target::String => "string",
            Target::ObjectId => "objectId",
            Target::Bool => "bool",
            Target::Date => "date",
            Target::Int => "int",
            Target::Long => "long",
            Target::Decimal => "decimal",
        }
    }
}

fn failure(message: String) -> Error {
    Error::new(codes::CONVERSION_FAILURE, message)
}

/// `$convert`.
pub(crate) fn convert<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let input = named(arguments, 0, frame)?;
    let to = named(arguments, 1, frame)?;
    if is_nullish(&input) {
        return if is_given(arguments, 3) { named(arguments, 3, frame) } else { null() };
    }
    let (Some(value), Some(to)) = (input.as_deref(), to) else { return null() };
    if to.is_null() {
        return null();
    }
    match Target::of(&to).and_then(|target| converted(value, target)) {
        Ok(value) => give(value),
        Err(error) if error.code == codes::CONVERSION_FAILURE && is_given(arguments, 2) => {
            named(arguments, 2, frame)
        }
        Err(error) => Err(error),
    }
}

macro_rules! short_forms {
    ($($function:ident $target:ident $name:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub(crate) fn $function<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
                match argument.as_deref() {
                    None | Some(Value::Null) => null(),
                    Some(value) => give(converted(value, Target::$target)?),
                }
            }
        )*
    };
}

short_forms! {
    to_string String "$toString";
    to_int Int "$toInt";
    to_long Long "$toLong";
    to_double Double "$toDouble";
    to_decimal Decimal "$toDecimal";
    to_bool Bool "$toBool";
    to_date Date "$toDate";
    to_object_id ObjectId "$toObjectId";
}

fn converted(value: &Value, target: Target) -> Result<Value> {
    let unsupported = || {
        Err(failure(format!(
            "Unsupported conversion from {} to {} in $convert with no onError value",
            kind(&Some(std::borrow::Cow::Borrowed(value))),
            target.name()
        )))
    };
    match (value, target) {
        (Value::Double(_), Target::Double)
        | (Value::String(_), Target::String)
        | (Value::ObjectId(_), Target::ObjectId)
        | (Value::Bool(_), Target::Bool)
        | (Value::Date(_), Target::Date)
        | (Value::Int32(_), Target::Int)
        | (Value::Int64(_), Target::Long)
        | (Value::Decimal128(_), Target::Decimal) => Ok(value.clone()),

        (Value::Bool(truth), Target::Double) => Ok(Value::Double(f64::from(u8::from(*truth)))),
        (Value::Bool(truth), Target::Int) => Ok(Value::Int32(i32::from(*truth))),
        (Value::Bool(truth), Target::Long) => Ok(Value::Int64(i64::from(*truth))),
        (Value::Bool(truth), Target::Decimal) => decimal_value(decimal::from_i64(i64::from(*truth))),
        (Value::Bool(truth), Target::String) => Ok(Value::String(truth.to_string())),

        (Value::String(_) | Value::ObjectId(_) | Value::Date(_), Target::Bool) => Ok(Value::Bool(true)),
        (number, Target::Bool) if crate::is_number(number) => Ok(Value::Bool(crate::is_truthy(Some(number)))),

        (number, Target::String) if crate::is_number(number) => Ok(Value::String(number_text(number))),
        (Value::ObjectId(bytes), Target::String) => Ok(Value::String(hex(bytes))),
        (Value::Date(ms), Target::String) => Ok(Value::String(iso_text(*ms))),

        (number, Target::Int | Target::Long) if crate::is_number(number) => {
            let whole = whole_number(number)?;
            if target == Target::Long {
                return Ok(Value::Int64(whole));
            }
            i32::try_from(whole).map(Value::Int32).map_err(|_| overflow(number))
        }
        (number, Target::Double) if crate::is_number(number) => {
            let double = arithmetic::to_double(number).unwrap_or(f64::NAN);
            if double.is_infinite()
                && matches!(number, Value::Decimal128(bytes) if matches!(Decimal::from_bytes(bytes), Decimal::Finite { .. }))
            {
                return Err(overflow(number));
            }
            Ok(Value::Double(double))
        }
        (number, Target::Decimal) if crate::is_number(number) => {
            decimal_value(arithmetic::to_decimal(number).unwrap_or(Decimal::NaN))
        }
        (Value::Int64(_) | Value::Double(_) | Value::Decimal128(_), Target::Date) => {
            Ok(Value::Date(whole_number(value)?))
        }
        (Value::Date(ms), Target::Long) => Ok(Value::Int64(*ms)),
        (Value::Date(ms), Target::Double) => Ok(Value::Double(*ms as f64)),
        (Value::Date(ms), Target::Decimal) => decimal_value(decimal::from_i64(*ms)),
        (Value::ObjectId(bytes), Target::Date) => {
            let seconds = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            Ok(Value::Date(i64::from(seconds) * 1000))
        }
        (Value::Timestamp { seconds, .. }, Target::Date) => Ok(Value::Date(i64::from(*seconds) * 1000)),

        (Value::String(text), target) => from_text(text, target),
        _ => unsupported(),
    }
}

fn decimal_value(number: Decimal) -> Result<Value> {
    Ok(Value::Decimal128(number.to_bytes()))
}

fn overflow(number: &Value) -> Error {
    failure(format!(
        "Conversion would overflow target type in $convert with no onError value: {}",
        number_text(number)
    ))
}

/// Returns a number without its fraction.
fn whole_number(number: &Value) -> Result<i64> {
    let special = |what: &str| {
        failure(format!("Attempt to convert {what} value to integer type in $convert with no onError value"))
    };
    match number {
        Value::Double(double) if double.is_nan() => Err(special("NaN")),
        Value::Double(double) if double.is_infinite() => Err(special("infinity")),
        Value::Double(double) => {
            arithmetic::integral(&Value::Double(double.trunc())).ok_or_else(|| overflow(number))
        }
        Value::Decimal128(bytes) => match Decimal::from_bytes(bytes) {
            Decimal::NaN => Err(special("NaN")),
            Decimal::Infinity { .. } => Err(special("infinity")),
            finite => decimal::to_i64(finite).ok_or_else(|| overflow(number)),
        },
        other => Ok(arithmetic::integral(other).unwrap_or(0)),
    }
}

fn from_text(text: &str, target: Target) -> Result<Value> {
    let unreadable = |why: &str| {
        failure(format!("Failed to parse number '{text}' in $convert with no onError value: {why}"))
    };
    let digits = text.trim_start_matches(['+', '-']);
    if matches!(target, Target::Int | Target::Long | Target::Double | Target::Decimal)
        && (digits.starts_with("0x") || digits.starts_with("0X"))
    {
        return Err(failure(format!("Illegal hexadecimal input in $convert with no onError value: {text}")));
    }
    match target {
        Target::Int | Target::Long => {
            if text.is_empty() || digits.is_empty() {
                return Err(unreadable("No digits"));
            }
            let whole: i64 = text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
                std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                    unreadable("Overflow")
                }
                _ => unreadable("Did not consume whole string."),
            })?;
            if target == Target::Long {
                return Ok(Value::Int64(whole));
            }
            i32::try_from(whole).map(Value::Int32).map_err(|_| unreadable("Overflow"))
        }
        Target::Double => {
            let number: f64 = text.parse().map_err(|_| {
                unreadable(if text.is_empty() { "Empty string" } else { "Did not consume whole string." })
            })?;
            let is_named = digits.starts_with(['i', 'I', 'n', 'N']);
            if number.is_infinite() && !is_named {
                return Err(unreadable("Out of range"));
            }
            Ok(Value::Double(number))
        }
        Target::Decimal => {
            let number: Decimal =
                text.parse().map_err(|_| unreadable("Failed to parse string to decimal"))?;
            decimal_value(number)
        }
        Target::ObjectId => object_id(text),
        Target::Date => read_date(text, None, &Zone::UTC, false).map(Value::Date),
        Target::String | Target::Bool => Ok(Value::from(text)),
    }
}

fn object_id(text: &str) -> Result<Value> {
    let refused = |why: String| {
        failure(format!("Failed to parse objectId '{text}' in $convert with no onError value: {why}"))
    };
    if text.len() != 24 {
        return Err(refused(format!(
            "Invalid string length for parsing to OID, expected 24 but found {}",
            text.len()
        )));
    }
    let mut bytes = [0; 12];
    for (place, byte) in bytes.iter_mut().enumerate() {
        let pair =
            text.get(2 * place..2 * place + 2).filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()));
        *byte = pair
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
            .ok_or_else(|| refused("Invalid character found in hex string".to_owned()))?;
    }
    Ok(Value::ObjectId(bytes))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes a number as `$toString` does.
pub(crate) fn number_text(number: &Value) -> String {
    match number {
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Decimal128(bytes) => Decimal::from_bytes(bytes).to_string(),
        Value::Double(number) => double_text(*number),
        _ => String::new(),
    }
}

fn double_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == 0.0 {
        return if number.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    // As C writes with `%.16g`: sixteen digits without zeros at the end, and with an exponent where it is far away.
    let scientific = format!("{number:.15e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let count = digits.len() as i32;
    let with_point = |digits: &str, whole: usize| {
        let (whole, fraction) = digits.split_at(whole);
        if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
    };
    match exponent {
        0..16 if count <= exponent + 1 => {
            format!("{sign}{digits}{}", "0".repeat((exponent + 1 - count) as usize))
        }
        0..16 => format!("{sign}{}", with_point(digits, exponent as usize + 1)),
        -4..0 => format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize)),
        _ => {
            let direction = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{}e{direction}{:02}", with_point(digits, 1), exponent.abs())
        }
    }
}
