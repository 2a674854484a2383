//! Shared access signatures: grants that stand in the query string, signed with a key of the account.
//!
//! There are two kinds. One for the account says which kinds of resources it is for (`ss`, `srt`), one for a table
//! names the table (`tn`), may be limited to a range of keys, and may leave times and permissions to a stored access
//! policy of the table (`si`). Signatures cover the decoded values.
//!
//! Not here: what a grant permits (`grant`), and where policies are stored (`policies`).

use std::net::IpAddr;

use armilla_rest_wire::authorization::KeyAccess;
use armilla_rest_wire::percent;
use armilla_rest_wire::well_known::STORAGE_ACCOUNT;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::accounts::{Accounts, Address, DEFAULT_ACCOUNT, first_label};
use super::error::{AuthError, AuthErrorKind};
use super::grant::{KeyBound, KeyRange, SasGrant, Scope};
use super::limits::{POLICY_ID_CHARACTERS_MAX, SAS_VALUE_BYTES_MAX};
use super::query_string::pairs;
use crate::Peer;
use crate::utc_time::UtcTime;

/// What a stored access policy says, or a signature in its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AccessPolicy {
    /// When it begins to be valid; at once if that is not said.
    pub(crate) start: Option<UtcTime>,
    /// When it ceases to be valid.
    pub(crate) expiry: Option<UtcTime>,
    /// The permissions, one letter each.
    pub(crate) permission: Option<String>,
}

/// A signature that is authentic, and leaves something to a stored access policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingGrant {
    /// The table whose policy it is, as the signature writes it.
    pub(crate) table: String,
    /// The name of the policy.
    pub(crate) policy_id: String,
    scope: Scope,
    given: AccessPolicy,
    is_read_only: bool,
}

impl PendingGrant {
    /// Puts the policy and the signature together; `None` stands for a table or a policy that does not exist.
    pub(crate) fn settle(self, policy: Option<&AccessPolicy>, now_ms: i64) -> Result<SasGrant, AuthError> {
        let Some(policy) = policy else {
            return Err(not_authentic(format!(
                "the table '{}' has no stored access policy '{}'",
                self.table, self.policy_id
            )));
        };
        let both = |name: &str| {
            Err(not_authentic(format!(
                "'{name}' is given in the signature and in the stored access policy '{}'",
                self.policy_id
            )))
        };
        if self.given.start.is_some() && policy.start.is_some() {
            return both("st");
        }
        if self.given.expiry.is_some() && policy.expiry.is_some() {
            return both("se");
        }
        if self.given.permission.is_some() && policy.permission.is_some() {
            return both("sp");
        }
        let merged = AccessPolicy {
            start: self.given.start.or(policy.start),
            expiry: self.given.expiry.or(policy.expiry),
            permission: self.given.permission.or_else(|| policy.permission.clone()),
        };
        grant(self.scope, merged, self.is_read_only, now_ms)
    }
}

/// What the shared access signature of a request amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sas {
    Granted(SasGrant),
    Pending(PendingGrant),
}

/// The parameters of a signature, decoded. Those that were not sent are empty, as they are in what is signed.
#[derive(Default)]
struct Parameters {
    signature: String,
    version: String,
    permission: String,
    start: String,
    expiry: String,
    addresses: String,
    protocol: String,
    services: Option<String>,
    resource_types: Option<String>,
    encryption_scope: String,
    table: Option<String>,
    policy_id: String,
    start_partition_key: Option<String>,
    start_row_key: Option<String>,
    end_partition_key: Option<String>,
    end_row_key: Option<String>,
}

impl Parameters {
    /// Reads a query string; `None` if there is no signature in it.
    fn of(query: &str) -> Result<Option<Parameters>, AuthError> {
        if !pairs(query).any(|(name, _)| name == "sig") {
            return Ok(None);
        }
        let mut parameters = Parameters::default();
        for (name, value) in pairs(query) {
            let slot = match name {
                "sig" => &mut parameters.signature,
                "sv" => &mut parameters.version,
                "sp" => &mut parameters.permission,
                "st" => &mut parameters.start,
                "se" => &mut parameters.expiry,
                "sip" => &mut parameters.addresses,
                "spr" => &mut parameters.protocol,
                "ses" => &mut parameters.encryption_scope,
                "si" => &mut parameters.policy_id,
                "ss" => parameters.services.get_or_insert_default(),
                "srt" => parameters.resource_types.get_or_insert_default(),
                "tn" => parameters.table.get_or_insert_default(),
                "spk" => parameters.start_partition_key.get_or_insert_default(),
                "srk" => parameters.start_row_key.get_or_insert_default(),
                "epk" => parameters.end_partition_key.get_or_insert_default(),
                "erk" => parameters.end_row_key.get_or_insert_default(),
                _ => continue,
            };
            if !slot.is_empty() {
                return Err(not_authentic(format!("the parameter '{name}' is given twice")));
            }
            let decoded = percent::decode_form(value)
                .filter(|decoded| decoded.len() <= SAS_VALUE_BYTES_MAX)
                .ok_or_else(|| not_authentic(format!("the parameter '{name}' cannot be read")))?;
            // What is signed is one value on each line: a line break inside a value would let values change places.
            if decoded.chars().any(char::is_control) {
                return Err(not_authentic(format!("the parameter '{name}' holds a control character")));
            }
            *slot = decoded.into_owned();
        }
        // A plus sign in a digest is often sent as it is, and arrives as a space.
        parameters.signature = parameters.signature.replace(' ', "+");
        Ok(Some(parameters))
    }
}

/// Checks the shared access signature in a query string; `None` if there is none.
pub(super) fn check(
    query: &str,
    address: &Address<'_>,
    host: Option<&str>,
    accounts: &Accounts,
    peer: &Peer,
    now_ms: i64,
) -> Result<Option<Sas>, AuthError> {
    let Some(parameters) = Parameters::of(query)? else { return Ok(None) };
    if parameters.version.is_empty() {
        return Err(not_authentic("the parameter 'sv' is missing"));
    }
    let signature = STANDARD
        .decode(&parameters.signature)
        .map_err(|_| not_authentic("the parameter 'sig' is not base64"))?;
    let kind = match (&parameters.services, &parameters.resource_types, &parameters.table) {
        (Some(_), Some(_), None) => SasKind::Account,
        (None, None, Some(_)) => SasKind::Table,
        _ => {
            return Err(not_authentic(
                "the signature is neither for the account (ss, srt) nor for a table (tn)",
            ));
        }
    };
    let access = find_access(kind, &parameters, &signature, address, host, accounts)?;
    check_protocol(&parameters.protocol, peer)?;
    check_address(&parameters.addresses, peer.address)?;
    let given = AccessPolicy {
        start: time("st", &parameters.start)?,
        expiry: time("se", &parameters.expiry)?,
        permission: (!parameters.permission.is_empty()).then_some(parameters.permission),
    };
    let is_read_only = access == KeyAccess::ReadOnly;
    match kind {
        SasKind::Account => {
            let services = parameters.services.unwrap_or_default();
            if !services.contains('t') {
                return Err(AuthError::new(AuthErrorKind::Service, format!("ss={services}")));
            }
            let resource_types = parameters.resource_types.unwrap_or_default();
            grant(Scope::Account { resource_types }, given, is_read_only, now_ms).map(Sas::Granted).map(Some)
        }
        SasKind::Table => {
            let table = parameters.table.unwrap_or_default();
            let range = KeyRange {
                start: bound(parameters.start_partition_key, parameters.start_row_key, "spk", "srk")?,
                end: bound(parameters.end_partition_key, parameters.end_row_key, "epk", "erk")?,
            };
            let policy_id = parameters.policy_id;
            if policy_id.is_empty() {
                let scope = Scope::Table { table, range };
                return grant(scope, given, is_read_only, now_ms).map(Sas::Granted).map(Some);
            }
            if policy_id.chars().count() > POLICY_ID_CHARACTERS_MAX {
                return Err(not_authentic("the parameter 'si' is longer than a policy's name can be"));
            }
            let scope = Scope::Table { table: table.clone(), range };
            Ok(Some(Sas::Pending(PendingGrant { table, policy_id, scope, given, is_read_only })))
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SasKind {
    Account,
    Table,
}

/// Finds the account and the key that a signature was made with.
fn find_access(
    kind: SasKind,
    parameters: &Parameters,
    signature: &[u8],
    address: &Address<'_>,
    host: Option<&str>,
    accounts: &Accounts,
) -> Result<KeyAccess, AuthError> {
    // The query string does not say which name of the account was signed. The likeliest one goes first.
    let mut names = vec![address.account, DEFAULT_ACCOUNT, STORAGE_ACCOUNT];
    names.extend(host.and_then(first_label));
    let mut tried: Vec<&str> = Vec::with_capacity(names.len());
    for name in names {
        if tried.contains(&name) {
            continue;
        }
        tried.push(name);
        let mut text = match kind {
            SasKind::Account => account_string_to_sign(name, parameters),
            SasKind::Table => table_string_to_sign(name, parameters),
        };
        if let Some(access) = accounts.access(name, text.as_bytes(), signature) {
            return Ok(access);
        }
        if kind == SasKind::Account {
            // Versions since 2020-12-06 sign a line with an encryption scope, which tables never have.
            text.push_str(&parameters.encryption_scope);
            text.push('\n');
            if let Some(access) = accounts.access(name, text.as_bytes(), signature) {
                return Ok(access);
            }
        }
    }
    let text = match kind {
        SasKind::Account => account_string_to_sign(address.account, parameters),
        SasKind::Table => table_string_to_sign(address.account, parameters),
    };
    let payload = text.replace('\n', "\\n");
    Err(not_authentic(format!("the server used the following string to sign: '{payload}'")))
}

fn account_string_to_sign(account: &str, parameters: &Parameters) -> String {
    let lines = [
        account,
        &parameters.permission,
        parameters.services.as_deref().unwrap_or_default(),
        parameters.resource_types.as_deref().unwrap_or_default(),
        &parameters.start,
        &parameters.expiry,
        &parameters.addresses,
        &parameters.protocol,
        &parameters.version,
        "",
    ];
    lines.join("\n")
}

fn table_string_to_sign(account: &str, parameters: &Parameters) -> String {
    let table = parameters.table.as_deref().unwrap_or_default().to_lowercase();
    let resource = format!("/table/{account}/{table}");
    let lines = [
        parameters.permission.as_str(),
        &parameters.start,
        &parameters.expiry,
        &resource,
        &parameters.policy_id,
        &parameters.addresses,
        &parameters.protocol,
        &parameters.version,
        parameters.start_partition_key.as_deref().unwrap_or_default(),
        parameters.start_row_key.as_deref().unwrap_or_default(),
        parameters.end_partition_key.as_deref().unwrap_or_default(),
        parameters.end_row_key.as_deref().unwrap_or_default(),
    ];
    lines.join("\n")
}

/// Makes a grant of what is signed, if it is complete and its time has come and is not over.
fn grant(scope: Scope, policy: AccessPolicy, is_read_only: bool, now_ms: i64) -> Result<SasGrant, AuthError> {
    let Some(expiry) = policy.expiry else {
        return Err(not_authentic("the signature has no expiry (se), and no policy gives one"));
    };
    let Some(permissions) = policy.permission else {
        return Err(not_authentic("the signature has no permissions (sp), and no policy gives any"));
    };
    let now = UtcTime::from_unix_ms(now_ms);
    if policy.start.is_some_and(|start| now < start) || now > expiry {
        let start = policy.start.map(|start| start.to_string()).unwrap_or_default();
        return Err(AuthError::new(
            AuthErrorKind::OutOfTime,
            format!(
                "signature not valid in the specified time frame: start [{start}], expiry [{expiry}], now [{now}]"
            ),
        ));
    }
    Ok(SasGrant { scope, permissions, is_read_only })
}

fn time(name: &str, text: &str) -> Result<Option<UtcTime>, AuthError> {
    if text.is_empty() {
        return Ok(None);
    }
    match UtcTime::parse(text) {
        Some(time) => Ok(Some(time)),
        None => Err(not_authentic(format!(
            "the parameter '{name}' is not a time of the form 2021-06-08T02:10:09Z"
        ))),
    }
}

/// Makes one end of a range of keys. An empty key is as good as none: that is how clients leave it out.
fn bound(
    partition_key: Option<String>,
    row_key: Option<String>,
    partition_name: &str,
    row_name: &str,
) -> Result<Option<KeyBound>, AuthError> {
    let row_key = row_key.filter(|key| !key.is_empty());
    match partition_key.filter(|key| !key.is_empty()) {
        Some(partition_key) => Ok(Some(KeyBound { partition_key, row_key })),
        None if row_key.is_some() => {
            Err(not_authentic(format!("the parameter '{row_name}' must come with '{partition_name}'")))
        }
        None => Ok(None),
    }
}

fn check_protocol(protocol: &str, peer: &Peer) -> Result<(), AuthError> {
    let is_allowed = match protocol {
        "" | "https,http" | "http,https" => true,
        "https" => peer.scheme == "https",
        "http" => peer.scheme == "http",
        _ => return Err(not_authentic("the parameter 'spr' is neither 'https' nor 'https,http'")),
    };
    if is_allowed { Ok(()) } else { Err(AuthError::new(AuthErrorKind::Protocol, format!("spr={protocol}"))) }
}

fn check_address(addresses: &str, peer: IpAddr) -> Result<(), AuthError> {
    if addresses.is_empty() {
        return Ok(());
    }
    let (first, last) = addresses.split_once('-').unwrap_or((addresses, addresses));
    let (Ok(first), Ok(last)) = (first.trim().parse::<IpAddr>(), last.trim().parse::<IpAddr>()) else {
        return Err(not_authentic("the parameter 'sip' is neither an address nor a range of addresses"));
    };
    // A socket for both kinds of addresses shows those of version 4 inside those of version 6.
    let peer = peer.to_canonical();
    let is_same_kind = first.is_ipv4() == peer.is_ipv4() && last.is_ipv4() == peer.is_ipv4();
    if is_same_kind && (first..=last).contains(&peer) {
        return Ok(());
    }
    Err(AuthError::new(
        AuthErrorKind::SourceAddress,
        format!("sip={addresses}, the request comes from {peer}"),
    ))
}

fn not_authentic(detail: impl Into<String>) -> AuthError {
    AuthError::new(AuthErrorKind::NotAuthentic, detail)
}
