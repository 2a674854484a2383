//! The bounds this crate enforces, each tested at the bound and one past it.

/// Longest message, with its header: `maxMessageSizeBytes` of hello.
pub const MESSAGE_BYTES_MAX: usize = 48_000_000;

/// Longest document of a user: `maxBsonObjectSize` of hello.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Longest document of any kind: a command may hold a whole user's document and what surrounds it.
pub const COMMAND_BYTES_MAX: usize = DOCUMENT_BYTES_MAX + 16 * 1024;

/// Deepest nesting of documents and arrays that is read; the document itself counts as 1.
pub const DEPTH_MAX: usize = 200;

/// Deepest nesting that is written. A reply wraps what was read in a cursor and its batch.
pub const WRITE_DEPTH_MAX: usize = DEPTH_MAX + 16;

/// Document sequences in one message: the server takes two, which the `bulkWrite` command needs.
pub const SEQUENCE_COUNT_MAX: usize = 2;

/// Values in one message, which bounds the memory that a message becomes. An honest element takes nine bytes or
/// more, names and indexes counted, so that only made-up messages reach it.
pub const VALUE_COUNT_MAX: usize = 8_000_000;

/// Documents in one sequence: `maxWriteBatchSize` of hello.
pub const WRITE_BATCH_MAX: usize = 100_000;

/// Up to this many members a document is asked for a name that comes twice member by member.
pub(crate) const LINEAR_SEARCH_MEMBERS_MAX: usize = 16;

/// Longest payload of an authentication step; names and nonces are far shorter.
pub const SCRAM_PAYLOAD_BYTES_MAX: usize = 4096;

/// Longest nonce of either side.
pub const NONCE_BYTES_MAX: usize = 512;

/// Longest id of an item, in bytes: what every API of a container takes.
pub const ITEM_ID_BYTES_MAX: usize = 1_023;

/// Longest document, as BSON, that an id spells out; of a longer one it holds a hash.
pub const ITEM_ID_DOCUMENT_BYTES_MAX: usize = 180;
