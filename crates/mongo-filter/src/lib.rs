//! Filters, projections and sort keys of the MongoDB query language.
//!
//! A filter is read once into a tree, which front ends may look at to find an index, and decides about each document.
//!
//! Invariants:
//! * nothing here panics or recurses without bound, whatever is read or matched;
//! * comparing is simple: collations are the caller's.
//!
//! Not here: finding documents; expressions (`mongo-expression`), updates (`mongo-update`).

pub mod geo;
pub mod limits;
pub mod types;

mod condition;
mod equalities;
mod failure;
mod field_path;
mod filter;
mod number;
mod parse;
mod path;
mod pattern;
mod projection;
mod schema;
mod sort;
mod text;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod testing;

pub use condition::{BitsTest, Condition, Predicate};
pub use filter::{Filter, Matched};
pub use path::{Component, Path};
pub use pattern::{Pattern, Prefix};
pub use projection::{AddFields, Metadata, Projection};
pub use schema::Schema;
pub use sort::{Sort, SortKey};
