//! JSON lines: one object a line; blank lines are none.

use std::io::{BufRead, BufReader, Read};

use anyhow::{Context, Result};

use crate::limits::{READ_BYTES, RECORD_BYTES_MAX, REJECT_TEXT_BYTES_MAX};
use crate::records::{Content, Record, Source};

/// Lines of an input.
pub(crate) struct JsonLines<R> {
    bytes: BufReader<R>,
    line: u64,
}

impl<R: Read + Send> JsonLines<R> {
    /// Starts at the first line.
    pub(crate) fn new(bytes: R) -> JsonLines<R> {
        JsonLines { bytes: BufReader::with_capacity(READ_BYTES, bytes), line: 0 }
    }
}

impl<R: Read + Send> Source for JsonLines<R> {
    fn next(&mut self) -> Result<Option<Record>> {
        loop {
            let mut text = Vec::new();
            let most = RECORD_BYTES_MAX as u64 + 1;
            let length = (&mut self.bytes).take(most).read_until(b'\n', &mut text);
            if length.context("cannot read on")? == 0 {
                return Ok(None);
            }
            self.line += 1;
            if text.len() > RECORD_BYTES_MAX && text.last() != Some(&b'\n') {
                self.bytes.skip_until(b'\n').context("cannot read on")?;
                text.truncate(REJECT_TEXT_BYTES_MAX);
                let why = format!("the line is longer than {RECORD_BYTES_MAX} bytes");
                return Ok(Some(Record { line: self.line, content: Content::Unusable { why, text } }));
            }
            let trimmed = text.trim_ascii();
            if trimmed.is_empty() {
                continue;
            }
            if trimmed.len() < text.len() {
                let start = text.len() - text.trim_ascii_start().len();
                let end = start + trimmed.len();
                text.truncate(end);
                text.drain(..start);
            }
            return Ok(Some(Record { line: self.line, content: Content::Json(text) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let long = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
        let text = format!(
            "{{\"a\":1}}\r\n\n  \t\n x \n{}\n{}\n{{}}",
            long(RECORD_BYTES_MAX - 1),
            long(RECORD_BYTES_MAX + 1)
        );
        let mut source = JsonLines::new(text.as_bytes());
        let mut next = || source.next().unwrap();
        let json = |line, text: &str| Some(Record { line, content: Content::Json(text.into()) });
        assert_eq!(next(), json(1, "{\"a\":1}"));
        assert_eq!(next(), json(4, "x"));
        assert!(matches!(next(), Some(Record { line: 5, content: Content::Json(_) })));
        match next() {
            Some(Record { line: 6, content: Content::Unusable { why, text } }) => {
                assert!(why.contains("longer than"));
                assert_eq!(text.len(), REJECT_TEXT_BYTES_MAX);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(next(), json(7, "{}"));
        assert_eq!(next(), None);
    }
}
