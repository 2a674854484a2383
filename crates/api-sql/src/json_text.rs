//! Writing small pieces of JSON text: error bodies, the account document, feed envelopes.
//!
//! Items never pass through here: their bytes are spliced as they are.

/// Appends a string in double quotes, escaped.
pub(crate) fn push_string(text: &mut Vec<u8>, string: &str) {
    text.push(b'"');
    push_escaped(text, string);
    text.push(b'"');
}

/// Appends the inside of a string, escaped.
pub(crate) fn push_escaped(text: &mut Vec<u8>, string: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bytes = string.as_bytes();
    let mut copied = 0;
    for (position, &byte) in bytes.iter().enumerate() {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0C => b'f',
            0x00..=0x1F => b'u',
            _ => continue,
        };
        text.extend_from_slice(&bytes[copied..position]);
        copied = position + 1;
        text.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            text.extend_from_slice(&[b'0', b'0', high, low]);
        }
    }
    text.extend_from_slice(&bytes[copied..]);
}

/// Appends a whole number.
pub(crate) fn push_integer(text: &mut Vec<u8>, number: impl Into<i128>) {
    use std::io::Write;
    write!(text, "{}", number.into()).expect("writing to a vector does not fail");
}

#[cfg(test)]
mod tests {
    use super::{push_integer, push_string};

    #[track_caller]
    fn check(string: &str, expected: &str) {
        let mut text = Vec::new();
        push_string(&mut text, string);
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn strings_are_escaped() {
        check("", r#""""#);
        check("plain", r#""plain""#);
        check("ü €😀/", r#""ü €😀/""#);
        check("a\"b\\c", r#""a\"b\\c""#);
        check("\n\r\t\u{8}\u{c}", r#""\n\r\t\b\f""#);
        check("\0\u{1f}\u{7f}", "\"\\u0000\\u001f\u{7f}\"");
    }

    #[test]
    fn integers() {
        let mut text = Vec::new();
        push_integer(&mut text, u64::MAX);
        push_integer(&mut text, i64::MIN);
        assert_eq!(text, b"18446744073709551615-9223372036854775808");
    }
}
