//! JavaScript that clients bring along, run where it can reach nothing.
//!
//! ```text
//! UserFunction   the text of a function, known to be one
//! Sandbox        an interpreter of its own with bounds on memory, stack and time; calls functions
//! ```
//!
//! Invariant: a sandbox sees nothing but the arguments of its calls, and nothing of it outlives it. Values pass its
//! wall as JSON text, in both directions.
//!
//! Not here: where functions are kept and who may call them (the engine), and what time it is (the caller says when
//! it is over).

mod error;
mod function;
pub mod limits;
mod sandbox;

pub use error::ScriptError;
pub use function::UserFunction;
pub use sandbox::Sandbox;
