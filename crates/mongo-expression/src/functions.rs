//! The operators of expressions: which there are, and how many arguments they take.
//!
//! One module per family. A function gets its arguments evaluated, unless it decides itself which to evaluate.

pub(crate) mod arrays;
pub(crate) mod convert;
pub(crate) mod dates;
pub(crate) mod iterate;
pub(crate) mod logic;
pub(crate) mod numbers;
pub(crate) mod objects;
pub(crate) mod ordered;
pub(crate) mod regexes;
pub(crate) mod sets;
pub(crate) mod statistics;
pub(crate) mod strings;
pub(crate) mod trigonometry;

use std::borrow::Cow;

use armilla_value::{Value, json};

use crate::error::{Error, Result};
use crate::parse::{Named, Parser};
use crate::tree::{Argument, Binary, Frame, Lazy, Many, Node, Output, Unary};
use crate::{arithmetic, codes, type_name};

/// How an operator is read and evaluated.
pub(crate) enum Definition {
    /// One argument.
    Unary(Unary),
    /// Two.
    Binary(Binary),
    /// From so many to so many.
    Many((usize, usize), Many),
    /// The same, evaluated by the function itself.
    Lazy((usize, usize), Lazy),
    /// With names, evaluated by the function itself.
    Named(Named, Lazy),
    /// Read by the function.
    Special(for<'a, 'b> fn(&'b mut Parser<'a>, &str, &Value) -> Result<Node>),
}

const ANY: usize = usize::MAX;

/// Returns what an operator is.
pub(crate) fn definition(name: &str) -> Option<Definition> {
    use Definition::{Binary, Lazy, Many, Named, Special, Unary};
    Some(match name {
        "$literal" | "$const" => Special(|_, _, value| Ok(Node::Constant(value.clone()))),
        "$and" => Lazy((0, ANY), logic::and),
        "$or" => Lazy((0, ANY), logic::or),
        "$not" => Unary(logic::not),
        "$cond" => Special(logic::read_cond),
        "$ifNull" => Special(logic::read_if_null),
        "$switch" => Special(logic::read_switch),
        "$let" => Special(logic::read_let),
        "$eq" => Binary(logic::equal),
        "$ne" => Binary(logic::not_equal),
        "$gt" => Binary(logic::greater),
        "$gte" => Binary(logic::greater_or_equal),
        "$lt" => Binary(logic::less),
        "$lte" => Binary(logic::less_or_equal),
        "$cmp" => Binary(logic::compare),
        "$rand" => Special(logic::read_rand),
        "$function" | "$accumulator" | "$_internalJsEmit" => Special(|_, name, _| {
            Err(Error::new(
                codes::NOT_IMPLEMENTED,
                format!("{name} is not supported: expressions in JavaScript are not available"),
            ))
        }),
        "$meta" => Special(|_, _, _| {
            Err(Error::new(
                codes::NOT_IMPLEMENTED,
                "$meta is not supported: there is no text search to speak of",
            ))
        }),
        "$toHashedIndexKey" => {
            Special(|_, name, _| Err(Error::new(codes::NOT_IMPLEMENTED, format!("{name} is not supported"))))
        }

        "$add" => Many((0, ANY), numbers::add),
        "$subtract" => Binary(numbers::subtract),
        "$multiply" => Many((0, ANY), numbers::multiply),
        "$divide" => Binary(numbers::divide),
        "$mod" => Binary(numbers::modulo),
        "$abs" => Unary(numbers::abs),
        "$ceil" => Unary(numbers::ceil),
        "$floor" => Unary(numbers::floor),
        "$round" => Many((1, 2), numbers::round),
        "$trunc" => Many((1, 2), numbers::trunc),
        "$pow" => Binary(numbers::pow),
        "$sqrt" => Unary(numbers::sqrt),
        "$exp" => Unary(numbers::exp),
        "$ln" => Unary(numbers::ln),
        "$log10" => Unary(numbers::log10),
        "$log" => Binary(numbers::log),
        "$bitAnd" => Many((0, ANY), numbers::bit_and),
        "$bitOr" => Many((0, ANY), numbers::bit_or),
        "$bitXor" => Many((0, ANY), numbers::bit_xor),
        "$bitNot" => Unary(numbers::bit_not),
        "$sin" => Unary(trigonometry::sin),
        "$cos" => Unary(trigonometry::cos),
        "$tan" => Unary(trigonometry::tan),
        "$asin" => Unary(trigonometry::asin),
        "$acos" => Unary(trigonometry::acos),
        "$atan" => Unary(trigonometry::atan),
        "$atan2" => Binary(trigonometry::atan2),
        "$sinh" => Unary(trigonometry::sinh),
        "$cosh" => Unary(trigonometry::cosh),
        "$tanh" => Unary(trigonometry::tanh),
        "$asinh" => Unary(trigonometry::asinh),
        "$acosh" => Unary(trigonometry::acosh),
        "$atanh" => Unary(trigonometry::atanh),
        "$degreesToRadians" => Unary(trigonometry::degrees_to_radians),
        "$radiansToDegrees" => Unary(trigonometry::radians_to_degrees),

        "$concat" => Many((0, ANY), strings::concat),
        "$toLower" => Unary(strings::to_lower),
        "$toUpper" => Unary(strings::to_upper),
        "$substr" | "$substrBytes" => Many((3, 3), strings::substr_bytes),
        "$substrCP" => Many((3, 3), strings::substr_code_points),
        "$strLenBytes" => Unary(strings::length_bytes),
        "$strLenCP" => Unary(strings::length_code_points),
        "$split" => Binary(strings::split),
        "$trim" => Named(strings::TRIM, strings::trim),
        "$ltrim" => Named(strings::TRIM, strings::trim_left),
        "$rtrim" => Named(strings::TRIM, strings::trim_right),
        "$strcasecmp" => Binary(strings::compare_ignoring_case),
        "$indexOfBytes" => Many((2, 4), strings::index_of_bytes),
        "$indexOfCP" => Many((2, 4), strings::index_of_code_points),
        "$replaceOne" => Named(strings::REPLACE, strings::replace_one),
        "$replaceAll" => Named(strings::REPLACE, strings::replace_all),
        "$regexFind" | "$regexFindAll" | "$regexMatch" => Special(regexes::read),

        "$size" => Unary(arrays::size),
        "$arrayElemAt" => Binary(arrays::element_at),
        "$first" => Unary(arrays::first),
        "$last" => Unary(arrays::last),
        "$slice" => Many((2, 3), arrays::slice),
        "$in" => Binary(arrays::contains),
        "$indexOfArray" => Many((2, 4), arrays::index_of),
        "$concatArrays" => Many((0, ANY), arrays::concat),
        "$isArray" => Unary(arrays::is_array),
        "$range" => Many((2, 3), arrays::range),
        "$reverseArray" => Unary(arrays::reverse),
        "$zip" => Special(arrays::read_zip),
        "$sortArray" => Special(ordered::read_sort_array),
        "$firstN" => Named(ordered::COUNTED, ordered::first_n),
        "$lastN" => Named(ordered::COUNTED, ordered::last_n),
        "$maxN" => Named(ordered::COUNTED, ordered::max_n),
        "$minN" => Named(ordered::COUNTED, ordered::min_n),
        "$map" => Special(iterate::read_map),
        "$filter" => Special(iterate::read_filter),
        "$reduce" => Special(iterate::read_reduce),

        "$setUnion" => Many((0, ANY), sets::union),
        "$setIntersection" => Many((0, ANY), sets::intersection),
        "$setDifference" => Binary(sets::difference),
        "$setEquals" => Special(sets::read_equals),
        "$setIsSubset" => Binary(sets::is_subset),
        "$anyElementTrue" => Unary(sets::any_element_true),
        "$allElementsTrue" => Unary(sets::all_elements_true),

        "$mergeObjects" => Many((0, ANY), objects::merge),
        "$objectToArray" => Unary(objects::to_array),
        "$arrayToObject" => Unary(objects::from_array),
        "$getField" => Special(objects::read_get_field),
        "$setField" => Special(objects::read_set_field),
        "$unsetField" => Special(objects::read_unset_field),
        "$bsonSize" => Unary(objects::bson_size),
        "$binarySize" => Unary(objects::binary_size),
        "$type" => Lazy((1, 1), objects::type_of),
        "$isNumber" => Unary(objects::is_number),
        "$tsSecond" => Unary(objects::timestamp_second),
        "$tsIncrement" => Unary(objects::timestamp_increment),

        "$convert" => Named(convert::CONVERT, convert::convert),
        "$toString" => Unary(convert::to_string),
        "$toInt" => Unary(convert::to_int),
        "$toLong" => Unary(convert::to_long),
        "$toDouble" => Unary(convert::to_double),
        "$toDecimal" => Unary(convert::to_decimal),
        "$toBool" => Unary(convert::to_bool),
        "$toDate" => Unary(convert::to_date),
        "$toObjectId" => Unary(convert::to_object_id),

        "$sum" => Many((0, ANY), statistics::sum),
        "$avg" => Many((0, ANY), statistics::average),
        "$min" => Many((0, ANY), statistics::minimum),
        "$max" => Many((0, ANY), statistics::maximum),
        "$stdDevPop" => Many((0, ANY), statistics::deviation_of_population),
        "$stdDevSamp" => Many((0, ANY), statistics::deviation_of_sample),
        "$median" => Special(statistics::read_median),
        "$percentile" => Special(statistics::read_percentile),

        "$year" | "$month" | "$dayOfMonth" | "$hour" | "$minute" | "$second" | "$millisecond"
        | "$dayOfWeek" | "$dayOfYear" | "$week" | "$isoWeek" | "$isoWeekYear" | "$isoDayOfWeek" => {
            Special(dates::read_part)
        }
        "$dateToString" => Named(dates::TO_STRING, dates::to_string),
        "$dateFromString" => Named(dates::FROM_STRING, dates::from_string),
        "$dateToParts" => Named(dates::TO_PARTS, dates::to_parts),
        "$dateFromParts" => Special(dates::read_from_parts),
        "$dateAdd" => Named(dates::SHIFT, dates::add),
        "$dateSubtract" => Named(dates::SHIFT, dates::subtract),
        "$dateDiff" => Named(dates::DIFFERENCE, dates::difference),
        "$dateTrunc" => Named(dates::TRUNCATE, dates::truncate),
        _ => return None,
    })
}

/// Gives a new value.
pub(crate) fn give<'a>(value: impl Into<Value>) -> Output<'a> {
    Ok(Some(Cow::Owned(value.into())))
}

/// Gives a 32-bit integer, or a 64-bit one where that does not do.
pub(crate) fn give_count<'a>(count: usize) -> Output<'a> {
    give(arithmetic::narrow(i64::try_from(count).unwrap_or(i64::MAX)))
}

/// Gives null.
pub(crate) fn null<'a>() -> Output<'a> {
    Ok(Some(Cow::Owned(Value::Null)))
}

/// Says whether an argument is missing or null.
pub(crate) fn is_nullish(argument: &Argument<'_>) -> bool {
    crate::is_nullish(argument.as_deref())
}

/// Returns the name of the type of an argument, which may be missing.
pub(crate) fn kind(argument: &Argument<'_>) -> &'static str {
    argument.as_deref().map_or("missing", type_name)
}

/// Writes an argument for a message.
pub(crate) fn text(argument: &Argument<'_>) -> String {
    argument.as_deref().map_or_else(|| "missing".to_owned(), json::to_string)
}

/// Evaluates an argument with a name; `None` where it was not given or is missing.
pub(crate) fn named<'a>(arguments: &'a [Option<Node>], place: usize, frame: &Frame<'a, '_>) -> Output<'a> {
    match arguments.get(place).and_then(Option::as_ref) {
        Some(node) => node.evaluate(frame).map(crate::tree::defined),
        None => Ok(None),
    }
}

/// Says whether an argument with a name was given.
pub(crate) fn is_given(arguments: &[Option<Node>], place: usize) -> bool {
    arguments.get(place).is_some_and(Option::is_some)
}

/// Returns the number of an argument if it is integral and fits into 32 bits.
pub(crate) fn small_integer(value: &Value) -> Option<i32> {
    i32::try_from(arithmetic::integral(value)?).ok()
}

/// Returns the elements of an array, of one's own.
pub(crate) fn into_elements(
    budget: &crate::tree::Budget,
    value: Cow<'_, Value>,
) -> Result<Option<Vec<Value>>> {
    if !matches!(*value, Value::Array(_)) {
        return Ok(None);
    }
    match budget.own(value)? {
        Value::Array(elements) => Ok(Some(elements)),
        _ => Ok(None),
    }
}
