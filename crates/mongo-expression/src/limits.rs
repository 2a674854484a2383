//! The bounds this crate enforces, each tested at the bound and one past it.

/// Levels of nesting of an expression, and of the values that it makes; beyond, code 15.
pub const DEPTH_MAX: usize = 200;

/// Bytes that all values may take together that one evaluation makes and holds; beyond, code 146.
pub const EVALUATION_BYTES_MAX: usize = 100 << 20;

/// Steps that one evaluation may take: elements gone through, and bytes made by sixteen; beyond, code 50.
pub const EVALUATION_STEPS_MAX: u64 = 100_000_000;

/// Bytes of a value that a message shows.
pub const EXCERPT_BYTES_MAX: usize = 1_000;

/// Bytes that one accumulator may gather of one group; beyond, code 146.
pub const GATHERED_BYTES_MAX: usize = 100 << 20;

/// Longest pattern of a regular expression, in bytes, as the server has it.
pub const REGEX_PATTERN_BYTES_MAX: usize = 32_764;

/// Memory that one compiled regular expression may take, in bytes, and as much again for the automata that are built
/// while it searches.
pub const REGEX_COMPILED_BYTES_MAX: usize = 10 << 20;

/// Instructions of the part of a regular expression that goes back.
pub const REGEX_INSTRUCTIONS_MAX: usize = 64 << 10;

/// Steps back that one search with a regular expression may take before it fails.
pub const REGEX_BACKTRACK_MAX: usize = 1_000_000;
