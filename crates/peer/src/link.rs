//! Calls to one other node.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};

use crate::calls::Outcome;
use crate::dial::Target;
use crate::driver;
use crate::error::CallError;
use crate::secret::Secret;
use crate::state::{NotQueued, Shared};

/// The longest patience that makes a difference.
const PATIENCE_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Calls to one other node over one connection, made when first needed and made again after it broke.
#[derive(Clone)]
pub struct Link(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    target: Arc<Target>,
    /// Where connections live, whatever threads the callers are on.
    runtime: Handle,
}

impl Link {
    /// Returns a link to an address, `host:port`, which is resolved when connecting. Its connections live on a runtime with
    /// timers; callers may be on others, or on none.
    pub fn new(address: &str, secret: Secret, runtime: Handle) -> Link {
        Link(Arc::new(Inner {
            shared: Arc::new(Shared::new()),
            target: Arc::new(Target::new(address, secret)),
            runtime,
        }))
    }

    /// Sends a request and returns the answer. If this future is dropped, the other node drops the call.
    pub async fn call(&self, request: Bytes, patience: Duration) -> Result<Bytes, CallError> {
        let now = Instant::now();
        let deadline = now + patience.min(PATIENCE_MAX);
        let shared = &self.0.shared;
        let queued = match shared.call(request, now, deadline) {
            Ok(queued) => queued,
            Err(NotQueued::Failed(error)) => return Err(error),
            Err(NotQueued::Full(request)) => {
                let room =
                    async { timeout_at(deadline, self.call_when_there_is_room(request, deadline)).await };
                let waiting = Within { runtime: &self.0.runtime, work: Box::pin(room) };
                let expired = |_| CallError::NotSent("there was no room for it".to_owned());
                waiting.await.map_err(expired)??
            }
        };
        let pending = Pending { shared, id: Some(queued.id) };
        if queued.must_start {
            self.start();
        }
        pending.await
    }

    /// Sends a request without waiting for an answer; it is lost if the connection breaks. Never blocks: returns false if it
    /// is dropped, because too much is waiting to be sent or the other node cannot be reached.
    pub fn tell(&self, request: Bytes) -> bool {
        let Ok(queued) = self.0.shared.tell(request, Instant::now()) else { return false };
        if queued.must_start {
            self.start();
        }
        true
    }

    async fn call_when_there_is_room(
        &self,
        mut request: Bytes,
        deadline: Instant,
    ) -> Result<crate::state::Queued, CallError> {
        let shared = &self.0.shared;
        loop {
            // It listens before it looks, so that it misses no room that is made in between.
            let mut room = pin!(shared.room.notified());
            room.as_mut().enable();
            match shared.call(request, Instant::now(), deadline) {
                Ok(queued) => return Ok(queued),
                Err(NotQueued::Failed(error)) => return Err(error),
                Err(NotQueued::Full(back)) => request = back,
            }
            room.await;
        }
    }

    fn start(&self) {
        self.0.runtime.spawn(driver::run(self.0.shared.clone(), self.0.target.clone()));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shared.abandon();
    }
}

/// Something that needs the timers of a runtime, polled by a thread that may be on none.
struct Within<'r, F> {
    runtime: &'r Handle,
    work: Pin<Box<F>>,
}

impl<F: Future> Future for Within<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _within = self.runtime.enter();
        self.work.as_mut().poll(cx)
    }
}

/// A call that was queued. Dropped before its end, it is given up.
struct Pending<'a> {
    shared: &'a Shared,
    id: Option<u64>,
}

impl Future for Pending<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let Some(id) = self.id else { return Poll::Pending };
        let polled = self.shared.poll(id, cx);
        if polled.is_ready() {
            self.id = None;
        }
        polled
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.shared.give_up(id);
        }
    }
}
