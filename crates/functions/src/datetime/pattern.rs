//! Moments written after a pattern that the query gives.
//!
//! A run of one of the letters `y M d H h m s` stands for a number, padded with zeros to the length of the run;
//! `f` stands for digits of the fraction of the second and `F` for the same without trailing zeros. A
//! backslash takes the next character as it is, and so does every other character itself. Two letters of the
//! year are its last two digits. A run that asks for more digits than there are, and a backslash at the end,
//! have no meaning.

use std::fmt::Write;

use super::calendar::Civil;
use super::limits::{FRACTION_DIGITS_MAX, PATTERN_RUN_MAX};
use super::{Ticks, in_range};

/// Writes a moment after a pattern, or `None` if the pattern has no meaning or the year is outside 0001 to 9999.
pub fn format_pattern(ticks: Ticks, pattern: &str) -> Option<String> {
    let civil = Civil::of(in_range(ticks)?);
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => out.push(rest.next()?),
            'y' | 'M' | 'd' | 'H' | 'h' | 'm' | 's' | 'f' | 'F' => {
                let after = rest.as_str().trim_start_matches(letter);
                let run = 1 + rest.as_str().len() - after.len();
                rest = after.chars();
                write_run(civil, letter, run, &mut out)?;
            }
            other => out.push(other),
        }
    }
    Some(out)
}

/// Writes what a run of one letter stands for.
fn write_run(civil: Civil, letter: char, run: usize, out: &mut String) -> Option<()> {
    let number = match letter {
        'y' if run <= 2 => civil.year % 100,
        'y' => civil.year,
        'M' => civil.month,
        'd' => civil.day,
        'H' => civil.hour(),
        'h' => (civil.hour() + 11) % 12 + 1,
        'm' => civil.minute(),
        's' => civil.second(),
        _ => return write_fraction(civil, letter, run, out),
    };
    if run > PATTERN_RUN_MAX {
        return None;
    }
    write!(out, "{number:0run$}").ok()
}

/// Writes the first `run` digits of the fraction of the second.
fn write_fraction(civil: Civil, letter: char, run: usize, out: &mut String) -> Option<()> {
    if run > FRACTION_DIGITS_MAX {
        return None;
    }
    let digits = format!("{:0width$}", civil.fraction_ticks(), width = FRACTION_DIGITS_MAX);
    let shown = &digits[..run];
    out.push_str(if letter == 'F' { shown.trim_end_matches('0') } else { shown });
    Some(())
}
