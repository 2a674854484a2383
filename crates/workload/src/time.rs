//! Moments as text.

use armilla_value::calendar::date_from_days;

/// Returns a moment as RFC 3339 in UTC, with so many decimals of the second.
pub(crate) fn rfc3339(now_ms: i64, decimals: usize) -> String {
    let (days, ms) = (now_ms.div_euclid(86_400_000), now_ms.rem_euclid(86_400_000));
    let (year, month, day) = date_from_days(days);
    let (seconds, fraction) = (ms / 1_000, ms % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if decimals > 0 {
        let mut digits = format!("{fraction:03}0000");
        digits.truncate(decimals);
        text.push('.');
        text.push_str(&digits);
    }
    text.push('Z');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        for (ms, decimals, expected) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, 0, "2000-02-29T00:00:00Z"),
            (1_558_612_800_123, 7, "2019-05-23T12:00:00.1230000Z"),
            (4_107_542_399_999, 3, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, 0, "2100-03-01T00:00:00Z"),
            (-1, 3, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(ms, decimals), expected);
        }
    }
}
