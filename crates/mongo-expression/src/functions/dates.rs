//! Dates: their parts, texts, and arithmetic.

use std::borrow::Cow;

use armilla_value::{Object, Value};

use super::{give, is_given, is_nullish, kind, named, null, text};
use crate::arithmetic::integral;
use crate::date::arithmetic::{self, Unit, read_unit, read_weekday};
use crate::date::calendar::{Civil, days_carried, days_of_iso_week};
use crate::date::format::{check_format, check_read_format, write_date};
use crate::date::read::read_date;
use crate::date::zone::Zone;
use crate::error::{Error, Result, codes};
use crate::parse::{Named, Parser};
use crate::tree::{Argument, Frame, Lazy, Node, Output};
use crate::type_name;

/// Returns the milliseconds of a date, a timestamp or an object id.
fn date_ms(argument: &Argument<'_>) -> Result<i64> {
    date_of(argument.as_deref())
        .ok_or_else(|| Error::new(16006, format!("can't convert from BSON type {} to Date", kind(argument))))
}

fn date_of(value: Option<&Value>) -> Option<i64> {
    match value {
        Some(Value::Date(ms)) => Some(*ms),
        Some(Value::Timestamp { seconds, .. }) => Some(i64::from(*seconds) * 1000),
        Some(Value::ObjectId(bytes)) => {
            Some(i64::from(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])) * 1000)
        }
        _ => None,
    }
}

/// Evaluates a time zone: universal time if not given, nothing if it is null.
fn zone<'a>(arguments: &'a [Option<Node>], place: usize, frame: &Frame<'a, '_>) -> Result<Option<Zone>> {
    if !is_given(arguments, place) {
        return Ok(Some(Zone::UTC));
    }
    let value = named(arguments, place, frame)?;
    match value.as_deref() {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Zone::parse(name).map(Some),
        Some(_) => {
            Err(Error::new(40517, format!("timezone must evaluate to a string, found {}", kind(&value))))
        }
    }
}

/// Reads `$year` and the other parts: a date, or a date with a time zone.
pub(crate) fn read_part(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Node> {
    let function: Lazy = match name {
        "$year" => |arguments, frame| part(arguments, frame, |civil| civil.year),
        "$month" => |arguments, frame| part(arguments, frame, |civil| civil.month),
        "$dayOfMonth" => |arguments, frame| part(arguments, frame, |civil| civil.day),
        "$hour" => |arguments, frame| part(arguments, frame, |civil| civil.hour),
        "$minute" => |arguments, frame| part(arguments, frame, |civil| civil.minute),
        "$second" => |arguments, frame| part(arguments, frame, |civil| civil.second),
        "$millisecond" => |arguments, frame| part(arguments, frame, |civil| civil.millisecond),
        "$dayOfWeek" => |arguments, frame| part(arguments, frame, Civil::day_of_week),
        "$dayOfYear" => |arguments, frame| part(arguments, frame, Civil::day_of_year),
        "$week" => |arguments, frame| part(arguments, frame, Civil::week),
        "$isoWeek" => |arguments, frame| part(arguments, frame, |civil| civil.iso_week().1),
        "$isoDayOfWeek" => |arguments, frame| part(arguments, frame, Civil::iso_day_of_week),
        _ => |arguments, frame| match local(arguments, frame)? {
            Some(civil) => give(Value::Int64(civil.iso_week().0)),
            None => null(),
        },
    };
    let nodes = match argument {
        Value::Object(object) if object.iter().next().is_none_or(|(own, _)| !own.starts_with('$')) => {
            if let Some((own, _)) = object.iter().find(|(own, _)| !matches!(*own, "date" | "timezone")) {
                return Err(Error::new(40535, format!("unrecognized option to {name}: \"{own}\"")));
            }
            let Some(date) = object.get("date") else {
                return Err(Error::new(40539, format!("missing 'date' argument to {name}")));
            };
            [
                Some(parser.operand(date)?),
                object.get("timezone").map(|zone| parser.operand(zone)).transpose()?,
            ]
        }
        Value::Array(elements) => {
            let [date] = &elements[..] else {
                return Err(Error::new(
                    40536,
                    format!(
                        "{name} accepts exactly one argument if given an array, but was given {}",
                        elements.len()
                    ),
                ));
            };
            [Some(parser.operand(date)?), None]
        }
        single => [Some(parser.operand(single)?), None],
    };
    Ok(Node::Lazy(function, nodes.into()))
}

fn local<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Result<Option<Civil>> {
    let date = named(arguments, 0, frame)?;
    let Some(zone) = zone(arguments, 1, frame)? else { return Ok(None) };
    if is_nullish(&date) {
        return Ok(None);
    }
    Ok(Some(Civil::of(zone.to_local(date_ms(&date)?))))
}

fn part<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>, choose: fn(&Civil) -> i64) -> Output<'a> {
    match local(arguments, frame)? {
        Some(civil) => give(crate::arithmetic::narrow(choose(&civil))),
        None => null(),
    }
}

/// What `$dateToString` takes.
pub(crate) const TO_STRING: Named = Named {
    names: &["date", "format", "timezone", "onNull"],
    required: &[(0, 18628)],
    not_object: 18629,
    unknown: 18534,
};

/// `$dateToString`.
pub(crate) fn to_string<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let date = named(arguments, 0, frame)?;
    let format = named(arguments, 1, frame)?;
    let zone = zone(arguments, 2, frame)?;
    if is_nullish(&date) {
        return if is_given(arguments, 3) { named(arguments, 3, frame) } else { null() };
    }
    let format = match format.as_deref() {
        None if !is_given(arguments, 1) => None,
        None | Some(Value::Null) => return null(),
        Some(Value::String(format)) => {
            check_format(format)?;
            Some(format.as_str())
        }
        Some(_) => {
            return Err(Error::new(
                18533,
                format!(
                    "$dateToString requires that 'format' be a string, found: {} with value {}",
                    kind(&format),
                    text(&format)
                ),
            ));
        }
    };
    let Some(zone) = zone else { return null() };
    let ms = date_ms(&date)?;
    let written = write_date(ms, format, &zone)?;
    frame.budget.charge(written.len())?;
    give(written)
}

/// What `$dateFromString` takes.
pub(crate) const FROM_STRING: Named = Named {
    names: &["dateString", "format", "timezone", "onError", "onNull"],
    required: &[(0, 40542)],
    not_object: 40540,
    unknown: 40541,
};

/// `$dateFromString`.
pub(crate) fn from_string<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let input = named(arguments, 0, frame)?;
    let format = named(arguments, 1, frame)?;
    let zone = zone(arguments, 2, frame)?;
    if is_nullish(&input) {
        return if is_given(arguments, 4) { named(arguments, 4, frame) } else { null() };
    }
    let format = match format.as_deref() {
        None if !is_given(arguments, 1) => None,
        None | Some(Value::Null) => return null(),
        Some(Value::String(format)) => {
            check_read_format(format)?;
            Some(format.as_str())
        }
        Some(_) => {
            return Err(Error::new(
                40684,
                format!(
                    "$dateFromString requires that 'format' be a string, found: {} with value {}",
                    kind(&format),
                    text(&format)
                ),
            ));
        }
    };
    let Some(zone) = zone else { return null() };
    let read = match input.as_deref() {
        Some(Value::String(input)) => read_date(input, format, &zone, is_given(arguments, 2)),
        _ => Err(Error::new(
            codes::CONVERSION_FAILURE,
            format!(
                "$dateFromString requires that 'dateString' be a string, found: {} with value {}",
                kind(&input),
                text(&input)
            ),
        )),
    };
    match read {
        Ok(ms) => give(Value::Date(ms)),
        Err(error) if error.code == codes::CONVERSION_FAILURE && is_given(arguments, 3) => {
            named(arguments, 3, frame)
        }
        Err(error) => Err(error),
    }
}

/// What `$dateToParts` takes.
pub(crate) const TO_PARTS: Named = Named {
    names: &["date", "timezone", "iso8601"],
    required: &[(0, 40522)],
    not_object: 40524,
    unknown: 40520,
};

/// `$dateToParts`.
pub(crate) fn to_parts<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let Some(civil) = local(arguments, frame)? else { return null() };
    let iso = named(arguments, 2, frame)?;
    let is_iso = match iso.as_deref() {
        None if !is_given(arguments, 2) => false,
        None | Some(Value::Null) => return null(),
        Some(Value::Bool(truth)) => *truth,
        Some(_) => {
            return Err(Error::new(40521, format!("iso8601 must evaluate to a bool, found {}", kind(&iso))));
        }
    };
    let (iso_year, iso_week) = civil.iso_week();
    let date = if is_iso {
        [("isoWeekYear", iso_year), ("isoWeek", iso_week), ("isoDayOfWeek", civil.iso_day_of_week())]
    } else {
        [("year", civil.year), ("month", civil.month), ("day", civil.day)]
    };
    let time = [
        ("hour", civil.hour),
        ("minute", civil.minute),
        ("second", civil.second),
        ("millisecond", civil.millisecond),
    ];
    let parts: Object = date
        .into_iter()
        .chain(time)
        .map(|(name, number)| (name, crate::arithmetic::narrow(number)))
        .collect();
    give(parts)
}

const FROM_PARTS: Named = Named {
    names: &[
        "year",
        "month",
        "day",
        "isoWeekYear",
        "isoWeek",
        "isoDayOfWeek",
        "hour",
        "minute",
        "second",
        "millisecond",
        "timezone",
    ],
    required: &[],
    not_object: 40519,
    unknown: 40518,
};

/// Reads `$dateFromParts`.
pub(crate) fn read_from_parts(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Node> {
    let nodes = parser.named(name, argument, &FROM_PARTS)?;
    let is_iso = is_given(&nodes, 3);
    if !is_iso && !is_given(&nodes, 0) {
        return Err(Error::new(
            40516,
            "$dateFromParts requires either 'year' or 'isoWeekYear' to be present",
        ));
    }
    let mixed = if is_iso { 0..3 } else { 4..6 };
    if mixed.clone().any(|place| is_given(&nodes, place)) {
        return Err(Error::new(40489, "$dateFromParts does not allow mixing natural dates with ISO dates"));
    }
    Ok(Node::Lazy(from_parts, nodes))
}

fn from_parts<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let is_iso = is_given(arguments, 3);
    let mut numbers = [0i64; 10];
    for (place, number) in numbers.iter_mut().enumerate() {
        let name = FROM_PARTS.names[place];
        *number = if (1..=5).contains(&place) { 1 } else { 0 };
        if !is_given(arguments, place) {
            continue;
        }
        let value = named(arguments, place, frame)?;
        if is_nullish(&value) {
            return null();
        }
        let Some(found) = value.as_deref().and_then(integral) else {
            return Err(Error::new(
                40515,
                format!(
                    "'{name}' must evaluate to an integer, found {} with value :{}",
                    kind(&value),
                    text(&value)
                ),
            ));
        };
        let is_year = place == 0 || place == 3;
        if is_year && !(1..=9999).contains(&found) {
            return Err(Error::new(
                if is_iso { 31095 } else { 40523 },
                format!("'{name}' must evaluate to an integer in the range 1 to 9999, found {found}"),
            ));
        }
        if !is_year && place < 8 && !(-32_768..=32_767).contains(&found) {
            return Err(Error::new(
                31034,
                format!(
                    "'{name}' must evaluate to a value in the range [-32768, 32767]; value {found} is not in range"
                ),
            ));
        }
        *number = found;
    }
    let Some(zone) = zone(arguments, 10, frame)? else { return null() };
    let [year, month, day, iso_year, iso_week, iso_day, hour, minute, second, millisecond] = numbers;
    let days =
        if is_iso { days_of_iso_week(iso_year, iso_week, iso_day) } else { days_carried(year, month, day) };
    let local = days.and_then(|days| {
        let minutes = days.checked_mul(1440)?.checked_add(hour * 60 + minute)?;
        let seconds = minutes.checked_mul(60)?.checked_add(second)?;
        seconds.checked_mul(1000)?.checked_add(millisecond)
    });
    match local {
        Some(local) => give(Value::Date(zone.to_utc(local))),
        None => Err(Error::new(codes::OVERFLOW, "the parts of $dateFromParts make a date out of range")),
    }
}

/// What `$dateAdd` and `$dateSubtract` take.
pub(crate) const SHIFT: Named = Named {
    names: &["startDate", "unit", "amount", "timezone"],
    required: &[(0, 5166402), (1, 5166402), (2, 5166402)],
    not_object: 5166400,
    unknown: 5166401,
};

/// `$dateAdd`.
pub(crate) fn add<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    shift("$dateAdd", arguments, frame, Some)
}

/// `$dateSubtract`.
pub(crate) fn subtract<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    shift("$dateSubtract", arguments, frame, i64::checked_neg)
}

fn shift<'a>(
    name: &str,
    arguments: &'a [Option<Node>],
    frame: &Frame<'a, '_>,
    direction: fn(i64) -> Option<i64>,
) -> Output<'a> {
    let (start, unit, amount) =
        (named(arguments, 0, frame)?, named(arguments, 1, frame)?, named(arguments, 2, frame)?);
    let zone = zone(arguments, 3, frame)?;
    if is_nullish(&start) || is_nullish(&unit) || is_nullish(&amount) {
        return null();
    }
    let Some(zone) = zone else { return null() };
    let ms = date_of(start.as_deref()).ok_or_else(|| {
        Error::new(5166403, format!("{name} requires startDate to be convertible to a date"))
    })?;
    let Some(Value::String(unit)) = unit.as_deref() else {
        return Err(Error::new(5166404, format!("{name} expects string defining the time unit")));
    };
    let unit = read_unit(unit)?;
    let amount = amount
        .as_deref()
        .and_then(integral)
        .ok_or_else(|| Error::new(5166405, format!("{name} expects integer amount of time units")))?;
    match direction(amount).and_then(|amount| arithmetic::add(ms, unit, amount, &zone)) {
        Some(ms) => give(Value::Date(ms)),
        None => Err(Error::new(5166406, format!("{name} overflowed"))),
    }
}

/// What `$dateDiff` takes.
pub(crate) const DIFFERENCE: Named = Named {
    names: &["startDate", "endDate", "unit", "timezone", "startOfWeek"],
    required: &[(0, 5166303), (1, 5166304), (2, 5166305)],
    not_object: 5166301,
    unknown: 5166302,
};

/// `$dateDiff`.
pub(crate) fn difference<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let (start, end) = (named(arguments, 0, frame)?, named(arguments, 1, frame)?);
    if is_nullish(&start) || is_nullish(&end) {
        return null();
    }
    let Some(unit) = unit("$dateDiff", 5439013, arguments, 2, frame)? else { return null() };
    let Some(zone) = zone(arguments, 3, frame)? else { return null() };
    let Some(week) = weekday("$dateDiff", unit, arguments, 4, frame)? else { return null() };
    let ms = |argument: &Argument<'_>, own: &str| {
        date_of(argument.as_deref()).ok_or_else(|| {
            Error::new(
                5166307,
                format!("$dateDiff requires '{own}' to be a date, but got {}", kind(argument)),
            )
        })
    };
    let (start, end) = (ms(&start, "startDate")?, ms(&end, "endDate")?);
    match arithmetic::difference(start, end, unit, &zone, week) {
        Some(count) => give(Value::Int64(count)),
        None => Err(Error::new(5166308, "dateDiff overflowed")),
    }
}

/// Evaluates a unit; nothing if it is null.
fn unit<'a>(
    name: &str,
    code: i32,
    arguments: &'a [Option<Node>],
    place: usize,
    frame: &Frame<'a, '_>,
) -> Result<Option<Unit>> {
    let value = named(arguments, place, frame)?;
    match value.as_deref() {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(unit)) => match Unit::parse(unit) {
            Some(unit) => Ok(Some(unit)),
            None => Err(Error::new(
                5439014,
                format!("{name} parameter 'unit' value cannot be recognized as a time unit: {unit}"),
            )),
        },
        Some(_) => {
            Err(Error::new(code, format!("{name} requires 'unit' to be a string, but got {}", kind(&value))))
        }
    }
}

/// Evaluates the day on which weeks begin, which only counts for weeks; nothing if it is null.
fn weekday<'a>(
    name: &str,
    unit: Unit,
    arguments: &'a [Option<Node>],
    place: usize,
    frame: &Frame<'a, '_>,
) -> Result<Option<i64>> {
    if unit != Unit::Week || !is_given(arguments, place) {
        return Ok(Some(0));
    }
    let value = named(arguments, place, frame)?;
    match value.as_deref() {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(day)) => match read_weekday(day) {
            Some(day) => Ok(Some(day)),
            None => Err(Error::new(
                5439016,
                format!(
                    "{name} parameter 'startOfWeek' value cannot be recognized as a day of a week: {day}"
                ),
            )),
        },
        Some(_) => Err(Error::new(
            5439015,
            format!("{name} requires 'startOfWeek' to be a string, but got {}", kind(&value)),
        )),
    }
}

/// What `$dateTrunc` takes.
pub(crate) const TRUNCATE: Named = Named {
    names: &["date", "unit", "binSize", "timezone", "startOfWeek"],
    required: &[(0, 5439009), (1, 5439010)],
    not_object: 5439007,
    unknown: 5439008,
};

/// `$dateTrunc`.
pub(crate) fn truncate<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let date = named(arguments, 0, frame)?;
    if is_nullish(&date) {
        return null();
    }
    let Some(unit) = unit("$dateTrunc", 5439013, arguments, 1, frame)? else { return null() };
    let size = named(arguments, 2, frame)?;
    let size = match size.as_deref() {
        None if !is_given(arguments, 2) => 1,
        None | Some(Value::Null) => return null(),
        Some(value) => integral(value).ok_or_else(|| {
            Error::new(
                5439017,
                format!(
                    "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '{}' of type {}",
                    text(&size),
                    type_name(value)
                ),
            )
        })?,
    };
    if size <= 0 {
        return Err(Error::new(
            5439018,
            format!("$dateTrunc requires 'binSize' to be greater than 0, but got value {size}"),
        ));
    }
    let Some(zone) = zone(arguments, 3, frame)? else { return null() };
    let Some(week) = weekday("$dateTrunc", unit, arguments, 4, frame)? else { return null() };
    let ms = date_of(date.as_deref()).ok_or_else(|| {
        Error::new(5439012, format!("$dateTrunc requires 'date' to be a date, but got {}", kind(&date)))
    })?;
    match arithmetic::truncate(ms, unit, size, &zone, week) {
        Some(ms) => Ok(Some(Cow::Owned(Value::Date(ms)))),
        None => Err(Error::new(5439019, "$dateTrunc overflowed")),
    }
}
