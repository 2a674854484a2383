//! UUIDs as text.

/// Reads a UUID in its usual form, in either case of letters.
pub fn parse_uuid(text: &str) -> Option<u128> {
    parse_uuid_bytes(text.as_bytes())
}

pub(crate) fn parse_uuid_bytes(text: &[u8]) -> Option<u128> {
    if text.len() != 36 {
        return None;
    }
    let mut id = 0_u128;
    for (at, byte) in text.iter().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        id = id << 4 | u128::from(char::from(*byte).to_digit(16)?);
    }
    Some(id)
}

/// Returns the usual form of a UUID, in lower case.
pub fn uuid_text(id: u128) -> String {
    let mut out = Vec::with_capacity(36);
    write_uuid(&mut out, id);
    String::from_utf8_lossy(&out).into_owned()
}

pub(crate) fn write_uuid(out: &mut Vec<u8>, id: u128) {
    for digit in 0..32_u32 {
        if matches!(digit, 8 | 12 | 16 | 20) {
            out.push(b'-');
        }
        let nibble = (id >> (124 - 4 * digit)) as u8 & 15;
        out.push(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    }
}
