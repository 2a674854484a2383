//! The store of a partition that another process has, to read.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_kv::{Batch, CommitFuture, Error, ErrorKind, Family, Page, Result, Scan, Snapshot, Space};
use bytes::Bytes;

use super::link::{Far, FarError};
use super::request::{GetCall, OpenReply, Request, ViewGetCall, ViewScanCall};
use crate::error;
use crate::item::keys;

/// What is read with every snapshot, because every reader of queries asks for it.
pub(super) const INDEX_RECORDS: [&[u8]; 3] = [keys::INDEX_CROWDED, keys::INDEX_LAYOUTS, keys::INDEX_PROGRESS];

/// The space of a partition.
pub(crate) struct FarSpace {
    far: Arc<Far>,
}

impl FarSpace {
    pub(crate) fn new(far: Arc<Far>) -> FarSpace {
        FarSpace { far }
    }
}

/// Says what a store would say: that another has it now, where it has moved.
fn of_store(error: FarError) -> Error {
    match error {
        FarError::Moved(why) | FarError::Unknown(why) => Error::new(ErrorKind::Elsewhere, why),
        FarError::Failed(error) => {
            let kind = match error.kind {
                error::ErrorKind::Corrupt => ErrorKind::Corrupt,
                error::ErrorKind::RangeGone | error::ErrorKind::Moved => ErrorKind::Elsewhere,
                _ => ErrorKind::Io,
            };
            Error::new(kind, error.message)
        }
    }
}

/// Asks for the values of keys until there are as many: one answer has only so many bytes.
fn all_values(
    keys: &[Bytes],
    mut ask: impl FnMut(Vec<Bytes>) -> std::result::Result<Vec<Option<Bytes>>, FarError>,
) -> Result<Vec<Option<Bytes>>> {
    let mut values = Vec::with_capacity(keys.len());
    while values.len() < keys.len() {
        let more = ask(keys[values.len()..].to_vec()).map_err(of_store)?;
        if more.is_empty() || values.len() + more.len() > keys.len() {
            return Err(Error::new(ErrorKind::Io, "another node answered with another number of values"));
        }
        values.extend(more);
    }
    Ok(values)
}

impl Space for FarSpace {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        let mut values = self.multi_get(family, &[Bytes::copy_from_slice(key)])?;
        Ok(values.pop().flatten())
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        all_values(keys, |keys| self.far.ask_here(&Request::Get(GetCall { family, keys })))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let opened: OpenReply = self.far.ask_here(&Request::Open).map_err(of_store)?;
        Ok(Box::new(FarSnapshot::new(self.far.clone(), opened)))
    }

    fn commit(&self, _: Batch) -> CommitFuture {
        // Who has the partition writes; tasks are handed to its committer.
        Box::pin(std::future::ready(Err(Error::new(ErrorKind::Elsewhere, "another node has the partition"))))
    }
}

/// A snapshot that another process keeps until this is dropped.
struct FarSnapshot {
    far: Arc<Far>,
    view: u64,
    /// Records that came with it.
    known: HashMap<&'static [u8], Option<Bytes>>,
}

impl FarSnapshot {
    fn new(far: Arc<Far>, opened: OpenReply) -> FarSnapshot {
        let mut known = HashMap::from([(keys::COUNTERS, opened.counters)]);
        known.extend(INDEX_RECORDS.into_iter().zip(opened.index));
        FarSnapshot { far, view: opened.view, known }
    }
}

impl Drop for FarSnapshot {
    fn drop(&mut self) {
        self.far.tell(&Request::Close(self.view));
    }
}

impl Snapshot for FarSnapshot {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        if family == Family::Meta
            && let Some(known) = self.known.get(key)
        {
            return Ok(known.clone());
        }
        let mut values = self.multi_get(family, &[Bytes::copy_from_slice(key)])?;
        Ok(values.pop().flatten())
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let view = self.view;
        all_values(keys, |keys| self.far.ask_here(&Request::ViewGet(ViewGetCall { view, family, keys })))
    }

    fn scan(&self, scan: &Scan) -> Result<Page> {
        let call = ViewScanCall { view: self.view, scan: scan.clone() };
        self.far.ask_here(&Request::ViewScan(call)).map_err(of_store)
    }
}
