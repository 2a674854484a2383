//! Answers taken apart without making a tree: rows of a page, and members of a row, as their text.
//!
//! Workers and checks look at a few members of millions of items. The texts come from a server that writes JSON, so
//! only their structure is followed here; whatever does not look like it is an error, never a panic.

use std::borrow::Cow;

use anyhow::{Context as _, Result, bail};
use armilla_value::{Value, json};

/// The rows of a page of a query or of a feed.
pub(crate) struct Rows<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Rows<'a> {
    /// Finds the rows in an answer.
    pub(crate) fn of(body: &'a [u8]) -> Result<Rows<'a>> {
        let list = member(body, "Documents")?.context("the answer has no list of documents")?;
        Rows::of_list(list)
    }

    /// Takes a list.
    pub(crate) fn of_list(list: &'a [u8]) -> Result<Rows<'a>> {
        match list.first() {
            Some(b'[') => Ok(Rows { text: list, at: 1 }),
            _ => bail!("there is no list where the rows should be"),
        }
    }

    fn next_row(&mut self) -> Result<Option<&'a [u8]>> {
        self.at = skip_space(self.text, self.at);
        if self.text.get(self.at) == Some(&b',') {
            self.at = skip_space(self.text, self.at + 1);
        }
        match self.text.get(self.at) {
            None => bail!("the list of rows ends early"),
            Some(b']') => Ok(None),
            Some(_) => {
                let end = value_end(self.text, self.at)?;
                let row = &self.text[self.at..end];
                self.at = end;
                Ok(Some(row))
            }
        }
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Result<&'a [u8]>;

    fn next(&mut self) -> Option<Result<&'a [u8]>> {
        self.next_row().transpose()
    }
}

/// The members of an object, as name and text of the value; names as they stand between the quotes.
pub(crate) struct Members<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Members<'a> {
    /// Takes an object.
    pub(crate) fn of(object: &'a [u8]) -> Result<Members<'a>> {
        let at = skip_space(object, 0);
        match object.get(at) {
            Some(b'{') => Ok(Members { text: object, at: at + 1 }),
            _ => bail!("there is no object where an item should be"),
        }
    }

    fn next_member(&mut self) -> Result<Option<(&'a [u8], &'a [u8])>> {
        self.at = skip_space(self.text, self.at);
        if self.text.get(self.at) == Some(&b',') {
            self.at = skip_space(self.text, self.at + 1);
        }
        match self.text.get(self.at) {
            Some(b'}') => return Ok(None),
            Some(b'"') => {}
            _ => bail!("an item ends early"),
        }
        let name_end = value_end(self.text, self.at)?;
        let name = &self.text[self.at + 1..name_end - 1];
        let colon = skip_space(self.text, name_end);
        if self.text.get(colon) != Some(&b':') {
            bail!("a member has no value");
        }
        let start = skip_space(self.text, colon + 1);
        let end = value_end(self.text, start)?;
        self.at = end;
        Ok(Some((name, &self.text[start..end])))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<(&'a [u8], &'a [u8])>;

    fn next(&mut self) -> Option<Result<(&'a [u8], &'a [u8])>> {
        self.next_member().transpose()
    }
}

/// Returns the text of a member's value, if there is one of this name.
pub(crate) fn member<'a>(object: &'a [u8], name: &str) -> Result<Option<&'a [u8]>> {
    for found in Members::of(object)? {
        let (found_name, value) = found?;
        if found_name == name.as_bytes() {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Returns what a string says; its text has the quotes.
pub(crate) fn string(value: &[u8]) -> Result<Cow<'_, str>> {
    let inner = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let Some(inner) = inner else { bail!("there is no string where one should be") };
    if !inner.contains(&b'\\') {
        return Ok(Cow::Borrowed(std::str::from_utf8(inner).context("a string is not UTF-8")?));
    }
    match json::parse(value) {
        Ok(Value::String(text)) => Ok(Cow::Owned(text)),
        _ => bail!("a string cannot be read"),
    }
}

/// Returns what a member says that has to be a string.
pub(crate) fn string_member<'a>(object: &'a [u8], name: &str) -> Result<Cow<'a, str>> {
    let value = member(object, name)?.with_context(|| format!("an item has no {name}"))?;
    string(value)
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Returns where a value ends that begins here; it has at least one byte.
fn value_end(text: &[u8], start: usize) -> Result<usize> {
    if matches!(text.get(start), None | Some(b'}' | b']' | b',' | b':')) {
        bail!("there is no value where one should be");
    }
    let mut depth = 0usize;
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                at = string_end(text, at)?;
                if depth == 0 {
                    return Ok(at);
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                if depth == 0 {
                    return Ok(at);
                }
                depth -= 1;
                if depth == 0 {
                    return Ok(at + 1);
                }
            }
            b',' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return Ok(at),
            _ => {}
        }
        at += 1;
    }
    if depth == 0 { Ok(at) } else { bail!("a value ends early") }
}

/// Returns where a string ends whose first quote stands here.
fn string_end(text: &[u8], start: usize) -> Result<usize> {
    let mut at = start + 1;
    loop {
        let rest = text.get(at..).context("a string ends early")?;
        let found =
            rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).context("a string ends early")?;
        if rest[found] == b'"' {
            return Ok(at + found + 1);
        }
        at += found + 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_and_members() {
        let body = br#"{"_rid":"x","Documents":[{"id":"a","n":1,"o":{"x":[1,2,"]"]}}, {"id":"b\"}"} ,3,"s"],"_count":4}"#;
        let rows: Vec<&[u8]> = Rows::of(body).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 4);
        assert_eq!(string_member(rows[0], "id").unwrap(), "a");
        assert_eq!(member(rows[0], "o").unwrap(), Some(&br#"{"x":[1,2,"]"]}"#[..]));
        assert_eq!(member(rows[0], "n").unwrap(), Some(&b"1"[..]));
        assert_eq!(string_member(rows[1], "id").unwrap(), "b\"}");
        assert_eq!((rows[2], rows[3]), (&b"3"[..], &b"\"s\""[..]));
        assert_eq!(member(rows[0], "none").unwrap(), None);
        assert_eq!(Rows::of(br#"{"Documents":[]}"#).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for body in [
            "",
            "[]",
            "{",
            "{}",
            r#"{"Documents"}"#,
            r#"{"Documents":{}}"#,
            r#"{"Documents":[{"a"#,
            r#"{"Documents":["#,
        ] {
            let wrong = match Rows::of(body.as_bytes()) {
                Err(_) => true,
                Ok(rows) => rows.last().is_some_and(|row| row.is_err()),
            };
            assert!(wrong, "{body}");
        }
        assert!(string(b"\"\\x\"").is_err());
        assert!(string(b"12").is_err());
    }

    proptest! {
        #[test]
        fn texts_of_any_kind_do_not_panic(body in "[\\[\\]{}\",:\\\\a ]{0,40}") {
            if let Ok(rows) = Rows::of_list(body.as_bytes()) {
                for row in rows {
                    let Ok(row) = row else { break };
                    if let Ok(members) = Members::of(row) {
                        let _ = members.take(50).collect::<Result<Vec<_>>>();
                    }
                }
            }
        }

        #[test]
        fn strings_come_back(text in any::<String>()) {
            let mut object = b"{\"first\":[{}],\"text\":".to_vec();
            json::write_string(&text, &mut object);
            object.push(b'}');
            prop_assert_eq!(string_member(&object, "text").unwrap(), text);
        }
    }
}
