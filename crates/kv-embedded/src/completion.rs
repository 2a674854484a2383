//! One result handed from the writer thread to the caller that waits for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use armilla_kv::{Error, ErrorKind, Result};
use parking_lot::{Mutex, MutexGuard};

#[derive(Default)]
struct Slot {
    result: Option<Result<()>>,
    waker: Option<Waker>,
}

type SharedSlot = Arc<Mutex<Slot>>;

/// The side that knows the result. Dropping it without a result says that the outcome is unknown.
pub(crate) struct Completion(Option<SharedSlot>);

/// The side that waits.
pub(crate) struct Waiting(SharedSlot);

/// Returns the two sides.
pub(crate) fn completion() -> (Completion, Waiting) {
    let slot = SharedSlot::default();
    (Completion(Some(slot.clone())), Waiting(slot))
}

impl Completion {
    /// Hands the result over and wakes the waiting side.
    pub(crate) fn complete(mut self, result: Result<()>) {
        self.hand_over(result);
    }

    fn hand_over(&mut self, result: Result<()>) {
        let Some(slot) = self.0.take() else { return };
        let waker = {
            let mut slot = lock(&slot);
            slot.result = Some(result);
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.hand_over(Err(Error::new(
            ErrorKind::OutcomeUnknown,
            "the writer stopped before it knew the outcome",
        )));
    }
}

impl Waiting {
    /// Blocks the calling thread until the result is there.
    pub(crate) fn wait(self) -> Result<()> {
        armilla_kv::block_on(self)
    }
}

impl Future for Waiting {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut slot = lock(&self.0);
        match slot.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                match &mut slot.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    empty => *empty = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}

fn lock(slot: &SharedSlot) -> MutexGuard<'_, Slot> {
    slot.lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_reaches_a_thread_that_waits() {
        let (completion, waiting) = completion();
        let waiter = std::thread::spawn(move || waiting.wait());
        std::thread::yield_now();
        completion.complete(Ok(()));
        assert!(waiter.join().unwrap().is_ok());
    }

    #[test]
    fn a_lost_completion_is_an_unknown_outcome() {
        let (completion, waiting) = completion();
        drop(completion);
        assert_eq!(waiting.wait().unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    }
}
