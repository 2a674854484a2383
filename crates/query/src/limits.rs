//! Every bound of the query engine, by name.

/// Most joins in a query.
pub const JOINS_MAX: usize = 10;

/// Most calls of user-defined functions in a query's text.
pub const UDF_CALLS_MAX: usize = 10;

/// Most expressions in one GROUP BY.
pub const GROUP_KEYS_MAX: usize = 1_000;

/// Most calls of aggregates in one selection.
pub const AGGREGATES_MAX: usize = 1_000;

/// Rows that a page holds where the client leaves the number to the server.
pub const PAGE_ROWS_DEFAULT: usize = 100;

/// Most rows of a page.
pub const PAGE_ROWS_MAX: usize = 10_000;

/// Bytes of JSON after which a page ends.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Most bytes that groups, distinct sets, collected lists and sorted rows of one query may take together.
pub const QUERY_MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Most item numbers that are collected from an index to be put in order.
pub const COLLECTED_NUMBERS_MAX: usize = 1_000_000;

/// Up to this many entries a range of an index is collected and put in the order of insertion; beyond, items come
/// in the order of the index.
pub const ORDERED_NUMBERS_MAX: usize = 10_000;

/// Most index entries whose values are put in the order of insertion for aggregates; estimates may be wrong by a factor.
pub const GATHERED_ENTRIES_MAX: usize = 4 * ORDERED_NUMBERS_MAX;

/// Most rows that one subquery may make for one row around it.
pub const SUBQUERY_ROWS_MAX: usize = 1_000_000;

/// Most bytes of JSON of one row.
pub const ROW_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Steps that evaluating constants may take while a query is planned; what is left then is evaluated for each row.
pub const FOLDING_STEPS_MAX: u64 = 200_000;

/// Bytes of a value up to which it takes the place of the constant expression that gives it.
pub const FOLDED_VALUE_BYTES_MAX: usize = 64 * 1024;

/// Bytes of all such values of one query.
pub const FOLDED_BYTES_MAX: usize = 1024 * 1024;

/// Index entries or items that are asked of a source at once.
pub const BATCH_ENTRIES: usize = 256;

/// Item numbers that are read from an index at once.
pub const NUMBERS_AT_ONCE_MAX: usize = 4_096;

/// Items that are loaded at once at the start of a page; the number doubles up to [`BATCH_ENTRIES`].
pub const BATCH_ENTRIES_FIRST: usize = 8;

/// After this many items a page looks whether its time is over.
pub const EXPIRY_CHECK_ITEMS: u64 = 64;

/// Up to this many values of one index are read side by side; more are collected and put in order.
pub const SIDE_BY_SIDE_VALUES_MAX: usize = 64;

/// Longest continuation token that is read, in bytes.
pub const CONTINUATION_BYTES_MAX: usize = 16 * 1024;

/// Bytes of a key that a continuation token holds: with all else, the token stays below a kilobyte.
pub const CONTINUATION_KEY_BYTES_MAX: usize = 512;

/// Most bytes of aggregates that a continuation token holds; with more, a page takes longer instead.
pub const CONTINUATION_AGGREGATES_BYTES_MAX: usize = 384;

/// Sources that a page has planned and read before others help it with those to come.
pub const AHEAD_AFTER_SOURCES: usize = 4;

/// Most sources whose plans are made before they are wanted.
pub const AHEAD_SOURCES_MAX: usize = 16;
