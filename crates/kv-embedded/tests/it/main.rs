//! The embedded store: the behaviour suite, opening, heavy load, and kills.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests that measure the machine and may panic"
)]

mod crash;
mod load;
mod opening;
mod suite;
#[cfg(target_os = "linux")]
mod trouble;
mod wholeness;
