//! Angles and what belongs to them; decimals go through doubles.

use super::numbers::by_double;
use super::{is_nullish, kind, null, text};
use crate::arithmetic::to_double;
use crate::error::Error;
use crate::tree::{Argument, Budget, Output};

macro_rules! functions {
    ($($function:ident $name:literal $method:expr, $holds:expr, $range:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub(crate) fn $function<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
                let holds: fn(f64) -> bool = $holds;
                let method: fn(f64) -> f64 = $method;
                by_double($name, &argument, |number| {
                    if number.is_nan() || holds(number) {
                        return Ok(method(number));
                    }
                    Err(Error::new(
                        50989,
                        format!("cannot apply {} to {}, value must be in {}", $name, text(&argument), $range),
                    ))
                })
            }
        )*
    };
}

functions! {
    sin "$sin" f64::sin, f64::is_finite, "(-inf,inf)";
    cos "$cos" f64::cos, f64::is_finite, "(-inf,inf)";
    tan "$tan" f64::tan, f64::is_finite, "(-inf,inf)";
    asin "$asin" f64::asin, |number| (-1.0..=1.0).contains(&number), "[-1,1]";
    acos "$acos" f64::acos, |number| (-1.0..=1.0).contains(&number), "[-1,1]";
    atan "$atan" f64::atan, |_| true, "[-inf,inf]";
    sinh "$sinh" f64::sinh, |_| true, "[-inf,inf]";
    cosh "$cosh" f64::cosh, |_| true, "[-inf,inf]";
    tanh "$tanh" f64::tanh, |_| true, "[-inf,inf]";
    asinh "$asinh" f64::asinh, |_| true, "[-inf,inf]";
    acosh "$acosh" f64::acosh, |number| number >= 1.0, "[1,inf]";
    atanh "$atanh" f64::atanh, |number| (-1.0..=1.0).contains(&number), "[-1,1]";
    degrees_to_radians "$degreesToRadians" f64::to_radians, |_| true, "[-inf,inf]";
    radians_to_degrees "$radiansToDegrees" f64::to_degrees, |_| true, "[-inf,inf]";
}

/// `$atan2`.
pub(crate) fn atan2<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    if is_nullish(&left) || is_nullish(&right) {
        return null();
    }
    let Some(x) = right.as_deref().and_then(to_double) else {
        return Err(Error::new(
            51045,
            format!("$atan2 only supports numeric types, not {} and {}", kind(&left), kind(&right)),
        ));
    };
    if matches!(right.as_deref(), Some(armilla_value::Value::Decimal128(_)))
        && let Some(y) = left.as_deref().and_then(to_double)
    {
        let angle = crate::decimal_arithmetic::from_f64(y.atan2(x));
        return super::give(armilla_value::Value::Decimal128(angle.to_bytes()));
    }
    match by_double("$atan2", &left, |y| Ok(y.atan2(x))) {
        Err(_) => Err(Error::new(
            51044,
            format!("$atan2 only supports numeric types, not {} and {}", kind(&left), kind(&right)),
        )),
        output => output,
    }
}
