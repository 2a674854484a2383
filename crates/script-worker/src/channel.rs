//! The worker's end of the pipes.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armilla_script::wire::{CallList, Frames, Notice, Order, Reply};
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
    /// Whether what comes is the answer to a question.
    is_awaiting: bool,
}

/// The server is not at the other end any more, or what comes from there makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Over;

impl Channel {
    pub(crate) fn new(input: PipeReader, output: PipeWriter) -> Channel {
        let (frames, frame, is_awaiting) = (Frames::default(), Vec::new(), false);
        Channel { pipes: Arc::new(Mutex::new(Pipes { input, output, frames, frame, is_awaiting })) }
    }

    fn pipes(&self) -> MutexGuard<'_, Pipes> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something.
    pub(crate) fn send(&self, notice: &Notice<'_>) -> Result<(), Over> {
        self.send_frame(|frame| notice.encode(frame))
    }

    fn send_frame(&self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), Over> {
        let mut pipes = self.pipes();
        let Pipes { output, frame, .. } = &mut *pipes;
        frame.clear();
        encode(frame);
        let sent = output.write_all(frame).map_err(|_| Over);
        frame.shrink_to(FRAME_BYTES_KEPT);
        sent
    }

    /// Waits for an order and does something with it.
    pub(crate) fn receive<R>(&self, take: impl FnOnce(Order<'_>) -> R) -> Result<R, Over> {
        let frames = {
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
            // What is done with an order may end the memory, which is said through this same channel.
            std::mem::take(frames)
        };
        let taken = Order::decode(frames.frame()).map(take);
        self.pipes().frames = frames;
        taken.map_err(|_| Over)
    }

    /// Asks the server something for the script, of which it has accepted so many already, and does something with each
    /// of the replies. Returns how many operations it accepts from now on; nothing if the script has to stop.
    pub(crate) fn call(
        &self,
        calls: &CallList,
        accepted: u64,
        mut take: impl FnMut(Reply<'_>),
    ) -> Result<Option<u64>, Over> {
        enum Heard {
            Reply,
            Window(u64),
            Stop,
        }
        self.send_frame(|frame| calls.encode(accepted, frame))?;
        self.pipes().is_awaiting = true;
        let window = loop {
            let heard = self.receive(|order| match order {
                Order::Reply(reply) => {
                    take(reply);
                    Heard::Reply
                }
                Order::Replied { window } => Heard::Window(window),
                _ => Heard::Stop,
            })?;
            match heard {
                Heard::Reply => {}
                Heard::Window(window) => break Some(window),
                Heard::Stop => break None,
            }
        };
        self.pipes().is_awaiting = false;
        Ok(window)
    }

    /// Says whether the server has sent something that was not asked for. While a script computes, that can only be the
    /// order to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        let pipes = self.pipes();
        if pipes.is_awaiting {
            return false;
        }
        if !pipes.frames.is_empty() {
            return true;
        }
        let mut input = [PollFd::new(&pipes.input, PollFlags::IN)];
        poll(&mut input, Some(&Timespec::default())).is_ok_and(|count| count > 0)
    }
}

/// What is kept of the memory for frames.
const FRAME_BYTES_KEPT: usize = 64 * 1024;
