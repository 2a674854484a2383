//! Names of indexes: 64 bits that stand for a path, for a composite index, or for a tuple path.
//!
//! Every entry begins with its index's id, so the entries of one index lie side by side. What happens when two
//! indexes of one container share an id is told in `fingerprint`.

use crate::fingerprint;
use crate::paths::{PathSegment, TuplePath};
use crate::policy::{CompositePath, SortOrder};

/// The name of an index: the same definition has the same one everywhere and for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexId(pub u64);

impl IndexId {
    /// Bytes that an id takes at the start of an entry.
    pub const BYTES: usize = 8;

    /// Returns the index of a path.
    pub fn of_path(segments: &[PathSegment]) -> IndexId {
        IndexId(path(fingerprint::ROOT, segments))
    }

    /// Returns the index of a member of the item itself, such as `id`.
    pub fn of_property(name: &str) -> IndexId {
        IndexId(property(fingerprint::ROOT, name))
    }

    /// Returns the id of a composite index.
    pub fn of_composite(paths: &[CompositePath]) -> IndexId {
        IndexId(paths.iter().fold(fingerprint::COMPOSITE, |state, path| {
            let descending = path.order == SortOrder::Descending;
            part(state, path.path.segments(), descending)
        }))
    }

    /// Returns the id of a tuple path.
    pub fn of_tuple(tuple: &TuplePath) -> IndexId {
        let start = part(fingerprint::TUPLE, tuple.prefix(), false);
        IndexId(tuple.properties().iter().fold(start, |state, property| part(state, property, false)))
    }
}

fn part(state: u64, segments: &[PathSegment], descending: bool) -> u64 {
    let state = fingerprint::step(state, path(fingerprint::ROOT, segments));
    fingerprint::step(state, u64::from(descending))
}

fn path(start: u64, segments: &[PathSegment]) -> u64 {
    segments.iter().fold(start, |state, segment| match segment {
        PathSegment::Property(name) => property(state, name),
        PathSegment::Elements => fingerprint::step(state, fingerprint::ELEMENTS),
    })
}

#[inline]
fn property(state: u64, name: &str) -> u64 {
    fingerprint::step(state, fingerprint::bytes(name.as_bytes()))
}
