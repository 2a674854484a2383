//! Procedures and triggers against a collection in memory: what they can do, see and break.

#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::print_stdout, reason = "a test may say what it skips and measures")]
#![expect(clippy::disallowed_methods, reason = "workers are real processes, and take real time")]

mod cases;
mod hostile;
mod isolation;
mod limits;
mod memory;
mod programs;
mod sandbox;
mod source_documents;
