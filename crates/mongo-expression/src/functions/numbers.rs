//! Arithmetic, rounding, powers, logarithms and bits.
//!
//! A decimal stays a decimal, and brings the others with it.

use armilla_value::{Decimal, Value};

use super::{give, is_nullish, kind, null, text};
use crate::arithmetic::{self, integral, narrow, to_decimal, to_double};
use crate::decimal_arithmetic::{self as decimal, Rounding};
use crate::error::{Error, Result, codes};
use crate::tree::{Argument, Budget, Output};

/// `$add`: numbers, and at most one date.
pub(crate) fn add<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut sum = Value::Int32(0);
    let mut date = None;
    let mut has_null = false;
    for argument in &arguments {
        match argument.as_deref() {
            None | Some(Value::Null) => has_null = true,
            Some(Value::Date(ms)) => {
                if date.replace(*ms).is_some() {
                    return Err(Error::new(16612, "only one date allowed in an $add expression"));
                }
            }
            Some(value) => match arithmetic::add(&sum, value) {
                Some(total) => sum = total,
                None => {
                    return Err(Error::new(
                        codes::TYPE_MISMATCH,
                        format!("$add only supports numeric or date types, not {}", kind(argument)),
                    ));
                }
            },
        }
    }
    if has_null {
        return null();
    }
    match date {
        None => give(sum),
        Some(ms) => shifted(ms, &sum, "$add"),
    }
}

/// Moves a date by milliseconds, a fraction of which is rounded.
fn shifted<'a>(ms: i64, by: &Value, name: &str) -> Output<'a> {
    let by = match by {
        Value::Double(number) if number.is_nan() => None,
        Value::Double(number) => {
            Some(number.round_ties_even()).filter(|n| n.abs() < 9.3e18).map(|n| n as i64)
        }
        Value::Decimal128(bytes) => {
            decimal::to_i64(decimal::round_to(Decimal::from_bytes(bytes), 0, Rounding::HalfEven))
        }
        other => integral(other),
    };
    match by.and_then(|by| ms.checked_add(by)) {
        Some(ms) => give(Value::Date(ms)),
        None => Err(Error::new(codes::OVERFLOW, format!("date overflow in {name}"))),
    }
}

/// `$subtract`: numbers, a date and milliseconds, or two dates.
pub(crate) fn subtract<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    if is_nullish(&left) || is_nullish(&right) {
        return null();
    }
    let (Some(a), Some(b)) = (left.as_deref(), right.as_deref()) else { return null() };
    match (a, b) {
        (Value::Date(a), Value::Date(b)) => match a.checked_sub(*b) {
            Some(ms) => give(Value::Int64(ms)),
            None => Err(Error::new(codes::OVERFLOW, "overflow while subtracting dates")),
        },
        (Value::Date(ms), number) if crate::is_number(number) => {
            let negated = arithmetic::subtract(&Value::Int64(0), number).unwrap_or(Value::Null);
            shifted(*ms, &negated, "$subtract")
        }
        (Value::Date(_), _) => {
            Err(Error::new(codes::TYPE_MISMATCH, format!("can't $subtract {} from Date", kind(&right))))
        }
        _ => match arithmetic::subtract(a, b) {
            Some(value) => give(value),
            None => Err(Error::new(
                codes::TYPE_MISMATCH,
                format!("can't $subtract {} from {}", kind(&right), kind(&left)),
            )),
        },
    }
}

/// `$multiply`.
pub(crate) fn multiply<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut product = Value::Int32(1);
    let mut has_null = false;
    for argument in &arguments {
        match argument.as_deref() {
            None | Some(Value::Null) => has_null = true,
            Some(value) => match arithmetic::multiply(&product, value) {
                Some(next) => product = next,
                None => {
                    return Err(Error::new(
                        codes::TYPE_MISMATCH,
                        format!("$multiply only supports numeric types, not {}", kind(argument)),
                    ));
                }
            },
        }
    }
    if has_null { null() } else { give(product) }
}

/// `$divide`: a double, or a decimal.
pub(crate) fn divide<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    if is_nullish(&left) || is_nullish(&right) {
        return null();
    }
    let zero = || Error::new(codes::BAD_VALUE, "can't $divide by zero");
    match (left.as_deref(), right.as_deref()) {
        (Some(a), Some(b)) if crate::is_number(a) && crate::is_number(b) => {
            if !crate::is_truthy(Some(b)) {
                return Err(zero());
            }
            if let (Some(a), Some(b)) = decimals(a, b) {
                return give_decimal(decimal::divide(a, b));
            }
            let (a, b) = (to_double(a).unwrap_or(f64::NAN), to_double(b).unwrap_or(f64::NAN));
            give(a / b)
        }
        _ => Err(Error::new(
            codes::TYPE_MISMATCH,
            format!("$divide only supports numeric types, not {} and {}", kind(&left), kind(&right)),
        )),
    }
}

/// Returns both as decimals if one of them is one.
fn decimals(left: &Value, right: &Value) -> (Option<Decimal>, Option<Decimal>) {
    if matches!(left, Value::Decimal128(_)) || matches!(right, Value::Decimal128(_)) {
        (to_decimal(left), to_decimal(right))
    } else {
        (None, None)
    }
}

fn give_decimal<'a>(number: Decimal) -> Output<'a> {
    give(Value::Decimal128(number.to_bytes()))
}

/// `$mod`: the remainder with the sign of the dividend.
pub(crate) fn modulo<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    if is_nullish(&left) || is_nullish(&right) {
        return null();
    }
    let (Some(a), Some(b)) = (left.as_deref(), right.as_deref()) else { return null() };
    if !crate::is_number(a) || !crate::is_number(b) {
        return Err(Error::new(
            16611,
            format!("$mod only supports numeric types, not {} and {}", kind(&left), kind(&right)),
        ));
    }
    if !crate::is_truthy(Some(b)) {
        return Err(Error::new(16610, "can't $mod by zero"));
    }
    if let (Some(a), Some(b)) = decimals(a, b) {
        return give_decimal(decimal::remainder(a, b));
    }
    match (a, b) {
        (Value::Int32(a), Value::Int32(b)) => give(Value::Int32(a.wrapping_rem(*b))),
        (Value::Int32(_) | Value::Int64(_), Value::Int32(_) | Value::Int64(_)) => {
            let (a, b) = (integral(a).unwrap_or(0), integral(b).unwrap_or(1));
            give(Value::Int64(a.wrapping_rem(b)))
        }
        _ => give(to_double(a).unwrap_or(f64::NAN) % to_double(b).unwrap_or(f64::NAN)),
    }
}

fn not_numeric(name: &str, argument: &Argument<'_>) -> Error {
    Error::new(28765, format!("{name} only supports numeric types, not {}", kind(argument)))
}

/// `$abs`.
pub(crate) fn abs<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    match argument.as_deref() {
        None | Some(Value::Null) => null(),
        Some(Value::Int32(number)) => give(narrow(i64::from(*number).abs())),
        Some(Value::Int64(number)) => match number.checked_abs() {
            Some(number) => give(Value::Int64(number)),
            None => Err(Error::new(28680, "can't take $abs of long long min")),
        },
        Some(Value::Double(number)) => give(number.abs()),
        Some(Value::Decimal128(bytes)) => give_decimal(decimal::absolute(Decimal::from_bytes(bytes))),
        Some(_) => Err(not_numeric("$abs", &argument)),
    }
}

/// `$ceil`.
pub(crate) fn ceil<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    whole("$ceil", argument, f64::ceil, Rounding::Ceiling)
}

/// `$floor`.
pub(crate) fn floor<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    whole("$floor", argument, f64::floor, Rounding::Floor)
}

fn whole<'a>(name: &str, argument: Argument<'a>, double: fn(f64) -> f64, rounding: Rounding) -> Output<'a> {
    match argument.as_deref() {
        None | Some(Value::Null) => null(),
        Some(Value::Int32(_) | Value::Int64(_)) => Ok(argument),
        Some(Value::Double(number)) => give(double(*number)),
        Some(Value::Decimal128(bytes)) => {
            give_decimal(decimal::round_to(Decimal::from_bytes(bytes), 0, rounding))
        }
        Some(_) => Err(not_numeric(name, &argument)),
    }
}

/// `$round`: half to even.
pub(crate) fn round<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    to_place("$round", arguments, Rounding::HalfEven)
}

/// `$trunc`.
pub(crate) fn trunc<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    to_place("$trunc", arguments, Rounding::Truncate)
}

fn to_place<'a>(name: &str, mut arguments: Vec<Argument<'a>>, rounding: Rounding) -> Output<'a> {
    let precision = if arguments.len() > 1 { arguments.pop() } else { None };
    let number = arguments.pop().flatten();
    if is_nullish(&number) || precision.as_ref().is_some_and(is_nullish) {
        return null();
    }
    let places = match precision.flatten() {
        None => 0,
        Some(value) => {
            let Some(places) = integral(&value) else {
                return Err(Error::new(
                    51082,
                    format!("precision argument to  {name} must be a integral value"),
                ));
            };
            if !(-20..=100).contains(&places) {
                return Err(Error::new(
                    51083,
                    format!("cannot apply {name} with precision value {places} value must be in [-20, 100]"),
                ));
            }
            places as i32
        }
    };
    match number.as_deref() {
        Some(Value::Decimal128(bytes)) => {
            give_decimal(decimal::round_to(Decimal::from_bytes(bytes), -places, rounding))
        }
        Some(Value::Double(number)) => give(round_double(*number, places, rounding)),
        Some(Value::Int32(_) | Value::Int64(_)) if places >= 0 => Ok(number),
        Some(value @ (Value::Int32(_) | Value::Int64(_))) => {
            let exact = decimal::from_i64(integral(value).unwrap_or(0));
            match decimal::to_i64(decimal::round_to(exact, -places, rounding)) {
                Some(rounded) if matches!(value, Value::Int32(_)) => give(narrow(rounded)),
                Some(rounded) => give(Value::Int64(rounded)),
                None => Err(Error::new(
                    51080,
                    format!(
                        "invalid conversion from Decimal128 result in {name} resulting from arguments: [{}, {places}]",
                        text(&number)
                    ),
                )),
            }
        }
        _ => Err(Error::new(51081, format!("{name} only supports numeric types, not {}", kind(&number)))),
    }
}

fn round_double(number: f64, places: i32, rounding: Rounding) -> f64 {
    if places == 0 || !number.is_finite() {
        return match rounding {
            Rounding::Truncate => number.trunc(),
            _ => number.round_ties_even(),
        };
    }
    let exact = decimal::from_f64_exactly(number);
    decimal::to_f64(decimal::round_to(exact, -places, rounding)).abs().copysign(number)
}

/// `$pow`: an integer where both are and the result fits.
pub(crate) fn pow<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    if is_nullish(&left) || is_nullish(&right) {
        return null();
    }
    let (Some(base), Some(exponent)) = (left.as_deref(), right.as_deref()) else { return null() };
    if !crate::is_number(base) {
        return Err(Error::new(28762, format!("$pow's base must be numeric, not {}", kind(&left))));
    }
    if !crate::is_number(exponent) {
        return Err(Error::new(28763, format!("$pow's exponent must be numeric, not {}", kind(&right))));
    }
    let (a, b) = (to_double(base).unwrap_or(f64::NAN), to_double(exponent).unwrap_or(f64::NAN));
    if a == 0.0 && b < 0.0 {
        return Err(Error::new(28764, "$pow cannot take a base of 0 and a negative exponent"));
    }
    if let (Some(base), Some(power)) = decimals(base, exponent) {
        return give_decimal(decimal_power(base, power));
    }
    if matches!(base, Value::Double(_)) || matches!(exponent, Value::Double(_)) {
        return give(a.powf(b));
    }
    let (whole_base, whole_exponent) = (integral(base).unwrap_or(0), integral(exponent).unwrap_or(0));
    let is_narrow = matches!((base, exponent), (Value::Int32(_), Value::Int32(_)));
    let exact = match (whole_base, u32::try_from(whole_exponent)) {
        (_, Ok(power)) => whole_base.checked_pow(power),
        // A negative power of one is one, of minus one one of both; others are fractions.
        (1, Err(_)) => Some(1),
        (-1, Err(_)) => Some(if whole_exponent % 2 == 0 { 1 } else { -1 }),
        (0, Err(_)) if whole_exponent > 0 => Some(0),
        _ => None,
    };
    match exact {
        Some(number) if is_narrow => give(narrow(number)),
        Some(number) => give(Value::Int64(number)),
        None => give(a.powf(b)),
    }
}

fn decimal_power(base: Decimal, power: Decimal) -> Decimal {
    if decimal::is_integral(power)
        && let Some(whole) = decimal::to_i64(power)
        && whole.unsigned_abs() <= 1_000_000
    {
        let mut result = decimal::from_i64(1);
        let mut factor = base;
        let mut left = whole.unsigned_abs();
        while left > 0 {
            if left & 1 == 1 {
                result = decimal::multiply(result, factor);
            }
            left >>= 1;
            if left > 0 {
                factor = decimal::multiply(factor, factor);
            }
        }
        return if whole < 0 { decimal::divide(decimal::from_i64(1), result) } else { result };
    }
    match base {
        Decimal::Finite { negative: false, coefficient, .. } if coefficient != 0 => {
            decimal::power(base, power)
        }
        // What is infinite, zero or negative, doubles know.
        _ => decimal::from_f64(decimal::to_f64(base).powf(decimal::to_f64(power))),
    }
}

/// Applies a function of doubles; a decimal stays a decimal.
pub(crate) fn by_double<'a>(
    name: &str,
    argument: &Argument<'a>,
    function: impl Fn(f64) -> Result<f64>,
) -> Output<'a> {
    by_kind(name, argument, &function, |number| function(decimal::to_f64(number)).map(decimal::from_f64))
}

/// Applies one function to decimals and another to all other numbers.
fn by_kind<'a>(
    name: &str,
    argument: &Argument<'a>,
    double: impl Fn(f64) -> Result<f64>,
    exact: impl Fn(Decimal) -> Result<Decimal>,
) -> Output<'a> {
    match argument.as_deref() {
        None | Some(Value::Null) => null(),
        Some(Value::Decimal128(bytes)) => give_decimal(exact(Decimal::from_bytes(bytes))?),
        Some(value) => match value.as_f64() {
            Some(number) => give(double(number)?),
            None => Err(not_numeric(name, argument)),
        },
    }
}

/// Says whether a number has a logarithm: it is above zero, or none at all.
fn is_above_zero(number: Decimal) -> bool {
    !decimal::is_zero(number) && !decimal::is_negative(number)
}

/// `$sqrt`.
pub(crate) fn sqrt<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    let refused = || Error::new(28714, "$sqrt's argument must be greater than or equal to 0");
    if let Some(Value::Decimal128(bytes)) = argument.as_deref() {
        let number = Decimal::from_bytes(bytes);
        if decimal::is_negative(number) && !decimal::is_zero(number) {
            return Err(refused());
        }
        return give_decimal(decimal::square_root(number));
    }
    by_double("$sqrt", &argument, |number| if number < 0.0 { Err(refused()) } else { Ok(number.sqrt()) })
}

/// `$exp`.
pub(crate) fn exp<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    by_kind("$exp", &argument, |number| Ok(number.exp()), |number| Ok(decimal::exponential(number)))
}

/// `$ln`.
pub(crate) fn ln<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    logarithm("$ln", 28766, argument, f64::ln, decimal::logarithm)
}

/// `$log10`.
pub(crate) fn log10<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    logarithm("$log10", 28761, argument, f64::log10, decimal::logarithm_of_ten)
}

fn logarithm<'a>(
    name: &str,
    code: i32,
    argument: Argument<'a>,
    double: fn(f64) -> f64,
    exact: fn(Decimal) -> Decimal,
) -> Output<'a> {
    let refused = || {
        Error::new(code, format!("{name}'s argument must be a positive number, but is {}", text(&argument)))
    };
    by_kind(
        name,
        &argument,
        |number| if number > 0.0 || number.is_nan() { Ok(double(number)) } else { Err(refused()) },
        |number| if is_above_zero(number) { Ok(exact(number)) } else { Err(refused()) },
    )
}

/// `$log`.
pub(crate) fn log<'a>(_: &Budget, argument: Argument<'a>, base: Argument<'a>) -> Output<'a> {
    if is_nullish(&argument) || is_nullish(&base) {
        return null();
    }
    let (Some(value), Some(base_value)) = (argument.as_deref(), base.as_deref()) else { return null() };
    let Some(number) = to_double(value) else {
        return Err(Error::new(28756, format!("$log's argument must be numeric, not {}", kind(&argument))));
    };
    let Some(root) = to_double(base_value) else {
        return Err(Error::new(28757, format!("$log's base must be numeric, not {}", kind(&base))));
    };
    if number <= 0.0 {
        return Err(Error::new(
            28758,
            format!("$log's argument must be a positive number, but is {}", text(&argument)),
        ));
    }
    if root <= 0.0 || root == 1.0 {
        return Err(Error::new(
            28759,
            format!("$log's base must be a positive number not equal to 1, but is {}", text(&base)),
        ));
    }
    if let (Some(number), Some(root)) = decimals(value, base_value) {
        return give_decimal(decimal::logarithm_to_base(number, root));
    }
    give(number.ln() / root.ln())
}

fn bits<'a>(
    name: &str,
    arguments: Vec<Argument<'a>>,
    start: i32,
    operation: fn(i64, i64) -> i64,
) -> Output<'a> {
    let (mut result, mut is_wide, mut has_null) = (i64::from(start), false, false);
    for argument in &arguments {
        match argument.as_deref() {
            None | Some(Value::Null) => has_null = true,
            Some(Value::Int32(number)) => result = operation(result, i64::from(*number)),
            Some(Value::Int64(number)) => {
                is_wide = true;
                result = operation(result, *number);
            }
            Some(_) => {
                return Err(Error::new(
                    codes::TYPE_MISMATCH,
                    format!("{name} only supports int and long operands."),
                ));
            }
        }
    }
    if has_null {
        return null();
    }
    // Bits of 32-bit numbers stay in their range, as the sign is extended in all of them.
    if is_wide { give(Value::Int64(result)) } else { give(Value::Int32(result as i32)) }
}

/// `$bitAnd`.
pub(crate) fn bit_and<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    bits("$bitAnd", arguments, -1, |a, b| a & b)
}

/// `$bitOr`.
pub(crate) fn bit_or<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    bits("$bitOr", arguments, 0, |a, b| a | b)
}

/// `$bitXor`.
pub(crate) fn bit_xor<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    bits("$bitXor", arguments, 0, |a, b| a ^ b)
}

/// `$bitNot`.
pub(crate) fn bit_not<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    match argument.as_deref() {
        None | Some(Value::Null) => null(),
        Some(Value::Int32(number)) => give(Value::Int32(!number)),
        Some(Value::Int64(number)) => give(Value::Int64(!number)),
        Some(_) => Err(Error::new(
            codes::TYPE_MISMATCH,
            format!("$bitNot only supports int and long, not: {}.", kind(&argument)),
        )),
    }
}
