//! The pure half of indexing: what a container's policy says, and which terms an item has under it.
//!
//! [`IndexingPolicy`] is the policy as users write and read it; [`Matcher`] is the same policy compiled
//! for speed; [`leaves`] and [`visit_leaves`] walk an item with a matcher to price it.
//!
//! What is kept of an item is its *entries*: [`visit_entries`] hands them out, each an index ([`IndexId`]) and a
//! [`term`]; [`TermRange`] turns a predicate into a range of their keys.
//!
//! Invariants:
//! * no I/O, no clock, no randomness: the same policy and item give the same terms on every machine;
//! * a policy that exists was validated: [`Matcher::new`] cannot fail.
//!
//! Not here: the batches in which entries are written, and what they cost (the container), the rules that tie a
//! policy to the rest of a container's definition (there too).

mod entries;
mod fingerprint;
mod id;
pub mod limits;
pub mod matcher;
pub mod paths;
pub mod policy;
mod range;
pub mod reader;
pub mod term;
pub mod terms;
#[cfg(test)]
mod testing;
mod tree;

pub use entries::{Computed, visit_entries, visit_part, visit_paths};
pub use id::IndexId;
pub use matcher::{CompositeIndex, Matcher, Part};
pub use policy::{CompositePath, IndexingMode, IndexingPolicy, SortOrder};
pub use range::{
    KeyRange, NUMBER_BYTES, TermRange, TermSpan, composite_span, composite_terms_of, entry_key, split_entry,
};
pub use reader::PolicyError;
pub use terms::{LeafPath, Leaves, composite_entries, composite_terms, leaves, visit_leaves};
