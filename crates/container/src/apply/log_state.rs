//! What a partition's change log may hold beside the newest versions, as a group leaves it.

use crate::feed::trim::TrimState;

/// What a partition's change log may hold, as it is or will be.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogState {
    pub(super) state: Option<TrimState>,
    /// The last commit that left an entry for a split driver that copies the partition.
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

    /// Takes note of a write, by whether all versions are kept, and whether it is the first of all. `now` tells the second since 1970 UTC up to which
    /// everything was written so far.
    pub(super) fn note_write(
        &mut self,
        lsn: u64,
        keeps_all_versions: bool,
        is_first: bool,
        now: impl FnOnce() -> u32,
    ) {
        match &mut self.state {
            None if keeps_all_versions => {
                let mut state = TrimState::complete_after(lsn - 1);
                // Before its first commit a partition had nothing, whatever number that has.
                if is_first {
                    state.note_nothing_gone();
                } else {
                    state.note_gone(now());
                }
                self.set(Some(state));
            }
            Some(state) if keeps_all_versions && state.is_never() => {
                state.begin_complete(lsn - 1);
                state.note_gone(now());
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
