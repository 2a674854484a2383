//! The embedded store: a folder on a local disk, written by the LSM tree `fjall`.
//!
//! Layout. Five engine keyspaces, one per family, are shared by all spaces; every key begins with the
//! eight bytes of its space id. So a thousand spaces cost no more memory, files or threads than one.
//! A sixth keyspace holds the store's own records (`records`), two more those of index entries on their way (`runs`).
//!
//! Writing. Callers put prepared batches into a queue; one thread (`writer`) takes everything that has
//! queued up, checks the fences, writes one engine batch with one durability wait, publishes a new
//! `view`, and only then completes the callers. The engine applies a batch to its memory after the
//! durability wait, so what is not durable is never visible.
//!
//! Index entries, which are most of what is written, are not put into the engine one by one: they are gathered in memory and
//! reach the tree as whole sorted files (`runs`).
//!
//! Reading. Readers never look at the engine's newest state: between the beginning and the end of a
//! commit it may show half a batch, and its idea of the newest visible moment may run ahead of a batch
//! that is still being applied. They read at the moment published last, which lies between two commits.
//!
//! Starting. The engine deletes what it does not know and begins anew where a file is missing. So before it sees a folder,
//! everything in it is held against an account of our own (`examine`): the manifest, which says what must be there, and the
//! acknowledged mark, which tells an unfinished write at the end of a journal from the loss of acknowledged ones. A folder
//! that is not whole is refused, and stays as it is.
//!
//! Failing. After a failed write the store refuses more until there is room again, and then goes on (`recovery`).

mod background;
mod compare;
mod completion;
mod copy;
mod debt;
mod engine;
mod examine;
mod failure;
mod format;
mod held_journals;
mod journal;
mod keys;
mod limits;
mod manifest;
mod mark;
mod moment;
mod open;
mod options;
mod priority;
mod queue;
mod read;
mod reclaim;
mod records;
mod recovery;
mod replaced;
mod retired;
mod runs;
mod salvage;
mod shared;
mod sorted;
mod space;
mod spaces;
mod stats;
mod store;
mod survey;
mod time;
mod view;
mod watch;
mod writer;

pub use options::Options;
pub use salvage::{Loss, Salvaged};
pub use store::EmbeddedStore;
pub use survey::Finding;
