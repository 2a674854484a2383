//! Moments as text.

/// Returns a moment as RFC 3339 in UTC, with so many decimals of the second.
pub(crate) fn rfc3339(now_ms: i64, decimals: usize) -> String {
    let (days, ms) = (now_ms.div_euclid(86_400_000), now_ms.rem_euclid(86_400_000));
    let (year, month, day) = date(days);
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

/// Returns year, month and day of a number of days since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    // Years begin in March here, so that a leap day is the last of its year.
    const DAYS_TO_1970: i64 = 719_468;
    const DAYS_PER_ERA: i64 = 146_097;
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
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
