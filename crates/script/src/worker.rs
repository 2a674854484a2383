//! One worker: its two pipes, and its process.
//!
//! Both ends on this side never block: whatever the worker does or does not do, the wait for it is cut into slices,
//! and between them the caller is asked whether the time is over. Then the worker is told to stop; if it does not
//! within a few slices, it is killed. A worker that has computed for a slice without a call gets a lower priority, so
//! that the requests of others come first, and is not used again.

use std::io::{ErrorKind, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd;
use std::process::Child;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::ScriptError;
use crate::limits::{START_SLICES_MAX, STOP_SLICES_MAX, WAIT_SLICE, WORKER_NICENESS};
use crate::wire::{Frames, Notice, Order};

/// Whose scripts may share a worker, one after the other: those of one container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(pub u64);

/// A worker. It is killed when this goes.
pub(crate) struct Worker {
    input: PipeWriter,
    output: PipeReader,
    frames: Frames,
    /// None for one that is a thread of this process.
    process: Option<Child>,
    /// Its place among those that there may be.
    _place: Arc<()>,
    owner: Option<Owner>,
    /// Whether it can be used again.
    is_spent: bool,
    /// Whether it has waited for work through a whole period.
    is_stale: bool,
    /// Whether it was told to stop.
    is_stopping: bool,
}

impl Worker {
    /// Takes over the pipes to a worker that was just started, and waits until it is ready.
    pub(crate) fn begin(
        input: PipeWriter,
        output: PipeReader,
        process: Option<Child>,
        place: Arc<()>,
    ) -> Result<Worker, ScriptError> {
        let (is_spent, is_stale, is_stopping) = (false, false, false);
        let (frames, owner, _place) = (Frames::default(), None, place);
        let mut worker =
            Worker { input, output, frames, process, _place, owner, is_spent, is_stale, is_stopping };
        let failed = |why: String| ScriptError::Sandbox(why);
        rustix::io::ioctl_fionbio(&worker.input, true).map_err(|error| failed(error.to_string()))?;
        rustix::io::ioctl_fionbio(&worker.output, true).map_err(|error| failed(error.to_string()))?;
        let mut slices = 0;
        let mut expired = || {
            slices += 1;
            slices > START_SLICES_MAX
        };
        let is_ready = matches!(worker.receive(&mut expired).map(Notice::decode), Ok(Ok(Notice::Ready)));
        // It may have been slow to start; what counts is what it does from now on.
        worker.is_spent = false;
        if is_ready { Ok(worker) } else { Err(failed("a worker did not start".to_owned())) }
    }

    /// Returns whose scripts it has run, if any.
    pub(crate) fn owner(&self) -> Option<Owner> {
        self.owner
    }

    /// Reserves it for one owner.
    pub(crate) fn set_owner(&mut self, owner: Owner) {
        self.owner = Some(owner);
    }

    /// Notes that it has work again.
    pub(crate) fn refresh(&mut self) {
        self.is_stale = false;
    }

    /// Notes that a period is over in which it had no work; says whether that was the second one.
    pub(crate) fn grow_stale(&mut self) -> bool {
        std::mem::replace(&mut self.is_stale, true)
    }

    /// Says whether it has ended while it had no work, or has said something that it was not asked for. The system may end
    /// any process where memory is short; that is not the fault of the script that comes next.
    pub(crate) fn is_gone(&self) -> bool {
        let mut pipes = [PollFd::new(&self.output, PollFlags::IN)];
        poll(&mut pipes, Some(&Timespec::default())).map_or(true, |count| count > 0)
    }

    /// Says whether it must not be used again.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Returns the number of its process.
    #[cfg(test)]
    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Gives an order.
    pub(crate) fn send(&mut self, order: &Order<'_>) -> Result<(), ScriptError> {
        let mut frame = Vec::new();
        order.encode(&mut frame);
        self.send_frame(&frame)
    }

    /// Gives an order that is encoded already.
    pub(crate) fn send_frame(&mut self, frame: &[u8]) -> Result<(), ScriptError> {
        let mut rest = frame;
        let mut slices = 0;
        while !rest.is_empty() {
            match self.input.write(rest) {
                Ok(0) => return Err(self.give_up(ScriptError::Ended)),
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    // It is this worker's turn to listen, so it does so at once, or never.
                    if slices > STOP_SLICES_MAX {
                        return Err(self.give_up(ScriptError::Ended));
                    }
                    if !wait(&self.input, PollFlags::OUT) {
                        slices += 1;
                    }
                }
                // What it said before it ended is worth hearing: it may have had no memory left.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Waits for the next frame. `expired` says whether the time is over.
    pub(crate) fn receive(&mut self, expired: &mut dyn FnMut() -> bool) -> Result<&[u8], ScriptError> {
        let mut stop_slices = 0;
        loop {
            match self.frames.take() {
                Ok(true) => return Ok(self.frames.frame()),
                Ok(false) => {}
                Err(_) => return Err(self.give_up(ScriptError::Ended)),
            }
            if wait(&self.output, PollFlags::IN) {
                let (frames, output) = (&mut self.frames, &mut self.output);
                match frames.fill(|buffer| output.read(buffer)) {
                    Ok(0) => return Err(self.give_up(ScriptError::Ended)),
                    Ok(_) => {}
                    Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                    Err(_) => return Err(self.give_up(ScriptError::Ended)),
                }
                continue;
            }
            self.stand_back();
            if self.is_stopping {
                stop_slices += 1;
                if stop_slices > STOP_SLICES_MAX {
                    return Err(self.give_up(ScriptError::OutOfTime));
                }
            } else if expired() {
                self.stop()?;
            }
        }
    }

    /// Hands out what has come, with the frame that was received last. Nothing can be received until it is back.
    pub(crate) fn lend_frames(&mut self) -> Frames {
        std::mem::take(&mut self.frames)
    }

    /// Takes it back.
    pub(crate) fn return_frames(&mut self, frames: Frames) {
        self.frames = frames;
    }

    /// Gives an order and waits for the answer to it.
    pub(crate) fn ask<R>(
        &mut self,
        order: &Order<'_>,
        expired: &mut dyn FnMut() -> bool,
        understand: impl FnOnce(Notice<'_>) -> Option<R>,
    ) -> Result<R, ScriptError> {
        self.send(order)?;
        self.hear(expired, understand)
    }

    /// Waits for an answer.
    pub(crate) fn hear<R>(
        &mut self,
        expired: &mut dyn FnMut() -> bool,
        understand: impl FnOnce(Notice<'_>) -> Option<R>,
    ) -> Result<R, ScriptError> {
        let understood = match Notice::decode(self.receive(expired)?) {
            Ok(Notice::OutOfMemory { .. }) => Err(ScriptError::OutOfMemory),
            Ok(notice) => understand(notice).ok_or(ScriptError::Ended),
            Err(_) => Err(ScriptError::Ended),
        };
        understood.map_err(|error| self.give_up(error))
    }

    /// Tells the script that its time is over.
    pub(crate) fn stop(&mut self) -> Result<(), ScriptError> {
        if self.is_stopping {
            return Ok(());
        }
        self.is_stopping = true;
        // The order may arrive when the script has just ended, and lie there for the next.
        self.is_spent = true;
        self.send(&Order::Stop)
    }

    /// Lets requests of others come before this worker.
    fn stand_back(&mut self) {
        if self.is_spent {
            return;
        }
        self.is_spent = true;
        if let Some(process) = &self.process
            && let Some(id) = i32::try_from(process.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // Where that is not allowed, it goes on as it is, until its time is over.
            let _ = rustix::process::setpriority_process(Some(id), WORKER_NICENESS);
        }
    }

    fn give_up(&mut self, error: ScriptError) -> ScriptError {
        self.is_spent = true;
        self.kill();
        error
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may be gone already; waiting for it makes sure that nothing of it is left.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for one slice until a pipe is ready.
fn wait(pipe: &impl AsFd, ready: PollFlags) -> bool {
    let slice = Timespec { tv_sec: 0, tv_nsec: i64::from(WAIT_SLICE.subsec_nanos()) };
    let mut pipes = [PollFd::new(pipe, ready)];
    // A pipe that ended is ready too: the next read or write says so.
    poll(&mut pipes, Some(&slice)).is_ok_and(|count| count > 0)
}

#[cfg(test)]
mod tests;
