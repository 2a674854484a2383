//! Which account a request is for, and the keys of that account.
//!
//! There is one set of tables, and it answers to several names: `localhost` as with the emulator of Cosmos DB,
//! `devstoreaccount1` as with the emulator of storage accounts, and whatever name stands in the host
//! (`<name>.table...`) or at the head of the path where the credentials say the same name. A name with `-secondary`
//! behind it is the same account, for reads.

use std::sync::Arc;

use armilla_rest_wire::authorization::KeyAccess;
use armilla_rest_wire::authorization::open_id::OpenId;
use armilla_rest_wire::signature::{AccountKey, KeyError};
use armilla_rest_wire::well_known::{STORAGE_ACCOUNT, STORAGE_KEY};
use http::HeaderMap;

use super::shared_key::Authorization;

/// The account of the emulator of Cosmos DB, and the one that is meant where nothing else is said.
pub(super) const DEFAULT_ACCOUNT: &str = "localhost";
const SECONDARY_SUFFIX: &str = "-secondary";
/// Characters of the name of an account, as the service has it.
const ACCOUNT_CHARACTERS: std::ops::RangeInclusive<usize> = 3..=24;

/// The keys of the accounts, prepared for checking signatures.
pub(crate) struct Accounts {
    keys: Vec<(AccountKey, KeyAccess)>,
    storage_emulator_key: Option<AccountKey>,
    open_id: Option<Arc<OpenId>>,
}

impl Accounts {
    /// Prepares keys given in base64. `with_storage_emulator` makes the storage emulator's key good for its account.
    pub(crate) fn new<'k>(
        read_write: impl IntoIterator<Item = &'k str>,
        read_only: impl IntoIterator<Item = &'k str>,
        with_storage_emulator: bool,
    ) -> Result<Accounts, KeyError> {
        let mut keys = Vec::new();
        for key in read_write {
            keys.push((AccountKey::new(key)?, KeyAccess::ReadWrite));
        }
        for key in read_only {
            keys.push((AccountKey::new(key)?, KeyAccess::ReadOnly));
        }
        let storage_emulator_key =
            if with_storage_emulator { Some(AccountKey::new(STORAGE_KEY)?) } else { None };
        Ok(Accounts { keys, storage_emulator_key, open_id: None })
    }

    /// Returns the same accounts, to which bearers of tokens have access as well.
    pub(crate) fn believing(self, open_id: Option<Arc<OpenId>>) -> Accounts {
        Accounts { open_id, ..self }
    }

    /// Returns who else is believed.
    pub(super) fn open_id(&self) -> Option<&OpenId> {
        self.open_id.as_deref()
    }

    /// Returns what a key permits in an account that a caller has shown.
    pub(super) fn access_of_key(&self, account: &str, key: &AccountKey) -> Option<KeyAccess> {
        // What one of them signs the other must verify, which takes the same time however wrong it is.
        const TEXT: &[u8] = b"the same key";
        self.access(account, TEXT, &key.digest(TEXT))
    }

    /// Returns what a signature over a text permits in an account, in a time that does not depend on how wrong it is.
    pub(super) fn access(&self, account: &str, text: &[u8], signature: &[u8]) -> Option<KeyAccess> {
        if let Some(key) = &self.storage_emulator_key
            && account == STORAGE_ACCOUNT
            && key.verify(text, signature)
        {
            return Some(KeyAccess::ReadWrite);
        }
        self.keys.iter().find(|(key, _)| key.verify(text, signature)).map(|(_, access)| *access)
    }
}

/// Where in the one account a request points to, and by which name it knows the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address<'r> {
    /// The name of the account, without `-secondary`.
    pub(crate) account: &'r str,
    /// Whether it is the secondary address, which takes no writes.
    pub(crate) is_secondary: bool,
    /// What stands between the host and the resource: nothing, or `/` and the account as it was written.
    pub(crate) prefix: &'r str,
    /// The path of the resource as it was sent, still percent-encoded, with a leading slash.
    pub(crate) path: &'r str,
}

impl<'r> Address<'r> {
    /// Finds the account of a request: at the head of its path, else in its host, else in its `Authorization` header.
    ///
    /// `path` and `query` are as they were sent.
    pub(crate) fn of(
        host: Option<&'r str>,
        path: &'r str,
        query: &'r str,
        headers: &'r HeaderMap,
    ) -> Address<'r> {
        let host_account = host.and_then(host_style_account);
        let signed_account =
            Authorization::of(headers).ok().flatten().map(|authorization| authorization.account);
        if let Some((segment, rest)) = first_segment(path) {
            let (name, is_secondary) = without_suffix(segment);
            let is_account = if name == STORAGE_ACCOUNT {
                true
            } else if rest.is_empty() || !is_account_name(name) {
                // Without anything behind it, it is the name of a table.
                false
            } else if let Some(signed_account) = signed_account {
                signed_account == name && host_account.is_none_or(|(host_account, _)| host_account != name)
            } else {
                name == DEFAULT_ACCOUNT || (host_account.is_none() && has_signature(query))
            };
            if is_account {
                // The Python client puts the name of the secondary before the primary's: `/name-secondary/name/...`.
                let rest = match first_segment(rest) {
                    Some((second, behind)) if is_secondary && second == name => behind,
                    _ => rest,
                };
                let (prefix, _) = path.split_at(path.len() - rest.len());
                let path = if rest.is_empty() { "/" } else { rest };
                return Address { account: name, is_secondary, prefix, path };
            }
        }
        let path = if path.is_empty() { "/" } else { path };
        let (account, is_secondary) = match (host_account, signed_account) {
            (Some(found), _) => found,
            (None, Some(account)) if account == STORAGE_ACCOUNT => (account, false),
            (None, _) => (DEFAULT_ACCOUNT, false),
        };
        Address { account, is_secondary, prefix: "", path }
    }
}

/// Returns whether an account is one that this server answers to at this address.
pub(super) fn is_known(account: &str, address: &Address<'_>, host: Option<&str>) -> bool {
    account == DEFAULT_ACCOUNT
        || account == STORAGE_ACCOUNT
        || account == address.account
        || host
            .and_then(first_label)
            .is_some_and(|label| without_suffix(label).0.eq_ignore_ascii_case(account))
}

/// Returns the account of a host of the form `<account>.table.<rest>`, and whether it is the secondary.
fn host_style_account(host: &str) -> Option<(&str, bool)> {
    let (label, rest) = host.split_once('.')?;
    let is_table_host =
        rest.split_once('.').is_some_and(|(service, _)| service.eq_ignore_ascii_case("table"));
    (is_table_host && !label.is_empty()).then(|| without_suffix(label))
}

/// Returns the first label of a host that is a name.
pub(super) fn first_label(host: &str) -> Option<&str> {
    let label = host.split(['.', ':']).next()?;
    let is_name = !label.is_empty() && !label.bytes().all(|byte| byte.is_ascii_digit() || byte == b'[');
    is_name.then_some(label)
}

fn without_suffix(name: &str) -> (&str, bool) {
    match name.strip_suffix(SECONDARY_SUFFIX) {
        Some(name) => (name, true),
        None => (name, false),
    }
}

/// Splits `/first/rest` into `first` and `/rest`; `rest` is empty if there is no second slash.
fn first_segment(path: &str) -> Option<(&str, &str)> {
    let inside = path.strip_prefix('/')?;
    let end = inside.find('/').unwrap_or(inside.len());
    (end > 0).then(|| inside.split_at(end))
}

fn is_account_name(name: &str) -> bool {
    ACCOUNT_CHARACTERS.contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn has_signature(query: &str) -> bool {
    query.split('&').any(|pair| pair.starts_with("sig="))
}
