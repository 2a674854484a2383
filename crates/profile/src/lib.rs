//! The profile of a container: what a bounded sample of its items shows.
//!
//! A [`Sampler`] takes the texts of items, one by one, and gives a [`Profile`]: which sorts of items there are, which
//! paths they have and what is at them, and what the partition key looks like. The [`Sketches`] beside it are what is
//! kept to compare containers with each other: [`references()`] says which paths hold ids of which items, [`copies()`] which
//! items repeat values of others.
//!
//! Invariants:
//! * nothing here does I/O, reads a clock or draws a random number: equal samples give equal profiles, in whatever order
//!   their items came, as long as their texts fit into [`limits::KEPT_BYTES_MAX`];
//! * memory is bounded whatever the items are; what had no room is counted or estimated, and said so where it matters;
//! * any bytes are an item or an error, never a panic.
//!
//! Not here: which items are sampled, what was asked of them, and what follows from a profile for a data model.

pub mod limits;

mod bottom;
mod copies;
pub mod describe;
mod discriminator;
mod entity;
mod hash;
mod json;
mod key;
mod most;
mod names;
mod path;
mod profile;
mod profiler;
mod quantiles;
mod references;
mod sampler;
mod sketches;

#[cfg(test)]
mod testing;

pub use copies::{Copy, copies};
pub use json::to_value;
pub use profile::{Entity, KeyProfile, Lengths, PathProfile, Profile};
pub use references::{Reference, references};
pub use sampler::Sampler;
pub use sketches::Sketches;
