//! Bounds that this front end enforces on what clients send.
//!
//! Not here: bounds on entities themselves (`entity`), and those on items, which the engine enforces.

/// Largest request body. Service limit: 4 MiB, that of a batch.
pub(crate) const REQUEST_BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Most bytes of a body that is too long which are taken before the connection is given up.
pub(crate) const REQUEST_DRAIN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Longest request path, before decoding: a table's name and two keys of 2,048 bytes, each byte percent-encoded.
pub(crate) const PATH_BYTES_MAX: usize = 20 * 1024;

/// Longest query string, before decoding. Filters may be long.
pub(crate) const QUERY_BYTES_MAX: usize = 64 * 1024;

/// Most parameters in a query string.
pub(crate) const QUERY_PARAMETERS_MAX: usize = 64;

/// Longest continuation token that is looked at. Tokens of this server are far shorter.
pub(crate) const CONTINUATION_BYTES_MAX: usize = 16 * 1024;

/// Longest client request id that is echoed. Service limit: 1 KiB.
pub(crate) const CLIENT_REQUEST_ID_BYTES_MAX: usize = 1024;

/// Entities, or tables, in a page where the client leaves the number to the server. Service limit.
pub(crate) const PAGE_DEFAULT: usize = 1_000;

/// Most entities in a page of a storage account. Service limit.
pub(crate) const STORAGE_PAGE_MAX: usize = 1_000;

/// Most entities in a page otherwise, whatever the client asks for.
pub(crate) const PAGE_MAX: usize = 10_000;

/// Bytes of a page beyond which no more is asked of the engine, whose own pages have up to 4 MiB.
pub(crate) const PAGE_BYTES_ENOUGH: usize = 1024 * 1024;

/// Seconds after which a page ends with a continuation, as far as it is.
pub(crate) const PAGE_SECONDS_MAX: u64 = 5;

/// Operations in a change set. Service limit.
pub(crate) const BATCH_OPERATIONS_MAX: usize = 100;

/// Longest boundary of a multipart body: RFC 2046.
pub(crate) const BOUNDARY_BYTES_MAX: usize = 70;

/// Most header lines in a part of a batch, and in the request that it holds.
pub(crate) const PART_HEADERS_MAX: usize = 64;

/// How often a merge, or a change set with merges, is tried while others write the same entities in between.
pub(crate) const MERGE_ATTEMPTS_MAX: usize = 100;

/// Locks over which the entities that are being merged are spread.
pub(crate) const MERGE_STRIPES: usize = 256;

/// Characters in the name of a table. Service limit.
pub(crate) const TABLE_NAME_CHARACTERS_MAX: usize = 254;

/// Characters in the name of a table of a storage account. Service limit.
pub(crate) const STORAGE_TABLE_NAME_CHARACTERS: std::ops::RangeInclusive<usize> = 3..=63;

/// Containers that are remembered to be tables.
pub(crate) const KNOWN_TABLES_MAX: usize = 16 * 1024;

/// Names of tables that are read from the engine at once.
pub(crate) const TABLES_AT_ONCE: usize = 100;
