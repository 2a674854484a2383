//! Calls between the nodes of one account: requests and answers over one encrypted connection from each node to each other.
//!
//! A node serves the calls of others ([`serve()`], [`Service`]) and has a [`Link`] to each node that it calls. What is in a
//! request or in an answer is not known here.
//!
//! Invariants:
//! * nothing of a call reaches a service, or leaves a node, before both sides have proved that they know the [`Secret`], and
//!   that no third one sits between them: the proof is about the very TLS session that it is sent in;
//! * a call ends: with an answer, or with a [`CallError`] no later than its patience does, or soon after the other node has
//!   fallen silent;
//! * [`CallError::NotSent`] is said only of a call that the other node has not begun and will not begin;
//! * a call that its caller has given up is dropped by the other node too;
//! * bytes from another node never panic: what is malformed ends its connection;
//! * everything is bounded, see `limits.rs`.
//!
//! Everything of a connection is done by one task on each side, which reads, writes and watches the time. Callers leave
//! their requests with it and are woken by it, and it writes all that has come together at once: a call costs few system
//! calls and few wake-ups.
//!
//! Not here: what is asked and answered, which node has what, whether a call is made again.

mod alarm;
mod calls;
mod connection;
mod dial;
mod driver;
mod error;
mod frame;
mod hello;
mod limits;
mod link;
mod outbox;
mod secret;
mod serve;
mod service;
mod state;
mod tls;
mod wire;

pub use error::CallError;
pub use limits::{
    CALLS_MAX, CONNECT_TIME, ENDING_TIME, FRAME_BYTES_MAX, GREETING_TIME, KEEPALIVE, SILENCE_MAX,
};
pub use link::Link;
pub use secret::Secret;
pub use serve::serve;
pub use service::Service;
