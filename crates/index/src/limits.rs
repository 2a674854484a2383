//! Every bound this crate enforces, by name.
//!
//! The figures are the service's published limits unless the comment says otherwise.

/// Most included paths in one policy.
pub const INCLUDED_PATHS_MAX: usize = 1_500;
/// Most excluded paths in one policy.
pub const EXCLUDED_PATHS_MAX: usize = 1_500;
/// Fewest properties in one composite index: with one, a range index serves.
pub const COMPOSITE_PROPERTIES_MIN: usize = 2;
/// Most properties in one composite index.
pub const COMPOSITE_PROPERTIES_MAX: usize = 8;
/// Most properties in all composite indexes of a policy together.
pub const COMPOSITE_PATHS_MAX: usize = 100;
/// Most segments in one path: an item nests no deeper, so a longer path can match nothing.
pub const PATH_SEGMENTS_MAX: usize = 128;
/// Most properties in one tuple path.
pub const TUPLE_PROPERTIES_MAX: usize = COMPOSITE_PROPERTIES_MAX;
/// Most dimensions of a vector under a `flat` index.
pub const FLAT_DIMENSIONS_MAX: u32 = 505;
/// Most dimensions of any indexed vector.
pub const VECTOR_DIMENSIONS_MAX: u32 = 4_096;
/// Fewest bytes a quantized vector may take.
pub const QUANTIZATION_BYTES_MIN: u32 = 1;
/// Most bytes a quantized vector may take; its dimensions bound it too.
pub const QUANTIZATION_BYTES_MAX: u32 = 512;
/// Shortest candidate list while a vector graph is built.
pub const SEARCH_LIST_MIN: u32 = 25;
/// Longest candidate list while a vector graph is built.
pub const SEARCH_LIST_MAX: u32 = 500;
/// Most shard key paths of one vector index.
pub const VECTOR_SHARD_PATHS_MAX: usize = 1;
/// Most entries one item can have in one composite index; ours, since products of array lengths explode.
pub const COMPOSITE_ENTRIES_MAX: usize = 10_000;
/// Content of a scalar from which on its index term holds only so much of it, and a fingerprint; ours.
pub const TERM_CONTENT_BYTES_MAX: usize = 256;
