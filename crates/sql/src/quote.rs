//! String literals as text: quoted and escaped the way JSON does, which the query language reads too.

/// Appends `text` as a string literal in double quotes.
pub(crate) fn push_quoted(output: &mut String, text: &str) {
    output.push('"');
    for character in text.chars() {
        match character {
            '"' => output.push_str("\\\""),
            '\\' => output.push_str("\\\\"),
            '\n' => output.push_str("\\n"),
            '\r' => output.push_str("\\r"),
            '\t' => output.push_str("\\t"),
            '\u{8}' => output.push_str("\\b"),
            '\u{c}' => output.push_str("\\f"),
            control if control < ' ' => output.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => output.push(other),
        }
    }
    output.push('"');
}
