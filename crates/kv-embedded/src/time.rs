//! The machine's clock, for measuring the machine.
//!
//! Nothing here is visible in stored data, so the injected clock of `env` is not needed: durations of disk
//! waits are what they are.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "disk waits are measured on the machine, never stored")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
