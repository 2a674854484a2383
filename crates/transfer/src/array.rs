//! A JSON array of objects, read element by element: never whole in memory.
//!
//! Elements are cut by brackets, strings and commas alone; what is wrong inside of one is found out later, and is that
//! element's own problem. Behind an array nothing but white space may stand.

use std::io::{BufRead, BufReader, Read};

use anyhow::{Context, Result, bail};

use crate::limits::{READ_BYTES, RECORD_BYTES_MAX, REJECT_TEXT_BYTES_MAX};
use crate::records::{Content, Record, Source};

/// The elements of an array.
pub(crate) struct Array<R> {
    bytes: BufReader<R>,
    /// Line breaks so far.
    breaks: u64,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Behind the opening bracket.
    First,
    /// Behind an element.
    Later,
    /// Behind the closing bracket.
    End,
}

impl<R: Read + Send> Array<R> {
    /// Steps over the opening bracket.
    pub(crate) fn new(bytes: R) -> Result<Array<R>> {
        let mut array =
            Array { bytes: BufReader::with_capacity(READ_BYTES, bytes), breaks: 0, stage: Stage::First };
        match array.next_token()? {
            Some(b'[') => array.bytes.consume(1),
            Some(_) => bail!("the input is no JSON array"),
            None => bail!("the input is empty, not a JSON array"),
        }
        Ok(array)
    }

    /// Steps over white space, and returns the byte behind it.
    fn next_token(&mut self) -> Result<Option<u8>> {
        loop {
            let buffer = self.bytes.fill_buf().context("cannot read on")?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let blank = buffer.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(buffer.len());
            self.breaks += count_breaks(&buffer[..blank]);
            let found = buffer.get(blank).copied();
            self.bytes.consume(blank);
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Reads up to the end of an element: a comma or a closing bracket that is not inside of it.
    fn element(&mut self) -> Result<Content> {
        let mut text = Vec::new();
        let mut is_too_long = false;
        let (mut depth, mut is_string, mut is_escaped) = (0u64, false, false);
        loop {
            let buffer = self.bytes.fill_buf().context("cannot read on")?;
            if buffer.is_empty() {
                bail!("the array is cut off behind line {}", self.breaks + 1);
            }
            let mut end = None;
            for (at, byte) in buffer.iter().enumerate() {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' if is_string => is_escaped = true,
                    b'"' => is_string = !is_string,
                    _ if is_string => {}
                    b'{' | b'[' => depth += 1,
                    b',' | b']' if depth == 0 => {
                        end = Some(at);
                        break;
                    }
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            let taken = end.unwrap_or(buffer.len());
            if text.len() + taken <= RECORD_BYTES_MAX {
                text.extend_from_slice(&buffer[..taken]);
            } else {
                text.extend_from_slice(&buffer[..taken.min(REJECT_TEXT_BYTES_MAX)]);
                text.truncate(REJECT_TEXT_BYTES_MAX);
                is_too_long = true;
            }
            self.breaks += count_breaks(&buffer[..taken]);
            self.bytes.consume(taken);
            if end.is_some() {
                break;
            }
        }
        if is_too_long {
            let why = format!("the element is longer than {RECORD_BYTES_MAX} bytes");
            return Ok(Content::Unusable { why, text });
        }
        text.truncate(text.trim_ascii_end().len());
        Ok(Content::Json(text))
    }
}

fn count_breaks(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

impl<R: Read + Send> Source for Array<R> {
    fn next(&mut self) -> Result<Option<Record>> {
        if self.stage == Stage::End {
            return Ok(None);
        }
        let first = self.next_token()?;
        match (first, self.stage) {
            (None, _) => bail!("the array is cut off behind line {}", self.breaks + 1),
            (Some(b']'), _) => {
                self.bytes.consume(1);
                self.stage = Stage::End;
                if self.next_token()?.is_some() {
                    bail!("there is more behind the array, at line {}", self.breaks + 1);
                }
                return Ok(None);
            }
            (Some(b','), Stage::Later) => {
                self.bytes.consume(1);
                self.next_token()?;
            }
            _ => {}
        }
        self.stage = Stage::Later;
        let line = self.breaks + 1;
        Ok(Some(Record { line, content: self.element()? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives few bytes at a time.
    struct Slow<'t>(&'t [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    fn elements(text: &str) -> Result<Vec<(u64, String)>> {
        let mut outcomes = Vec::new();
        for at_once in [1, 2, 3, 1_000] {
            let all = || {
                let mut array = Array::new(Slow(text.as_bytes(), at_once))?;
                let mut found = Vec::new();
                while let Some(Record { line, content }) = array.next()? {
                    match content {
                        Content::Json(text) => found.push((line, String::from_utf8(text)?)),
                        other => panic!("{other:?}"),
                    }
                }
                Ok(found)
            };
            outcomes.push(all());
        }
        let last = outcomes.pop().unwrap();
        for outcome in outcomes {
            assert_eq!(
                outcome.map_err(|error: anyhow::Error| error.to_string()),
                match &last {
                    Ok(found) => Ok(found.clone()),
                    Err(error) => Err(error.to_string()),
                },
                "{text}"
            );
        }
        last
    }

    #[test]
    fn arrays() {
        for (text, expected) in [
            ("[]", &[][..]),
            (" [ ] \n", &[]),
            (r#"[{"a":1}]"#, &[(1, r#"{"a":1}"#)]),
            (
                "[\n{\"a\":[1,2]},\n\n {\"b\":\"],[\\\"\"} ]",
                &[(2, r#"{"a":[1,2]}"#), (4, r#"{"b":"],[\""}"#)],
            ),
            ("[1, \"x\" ,null]", &[(1, "1"), (1, "\"x\""), (1, "null")]),
            ("[{},,{}]", &[(1, "{}"), (1, ""), (1, "{}")]),
            ("[{\n}\n,\n{}\n]", &[(1, "{\n}"), (4, "{}")]),
        ] {
            let expected: Vec<_> = expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
            assert_eq!(elements(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn inputs_that_are_no_arrays() {
        for (text, expected) in [
            ("", "empty"),
            ("{}", "no JSON array"),
            ("[", "cut off behind line 1"),
            ("[\n{}", "cut off behind line 2"),
            ("[{},", "cut off"),
            ("[\"x", "cut off"),
            ("[] x", "more behind the array"),
            ("[{}]\n[{}]", "more behind the array, at line 2"),
        ] {
            let error = elements(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn elements_are_bounded() {
        let long = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
        let text = format!("[{},{},{{}}]", long(RECORD_BYTES_MAX), long(RECORD_BYTES_MAX + 1));
        let mut array = Array::new(text.as_bytes()).unwrap();
        let mut next = || array.next().unwrap().map(|record| record.content);
        assert!(matches!(next(), Some(Content::Json(text)) if text.len() == RECORD_BYTES_MAX));
        assert!(
            matches!(next(), Some(Content::Unusable { text, .. }) if text.len() <= REJECT_TEXT_BYTES_MAX)
        );
        assert_eq!(next(), Some(Content::Json(b"{}".to_vec())));
        assert_eq!(next(), None);
    }
}
