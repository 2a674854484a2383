//! Hashes that are the same in every process, so that equal requests make equal ledgers.
//!
//! What is found by its hash is compared as well, except for watched values: there two that share a hash count as the
//! same one in some 2^64.

use armilla_value::{Component, PartitionKey};

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes eight bytes into a hash.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let wide = u128::from(hash ^ word) * u128::from(FACTOR);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// Returns the hash of some bytes; another `seed` gives another one.
pub(crate) fn bytes(seed: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let start = FACTOR.wrapping_mul(seed.wrapping_add(1)) ^ (bytes.len() as u64);
    let hash = words.iter().fold(start, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(hash, u64::from_le_bytes(last)), FACTOR)
}

/// Returns the hash of a partition key.
pub(crate) fn key(key: &PartitionKey) -> u64 {
    key.0.iter().fold(FACTOR, |hash, component| {
        mix(
            hash,
            match component {
                Component::Undefined => 1,
                Component::Null => 2,
                Component::Bool(truth) => 3 + u64::from(*truth),
                Component::Number(number) => mix(5, number.to_bits()),
                Component::String(text) => bytes(6, text.as_bytes()),
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_has_other_hashes() {
        let texts = ["", "\0", "\0\0", "a", "b", "abcdefgh", "abcdefgh\0", "abcdefghi", "ihgfedcba"];
        for (at, text) in texts.iter().enumerate() {
            for other in &texts[at + 1..] {
                assert_ne!(bytes(0, text.as_bytes()), bytes(0, other.as_bytes()), "{text:?} {other:?}");
            }
            assert_ne!(bytes(0, text.as_bytes()), bytes(1, text.as_bytes()), "{text:?}");
        }
        let text = |text: &str| Component::String(text.to_owned());
        let keys = [
            vec![],
            vec![Component::Undefined],
            vec![Component::Null],
            vec![Component::Number(0.0)],
            vec![Component::Number(-0.0)],
            vec![text("a")],
            vec![text("a"), text("b")],
            vec![text("b"), text("a")],
        ];
        for (at, one) in keys.iter().enumerate() {
            for other in &keys[at + 1..] {
                assert_ne!(key(&PartitionKey(one.clone())), key(&PartitionKey(other.clone())));
            }
        }
    }
}
