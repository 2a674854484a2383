//! What an update may ask for at most.

/// How deep a document may nest, itself counted.
pub const DOCUMENT_DEPTH_MAX: usize = 100;

/// How many names a path may have. No document nests deeper than what is parsed, so a longer path finds nothing;
/// it is refused, because trees of paths are walked by recursion.
pub const PATH_COMPONENTS_MAX: usize = 200;

/// How many nulls setting an element far beyond the end of an array may put in between.
pub const ARRAY_BACKFILL_MAX: usize = 1_500_000;

/// How many bytes of BSON an update may put into a document, counted low: more could not be stored. One value can be
/// set in many elements, so that a small update could ask for any amount of memory.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How many stages an update by pipeline may have.
pub const PIPELINE_STAGES_MAX: usize = 1000;

/// How many bytes of BSON a document may have between two stages: many stages can make it grow.
pub const STAGE_DOCUMENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How many bytes a message has at most; paths in it may be as long as a command.
pub const MESSAGE_BYTES_MAX: usize = 8192;

/// How many bytes of a value a message shows.
pub const MESSAGE_VALUE_BYTES_MAX: usize = 1024;

/// Up to how many members an object is searched name by name.
pub const LINEAR_SEARCH_MEMBERS_MAX: usize = 32;
