//! Choices that a seed repeats.

/// A generator of choices (SplitMix64: every seed is good). Not for secrets.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// Returns the generator of a seed.
    pub(crate) fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// Returns the generator for one part of a run, whatever the other parts draw.
    pub(crate) fn of_part(seed: u64, part: u64) -> Random {
        let mut outer = Random::new(seed);
        let mut inner = Random::new(outer.next_u64() ^ part.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Random::new(inner.next_u64())
    }

    /// Returns the next 64 bits.
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a bound, which must not be 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // The bias of a multiplication is far below what any run could notice.
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns an index into something with that many elements, which must not be 0.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns a GUID in lower case with hyphens.
    pub(crate) fn guid(&mut self) -> String {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.next_u64().to_be_bytes());
        bytes[8..].copy_from_slice(&self.next_u64().to_be_bytes());
        bytes[6] = (bytes[6] & 0x0F) | 0x40;
        bytes[8] = (bytes[8] & 0x3F) | 0x80;
        armilla_env::format_guid(bytes)
    }

    /// Appends words of lower-case letters with spaces between them, so many characters in all.
    pub(crate) fn push_words(&mut self, length: usize, out: &mut String) {
        let end = out.len() + length;
        while out.len() < end {
            let word = WORDS[self.index(WORDS.len())];
            let left = end - out.len();
            out.push_str(&word[..word.len().min(left)]);
            if out.len() < end {
                out.push(' ');
            }
        }
    }
}

/// Words that texts are made of: they compress about as well as what people write.
const WORDS: [&str; 64] = [
    "about",
    "after",
    "amber",
    "answer",
    "basket",
    "before",
    "between",
    "bridge",
    "candle",
    "carry",
    "change",
    "cloud",
    "copper",
    "corner",
    "desk",
    "during",
    "early",
    "ember",
    "evening",
    "every",
    "fountain",
    "garden",
    "gentle",
    "harbour",
    "hollow",
    "indigo",
    "island",
    "jasmine",
    "kettle",
    "lantern",
    "letter",
    "little",
    "maple",
    "market",
    "morning",
    "narrow",
    "needle",
    "never",
    "orchard",
    "other",
    "paper",
    "pebble",
    "quiet",
    "quilt",
    "rather",
    "river",
    "saddle",
    "second",
    "silver",
    "sometimes",
    "stone",
    "street",
    "summer",
    "timber",
    "together",
    "umber",
    "under",
    "velvet",
    "water",
    "while",
    "willow",
    "winter",
    "without",
    "yarrow",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_choices_and_parts_differ() {
        let draw = |mut random: Random| (0..8).map(|_| random.below(1_000)).collect::<Vec<_>>();
        assert_eq!(draw(Random::of_part(1, 2)), draw(Random::of_part(1, 2)));
        assert_ne!(draw(Random::of_part(1, 2)), draw(Random::of_part(1, 3)));
        assert_ne!(draw(Random::of_part(1, 2)), draw(Random::of_part(2, 2)));
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(7);
        let mut seen = [false; 5];
        for _ in 0..1_000 {
            seen[random.index(5)] = true;
            assert_eq!(random.below(1), 0);
        }
        assert_eq!(seen, [true; 5]);
        for length in [0, 1, 5, 6, 11, 1_000] {
            let mut text = "before ".to_owned();
            random.push_words(length, &mut text);
            assert_eq!(text.len(), 7 + length);
            assert!(text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' '));
        }
    }

    #[test]
    fn guids_are_of_version_four() {
        let guid = Random::new(1).guid();
        assert_eq!(guid.len(), 36);
        assert_eq!(guid.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&guid.as_bytes()[19]));
    }
}
