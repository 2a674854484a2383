//! Regular expressions: compiled once, with bounds on what a search may cost.
//!
//! The syntax is that of PCRE, as far as `fancy-regex` has it: back references and looking around among others. What
//! needs neither is searched in linear time; the rest goes back at most [`REGEX_BACKTRACK_MAX`] times.

mod dialect;

use std::sync::Arc;

use fancy_regex::RegexBuilder;

use crate::error::{Error, Result};
use crate::limits::{
    REGEX_BACKTRACK_MAX, REGEX_COMPILED_BYTES_MAX, REGEX_INSTRUCTIONS_MAX, REGEX_PATTERN_BYTES_MAX,
};
use dialect::translate;

/// A compiled regular expression. Copies are cheap.
#[derive(Debug, Clone)]
pub struct Regex(Arc<fancy_regex::Regex>);

/// Where a regular expression matched: the bytes of the whole, and of each group that took part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// From where to where the whole match is.
    pub range: std::ops::Range<usize>,
    /// The groups after it, in order.
    pub groups: Vec<Option<std::ops::Range<usize>>>,
}

/// Compiles a pattern with options out of `i`, `m`, `x`, `s` and `u`.
pub fn compile(pattern: &str, options: &str) -> Result<Regex> {
    if pattern.len() > REGEX_PATTERN_BYTES_MAX {
        return Err(Error::new(51091, "Regular expression is too long"));
    }
    let mut builder = RegexBuilder::new(&translate(pattern, options));
    builder
        .backtrack_limit(REGEX_BACKTRACK_MAX)
        .max_prog_size(REGEX_INSTRUCTIONS_MAX)
        .delegate_size_limit(REGEX_COMPILED_BYTES_MAX)
        .delegate_dfa_size_limit(REGEX_COMPILED_BYTES_MAX);
    for option in options.chars() {
        match option {
            'i' => builder.case_insensitive(true),
            'm' => builder.multi_line(true),
            'x' => builder.verbose_mode(true),
            's' => builder.dot_matches_new_line(true),
            'u' => &mut builder,
            _ => return Err(Error::new(51108, format!("invalid flag in regex options: {option}"))),
        };
    }
    match builder.build() {
        Ok(regex) => Ok(Regex(Arc::new(regex))),
        Err(error) => Err(Error::new(51091, format!("Regular expression is invalid: {error}"))),
    }
}

impl Regex {
    /// Says whether a text matches somewhere.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        self.0.is_match(text).map_err(failed)
    }

    /// Returns the first match that begins at a byte or after it, which must be between two characters.
    pub fn find_at(&self, text: &str, start: usize) -> Result<Option<Found>> {
        let Some(captures) = self.0.captures_from_pos(text, start).map_err(failed)? else { return Ok(None) };
        let Some(whole) = captures.get(0) else { return Ok(None) };
        let groups =
            (1..self.0.captures_len()).map(|group| captures.get(group).map(|found| found.range())).collect();
        Ok(Some(Found { range: whole.range(), groups }))
    }
}

fn failed(error: fancy_regex::Error) -> Error {
    Error::new(51156, format!("Error occurred while executing the regular expression. Result code: {error}"))
}
