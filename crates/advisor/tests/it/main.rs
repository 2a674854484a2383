//! Accounts with faults put in on purpose, and without: what the advisor makes of them.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod account;
mod blog;
mod capacity;
mod copies;
mod faults;
mod good;
mod samples;
mod whole;
