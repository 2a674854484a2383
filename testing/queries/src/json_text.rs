//! JSON in the middle of a line: where a value ends, so that it can be cut out and read.

/// Returns the length in bytes of the JSON value or bare word at the start of a text.
///
/// Brackets are matched outside of strings; a scalar or a word ends at the next space.
pub(crate) fn value_length(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (position, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    in_string = false;
                    if depth == 0 {
                        return Some(position + 1);
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(position + 1);
                }
            }
            b' ' if depth == 0 => return (position > 0).then_some(position),
            _ => {}
        }
    }
    (depth == 0 && !in_string && !text.is_empty()).then_some(text.len())
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
