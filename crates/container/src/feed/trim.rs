//! What a change log may hold beside one entry for each live item, and from where on it has all versions.
//!
//! Such a log has a record that says so; a log without one has nothing to trim. There are three ways to get one:
//! * the container keeps all versions: then they are all there behind a commit, and go once they are older than the
//!   retention;
//! * it did so once: what is left of them goes, and then the record;
//! * a partition was being split or merged and deletes left entries for the split driver that caught up with it: these go if that was
//!   given up, and then the record.
//!
//! An image is kept as long as the change that came after it, which may show it. So where all versions are kept, an entry
//! that is old enough takes the version before it along, and stays itself until a newer one takes it along.
//!
//! Not here: dropping entries (`apply::trim`), when (`sweep`).

use armilla_kv::Result as StoreResult;
use armilla_value::HashedKey;
use bytes::Bytes;

use crate::error::{Error, Result};
use crate::item::keys;
use crate::limits::TRIM_ARCS_MAX;
use crate::map::arcs::Arc;

/// Records of version 1 do not say when what is gone was written.
const FIRST_VERSION: u8 = 1;

const FORMAT_VERSION: u8 = 2;

/// Stands for "unknown" in the place of the second before which everything was written that is gone.
const UNKNOWN: u32 = u32::MAX;

/// Stands for "nowhere" in the place of the commit behind which all versions are there.
const NEVER: u64 = u64::MAX;

/// What a change log may hold beside one entry for each live item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrimState {
    /// Behind this commit all versions are there, but for the parts of the ring that have one of their own.
    complete_after: u64,
    /// Everything up to this position was looked at, and holds nothing but newest versions, and versions that a later
    /// entry takes along.
    pub(crate) trimmed: (u64, u16),
    /// Up to this commit there may be versions left over from an earlier time, which no later entry takes along.
    left_over_to: u64,
    /// Parts of the ring that were others' before a merge, with the commits behind which all their versions are there:
    /// what is dropped from one takes nothing from a reader of another.
    arcs: Vec<Arc>,
    /// The first commit behind that merge, while there are such parts.
    joined_at: u64,
    /// Everything that is gone was written before this second since 1970 UTC.
    gone_before: u32,
}

impl TrimState {
    /// Returns the state of a log that holds something, but not all versions from any commit on.
    pub(crate) fn never() -> TrimState {
        TrimState { complete_after: NEVER, gone_before: UNKNOWN, ..TrimState::complete_after(0) }
    }

    /// Returns the state of a log that had nothing to trim up to a commit, and has all versions behind it.
    pub(crate) fn complete_after(lsn: u64) -> TrimState {
        let trimmed = if lsn == 0 { (0, 0) } else { (lsn, u16::MAX) };
        let gone_before = if lsn == 0 { 0 } else { UNKNOWN };
        TrimState {
            complete_after: lsn,
            trimmed,
            left_over_to: 0,
            arcs: Vec::new(),
            joined_at: 0,
            gone_before,
        }
    }

    /// Returns the state of a log that others were brought together in, which goes on at a commit: parts of the ring with
    /// the commits behind which their versions are all there, and what the others were.
    pub(crate) fn joined(parts: Vec<Arc>, others: &[TrimState], lsn: u64) -> TrimState {
        let complete_after = parts.iter().map(|part| part.after).max().unwrap_or(0);
        // Operations of that commit may have other numbers from now on.
        let trimmed = others.iter().map(|other| other.trimmed.0.saturating_sub(1)).min().unwrap_or(0);
        let left_over_to = others.iter().map(|other| other.left_over_to).max().unwrap_or(0);
        let joined_at = match others {
            [only] => only.joined_at,
            _ => lsn,
        };
        let mut arcs = parts;
        if arcs.len() < 2 {
            arcs.clear();
        }
        // Those that are beyond the bound count as late as the latest.
        arcs.sort_by_key(|arc| arc.after);
        arcs.truncate(TRIM_ARCS_MAX);
        arcs.sort_by(|a, b| a.min.cmp(&b.min));
        let joined_at = if arcs.is_empty() { 0 } else { joined_at };
        let gone_before = others.iter().map(|other| other.gone_before).max().unwrap_or(UNKNOWN);
        let trimmed = (trimmed, u16::MAX);
        TrimState { complete_after, trimmed, left_over_to, arcs, joined_at, gone_before }
    }

    /// Reads the state, if there is a record of one.
    pub(crate) fn load(get: impl Fn(&[u8]) -> StoreResult<Option<Bytes>>) -> Result<Option<TrimState>> {
        get(keys::TRIM_STATE)?.map(|bytes| TrimState::decode(&bytes)).transpose()
    }

    /// Returns whether all versions are there from no commit on.
    pub(crate) fn is_never(&self) -> bool {
        self.complete_after == NEVER
    }

    /// Returns whether a commit is one behind which all versions of some part of the ring are there.
    pub(crate) fn is_complete_at(&self, lsn: u64) -> bool {
        let earliest = self.arcs.iter().map(|arc| arc.after).fold(self.complete_after, u64::min);
        lsn > earliest
    }

    /// Returns whether a commit is one behind which all versions of the whole ring are there.
    pub(crate) fn is_complete_everywhere_at(&self, lsn: u64) -> bool {
        let latest = self.arcs.iter().map(|arc| arc.after).fold(self.complete_after, u64::max);
        lsn > latest
    }

    /// Returns whether a version of a commit may be left over from an earlier time, if it is not the newest.
    pub(crate) fn is_left_over(&self, lsn: u64) -> bool {
        lsn <= self.left_over_to
    }

    /// Returns the commit behind which all versions of a part of the ring are there, if there is one.
    pub(crate) fn complete_after_in(&self, min: &HashedKey, max: &HashedKey) -> Option<u64> {
        self.parts(min, max)?.iter().map(|part| part.after).max()
    }

    /// Returns a part of the ring in parts, each with the commit behind which all its versions are there; if there is one.
    pub(crate) fn parts(&self, min: &HashedKey, max: &HashedKey) -> Option<Vec<Arc>> {
        if self.is_never() {
            return None;
        }
        let mut parts = Vec::new();
        let mut from = min.clone();
        for arc in &self.arcs {
            let (start, end) = ((&arc.min).max(&from).clone(), (&arc.max).min(max).clone());
            if start >= end {
                continue;
            }
            if from < start {
                parts.push(Arc { min: from, max: start.clone(), after: self.complete_after });
            }
            from = end.clone();
            parts.push(Arc { min: start, max: end, after: arc.after });
        }
        if from < *max {
            parts.push(Arc { min: from, max: max.clone(), after: self.complete_after });
        }
        Some(parts)
    }

    /// Returns whether everything of a second since 1970 UTC, and behind it, is there.
    pub(crate) fn is_complete_since(&self, ts: u32) -> bool {
        !self.is_never() && self.gone_before <= ts
    }

    /// Takes note that nothing ever was that is not there.
    pub(crate) fn note_nothing_gone(&mut self) {
        self.gone_before = 0;
    }

    /// Takes note that what is gone up to now was written up to this second since 1970 UTC.
    pub(crate) fn note_gone(&mut self, ts: u32) {
        if self.complete_after > 0 {
            self.gone_before = ts.saturating_add(1);
        }
    }

    /// Takes note that all versions are there behind a commit, and were not before.
    pub(crate) fn begin_complete(&mut self, lsn: u64) {
        self.gone_before = UNKNOWN;
        self.complete_after = lsn;
        self.left_over_to = lsn;
        self.arcs.clear();
        self.joined_at = 0;
    }

    /// Takes note that versions go as they are replaced, so that all that is there has to be looked at again.
    pub(crate) fn end_complete(&mut self) {
        *self = TrimState::never();
    }

    /// Returns whether it counts which part of the ring an entry belongs to.
    pub(crate) fn has_parts(&self) -> bool {
        !self.arcs.is_empty()
    }

    /// Takes note that an entry of a commit was looked at, where parts of the ring count.
    pub(crate) fn look_at(&mut self, hashed: &HashedKey, lsn: u64) {
        let own = self.arcs.iter_mut().find(|arc| arc.min <= *hashed && *hashed < arc.max);
        let after = own.map_or(&mut self.complete_after, |arc| &mut arc.after);
        *after = (*after).max(lsn);
    }

    /// Takes note that everything up to a position was looked at, and that what is gone of it was written before a second
    /// since 1970 UTC.
    pub(crate) fn trim_to(&mut self, position: (u64, u16), oldest: Option<u32>) {
        let is_further = position > self.trimmed;
        self.trimmed = self.trimmed.max(position);
        if self.is_never() {
            return;
        }
        let lsn = self.trimmed.0;
        if is_further {
            // What lies before an old commit is older, however it went. Where logs were brought together, that holds in
            // each of them only.
            let is_all = lsn >= self.complete_after && lsn > self.joined_at;
            let oldest = oldest.unwrap_or(UNKNOWN);
            self.gone_before = if is_all { oldest } else { self.gone_before.max(oldest) };
        }
        if lsn > self.left_over_to {
            self.left_over_to = 0;
        }
        if lsn > self.joined_at {
            // A reader that has not read since the merge is later than the retention.
            self.arcs.clear();
            self.joined_at = 0;
            self.complete_after = self.complete_after.max(lsn);
        }
    }

    pub(crate) fn encode(&self) -> Bytes {
        let mut bytes = vec![FORMAT_VERSION];
        bytes.extend_from_slice(&self.complete_after.to_be_bytes());
        bytes.extend_from_slice(&self.trimmed.0.to_be_bytes());
        bytes.extend_from_slice(&self.trimmed.1.to_be_bytes());
        bytes.extend_from_slice(&self.left_over_to.to_be_bytes());
        bytes.extend_from_slice(&self.joined_at.to_be_bytes());
        bytes.extend_from_slice(&self.gone_before.to_be_bytes());
        for arc in &self.arcs {
            for bound in [&arc.min, &arc.max] {
                bytes.extend_from_slice(&(bound.as_bytes().len() as u16).to_be_bytes());
                bytes.extend_from_slice(bound.as_bytes());
            }
            bytes.extend_from_slice(&arc.after.to_be_bytes());
        }
        bytes.into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<TrimState> {
        TrimState::decode_checked(bytes)
            .ok_or_else(|| Error::corrupt("the record of what a change log holds is damaged"))
    }

    fn decode_checked(bytes: &[u8]) -> Option<TrimState> {
        let (&version @ (FIRST_VERSION | FORMAT_VERSION), mut rest) = bytes.split_first()? else {
            return None;
        };
        let complete_after = u64::from_be_bytes(take(&mut rest)?);
        let trimmed = (u64::from_be_bytes(take(&mut rest)?), u16::from_be_bytes(take(&mut rest)?));
        let left_over_to = u64::from_be_bytes(take(&mut rest)?);
        let joined_at = u64::from_be_bytes(take(&mut rest)?);
        let gone_before = match version {
            FIRST_VERSION => TrimState::complete_after(complete_after).gone_before,
            _ => u32::from_be_bytes(take(&mut rest)?),
        };
        let mut arcs = Vec::new();
        while !rest.is_empty() {
            let mut bound = || {
                let length = usize::from(u16::from_be_bytes(take(&mut rest)?));
                let (bound, behind) = rest.split_at_checked(length)?;
                rest = behind;
                Some(HashedKey::from_bytes(bound))
            };
            let (min, max) = (bound()?, bound()?);
            arcs.push(Arc { min, max, after: u64::from_be_bytes(take(&mut rest)?) });
        }
        Some(TrimState { complete_after, trimmed, left_over_to, arcs, joined_at, gone_before })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*taken)
}

#[cfg(test)]
mod tests;
