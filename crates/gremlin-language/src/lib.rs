//! Scripts of Gremlin, parsed to instructions.
//!
//! [`parse`] reads a script by the grammar of TinkerPop 3.8, with what scripts of the service use beyond it (names
//! that later versions removed, `g.V(..)` as an argument, builders of strategies), and gives a [`Script`]: a list of
//! traversals as `Bytecode`. [`render`] writes a traversal back as text, in one canonical form.
//!
//! Invariants:
//! * no input makes this panic, recurse without bound or allocate more than its length and the limits justify;
//! * bindings are values, never text: nothing of a binding is parsed;
//! * `parse(render(x))` is `x` for whatever a script can express;
//! * no clock, no randomness: what literals need of them the caller of [`parse_at`] gives; without, they are refused.
//!
//! Not here: what steps mean and in which order they may stand (`gremlin-machine`), the layout of an error message
//! on the wire (`gremlin-wire`).

pub mod limits;

mod arguments;
mod bindings;
mod collections;
mod constants;
mod dates;
mod error;
mod kinds;
mod lexer;
mod methods;
mod names;
mod number;
mod parser;
mod position;
mod predicates;
mod render;
mod strategies;
mod strict;
mod strings;

#[cfg(test)]
mod property_tests;

pub use error::{ErrorKind, LanguageError};
pub use parser::{Dialect, Script, Surroundings, parse, parse_at, parse_bytes};
pub use render::{render, render_value};
