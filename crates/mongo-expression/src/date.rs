//! Dates: time zones, the calendar, texts, and arithmetic with units.
//!
//! A date is a number of milliseconds since 1970 UTC. A local time is the same number counted on the clocks of a time
//! zone. Dates reach further than the rules of time zones do: beyond the years 9999 the last rule holds.

pub(crate) mod arithmetic;
pub(crate) mod calendar;
pub(crate) mod format;
pub(crate) mod read;
pub(crate) mod zone;
