//! Queries over items: bind, plan, optimise, execute.
//!
//! One word and one type per stage:
//!
//! ```text
//! text --sql::parse--> ast::Query --bind--> BoundQuery --plan--> LogicalPlan --optimize--> LogicalPlan
//!      --physical--> PhysicalPlan --exec--> pages of rows
//! ```
//!
//! Beside them stands [`gateway`]: what SDKs ask for when they want to run a query on every partition themselves.
//!
//! Invariants:
//! * no I/O, no clock, no randomness of its own: items and index entries come from a [`Source`], the time and the
//!   end of a page's patience from the caller;
//! * what is counted ([`Work`]) depends on the query and the data alone, never on where pages end;
//! * memory is bounded by [`limits`], whatever the query.
//!
//! Not here: prices, permissions, sockets, and where items are kept.

pub mod limits;

mod error;
pub mod source;
mod work;

mod bind;
pub mod bound;
mod compile;
pub mod expr;
pub mod gateway;
pub mod logical;
mod optimize;
pub mod physical;

mod budget;
mod choose;
mod continuation;
mod exec;
mod explain;
#[doc(hidden)]
pub mod fuzzing;

mod eval;
mod frame;
mod row;
mod rows;
mod tuples;

pub use bind::ComputedProperty;
pub use budget::Budget;
pub use choose::choose;
pub use compile::{CompileOptions, CompiledQuery, ReadQuery};
pub use continuation::continuation_cuts;
pub use error::{Error, ErrorKind, Result};
pub use eval::{Environment, Evaluator, NoUserFunctions, UserFunctions};
pub use exec::{Page, ResumeFilter, ResumeValue, Retrieved, execute};
pub use explain::explain;
pub use frame::Frame;
pub use row::{JsonRows, Row, RowForm};
pub use source::{Source, SourceItem, SystemProperty};
pub use work::Work;

// What callers need of the crates below.
pub use armilla_functions::operators::{Comparison, order};
pub use armilla_functions::{Aggregate, Function};
pub use armilla_functions::{Datum, Look, Meter, PatternCache, Stop};
pub use armilla_sql::{QueryError, Span};
