//! What is asked of a server: method, path, what is signed of it, headers and body.

use std::fmt::Write as _;
use std::time::Duration;

use armilla_rest_wire::{names, percent};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};

use crate::failure::Failure;
use crate::limits::ANSWER_TIMEOUT;

/// A request before it is signed.
#[derive(Debug, Clone)]
pub struct Question {
    /// The verb.
    pub method: Method,
    /// The path, its names encoded (see [`segment`]).
    pub path: String,
    /// What is signed: the type of the resource.
    pub resource_type: &'static str,
    /// What is signed: which resource, its names as they are.
    pub link: String,
    /// Headers beside those that every request has.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub body: Bytes,
    /// How long the server may take.
    pub timeout: Duration,
}

impl Question {
    /// Returns a question about a resource, without headers and body.
    pub(crate) fn new(method: Method, resource_type: &'static str, path: String, link: String) -> Question {
        Question {
            method,
            path,
            resource_type,
            link,
            headers: Vec::with_capacity(4),
            body: Bytes::new(),
            timeout: ANSWER_TIMEOUT,
        }
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Question {
        self.body = body.into();
        self
    }

    pub(crate) fn header(mut self, name: &HeaderName, value: &'static str) -> Question {
        self.headers.push((name.clone(), HeaderValue::from_static(value)));
        self
    }

    pub(crate) fn header_text(mut self, name: &HeaderName, value: &str) -> Result<Question, Failure> {
        let text = HeaderValue::from_str(value)
            .map_err(|_| Failure::Malformed(anyhow::anyhow!("cannot send {value:?} in the header {name}")))?;
        self.headers.push((name.clone(), text));
        Ok(self)
    }

    /// Adds a header if there is a value.
    pub(crate) fn header_option(self, name: &HeaderName, value: Option<&str>) -> Result<Question, Failure> {
        match value {
            Some(value) => self.header_text(name, value),
            None => Ok(self),
        }
    }

    /// Adds a partition key: a JSON array, in any characters.
    pub(crate) fn partition_key(self, key: &str) -> Result<Question, Failure> {
        if key.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.header_text(&names::PARTITION_KEY, key);
        }
        self.header_text(&names::PARTITION_KEY, &ascii(key))
    }
}

/// Returns JSON in which all characters beyond ASCII are escaped.
fn ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(2 * text.len());
    for character in text.chars() {
        match character {
            ' '..='~' => ascii.push(character),
            // Only strings have such characters, but for white space between tokens.
            '\n' | '\r' | '\t' => ascii.push(' '),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(ascii, "\\u{unit:04x}");
                }
            }
        }
    }
    ascii
}

/// Returns a name as it stands in a path.
pub fn segment(name: &str) -> String {
    percent::encode(name).to_string()
}

/// Appends a name as it stands in a path.
pub(crate) fn push_segment(text: &mut String, name: &str) {
    text.extend(percent::encode(name));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_paths() {
        for (name, expected) in [
            ("orders-1_a.b~", "orders-1_a.b~"),
            ("a b", "a%20b"),
            ("ü", "%C3%BC"),
            ("%", "%25"),
            ("a/b", "a%2Fb"),
        ] {
            assert_eq!(segment(name), expected);
        }
    }

    #[test]
    fn keys_in_headers() {
        for (key, expected) in [
            (r#"["Oslo",1]"#, r#"["Oslo",1]"#),
            (r#"["Tromsø 😀"]"#, r#"["Troms\u00f8 \ud83d\ude00"]"#),
            ("[\n1]", "[ 1]"),
            ("[\"\u{7f}\"]", r#"["\u007f"]"#),
        ] {
            let question = Question::new(Method::GET, "docs", String::new(), String::new());
            let question = question.partition_key(key).unwrap();
            assert_eq!(question.headers[0].1.to_str().unwrap(), expected);
        }
    }

    #[test]
    fn values_that_no_header_takes() {
        let question = Question::new(Method::GET, "docs", String::new(), String::new());
        let error = question.header_text(&names::CONTINUATION, "a\nb").unwrap_err().to_string();
        assert!(error.contains("x-ms-continuation"), "{error}");
    }
}
