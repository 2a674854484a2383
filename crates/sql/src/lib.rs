//! Query text to syntax tree and back.
//!
//! [`parse`] reads the text of a query; `Display` on [`ast::Query`] and [`ast::Expr`] writes text that parses
//! to an equal tree. Errors point to bytes of the text.
//!
//! What holds: no input panics or overflows the stack, whatever its bytes; see [`limits`].
//!
//! Not here: what names, functions and parameters mean, and every check that needs to know them.

pub mod ast;
mod error;
mod lexer;
pub mod limits;
mod literal;
mod parser;
mod print;
mod quote;
mod span;
#[cfg(test)]
mod testing;
mod token;

pub use error::{QueryError, SyntaxError, UNEXPECTED_END, UNEXPECTED_TOKEN};
pub use parser::{parse, parse_expression};
pub use span::Span;
