//! Cuts a page of a feed into lines, each item or change as the server wrote it.
//!
//! Nothing is parsed: a number is printed with the digits it came with. Only as much syntax is looked at as it takes
//! to find where a change ends.

use anyhow::{Context, Result};
use armilla_value::json::slice;

/// The member of a page that has its changes.
const CHANGES: &str = "Documents";

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
    let changes = slice::member(page, CHANGES).context("the page is no JSON object")?;
    let changes = changes.context("the page has no list of changes")?;
    let mut lines = Lines { text: Vec::with_capacity(changes.len()), count: 0 };
    for change in slice::elements(changes).context("the changes of the page are no JSON array")? {
        let change = change.context("the changes of the page are no JSON array")?;
        // Between tokens a line may end; inside of strings it is escaped.
        lines.text.extend(change.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
        lines.text.push(b'\n');
        lines.count += 1;
    }
    Ok(lines)
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
            ("", "no JSON object"),
            ("{}", "no list of changes"),
            ("[]", "no JSON object: expected an object at byte 0"),
            (r#"{"Documents":{}}"#, "no JSON array: expected an array at byte 0"),
            (r#"{"Documents"[]}"#, "no JSON object: expected a colon at byte 12"),
            (r#"{"Documents":[,]}"#, "no JSON array: expected a value at byte 1"),
            (r#"{"Documents":[1 2]}"#, "no JSON array: expected a comma or the end of the array at byte 3"),
            (r#"{"Documents":[{"a":"\"#, "expected a closing quote"),
            (r#"{"Documents":[{"a":"\""#, "expected a closing quote"),
            ("<html>", "no JSON object"),
        ] {
            let error = format!("{:#}", cut(page).unwrap_err());
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
