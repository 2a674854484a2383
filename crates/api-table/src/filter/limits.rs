//! Bounds on filters.

/// Longest filter, in bytes.
pub(crate) const FILTER_BYTES_MAX: usize = 64 * 1024;

/// How deep parentheses and negations may be nested.
pub(crate) const NESTING_MAX: usize = 128;

/// Longest condition that is handed to the query engine, in bytes; a filter that needs more is only evaluated. The
/// engine takes query texts twice as long.
pub(crate) const CONDITION_BYTES_MAX: usize = 256 * 1024;
