//! Compiles traversals of Gremlin and runs them over a graph.
//!
//! A [`armilla_gremlin_value::Bytecode`] is compiled to a [`Plan`]; an [`Execution`] runs the plan over a
//! [`graph::Graph`] in batches of traversers.
//!
//! Invariants:
//! * the graph is asked for batches, never for one element per traverser;
//! * what a traversal holds is counted and bounded;
//! * the graph is told once that a traversal begins and once that it ended, whatever happened.
//!
//! Not here: parsing (`gremlin-language`), formats (`gremlin-wire`), where elements are kept (`api-gremlin`).

mod compile;
mod error;
pub mod graph;
pub mod limits;
mod matching;
mod math;
mod options;
mod run;
mod step;
pub mod testing;
#[cfg(test)]
mod tests;

pub use compile::{Plan, Terminal, compile};
pub use error::{ErrorKind, MachineError};
pub use options::{Dialect, Options};
pub use run::{Answer, Execution};
