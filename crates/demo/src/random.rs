//! Numbers from a seed: the same everywhere and in every order of asking.
//!
//! What belongs to one thing (a user, a post) comes from a generator of its own, made of the seed and the thing's
//! number. So parts of the data can be made by different tasks, or again later, without making all the rest.

/// A generator (SplitMix64: every seed is good).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

/// A version 4 GUID as lower-case text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Guid([u8; GUID_BYTES]);

/// How long a GUID is as text.
pub(crate) const GUID_BYTES: usize = 36;

impl Random {
    /// Returns the generator of one thing.
    pub(crate) fn of(seed: u64, parts: &[u64]) -> Random {
        let mut state = mix(seed ^ 0x9E37_79B9_7F4A_7C15);
        for part in parts {
            state = mix(state.rotate_left(23) ^ part.wrapping_mul(0xD605_BBB5_8C8A_BBC5));
        }
        Random(state)
    }

    /// Returns the next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Returns a number below a bound, which is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product: as even as 64 bits allow, without a division.
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number from one bound to another, both included.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// Returns a GUID.
    pub(crate) fn guid(&mut self) -> Guid {
        let (high, low) = (self.next().to_be_bytes(), self.next().to_be_bytes());
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&high);
        bytes[8..].copy_from_slice(&low);
        bytes[6] = bytes[6] & 0x0F | 0x40;
        bytes[8] = bytes[8] & 0x3F | 0x80;
        Guid::of(bytes)
    }
}

fn mix(mut state: u64) -> u64 {
    state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ state >> 31
}

impl Guid {
    fn of(bytes: [u8; 16]) -> Guid {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut text = [b'-'; GUID_BYTES];
        let mut at = 0;
        for (position, byte) in bytes.iter().enumerate() {
            if matches!(position, 4 | 6 | 8 | 10) {
                at += 1;
            }
            text[at] = HEX[usize::from(byte >> 4)];
            text[at + 1] = HEX[usize::from(byte & 15)];
            at += 2;
        }
        Guid(text)
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a GUID is made of hexadecimal digits and hyphens")
    }

    /// Returns the text's bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_thing_gives_the_same_numbers() {
        let ask = |seed, parts: &[u64]| Random::of(seed, parts).next();
        assert_eq!(ask(1, &[2, 3]), ask(1, &[2, 3]));
        let all = [ask(1, &[2, 3]), ask(1, &[3, 2]), ask(2, &[2, 3]), ask(1, &[2]), ask(1, &[2, 3, 0])];
        for (index, number) in all.iter().enumerate() {
            assert!(!all[..index].contains(number), "{all:?}");
        }
    }

    #[test]
    fn numbers_are_spread_evenly_between_their_bounds() {
        let mut random = Random::of(7, &[]);
        let mut counts = [0u32; 26];
        for _ in 0..26_000 {
            counts[random.between(0, 25) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn guids() {
        let guid = Random::of(7, &[]).guid();
        assert_eq!(guid, Random::of(7, &[]).guid());
        let text = guid.as_str();
        assert_eq!((text.len(), &text[14..15]), (36, "4"));
        assert_eq!(text.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>(), [8, 13, 18, 23]);
        assert_eq!(Guid::of([0xAB; 16]).as_str(), "abababab-abab-abab-abab-abababababab");
    }
}
