//! Cuts a page of a feed into lines, each item or change as the server wrote it.
//!
//! Nothing is parsed: a number is printed with the digits it came with. Only as much syntax is looked at as it takes
//! to find where a change ends.

use anyhow::{Context, Result, bail};

/// The member of a page that has its changes.
const CHANGES: &[u8] = b"Documents";

/// The changes of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// One change a line.
    pub text: Vec<u8>,
    /// How many there are.
    pub count: u64,
}

/// Cuts a page into lines.
pub fn lines(page: &[u8]) -> Result<Lines> {
    let mut cursor = Cursor { bytes: page, position: 0 };
    let mut lines = None;
    cursor.each(b'{', b'}', |cursor| {
        let name = cursor.value()?;
        cursor.expect(b':')?;
        if name.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) == Some(CHANGES) {
            lines = Some(changes(cursor, page.len())?);
            return Ok(());
        }
        cursor.value().map(|_| ())
    })?;
    lines.context("the page has no list of changes")
}

fn changes(cursor: &mut Cursor<'_>, length_max: usize) -> Result<Lines> {
    let mut lines = Lines { text: Vec::with_capacity(length_max), count: 0 };
    cursor.each(b'[', b']', |cursor| {
        let change = cursor.value()?;
        // Between tokens a line may end; inside of strings it is escaped.
        lines.text.extend(change.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
        lines.text.push(b'\n');
        lines.count += 1;
        Ok(())
    })?;
    Ok(lines)
}

struct Cursor<'p> {
    bytes: &'p [u8],
    position: usize,
}

impl<'p> Cursor<'p> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Result<u8> {
        let rest = &self.bytes[self.position..];
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.position += blank;
        self.bytes.get(self.position).copied().context("the page is cut off")
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek()? != byte {
            bail!("the page is no JSON at byte {}", self.position);
        }
        self.position += 1;
        Ok(())
    }

    /// Goes through the members of an object or the elements of an array.
    fn each(&mut self, open: u8, close: u8, mut visit: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect(open)?;
        if self.peek()? == close {
            self.position += 1;
            return Ok(());
        }
        loop {
            visit(self)?;
            if self.peek()? == close {
                self.position += 1;
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Steps over a value and returns its text.
    fn value(&mut self) -> Result<&'p [u8]> {
        let first = self.peek()?;
        let start = self.position;
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => self.nested()?,
            _ => {
                let is_end = |byte: &u8| b",:]}".contains(byte) || byte.is_ascii_whitespace();
                let rest = &self.bytes[start..];
                let length = rest.iter().position(is_end).context("the page is cut off")?;
                if length == 0 {
                    bail!("the page is no JSON at byte {start}");
                }
                self.position += length;
            }
        }
        Ok(&self.bytes[start..self.position])
    }

    /// Steps over a string, at whose first quote the cursor stands.
    fn string(&mut self) -> Result<()> {
        self.position += 1;
        loop {
            let rest = self.bytes.get(self.position..).unwrap_or_default();
            let length = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\'))
                .context("the page is cut off in a string")?;
            // A backslash takes the next byte along, whatever it is.
            let is_end = rest[length] == b'"';
            self.position += length + if is_end { 1 } else { 2 };
            if is_end {
                return Ok(());
            }
        }
    }

    /// Steps over an object or array, at whose first byte the cursor stands.
    fn nested(&mut self) -> Result<()> {
        let mut depth = 0usize;
        loop {
            let rest = &self.bytes[self.position..];
            let length = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))
                .context("the page is cut off")?;
            self.position += length;
            match rest[length] {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                _ => depth -= 1,
            }
            self.position += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(page: &str) -> Result<(String, u64)> {
        lines(page.as_bytes()).map(|lines| (String::from_utf8(lines.text).unwrap(), lines.count))
    }

    #[test]
    fn changes_come_as_they_are() {
        for (page, expected, count) in [
            (r#"{"_rid":"x","Documents":[],"_count":0}"#, "", 0),
            (
                r#"{"Documents":[{"id":"1","n":1.50e+00,"_lsn":3}]}"#,
                "{\"id\":\"1\",\"n\":1.50e+00,\"_lsn\":3}\n",
                1,
            ),
            (
                r#"{"_count":2,"Documents":[{"a":[1,{"b":"]}\"\\"}]},{"ü":"\u000a"}],"x":{"Documents":[1]}}"#,
                "{\"a\":[1,{\"b\":\"]}\\\"\\\\\"}]}\n{\"ü\":\"\\u000a\"}\n",
                2,
            ),
            (" {\n\"Documents\" : [ {\r\n \"a\" :\n1 } , 7 ] }\n", "{   \"a\" : 1 }\n7\n", 2),
            (r#"{"Documents":[{"Documents":[1,2]}]}"#, "{\"Documents\":[1,2]}\n", 1),
            (r#"{"a":null,"b":-1,"Documents":[]}"#, "", 0),
        ] {
            assert_eq!(cut(page).unwrap(), (expected.to_owned(), count), "{page}");
        }
    }

    #[test]
    fn pages_that_are_none() {
        for (page, expected) in [
            ("", "cut off"),
            ("{}", "no list of changes"),
            ("[]", "no JSON at byte 0"),
            (r#"{"Documents":{}}"#, "no JSON at byte 13"),
            (r#"{"Documents"[]}"#, "no JSON at byte 12"),
            (r#"{"Documents":[,]}"#, "no JSON at byte 14"),
            (r#"{"Documents":[1 2]}"#, "no JSON at byte 16"),
            (r#"{"Documents":[{"a":"\"#, "cut off in a string"),
            (r#"{"Documents":[{"a":"\""#, "cut off in a string"),
            ("<html>", "no JSON at byte 0"),
        ] {
            let error = cut(page).unwrap_err().to_string();
            assert!(error.contains(expected), "{page}: {error}");
        }
    }

    #[test]
    fn a_page_that_was_cut_off_anywhere_is_an_error() {
        let page = r#"{"_rid":"x","Documents":[{"a":[1,{"b":"]}\"\\"}]},{"c":[]}],"_count":2}"#;
        for length in 0..page.len() {
            assert!(cut(&page[..length]).is_err(), "{}", &page[..length]);
        }
        assert_eq!(cut(page).unwrap().1, 2);
    }
}
