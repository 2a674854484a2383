//! Calling a built-in function.
//!
//! Unless a function says otherwise, an argument that is undefined or of another type than it takes makes the
//! result undefined; nothing ever fails.
//!
//! Not here: DOCUMENTID, which needs the item behind its argument (`query`), text and vector search.

use armilla_value::{Object, Value};

use crate::datetime::Ticks;
use crate::datum::{Datum, DatumKind};
use crate::function::Function;
use crate::limits::STEP_BYTES;
use crate::meter::Meter;
use crate::pattern_cache::PatternCache;
use crate::{arrays, dates, math, shapes, strings};

#[cfg(test)]
mod tests;

/// What functions need beside their arguments; cheap to make.
#[derive(Clone, Copy)]
pub struct CallContext<'c> {
    /// When the query started.
    pub now_ticks: Ticks,
    /// Tells the time of this row.
    pub current_ticks: &'c dyn Fn() -> Ticks,
    /// Draws a number from 0 to 1, 1 excluded.
    pub random: &'c dyn Fn() -> f64,
    /// The regular expressions compiled so far.
    pub patterns: &'c PatternCache,
    /// Set where shapes lie in the plane instead of on the globe.
    pub geometry: bool,
    /// What computing may take. Where it has stopped, results mean nothing.
    pub meter: &'c Meter<'c>,
}

/// Computes a function of some arguments, whose number the caller has checked.
pub fn call<'a>(function: Function, args: &[Datum<'a>], context: &CallContext<'_>) -> Datum<'a> {
    // Nearly every function goes over its arguments once; those that do more say so themselves.
    if !context.meter.go_over(args.iter().map(size_hint).sum()) {
        return Datum::Undefined;
    }
    evaluate(function, args, context).unwrap_or(Datum::Undefined)
}

/// Returns about how many bytes an argument has, without looking at what is inside of it.
fn size_hint(datum: &Datum<'_>) -> usize {
    match datum {
        Datum::Str(text) => text.len(),
        Datum::Node(node) => node.raw().len(),
        Datum::Value(value) => {
            STEP_BYTES
                * value.as_array().map_or_else(|| value.as_object().map_or(0, Object::len), <[Value]>::len)
        }
        _ => 0,
    }
}

/// Computes a function; `None` is undefined.
fn evaluate<'a>(function: Function, args: &[Datum<'a>], context: &CallContext<'_>) -> Option<Datum<'a>> {
    use Function as F;
    match function {
        F::Concat => strings::concat(args),
        F::Contains => strings::contains(args),
        F::ContainsAllCi => strings::contains_all(args, true, context.meter),
        F::ContainsAllCs => strings::contains_all(args, false, context.meter),
        F::ContainsAnyCi => strings::contains_any(args, true, context.meter),
        F::ContainsAnyCs => strings::contains_any(args, false, context.meter),
        F::EndsWith => strings::ends_with(args),
        F::StartsWith => strings::starts_with(args),
        F::StringEquals => strings::string_equals(args),
        F::IndexOf => strings::index_of(args),
        F::LastIndexOf => strings::last_index_of(args),
        F::Left => strings::left(args),
        F::Right => strings::right(args),
        F::Length => strings::length(args),
        F::Lower => strings::lower(args),
        F::Upper => strings::upper(args),
        F::LTrim => strings::trim(args, true, false),
        F::RTrim => strings::trim(args, false, true),
        F::Trim => strings::trim(args, true, true),
        F::RegexMatch => strings::regex_match(args, context.patterns, context.meter),
        F::Replace => strings::replace(args),
        F::Replicate => strings::replicate(args),
        F::Reverse => strings::reverse(args),
        F::StringJoin => strings::string_join(args),
        F::StringSplit => strings::string_split(args),
        F::Substring => strings::substring(args),
        F::ToString => strings::to_string(args),
        F::StringToArray => strings::parse_as(args, DatumKind::Array),
        F::StringToBoolean => strings::parse_as(args, DatumKind::Bool),
        F::StringToNull => strings::parse_as(args, DatumKind::Null),
        F::StringToNumber => strings::parse_as(args, DatumKind::Number),
        F::StringToObject => strings::parse_as(args, DatumKind::Object),

        F::Abs => math::one(args, f64::abs),
        F::Acos => math::one(args, f64::acos),
        F::Asin => math::one(args, f64::asin),
        F::Atan => math::one(args, f64::atan),
        F::Atn2 => math::two(args, f64::atan2),
        F::Ceiling => math::one(args, f64::ceil),
        F::Cos => math::one(args, f64::cos),
        F::Cot => math::one(args, |number| 1.0 / number.tan()),
        F::Degrees => math::one(args, |number| number * (180.0 / std::f64::consts::PI)),
        F::Exp => math::one(args, f64::exp),
        F::Floor => math::one(args, f64::floor),
        F::Log => math::log(args),
        F::Log10 => math::one(args, f64::log10),
        F::NumberBin => math::number_bin(args),
        F::Pi => Some(Datum::Double(std::f64::consts::PI)),
        F::Power => math::two(args, f64::powf),
        F::Radians => math::one(args, |number| number * (std::f64::consts::PI / 180.0)),
        F::Rand => Some(Datum::Double((context.random)())),
        F::Round => math::one(args, f64::round),
        F::Sign => math::one(args, math::sign),
        F::Sin => math::one(args, f64::sin),
        F::Sqrt => math::one(args, f64::sqrt),
        F::Square => math::one(args, |number| number * number),
        F::Tan => math::one(args, f64::tan),
        F::Trunc => math::one(args, f64::trunc),

        F::IntAdd => math::integers(args, |left, right| Some(left.wrapping_add(right))),
        F::IntSub => math::integers(args, |left, right| Some(left.wrapping_sub(right))),
        F::IntMul => math::integers(args, |left, right| Some(left.wrapping_mul(right))),
        F::IntDiv => math::integers(args, |left, right| (right != 0).then(|| left.wrapping_div(right))),
        F::IntMod => math::integers(args, |left, right| (right != 0).then(|| left.wrapping_rem(right))),
        F::IntBitAnd => math::integers(args, |left, right| Some(left & right)),
        F::IntBitOr => math::integers(args, |left, right| Some(left | right)),
        F::IntBitXor => math::integers(args, |left, right| Some(left ^ right)),
        F::IntBitNot => args.first()?.as_i64().map(|number| Datum::Int(!number)),
        F::IntBitLeftShift => math::integers(args, |left, right| Some(left.wrapping_shl(right as u32))),
        F::IntBitRightShift => math::integers(args, |left, right| Some(left.wrapping_shr(right as u32))),

        F::ArrayAvg => arrays::average(args),
        F::ArrayConcat => arrays::concat(args),
        F::ArrayContains => arrays::contains(args),
        F::ArrayContainsAll => arrays::contains_all(args, context.meter),
        F::ArrayContainsAny => arrays::contains_any(args, context.meter),
        F::ArrayLength => args.first()?.array_len().map(|count| Datum::Int(count as i64)),
        F::ArrayMax => arrays::extreme(args, std::cmp::Ordering::Greater),
        F::ArrayMedian => arrays::median(args),
        F::ArrayMin => arrays::extreme(args, std::cmp::Ordering::Less),
        F::ArraySlice => arrays::slice(args),
        F::ArraySum => arrays::sum(args),
        F::SetDifference => arrays::difference(args),
        F::SetEqual => arrays::set_equal(args),
        F::SetIntersect => arrays::intersect(args),
        F::SetUnion => arrays::union(args),
        F::ObjectToArray => arrays::object_to_array(args),

        F::IsArray => is(args, Datum::is_array),
        F::IsBool => is(args, |datum| matches!(datum, Datum::Bool(_))),
        F::IsDateTime => is(args, dates::is_date_time),
        F::IsDefined => is(args, Datum::is_defined),
        F::IsFiniteNumber => is(args, |datum| datum.as_f64().is_some_and(f64::is_finite)),
        F::IsInteger => is(args, |datum| datum.as_i64().is_some()),
        F::IsNull => is(args, Datum::is_null),
        F::IsNumber => is(args, Datum::is_number),
        F::IsObject => is(args, Datum::is_object),
        F::IsPrimitive => is(args, Datum::is_primitive),
        F::IsString => is(args, Datum::is_string),
        F::Iif => args.get(if args.first()?.is_true() { 1 } else { 2 }).cloned(),
        F::Choose => match args.first()?.as_i64().and_then(|index| usize::try_from(index).ok())? {
            0 => None,
            index => args.get(index).cloned(),
        },

        F::Ago => dates::ago(args, context.now_ticks),
        F::DateTimeAdd => dates::add(args),
        F::DateTimeBin => dates::bin(args),
        F::DateTimeDiff => dates::diff(args),
        F::DateTimeFormat => dates::format(args),
        F::DateTimeFromParts => dates::from_parts(args),
        F::DateTimePart => dates::part(args),
        F::DateTimeToTicks => dates::to_ticks(args),
        F::DateTimeToTimestamp => dates::to_timestamp(args),
        F::Day => dates::fixed_part(args, crate::datetime::Part::Day),
        F::GetCurrentDateTime => dates::text((context.current_ticks)()),
        F::GetCurrentDateTimeStatic => dates::text(context.now_ticks),
        F::GetCurrentTicks => dates::ticks((context.current_ticks)()),
        F::GetCurrentTicksStatic => dates::ticks(context.now_ticks),
        F::GetCurrentTimestamp => dates::timestamp((context.current_ticks)()),
        F::GetCurrentTimestampStatic => dates::timestamp(context.now_ticks),
        F::Month => dates::fixed_part(args, crate::datetime::Part::Month),
        F::Now => dates::now(args, context.now_ticks),
        F::TicksToDateTime => dates::from_ticks(args),
        F::TimestampToDateTime => dates::from_timestamp(args),
        F::Year => dates::fixed_part(args, crate::datetime::Part::Year),

        F::StArea => shapes::area(args, context.geometry),
        F::StDistance => shapes::distance(args, context.geometry, context.meter),
        F::StIntersects => shapes::intersects(args, context.geometry, context.meter),
        F::StIsValid => shapes::is_valid(args, context.geometry),
        F::StIsValidDetailed => shapes::is_valid_detailed(args, context.geometry),
        F::StWithin => shapes::within(args, context.geometry, context.meter),

        F::DocumentId
        | F::FullTextContains
        | F::FullTextContainsAll
        | F::FullTextContainsAny
        | F::FullTextScore
        | F::Rrf
        | F::VectorDistance => None,
    }
}

fn is<'a>(args: &[Datum<'a>], holds: impl FnOnce(&Datum<'a>) -> bool) -> Option<Datum<'a>> {
    args.first().map(|datum| Datum::Bool(holds(datum)))
}
