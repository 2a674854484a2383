//! Functions over numbers: doubles, and 64-bit integers for those whose names begin with `INT`.

use crate::datum::Datum;

/// Applies a function of one double.
pub(crate) fn one<'a>(args: &[Datum<'_>], function: impl FnOnce(f64) -> f64) -> Option<Datum<'a>> {
    Some(Datum::Double(function(args.first()?.as_f64()?)))
}

/// Applies a function of two doubles.
pub(crate) fn two<'a>(args: &[Datum<'_>], function: impl FnOnce(f64, f64) -> f64) -> Option<Datum<'a>> {
    Some(Datum::Double(function(args.first()?.as_f64()?, args.get(1)?.as_f64()?)))
}

/// Applies a function of two exact integers.
pub(crate) fn integers<'a>(
    args: &[Datum<'_>],
    function: impl FnOnce(i64, i64) -> Option<i64>,
) -> Option<Datum<'a>> {
    function(args.first()?.as_i64()?, args.get(1)?.as_i64()?).map(Datum::Int)
}

/// Returns -1, 0 or 1; of NaN, NaN.
pub(crate) fn sign(number: f64) -> f64 {
    if number == 0.0 { 0.0 } else { number.signum() }
}

/// Takes a logarithm, natural unless a base is given.
pub(crate) fn log<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let number = args.first()?.as_f64()?;
    let Some(base) = args.get(1) else {
        return Some(Datum::Double(number.ln()));
    };
    let base = base.as_f64()?;
    // The quotient of two rounded logarithms may miss what these give exactly.
    Some(Datum::Double(if base == 10.0 {
        number.log10()
    } else if base == 2.0 {
        number.log2()
    } else {
        number.ln() / base.ln()
    }))
}

/// Rounds down to a multiple of the bin size, 1 unless given.
pub(crate) fn number_bin<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let number = args.first()?.as_f64()?;
    let size = match args.get(1) {
        Some(size) => size.as_f64()?,
        None => 1.0,
    };
    (size != 0.0).then(|| Datum::Double((number / size).floor() * size))
}
