//! Bounds that this front end enforces on what clients send.
//!
//! Not here: bounds on resources and items themselves (names, nesting, partition key values), which
//! the engine enforces for every protocol alike.

use std::time::Duration;

/// Largest item, as UTF-8 JSON text. Service limit: 2 MB.
pub(crate) const ITEM_TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Largest request body. Service limit: 2 MB; a binary item may be a little longer than its text.
pub(crate) const REQUEST_BODY_BYTES_MAX: usize = ITEM_TEXT_BYTES_MAX + 64 * 1024;

/// Most bytes of a body that is too long which are taken before the connection is given up.
pub(crate) const REQUEST_DRAIN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Longest request path, before decoding: six names of 1,023 bytes, each byte percent-encoded.
pub(crate) const PATH_BYTES_MAX: usize = 20 * 1024;

/// Longest partition key header: three values of 2,048 bytes in which every character is escaped
/// (`\u0000`, six bytes for one).
pub(crate) const PARTITION_KEY_HEADER_BYTES_MAX: usize = 3 * 6 * 2_048 + 64;

/// Longest continuation token that is looked at. Tokens of this server are far shorter.
pub(crate) const CONTINUATION_BYTES_MAX: usize = 16 * 1024;

/// Longest position in a change feed that is looked at. One of a whole container has up to a hundred bytes for each
/// physical partition.
pub(crate) const FEED_POSITION_BYTES_MAX: usize = 32 * 1024;

/// Longest session token that is looked at: a few thousand ranges.
pub(crate) const SESSION_TOKEN_BYTES_MAX: usize = 64 * 1024;

/// Most items in one page, whatever the client asks for.
pub(crate) const PAGE_ITEMS_MAX: usize = 10_000;

/// Longest text of a query, and of the condition of a patch. Service limit: 512 KB.
pub(crate) const QUERY_TEXT_BYTES_MAX: usize = 512 * 1024;

/// Longest header that tells which indexes served a query; a longer one is left out. Some clients take no more than
/// 16 KiB of headers in all, and a query that asks for this is not to fail because of it.
pub(crate) const INDEX_UTILIZATION_HEADER_BYTES_MAX: usize = 8 * 1024;

/// Longest header with the log of a script, percent-encoded; what is beyond is cut off. Some clients take no more than
/// 16 KiB of headers in all, and what a script did is not to be lost because of what it said.
pub(crate) const SCRIPT_LOG_HEADER_BYTES_MAX: usize = 12 * 1024;

/// Largest body of a batch or bulk request. Service limit: 2 MB.
pub(crate) const BATCH_BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Longest answer to a batch or bulk request; items beyond are left out of it. Service limit: 4 MB.
pub(crate) const BATCH_ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Longest member of an operation in a batch, other than its item, as JSON text: as long as the longest partition key
/// header, each of its characters escaped once more.
pub(crate) const BATCH_MEMBER_BYTES_MAX: usize = 2 * PARTITION_KEY_HEADER_BYTES_MAX;

/// Deepest nesting that the binary JSON reader follows. The engine's own bound is lower; this one
/// keeps the reader's stack small whatever the bytes say.
pub(crate) const BINARY_JSON_DEPTH_MAX: usize = 256;

/// How far the date of a signature may lie from the server's clock. Service limit.
pub(crate) const DATE_SKEW_DEFAULT: Duration = Duration::from_secs(15 * 60);
