//! Running what takes its time where it keeps no other task waiting.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{Handle, RuntimeFlavor};

use crate::error::{Error, ErrorKind, Result};

/// Threads of the runtime that run such work right now, for all engines of the process.
static AT_WORK: WorkSlots = WorkSlots(AtomicUsize::new(0));

/// How many threads run such work.
struct WorkSlots(AtomicUsize);

/// One of them.
struct WorkSlot<'p>(&'p WorkSlots);

impl WorkSlots {
    /// Takes a slot while fewer than half of the threads have one: the others serve everybody else.
    fn take(&self, threads: usize) -> Option<WorkSlot<'_>> {
        let is_free = |taken: usize| (taken < threads / 2).then_some(taken + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_free).ok().map(|_| WorkSlot(self))
    }
}

impl Drop for WorkSlot<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs something that takes a few milliseconds at most in the task that asks for it: to hand it over takes longer than
/// most of it does, and so does to find another thread for the tasks that are ready meanwhile. The task notices nothing
/// meanwhile, not even that its client has gone.
pub(crate) async fn run_here<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if Handle::current().runtime_flavor() != RuntimeFlavor::MultiThread {
        return run(what, work).await;
    }
    Ok(work())
}

/// Runs something that computes or reads for longer than a task should. `what` names it if it is not finished.
///
/// Most of it takes less time than to change threads, so it is done right here while enough other threads are there for
/// the tasks that are ready; beyond that the runtime is told, and gives them a thread.
///
/// What was begun runs to its end, though no caller waits for it any more; it has to be told by other means.
pub(crate) async fn run<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let runtime = Handle::current();
    let done = match runtime.runtime_flavor() {
        // In a task of its own, which runs next on this thread: so who waits for it sees meanwhile that the client has
        // gone, and another thread can take over the task that this one was to run next.
        RuntimeFlavor::MultiThread => {
            let threads = runtime.metrics().num_workers();
            let task = async move {
                match AT_WORK.take(threads) {
                    Some(_slot) => work(),
                    None => tokio::task::block_in_place(work),
                }
            };
            tokio::spawn(task).await
        }
        _ => tokio::task::spawn_blocking(work).await,
    };
    done.map_err(|failure| Error::new(ErrorKind::Internal, format!("the {what} was not finished: {failure}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_threads_may_work() {
        for (threads, places) in [(1, 0), (2, 1), (3, 1), (8, 4)] {
            let all = WorkSlots(AtomicUsize::new(0));
            let taken: Vec<WorkSlot<'_>> = std::iter::from_fn(|| all.take(threads)).collect();
            assert_eq!(taken.len(), places, "of {threads}");
            drop(taken);
            assert_eq!(all.take(threads).is_some(), places > 0, "of {threads}, once they are free again");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn others_go_on_while_all_threads_work() {
        // As many as there are threads, each waiting for a task that needs a thread, too.
        let (begun, mut beginnings) = tokio::sync::mpsc::unbounded_channel();
        let (mut tells, mut works) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let (tell, told) = std::sync::mpsc::channel::<()>();
            let begun = begun.clone();
            let work = move || begun.send(()).is_ok() && told.recv().is_ok();
            works.push(tokio::spawn(run("wait", work)));
            tells.push(tell);
        }
        for _ in 0..2 {
            beginnings.recv().await.unwrap();
        }
        let all_told = tokio::spawn(async move { tells.iter().all(|tell| tell.send(()).is_ok()) });
        assert!(all_told.await.unwrap());
        for work in works {
            assert!(work.await.unwrap().unwrap());
        }
    }
}
