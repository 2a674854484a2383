//! Answers taken apart without making a tree: rows of a page, and members of a row, as their text.
//!
//! Workers and checks look at a few members of millions of items. The texts come from a server that writes JSON, so
//! only their structure is followed here; whatever does not look like it is an error, never a panic.

use std::borrow::Cow;

use anyhow::{Context as _, Result};
use armilla_value::json::slice;

/// The rows of a page of a query or of a feed.
pub(crate) struct Rows<'a>(slice::Elements<'a>);

impl<'a> Rows<'a> {
    /// Finds the rows in an answer.
    pub(crate) fn of(body: &'a [u8]) -> Result<Rows<'a>> {
        let list = member(body, "Documents")?.context("the answer has no list of documents")?;
        Rows::of_list(list)
    }

    /// Takes a list.
    pub(crate) fn of_list(list: &'a [u8]) -> Result<Rows<'a>> {
        slice::elements(list).map(Rows).context("there is no list where the rows should be")
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Result<&'a [u8]>;

    fn next(&mut self) -> Option<Result<&'a [u8]>> {
        Some(self.0.next()?.context("the list of rows cannot be read"))
    }
}

/// Returns the members of an item.
pub(crate) fn members(item: &[u8]) -> Result<slice::Members<'_>> {
    slice::members(item).context("there is no object where an item should be")
}

/// Returns the text of a member's value, if there is one of this name.
pub(crate) fn member<'a>(object: &'a [u8], name: &str) -> Result<Option<&'a [u8]>> {
    slice::member(object, name).context("an item cannot be read")
}

/// Returns what a string says; its text has the quotes.
pub(crate) fn string(value: &[u8]) -> Result<Cow<'_, str>> {
    slice::string(value).context("there is no string where one should be")
}

/// Returns what a member says that has to be a string.
pub(crate) fn string_member<'a>(object: &'a [u8], name: &str) -> Result<Cow<'a, str>> {
    let value = member(object, name)?.with_context(|| format!("an item has no {name}"))?;
    string(value)
}

#[cfg(test)]
mod tests {
    use armilla_value::json;
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
        fn strings_come_back(text in any::<String>()) {
            let mut object = b"{\"first\":[{}],\"text\":".to_vec();
            json::write_string(&text, &mut object);
            object.push(b'}');
            prop_assert_eq!(string_member(&object, "text").unwrap(), text);
        }
    }
}
