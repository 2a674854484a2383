//! JavaScript that clients bring along, run where it can reach nothing but what it is given.
//!
//! ```text
//! Program        the text of a function and its compiled code
//! Sandbox        user-defined functions of one page of a query: values in, values out
//! run            one execution of a stored procedure or trigger, on a Collection
//! Collection     what such a script can reach: the documents of one logical partition
//! ```
//!
//! Invariants:
//! * every execution has an interpreter that is as if it was new, with bounds on memory, stack, time and output;
//!   nothing of it outlives it;
//! * unsafe code is in `raw`, `arena` and one function of `warm`;
//! * values pass the wall as JSON text, in both directions;
//! * time and chance come from the [`Collection`] alone, so that an execution can be repeated.
//!
//! Not here: where scripts are kept and who may call them, transactions and their retries (the engine), and what time
//! it is (the caller says when it is over).

mod arena;
mod collection;
mod error;
mod failure;
mod host;
mod interpreter;
pub mod limits;
mod prelude;
mod program;
mod raw;
mod run;
mod sandbox;
mod warm;

pub use collection::{
    Collection, CollectionUsage, DocumentName, ErrorCode, FeedPage, FeedRequest, ReadDocument, Refusal,
};
pub use error::ScriptError;
pub use program::Program;
pub use run::{Finished, Outcome, Role, Run, WriteKind, run};
pub use sandbox::Sandbox;
