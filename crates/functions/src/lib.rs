//! SQL operators and built-in functions over values.
//!
//! [`Datum`] is what expressions compute with; [`operators`] has the operators, [`Function`] and [`call()`] the
//! functions, [`Accumulator`] the aggregates, [`LikePattern`] the patterns of LIKE.
//!
//! Invariants:
//! * no operand or argument makes anything fail: what does not fit gives undefined;
//! * every result has a bound on its size ([`limits`]), whatever the arguments are;
//! * every loop takes steps of a [`Meter`], and ends without a result once it has stopped;
//! * time and randomness come from the caller, in [`CallContext`].
//!
//! Not here: the syntax of calls (`sql`), name resolution and evaluation order (`query`), UDFs.

pub mod aggregate;
pub mod call;
pub mod datetime;
pub mod datum;
pub mod like;
pub mod limits;
pub mod operators;
pub mod spatial;

mod arrays;
mod case;
mod dates;
mod fingerprint;
mod function;
mod math;
pub mod meter;
mod pattern_cache;
mod shapes;
mod strings;
mod units;

#[cfg(test)]
mod testing;

pub use aggregate::{Accumulator, Aggregate, AggregateError};
pub use call::{CallContext, call};
pub use datum::{Datum, DatumKind};
pub use fingerprint::fingerprint;
pub use function::{Arity, Function};
pub use like::{LikePattern, LikeShape};
pub use meter::{Look, Meter, Stop};
pub use pattern_cache::PatternCache;
