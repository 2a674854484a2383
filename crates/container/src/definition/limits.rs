//! Every bound on a container's definition, by name; the figures are the service's published limits.

/// Longest id of a database, container, script, user or permission, in characters.
pub(crate) const RESOURCE_ID_CHARACTERS_MAX: usize = 255;
/// Most levels of a hierarchical partition key.
pub(crate) const PARTITION_KEY_PATHS_MAX: usize = 3;
/// Most unique keys of a container.
pub(crate) const UNIQUE_KEYS_MAX: usize = 10;
/// Most paths in one unique key.
pub(crate) const UNIQUE_KEY_PATHS_MAX: usize = 16;
/// Most computed properties of a container.
pub(crate) const COMPUTED_PROPERTIES_MAX: usize = 20;
/// Longest text of a computed property's query.
pub(crate) const COMPUTED_QUERY_BYTES_MAX: usize = 512 * 1024;
/// Most dimensions of a vector.
pub(crate) const VECTOR_DIMENSIONS_MAX: u32 = armilla_index::limits::VECTOR_DIMENSIONS_MAX;
/// Longest time for which every version of an item can be kept: 30 days.
pub(crate) const CHANGE_FEED_RETENTION_MINUTES_MAX: u32 = 30 * 24 * 60;
