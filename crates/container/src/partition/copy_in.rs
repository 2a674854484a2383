//! Filling a partition that is not in the map yet with what others have.
//!
//! The one who fills it is the only one who writes to it, so there is no queue: groups are applied where the caller is,
//! which may block, one after the other. Each group is told to have landed before the next is applied.

use std::collections::VecDeque;
use std::sync::Arc;

use armilla_kv as kv;

use super::Partition;
use crate::apply::{CopiedKey, Effects, Group, Origin, Touched};
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, Result};
use crate::feed::Merged;
use crate::feed::trim::TrimState;
use crate::index::layout::{Layout, Layouts};
use crate::partition::counters::Counters;

/// A group that the store has and has not answered for yet.
pub(crate) struct Landing {
    committed: Option<kv::CommitFuture>,
    counters: Counters,
    touched: Touched,
    number: u64,
}

impl Partition {
    /// Takes over as much as fits one batch.
    pub(crate) fn copy_in(
        &self,
        compiled: &CompiledDefinition,
        copied: &mut VecDeque<CopiedKey>,
        origin: &Origin<'_>,
    ) -> Result<Landing> {
        let space = self.space();
        let applied = self.applied();
        let mut group = Group::new(self, space.as_ref(), &applied);
        while let Some(next) = copied.pop_front() {
            group.copy_in(compiled, next, origin)?;
            if group.is_full() {
                break;
            }
        }
        let effects = group.finish();
        drop(applied);
        Ok(self.launch(effects))
    }

    /// Ends what was taken over: the next commit is the one after `lsn`, and the index has this layout. Says what the
    /// change log holds, unless that is known, and which merge was the last.
    pub(crate) fn seal(
        &self,
        lsn: u64,
        layout: Arc<Layout>,
        log: Option<TrimState>,
        merged: Option<Merged>,
    ) -> Landing {
        let space = self.space();
        let applied = self.applied();
        let mut effects = Group::new(self, space.as_ref(), &applied).finish();
        drop(applied);
        effects.seal(lsn, Layouts::of(layout), log, merged);
        self.launch(effects)
    }

    fn launch(&self, mut effects: Effects) -> Landing {
        let counters = effects.counters.clone();
        let committed = effects.batch().map(|batch| self.space().commit(batch));
        let mut applied = self.applied();
        let number = applied.last_group() + 1;
        let touched = applied.absorb(effects, number);
        Landing { committed, counters, touched, number }
    }

    /// Waits until a group has landed.
    pub(crate) async fn land(&self, landing: Landing) -> Result<()> {
        let Landing { committed, counters, touched, number } = landing;
        if let Some(committed) = committed {
            committed.await.map_err(Error::from)?;
        }
        self.applied().landed(number, counters.lsn, touched);
        Ok(())
    }
}
