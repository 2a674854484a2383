//! The bounds on what a query text may be.

/// The longest query text in bytes, the service's limit of 512 KB.
pub const QUERY_TEXT_BYTES_MAX: usize = 512 * 1024;

/// How high a syntax tree may be: calls, constructors, subqueries, steps of a path and operators inside one
/// another.
///
/// A long chain such as `1 + 1 + 1 ...` nests to the left and counts as well, so that code that walks a tree
/// may recurse. Chains of AND and of OR are one level whatever their length, and so are lists.
pub const NESTING_MAX: usize = 256;

/// How many brackets, branches of `?:` and subqueries may be open at one place of the text.
///
/// Parentheses leave no trace in the tree. The printer writes at most one pair per level, around what may be
/// a branch of `?:`: with two for each level, whatever was read can be printed and read again.
pub const RECURSION_MAX: usize = 2 * NESTING_MAX;

/// How many characters of an offending token its error message shows.
pub const SHOWN_TOKEN_CHARS_MAX: usize = 128;
