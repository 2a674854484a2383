//! The bounds this crate enforces, each tested at the bound and one past it.

/// Longest string REPLICATE makes, in UTF-16 code units.
pub const REPLICATE_UNITS_MAX: usize = 10_000;

/// Largest string or array a function or operator makes, in bytes; beyond, the result is undefined.
///
/// No page can carry more than a fraction of this, and without it a short query text could ask for terabytes.
pub const RESULT_BYTES_MAX: usize = 16 << 20;

/// Bytes that going over, copying or writing them counts as one step.
pub const STEP_BYTES: usize = 64;

/// Bytes that all values may take together that are in the making for one row.
pub const VALUES_BYTES_MAX: usize = 64 << 20;

/// Longest text that StringToArray and its like read, in bytes; beyond, the result is undefined. A parsed value takes
/// many times its text.
pub const PARSED_BYTES_MAX: usize = 2 << 20;

/// Longest pattern of REGEXMATCH, in bytes; beyond, the result is undefined.
pub const REGEX_PATTERN_BYTES_MAX: usize = 16 << 10;

/// Memory that one compiled regular expression may take in all its parts, in bytes, and as much again for the
/// automata that are built while it searches.
pub const REGEX_COMPILED_BYTES_MAX: usize = 2 << 20;

/// Instructions of the part of a regular expression that goes back.
pub const REGEX_INSTRUCTIONS_MAX: usize = 64 << 10;

/// Steps back that one search with a regular expression may take before it counts as failed.
pub const REGEX_BACKTRACK_MAX: usize = 100_000;

/// Longest text that is searched with a regular expression that goes back, in bytes; beyond, the result is undefined.
/// Such a search cannot be interrupted, and may go over the text from each of its places.
pub const REGEX_BACKTRACK_TEXT_BYTES_MAX: usize = 16 << 10;

/// Up to this many bytes of text are searched by the quickest means, which cannot be interrupted.
pub const REGEX_QUICK_TEXT_BYTES_MAX: usize = 1 << 10;

/// Compiled regular expressions that one cache keeps.
pub const PATTERN_CACHE_MAX: usize = 64;

/// Up to this many characters between two `%` of LIKE are searched for side by side, one bit each; longer ones place by
/// place.
pub const LIKE_MASK_CHARACTERS_MAX: usize = 4_096;

/// Bytes of masks that one search of LIKE keeps.
pub(crate) const LIKE_MASK_BYTES_MAX: usize = 4 << 20;

/// What MAKELIST and MAKESET may collect unless the caller says otherwise, in bytes.
pub const COLLECTED_BYTES_MAX: usize = 4 << 20;

/// Up to this many members, objects are compared by searching member by member; beyond, members are sorted.
pub(crate) const LINEAR_SEARCH_MEMBERS_MAX: usize = 16;

/// Up to this many bytes a needle is searched for ignoring case without folding a copy of the text first.
pub(crate) const SCAN_NEEDLE_BYTES_MAX: usize = 32;
