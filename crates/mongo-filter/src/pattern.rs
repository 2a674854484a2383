//! Regular expressions of filters.

use armilla_mongo_expression::regex::{self, Regex};
use armilla_mongo_expression::{Error, Result};
use armilla_value::{Legacy, Value};

/// A regular expression with its options, compiled.
#[derive(Clone)]
pub struct Pattern {
    /// As it was written.
    pub pattern: String,
    /// The option letters, in the order of the alphabet.
    pub options: String,
    regex: Regex,
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
        let regex = regex::compile(pattern, options)?;
        let mut letters: Vec<char> = options.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        Ok(Pattern { pattern: pattern.to_owned(), options: letters.into_iter().collect(), regex })
    }

    /// Says whether it is found in a text.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        self.regex.is_match(text)
    }

    /// Says whether a value is text in which it is found, or the same regular expression.
    pub fn matches(&self, value: &Value) -> Result<bool> {
        match value {
            Value::String(text) => self.is_match(text),
            Value::Legacy(legacy) => match &**legacy {
                Legacy::Symbol(text) => self.is_match(text),
                _ => Ok(false),
            },
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
                    // Some engines mean the bounds of words by these.
                    Some(escaped) if !escaped.is_alphanumeric() && !"<>`'".contains(escaped) => escaped,
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

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
