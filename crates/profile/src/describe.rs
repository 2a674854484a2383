//! What texts are, and whether one series of values follows another.

use armilla_value::calendar::date_exists;

use crate::limits::ORDER_MIN;

/// Says whether a text is a date or time in a form of ISO 8601: `2024-05-31`, `2024-05`, `2024-W22`,
/// `2024-05-31T12:30:00.5Z`, `20240531T123000Z`, with a space for the `T` as well. Digits alone are none: they may be
/// anything.
pub fn is_date(text: &str) -> bool {
    let mut rest = Rest(text.as_bytes());
    read_date(&mut rest).is_some() && rest.0.is_empty()
}

/// Says whether a text is a GUID with its dashes, in braces or not.
pub fn is_guid(text: &str) -> bool {
    let inner = text.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(text);
    inner.len() == 36
        && inner.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns how well one series follows another: 1 where both grow together, -1 where one falls as the other grows, 0
/// where they have nothing to do with each other, or are too short to tell (Spearman, equal values sharing their ranks).
pub fn rank_correlation<A: Ord, B: Ord>(series: &[A], other: &[B]) -> f64 {
    let length = series.len().min(other.len());
    if length < ORDER_MIN {
        return 0.0;
    }
    let (ranks, others) = (ranks(&series[..length]), ranks(&other[..length]));
    // Both kinds of ranks have the same mean, ties or not.
    let mean = (length as f64 - 1.0) / 2.0;
    let (mut both, mut own, mut its) = (0.0, 0.0, 0.0);
    for (rank, other) in ranks.iter().zip(&others) {
        let (rank, other) = (rank - mean, other - mean);
        both += rank * other;
        own += rank * rank;
        its += other * other;
    }
    if own == 0.0 || its == 0.0 { 0.0 } else { (both / (own * its).sqrt()).clamp(-1.0, 1.0) }
}

/// The place of each value among all, from 0; equal ones have the mean of their places.
fn ranks<T: Ord>(values: &[T]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].cmp(&values[*other]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|one, other| values[*one] == values[*other]) {
        let rank = first as f64 + (equal.len() - 1) as f64 / 2.0;
        for place in equal {
            ranks[*place] = rank;
        }
        first += equal.len();
    }
    ranks
}

/// What is left of a text.
struct Rest<'t>(&'t [u8]);

impl Rest<'_> {
    /// Takes exactly so many digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let number = digits.iter().try_fold(0, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })?;
        self.0 = rest;
        Some(number)
    }

    /// Takes digits that are a number up to this.
    fn number(&mut self, count: usize, max: i64) -> Option<i64> {
        self.digits(count).filter(|number| *number <= max)
    }

    /// Takes one of these bytes, if it is next.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let is_next = self.0.first().is_some_and(|byte| bytes.contains(byte));
        if is_next {
            self.0 = &self.0[1..];
        }
        is_next
    }
}

fn read_date(rest: &mut Rest<'_>) -> Option<()> {
    let year = rest.digits(4)?;
    if !rest.take(b"-") {
        let (month, day) = (rest.digits(2)?, rest.digits(2)?);
        return (date_exists(year, month, day) && rest.take(b"T")).then(|| read_basic_time(rest))?;
    }
    if rest.take(b"W") {
        let week = rest.number(2, 53)?;
        let day = if rest.take(b"-") { rest.number(1, 7)? } else { 1 };
        return (week > 0 && day > 0).then_some(());
    }
    let month = rest.number(2, 12).filter(|month| *month > 0)?;
    if !rest.take(b"-") {
        return Some(());
    }
    let day = rest.digits(2)?;
    if !date_exists(year, month, day) {
        return None;
    }
    if rest.take(b"Tt ") { read_time(rest) } else { Some(()) }
}

/// Reads `12`, `12:30`, `12:30:59.5` and what may follow of a zone.
fn read_time(rest: &mut Rest<'_>) -> Option<()> {
    rest.number(2, 24)?;
    if rest.take(b":") {
        rest.number(2, 59)?;
        if rest.take(b":") {
            rest.number(2, 60)?;
            read_fraction(rest)?;
        }
    }
    read_zone(rest)
}

/// Reads `1230`, `123059.5` and what may follow of a zone.
fn read_basic_time(rest: &mut Rest<'_>) -> Option<()> {
    rest.number(2, 24)?;
    rest.number(2, 59)?;
    if rest.0.first().is_some_and(u8::is_ascii_digit) {
        rest.number(2, 60)?;
        read_fraction(rest)?;
    }
    read_zone(rest)
}

fn read_fraction(rest: &mut Rest<'_>) -> Option<()> {
    if rest.take(b".,") {
        rest.digits(1)?;
        while rest.digits(1).is_some() {}
    }
    Some(())
}

fn read_zone(rest: &mut Rest<'_>) -> Option<()> {
    if rest.0.is_empty() || rest.take(b"Zz") {
        return Some(());
    }
    rest.take(b" ");
    if !rest.take(b"+-") {
        return None;
    }
    rest.number(2, 23)?;
    if rest.take(b":") || !rest.0.is_empty() {
        rest.number(2, 59)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times() {
        for text in [
            "2024-05-31",
            "2024-02-29",
            "2024-05",
            "2024-W22",
            "2024-W22-5",
            "2024-05-31T12",
            "2024-05-31T12:30",
            "2024-05-31T12:30Z",
            "2024-05-31T12:30:59",
            "2024-05-31T12:30:59Z",
            "2024-05-31T12:30:59.1234567Z",
            "2024-05-31T12:30:59,5+02:00",
            "2024-05-31T12:30:59-0700",
            "2024-05-31T12:30:59+02",
            "2024-05-31 12:30:59",
            "2024-05-31 12:30:59 +0000",
            "2024-05-31t24:00:00z",
            "20240531T123000Z",
            "20240531T1230",
            "20240531T123059.25+0100",
        ] {
            assert!(is_date(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "2024",
            "20240531",
            "1717157459",
            "1717157459000",
            "2024-13",
            "2024-00",
            "2024-02-30",
            "2023-02-29",
            "2024-05-31T",
            "2024-05-31T25:00",
            "2024-05-31T12:60",
            "2024-05-31T12:30:61",
            "2024-05-31T12:30:59.",
            "2024-05-31T12:30:59X",
            "2024-05-31T12:30:59+",
            "2024-05-31T12:30:59 UTC",
            "2024-05-31-x",
            "2024-05-31 ",
            "2024-W54",
            "2024-W00",
            "2024-W22-8",
            "20240531T",
            "20240230T1230",
            "24-05-31",
            "é024-05-31",
            "user-2024-05-31",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn guids() {
        for (text, is_one) in [
            ("0f8fad5b-d9cb-469f-a165-70867728950e", true),
            ("{0F8FAD5B-D9CB-469F-A165-70867728950E}", true),
            ("{0f8fad5b-d9cb-469f-a165-70867728950e", false),
            ("0f8fad5bd9cb469fa16570867728950e", false),
            ("0f8fad5b-d9cb-469f-a165-70867728950g", false),
            ("0f8fad5b+d9cb-469f-a165-70867728950e", false),
            ("", false),
            ("éééééééééééééééééé", false),
        ] {
            assert_eq!(is_guid(text), is_one, "{text}");
        }
    }

    #[test]
    fn series_that_grow_fall_or_do_neither() {
        assert_eq!(rank_correlation(&[1, 2, 3, 4], &["a", "b", "c", "d"]), 1.0);
        assert_eq!(rank_correlation(&[1, 2, 3, 4], &[9, 8, 7, 6]), -1.0);
        assert_eq!(rank_correlation(&[1, 2, 3, 4], &[2, 4, 1, 3]), 0.0);
        assert_eq!(rank_correlation(&[1, 1, 2, 2], &[5, 5, 6, 6]), 1.0, "equal values share their ranks");
        assert_eq!(rank_correlation(&[1, 1, 1], &[1, 2, 3]), 0.0, "nothing to compare");
        assert_eq!(rank_correlation(&[1, 2], &[1, 2]), 0.0, "too short");
        assert_eq!(rank_correlation::<u8, u8>(&[], &[]), 0.0);
        let mostly = rank_correlation(&[1, 2, 3, 4, 5], &[1, 2, 3, 5, 4]);
        assert!((mostly - 0.9).abs() < 1e-12, "{mostly}");
    }
}
