//! Requests to the front ends of the SQL API's port, in tests: signed as clients sign them, and every answer checked for
//! what must hold of all.
//!
//! ```text
//! client     sends requests, and lets simulated time pass
//! signing    what clients sign of a path
//! answer     what came back
//! checks     what must hold of every answer
//! ```
//!
//! A crate of its own, for tests alone: it needs JSON, which `rest-wire` does without, and knows no front end, so that
//! each of them can use it in its own tests and stand beside the other ([`Port`]).
//!
//! Invariant: nothing here asks a front end how it reads a path, so that both sides do not make the same mistake.

mod answer;
mod checks;
mod client;
mod signing;

pub use answer::Answer;
pub use client::{Client, Port};
