//! The pure half of indexing: what a container's policy says, and which terms an item has under it.
//!
//! [`IndexingPolicy`] is the policy as users write and read it; [`Matcher`] is the same policy compiled
//! for speed; [`leaves`] and [`visit_leaves`] walk an item with a matcher.
//!
//! Invariants:
//! * no I/O, no clock, no randomness: the same policy and item give the same terms on every machine;
//! * a policy that exists was validated: [`Matcher::new`] cannot fail.
//!
//! Not here: where index entries are kept and how they are priced (the container), the rules that tie a
//! policy to the rest of a container's definition (there too).

mod fingerprint;
pub mod limits;
pub mod matcher;
pub mod paths;
pub mod policy;
pub mod reader;
pub mod terms;

pub use matcher::Matcher;
pub use policy::{IndexingMode, IndexingPolicy};
pub use reader::PolicyError;
pub use terms::{LeafPath, Leaves, composite_entries, composite_terms, leaves, visit_leaves};
