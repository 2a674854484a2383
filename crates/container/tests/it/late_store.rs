//! A store that shows what is committed only some time later, as a disk does.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use armilla_kv::{Batch, CommitFuture, Family, Result, Snapshot, Space, SpaceId, Store, StoreStats};
use bytes::Bytes;

/// Polls before a batch is handed on.
const POLLS: usize = 1_000;

/// A store in front of another, whose commits take their time. Its user polls commits in their order.
pub(crate) struct LateStore(pub(crate) Arc<dyn Store>);

struct LateSpace(Arc<dyn Space>);

struct LateCommit {
    space: Arc<dyn Space>,
    batch: Option<Batch>,
    polls: usize,
    running: Option<CommitFuture>,
}

impl Store for LateStore {
    fn open_space(&self, space: SpaceId) -> Result<Arc<dyn Space>> {
        Ok(Arc::new(LateSpace(self.0.open_space(space)?)))
    }

    fn drop_space(&self, space: SpaceId) -> Result<()> {
        self.0.drop_space(space)
    }

    fn snapshot_all(&self) -> Result<Box<dyn armilla_kv::StoreSnapshot>> {
        self.0.snapshot_all()
    }

    fn stats(&self) -> StoreStats {
        self.0.stats()
    }

    fn close(&self) -> Result<()> {
        self.0.close()
    }
}

impl Space for LateSpace {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        self.0.get(family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.0.multi_get(family, keys)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.0.snapshot()
    }

    fn commit(&self, batch: Batch) -> CommitFuture {
        Box::pin(LateCommit { space: self.0.clone(), batch: Some(batch), polls: 0, running: None })
    }
}

impl Future for LateCommit {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.polls += 1;
        if self.polls < POLLS {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(batch) = self.batch.take() {
            self.running = Some(self.space.commit(batch));
        }
        self.running.as_mut().unwrap().as_mut().poll(context)
    }
}
