//! The outside world: time and randomness, real and simulated.
//!
//! Invariant: no other crate asks the operating system for the time or for random bytes (clippy's
//! `disallowed-methods` sees to it), so a run with [`Env::simulated`] and a fixed seed replays exactly.

mod clock;
mod entropy;
mod guid;
mod random;

use std::sync::Arc;

pub use clock::{Clock, SimulatedClock, SleepFuture, SystemClock};
pub use entropy::{Entropy, SeededEntropy, SystemEntropy};
pub use guid::format_guid;
pub use random::Random;

/// What a component needs of the outside world.
#[derive(Clone)]
pub struct Env {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub entropy: Arc<dyn Entropy>,
}

impl Env {
    /// The real clock and the operating system's randomness.
    pub fn system() -> Env {
        Env { clock: Arc::new(SystemClock::new()), entropy: Arc::new(SystemEntropy::new()) }
    }

    /// A clock that only moves when it is told to, and a seeded generator.
    pub fn simulated(seed: u64) -> (Env, Arc<SimulatedClock>) {
        let clock = Arc::new(SimulatedClock::new(1_700_000_000_000));
        (Env { clock: clock.clone(), entropy: Arc::new(SeededEntropy::new(seed)) }, clock)
    }

    /// Returns a random version 4 GUID in lower case with hyphens.
    pub fn guid(&self) -> String {
        let mut bytes = [0u8; 16];
        self.entropy.fill(&mut bytes);
        guid::mark(&mut bytes);
        format_guid(bytes)
    }
}

#[cfg(test)]
mod tests;
