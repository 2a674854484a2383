//! The bounds of dates, each tested at the bound and one past it.

use super::Ticks;
use super::calendar::TICKS_PER_DAY;

/// The first year there is.
pub(crate) const YEAR_MIN: i64 = 1;

/// The last year there is.
pub(crate) const YEAR_MAX: i64 = 9999;

/// 0001-01-01T00:00:00.
pub(crate) const TICKS_MIN: Ticks = -719_162 * TICKS_PER_DAY;

/// The last tick of 9999-12-31.
pub(crate) const TICKS_MAX: Ticks = 2_932_897 * TICKS_PER_DAY - 1;

/// Bins exist from 1601-01-01 on, the epoch of Windows file times.
pub(crate) const BIN_TICKS_MIN: Ticks = -134_774 * TICKS_PER_DAY;

/// A tick is a seventh decimal of a second: text has no more digits, patterns show no more.
pub(crate) const FRACTION_DIGITS_MAX: usize = 7;

/// Longest run of one letter in a pattern; no number needs as many digits.
pub(crate) const PATTERN_RUN_MAX: usize = 16;
