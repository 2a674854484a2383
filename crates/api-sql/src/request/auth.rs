//! The `Authorization` header: master-key signatures, and telling the other kinds of token apart.
//!
//! A signature is an HMAC-SHA256 over verb, kind of resource, link and date. Which link a client
//! signed depends on how it addressed the resource, so the name form is tried first and the
//! resource-id form second. Comparison takes constant time.
//!
//! Not here: resource tokens are checked by the engine, which made them.

use std::time::Duration;

use armilla_rest_wire::names;
use armilla_rest_wire::signature::{AccountKey, KeyError, push_master_text};
use armilla_rest_wire::{http_date, percent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, Method};

use crate::limits::AUTHORIZATION_BYTES_MAX;
use crate::reply::failure::Failure;
use crate::reply::status::Status;
use crate::request::path::Address;

/// What a valid signature permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyAccess {
    /// Everything.
    ReadWrite,
    /// Reads and queries.
    ReadOnly,
}

/// An `Authorization` header, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    /// A signature with a key of the account: the raw digest.
    Master { signature: Vec<u8> },
    /// A token that the engine gave out with a permission: the whole value, decoded.
    ResourceToken(String),
}

/// The keys of the account, prepared for signing.
pub(crate) struct Keys {
    keys: Vec<(AccountKey, KeyAccess)>,
}

impl Keys {
    /// Prepares keys given in base64.
    pub(crate) fn new<'k>(
        read_write: impl IntoIterator<Item = &'k str>,
        read_only: impl IntoIterator<Item = &'k str>,
    ) -> Result<Keys, KeyError> {
        let mut keys = Vec::new();
        let with = |access| move |key: &'k str| (key, access);
        let all = read_write
            .into_iter()
            .map(with(KeyAccess::ReadWrite))
            .chain(read_only.into_iter().map(with(KeyAccess::ReadOnly)));
        for (key, access) in all {
            keys.push((AccountKey::new(key)?, access));
        }
        Ok(Keys { keys })
    }

    /// Checks a signature over a request and says what it permits.
    pub(crate) fn check(
        &self,
        signature: &[u8],
        method: &Method,
        address: &Address<'_>,
        date: &SignedDate<'_>,
    ) -> Result<KeyAccess, Failure> {
        let by_name = string_to_sign(method, address, |text| address.push_name_link(text), date);
        if let Some(access) = self.access(&by_name, signature) {
            return Ok(access);
        }
        if let Some(rid) = address.rid_link() {
            let push_rid = |text: &mut Vec<u8>| text.extend_from_slice(rid.as_bytes());
            let by_rid = string_to_sign(method, address, push_rid, date);
            if let Some(access) = self.access(&by_rid, signature) {
                return Ok(access);
            }
        }
        let payload = String::from_utf8_lossy(&by_name).replace('\n', "\\n");
        Err(Failure::new(
            Status::UNAUTHORIZED,
            format!(
                "The input authorization token can't serve the request. The wrong key is being used or the \
                 expected payload is not built as per the protocol. Server used the following payload to \
                 sign: '{payload}'"
            ),
        ))
    }

    fn access(&self, text: &[u8], signature: &[u8]) -> Option<KeyAccess> {
        self.keys.iter().find(|(key, _)| key.verify(text, signature)).map(|(_, access)| *access)
    }

    /// Signs a text with the first key.
    #[cfg(test)]
    pub(crate) fn sign(&self, text: &[u8]) -> String {
        self.keys[0].0.sign(text)
    }
}

/// The date lines of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignedDate<'h> {
    /// The value of `x-ms-date`, or nothing.
    ms_date: &'h str,
    /// The value of `Date`, if there is no `x-ms-date`.
    date: &'h str,
}

impl<'h> SignedDate<'h> {
    /// Finds the date of a request and checks that it is near the server's time.
    pub(crate) fn of(headers: &'h HeaderMap, now_ms: i64, skew: Duration) -> Result<SignedDate<'h>, Failure> {
        let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
        let (signed, value) = match (text(&names::MS_DATE), text(&http::header::DATE)) {
            (Some(ms_date), _) => (SignedDate { ms_date, date: "" }, ms_date),
            (None, Some(date)) => (SignedDate { ms_date: "", date }, date),
            (None, None) => {
                return Err(Failure::new(
                    Status::UNAUTHORIZED,
                    "The request has neither an x-ms-date nor a Date header; one of them must be part of the \
                     signature.",
                ));
            }
        };
        let Some(signed_ms) = http_date::parse_ms(value) else {
            return Err(Failure::new(
                Status::UNAUTHORIZED,
                format!("The date '{value}' is not of the form 'Thu, 27 Apr 2017 00:51:12 GMT'."),
            ));
        };
        if u128::from(now_ms.abs_diff(signed_ms)) > skew.as_millis() {
            return Err(Failure::new(
                Status::FORBIDDEN,
                format!(
                    "The authorization token is not valid at the current time. Please create another token and \
                     retry (token time: {value}, server time: {}).",
                    http_date::format_ms(now_ms)
                ),
            ));
        }
        Ok(signed)
    }
}

/// Builds the text that a signature covers.
pub(crate) fn string_to_sign(
    method: &Method,
    address: &Address<'_>,
    push_link: impl FnOnce(&mut Vec<u8>),
    date: &SignedDate<'_>,
) -> Vec<u8> {
    let mut text = Vec::with_capacity(192);
    let dates = [date.ms_date, date.date];
    push_master_text(&mut text, method.as_str(), address.resource_type(), push_link, dates);
    text
}

/// Takes an `Authorization` header apart.
pub(crate) fn parse_authorization(headers: &HeaderMap) -> Result<Credential, Failure> {
    let Some(value) = headers.get(http::header::AUTHORIZATION) else {
        return Err(Failure::new(
            Status::UNAUTHORIZED,
            "Required Header authorization is missing. Ensure a valid Authorization token is passed.",
        ));
    };
    if value.len() > AUTHORIZATION_BYTES_MAX {
        return Err(malformed());
    }
    let value = value.to_str().map_err(|_| malformed())?;
    // A token that was not encoded holds `=` and `&` as they are; base64 has no `%`.
    let decoded = percent::decode(value).ok_or_else(malformed)?;

    let (mut kind, mut version, mut signature) = (None, None, None);
    for pair in decoded.split('&') {
        match pair.split_once('=') {
            Some(("type", value)) => kind = Some(value),
            Some(("ver", value)) => version = Some(value),
            Some(("sig", value)) => signature = Some(value),
            _ => {}
        }
    }
    let (Some(kind), Some(version), Some(signature)) = (kind, version, signature) else {
        return Err(malformed());
    };
    if !matches!(version, "1.0" | "1") {
        return Err(malformed());
    }
    match kind.to_ascii_lowercase().as_str() {
        "master" => {
            let signature = STANDARD.decode(signature).map_err(|_| malformed())?;
            Ok(Credential::Master { signature })
        }
        "resource" => Ok(Credential::ResourceToken(decoded.into_owned())),
        "aad" => Err(unsupported("Microsoft Entra ID (type=aad)")),
        "sas" => Err(unsupported("client-generated (type=sas)")),
        _ => Err(malformed()),
    }
}

fn malformed() -> Failure {
    Failure::new(
        Status::UNAUTHORIZED,
        "Authorization header doesn't confirm to the required format. Please verify and try again: it is \
         type=master&ver=1.0&sig=<base64>, percent-encoded.",
    )
}

fn unsupported(kind: &str) -> Failure {
    Failure::new(
        Status::UNAUTHORIZED,
        format!(
            "Tokens of the {kind} kind are not supported by this server; use an account key or a resource token."
        ),
    )
}

#[cfg(test)]
mod tests;
