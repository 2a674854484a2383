//! Dates as the items carry them: UTC, with seven decimals of the second, 28 characters.

use armilla_value::calendar::date_from_days;

/// Steps of 100 ns in a second.
pub(crate) const TICKS_PER_SECOND: i64 = 10_000_000;

/// Steps of 100 ns in a minute.
pub(crate) const TICKS_PER_MINUTE: i64 = 60 * TICKS_PER_SECOND;

/// Steps of 100 ns in a day.
pub(crate) const TICKS_PER_DAY: i64 = 24 * 60 * TICKS_PER_MINUTE;

/// How long a date is as text.
pub(crate) const DATE_BYTES: usize = 28;

/// Returns the text of a moment, counted in steps of 100 ns since 1970; the order of texts is that of moments.
pub(crate) fn text(ticks: i64) -> [u8; DATE_BYTES] {
    let days = ticks.div_euclid(TICKS_PER_DAY);
    let of_day = ticks.rem_euclid(TICKS_PER_DAY);
    let (year, month, day) = date_from_days(days);
    let mut text = *b"0000-00-00T00:00:00.0000000Z";
    let seconds = of_day / TICKS_PER_SECOND;
    digits(&mut text[0..4], year);
    digits(&mut text[5..7], month);
    digits(&mut text[8..10], day);
    digits(&mut text[11..13], seconds / 3_600);
    digits(&mut text[14..16], seconds / 60 % 60);
    digits(&mut text[17..19], seconds % 60);
    digits(&mut text[20..27], of_day % TICKS_PER_SECOND);
    text
}

fn digits(out: &mut [u8], mut number: i64) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (seconds, ticks, expected) in [
            (0, 0, "1970-01-01T00:00:00.0000000Z"),
            (951_782_400, 1, "2000-02-29T00:00:00.0000001Z"),
            (1_558_612_800, 0, "2019-05-23T12:00:00.0000000Z"),
            (1_709_251_199, 9_999_999, "2024-02-29T23:59:59.9999999Z"),
            (-1, 0, "1969-12-31T23:59:59.0000000Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.0000000Z"),
        ] {
            let text = text(seconds * TICKS_PER_SECOND + ticks);
            assert_eq!(std::str::from_utf8(&text).unwrap(), expected);
        }
    }

    #[test]
    fn order_of_texts_is_that_of_moments() {
        let step = 7 * TICKS_PER_DAY / 5 + 12_345;
        let texts: Vec<_> = (0..20_000).map(|n| text(n * step)).collect();
        assert!(texts.is_sorted());
    }
}
