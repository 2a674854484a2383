//! Standard output, for lines that somebody else reads.

use std::io::{self, Write as _};

/// Standard output.
pub(super) struct Output {
    /// The pipe that it is.
    #[cfg(unix)]
    pipe: Option<tokio::net::unix::pipe::Sender>,
}

#[cfg(unix)]
impl Output {
    /// Takes standard output; must be called inside of a runtime.
    pub(super) fn new() -> Output {
        // Without being told when its reader goes, the next write finds out.
        Output { pipe: pipe().ok().flatten() }
    }

    /// Waits until whoever read a pipe has gone.
    pub(super) async fn closed(&self) {
        use tokio::io::Interest;
        if let Some(pipe) = &self.pipe
            && pipe.ready(Interest::ERROR).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}

/// Standard output once more, to be watched, if it is a pipe: nobody closes files.
#[cfg(unix)]
fn pipe() -> io::Result<Option<tokio::net::unix::pipe::Sender>> {
    use std::fs::File;
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;
    use tokio::net::unix::pipe::Sender;
    let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    if !file.metadata()?.file_type().is_fifo() {
        return Ok(None);
    }
    // Unchecked: it stays a blocking one, since others may write to it too, and nothing is written through this.
    Sender::from_file_unchecked(file).map(Some)
}

#[cfg(not(unix))]
impl Output {
    /// Takes standard output.
    pub(super) fn new() -> Output {
        Output {}
    }

    /// Never comes to an end: that the reader has gone shows in the next write.
    pub(super) async fn closed(&self) {
        std::future::pending().await
    }
}

impl Output {
    /// Writes lines and flushes them.
    ///
    /// A reader may let us wait for as long as it likes, so another thread does it.
    pub(super) async fn write(&self, lines: Vec<u8>) -> io::Result<()> {
        let writing = tokio::task::spawn_blocking(move || {
            let mut out = io::stdout().lock();
            out.write_all(&lines)?;
            out.flush()
        });
        writing.await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}
