//! Bytes of any length inside a key, so that they end themselves and keep their order.

const ESCAPE: u8 = 0x00;
const ZERO: u8 = 0xFF;
const END: u8 = 0x01;

/// Appends bytes with `00` written `00 FF`, and the end mark `00 01`.
pub fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    escape_mapped(bytes, |byte| byte, out);
}

/// Reads escaped bytes from the start of a key; returns them and the rest. `None` where there is no end mark.
pub fn unescape(key: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut bytes = Vec::new();
    let mut rest = key;
    loop {
        let zero = rest.iter().position(|&byte| byte == ESCAPE)?;
        bytes.extend_from_slice(&rest[..zero]);
        match *rest.get(zero + 1)? {
            ZERO => bytes.push(0),
            END => return Some((bytes, &rest[zero + 2..])),
            _ => return None,
        }
        rest = &rest[zero + 2..];
    }
}

/// Escapes bytes after mapping each; the map must leave every byte below `EE` alone.
pub(super) fn escape_mapped(bytes: &[u8], map: impl Fn(u8) -> u8, out: &mut Vec<u8>) {
    out.reserve(bytes.len() + 2);
    // Without early exit the compiler looks at many bytes at once; most strings are plain.
    let plain = bytes.iter().fold(true, |plain, &byte| plain & (byte != ESCAPE) & (byte < 0xEE));
    if plain {
        out.extend_from_slice(bytes);
    } else {
        for &byte in bytes {
            out.push(map(byte));
            if byte == ESCAPE {
                out.push(ZERO);
            }
        }
    }
    out.extend_from_slice(&[ESCAPE, END]);
}
