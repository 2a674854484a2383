//! Writing the change log: the entry of a write, and what becomes of the one before it.

use armilla_kv::Family;
use bytes::Bytes;

use super::Group;
use super::write::Revision;
use crate::compiled_definition::CompiledDefinition;
use crate::error::Position;
use crate::feed::{Change, ChangeKind, carried};
use crate::item::Item;
use crate::item::keys;

impl Group<'_> {
    /// Gives a write its place in the order of commits. The writes of a transaction have one commit number, and count
    /// inside it.
    pub(super) fn next_position(&mut self) -> (Position, u16) {
        self.effects.written = true;
        let operation = match &mut self.scope {
            None => 0,
            Some(scope) => {
                scope.writes += 1;
                scope.writes - 1
            }
        };
        if operation == 0 {
            self.effects.counters.lsn += 1;
        }
        (self.position(), operation)
    }

    /// Writes a new version into the change log, at the place that it has been given.
    pub(super) fn log_version(
        &mut self,
        compiled: &CompiledDefinition,
        item_key: Bytes,
        old: Option<&Item>,
        new: &Item,
        revision: Revision,
    ) {
        let header = new.header();
        let kind = match (old, revision) {
            (None, _) => ChangeKind::Create,
            (Some(_), Revision::Whole) => ChangeKind::Replace,
            (Some(_), Revision::Parts(_)) => ChangeKind::Update,
        };
        let change = Change {
            carried: carried(compiled, new),
            ..change_of(kind, header.ts, header.number, item_key, old)
        };
        self.log_change(compiled.keeps_all_versions, header.version(), change, old);
    }

    /// Writes into the change log that an item is gone. Returns the place of that in the order of commits.
    pub(super) fn log_removal(
        &mut self,
        compiled: &CompiledDefinition,
        kind: ChangeKind,
        item_key: Bytes,
        old: &Item,
        ts: u32,
    ) -> Position {
        let (position, operation) = self.next_position();
        let change = change_of(kind, ts, old.header().number, item_key, Some(old));
        self.log_change(compiled.keeps_all_versions, (position.lsn, operation), change, Some(old));
        position
    }

    /// Writes a change into the log, and sees to the entry of the version before.
    pub(super) fn log_change(
        &mut self,
        keeps_all_versions: bool,
        position: (u64, u16),
        change: Change,
        old: Option<&Item>,
    ) {
        let (lsn, operation) = position;
        let partition = self.partition;
        let is_first = partition.is_first_commit(lsn);
        self.effects.log.note_write(lsn, keeps_all_versions, is_first, || partition.latest_moment().second());
        if let Some(old) = old {
            self.supersede(old, keeps_all_versions);
        }
        if change.kind.is_removal() && !keeps_all_versions {
            if !self.logs_removals {
                return;
            }
            self.effects.log.note_more();
            self.effects.log.removal_lsn = lsn;
        }
        self.record(Family::Feed, keys::feed(lsn, operation), Some(change.encode()));
    }

    /// Keeps a version that is not the newest any more, or forgets that it was written.
    pub(super) fn supersede(&mut self, old: &Item, is_kept: bool) {
        let (lsn, operation) = old.header().version();
        if is_kept {
            self.effects.log.note_more();
            self.effects.value_bytes += old.bytes().len();
            self.record(Family::Feed, keys::feed_image(lsn, operation), Some(old.bytes().clone()));
        } else {
            self.record(Family::Feed, keys::feed(lsn, operation), None);
        }
    }
}

/// Returns the entry for a write.
fn change_of(kind: ChangeKind, ts: u32, number: u64, item_key: Bytes, old: Option<&Item>) -> Change {
    let (previous_lsn, previous_operation) = old.map_or((0, 0), |old| old.header().version());
    Change { kind, ts, number, previous_lsn, previous_operation, item_key, carried: None }
}
