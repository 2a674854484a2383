//! Where a partition keeps what tells which items have expired, and how far that was looked through.
//!
//! Not here: looking (`purge`), whether one item has expired (`expiry`).

use std::ops::Bound;

use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, KeyRange, TermRange};
use armilla_kv::{Family, Scan};
use armilla_value::Value;
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use crate::index::layout::Usable;
use crate::item::expiry::Expiry;
use crate::item::keys;

const TS: &str = "_ts";

/// How far the index of `_ts` was looked through.
#[derive(Default)]
pub(crate) struct DueCursor {
    state: Mutex<CursorState>,
    /// Taken by the one task that looks.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct CursorState {
    /// All items whose entries lie before this one have a time to live of their own; those that were committed since the
    /// last look aside.
    from: Option<Bytes>,
    /// The earliest time stamp that was committed since the last look began.
    landed_ts: Option<u32>,
}

impl DueCursor {
    /// Takes note of the earliest time stamp of what is durable now. It may lie behind the cursor, because a transaction
    /// fixes its time stamps before it is committed, and because clocks are set.
    pub(crate) fn note_landed(&self, ts: Option<u32>) {
        let Some(ts) = ts else { return };
        let mut state = self.lock();
        state.landed_ts = Some(state.landed_ts.map_or(ts, |earliest| earliest.min(ts)));
    }

    /// Returns where to look from. What was noted up to now is durable: a snapshot taken from here on has it.
    pub(crate) fn begin(&self) -> Option<Bytes> {
        let mut state = self.lock();
        let landed = state.landed_ts.take().map(first_entry);
        if let (Some(from), Some(landed)) = (&state.from, landed)
            && landed < *from
        {
            state.from = Some(landed);
        }
        state.from.clone()
    }

    pub(crate) fn end(&self, from: Option<Bytes>) {
        self.lock().from = from;
    }

    fn lock(&self) -> MutexGuard<'_, CursorState> {
        self.state.lock()
    }
}

/// Returns where the entries of a time stamp begin.
fn first_entry(ts: u32) -> Bytes {
    let ts = Value::Int64(i64::from(ts));
    let span = TermRange::Between { lower: Bound::Included(&ts), upper: Bound::Unbounded };
    match span.span(IndexId::of_property(TS)).range.lower {
        Bound::Included(first) => first,
        Bound::Excluded(before) => behind(&before),
        Bound::Unbounded => Bytes::new(),
    }
}

/// Returns the first key behind one.
pub(crate) fn behind(key: &[u8]) -> Bytes {
    [key, &[0]].concat().into()
}

/// Returns the scan of the records of items whose own time to live is over.
pub(crate) fn due_records(expiry: &Expiry) -> Scan {
    let mut scan = Scan::prefix(Family::Meta, &[keys::EXPIRY_TAG]);
    scan.upper = Bound::Excluded(keys::expiry(expiry.now(), 0));
    scan
}

/// Returns where in the index items lie that have expired if they have no time of their own; nothing where there are none.
pub(crate) fn due_stamps(expiry: &Expiry) -> Option<KeyRange> {
    let first_live = Value::Int64(i64::from(expiry.first_live_ts()?));
    let range = TermRange::Between { lower: Bound::Unbounded, upper: Bound::Excluded(&first_live) };
    Some(range.span(IndexId::of_property(TS)).range)
}

/// Returns whether every item has its entry in the index of `_ts`.
pub(crate) fn has_all_stamps(usable: &Usable) -> bool {
    usable.is_path_usable(&[PathSegment::Property(TS.to_owned())])
}

#[cfg(test)]
mod tests;
