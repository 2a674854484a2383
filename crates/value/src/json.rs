//! JSON text in and out.
//!
//! Reading is strict RFC 8259 and says where it failed: no byte-order mark, no NaN, no number beyond a double,
//! no lone surrogate, no bytes after the value, at most [`DEPTH_MAX`] levels. It takes linear time whatever the
//! text is. A name that comes twice keeps the position of the first and the value of the last.
//!
//! Plain JSON never infers types: [`parse`] makes objects of Extended JSON wrappers, [`parse_extended`] makes
//! the scalars of them that [`write()`] writes so, and [`parse_typed`] tells integers of 32 bits from others besides.
//!
//! Not here: the stored form, which is built from text without a tree in between (`stored`).

mod error;
mod extended;
mod number;
mod read;
mod scan;
pub mod slice;
mod string;
mod write;

pub use crate::limits::DEPTH_MAX;
pub use error::{JsonError, JsonErrorKind};
pub use extended::{extended_object, scalar as extended_scalar};
pub use read::{parse, parse_extended, parse_typed, typed};
pub use write::{to_string, write, write_ascii_string, write_string};

pub(crate) use error::Fault;
pub(crate) use extended::parse_written;
pub(crate) use scan::{Scanner, StringToken, is_whitespace, validate_utf8};
pub(crate) use string::unescape;
pub(crate) use write::write_scalar;

#[cfg(test)]
mod tests;
