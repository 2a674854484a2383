//! The worker's end of the pipes.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armilla_script::wire::{Call, Frames, Notice, Order};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The pipes. Cheap to clone; one thread uses it.
#[derive(Clone)]
pub(crate) struct Channel {
    pipes: Arc<Mutex<Pipes>>,
}

struct Pipes {
    input: PipeReader,
    output: PipeWriter,
    frames: Frames,
    frame: Vec<u8>,
}

/// The server is not at the other end any more, or what comes from there makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Over;

impl Channel {
    pub(crate) fn new(input: PipeReader, output: PipeWriter) -> Channel {
        let (frames, frame) = (Frames::default(), Vec::new());
        Channel { pipes: Arc::new(Mutex::new(Pipes { input, output, frames, frame })) }
    }

    fn pipes(&self) -> MutexGuard<'_, Pipes> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something.
    pub(crate) fn send(&self, notice: &Notice<'_>) -> Result<(), Over> {
        let mut pipes = self.pipes();
        let Pipes { output, frame, .. } = &mut *pipes;
        frame.clear();
        notice.encode(frame);
        let sent = output.write_all(frame).map_err(|_| Over);
        frame.shrink_to(FRAME_BYTES_KEPT);
        sent
    }

    /// Waits for an order and does something with it.
    pub(crate) fn receive<R>(&self, take: impl FnOnce(Order<'_>) -> R) -> Result<R, Over> {
        let mut pipes = self.pipes();
        let Pipes { input, frames, .. } = &mut *pipes;
        while !frames.take().map_err(|_| Over)? {
            match frames.fill(|buffer| input.read(buffer)) {
                Ok(0) => return Err(Over),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Over),
            }
        }
        Order::decode(frames.frame()).map(take).map_err(|_| Over)
    }

    /// Asks the server something for the script, and does something with the answer.
    pub(crate) fn call<R>(&self, call: Call<'_>, take: impl FnOnce(Order<'_>) -> R) -> Result<R, Over> {
        self.send(&Notice::Call(call))?;
        self.receive(take)
    }

    /// Says whether the server has sent something that was not asked for. While a script computes, that can only be the
    /// order to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        let pipes = self.pipes();
        if !pipes.frames.is_empty() {
            return true;
        }
        let mut input = [PollFd::new(&pipes.input, PollFlags::IN)];
        poll(&mut input, Some(&Timespec::default())).is_ok_and(|count| count > 0)
    }
}

/// What is kept of the memory for frames.
const FRAME_BYTES_KEPT: usize = 64 * 1024;
