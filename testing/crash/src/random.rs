//! Choices that a seed repeats.

/// A generator of choices (SplitMix64: every seed is good). Not for secrets.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Returns the generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// Returns the generator for one part of a run, whatever the other parts draw.
    pub fn of_part(seed: u64, part: u64) -> Random {
        let mut outer = Random::new(seed);
        let mut inner = Random::new(outer.next_u64() ^ part.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Random::new(inner.next_u64())
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a bound, which must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias of a multiplication is far below what any run could notice.
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns an index into something with that many elements, which must not be 0.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns true so many times of a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Appends letters and digits.
    pub fn push_text(&mut self, length: usize, out: &mut String) {
        const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
        let mut left = length;
        while left > 0 {
            let mut bits = self.next_u64();
            for _ in 0..left.min(10) {
                out.push(char::from(LETTERS[(bits & 63) as usize]));
                bits >>= 6;
            }
            left -= left.min(10);
        }
    }
}

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
            assert!(!random.percent(0));
            assert!(random.percent(100));
        }
        assert_eq!(seen, [true; 5]);
        for length in [0, 1, 9, 10, 11, 1_000] {
            let mut text = String::new();
            random.push_text(length, &mut text);
            assert_eq!(text.len(), length);
        }
    }
}
