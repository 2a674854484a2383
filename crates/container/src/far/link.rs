//! Asking another process for something of one of its partitions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use armilla_kv as kv;
use armilla_value::rid::ContainerRid;
use bytes::Bytes;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use super::forms::Form;
use super::request::{Head, Reply, Request};
use super::wire::{In, Out};
use crate::error::{Error, ErrorKind};
use crate::limits::{CALL_PATIENCE, WAITS_MAX};
use crate::map::ranges::Range;
use crate::peers::{Peer, PeerError};

/// What a request begins with that is for a container, whose resource id follows.
pub const TO_CONTAINER: u8 = 0;

/// A partition of another process.
pub(crate) struct Far {
    peer: Arc<dyn Peer>,
    rid: ContainerRid,
    range_id: u32,
    space: u64,
}

/// Why another process has not done what it was asked for.
#[derive(Debug, Clone)]
pub(crate) enum FarError {
    /// It has refused.
    Failed(Error),
    /// It does not have the partition, or could not be asked. Nothing was done.
    Moved(String),
    /// It is not known whether it was done.
    Unknown(String),
}

impl Far {
    pub(crate) fn new(peer: Arc<dyn Peer>, rid: ContainerRid, range: &Range) -> Far {
        Far { peer, rid, range_id: range.id, space: range.space.0 }
    }

    /// Returns whether it is this process that has the partition.
    pub(crate) fn is_at(&self, peer: &dyn Peer) -> bool {
        self.peer.name() == peer.name()
    }

    /// Returns a number that no other lock of this process has.
    pub(crate) fn next_lock(&self) -> u64 {
        static LOCKS_ASKED: AtomicU64 = AtomicU64::new(0);
        LOCKS_ASKED.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Asks, and waits.
    pub(crate) async fn ask<T: Form>(&self, request: &Request) -> Result<T, FarError> {
        self.read(self.peer.call(self.message(request), CALL_PATIENCE).await)
    }

    /// The same on a thread that may wait: if it serves others, it hands them over before.
    pub(crate) fn ask_here<T: Form>(&self, request: &Request) -> Result<T, FarError> {
        self.read(
            wait_in_turn(self.peer.call(self.message(request), CALL_PATIENCE)).map_err(FarError::Failed)?,
        )
    }

    /// Says something that needs no answer.
    pub(crate) fn tell(&self, request: &Request) {
        self.peer.tell(self.message(request));
    }

    fn message(&self, request: &Request) -> Bytes {
        let mut out = Out::with_capacity(256);
        out.u8(TO_CONTAINER);
        out.u64(u64::from_be_bytes(self.rid.to_bytes()));
        Head { range_id: self.range_id, space: self.space }.write(&mut out);
        request.write(&mut out);
        out.finish()
    }

    fn read<T: Form>(&self, answer: Result<Bytes, PeerError>) -> Result<T, FarError> {
        let answer = answer.map_err(|error| match error {
            PeerError::NotSent(why) => FarError::Moved(why),
            PeerError::Unknown(why) => FarError::Unknown(why),
        })?;
        let mut answer = In::new(answer);
        let reply = Reply::read(&mut answer).and_then(|reply| answer.end().map(|()| reply));
        match reply.map_err(|error| FarError::Unknown(error.message))? {
            Reply::Done(done) => Ok(done),
            Reply::Failed(error) => Err(FarError::Failed(error)),
            Reply::NotHere => {
                Err(FarError::Moved(format!("node {} does not have the partition", self.peer.name())))
            }
        }
    }
}

/// Threads that wait for other processes at present.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// One of the threads that may wait.
struct Waiting;

impl Waiting {
    fn begin() -> Option<Waiting> {
        if WAITING.fetch_add(1, Ordering::AcqRel) < WAITS_MAX {
            return Some(Waiting);
        }
        drop(Waiting);
        None
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Waits for something like [`wait`], unless so many threads do already that none would be left for what need not wait.
pub(crate) fn wait_in_turn<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    match Waiting::begin() {
        Some(_waiting) => Ok(wait(work)),
        None => Err(Error::new(
            ErrorKind::Unavailable,
            format!("{WAITS_MAX} requests wait for other nodes already, the most: try again"),
        )),
    }
}

/// Waits for something on a thread that may wait.
pub fn wait<T>(work: impl Future<Output = T>) -> T {
    let handle = Handle::try_current();
    match handle.as_ref().map(Handle::runtime_flavor) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(|| Handle::current().block_on(work)),
        // Nothing else runs here that could be held up.
        _ => kv::block_on(work),
    }
}

/// How long one who asks in vain waits before it looks again where the partition is.
pub(crate) const LOOK_PAUSE: Duration = Duration::from_millis(20);

impl From<FarError> for Error {
    fn from(error: FarError) -> Error {
        match error {
            FarError::Failed(error) => error,
            FarError::Moved(why) => Error::new(ErrorKind::Moved, why),
            // Who cares whether something was done says so by itself: this is for those who read.
            FarError::Unknown(why) => Error::new(ErrorKind::Moved, why),
        }
    }
}

impl FarError {
    /// Returns the failure of something that writes.
    pub(crate) fn of_write(self) -> Error {
        match self {
            FarError::Unknown(why) => Error::new(
                ErrorKind::OutcomeUnknown,
                format!("it is not known whether it was written: {why}"),
            ),
            error => error.into(),
        }
    }
}
