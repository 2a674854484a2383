//! The ledger: a bounded record of what was asked of an account, kept always and cheaply.
//!
//! The server's engine asks [`Ledger::wants`] of every request and writes some of them down; an advisor reads the
//! [`report::Report`]. What is written is added up by shape ([`mod@shape`]): what requests have in common that differ in
//! their values alone. Besides: the logical partitions that cost the most, how items change from write to write, and
//! links, which are values of answers that come back in later requests.
//!
//! Invariants:
//! * nothing here does I/O, reads a clock or draws a number by chance: equal requests at equal times, one after the
//!   other, give equal reports;
//! * whatever is asked, no more than [`limits::MEMORY_BYTES_MAX`] is held;
//! * a request that is not written down costs a counter.
//!
//! Not here: which findings follow from a report, and what containers hold.

mod answer;
mod chance;
mod changes;
mod differences;
mod entity;
mod examples;
mod gate;
mod hash;
mod heaviest;
mod hours;
pub mod json;
mod keys;
mod kind;
mod ledger;
pub mod limits;
pub mod lines;
mod links;
pub mod note;
pub mod report;
mod room;
pub mod shape;
mod shard;
mod sizes;
mod tally;
mod texts;
mod values;
mod weight;

pub use entity::DISCRIMINATORS;
pub use ledger::Ledger;
pub use note::{Act, Note, Outcome, Took};
pub use report::Report;
pub use weight::Weight;
