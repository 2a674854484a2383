//! JavaScript that clients bring along, run where it can reach nothing but what it is given.
//!
//! No script is ever run in this process. An interpreter is right until a text is found for which it is not,
//! so scripts run in worker processes: each has one interpreter, a bound on its memory, no files, no sockets, and two
//! pipes to here. What a script can do to its worker ends with the worker, which is killed when its time is over.
//!
//! ```text
//! Program        the text of a function
//! Workers        the worker processes: started when needed, kept for the next script of the same owner
//! Sandbox        user-defined functions of one page of a query: values in, values out
//! run            one execution of a stored procedure or trigger, on a Collection
//! Collection     what such a script can reach: the documents of one logical partition
//! wire           what passes between a worker and here
//! ```
//!
//! Invariants:
//! * no text of a script is evaluated, or even parsed, in this process;
//! * every execution has an interpreter that is as if it was new, and no worker serves two owners;
//! * whatever a worker sends is checked as if a stranger had sent it: it may end its own execution, nothing else;
//! * values pass the wall as JSON text, in both directions;
//! * time and chance come from the [`Collection`] and the caller alone, so that an execution can be repeated.
//!
//! Not here: the interpreter (`armilla-script-worker`), where scripts are kept and who may call them, transactions and
//! their retries (the engine).

mod answer;
mod collection;
mod error;
pub mod limits;
mod program;
mod role;
mod run;
mod sandbox;
pub mod wire;
mod worker;
mod workers;

pub use collection::{
    Collection, CollectionUsage, DocumentName, ErrorCode, FeedPage, FeedRequest, ReadDocument, Refusal,
};
pub use error::ScriptError;
pub use program::Program;
pub use role::{Finished, Role, WriteKind};
pub use run::{Outcome, Run, run};
pub use sandbox::Sandbox;
pub use worker::Owner;
pub use workers::{WORKER_COMMAND, WorkerFigures, WorkerStart, Workers};
