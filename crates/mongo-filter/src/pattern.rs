//! Regular expressions of filters.

use std::sync::Arc;

use armilla_mongo_expression::{Error, Result};
use armilla_value::Value;
use fancy_regex::{Regex, RegexBuilder};

use crate::limits::{
    PATTERN_BACKTRACK_MAX, PATTERN_BYTES_MAX, PATTERN_COMPILED_BYTES_MAX, PATTERN_INSTRUCTIONS_MAX,
};

const INVALID: i32 = 51091;
const INVALID_FLAG: i32 = 51108;
const FAILED: i32 = 51156;

/// A regular expression with its options, compiled.
#[derive(Clone)]
pub struct Pattern {
    /// As it was written.
    pub pattern: String,
    /// The option letters, in the order of the alphabet.
    pub options: String,
    regex: Arc<Regex>,
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "/{}/{}", self.pattern, self.options)
    }
}

impl Pattern {
    /// Compiles a pattern.
    pub fn new(pattern: &str, options: &str) -> Result<Pattern> {
        if pattern.contains('\0') {
            return Err(Error::bad_value("Regular expression cannot contain an embedded null byte"));
        }
        if options.contains('\0') {
            return Err(Error::bad_value(
                "Regular expression options string cannot contain an embedded null byte",
            ));
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(Error::new(
                INVALID,
                "Regular expression is invalid: pattern string is longer than the limit",
            ));
        }
        let mut builder = RegexBuilder::new(pattern);
        builder
            .backtrack_limit(PATTERN_BACKTRACK_MAX)
            .max_prog_size(PATTERN_INSTRUCTIONS_MAX)
            .delegate_size_limit(PATTERN_COMPILED_BYTES_MAX)
            .delegate_dfa_size_limit(PATTERN_COMPILED_BYTES_MAX);
        for option in options.chars() {
            match option {
                'i' => builder.case_insensitive(true),
                'm' => builder.multi_line(true),
                's' => builder.dot_matches_new_line(true),
                'x' => builder.verbose_mode(true),
                // Text is Unicode anyway.
                'u' => &mut builder,
                other => {
                    return Err(Error::new(INVALID_FLAG, format!("invalid flag in regex options: {other}")));
                }
            };
        }
        let regex = builder
            .build()
            .map_err(|error| Error::new(INVALID, format!("Regular expression is invalid: {error}")))?;
        let mut letters: Vec<char> = options.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        Ok(Pattern {
            pattern: pattern.to_owned(),
            options: letters.into_iter().collect(),
            regex: Arc::new(regex),
        })
    }

    /// Says whether it is found in a text.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        self.regex.is_match(text).map_err(|error| {
            Error::new(FAILED, format!("Error occurred while executing regular expression: {error}"))
        })
    }

    /// Says whether a value is text in which it is found, or the same regular expression.
    pub fn matches(&self, value: &Value) -> Result<bool> {
        match value {
            Value::String(text) => self.is_match(text),
            Value::Regex { pattern, options } => Ok(**pattern == *self.pattern && **options == *self.options),
            _ => Ok(false),
        }
    }

    /// Returns the text with which every match begins, if there is one: of `^text...` without options.
    pub fn prefix(&self) -> Option<Prefix> {
        let anchored = self.pattern.strip_prefix('^').or_else(|| self.pattern.strip_prefix("\\A"))?;
        if !self.options.chars().all(|option| matches!(option, 's' | 'u')) || anchored.contains('|') {
            return None;
        }
        let mut text = String::new();
        let mut characters = anchored.chars().peekable();
        let mut is_whole = true;
        while let Some(character) = characters.next() {
            let literal = match character {
                '\\' => match characters.next() {
                    Some(escaped) if !escaped.is_alphanumeric() => escaped,
                    _ => {
                        is_whole = false;
                        break;
                    }
                },
                '^' | '$' | '.' | '[' | ']' | '(' | ')' | '*' | '+' | '?' | '{' | '}' => {
                    is_whole = anchored.ends_with(".*") && text.len() + 2 == anchored.len();
                    // A repetition takes back the character before it, which may come not at all.
                    if matches!(character, '*' | '?' | '{' | '+') {
                        text.pop();
                    }
                    break;
                }
                other => other,
            };
            text.push(literal);
        }
        if text.is_empty() { None } else { Some(Prefix { text, is_whole }) }
    }
}

/// The beginning of every match of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    /// The text.
    pub text: String,
    /// Whether every text that begins so matches.
    pub is_whole: bool,
}
