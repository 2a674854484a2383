//! Batches of one space on their way to its writer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use armilla_kv::{Batch, Error, Op, Result, check_batch};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::failure;
use crate::limits::{GROUP_BYTES_MAX, GROUP_OPS_MAX};

/// A handle as the queue knows it.
pub(crate) struct Writer {
    pub(crate) generation: u64,
    /// Whether a commit through it has failed.
    pub(crate) is_closed: AtomicBool,
}

/// A batch, with the caller that waits for it.
pub(crate) struct Job {
    writer: Arc<Writer>,
    pub(crate) ops: Vec<Op>,
    pub(crate) bytes: usize,
    done: oneshot::Sender<Result<()>>,
}

impl Job {
    /// Tells the caller, and closes the handle after a failure.
    pub(crate) fn complete(self, outcome: Result<()>) {
        if outcome.is_err() {
            self.writer.is_closed.store(true, Ordering::Release);
        }
        // A caller that does not wait any more is not told.
        let _ = self.done.send(outcome);
    }
}

/// The queue. Its order is the order of the calls to [`Queue::push`].
pub(crate) struct Queue {
    space: u64,
    inner: Mutex<Inner>,
    arrived: Notify,
}

struct Inner {
    /// Of the handle that was opened last.
    generation: u64,
    jobs: VecDeque<Job>,
    /// Why nothing may be added any more.
    refusal: Option<Error>,
}

impl Queue {
    pub(crate) fn new(space: u64) -> Queue {
        let inner = Inner { generation: 0, jobs: VecDeque::new(), refusal: None };
        Queue { space, inner: Mutex::new(inner), arrived: Notify::new() }
    }

    /// Adds a batch. `admit` is asked whether there is room for its bytes.
    pub(crate) fn push(
        &self,
        writer: &Arc<Writer>,
        batch: Batch,
        admit: impl FnOnce(usize) -> Result<()>,
    ) -> Result<oneshot::Receiver<Result<()>>> {
        let mut inner = self.inner.lock();
        if let Some(refusal) = &inner.refusal {
            return Err(refusal.clone());
        }
        if writer.generation != inner.generation {
            return Err(failure::fenced(self.space));
        }
        if writer.is_closed.load(Ordering::Acquire) {
            return Err(failure::handle_closed(self.space));
        }
        let bytes = batch.bytes();
        if let Err(error) = check_batch(&batch).and_then(|()| admit(bytes)) {
            writer.is_closed.store(true, Ordering::Release);
            return Err(error);
        }
        let (done, outcome) = oneshot::channel();
        inner.jobs.push_back(Job { writer: writer.clone(), ops: batch.into_ops(), bytes, done });
        drop(inner);
        self.arrived.notify_one();
        Ok(outcome)
    }

    /// Waits until something may be there.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Lets who waits look.
    pub(crate) fn wake(&self) {
        self.arrived.notify_one();
    }

    /// Takes as many batches as are written as one.
    pub(crate) fn take_group(&self) -> Vec<Job> {
        let mut inner = self.inner.lock();
        let (mut group, mut ops, mut bytes) = (Vec::new(), 0, 0);
        while let Some(job) = inner.jobs.front() {
            ops += job.ops.len();
            bytes += job.bytes;
            if !group.is_empty() && (ops > GROUP_OPS_MAX || bytes > GROUP_BYTES_MAX) {
                // The writer finds the rest when it comes back.
                self.arrived.notify_one();
                break;
            }
            group.extend(inner.jobs.pop_front());
        }
        group
    }

    /// Begins a generation of handles and returns it with what older ones have left, which is to fail.
    pub(crate) fn take_over(&self) -> (u64, VecDeque<Job>) {
        let mut inner = self.inner.lock();
        inner.generation += 1;
        (inner.generation, std::mem::take(&mut inner.jobs))
    }

    /// Returns how many batches wait.
    pub(crate) fn len(&self) -> usize {
        self.inner.lock().jobs.len()
    }

    /// Takes everything that waits.
    pub(crate) fn take_all(&self) -> VecDeque<Job> {
        std::mem::take(&mut self.inner.lock().jobs)
    }

    /// Lets nothing in any more.
    pub(crate) fn refuse(&self, why: Error) {
        self.inner.lock().refusal.get_or_insert(why);
        self.arrived.notify_one();
    }
}
