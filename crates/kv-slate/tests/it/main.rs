//! The store on object storage: the behaviour suite, and several stores at one place.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod faults;
mod fencing;
mod log;
mod resting;
mod suite;
