//! What both sides of the MongoDB wire protocol agree on: messages, documents, authentication.
//!
//! Invariants:
//! * bytes from the network never panic and never allocate more than a bound in [`limits`] before they are
//!   looked at;
//! * nothing here opens a socket, reads a clock or draws a random number: nonces and salts are arguments.
//!
//! Not here: sockets, commands, what a document means.

pub mod bson;
pub mod compress;
pub mod document;
mod error;
pub mod item_id;
pub mod limits;
pub mod message;
pub mod scram;

#[cfg(test)]
mod testing;

pub use error::{WireError, WireErrorKind};
