//! JSON in the middle of a line: where a value ends, so that it can be cut out and read.

use armilla_value::json::slice;

/// Returns the length in bytes of the JSON value or bare word at the start of a text. A word ends at the next space.
pub(crate) fn value_length(text: &str) -> Option<usize> {
    match text.as_bytes().first()? {
        b'{' | b'[' | b'"' => slice::value_length(text.as_bytes()).ok(),
        b'}' | b']' | b' ' => None,
        _ => Some(text.find(' ').unwrap_or(text.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::value_length;

    #[test]
    fn values_end_where_their_brackets_do() {
        for (text, value) in [
            (r#"{"a":1} rest"#, Some(r#"{"a":1}"#)),
            (r#"{"a":"}\"{"}x"#, Some(r#"{"a":"}\"{"}"#)),
            (r#"[[1, 2], [3]] [4]"#, Some("[[1, 2], [3]]")),
            ("/a/b next", Some("/a/b")),
            ("4", Some("4")),
            (r#""a b" c"#, Some(r#""a b""#)),
            ("[1, 2", None),
            (r#"["a]"#, None),
            ("]", None),
            ("", None),
            (" x", None),
        ] {
            assert_eq!(value_length(text).map(|length| &text[..length]), value, "{text}");
        }
    }
}
