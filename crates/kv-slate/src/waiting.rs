//! How a synchronous read waits for an asynchronous tree.
//!
//! What lies in memory is answered by the first poll, on the thread that asks. What has to come from the object store goes
//! on as a task of the store's own threads, and the thread that asked waits for it. If that thread serves a runtime, it
//! hands its other tasks to another thread before it waits: sockets are served meanwhile.

use std::future::Future;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use armilla_kv::Result;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{block_in_place, coop::unconstrained};

use crate::failure;

/// Waits for work of any kind.
pub(crate) fn answer<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let mut work = Box::pin(unconstrained(work));
    {
        let _entered = runtime.enter();
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return done;
        }
    }
    let (done, outcome) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // Nothing waits any more if this fails.
        let _ = done.send(work.await);
    });
    let wait = move || outcome.recv().unwrap_or_else(|_| Err(failure::closed()));
    match Handle::try_current().map(|current| current.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(wait),
        _ => wait(),
    }
}
