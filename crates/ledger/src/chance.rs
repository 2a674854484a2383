//! Numbers that look like chance and are the same every time.

/// A generator that begins with a constant (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new() -> Chance {
        Chance(0x0A12_311A_0000_0001)
    }

    /// Returns a number below `bound`; zero if that is zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        // The high part of the product is spread as evenly as the number is.
        ((u128::from(mixed) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_over_what_is_below_the_bound() {
        let mut chance = Chance::new();
        assert_eq!(chance.below(0), 0);
        assert_eq!(chance.below(1), 0);
        let mut counts = [0_u32; 10];
        for _ in 0..10_000 {
            counts[chance.below(10) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
        let again = || {
            let mut chance = Chance::new();
            [chance.below(1_000), chance.below(1_000), chance.below(1_000)]
        };
        assert_eq!(again(), again());
    }
}
