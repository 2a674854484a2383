//! UTF-16 code-unit order over UTF-8 text: how the service compares strings.
//!
//! The two orders differ in one place: UTF-16 writes code points from U+10000 up with surrogates
//! (D800..DFFF), which sort before U+E000..U+FFFF, while UTF-8 sorts them after. In UTF-8 these are the
//! sequences that begin with F0..F4, and with EE or EF; moving EE and EF above F4 makes the orders one.

use std::cmp::Ordering;

/// Compares two strings by their UTF-16 code units.
pub fn utf16_cmp(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    match left.iter().zip(right).position(|(a, b)| a != b) {
        Some(at) => reorder(left[at]).cmp(&reorder(right[at])),
        None => left.len().cmp(&right.len()),
    }
}

/// Moves the lead bytes of U+E000..U+FFFF above those of the supplementary planes.
pub(crate) fn reorder(byte: u8) -> u8 {
    match byte {
        0xEE => 0xF8,
        0xEF => 0xF9,
        other => other,
    }
}

/// Undoes [`reorder`].
pub(crate) fn restore(byte: u8) -> u8 {
    match byte {
        0xF8 => 0xEE,
        0xF9 => 0xEF,
        other => other,
    }
}
