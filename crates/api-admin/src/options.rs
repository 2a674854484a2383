//! What the administration can be told.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use armilla_rest_wire::authorization::AccountKeys;
use armilla_rest_wire::regions::Regions;

use crate::limits::DATE_SKEW_DEFAULT;

/// Which callers the administration believes.
#[derive(Clone)]
pub struct AdminApiOptions {
    /// The key that permits everything, in base64.
    pub primary_key: String,
    /// Another key that permits everything, in base64.
    pub secondary_key: Option<String>,
    /// Keys that permit reading, in base64.
    pub read_only_keys: Vec<String>,
    /// How far the date of a signature may lie from the server's clock.
    pub date_skew: Duration,
    /// The account's regions.
    pub regions: Arc<Regions>,
}

impl AdminApiOptions {
    /// Returns the defaults with a primary key.
    pub fn new(primary_key: impl Into<String>) -> AdminApiOptions {
        AdminApiOptions {
            primary_key: primary_key.into(),
            secondary_key: None,
            read_only_keys: Vec::new(),
            date_skew: DATE_SKEW_DEFAULT,
            regions: Arc::new(Regions::new("South Central US", Vec::new(), false)),
        }
    }

    /// Prepares the keys.
    pub(crate) fn keys(&self) -> Result<AccountKeys, KeyError> {
        let read_write = std::iter::once(&self.primary_key).chain(&self.secondary_key);
        AccountKeys::new(read_write.map(String::as_str), self.read_only_keys.iter().map(String::as_str))
            .map_err(|_| KeyError)
    }
}

/// Keys are not shown.
impl fmt::Debug for AdminApiOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminApiOptions").field("date_skew", &self.date_skew).finish_non_exhaustive()
    }
}

/// A configured key that is not base64, or is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyError;

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an account key is not base64, or is empty")
    }
}

impl std::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::{AdminApiOptions, KeyError};

    #[test]
    fn keys_are_checked_and_not_shown() {
        let with = |change: fn(&mut AdminApiOptions)| {
            let mut options = AdminApiOptions::new("c2VjcmV0");
            change(&mut options);
            assert!(!format!("{options:?}").contains("c2VjcmV0"));
            options.keys().err()
        };
        assert_eq!(with(|_| {}), None);
        assert_eq!(with(|options| options.primary_key = "?".into()), Some(KeyError));
        assert_eq!(with(|options| options.primary_key = String::new()), Some(KeyError));
        assert_eq!(with(|options| options.secondary_key = Some("?".into())), Some(KeyError));
        assert_eq!(with(|options| options.read_only_keys.push("?".into())), Some(KeyError));
    }
}
