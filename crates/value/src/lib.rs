//! The value model shared by every API: JSON plus the scalars that BSON adds.
//!
//! Here live the in-memory value and its two orders, JSON text in and out, the stored form of an item
//! (text plus skeleton), the order-preserving key bytes, partition keys with their hashes, and resource ids.
//!
//! Invariants:
//! * nothing here does I/O, reads a clock or draws a random number that reaches a result;
//! * bytes from the network or the disk never panic: they give an error or `None`;
//! * `undefined` is the absence of a value (`Option::None`), never a variant of [`Value`]; BSON's deprecated type of
//!   that name is a value ([`Legacy::Undefined`]).
//!
//! Not here: BSON itself, index terms and policies, SQL operators, the layout of store keys.

pub mod limits;

mod value;

pub mod calendar;

mod decimal;
mod number;
mod order;
mod utf16;

pub mod json;

pub mod stored;

pub mod key;

mod hashed_key;
mod murmur3;
pub mod partition_key;
mod property_path;

pub mod rid;

#[cfg(test)]
mod testing;

pub use decimal::{Decimal, DecimalError};
pub use hashed_key::{HashVersion, HashedKey, hash_start_v1, hashed_key, initial_bounds, prefix_range};
pub use murmur3::fingerprint;
pub use order::{mongo_cmp, sql_cmp, sql_cmp_option};
pub use partition_key::{Component, PartitionKey, extract};
pub use property_path::{PropertyPath, PropertyPathError};
pub use stored::{Node, Stored};
pub use utf16::utf16_cmp;
pub use value::{Kind, Legacy, Object, Value};
