//! Taking items over from another partition: the same versions, with the same numbers, moments and etags.
//!
//! Everything that is stored about an item is made by the code that applies ordinary writes, so a partition that took
//! over its items looks as if they had been written there. What differs: nothing is checked, no number is given, and the
//! change log gets the entries that it had elsewhere.
//!
//! Items come in any order. Reservations of unique keys are the one thing in which two items meet: the item that has one is
//! found out from the record, because the item that had it before may be taken over later.
//!
//! Not here: what is taken over, and when (`split`). A failure in the middle leaves the group half done; the caller
//! gives up the whole partition then.

use armilla_index::{IndexId, Part};
use armilla_kv::{Family, Snapshot};
use bytes::Bytes;

use super::Group;
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Result};
use crate::feed::trim::TrimState;
use crate::feed::{Change, carried};
use crate::index::entries::EntryList;
use crate::index::layout::Layout;
use crate::item::Item;
use crate::item::keys::{self, LogicalKey};
use crate::partition::counters::SizeChange;
use crate::receipt::StoredReceipt;
use crate::unique::UniqueValues;

/// One key of another partition, and what becomes of it.
pub(crate) struct CopiedKey {
    pub(crate) key: Bytes,
    /// The commit by which it does.
    pub(crate) lsn: u64,
    /// The entry of that in the change log, where it is taken over.
    pub(crate) change: Option<CopiedChange>,
    pub(crate) state: CopiedState,
    /// Whether the item itself lies here already, and nothing else of it does.
    pub(crate) is_there: bool,
}

/// An entry of another change log.
pub(crate) struct CopiedChange {
    /// Which operation of its commit it was there.
    pub(crate) operation: u16,
    /// Its bytes without what it carries: that is made anew here, where the version may get another operation number.
    pub(crate) bytes: Bytes,
    /// The version that it is about, if that is not the newest.
    pub(crate) image: Option<Bytes>,
}

/// What becomes of an item.
pub(crate) enum CopiedState {
    /// Nothing is known of it yet, or nothing changes.
    Unchanged,
    /// It is gone.
    Gone,
    /// It has this version.
    Is(Box<CopiedVersion>),
    /// It is no item: the key is that of a logical partition, with this receipt and its record.
    Receipt(Box<(Bytes, StoredReceipt)>),
}

/// A version of an item, with all that can be worked out about it beforehand.
pub(crate) struct CopiedVersion {
    item: Item,
    /// Its index entries, part by part.
    entries: [EntryList; 3],
    unique: Vec<UniqueValues>,
}

impl CopiedVersion {
    /// Works out what there is to an item under a layout; `computed` is the record of its computed entries, which are
    /// taken as they are.
    pub(crate) fn prepare(
        compiled: &CompiledDefinition,
        layout: &Layout,
        item: Item,
        computed: Option<Bytes>,
    ) -> Result<CopiedVersion> {
        let mut entries: [EntryList; 3] = Default::default();
        if layout.matcher.has_entries() {
            let root = item.stored().root();
            let part = |part| EntryList::of(layout, part, root, item.header().ts, &[]);
            let computed = match computed {
                Some(record) if layout.has_computed => EntryList::decode(&record)?,
                _ => EntryList::default(),
            };
            entries = [part(Part::Content), part(Part::Stamp), computed];
        }
        let unique = compiled.unique.values(item.stored().root());
        Ok(CopiedVersion { item, entries, unique })
    }
}

/// Where items are taken over from.
pub(crate) struct Origin<'a> {
    pub(crate) snapshot: &'a dyn Snapshot,
    /// Whether there is another partition from which items are taken over too, so that both may have used the same
    /// positions in the change log.
    pub(crate) is_one_of_several: bool,
    /// What its change log holds beside the newest versions.
    pub(crate) log: Option<&'a TrimState>,
}

impl Origin<'_> {
    /// Returns whether all versions behind a commit before this one are kept there.
    fn keeps_versions_at(&self, lsn: u64) -> bool {
        self.log.is_some_and(|log| log.is_complete_at(lsn))
    }

    fn index_name(&self, id: IndexId) -> Result<Option<String>> {
        let name = self.snapshot.get(Family::Meta, &keys::index_name(id))?;
        Ok(name.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

impl Group<'_> {
    /// Takes over one key. What is there already stays as it is.
    pub(crate) fn copy_in(
        &mut self,
        compiled: &CompiledDefinition,
        copied: CopiedKey,
        origin: &Origin<'_>,
    ) -> Result<()> {
        let CopiedKey { key, lsn, change, state, is_there } = copied;
        self.effects.written = true;
        if let CopiedState::Receipt(receipt) = state {
            let (record, stored) = *receipt;
            return self.copy_receipt_in(record, &stored);
        }
        let old = match state {
            CopiedState::Unchanged | CopiedState::Receipt(_) => None,
            CopiedState::Is(_) if is_there => None,
            CopiedState::Gone | CopiedState::Is(_) => self.item(&key)?,
        };
        if let (CopiedState::Is(version), Some(old)) = (&state, &old)
            && version.item.header().lasting_version() == old.header().lasting_version()
        {
            return Ok(());
        }
        let operation = match change {
            Some(change) => {
                let version = match &state {
                    CopiedState::Is(version) => Some(&version.item),
                    CopiedState::Unchanged | CopiedState::Gone | CopiedState::Receipt(_) => {
                        self.effects.log.note_more();
                        None
                    }
                };
                Some(self.copy_change_in(compiled, lsn, change, version, origin)?)
            }
            None => None,
        };
        match state {
            CopiedState::Unchanged | CopiedState::Receipt(_) => Ok(()),
            CopiedState::Gone => match old {
                Some(old) => self.disown(compiled, &key, &old, origin.keeps_versions_at(lsn)),
                None => Ok(()),
            },
            CopiedState::Is(version) => {
                let CopiedVersion { item, entries, unique } = *version;
                let item = operation.map_or_else(|| item.clone(), |operation| item.renumbered(operation));
                let old = match old {
                    Some(old) if old.header().number != item.header().number => {
                        self.disown(compiled, &key, &old, origin.keeps_versions_at(lsn))?;
                        None
                    }
                    old => old,
                };
                self.own(compiled, key, old, item, entries, unique, is_there, origin)
            }
        }
    }

    /// Puts an entry into the change log, at its position or the next that is free, and returns which operation it has
    /// there. One that is about a newest version carries it as if it were written here.
    fn copy_change_in(
        &mut self,
        compiled: &CompiledDefinition,
        lsn: u64,
        change: CopiedChange,
        version: Option<&Item>,
        origin: &Origin<'_>,
    ) -> Result<u16> {
        let CopiedChange { operation: mut free, bytes, image } = change;
        if origin.is_one_of_several {
            while let Some(taken) = self.look_up(Family::Feed, &keys::feed(lsn, free))?
                && Change::without_carried(&taken)? != bytes
            {
                free = free.checked_add(1).ok_or_else(|| {
                    Error::new(ErrorKind::Unavailable, format!("commit {lsn} has no operation number left"))
                })?;
            }
        }
        let carried = version.and_then(|item| carried(compiled, &item.renumbered(free)));
        let bytes = Change::with_carried(bytes, carried);
        self.effects.value_bytes += bytes.len();
        self.record(Family::Feed, keys::feed(lsn, free), Some(bytes));
        if let Some(image) = image {
            self.effects.value_bytes += image.len();
            self.record(Family::Feed, keys::feed_image(lsn, free), Some(image));
        }
        Ok(free)
    }

    #[expect(clippy::too_many_arguments, reason = "all that there is to a version")]
    fn own(
        &mut self,
        compiled: &CompiledDefinition,
        key: Bytes,
        old: Option<Item>,
        item: Item,
        entries: [EntryList; 3],
        unique: Vec<UniqueValues>,
        is_there: bool,
        origin: &Origin<'_>,
    ) -> Result<()> {
        let (logical, id) = place(&key, &item)?;
        let number = item.header().number;
        let layout = self.effects.index.state.layout_of(number).clone();
        let change = self.entry_change(&layout, number, old.as_ref(), entries)?;
        let indexes = change.indexes();
        let old_bytes = old.as_ref().map(|old| old.bytes().len());
        let sizes = SizeChange::of_item(&key, old_bytes, Some(item.bytes().len()), change.growth());
        let resized = self.resized(keys::size(&logical), sizes)?;
        self.resize(resized, None);
        self.note_repeat(&key);
        self.change_index(change, &layout, None);
        self.name_as_elsewhere(&indexes, |id| origin.index_name(id))?;
        if let Some(old) = &old {
            self.supersede(old, origin.keeps_versions_at(item.header().lsn));
            let old_unique = compiled.unique.values(old.stored().root());
            self.give_back(&logical, &id, &old_unique)?;
        } else {
            self.record(Family::Number, keys::number(number), Some(key.clone()));
        }
        for values in &unique {
            self.record(Family::Meta, values.reservation(&logical), Some(id.clone()));
        }
        self.use_number(number);
        if let Some(stamp) = item.header().stamp {
            self.use_number(stamp.number());
        }
        self.change_expiry(old.as_ref().map(Item::header), Some(item.header()));
        if !is_there {
            self.effects.value_bytes += item.bytes().len();
            self.effects.set_item(key, Some(item));
        }
        Ok(())
    }

    fn disown(
        &mut self,
        compiled: &CompiledDefinition,
        key: &Bytes,
        old: &Item,
        is_kept: bool,
    ) -> Result<()> {
        let (logical, id) = place(key, old)?;
        let number = old.header().number;
        let layout = self.effects.index.state.layout_of(number).clone();
        let change = self.entry_change(&layout, number, Some(old), Default::default())?;
        let sizes = SizeChange::of_item(key, Some(old.bytes().len()), None, change.growth());
        let resized = self.resized(keys::size(&logical), sizes)?;
        self.resize(resized, None);
        self.note_repeat(key);
        self.change_index(change, &layout, None);
        self.supersede(old, is_kept);
        self.give_back(&logical, &id, &compiled.unique.values(old.stored().root()))?;
        self.record(Family::Number, keys::number(number), None);
        self.change_expiry(Some(old.header()), None);
        self.effects.set_item(key.clone(), None);
        Ok(())
    }

    /// Gives back the reservations that are still an item's own.
    fn give_back(&mut self, logical: &LogicalKey, id: &Bytes, unique: &[UniqueValues]) -> Result<()> {
        for values in unique {
            let reservation = values.reservation(logical);
            if self.look_up(Family::Meta, &reservation)?.as_ref() == Some(id) {
                self.record(Family::Meta, reservation, None);
            }
        }
        Ok(())
    }
}

/// Returns the logical partition of an item, and its id.
pub(super) fn place(key: &Bytes, item: &Item) -> Result<(LogicalKey, Bytes)> {
    let stored = item.stored();
    let id = stored.root().get("id").and_then(|id| id.as_str());
    let logical = id.as_deref().and_then(|id| LogicalKey::of_item(key, id));
    let (Some(id), Some(logical)) = (id, logical) else {
        return Err(Error::corrupt("an item's id is not the one in its key"));
    };
    Ok((logical, Bytes::copy_from_slice(id.as_bytes())))
}
