//! What the API can be told.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use armilla_rest_wire::authorization::open_id::OpenId;
use armilla_rest_wire::signature::KeyError;

use crate::auth::Accounts;

/// Which of the two services a listener behaves like, where they differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Flavour {
    /// The Table API of Cosmos DB.
    #[default]
    Cosmos,
    /// Tables of a storage account.
    Storage,
}

/// Whom a listener believes, and how it behaves.
#[derive(Clone)]
pub struct TableApiOptions {
    /// The key that permits everything, in base64.
    pub key: String,
    /// Another key that permits everything, in base64.
    pub secondary_key: Option<String>,
    /// Keys that permit reading, in base64.
    pub read_only_keys: Vec<String>,
    /// Which of the two services it behaves like.
    pub flavour: Flavour,
    /// Whether the storage emulator's account is known with its well-known key.
    pub storage_emulator_account: bool,
    /// Who is believed beside those who have a key, if others are.
    pub open_id: Option<Arc<OpenId>>,
    /// Whether requests need a signature at all.
    pub require_auth: bool,
    /// How far the date of a signature may lie from the server's clock; `None` takes any.
    pub date_skew: Option<Duration>,
}

impl TableApiOptions {
    /// Returns the defaults with a key.
    pub fn new(key: impl Into<String>) -> TableApiOptions {
        TableApiOptions {
            key: key.into(),
            secondary_key: None,
            read_only_keys: Vec::new(),
            flavour: Flavour::default(),
            storage_emulator_account: false,
            open_id: None,
            require_auth: true,
            date_skew: None,
        }
    }

    /// Checks the options and prepares the keys.
    pub(crate) fn check(&self) -> Result<Accounts, OptionsError> {
        let read_write = std::iter::once(&self.key).chain(&self.secondary_key);
        let read_only = self.read_only_keys.iter().map(String::as_str);
        Accounts::new(read_write.map(String::as_str), read_only, self.storage_emulator_account)
            .map(|accounts| accounts.believing(self.open_id.clone()))
            .map_err(|_: KeyError| OptionsError::Key)
    }
}

/// Keys are not shown.
impl fmt::Debug for TableApiOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableApiOptions")
            .field("flavour", &self.flavour)
            .field("storage_emulator_account", &self.storage_emulator_account)
            .field("require_auth", &self.require_auth)
            .field("date_skew", &self.date_skew)
            .finish_non_exhaustive()
    }
}

/// Why the API cannot start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionsError {
    /// A key is not base64, or is empty.
    Key,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionsError::Key => f.write_str("an account key is not base64, or is empty"),
        }
    }
}

impl std::error::Error for OptionsError {}

#[cfg(test)]
mod tests {
    use super::{OptionsError, TableApiOptions};

    #[test]
    fn keys_are_checked_and_not_shown() {
        let with = |change: fn(&mut TableApiOptions)| {
            let mut options = TableApiOptions::new("c2VjcmV0");
            change(&mut options);
            assert!(!format!("{options:?}").contains("c2VjcmV0"));
            options.check().map(|_| ())
        };
        assert_eq!(with(|_| {}), Ok(()));
        assert_eq!(with(|options| options.key = String::new()), Err(OptionsError::Key));
        assert_eq!(with(|options| options.key = "?".into()), Err(OptionsError::Key));
        assert_eq!(with(|options| options.secondary_key = Some("?".into())), Err(OptionsError::Key));
        assert_eq!(with(|options| options.read_only_keys.push("?".into())), Err(OptionsError::Key));
    }
}
