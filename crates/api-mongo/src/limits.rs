//! Bounds that this crate enforces.

use std::time::Duration;

/// The largest document that a client may send, and a reply may have.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The largest message.
pub(crate) const MESSAGE_BYTES_MAX: usize = 48_000_000;
/// Statements of one command.
pub(crate) const BATCH_STATEMENTS_MAX: usize = 100_000;
/// Documents in the first batch of a cursor whose client does not say how many.
pub(crate) const FIRST_BATCH_DOCUMENTS: usize = 101;
/// Entries of one value in an index that are read without a query.
pub(crate) const LOOKUP_ENTRIES_MAX: usize = 32;
/// Bytes of a batch after which it ends; with the rest of the reply it stays below the largest document.
pub(crate) const BATCH_BYTES_ENOUGH: usize = 15 * 1024 * 1024;
/// Cursors that are open at once.
pub(crate) const CURSORS_MAX: usize = 10_000;
/// Bytes of documents that open cursors hold, all together.
pub(crate) const CURSOR_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How long a cursor is kept that is not asked.
pub(crate) const CURSOR_IDLE_MAX: Duration = Duration::from_secs(600);
/// How long a session is kept that is not used.
pub(crate) const SESSION_IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// Sessions that are known at once.
pub(crate) const SESSIONS_MAX: usize = 100_000;
/// Bytes of documents that a sort holds.
pub(crate) const SORT_BYTES_MAX: usize = 100 * 1024 * 1024;
/// How often a write is tried again that others came before.
pub(crate) const WRITE_ATTEMPTS_MAX: usize = 1_000;
/// Names of users whose keys were derived.
pub(crate) const DERIVED_KEYS_MAX: usize = 1_000;
/// The longest name of a database.
pub(crate) const DATABASE_NAME_BYTES_MAX: usize = 63;
/// The longest name of a collection with that of its database.
pub(crate) const NAMESPACE_BYTES_MAX: usize = 255;
/// Indexes of a collection.
pub(crate) const INDEXES_MAX: usize = 64;
/// Fields of a compound index.
pub(crate) const INDEX_FIELDS_MAX: usize = 32;
/// Pipelines that run at once: each keeps a thread while it computes.
pub(crate) const PIPELINES_AT_ONCE_MAX: usize = 16;
/// How long a change stream waits for a change when its client does not say.
pub(crate) const AWAIT_DEFAULT: Duration = Duration::from_secs(1);
/// Moments of collections of which it is remembered where their feeds were.
pub(crate) const SNAPSHOTS_REMEMBERED_MAX: usize = 10_000;
/// Changes of collections besides writes that are remembered for change streams.
pub(crate) const SCHEMA_CHANGES_MAX: usize = 1_000;
/// How long a `hello` waits for another topology, whatever its client says.
pub(crate) const HELLO_WAIT_MAX: Duration = Duration::from_secs(60);
/// Bytes of what a client tells of itself.
pub(crate) const CLIENT_METADATA_BYTES_MAX: usize = 512;
/// Bytes of the name of an application.
pub(crate) const APPLICATION_NAME_BYTES_MAX: usize = 128;
/// Statements of which the outcome is remembered for a session, to be answered again.
pub(crate) const REMEMBERED_STATEMENTS_MAX: usize = 100_000;
