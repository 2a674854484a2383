//! Letting background work stand back behind what callers wait for.
//!
//! Compaction can wait, flushing cannot: writers are held back while memory is full. The engine's workers do both, but
//! the first of them is kept free for flushing, so the others stand back and that one does not.

#[cfg(target_os = "linux")]
pub(crate) use linux::{Workers, stand_back};

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{Workers, stand_back};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::time::Duration;

    use rustix::process::{Pid, setpriority_process};

    /// How far threads of background work stand back, in the system's steps: each is worth about a fifth less of a
    /// processor that others want too. An idle processor they have to themselves.
    pub(super) const NICENESS: i32 = 10;

    /// How often it is looked whether all threads have their names, and how long it waits in between.
    const NAME_POLLS_MAX: usize = 50;
    const NAME_POLL_PERIOD: Duration = Duration::from_millis(1);

    /// The name of the engine's threads, as the system shows it.
    const WORKER: &str = "fjall:worker";

    /// Lets the calling thread stand back for good.
    pub(crate) fn stand_back() {
        // On Linux, "this process" means the calling thread here.
        if let Err(error) = setpriority_process(None, NICENESS) {
            tracing::debug!(%error, "background work keeps its priority");
        }
    }

    /// The engine's threads that there were before it was opened.
    pub(crate) struct Workers(BTreeSet<i32>);

    impl Workers {
        /// Takes note of the threads there are.
        pub(crate) fn now() -> Workers {
            Workers(workers())
        }

        /// Lets threads stand back that were started since, all but the first; there are so many of them. Others that open
        /// a store at the same time may make one of theirs the first: then that one flushes beside ours.
        pub(crate) fn let_new_ones_stand_back(&self, count: usize) {
            let new = || -> Vec<i32> { workers().difference(&self.0).copied().collect() };
            // A thread has its name only a moment after it was started.
            let found = (0..NAME_POLLS_MAX).map(|_| new()).find(|new| {
                let is_complete = new.len() >= count;
                if !is_complete {
                    std::thread::sleep(NAME_POLL_PERIOD);
                }
                is_complete
            });
            for thread in found.unwrap_or_else(new).into_iter().skip(1).filter_map(Pid::from_raw) {
                if let Err(error) = setpriority_process(Some(thread), NICENESS) {
                    tracing::debug!(%error, "background work keeps its priority");
                }
            }
        }
    }

    /// Returns the engine's threads, in the order in which they were started.
    pub(super) fn workers() -> BTreeSet<i32> {
        let Ok(threads) = fs::read_dir("/proc/self/task") else { return BTreeSet::new() };
        let numbers = threads.flatten().filter_map(|thread| {
            let name = fs::read_to_string(thread.path().join("comm")).ok()?;
            let number = thread.file_name().to_str()?.parse().ok()?;
            (name.trim_end() == WORKER).then_some(number)
        });
        numbers.collect()
    }
}

/// Where the system knows priorities of whole processes only, everything stays as it is.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    /// Leaves the calling thread as it is.
    pub(crate) fn stand_back() {}

    /// Nothing is known of the engine's threads.
    pub(crate) struct Workers;

    impl Workers {
        /// Takes note of nothing.
        pub(crate) fn now() -> Workers {
            Workers
        }

        /// Leaves the engine's threads as they are.
        pub(crate) fn let_new_ones_stand_back(&self, _count: usize) {}
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread::{Builder, JoinHandle};

    use rustix::process::{Pid, getpriority_process};

    use super::linux::NICENESS;
    use super::*;

    /// Stands in for a worker: has its name, says which thread it is, and lives until it is told.
    fn worker(started: Sender<i32>, end: Receiver<()>) -> JoinHandle<()> {
        let run = move || {
            let link = std::fs::read_link("/proc/thread-self").expect("Linux has it");
            let number = link.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
            started.send(number.expect("its name ends with the number")).expect("the test listens");
            end.recv().unwrap_or_default();
        };
        Builder::new().name("fjall:worker".to_owned()).spawn(run).expect("there is room for a thread")
    }

    #[test]
    fn all_new_workers_but_the_first_stand_back() {
        let own = getpriority_process(None).unwrap();
        let before = Workers::now();
        let (started, numbers) = channel();
        let (ends, threads): (Vec<_>, Vec<_>) = (0..3)
            .map(|_| {
                let (end, ended) = channel();
                (end, worker(started.clone(), ended))
            })
            .unzip();
        let numbers: Vec<i32> = numbers.iter().take(3).collect();
        before.let_new_ones_stand_back(3);
        let niceness = |thread: &i32| getpriority_process(Pid::from_raw(*thread)).unwrap();
        let mut found: Vec<i32> = numbers.iter().map(niceness).collect();
        found.sort_unstable();
        // Another test may have opened a store meanwhile, and the first may be one of its threads.
        assert_eq!(found[1..], [NICENESS, NICENESS]);
        assert!([own, NICENESS].contains(&found[0]), "{found:?}");
        drop(ends);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn a_thread_stands_back_alone() {
        let before = getpriority_process(None).unwrap();
        let inside = std::thread::spawn(|| {
            stand_back();
            getpriority_process(None).unwrap()
        });
        assert_eq!(inside.join().unwrap(), NICENESS);
        assert_eq!(getpriority_process(None).unwrap(), before);
    }
}
