//! Which items of a physical partition belong to a scope, told by their keys.

use armilla_value::{HashVersion, HashedKey};
use bytes::Bytes;

use crate::item::keys::{self, LogicalKey};

/// Which keys of items belong to a scope.
pub(super) enum KeyBounds {
    /// All of them.
    All,
    /// Those from the first on, if there can be any, and below the second, if there is one.
    Range(Option<Bytes>, Option<Bytes>),
    /// Those of one logical partition.
    Logical(LogicalKey),
}

impl KeyBounds {
    /// Returns the bounds of an arc of the ring.
    pub(super) fn of_arc(min: &HashedKey, max: &HashedKey, version: HashVersion, levels: usize) -> KeyBounds {
        let from = |hashed| keys::from_hashed(hashed, version, levels);
        KeyBounds::Range(from(min), from(max))
    }

    pub(super) fn contains(&self, item_key: &[u8]) -> bool {
        match self {
            KeyBounds::All => true,
            KeyBounds::Range(lower, upper) => {
                lower.as_ref().is_some_and(|lower| lower[..] <= *item_key)
                    && upper.as_ref().is_none_or(|upper| *item_key < upper[..])
            }
            KeyBounds::Logical(logical) => item_key.starts_with(logical.as_bytes()),
        }
    }
}
