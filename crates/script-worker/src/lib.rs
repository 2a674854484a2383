//! The process in which scripts run: QuickJS, the API around scripts, and nothing else.
//!
//! ```text
//! main           a process: shuts itself in (confine), then serves orders until its input ends
//! serve          the same as a thread, for tests
//! channel        orders in, notices out
//! warm           an interpreter with the API in place, put back after each execution by copying its memory (arena)
//! execute        one execution of a procedure or trigger
//! functions      the user-defined functions of one page of a query
//! host           the one native function that the API stands on; it asks the server through the channel
//! waiting        operations that a script has begun and that travel together
//! prelude        the API, in JavaScript
//! ```
//!
//! Invariants:
//! * whatever happens in here, the server sees frames or the end of the pipe;
//! * an allocation of the interpreter never fails: where its memory ends, so does the process, after it has said so;
//! * a process opens nothing, connects to nothing and starts nothing once it has shut itself in;
//! * unsafe code is in `raw`, `arena` and one function of `warm`.
//!
//! Not here: time. The server says when it is over, and kills a worker that does not listen.

mod arena;
mod channel;
mod code;
mod confine;
mod execute;
mod failure;
mod functions;
mod host;
mod interpreter;
mod kind;
mod meter;
mod operation;
mod part;
mod prelude;
mod raw;
mod rejections;
mod serve;
mod waiting;
mod warm;

pub use serve::{main, serve};
