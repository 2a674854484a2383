//! Who else serves the partitions of an account, where several processes do.
//!
//! Not here: how processes find out (`cluster`), how they speak to each other (`peer`), what they say (`far`).

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use armilla_kv::SpaceId;
use bytes::Bytes;

/// A future of its own.
pub type PeerFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Says where partitions are served, at any moment.
pub trait Peers: Send + Sync + 'static {
    /// Returns who serves the partition that lies in a space. What is in memory of it may be shown if it was asked before
    /// that was looked at, and it said that it is here.
    fn find(&self, space: SpaceId) -> Whereabouts;

    /// Waits until something has changed, or a little while.
    fn changed(&self) -> PeerFuture<()>;

    /// Returns whether this process ends, and gets no more partitions: nothing is to be waited for any more.
    fn is_ending(&self) -> bool;

    /// Waits until no other process can store a map any more that it had begun to store, and until this one has all that
    /// were stored. Fails with why that cannot be said now.
    fn settle(&self) -> PeerFuture<Result<(), String>>;
}

/// Where a partition is served.
pub enum Whereabouts {
    /// By this process, and no other.
    Here {
        /// Grows whenever this process was given the partition anew: what it knew of it before is old.
        since: u64,
    },
    /// By another process, as far as is known.
    At(Arc<dyn Peer>),
    /// By none at present: it is on its way from one to another.
    Nowhere,
}

/// Another process that serves partitions.
pub trait Peer: Send + Sync + 'static {
    /// Returns what no other process is called.
    fn name(&self) -> &str;

    /// Sends a request, and waits for its answer for so long.
    fn call(&self, request: Bytes, patience: Duration) -> PeerFuture<Result<Bytes, PeerError>>;

    /// Sends what needs no answer, and may be lost.
    fn tell(&self, request: Bytes);
}

/// Why a request to another process has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerError {
    /// It was not done.
    NotSent(String),
    /// It is not known whether it was.
    Unknown(String),
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerError::NotSent(why) | PeerError::Unknown(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for PeerError {}
