//! Letting background work stand back behind what callers wait for.
//!
//! Merging sorted files can wait, and so can giving back what was dropped. Writing what is full to sorted files cannot:
//! writers are held back while memory is full.

/// How far threads of background work stand back, in the system's steps: each is worth about a fifth less of a processor
/// that others want too. An idle processor they have to themselves.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Lets the calling thread stand back for good. Where the system knows priorities of whole processes only, everything stays
/// as it is.
pub(crate) fn stand_back() {
    // On Linux, "this process" means the calling thread here.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "background work keeps its priority");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

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
