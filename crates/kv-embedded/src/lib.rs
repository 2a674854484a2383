//! The embedded store: a folder on a local disk, written by the LSM tree `fjall`.
//!
//! Layout. Five engine keyspaces, one per family, are shared by all spaces; every key begins with the
//! eight bytes of its space id. So a thousand spaces cost no more memory, files or threads than one.
//! A sixth keyspace holds the store's own records (`records`).
//!
//! Writing. Callers put prepared batches into a queue; one thread (`writer`) takes everything that has
//! queued up, checks the fences, writes one engine batch with one durability wait, publishes a new
//! `view`, and only then completes the callers. The engine applies a batch to its memory after the
//! durability wait, so what is not durable is never visible.
//!
//! Reading. Readers never look at the engine's newest state: between the beginning and the end of a
//! commit it may show half a batch, and its idea of the newest visible moment may run ahead of a batch
//! that is still being applied. They read at the moment published last, which lies between two commits.
//!
//! Starting. Before the engine sees them, its journals are checked (`journal`): a torn end is cut off, and
//! damage before the end, which the engine would mistake for the end, is reported as corruption.

mod completion;
mod failure;
mod format;
mod journal;
mod keys;
mod limits;
mod open;
mod options;
mod priority;
mod queue;
mod reclaim;
mod records;
mod replaced;
mod retired;
mod shared;
mod space;
mod spaces;
mod stats;
mod store;
mod time;
mod view;
mod writer;

pub use options::Options;
pub use store::EmbeddedStore;
