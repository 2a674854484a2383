//! Bounds on filters.

/// Longest filter, in bytes.
pub(crate) const FILTER_BYTES_MAX: usize = 64 * 1024;

/// How deep parentheses and negations may be nested.
pub(crate) const NESTING_MAX: usize = 128;

/// Most comparisons and tests in a condition that is handed to the query engine; a filter that needs more is only
/// evaluated.
pub(crate) const CONDITION_PARTS_MAX: usize = 8_192;
