//! The stored form of an item: its JSON text, followed by a skeleton that says where everything is.
//!
//! A point read copies the text out; a filter finds three members through the skeleton without parsing the
//! rest. The text is what was received without white space, without escapes that JSON does not ask for, and
//! without the members the caller drops; member order and the spelling of numbers survive. The scalars that BSON adds stand in the text as
//! canonical Extended JSON and carry their type in the skeleton, which has no entry for the inside of such
//! a wrapper.
//!
//! # Bytes, version 1
//!
//! ```text
//! item      := version(1) = 1 | flags(1) | text length(W) | text | skeleton | root entry(W)
//! flags     := bit 0: wide; bit 1: some value has a type that BSON deprecated; the others are zero
//! W         := 2 bytes, or 4 where wide; all numbers little-endian
//! skeleton  := entry*                         a child before its parent, the root last
//! object    := count | hash(1)*n | tag(1)*n | name length(1)*n | name position(W)*n | link(W)*k
//! array     := count | tag(1)*n | value position(W)*n | link(W)*k
//! count     := n(1) where n < 255, else 255 | n(4)
//! tag       := bits 0-3 the value's Kind
//!              bit 4 for a string: it contains escapes; for an object or array: it is empty
//!              bit 5 the member's name contains escapes
//!              bit 6 the value has a type that BSON deprecated; then bits 0-4 are zero
//! ```
//!
//! Positions count bytes from the start of the text; a name position is that of the opening quote. A name
//! length counts the bytes between the quotes as spelled, 255 meaning `255 or more: look for the closing
//! quote`. A link is the position of a child's entry in the skeleton; the k links belong to those members
//! that are objects or arrays and not empty, in order. The root always has an entry. Lengths of values are not
//! stored: a value begins after its name, quotes and colon, and ends before the comma in front of the next
//! member, or before the closing bracket. The hash
//! is the top byte of `(first ^ rotl(last, 29) ^ rotl(length, 17)) * 0x9E3779B97F4A7C15`, 64 bits wide, over the
//! name with its escapes resolved: `first` and `last` are its first and last eight bytes; of four to seven bytes,
//! its first and last four; of fewer, its first byte and the others.
//!
//! Invariants:
//! * [`Stored::open`] and every method of [`Node`] accept any bytes without panicking and in bounded time;
//! * no object in the text has one name twice.
//!
//! Not here: system properties and everything else that a store keeps beside an item's bytes (`container`).

mod duplicates;
mod encode;
mod encode_value;
mod item;
mod node;
mod skeleton;
mod verify;

pub use encode::{EncodeError, encode};
pub use encode_value::encode_value;
pub use item::{Corrupt, Stored};
pub use node::{Elements, Members, Node};

#[cfg(test)]
mod tests;
