//! The bounds of pipelines.

/// Stages of one pipeline, those of its sub-pipelines not counted.
pub const STAGES_MAX: usize = 1000;

/// How deeply pipelines may lie in pipelines (`$lookup` in `$lookup`).
pub const SUB_PIPELINE_DEPTH_MAX: usize = 20;

/// Memory of one stage that must see all documents before it gives the first.
pub const STAGE_BYTES_MAX: usize = 100 * 1024 * 1024;

/// Memory in which `$lookup` keeps the documents of the other collection instead of asking for them again.
pub const FOREIGN_BYTES_MAX: usize = 100 * 1024 * 1024;

/// The largest document that leaves a stage which gathers documents in an array (`$lookup`, `$graphLookup`):
/// the limit of documents, and what the server allows beyond it between stages.
pub const GATHERED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Documents for which `$lookup` asks the other collection in one go.
pub const LOOKUP_BATCH_MAX: usize = 1024;

/// Documents that `$densify` may add.
pub const DENSIFY_DOCUMENTS_MAX: u64 = 500_000;

/// Components of a dotted path.
pub const PATH_COMPONENTS_MAX: usize = 200;

/// Levels of a stage's arguments.
pub const DEPTH_MAX: usize = 200;

/// Characters of a value that an error message shows.
pub const SHOWN_CHARACTERS_MAX: usize = 512;

/// Documents between two questions whether to go on.
pub const CHECK_EVERY_DOCUMENTS: u32 = 256;
