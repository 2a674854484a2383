//! GUIDs as text: `c9da6455-213d-42c9-9a79-3e9149a57833`.

/// Length of the text.
const GUID_TEXT_BYTES: usize = 36;

/// Reads a GUID; letters may be of either case.
pub(crate) fn parse_guid(text: &str) -> Option<[u8; 16]> {
    let text: &[u8; GUID_TEXT_BYTES] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; 16];
    let mut digits = 0;
    for (position, &byte) in text.iter().enumerate() {
        if matches!(position, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = char::from(byte).to_digit(16)? as u8;
        bytes[digits / 2] = bytes[digits / 2] << 4 | digit;
        digits += 1;
    }
    Some(bytes)
}

/// Says whether a text is a GUID as items hold it: in lower case.
pub(crate) fn is_stored_guid(text: &str) -> bool {
    let is_fitting = |(position, byte): (usize, &u8)| match position {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    text.len() == GUID_TEXT_BYTES && text.as_bytes().iter().enumerate().all(is_fitting)
}

/// Returns the text of a GUID, in lower case.
pub(crate) fn guid_text(bytes: &[u8; 16]) -> [u8; GUID_TEXT_BYTES] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; GUID_TEXT_BYTES];
    let mut at = 0;
    for (position, byte) in bytes.iter().enumerate() {
        if matches!(position, 4 | 6 | 8 | 10) {
            at += 1;
        }
        text[at] = HEX[usize::from(byte >> 4)];
        text[at + 1] = HEX[usize::from(byte & 15)];
        at += 2;
    }
    text
}
