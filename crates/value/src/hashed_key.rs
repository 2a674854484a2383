//! Effective partition keys: the hash of a partition key, whose bytes order all items of a container.
//!
//! Clients compute the same bytes to route requests, so every bit matters. Three rules exist: version 1
//! (a 32-bit hash followed by the components, cut short), version 2 (128 bits, the top two clear), and the
//! hierarchical rule, which hashes each component by itself.
//!
//! Not here: partition ranges and their splits (`container`).

use std::cmp::Ordering;
use std::fmt;

use crate::limits::HASH_V1_STRING_UNITS_MAX;
use crate::murmur3::{murmur3_32, murmur3_128};
use crate::partition_key::{Component, PartitionKey};

/// The rule by which a container hashes its partition key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HashVersion {
    /// `Hash`, version 1.
    V1,
    /// `Hash`, version 2.
    V2,
    /// `MultiHash`, for hierarchical keys.
    MultiHash,
}

/// Three levels of a hierarchical key, which is most that is common, need no allocation.
const INLINE_BYTES: usize = 48;

/// A position on a container's ring of hashes; ordered by its bytes.
#[derive(Clone)]
pub struct HashedKey(Repr);

#[derive(Clone)]
enum Repr {
    Inline { length: u8, bytes: [u8; INLINE_BYTES] },
    Heap(Box<[u8]>),
}

impl HashedKey {
    /// The start of the ring: no bytes.
    pub const MIN: HashedKey = HashedKey(Repr::Inline { length: 0, bytes: [0; INLINE_BYTES] });

    /// The end of the ring, above every key: the byte `FF`.
    pub const MAX: HashedKey = {
        let mut bytes = [0; INLINE_BYTES];
        bytes[0] = 0xFF;
        HashedKey(Repr::Inline { length: 1, bytes })
    };

    /// Makes a key of its bytes.
    pub fn from_bytes(bytes: &[u8]) -> HashedKey {
        if bytes.len() > INLINE_BYTES {
            return HashedKey(Repr::Heap(bytes.into()));
        }
        let mut inline = [0; INLINE_BYTES];
        inline[..bytes.len()].copy_from_slice(bytes);
        HashedKey(Repr::Inline { length: bytes.len() as u8, bytes: inline })
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { length, bytes } => &bytes[..usize::from(*length)],
            Repr::Heap(bytes) => bytes,
        }
    }

    /// Returns the upper-case hexadecimal form that clients see.
    pub fn to_hex(&self) -> String {
        self.to_string()
    }

    /// Reads the hexadecimal form, in either case; `None` for an odd length or another character.
    pub fn from_hex(text: &str) -> Option<HashedKey> {
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
            return None;
        };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let byte = |pair: &[u8; 2]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
        pairs.iter().map(byte).collect::<Option<Vec<u8>>>().map(|bytes| HashedKey::from_bytes(&bytes))
    }

    /// Compares two bounds of ranges, for which zero bytes at the end mean nothing.
    pub fn cmp_bounds(&self, other: &HashedKey) -> Ordering {
        trim_zeros(self.as_bytes()).cmp(trim_zeros(other.as_bytes()))
    }
}

fn trim_zeros(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

impl PartialEq for HashedKey {
    fn eq(&self, other: &HashedKey) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for HashedKey {}

impl PartialOrd for HashedKey {
    fn partial_cmp(&self, other: &HashedKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HashedKey {
    fn cmp(&self, other: &HashedKey) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl std::hash::Hash for HashedKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Display for HashedKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(formatter, "{byte:02X}"))
    }
}

impl fmt::Debug for HashedKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HashedKey({self})")
    }
}

/// Returns the effective partition key; that of a key without components is [`HashedKey::MIN`].
pub fn hashed_key(key: &PartitionKey, version: HashVersion) -> HashedKey {
    if key.0.is_empty() {
        return HashedKey::MIN;
    }
    match version {
        HashVersion::V1 => hash_v1(&key.0),
        HashVersion::V2 => HashedKey::from_bytes(&hash_v2(&key.0)),
        HashVersion::MultiHash => {
            let levels: Vec<u8> = key.0.chunks(1).flat_map(hash_v2).collect();
            HashedKey::from_bytes(&levels)
        }
    }
}

/// Returns the range, its end excluded, of all hierarchical keys that begin with these components.
pub fn prefix_range(prefix: &PartitionKey) -> (HashedKey, HashedKey) {
    let start = hashed_key(prefix, HashVersion::MultiHash);
    let end = HashedKey::from_bytes(&[start.as_bytes(), &[0xFF]].concat());
    (start, end)
}

/// Returns the cuts between `count` ranges of equal size: one less than there are ranges.
///
/// What is cut is the space that hashes can reach, which is a quarter of all 128-bit numbers.
pub fn initial_bounds(count: u32, version: HashVersion) -> Vec<HashedKey> {
    let cut = |index: u32| match version {
        HashVersion::V1 => {
            let mut bytes = Vec::new();
            encode_number_v1(((u64::from(index) << 32) / u64::from(count) - 1) as f64, &mut bytes);
            HashedKey::from_bytes(&bytes)
        }
        HashVersion::V2 | HashVersion::MultiHash => {
            const LAST: u128 = (1 << 126) - 1;
            // One width for all, as the service cuts; the last range has what is left over.
            HashedKey::from_bytes(&(u128::from(index) * (LAST / u128::from(count))).to_be_bytes())
        }
    };
    (1..count).map(cut).collect()
}

/// Returns where the keys with a 32-bit hash begin, by the rule of version 1.
pub fn hash_start_v1(hash: u32) -> HashedKey {
    let mut bytes = Vec::new();
    encode_number_v1(f64::from(hash), &mut bytes);
    HashedKey::from_bytes(&bytes)
}

fn hash_v2(components: &[Component]) -> [u8; 16] {
    let mut bytes = Vec::with_capacity(64);
    for component in components {
        write_hashed(component, 0xFF, &mut bytes);
    }
    let (low, high) = murmur3_128(&bytes);
    // The sixteen bytes, low word first and little-endian, reversed.
    let mut hash = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
    hash[0] &= 0x3F;
    hash
}

fn hash_v1(components: &[Component]) -> HashedKey {
    let components: Vec<Component> = components.iter().map(truncate_v1).collect();
    let mut hashed = Vec::new();
    for component in &components {
        write_hashed(component, 0x00, &mut hashed);
    }
    let mut bytes = Vec::new();
    encode_number_v1(f64::from(murmur3_32(&hashed)), &mut bytes);
    for component in &components {
        encode_v1(component, &mut bytes);
    }
    HashedKey::from_bytes(&bytes)
}

/// Appends what is hashed of a component.
fn write_hashed(component: &Component, string_end: u8, out: &mut Vec<u8>) {
    match component {
        Component::Undefined => out.push(0x00),
        Component::Null => out.push(0x01),
        Component::Bool(false) => out.push(0x02),
        Component::Bool(true) => out.push(0x03),
        Component::Number(number) => {
            out.push(0x05);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Component::String(text) => {
            out.push(0x08);
            out.extend_from_slice(text.as_bytes());
            out.push(string_end);
        }
    }
}

/// Cuts a string to the code units that version 1 looks at; half a character becomes U+FFFD.
fn truncate_v1(component: &Component) -> Component {
    let Component::String(text) = component else {
        return component.clone();
    };
    // A UTF-8 byte makes at most one code unit.
    if text.len() <= HASH_V1_STRING_UNITS_MAX {
        return component.clone();
    }
    let units: Vec<u16> = text.encode_utf16().take(HASH_V1_STRING_UNITS_MAX).collect();
    Component::String(String::from_utf16_lossy(&units))
}

/// Appends a component in version 1's own order-preserving form.
fn encode_v1(component: &Component, out: &mut Vec<u8>) {
    match component {
        Component::Undefined => out.push(0x00),
        Component::Null => out.push(0x01),
        Component::Bool(false) => out.push(0x02),
        Component::Bool(true) => out.push(0x03),
        Component::Number(number) => encode_number_v1(*number, out),
        Component::String(text) => {
            out.push(0x08);
            let kept = text.bytes().take(HASH_V1_STRING_UNITS_MAX + 1);
            out.extend(kept.map(|byte| byte.wrapping_add(1)));
            if text.len() <= HASH_V1_STRING_UNITS_MAX {
                out.push(0x00);
            }
        }
    }
}

fn encode_number_v1(number: f64, out: &mut Vec<u8>) {
    const SIGN: u64 = 1 << 63;
    let bits = number.to_bits();
    let mut payload = if bits & SIGN == 0 { bits ^ SIGN } else { bits.wrapping_neg() };
    out.extend_from_slice(&[0x05, (payload >> 56) as u8]);
    payload <<= 8;
    loop {
        let group = (payload >> 56) as u8 & 0xFE;
        payload <<= 7;
        out.push(group | u8::from(payload != 0));
        if payload == 0 {
            return;
        }
    }
}

#[cfg(test)]
#[path = "hashed_key_tests.rs"]
mod tests;
