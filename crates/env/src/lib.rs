//! The outside world: time and randomness, real and simulated.
//!
//! Invariant: no other crate asks the operating system for the time or for random bytes (clippy's
//! `disallowed-methods` sees to it), so a run with [`Env::simulated`] and a fixed seed replays exactly.

mod clock;
mod entropy;
mod random;

use std::sync::Arc;

pub use clock::{Clock, SimulatedClock, SleepFuture, SystemClock};
pub use entropy::{Entropy, SeededEntropy, SystemEntropy};
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
        mark_guid(&mut bytes);
        format_guid(bytes)
    }
}

/// Marks random bytes as a GUID of version 4.
fn mark_guid(bytes: &mut [u8; 16]) {
    bytes[6] = (bytes[6] & 0x0F) | 0x40;
    bytes[8] = (bytes[8] & 0x3F) | 0x80;
}

/// Writes 16 bytes as a GUID in lower case with hyphens.
pub fn format_guid(bytes: [u8; 16]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(36);
    for (position, byte) in bytes.iter().enumerate() {
        if matches!(position, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push(char::from(HEX[usize::from(byte >> 4)]));
        text.push(char::from(HEX[usize::from(byte & 15)]));
    }
    text
}

#[cfg(test)]
mod tests;
