//! The proleptic Gregorian calendar: days since 1970-01-01 and what they are called.
//!
//! Both directions work on a year that begins in March, so that the leap day is the last of its year, and on
//! eras of 400 years, which all have the same number of days.
//!
//! Not here: texts of dates, of which each protocol and language has its own.

const DAYS_PER_ERA: i64 = 146_097;
const YEARS_PER_ERA: i64 = 400;
/// From 0000-03-01, where an era begins, to 1970-01-01.
const ERA_START_TO_EPOCH_DAYS: i64 = 719_468;

/// Says how many days a month has, which is one from 1 to 12.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Says whether a date is in the calendar.
pub fn date_exists(year: i64, month: i64, day: i64) -> bool {
    (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day)
}

/// Returns the days from 1970-01-01 to a date that exists.
pub fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    let march_year = if month <= 2 { year - 1 } else { year };
    let march_month = (month + 9) % 12;
    let era = march_year.div_euclid(YEARS_PER_ERA);
    let year_of_era = march_year.rem_euclid(YEARS_PER_ERA);
    // Months of 31, 30, 31, 30, 31 days repeat from March on: 153 days in every five months.
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - ERA_START_TO_EPOCH_DAYS
}

/// Returns year, month and day of a day counted from 1970-01-01.
pub fn date_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + ERA_START_TO_EPOCH_DAYS;
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA);
    // Takes out the leap days that 4, 100 and 400 years bring before it divides by the common year.
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * YEARS_PER_ERA + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (19_782, (2024, 2, 29)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
            (-719_162, (1, 1, 1)),
            (-719_528, (0, 1, 1)),
            (2_932_896, (9999, 12, 31)),
        ] {
            assert_eq!(date_from_days(days), date);
            assert_eq!(days_from_date(date.0, date.1, date.2), days);
        }
    }

    /// Counts through every day, as people do.
    #[test]
    fn every_day_of_a_thousand_years_and_some_before_our_era() {
        for years in [-401..=-1, 1599..=2601] {
            let mut expected = days_from_date(*years.start(), 1, 1);
            for year in years {
                for month in 1..=12 {
                    for day in 1..=days_in_month(year, month) {
                        assert!(date_exists(year, month, day));
                        assert_eq!(days_from_date(year, month, day), expected);
                        assert_eq!(date_from_days(expected), (year, month, day));
                        expected += 1;
                    }
                }
            }
        }
    }

    #[test]
    fn dates_that_do_not_exist() {
        for (year, month, day) in [
            (2023, 2, 29),
            (1900, 2, 29),
            (2024, 2, 30),
            (2024, 4, 31),
            (2024, 0, 1),
            (2024, 13, 1),
            (2024, 1, 0),
        ] {
            assert!(!date_exists(year, month, day), "{year}-{month}-{day}");
        }
    }
}
