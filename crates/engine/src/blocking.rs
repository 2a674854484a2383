//! Running what takes its time where it keeps no other task waiting.

use tokio::runtime::{Handle, RuntimeFlavor};

use crate::error::{Error, ErrorKind, Result};

/// Runs something that computes or reads for longer than a task should. `what` names it if it is not finished.
pub(crate) async fn run<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
        // Other tasks move to another thread, and the work saves two changes of threads.
        return Ok(tokio::task::block_in_place(work));
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|failure| Error::new(ErrorKind::Internal, format!("the {what} was not finished: {failure}")))
}
