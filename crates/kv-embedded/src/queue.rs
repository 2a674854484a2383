//! Batches on their way to the writer thread.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use armilla_kv::{Error, ErrorKind, Result};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::completion::{Completion, Waiting, completion};
use crate::keys::EngineOp;
use crate::limits::{GROUP_BYTES_MAX, GROUP_OPS_MAX, RECLAIM_WAIT_MAX};
use crate::spaces::SpaceState;
use crate::time::now;

/// A batch, with the completion for the caller that waits for it.
pub(crate) struct Job {
    /// The handle that wrote it, or nothing if it is the store's own.
    pub(crate) writer: Option<(Arc<SpaceState>, u64)>,
    pub(crate) ops: Vec<EngineOp>,
    pub(crate) bytes: usize,
    pub(crate) completion: Completion,
}

/// How urgent a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// A caller waits for it.
    Client,
    /// It waits until no caller does, but not for ever.
    Background,
}

/// What the writer does next.
pub(crate) enum Next {
    /// Write these batches as one.
    Group(Vec<Job>),
    /// The timeout has passed and nothing came.
    Idle,
    /// The queue is closed and empty.
    Closed,
}

/// The queue. Its order is the order of the calls to [`Queue::push`].
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    arrived: Condvar,
    bytes_max: usize,
}

struct Inner {
    jobs: VecDeque<Job>,
    background: VecDeque<(Instant, Job)>,
    bytes: usize,
    /// Why nothing may be added any more.
    refusal: Option<Error>,
    /// Why nothing may be added at present.
    trouble: Option<Error>,
}

impl Queue {
    pub(crate) fn new(bytes_max: usize) -> Queue {
        Queue {
            inner: Mutex::new(Inner {
                jobs: VecDeque::new(),
                background: VecDeque::new(),
                bytes: 0,
                refusal: None,
                trouble: None,
            }),
            arrived: Condvar::new(),
            bytes_max,
        }
    }

    /// Adds a batch. A full queue refuses it, unless it is the store's own; an empty one takes any.
    pub(crate) fn push(
        &self,
        priority: Priority,
        writer: Option<(Arc<SpaceState>, u64)>,
        ops: Vec<EngineOp>,
        bytes: usize,
    ) -> Result<Waiting> {
        let (completion, waiting) = completion();
        let job = Job { writer, ops, bytes, completion };
        let mut inner = self.lock();
        if let Some(refusal) = inner.refusal.as_ref().or(inner.trouble.as_ref()) {
            let refusal = refusal.clone();
            drop(inner);
            job.completion.complete(Ok(()));
            return Err(refusal);
        }
        if job.writer.is_some() && inner.bytes > 0 && inner.bytes + bytes > self.bytes_max {
            let message =
                format!("{} bytes are waiting to be written, the most is {}", inner.bytes, self.bytes_max);
            drop(inner);
            job.completion.complete(Ok(()));
            return Err(Error::new(ErrorKind::Io, message));
        }
        inner.bytes += bytes;
        match priority {
            Priority::Client => inner.jobs.push_back(job),
            Priority::Background => inner.background.push_back((now(), job)),
        }
        drop(inner);
        self.arrived.notify_one();
        Ok(waiting)
    }

    /// Waits for batches and takes as many as fit into one group.
    pub(crate) fn take(&self, timeout: Option<Duration>) -> Next {
        let deadline = timeout.map(|timeout| now() + timeout);
        let mut inner = self.lock();
        loop {
            if !inner.jobs.is_empty() || !inner.background.is_empty() {
                return Next::Group(inner.take_group());
            }
            if inner.refusal.is_some() {
                return Next::Closed;
            }
            match deadline {
                None => self.arrived.wait(&mut inner),
                Some(deadline) => {
                    let Some(left) = deadline.checked_duration_since(now()).filter(|left| !left.is_zero())
                    else {
                        return Next::Idle;
                    };
                    self.arrived.wait_for(&mut inner, left);
                }
            }
        }
    }

    /// Refuses whatever comes from now on. What is queued is still written. The first reason stays.
    pub(crate) fn refuse(&self, refusal: Error) {
        self.lock().refusal.get_or_insert(refusal);
        self.arrived.notify_all();
    }

    /// Refuses whatever comes until [`Queue::accept`], and returns what is queued, to be failed.
    pub(crate) fn suspend(&self, trouble: Error) -> Vec<Job> {
        self.lock().trouble = Some(trouble);
        self.drain()
    }

    /// Takes batches again.
    pub(crate) fn accept(&self) {
        self.lock().trouble = None;
    }

    /// Takes everything that is queued, to be failed.
    pub(crate) fn drain(&self) -> Vec<Job> {
        let mut inner = self.lock();
        inner.bytes = 0;
        let mut jobs: Vec<Job> = inner.jobs.drain(..).collect();
        jobs.extend(inner.background.drain(..).map(|(_, job)| job));
        jobs
    }

    /// Returns the bytes that are waiting.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes as u64
    }

    /// Says why nothing may be added at present, unless that is because the store was closed.
    pub(crate) fn trouble(&self) -> Option<String> {
        let inner = self.lock();
        let refusal = inner.refusal.as_ref().filter(|refusal| refusal.kind() != ErrorKind::Closed);
        refusal.or(inner.trouble.as_ref()).map(ToString::to_string)
    }

    /// Fails if nothing will be taken any more.
    pub(crate) fn check_not_closed(&self) -> Result<()> {
        match &self.lock().refusal {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

impl Inner {
    fn take_group(&mut self) -> Vec<Job> {
        let mut group: Vec<Job> = Vec::new();
        let (mut bytes, mut ops) = (0, 0);
        while let Some(job) = self.jobs.front() {
            bytes += job.bytes;
            ops += job.ops.len();
            if !group.is_empty() && (bytes > GROUP_BYTES_MAX || ops > GROUP_OPS_MAX) {
                break;
            }
            group.extend(self.jobs.pop_front());
        }
        let background_waits =
            self.background.front().is_some_and(|(since, _)| since.elapsed() >= RECLAIM_WAIT_MAX);
        if group.is_empty() || background_waits {
            group.extend(self.background.pop_front().map(|(_, job)| job));
        }
        self.bytes -= group.iter().map(|job| job.bytes).sum::<usize>();
        group
    }
}
