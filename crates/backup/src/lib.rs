//! Backups of a whole account, over the storage contract: taken, verified, restored.
//!
//! ```text
//! walk       all spaces of a store at one moment, cut into segments       on the side of the server
//! segment    the bytes of some neighbouring entries of one space
//! frame      what is sent of a walk: segments, and at the end what they must add up to
//! folder     the folder in which backups are kept, and who may write to it
//! taking     frames become files, and at last a backup
//! manifest   one backup: which segments make up which space
//! index      which backups a folder holds: the file that makes a backup one
//! verify     every byte of a backup is read and compared
//! restore    a backup becomes spaces of a new store
//! prune      older backups go, with what only they need
//! ```
//!
//! Invariants:
//! * a backup that was cut off is never taken for a whole one: the index names it last, after everything it needs is
//!   durable;
//! * the same state gives the same segments, at any time and for any caller, so a second backup shares the files of the
//!   first for what did not change;
//! * no file of a backup is believed: each is compared with the sum that leads to it.
//!
//! Not here: how frames come from a running server (`engine`, `api-sql`, `client`), what the bytes of an entry mean.

mod digest;
mod error;
mod folder;
mod frame;
mod index;
mod limits;
mod manifest;
mod prune;
mod restore;
mod sealed;
mod segment;
mod taking;
mod verify;
mod walk;

pub use digest::Digest;
pub use error::{Error, ErrorKind, Result};
pub use folder::Folder;
pub use frame::{Frame, SpaceTotals};
pub use index::{IndexEntry, name_of_moment};
pub use limits::{FRAME_BYTES_MAX, MANIFEST_BYTES_MAX, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN};
pub use manifest::{Manifest, Origin, SegmentRef, SpaceRecord};
pub use prune::{Pruned, prune};
pub use restore::{compare, restore};
pub use segment::Segment;
pub use taking::{Taken, Taking};
pub use verify::{Problem, Verified, verify};
pub use walk::{Position, Walk};

#[cfg(test)]
mod bounds_tests;
#[cfg(test)]
mod tests;
