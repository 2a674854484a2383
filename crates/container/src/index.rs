//! Keeping the index of a partition: which entries items have, under which layout, and how one layout follows another.
//!
//! Not here: what an entry is and which a policy asks for (`armilla_index`), what a write does to entries (`apply`).

pub(crate) mod entries;
pub(crate) mod layout;
mod reindex;
pub(crate) mod state;
