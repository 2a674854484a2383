//! Reading the change log: entries in their order, each with its image if it has one.
//!
//! An image has a key of its own, right behind that of its entry. Only here is that seen.

use std::ops::Bound;

use armilla_kv::{Family, Scan, Snapshot};
use bytes::Bytes;

use super::Change;
use crate::error::{Error, Result};
use crate::item::keys;

/// An entry of the change log.
pub(crate) struct LogEntry {
    /// The commit, and which operation of it.
    pub(crate) position: (u64, u16),
    pub(crate) change: Change,
    /// The stored bytes of the version that the entry is about, once there was a newer one.
    pub(crate) image: Option<Bytes>,
    /// The stored bytes of the entry.
    pub(crate) bytes: Bytes,
}

/// A piece of the change log.
pub(crate) struct LogPage {
    pub(crate) entries: Vec<LogEntry>,
    /// Where to go on, if there may be more.
    pub(crate) next: Option<Bound<Bytes>>,
}

/// Reads a piece of the log, at most so many entries and images, and about so many bytes.
pub(crate) fn read_log(
    snapshot: &dyn Snapshot,
    lower: Bound<Bytes>,
    upper: Bound<Bytes>,
    entries_max: usize,
    bytes_max: usize,
) -> Result<LogPage> {
    let scan = Scan { lower, upper, entries_max, bytes_max, ..Scan::prefix(Family::Feed, b"") };
    let page = snapshot.scan(&scan)?;
    let mut entries: Vec<LogEntry> = Vec::with_capacity(page.entries.len());
    for (key, bytes) in page.entries {
        let (position, is_image) = keys::decode_feed(&key)?;
        if !is_image {
            entries.push(LogEntry { position, change: Change::decode(&bytes)?, image: None, bytes });
            continue;
        }
        let entry = entries.last_mut().filter(|entry| entry.position == position);
        let (lsn, operation) = position;
        entry
            .ok_or_else(|| Error::corrupt(format!("operation {operation} of commit {lsn} has no entry")))?
            .image = Some(bytes);
    }
    let mut next = None;
    if page.more
        && let Some(last) = entries.last_mut()
    {
        let (lsn, operation) = last.position;
        let image_key = keys::feed_image(lsn, operation);
        // The page may have ended between the two.
        if last.image.is_none() {
            last.image = snapshot.get(Family::Feed, &image_key)?;
        }
        next = Some(Bound::Excluded(image_key));
    }
    Ok(LogPage { entries, next })
}
