//! The bounds this crate enforces.

/// Deepest nesting of a filter, a projection or a schema; beyond it reading fails with `Overflow`.
pub const DEPTH_MAX: usize = 200;

/// Most keys of an order.
pub const SORT_KEYS_MAX: usize = 32;

/// Longest pattern of a regular expression, as the server bounds it.
pub const PATTERN_BYTES_MAX: usize = 32_764;

/// How often a regular expression that goes back may try before the search is given up.
pub const PATTERN_BACKTRACK_MAX: usize = 1_000_000;

/// Largest program of a regular expression, in instructions.
pub const PATTERN_INSTRUCTIONS_MAX: usize = 100_000;

/// Largest compiled part of a regular expression.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 8 << 20;

/// Most vertices of one shape in a filter: they are compared with those of each document.
pub const SHAPE_VERTICES_MAX: usize = 10_000;
