//! Choices that a seed repeats: for made-up data, workloads, faults and tests.
//!
//! Not here: random bytes for secrets and ids (`entropy`).

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

    /// Returns the generator of one thing that several numbers name, such as a user and one of their posts.
    ///
    /// So parts of made-up data can be made by different tasks, or again later, without making all the rest.
    pub fn of_thing(seed: u64, numbers: &[u64]) -> Random {
        let mut state = mix(seed ^ GOLDEN);
        for number in numbers {
            state = mix(state.rotate_left(23) ^ number.wrapping_mul(0xD605_BBB5_8C8A_BBC5));
        }
        Random { state }
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// Returns a number below a bound, which must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product: its bias is far below what any run could notice.
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns an index into something with that many elements, which must not be 0.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns a number from one bound to another, both included.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// Returns true once in so many times on average.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns true so many times of a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of several, of which there must be one.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.index(all.len())]
    }

    /// Returns the bytes of a version 4 GUID.
    pub fn guid_bytes(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.next_u64().to_be_bytes());
        bytes[8..].copy_from_slice(&self.next_u64().to_be_bytes());
        crate::guid::mark(&mut bytes);
        bytes
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

/// What the state grows by: 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors of SplitMix64 publish for this seed.
    #[test]
    fn published_numbers() {
        let mut random = Random::new(1_234_567);
        let drawn = [(); 3].map(|()| random.next_u64());
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_seed_repeats_its_choices_and_parts_differ() {
        let draw = |mut random: Random| (0..8).map(|_| random.below(1_000)).collect::<Vec<_>>();
        let all = [
            draw(Random::of_part(1, 2)),
            draw(Random::of_part(1, 3)),
            draw(Random::of_part(2, 2)),
            draw(Random::of_thing(1, &[2, 3])),
            draw(Random::of_thing(1, &[3, 2])),
            draw(Random::of_thing(2, &[2, 3])),
            draw(Random::of_thing(1, &[2])),
            draw(Random::of_thing(1, &[2, 3, 0])),
        ];
        for (index, numbers) in all.iter().enumerate() {
            assert!(!all[..index].contains(numbers), "{all:?}");
        }
        assert_eq!(draw(Random::of_part(1, 2)), all[0]);
        assert_eq!(draw(Random::of_thing(1, &[2, 3])), all[3]);
    }

    #[test]
    fn numbers_are_spread_evenly_between_their_bounds() {
        let mut random = Random::of_thing(7, &[]);
        let mut counts = [0u32; 26];
        for _ in 0..26_000 {
            counts[random.between(0, 25) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(7);
        let mut seen = [false; 5];
        for _ in 0..1_000 {
            seen[random.index(5)] = true;
            assert_eq!(random.below(1), 0);
            assert!(random.one_in(1));
            assert!(!random.percent(0));
            assert!(random.percent(100));
            assert!([3, 4].contains(random.pick(&[3, 4])));
        }
        assert_eq!(seen, [true; 5]);
        for length in [0, 1, 9, 10, 11, 1_000] {
            let mut text = String::new();
            random.push_text(length, &mut text);
            assert_eq!(text.len(), length);
        }
    }

    #[test]
    fn guids_are_of_version_four() {
        let guid = crate::guid::format_guid(Random::new(1).guid_bytes());
        assert_eq!((guid.len(), guid.as_bytes()[14]), (36, b'4'));
        assert!(b"89ab".contains(&guid.as_bytes()[19]));
    }
}
