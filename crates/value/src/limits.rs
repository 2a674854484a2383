//! The bounds this crate enforces, each tested at the bound and one past it.

/// Deepest nesting of objects and arrays in JSON text, stored items and key bytes; the root counts as 1.
pub const DEPTH_MAX: usize = 128;

/// Up to this many members an object is searched member by member; beyond, a hash table is built where a
/// search per member would be quadratic.
pub(crate) const LINEAR_SEARCH_MEMBERS_MAX: usize = 16;

/// Longest JSON text that can be stored: positions in the skeleton are 32-bit.
pub const STORED_TEXT_BYTES_MAX: usize = u32::MAX as usize;

/// Longest text whose skeleton uses 16-bit positions.
pub(crate) const NARROW_BYTES_MAX: usize = u16::MAX as usize;

/// UTF-16 code units of a string that hash version 1 looks at.
pub(crate) const HASH_V1_STRING_UNITS_MAX: usize = 100;

/// Item ordinals inside a resource id leave the top four bits for the kind of resource.
pub const RID_NUMBER_MAX: u64 = (1 << 60) - 1;

/// Offer resource ids hold 24 bits.
pub const OFFER_NUMBER_MAX: u32 = (1 << 24) - 1;
