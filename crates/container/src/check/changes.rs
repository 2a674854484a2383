//! Verifying the change log: one entry for each live item, and nothing else but what its record allows for.

use armilla_kv::Family;
use bytes::Bytes;

use super::Check;
use crate::error::Result;
use crate::feed::trim::TrimState;
use crate::feed::{Change, Merged};
use crate::item::Item;
use crate::item::keys;

/// The entry that was read last.
struct LastEntry {
    position: (u64, u16),
    /// Whether an image may follow it.
    is_replaced: bool,
}

impl Check<'_> {
    pub(super) fn changes(&mut self) -> Result<()> {
        let state = match TrimState::load(|key| self.snapshot.get(Family::Meta, key)) {
            Ok(state) => state,
            Err(error) => {
                self.problem(error.to_string());
                None
            }
        };
        if let Some(bytes) = self.snapshot.get(Family::Meta, keys::MERGED)?
            && let Err(error) = Merged::decode(&bytes)
        {
            self.problem(error.to_string());
        }
        let mut current = 0;
        let mut last: Option<LastEntry> = None;
        self.scan(Family::Feed, |check, key, value| {
            let (position, is_image) = match keys::decode_feed(key) {
                Ok(decoded) => decoded,
                Err(error) => {
                    check.problem(error.to_string());
                    return Ok(());
                }
            };
            if is_image {
                check.image(position, value, last.as_ref());
                return Ok(());
            }
            check.summary.changes += 1;
            let is_current = check.change(position, value, state.as_ref())?;
            current += u64::from(is_current == Some(true));
            last = Some(LastEntry { position, is_replaced: is_current == Some(false) });
            Ok(())
        })?;
        if current != self.summary.items {
            let items = self.summary.items;
            self.problem(format!("the change log has {current} current versions of {items} items"));
        }
        Ok(())
    }

    fn image(&mut self, (lsn, operation): (u64, u16), value: &Bytes, last: Option<&LastEntry>) {
        if last.is_none_or(|last| last.position != (lsn, operation) || !last.is_replaced) {
            self.problem(format!("commit {lsn} has an image where no version was replaced"));
        }
        match Item::open(value.clone()) {
            Ok(item) if item.header().lsn == lsn && item.stored().verify().is_ok() => {}
            Ok(_) => self.problem(format!("commit {lsn} has the image of another version")),
            Err(error) => self.problem(format!("the image of commit {lsn}: {error}")),
        }
    }

    /// Returns whether an entry is about an item as it is now, or about a version that was replaced; nothing if it is
    /// about neither.
    fn change(
        &mut self,
        (lsn, operation): (u64, u16),
        value: &Bytes,
        state: Option<&TrimState>,
    ) -> Result<Option<bool>> {
        if lsn > self.counters.lsn {
            let newest = self.counters.lsn;
            self.problem(format!("the change log has commit {lsn}, the counters end at {newest}"));
        }
        let change = match Change::decode(value) {
            Ok(change) => change,
            Err(error) => {
                self.problem(format!("commit {lsn}: {error}"));
                return Ok(None);
            }
        };
        let item = self.snapshot.get(Family::Item, &change.item_key)?.map(Item::open).transpose();
        // A damaged item was reported already.
        let Ok(item) = item else { return Ok(None) };
        let written_by = item.map(|item| item.header().version());
        let (kind, is_removal) = (change.kind, change.kind.is_removal());
        if written_by == Some((lsn, operation)) && !is_removal {
            return Ok(Some(true));
        }
        // What is not about an item of now needs a record that says that there may be such a thing.
        if state.is_none() || written_by.is_some_and(|newer| newer <= (lsn, operation)) {
            self.problem(format!("commit {lsn} ({kind:?}) is stale: its item was written by {written_by:?}"));
        }
        if is_removal {
            return Ok(None);
        }
        let is_kept = state.is_some_and(|state| state.is_complete_everywhere_at(lsn));
        if is_kept && self.snapshot.get(Family::Feed, &keys::feed_image(lsn, operation))?.is_none() {
            self.problem(format!("commit {lsn}: the version that it wrote is lost"));
        }
        Ok(Some(false))
    }
}
