//! Runs the query corpus: statements with the rows, the plan or the error that they must give.
//!
//! ```text
//! script     the files of `conformance/queries`: what they say
//! parse      their text
//! json_text  JSON in the middle of a line
//! target     an engine in memory that they are run against: the only place that calls it
//! run        every case on one partition and on several, whole and in small pages
//! rows       when two lists of rows are the same
//! report     what differs, and where
//! accept     new expectations, written into the file
//! corpus     the same for a corpus of JSON lines
//! differential   random queries, with and without indexes, and while partitions are split and merged
//! moving     a container whose partitions are split and merged at random
//! random     choices that a seed repeats
//! ```
//!
//! Invariant: expectations come from the files alone; nothing here knows what a query means.

pub mod accept;
pub mod corpus;
pub mod differential;
mod json_text;
mod moving;
mod parse;
mod random;
pub mod report;
mod rows;
pub mod run;
pub mod script;
mod target;

pub use parse::{ParseError, parse};
