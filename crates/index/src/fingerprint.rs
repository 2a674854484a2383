//! 64-bit fingerprints of paths and values: fast, and the same for ever.
//!
//! A multiply-and-fold hash over eight bytes at a time. It is not meant to resist anyone who looks for
//! collisions, and what a collision does depends on what collides:
//!
//! * two leaves of one item: their owner is charged one term less, and nothing else;
//! * two paths (or composite indexes) of one container: they share an index id, so their entries lie in one index.
//!   Nothing is lost or left behind, because entries are written and removed as a whole, and their count stays
//!   exact. But a read of one path then also meets items that have the value at the other path; a reader that trusts
//!   the index without looking at the item would answer for both. With a million paths in one container the odds of any
//!   such pair are 1 to 37 million. Forging one harms the queries on that container alone.

use armilla_value::{Kind, Node};

/// Stands for the path of the item itself.
pub(crate) const ROOT: u64 = 0x9E37_79B9_7F4A_7C15;
/// Stands for the step into an array's elements; no name hashes to it but by chance.
pub(crate) const ELEMENTS: u64 = 0xC2B2_AE3D_27D4_EB4F;
/// Stands for a value that is not there.
pub(crate) const UNDEFINED: u64 = 0x1656_67B1_9E37_79F9;

/// Where the id of a composite index begins.
pub(crate) const COMPOSITE: u64 = 0x27D4_EB2F_1656_67C5;
/// Where the id of a tuple path begins.
pub(crate) const TUPLE: u64 = 0x85EB_CA77_C2B2_AE63;

const MULTIPLIER: u64 = 0xA076_1D64_78BD_642F;
const INCREMENT: u64 = 0xE703_7ED1_A0B4_28DB;

/// Combines a fingerprint with what follows it.
#[inline]
pub(crate) fn step(before: u64, next: u64) -> u64 {
    fold(before ^ INCREMENT, next ^ MULTIPLIER)
}

/// Fingerprints bytes.
#[inline]
pub(crate) fn bytes(bytes: &[u8]) -> u64 {
    let mut state = (bytes.len() as u64).wrapping_mul(MULTIPLIER) ^ INCREMENT;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state = fold(state ^ u64::from_le_bytes(*word), MULTIPLIER);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        state = fold(state ^ u64::from_le_bytes(last), MULTIPLIER);
    }
    state
}

#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Fingerprints a scalar: by value within numbers, strings and truth values, else by type and text.
#[inline]
pub(crate) fn scalar(node: Node<'_>) -> u64 {
    match node.kind() {
        Kind::String => match node.as_str() {
            Some(text) => step(CLASS_STRING, bytes(text.as_bytes())),
            None => UNDEFINED,
        },
        Kind::Int32 | Kind::Int64 => integer(node.as_i64().unwrap_or_default()),
        Kind::Double => double(node.as_f64().unwrap_or_default()),
        // The text of these is canonical, so that equal values have equal texts.
        kind => step(CLASS_OTHER ^ kind as u64, bytes(node.raw().as_bytes())),
    }
}

#[inline]
fn integer(number: i64) -> u64 {
    step(CLASS_INTEGER, number as u64)
}

/// A double that is a whole number is the same value as that integer.
#[inline]
fn double(number: f64) -> u64 {
    // Converting saturates, so that the way back tells whether the number fitted; the largest integer is
    // the one that rounds up to a double beyond it.
    let whole = number as i64;
    if whole as f64 == number && whole != i64::MAX {
        integer(whole)
    } else {
        step(CLASS_DOUBLE, number.to_bits())
    }
}

const CLASS_STRING: u64 = 0x2D35_8DCC_AA6C_78A5;
const CLASS_INTEGER: u64 = 0x8BB8_4B93_962E_ACC9;
const CLASS_DOUBLE: u64 = 0x4B33_A62E_D433_D4A3;
const CLASS_OTHER: u64 = 0x4D5A_2DA5_1DE1_AA00;
