//! Random choices that a seed repeats.

use std::sync::Arc;

use armilla_env::{Entropy, Env};

/// A sequence of choices.
pub(crate) struct Random {
    entropy: Arc<dyn Entropy>,
}

impl Random {
    /// Returns the sequence of a seed.
    pub(crate) fn new(seed: u64) -> Random {
        Random { entropy: Env::simulated(seed).0.entropy }
    }

    /// Returns a number below a bound, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.entropy.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % bound as u64) as usize
    }

    /// Returns one of some texts.
    pub(crate) fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}
