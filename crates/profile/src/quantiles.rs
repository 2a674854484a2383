//! Sizes and lengths, counted so that any part of them can be told.
//!
//! As many different ones as there is room for are exact. Beyond, all are rounded down to fewer leading bits, as few as
//! are needed, which depends on what was counted and not on its order.

use std::collections::BTreeMap;

/// How often each size came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantiles {
    classes: BTreeMap<u64, u64>,
    /// Leading bits by which sizes are told apart.
    bits: u32,
    count: u64,
    max: u64,
}

impl Default for Quantiles {
    fn default() -> Quantiles {
        Quantiles { classes: BTreeMap::new(), bits: u64::BITS, count: 0, max: 0 }
    }
}

impl Quantiles {
    /// Counts one.
    pub(crate) fn add(&mut self, size: u64, limit: usize) {
        *self.classes.entry(rounded(size, self.bits)).or_insert(0) += 1;
        self.count += 1;
        self.max = self.max.max(size);
        self.shrink(limit);
    }

    /// Tells fewer sizes apart.
    pub(crate) fn shrink(&mut self, limit: usize) {
        while self.classes.len() > limit && self.bits > 1 {
            self.bits -= 1;
            let mut coarser = BTreeMap::new();
            for (size, count) in std::mem::take(&mut self.classes) {
                *coarser.entry(rounded(size, self.bits)).or_insert(0) += count;
            }
            self.classes = coarser;
        }
    }

    /// Returns the size that this fraction (0 to 1) of all do not exceed; 0 if there are none.
    pub(crate) fn at(&self, fraction: f64) -> u64 {
        let rank = ((fraction * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        for (size, count) in &self.classes {
            below += count;
            if below >= rank {
                return *size;
            }
        }
        self.max
    }

    /// Returns the largest, which is never rounded.
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// Returns how many sizes are told apart.
    pub(crate) fn len(&self) -> usize {
        self.classes.len()
    }
}

/// Sets all but the leading bits to zero.
fn rounded(size: u64, bits: u32) -> u64 {
    let shift = (u64::BITS - size.leading_zeros()).saturating_sub(bits);
    (size >> shift) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact_while_there_is_room() {
        let mut sizes = Quantiles::default();
        assert_eq!((sizes.at(0.5), sizes.max()), (0, 0));
        for size in 1..=100 {
            sizes.add(size, 100);
        }
        for (fraction, expected) in [(0.0, 1), (0.01, 1), (0.5, 50), (0.99, 99), (1.0, 100)] {
            assert_eq!(sizes.at(fraction), expected, "{fraction}");
        }
        assert_eq!(sizes.len(), 100);
    }

    #[test]
    fn beyond_that_they_are_rounded_by_little_and_the_order_does_not_matter() {
        let mut forward = Quantiles::default();
        let mut backward = Quantiles::default();
        for size in 0..1_000 {
            forward.add(size * size, 128);
            backward.add((999 - size) * (999 - size), 128);
        }
        assert_eq!(forward, backward);
        assert!(forward.len() <= 128);
        assert_eq!(forward.max(), 999 * 999);
        let median = forward.at(0.5) as f64 / (499.0 * 499.0);
        assert!((0.75..=1.0).contains(&median), "{median}");
    }

    #[test]
    fn any_size_has_a_class() {
        let mut sizes = Quantiles::default();
        for power in 0..64 {
            sizes.add(1 << power, 4);
            sizes.add(u64::MAX >> power, 4);
        }
        assert_eq!(sizes.max(), u64::MAX);
        assert!(sizes.len() <= 64);
    }
}
