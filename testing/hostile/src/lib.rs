//! Attacking a real server from outside: a stage with a server of its own, requests good and bad, and a probe that
//! watches how the server bears it.
//!
//! The cases are the program's (`main`, `cases`); what they have in common is here.

pub mod case;
pub mod gremlin;
pub mod http2;
pub mod mongo;
pub mod raw;
pub mod request;
pub mod stage;
pub mod watch;
