//! What settling writes knows of the change log: what it may hold beside the newest versions, and who still needs it.

use armilla_kv::Family;

use super::Group;
use crate::feed::{Change, ChangeKind};
use crate::item::Item;
use crate::keys;
use crate::trim::TrimState;

/// What a partition's change log may hold, as it is or will be.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogState {
    pub(super) state: Option<TrimState>,
    /// The last commit that left an entry for whoever is copying the partition.
    pub(super) removal_lsn: u64,
    /// Whether it is not what is stored, or on its way there.
    pub(super) is_changed: bool,
}

impl LogState {
    pub(crate) fn new(state: Option<TrimState>) -> LogState {
        LogState { state, removal_lsn: 0, is_changed: false }
    }

    pub(super) fn set(&mut self, state: Option<TrimState>) {
        self.state = state;
        self.is_changed = true;
    }

    /// Takes note of a write, by whether all versions are kept.
    fn note_write(&mut self, lsn: u64, keeps_all_versions: bool) {
        match &mut self.state {
            None if keeps_all_versions => self.set(Some(TrimState::complete_after(lsn - 1))),
            Some(state) if keeps_all_versions && state.is_never() => {
                state.begin_complete(lsn - 1);
                self.is_changed = true;
            }
            Some(state) if !keeps_all_versions && !state.is_never() => {
                state.end_complete();
                self.is_changed = true;
            }
            _ => {}
        }
    }

    /// Takes note that the log holds something beside the newest versions.
    pub(super) fn note_more(&mut self) {
        if self.state.is_none() {
            self.set(Some(TrimState::never()));
        }
    }
}

impl Group<'_> {
    /// Writes a change into the log, and sees to the entry of the version before.
    pub(super) fn log_change(
        &mut self,
        keeps_all_versions: bool,
        position: (u64, u16),
        change: Change,
        old: Option<&Item>,
    ) {
        let (lsn, operation) = position;
        self.effects.log.note_write(lsn, keeps_all_versions);
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
pub(super) fn change_of(
    kind: ChangeKind,
    ts: u32,
    number: u64,
    item_key: bytes::Bytes,
    old: Option<&Item>,
) -> Change {
    let (previous_lsn, previous_operation) = old.map_or((0, 0), |old| old.header().version());
    Change { kind, ts, number, previous_lsn, previous_operation, item_key }
}
