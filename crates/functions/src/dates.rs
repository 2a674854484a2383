//! The date functions: what types they take and give.
//!
//! Not here: the calendar (`datetime`).

use crate::datetime::{self, Part, Ticks};
use crate::datum::Datum;

fn moment(args: &[Datum<'_>], index: usize) -> Option<Ticks> {
    datetime::parse(args.get(index)?.as_str()?)
}

fn named_part(args: &[Datum<'_>], index: usize) -> Option<Part> {
    Part::find(args.get(index)?.as_str()?)
}

/// Says whether a datum is a string that names a moment.
pub(crate) fn is_date_time(datum: &Datum<'_>) -> bool {
    datum.as_str().is_some_and(|text| datetime::parse(text).is_some())
}

/// Writes a moment as text.
pub(crate) fn text<'a>(ticks: Ticks) -> Option<Datum<'a>> {
    datetime::format(ticks).map(Datum::from)
}

/// Writes a moment as ticks.
pub(crate) fn ticks<'a>(ticks: Ticks) -> Option<Datum<'a>> {
    Some(Datum::Double(datetime::ticks_to_f64(ticks)))
}

/// Writes a moment as milliseconds.
pub(crate) fn timestamp<'a>(ticks: Ticks) -> Option<Datum<'a>> {
    Some(Datum::Int(datetime::to_timestamp_ms(ticks)))
}

/// Moves a moment.
pub(crate) fn add<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    text(datetime::add(named_part(args, 0)?, args.get(1)?.as_i64()?, moment(args, 2)?)?)
}

/// Moves the present forward, if asked to.
pub(crate) fn now<'a>(args: &[Datum<'_>], now_ticks: Ticks) -> Option<Datum<'a>> {
    if args.is_empty() {
        return text(now_ticks);
    }
    text(datetime::add(named_part(args, 0)?, args.get(1)?.as_i64()?, now_ticks)?)
}

/// Moves the present back.
pub(crate) fn ago<'a>(args: &[Datum<'_>], now_ticks: Ticks) -> Option<Datum<'a>> {
    let count = args.get(1)?.as_i64()?.checked_neg()?;
    text(datetime::add(named_part(args, 0)?, count, now_ticks)?)
}

/// Counts the boundaries between two moments.
pub(crate) fn diff<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    datetime::diff(named_part(args, 0)?, moment(args, 1)?, moment(args, 2)?).map(Datum::Int)
}

/// Returns one part of a moment.
pub(crate) fn part<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    datetime::part(named_part(args, 0)?, moment(args, 1)?).map(Datum::Int)
}

/// Returns that part of a moment.
pub(crate) fn fixed_part<'a>(args: &[Datum<'_>], part: Part) -> Option<Datum<'a>> {
    datetime::part(part, moment(args, 0)?).map(Datum::Int)
}

/// Returns the start of the bin that holds a moment.
pub(crate) fn bin<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    const UNIX_EPOCH: Ticks = 0;
    let size = match args.get(2) {
        Some(size) => size.as_i64()?,
        None => 1,
    };
    let origin = if args.len() > 3 { moment(args, 3)? } else { UNIX_EPOCH };
    text(datetime::bin(moment(args, 0)?, named_part(args, 1)?, size, origin)?)
}

/// Writes a moment by a pattern.
pub(crate) fn format<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    datetime::format_pattern(moment(args, 0)?, args.get(1)?.as_str()?).map(Datum::from)
}

/// Builds a moment from its parts.
pub(crate) fn from_parts<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    let parts: Vec<i64> = args.iter().map(Datum::as_i64).collect::<Option<_>>()?;
    text(datetime::from_parts(&parts)?)
}

/// Turns text into ticks.
pub(crate) fn to_ticks<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    ticks(moment(args, 0)?)
}

/// Turns text into milliseconds.
pub(crate) fn to_timestamp<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    timestamp(moment(args, 0)?)
}

/// Turns ticks into text.
pub(crate) fn from_ticks<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    text(args.first()?.as_i64()?)
}

/// Turns milliseconds into text.
pub(crate) fn from_timestamp<'a>(args: &[Datum<'_>]) -> Option<Datum<'a>> {
    text(datetime::from_timestamp_ms(args.first()?.as_i64()?)?)
}
