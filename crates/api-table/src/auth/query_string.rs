//! The pairs of a query string, as far as credentials need them.

/// Returns the pairs of a query string, as they were sent.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Decodes `%XX`; `None` if that is not UTF-8 or a `%` stands alone.
pub(super) fn percent_decode(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            decoded.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else { return None };
        decoded.push(hex(*high)? << 4 | hex(*low)?);
        rest = after;
    }
    String::from_utf8(decoded).ok()
}

/// Decodes a value of a query string: `%XX`, and `+` for a space.
pub(super) fn decode_value(text: &str) -> Option<String> {
    if text.contains('+') { percent_decode(&text.replace('+', " ")) } else { percent_decode(text) }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
