//! Letting background work stand back behind what somebody waits for.

use std::panic::resume_unwind;

/// How far threads of background work stand back, in the system's steps: each is worth about a fifth less of a processor
/// that others want too. An idle processor they have to themselves.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Runs something on a thread that stands back. Threads that it starts inherit this, which is how the threads of the engine
/// come by it: there is no other way to reach them.
///
/// Where the system knows priorities of whole processes only, everything stays as it is.
pub(crate) fn standing_back<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            stand_back();
            run()
        });
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Lets the calling thread stand back for good.
#[cfg(target_os = "linux")]
pub(crate) fn stand_back() {
    // On Linux, "this process" means the calling thread here.
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "background work keeps its priority");
    }
}

/// Leaves the calling thread as it is.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stand_back() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[test]
    fn threads_started_inside_stand_back_and_the_caller_does_not() {
        let before = getpriority_process(None).unwrap();
        let inside =
            standing_back(|| std::thread::spawn(|| getpriority_process(None).unwrap()).join().unwrap());
        assert_eq!(inside, NICENESS);
        assert_eq!(getpriority_process(None).unwrap(), before);
    }
}
