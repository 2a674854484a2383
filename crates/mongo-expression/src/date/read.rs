//! Texts to dates: by a format, or in the usual forms (ISO 8601 with weeks and days of the year, numbers with slashes,
//! names of months), each with or without a time and a time zone.

use armilla_value::calendar::{date_exists, days_from_date};

use super::calendar::{MONTHS, days_of_iso_week, local_ms};
use super::zone::{Zone, distance};
use crate::error::{Error, Result, codes};

/// Abbreviations of time zones that texts of dates have, in minutes from UTC.
const ABBREVIATIONS: &[(&str, i64)] = &[
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("AKST", -540),
    ("AKDT", -480),
    ("HST", -600),
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("IST", 330),
    ("JST", 540),
    ("AEST", 600),
    ("AEDT", 660),
    ("NZST", 720),
    ("NZDT", 780),
];

/// What was read of a date.
#[derive(Default)]
struct Fields {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    iso_year: Option<i64>,
    iso_week: Option<i64>,
    iso_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    millisecond: i64,
    zone: Option<Zone>,
}

/// Reads a date; times without a time zone are those of `zone`, which a text must not gainsay if it was given.
pub(crate) fn read_date(text: &str, format: Option<&str>, zone: &Zone, is_zone_given: bool) -> Result<i64> {
    let mut reader = Reader { text, at: 0 };
    let mut fields = Fields::default();
    match format {
        Some(format) => reader.by_format(format, &mut fields)?,
        None => reader.freely(&mut fields)?,
    }
    if fields.zone.is_some() && is_zone_given {
        return Err(reader.refuse(
            "you cannot pass in a date/time string with time zone information together with a timezone argument",
        ));
    }
    let days = fields.days().ok_or_else(|| {
        reader.refuse("an incomplete or impossible date/time string has been found, or the date is invalid")
    })?;
    let time = ((fields.hour * 60 + fields.minute) * 60 + fields.second) * 1000 + fields.millisecond;
    let local = local_ms(days, time).ok_or_else(|| reader.refuse("the date is out of range"))?;
    Ok(fields.zone.as_ref().unwrap_or(zone).to_utc(local))
}

impl Fields {
    fn days(&self) -> Option<i64> {
        if let Some(week) = self.iso_week.or(self.iso_year.map(|_| 1))
            && self.month.is_none()
        {
            let year = self.iso_year?;
            let day = self.iso_day.unwrap_or(1);
            return if (1..=53).contains(&week) && (1..=7).contains(&day) {
                days_of_iso_week(year, week, day)
            } else {
                None
            };
        }
        let year = self.year?;
        if let Some(day) = self.day_of_year {
            let first = days_from_date(year, 1, 1);
            let length = days_from_date(year + 1, 1, 1) - first;
            return if (1..=length).contains(&day) { Some(first + day - 1) } else { None };
        }
        let (month, day) = (self.month?, self.day?);
        if date_exists(year, month, day) { Some(days_from_date(year, month, day)) } else { None }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn refuse(&self, why: &str) -> Error {
        Error::new(
            codes::CONVERSION_FAILURE,
            format!("Error parsing date string '{}'; {}: {why}", self.text, self.at),
        )
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn digit_count(&self) -> usize {
        self.rest().bytes().take_while(u8::is_ascii_digit).count()
    }

    /// Reads a number of from so many to so many digits.
    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let count = self.digit_count().min(most);
        if count < least {
            return None;
        }
        let number = self.rest()[..count].parse().ok()?;
        self.at += count;
        Some(number)
    }

    fn required(&mut self, least: usize, most: usize, range: std::ops::RangeInclusive<i64>) -> Result<i64> {
        match self.number(least, most) {
            Some(number) if range.contains(&number) => Ok(number),
            _ => Err(self.refuse("Unexpected character")),
        }
    }

    fn word(&mut self) -> &'a str {
        let count = self.rest().bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = &self.rest()[..count];
        self.at += count;
        word
    }

    fn blanks(&mut self) {
        self.at += self.rest().bytes().take_while(|byte| *byte == b' ' || *byte == b'\t').count();
    }

    /// Reads a fraction of a second; digits beyond milliseconds do not count.
    fn fraction(&mut self) -> Option<i64> {
        let count = self.digit_count();
        if count == 0 {
            return None;
        }
        let digits = &self.rest()[..count];
        self.at += count;
        format!("{digits:0<3}")[..3].parse().ok()
    }

    fn by_format(&mut self, format: &str, fields: &mut Fields) -> Result<()> {
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                if !self.rest().starts_with(letter) {
                    return Err(self.refuse("Format literal not found"));
                }
                self.at += letter.len_utf8();
                continue;
            }
            match letters.next() {
                Some('Y') => fields.year = Some(self.required(4, 4, 0..=9999)?),
                Some('m') => fields.month = Some(self.required(1, 2, 1..=12)?),
                Some('d') => fields.day = Some(self.required(1, 2, 1..=31)?),
                Some('H') => fields.hour = self.required(1, 2, 0..=24)?,
                Some('M') => fields.minute = self.required(1, 2, 0..=59)?,
                Some('S') => fields.second = self.required(1, 2, 0..=60)?,
                Some('L') => {
                    let count = self.digit_count();
                    let number = self.required(1, 3, 0..=999)?;
                    fields.millisecond =
                        if count < 3 { number * 10i64.pow(3 - count as u32) } else { number };
                }
                Some('j') => fields.day_of_year = Some(self.required(1, 3, 1..=366)?),
                Some('G') => fields.iso_year = Some(self.required(4, 4, 0..=9999)?),
                Some('V') => fields.iso_week = Some(self.required(1, 2, 1..=53)?),
                Some('u') => fields.iso_day = Some(self.required(1, 1, 1..=7)?),
                Some('b' | 'B') => fields.month = Some(self.month_name()?),
                Some('z') => fields.zone = Some(self.zone()?),
                Some('Z') => fields.zone = Some(self.minutes_zone()?),
                Some('%') => {
                    if !self.take(b'%') {
                        return Err(self.refuse("Format literal not found"));
                    }
                }
                _ => return Err(Error::new(18536, "Invalid format character in format string")),
            }
        }
        if self.rest().is_empty() { Ok(()) } else { Err(self.refuse("Trailing data")) }
    }

    fn month_name(&mut self) -> Result<i64> {
        let word = self.word();
        month_of(word).ok_or_else(|| self.refuse("A textual month could not be found"))
    }

    /// Reads a distance from UTC in minutes.
    fn minutes_zone(&mut self) -> Result<Zone> {
        let sign = if self.take(b'-') {
            -1
        } else {
            self.take(b'+');
            1
        };
        Ok(Zone::Fixed(sign * self.required(1, 4, 0..=1439)? * 60_000))
    }

    fn zone(&mut self) -> Result<Zone> {
        if matches!(self.peek(), Some(b'+' | b'-')) {
            let count = self.rest().bytes().skip(1).take_while(|b| b.is_ascii_digit() || *b == b':').count();
            let text = &self.rest()[..=count];
            let Some(offset) = distance(text) else { return Err(self.refuse("Unexpected character")) };
            self.at += text.len();
            return Ok(Zone::Fixed(offset));
        }
        let count = self
            .rest()
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'+'))
            .count();
        let name = &self.rest()[..count];
        let upper = name.to_ascii_uppercase();
        let zone = match upper.as_str() {
            "" => return Err(self.refuse("Unexpected character")),
            "Z" | "UTC" | "GMT" => Zone::UTC,
            _ => match ABBREVIATIONS.iter().find(|(known, _)| *known == upper) {
                Some((_, minutes)) => Zone::Fixed(minutes * 60_000),
                None if name.contains('/') => Zone::parse(name)
                    .map_err(|_| self.refuse("The timezone could not be found in the database"))?,
                None => return Err(self.refuse("The timezone could not be found in the database")),
            },
        };
        self.at += count;
        Ok(zone)
    }

    fn freely(&mut self, fields: &mut Fields) -> Result<()> {
        self.text = self.text.trim_end();
        self.blanks();
        self.weekday();
        self.date(fields)?;
        let separated = self.take(b'T') || self.take(b't') || {
            let before = self.at;
            self.blanks();
            self.take(b',');
            self.blanks();
            self.at > before
        };
        if separated && self.digit_count() > 0 {
            self.time(fields)?;
        }
        self.blanks();
        if !self.rest().is_empty() {
            fields.zone = Some(self.zone()?);
            self.blanks();
        }
        if self.rest().is_empty() { Ok(()) } else { Err(self.refuse("Unexpected character")) }
    }

    /// Passes over a day of the week before the date, such as `Tue, `.
    fn weekday(&mut self) {
        let before = self.at;
        let word = self.word();
        if super::arithmetic::read_weekday(word).is_some() {
            self.take(b',');
            self.blanks();
        } else {
            self.at = before;
        }
    }

    fn date(&mut self, fields: &mut Fields) -> Result<()> {
        let start = self.at;
        match self.digit_count() {
            0 => self.date_by_month_name(fields),
            1 | 2 => {
                let first = self.required(1, 2, 0..=31)?;
                match self.peek() {
                    Some(b'/') => {
                        self.at += 1;
                        fields.month = Some(first);
                        fields.day = Some(self.required(1, 2, 1..=31)?);
                        if !self.take(b'/') {
                            return Err(self.refuse("an incomplete date/time string has been found"));
                        }
                        fields.year = Some(self.required(4, 4, 0..=9999)?);
                        Ok(())
                    }
                    Some(separator @ (b'.' | b'-'))
                        if self.text.as_bytes().get(self.at + 1).is_some_and(u8::is_ascii_digit) =>
                    {
                        self.at += 1;
                        fields.day = Some(first);
                        fields.month = Some(self.required(1, 2, 1..=12)?);
                        if !self.take(separator) {
                            return Err(self.refuse("an incomplete date/time string has been found"));
                        }
                        fields.year = Some(self.required(4, 4, 0..=9999)?);
                        Ok(())
                    }
                    _ => {
                        self.ordinal_suffix();
                        self.separators();
                        fields.day = Some(first);
                        fields.month = Some(self.month_name()?);
                        self.separators();
                        fields.year = Some(self.required(4, 4, 0..=9999)?);
                        Ok(())
                    }
                }
            }
            8 => {
                fields.year = self.number(4, 4);
                fields.month = self.number(2, 2);
                fields.day = self.number(2, 2);
                Ok(())
            }
            4 => {
                let year = self.number(4, 4);
                fields.year = year;
                if self.take(b'W') {
                    return self.iso_week(fields, year, false);
                }
                let separator = match self.peek() {
                    Some(byte @ (b'-' | b'/' | b'.')) => byte,
                    _ => return Err(self.refuse("an incomplete date/time string has been found")),
                };
                self.at += 1;
                if separator == b'-' && self.take(b'W') {
                    return self.iso_week(fields, year, true);
                }
                if self.digit_count() == 3 {
                    fields.day_of_year = self.number(3, 3);
                    return Ok(());
                }
                fields.month = Some(self.required(1, 2, 1..=12)?);
                fields.day = if self.take(separator) { Some(self.required(1, 2, 1..=31)?) } else { Some(1) };
                Ok(())
            }
            _ => {
                self.at = start;
                Err(self.refuse("Unexpected character"))
            }
        }
    }

    fn iso_week(&mut self, fields: &mut Fields, year: Option<i64>, dashed: bool) -> Result<()> {
        fields.iso_year = year;
        fields.iso_week = Some(self.required(2, 2, 1..=53)?);
        let has_day = if dashed { self.take(b'-') } else { self.digit_count() > 0 };
        if has_day {
            fields.iso_day = Some(self.required(1, 1, 1..=7)?);
        }
        Ok(())
    }

    fn ordinal_suffix(&mut self) {
        if ["st", "nd", "rd", "th"].iter().any(|suffix| self.rest().starts_with(suffix)) {
            self.at += 2;
        }
    }

    fn separators(&mut self) {
        self.at += self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'-' | b',' | b'.')).count();
    }

    fn date_by_month_name(&mut self, fields: &mut Fields) -> Result<()> {
        fields.month = Some(self.month_name()?);
        self.separators();
        fields.day = Some(self.required(1, 2, 1..=31)?);
        self.ordinal_suffix();
        self.separators();
        fields.year = Some(self.required(4, 4, 0..=9999)?);
        Ok(())
    }

    fn time(&mut self, fields: &mut Fields) -> Result<()> {
        let digits = self.digit_count();
        fields.hour = self.required(1, 2, 0..=24)?;
        if digits >= 4 {
            fields.minute = self.required(2, 2, 0..=59)?;
            if self.digit_count() >= 2 {
                fields.second = self.required(2, 2, 0..=60)?;
            }
        } else if self.take(b':') {
            fields.minute = self.required(1, 2, 0..=59)?;
            if self.take(b':') {
                fields.second = self.required(1, 2, 0..=60)?;
            }
        }
        if matches!(self.peek(), Some(b'.' | b',')) {
            self.at += 1;
            fields.millisecond = self.fraction().ok_or_else(|| self.refuse("Unexpected character"))?;
        }
        let before = self.at;
        self.blanks();
        match self.word().to_ascii_lowercase().as_str() {
            "am" if fields.hour == 12 => fields.hour = 0,
            "pm" if fields.hour < 12 => fields.hour += 12,
            "am" | "pm" => {}
            _ => self.at = before,
        }
        Ok(())
    }
}

fn month_of(word: &str) -> Option<i64> {
    if word.len() < 3 || word.len() > 9 {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let place = MONTHS.iter().position(|month| {
        let month = month.to_ascii_lowercase();
        month == lower
            || (lower.len() == 3 && month.starts_with(&lower))
            || (lower == "sept" && month == "september")
    })?;
    Some(place as i64 + 1)
}
