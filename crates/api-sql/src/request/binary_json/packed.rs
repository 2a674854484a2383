//! Strings stored in fewer bits than their characters have.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// The digits of `HEX_LOWER` and of GUIDs.
pub(super) const LOWER_HEX: &[u8; 16] = b"0123456789abcdef";

/// The digits of `HEX_UPPER` and of GUIDs.
pub(super) const UPPER_HEX: &[u8; 16] = b"0123456789ABCDEF";

/// The characters of `DATE_TIME`.
pub(super) const DATE_TIME: &[u8; 16] = b" 0123456789:-.TZ";

/// Where the hyphens of a GUID stand, counted in bytes before them.
const HYPHENS: [usize; 4] = [4, 6, 8, 10];

/// Returns how many bytes hold a number of packed characters.
pub(super) fn packed_bytes(characters: usize, bits: usize) -> usize {
    (characters * bits).div_ceil(8)
}

/// Unpacks characters of 4 to 7 bits, lowest bits first, each counted from a base character.
/// Returns `None` if one of them is not ASCII.
pub(super) fn unpack(bytes: &[u8], characters: usize, bits: usize, base: u8) -> Option<String> {
    let mask = (1u16 << bits) - 1;
    let mut text = String::with_capacity(characters);
    for position in (0..characters).map(|index| index * bits) {
        let low = u16::from(*bytes.get(position / 8)?);
        let high = bytes.get(position / 8 + 1).map_or(0, |byte| u16::from(*byte));
        let value = ((low | (high << 8)) >> (position % 8)) & mask;
        let character = u8::try_from(value).ok()?.checked_add(base).filter(u8::is_ascii)?;
        text.push(char::from(character));
    }
    Some(text)
}

/// Unpacks characters of 4 bits from an alphabet.
pub(super) fn unpack_alphabet(bytes: &[u8], characters: usize, alphabet: &[u8; 16]) -> Option<String> {
    let nibbles = unpack(bytes, characters, 4, 0)?;
    Some(nibbles.bytes().map(|nibble| char::from(alphabet[usize::from(nibble)])).collect())
}

/// Writes a GUID that was stored as text, two digits a byte, the first one in the low bits.
pub(super) fn guid_text(bytes: &[u8; 16], digits: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (position, byte) in bytes.iter().enumerate() {
        if HYPHENS.contains(&position) {
            text.push('-');
        }
        text.push(char::from(digits[usize::from(byte & 15)]));
        text.push(char::from(digits[usize::from(byte >> 4)]));
    }
    text
}

/// Writes a GUID that was stored as a value: its first three groups are little-endian numbers.
pub(super) fn guid_value(bytes: &[u8; 16]) -> String {
    let mut ordered = *bytes;
    ordered[0..4].reverse();
    ordered[4..6].reverse();
    ordered[6..8].reverse();
    let swapped = ordered.map(|byte| byte.rotate_left(4));
    guid_text(&swapped, LOWER_HEX)
}

/// Writes bytes as base64.
pub(super) fn base64(bytes: &[u8], url_safe: bool, padded: bool) -> String {
    match (url_safe, padded) {
        (false, true) => STANDARD.encode(bytes),
        (false, false) => STANDARD_NO_PAD.encode(bytes),
        (true, true) => URL_SAFE.encode(bytes),
        (true, false) => URL_SAFE_NO_PAD.encode(bytes),
    }
}

/// Widens a 16-bit floating-point number.
pub(super) fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((bits >> 10) & 0x1F);
    let fraction = f64::from(bits & 0x3FF);
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        0x1F if fraction == 0.0 => sign * f64::INFINITY,
        0x1F => f64::NAN,
        _ => sign * (1.0 + fraction / 1_024.0) * 2f64.powi(exponent - 15),
    }
}
