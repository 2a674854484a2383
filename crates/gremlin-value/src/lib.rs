//! What Gremlin computes with: values, elements of a graph, predicates, tokens, and traversals as instructions.
//!
//! A script and a bytecode request both become a [`Bytecode`]; the machine compiles that; answers are [`Value`]s,
//! which the wire formats write.
//!
//! Invariants:
//! * nothing here reads a clock, draws a random number or knows where a graph is kept;
//! * equality, equivalence and order of values are decided here and nowhere else.
//!
//! Not here: parsing (`gremlin-language`), formats (`gremlin-wire`), steps (`gremlin-machine`).

#![expect(missing_docs, reason = "types are documented; fields and variants whose names say it all are not")]

mod bytecode;
mod canonical;
mod compare;
pub mod date;
mod element;
mod hashing;
mod measure;
mod number;
mod predicate;
mod predicate_test;
mod sorting;
mod text;
mod token;
mod value;

pub use bytecode::{Bytecode, Instruction, Position};
pub use element::{Edge, Path, Property, Tree, TreeBranch, Vertex, VertexProperties, VertexProperty};
pub use hashing::Key;
pub use measure::{Beyond, Bounds};
pub use number::{Arithmetic, ArithmeticError};
pub use predicate::{Predicate, PredicateKind};
pub use sorting::sort_by;
pub use token::{Token, TokenKind};
pub use value::{Map, Value};
