//! Escapes of texts.

/// What is wrong with an escape.
pub(crate) const WHAT_ESCAPES_ARE: &str = "escapes are \\b \\t \\n \\f \\r \\\" \\' \\\\ \\$, \
    \\u with four hexadecimal digits, and up to three octal digits";

/// Returns the text without its escapes, or where one is wrong.
pub(crate) fn unescape(inner: &str) -> Result<String, usize> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(plain) = rest.find('\\') {
        let offset = inner.len() - rest.len() + plain;
        let (before, escape) = rest.split_at(plain);
        text.push_str(before);
        let (character, length) = escape_at(escape).ok_or(offset)?;
        text.extend(character);
        rest = escape.get(length..).ok_or(offset)?;
    }
    text.push_str(rest);
    Ok(text)
}

/// Reads the escape that a text begins with: its character (none for a joined line) and its length.
fn escape_at(escape: &str) -> Option<(Option<char>, usize)> {
    let bytes = escape.as_bytes();
    let simple = |character| Some((Some(character), 2));
    match bytes.get(1)? {
        b'b' => simple('\u{8}'),
        b't' => simple('\t'),
        b'n' => simple('\n'),
        b'f' => simple('\u{C}'),
        b'r' => simple('\r'),
        quoted @ (b'"' | b'\'' | b'\\' | b'$') => simple(char::from(*quoted)),
        b'\n' => Some((None, 2)),
        b'\r' if bytes.get(2) == Some(&b'\n') => Some((None, 3)),
        b'0'..=b'7' => octal(bytes),
        b'u' => {
            let (first, length) = unit(bytes)?;
            if !(0xD800..0xDC00).contains(&first) {
                return Some((Some(char::from_u32(first)?), length));
            }
            let (second, more) = unit(bytes.get(length..)?)?;
            if !(0xDC00..0xE000).contains(&second) {
                return None;
            }
            let scalar = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            Some((Some(char::from_u32(scalar)?), length + more))
        }
        _ => None,
    }
}

fn octal(bytes: &[u8]) -> Option<(Option<char>, usize)> {
    // Three digits only up to \377: `\477` is `\47` and a 7.
    let most = if matches!(bytes.get(1), Some(b'0'..=b'3')) { 3 } else { 2 };
    let digits = bytes.iter().skip(1).take(most).take_while(|byte| matches!(byte, b'0'..=b'7'));
    let (mut scalar, mut length) = (0, 1);
    for digit in digits {
        scalar = scalar * 8 + u32::from(digit - b'0');
        length += 1;
    }
    Some((Some(char::from_u32(scalar)?), length))
}

/// Reads `\uXXXX`, where `u` may be repeated.
fn unit(bytes: &[u8]) -> Option<(u32, usize)> {
    if bytes.first() != Some(&b'\\') || bytes.get(1) != Some(&b'u') {
        return None;
    }
    let repeated = bytes.iter().skip(1).take_while(|byte| **byte == b'u').count();
    let start = 1 + repeated;
    let mut unit = 0;
    for digit in bytes.get(start..start + 4)? {
        unit = unit * 16 + char::from(*digit).to_digit(16)?;
    }
    Some((unit, start + 4))
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escapes() {
        let table: &[(&str, Option<&str>)] = &[
            ("", Some("")),
            ("plain é 😀", Some("plain é 😀")),
            (r"\b\t\n\f\r", Some("\u{8}\t\n\u{C}\r")),
            (r#"\"\'\\\$"#, Some("\"'\\$")),
            (r"\u0041\uu0042\uuu0043", Some("ABC")),
            (r"\uD83D\uDE00", Some("😀")),
            (r"\uD83D", None),
            (r"\uD83D\u0041", None),
            (r"\uDE00", None),
            (r"\u12", None),
            (r"\u12é", None),
            (r"\101\7\60\477\0", Some("A\u{7}0'7\0")),
            ("a\\\nb\\\r\nc", Some("abc")),
            (r"\x", None),
            ("\\", None),
            ("\\é", None),
            (r"end\\", Some("end\\")),
        ];
        for (escaped, plain) in table {
            assert_eq!(unescape(escaped).ok().as_deref(), *plain, "{escaped}");
        }
        assert_eq!(unescape(r"ab\q"), Err(2));
    }
}
