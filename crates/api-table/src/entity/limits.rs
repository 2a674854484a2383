//! Bounds on entities. What is not bounded here, the engine bounds for items.

/// Characters (UTF-16 code units) in the name of a property. Service limit.
pub(crate) const PROPERTY_NAME_UNITS_MAX: usize = 255;

/// Properties of an entity of a storage account, the keys and the timestamp not counted. Service limit.
pub(crate) const STORAGE_PROPERTIES_MAX: usize = 252;

/// Bytes in a binary value of a storage account, and in a string that is counted in UTF-16. Service limit.
pub(crate) const STORAGE_VALUE_BYTES_MAX: usize = 64 * 1024;

/// Bytes of an entity of a storage account, by the service's own formula. Service limit.
pub(crate) const STORAGE_ENTITY_BYTES_MAX: usize = 1024 * 1024;

/// Characters (UTF-16 code units) in a key of a storage account: 1 KiB. Service limit.
pub(crate) const STORAGE_KEY_UNITS_MAX: usize = 512;

/// Bytes in a partition key, that of an item's.
pub(crate) const PARTITION_KEY_BYTES_MAX: usize = 2_048;

/// Bytes in the id of an item, and in a row key where bytes are counted.
pub(crate) const ITEM_ID_BYTES_MAX: usize = 1_023;

/// Bytes of a row key too long for an id that are kept in the id as they are.
pub(crate) const SHORTENED_ROW_KEY_BYTES: usize = 512;

/// Up to so many names are searched one by one; beyond, a table is built, or the search would be quadratic.
pub(crate) const LINEAR_SEARCH_NAMES_MAX: usize = 16;
