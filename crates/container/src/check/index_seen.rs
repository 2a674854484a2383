//! What a check has seen of the index so far.

use crate::index::layout::Crowded;
use crate::index::state::IndexState;

/// What a check has seen of the index.
pub(super) struct IndexSeen {
    pub(super) state: IndexState,
    /// Entries that items should have, and have.
    pub(super) found: u64,
    pub(super) crowded: Crowded,
    /// Items with a record of computed entries.
    pub(super) computed: u64,
    /// Indexes that have entries.
    pub(super) indexes: u64,
}

impl IndexSeen {
    pub(super) fn new(state: IndexState) -> IndexSeen {
        IndexSeen { state, found: 0, crowded: Crowded::default(), computed: 0, indexes: 0 }
    }
}
