//! Points in time: steps of 100 ns since the year 1, and their text.
//!
//! The text always has seven fraction digits and `Z`, so that the order of texts is the order of times.

use armilla_engine::Moment;
use armilla_value::calendar::{date_exists, date_from_days, days_from_date};

const TICKS_PER_SECOND: u64 = 10_000_000;
const TICKS_PER_MINUTE: u64 = 60 * TICKS_PER_SECOND;
const TICKS_PER_DAY: u64 = 24 * 60 * TICKS_PER_MINUTE;

/// Days from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_DAYS: i64 = 719_162;

/// How far from UTC a time may be written.
const OFFSET_MINUTES_MAX: u64 = 14 * 60;

/// A point in time: steps of 100 ns since 0001-01-01T00:00:00Z, up to the end of the year 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ticks(u64);

impl Ticks {
    /// Length of the text.
    pub(crate) const TEXT_BYTES: usize = 28;

    /// The last one: 9999-12-31T23:59:59.9999999Z.
    pub(crate) const MAX: Ticks = Ticks(3_652_059 * TICKS_PER_DAY - 1);

    /// Makes a point in time; `None` beyond the year 9999.
    pub(crate) fn new(ticks: u64) -> Option<Ticks> {
        (ticks <= Ticks::MAX.0).then_some(Ticks(ticks))
    }

    /// Returns when a version was written.
    pub(crate) fn of(moment: Moment) -> Ticks {
        Ticks(moment.ticks().min(Ticks::MAX.0))
    }

    /// Returns the steps since the year 1.
    pub(crate) fn count(self) -> u64 {
        self.0
    }

    /// Returns the second it lies in, counted from 1970.
    pub(crate) fn unix_second(self) -> i64 {
        const EPOCH_SECONDS: i64 = UNIX_EPOCH_DAYS * 86_400;
        (self.0 / TICKS_PER_SECOND) as i64 - EPOCH_SECONDS
    }

    /// Returns the text: `2022-05-06T00:47:36.5851144Z`.
    pub(crate) fn text(self) -> [u8; Ticks::TEXT_BYTES] {
        let (year, month, day) = date_of(self.0 / TICKS_PER_DAY);
        let in_day = self.0 % TICKS_PER_DAY;
        let (seconds, fraction) = (in_day / TICKS_PER_SECOND, in_day % TICKS_PER_SECOND);
        let mut text = *b"0000-00-00T00:00:00.0000000Z";
        push_digits(&mut text[0..4], year);
        push_digits(&mut text[5..7], month);
        push_digits(&mut text[8..10], day);
        push_digits(&mut text[11..13], seconds / 3600);
        push_digits(&mut text[14..16], seconds / 60 % 60);
        push_digits(&mut text[17..19], seconds % 60);
        push_digits(&mut text[20..27], fraction);
        text
    }

    /// Reads a time as clients write it.
    ///
    /// Up to seven fraction digits; `Z`, an offset, or nothing for UTC; seconds, or all of the time, may be
    /// missing. `None` for what is no time, or none of the years 1 to 9999 in UTC.
    pub(crate) fn parse(text: &str) -> Option<Ticks> {
        let mut reader = Reader { rest: text.as_bytes() };
        let year = reader.digits(4)?;
        reader.take(b"-")?;
        let month = reader.digits(2)?;
        reader.take(b"-")?;
        let day = reader.digits(2)?;
        let mut ticks = days_of(year, month, day)? * TICKS_PER_DAY;
        if reader.rest.is_empty() {
            return Ticks::new(ticks);
        }
        reader.take(b"Tt")?;
        let hour = reader.digits(2)?;
        reader.take(b":")?;
        let minute = reader.digits(2)?;
        let (mut second, mut fraction) = (0, 0);
        if reader.take(b":").is_some() {
            second = reader.digits(2)?;
            if reader.take(b".").is_some() {
                fraction = reader.fraction()?;
            }
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        ticks += (hour * 60 + minute) * TICKS_PER_MINUTE + second * TICKS_PER_SECOND + fraction;
        match reader.take(b"Zz+-") {
            None | Some(b'Z' | b'z') => {}
            Some(sign) => {
                let hours = reader.digits(2)?;
                reader.take(b":")?;
                let minutes = reader.digits(2)?;
                let offset = hours * 60 + minutes;
                if minutes > 59 || offset > OFFSET_MINUTES_MAX {
                    return None;
                }
                let offset = offset * TICKS_PER_MINUTE;
                ticks = if sign == b'+' { ticks.checked_sub(offset)? } else { ticks + offset };
            }
        }
        if reader.rest.is_empty() { Ticks::new(ticks) } else { None }
    }

    /// Reads a time as items hold it: only what [`Ticks::text`] writes.
    pub(crate) fn parse_stored(text: &str) -> Option<Ticks> {
        let is_stored_form = text.len() == Ticks::TEXT_BYTES
            && matches!(text.as_bytes(), [.., b'Z'])
            && text.as_bytes()[10] == b'T'
            && text.as_bytes()[19] == b'.';
        if is_stored_form { Ticks::parse(text) } else { None }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn digits(&mut self, count: usize) -> Option<u64> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        number(digits)
    }

    /// Takes one of some characters.
    fn take(&mut self, wanted: &[u8]) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        if !wanted.contains(&first) {
            return None;
        }
        self.rest = rest;
        Some(first)
    }

    /// Takes the digits that stand for a part of a second. Those behind the seventh are more than a tick can tell, and are
    /// cut off: one client writes nine.
    fn fraction(&mut self) -> Option<u64> {
        const TICK_DIGITS: usize = 7;
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let kept = count.min(TICK_DIGITS);
        if kept == 0 {
            return None;
        }
        let ticks = self.digits(kept)? * 10_u64.pow((TICK_DIGITS - kept) as u32);
        self.rest = self.rest.get(count - kept..)?;
        Some(ticks)
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { Some(number * 10 + u64::from(digit)) }
    })
}

fn push_digits(room: &mut [u8], mut number: u64) {
    for place in room.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Returns the days from 0001-01-01 to a date; `None` for a date that is in no calendar.
fn days_of(year: u64, month: u64, day: u64) -> Option<u64> {
    let [year, month, day] = [year, month, day].map(|part| i64::try_from(part).unwrap_or(i64::MAX));
    if year < 1 || !date_exists(year, month, day) {
        return None;
    }
    u64::try_from(days_from_date(year, month, day) + UNIX_EPOCH_DAYS).ok()
}

/// Returns year, month and day of the day that is so many days after 0001-01-01.
fn date_of(days: u64) -> (u64, u64, u64) {
    let (year, month, day) = date_from_days(days.cast_signed() - UNIX_EPOCH_DAYS);
    (year.cast_unsigned(), month.cast_unsigned(), day.cast_unsigned())
}
