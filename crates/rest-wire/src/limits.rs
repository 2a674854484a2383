//! Bounds on what clients send, where all front ends that take it have the same.

/// Longest `Authorization` header of the SQL API, before decoding.
pub const AUTHORIZATION_BYTES_MAX: usize = 16 * 1024;

/// Longest activity id that is echoed; a GUID has 36 characters.
pub const ACTIVITY_ID_BYTES_MAX: usize = 64;
