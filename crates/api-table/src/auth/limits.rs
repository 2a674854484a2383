//! Bounds of what is read of credentials.

/// Bytes of an `Authorization` header: a scheme, an account and a digest, and room for other schemes' tokens.
pub(crate) const AUTHORIZATION_BYTES_MAX: usize = 16 * 1024;

/// Bytes of one decoded parameter of a shared access signature: a key of an entity is the longest.
pub(crate) const SAS_VALUE_BYTES_MAX: usize = 4 * 1024;

/// Characters of the name of a stored access policy.
pub(crate) const POLICY_ID_CHARACTERS_MAX: usize = 64;
