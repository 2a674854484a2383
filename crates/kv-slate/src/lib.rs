//! The store beyond one machine: each space is a SlateDB, an LSM tree whose only disk is an object store.
//!
//! What the storage contract asks for, and how it comes about here:
//!
//! * **Durable before visible.** SlateDB shows a write as soon as it is in memory. So readers never read the newest state
//!   of the tree: they read the snapshot that was *published* last, and one is published when everything in it lies in the
//!   object store (`tree.rs`).
//! * **One wait for all that queue.** A space has one task that writes. It takes everything that waits as one batch, and
//!   asks for one put of the log for it; what comes meanwhile is the next group (`queue.rs`, `tree.rs`).
//! * **Fenced.** Inside one process handles have generations, as in the other stores. Between processes it is SlateDB's
//!   writer epoch: opening a tree fences the process that had it before, whose puts then fail.
//! * **Opened soon.** What the log has is put into a sorted file every 256 puts, since who opens the tree after a kill
//!   reads the log object by object (`log.rs`).
//! * **Reads that wait** for the object store wait on threads of this crate, and the thread that asked steps out of its
//!   runtime for so long; reads that find everything in memory never leave their thread (`waiting.rs`).
//! * **Dropping** writes a mark, after which no process opens the space again, and deletes its objects in the background
//!   (`reclaim.rs`).
//!
//! Under the prefix of a store lie `format`, `spaces/<id>/` with the trees, `dropped/<id>` for ever, and `dropping/<id>`
//! as long as objects of a dropped space may be left.

mod clones;
mod failure;
mod figures;
mod keys;
mod limits;
mod log;
mod options;
mod place;
mod queue;
mod reclaim;
mod settings;
mod space;
mod spaces;
mod store;
mod tree;
mod view;
mod waiting;

pub use options::SlateOptions;
pub use place::Place;
pub use store::SlateStore;
