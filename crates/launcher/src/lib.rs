//! Starts the `armilla` program as a server, waits until it is ready, and ends it.
//!
//! Commands that need a server for a while use it, and everything that tests or measures a real server. Nothing here
//! is asynchronous: who has tasks to attend to meanwhile calls it from a thread that may block.
//!
//! Invariants:
//! * a server that was started here does not outlive its [`Starting`] or [`ServerProcess`];
//! * what the environment says to other servers does not reach this one.
//!
//! Not here: asking the server anything (`client`), and what the ready line says (the server's `ready`).

mod command;
mod limits;
mod log;
mod not_ready;
mod process;
mod ready;
mod signal;

pub use command::{command, sibling_program};
pub use limits::{READY_TIMEOUT, STOP_TIMEOUT};
pub use log::LogTo;
pub use not_ready::NotReady;
pub use process::{ServerProcess, Starting};
pub use ready::Ready;
pub use signal::{Signal, send};
