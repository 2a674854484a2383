//! Reading one space at a moment: what the engine has, and over it what runs have of the index.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use armilla_kv::{Direction, Family, Page, Result, Scan, SpaceId};
use bytes::Bytes;
use fjall::{Readable as _, Snapshot};

use crate::engine::Engine;
use crate::failure;
use crate::keys::{self, SPACE_PREFIX_BYTES};
use crate::runs::{Kept, Merge, RunSet};

/// What a reader reads, for one operation.
pub(crate) struct Sight<'m> {
    pub(crate) snapshot: &'m Snapshot,
    pub(crate) runs: &'m RunSet,
    pub(crate) engine: Arc<Engine>,
}

/// A range of engine keys.
pub(crate) type Range = (Bound<Vec<u8>>, Bound<Vec<u8>>);

impl Sight<'_> {
    /// Returns the value of a key.
    pub(crate) fn get(&self, space: SpaceId, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        keys::with_prefixed(space, key, |key| {
            if family == Family::Index
                && let Some(known) = self.runs.get(key)
            {
                return Ok(known);
            }
            let value = self.snapshot.get(self.engine.family(family), key);
            Ok(value.map_err(|error| failure::of_read(&error))?.map(Bytes::from))
        })
    }

    /// Returns the next page of a range.
    pub(crate) fn page(&self, space: SpaceId, scan: &Scan) -> Result<Page> {
        let range = (keys::lower(space, &scan.lower), keys::upper(space, &scan.upper));
        if is_empty(&range) {
            return Ok(Page::default());
        }
        if self.is_in_runs(scan.family) {
            return page(self.merged(range, scan.direction), scan);
        }
        page(self.entries(scan.family, range, scan.direction), scan)
    }

    /// Shows every key of a range, without the space in front of it.
    pub(crate) fn visit_keys(
        &self,
        space: SpaceId,
        scan: &Scan,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let range = (keys::lower(space, &scan.lower), keys::upper(space, &scan.upper));
        if is_empty(&range) {
            return Ok(());
        }
        let mut visit = |key: &[u8]| visit(&key[SPACE_PREFIX_BYTES.min(key.len())..]);
        if self.is_in_runs(scan.family) {
            let mut merge = self.merged(range, scan.direction);
            while let Some(met) = merge.next_met() {
                if visit(met?.key()).is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let mut entries = self.snapshot.range(self.engine.family(scan.family), range);
        loop {
            let entry = match scan.direction {
                Direction::Forward => entries.next(),
                Direction::Reverse => entries.next_back(),
            };
            let Some(entry) = entry else { return Ok(()) };
            if visit(&entry.key().map_err(|error| failure::of_read(&error))?).is_break() {
                return Ok(());
            }
        }
    }

    /// Returns the keys of a range from the lowest, with the spaces in front of them.
    pub(crate) fn keys(&self, family: Family, range: Range) -> Box<dyn Iterator<Item = Result<Bytes>> + '_> {
        if self.is_in_runs(family) {
            return Box::new(self.merged(range, Direction::Forward).map(|entry| Ok(entry?.0)));
        }
        Box::new(self.entries(family, range, Direction::Forward).map(|entry| Ok(entry?.0)))
    }

    fn is_in_runs(&self, family: Family) -> bool {
        family == Family::Index && !self.runs.is_empty()
    }

    fn merged(
        &self,
        range: Range,
        direction: Direction,
    ) -> Merge<'_, impl Iterator<Item = Result<(Bytes, Bytes)>>> {
        let tree = self.entries(Family::Index, range.clone(), direction);
        Merge::new(self.runs.chunks(), &range, direction, tree, Kept::Present)
    }

    /// Returns what the engine has of a range.
    fn entries(
        &self,
        family: Family,
        range: Range,
        direction: Direction,
    ) -> impl Iterator<Item = Result<(Bytes, Bytes)>> + use<> {
        let mut entries = self.snapshot.range(self.engine.family(family), range);
        std::iter::from_fn(move || {
            let entry = match direction {
                Direction::Forward => entries.next(),
                Direction::Reverse => entries.next_back(),
            };
            let inner = entry?.into_inner().map_err(|error| failure::of_read(&error));
            Some(inner.map(|(key, value)| (key.into(), value.into())))
        })
    }
}

/// Returns whether no key can lie in a range. The engine's behaviour for inverted bounds is not documented.
pub(crate) fn is_empty(range: &Range) -> bool {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    match range {
        (Included(lower), Included(upper)) => lower > upper,
        (Included(lower) | Excluded(lower), Excluded(upper)) | (Excluded(lower), Included(upper)) => {
            lower >= upper
        }
        (Unbounded, _) | (_, Unbounded) => false,
    }
}

/// Makes a page of what comes, without the space in front of the keys.
pub(crate) fn page(entries: impl Iterator<Item = Result<(Bytes, Bytes)>>, scan: &Scan) -> Result<Page> {
    let mut page = Page::default();
    let mut bytes = 0;
    for entry in entries {
        if page.entries.len() >= scan.entries_max.max(1) || bytes >= scan.bytes_max.max(1) {
            page.more = true;
            break;
        }
        let (key, value) = entry?;
        let key = keys::stripped(key);
        bytes += key.len() + value.len();
        page.entries.push((key, value));
    }
    Ok(page)
}
