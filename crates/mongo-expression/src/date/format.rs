//! Dates to texts.

use std::fmt::Write;

use super::calendar::{Civil, MONTHS};
use super::zone::Zone;
use crate::error::{Error, Result};

const ISO_UTC: &str = "%Y-%m-%dT%H:%M:%S.%LZ";
const ISO_LOCAL: &str = "%Y-%m-%dT%H:%M:%S.%L";

/// Checks the letters of a format that dates are written with.
pub(crate) fn check_format(format: &str) -> Result<()> {
    check(format, "dGHjLmMSuUVYzZwbB%")
}

/// Checks the letters of a format that dates are read with.
pub(crate) fn check_read_format(format: &str) -> Result<()> {
    check(format, "dGHjLmMSuVYzZbB%")
}

fn check(format: &str, letters: &str) -> Result<()> {
    let mut rest = format.chars();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            continue;
        }
        match rest.next() {
            None => return Err(Error::new(18535, "Unmatched '%' at end of format string")),
            Some(letter) if letters.contains(letter) => {}
            Some(letter) => {
                return Err(Error::new(
                    18536,
                    format!("Invalid format character '%{letter}' in format string"),
                ));
            }
        }
    }
    Ok(())
}

/// Writes a date. Without a format as ISO 8601, where the `Z` says that it is universal time.
pub(crate) fn write_date(ms: i64, format: Option<&str>, zone: &Zone) -> Result<String> {
    let format = format.unwrap_or(if zone.is_utc() { ISO_UTC } else { ISO_LOCAL });
    let offset_minutes = zone.offset_at(ms) / 60_000;
    let civil = Civil::of(zone.to_local(ms));
    let (iso_year, iso_week) = civil.iso_week();
    for year in [civil.year, iso_year] {
        if !(0..=9999).contains(&year) {
            return Err(Error::new(
                18537,
                format!("$dateToString is only defined on year 0-9999, tried to use year {year}"),
            ));
        }
    }
    let mut out = String::with_capacity(format.len() + 16);
    let mut rest = format.chars();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let Some(letter) = rest.next() else {
            return Err(Error::new(18535, "Unmatched '%' at end of format string"));
        };
        let written = match letter {
            'Y' => write!(out, "{:04}", civil.year),
            'm' => write!(out, "{:02}", civil.month),
            'd' => write!(out, "{:02}", civil.day),
            'H' => write!(out, "{:02}", civil.hour),
            'M' => write!(out, "{:02}", civil.minute),
            'S' => write!(out, "{:02}", civil.second),
            'L' => write!(out, "{:03}", civil.millisecond),
            'j' => write!(out, "{:03}", civil.day_of_year()),
            'w' => write!(out, "{}", civil.day_of_week()),
            'u' => write!(out, "{}", civil.iso_day_of_week()),
            'U' => write!(out, "{:02}", civil.week()),
            'V' => write!(out, "{iso_week:02}"),
            'G' => write!(out, "{iso_year:04}"),
            'z' => {
                let sign = if offset_minutes < 0 { '-' } else { '+' };
                let size = offset_minutes.abs();
                write!(out, "{sign}{:02}{:02}", size / 60, size % 60)
            }
            'Z' => write!(out, "{offset_minutes:+}"),
            'b' => write!(out, "{}", &month_name(civil.month)[..3]),
            'B' => write!(out, "{}", month_name(civil.month)),
            '%' => write!(out, "%"),
            _ => {
                return Err(Error::new(
                    18536,
                    format!("Invalid format character '%{letter}' in format string"),
                ));
            }
        };
        debug_assert!(written.is_ok(), "writing into a string does not fail");
    }
    Ok(out)
}

fn month_name(month: i64) -> &'static str {
    usize::try_from(month - 1).ok().and_then(|index| MONTHS.get(index)).copied().unwrap_or("---")
}

/// Writes a date as ISO 8601, in any year.
pub(crate) fn iso_text(ms: i64) -> String {
    let civil = Civil::of(ms);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        civil.year, civil.month, civil.day, civil.hour, civil.minute, civil.second, civil.millisecond
    )
}
