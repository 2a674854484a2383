//! Regular expressions: compiled once, with bounds on what a search may cost.
//!
//! The syntax is the one of `fancy-regex`, which has back references and looking around as PCRE does. What needs
//! neither is searched in linear time; the rest goes back at most [`REGEX_BACKTRACK_MAX`] times.

use std::borrow::Cow;
use std::sync::Arc;

use fancy_regex::RegexBuilder;

use crate::error::{Error, Result};
use crate::limits::{
    REGEX_BACKTRACK_MAX, REGEX_COMPILED_BYTES_MAX, REGEX_INSTRUCTIONS_MAX, REGEX_PATTERN_BYTES_MAX,
};

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
    let mut builder = RegexBuilder::new(&translated(pattern));
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

/// What PCRE takes at the begin of a pattern to say what is so here anyway.
const UNICODE_VERBS: [&str; 3] = ["(*UTF8)", "(*UTF)", "(*UCP)"];

/// Writes what only PCRE has in other words: texts between `\Q` and `\E`, which libraries of Java write, stand for
/// themselves.
fn translated(pattern: &str) -> Cow<'_, str> {
    let mut pattern = pattern;
    while let Some(rest) = UNICODE_VERBS.iter().find_map(|verb| pattern.strip_prefix(verb)) {
        pattern = rest;
    }
    if !pattern.contains("\\Q") && !pattern.contains("\\E") {
        return Cow::Borrowed(pattern);
    }
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(quoted) = rest.strip_prefix("\\Q") {
            let (text, after) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            out.push_str(&fancy_regex::escape(text));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("\\E") {
            rest = after;
        } else {
            // A backslash and what it escapes, which may be another one.
            let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
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
