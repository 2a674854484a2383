//! A handle to a space.

use std::sync::Arc;

use armilla_kv::{Batch, CommitFuture, Error, ErrorKind, Family, Result, Snapshot, Space};
use bytes::Bytes;

use crate::queue::Writer;
use crate::spaces::{Shared, SpaceState};
use crate::view::View;

/// A handle. It may write until the space is opened again, or a commit through it fails.
pub(crate) struct SlateSpace {
    shared: Arc<Shared>,
    space: Arc<SpaceState>,
    writer: Arc<Writer>,
}

impl SlateSpace {
    pub(crate) fn new(shared: Arc<Shared>, space: Arc<SpaceState>, writer: Arc<Writer>) -> SlateSpace {
        SlateSpace { shared, space, writer }
    }

    fn now(&self) -> Result<View> {
        View::now(&self.shared, &self.space)
    }
}

impl Space for SlateSpace {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        self.now()?.get(family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.now()?.multi_get(family, keys)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(self.now()?))
    }

    fn commit(&self, batch: Batch) -> CommitFuture {
        match self.space.queue.push(&self.writer, batch, |bytes| self.shared.admit(bytes)) {
            Ok(outcome) => {
                self.shared.see_to(&self.space);
                Box::pin(async move { outcome.await.unwrap_or_else(|_| Err(unknown())) })
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

fn unknown() -> Error {
    Error::new(ErrorKind::OutcomeUnknown, "the store ended before it knew the outcome")
}
