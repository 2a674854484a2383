//! The `Authorization` header: master-key signatures, and telling the other kinds of token apart.
//!
//! A signature is an HMAC-SHA256 over verb, kind of resource, link and date. Which link a client
//! signed depends on how it addressed the resource, so the name form is tried first and the
//! resource-id form second. Comparison takes constant time.
//!
//! Not here: resource tokens are checked by the engine, which made them.

use std::borrow::Cow;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, Method};
use ring::hmac;

use crate::failure::Failure;
use crate::headers::names;
use crate::http_date;
use crate::limits::AUTHORIZATION_BYTES_MAX;
use crate::options::OptionsError;
use crate::path::{Address, percent_decode};
use crate::status::Status;

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

/// A configured key that is not base64, or is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyError;

/// The keys of the account, prepared for signing.
pub(crate) struct Keys {
    keys: Vec<(hmac::Key, KeyAccess)>,
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
            keys.push((hmac::Key::new(hmac::HMAC_SHA256, &secret(key)?), access));
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
        self.keys
            .iter()
            .find(|(key, _)| hmac::verify(key, text, signature).is_ok())
            .map(|(_, access)| *access)
    }

    /// Signs a text with the first key.
    #[cfg(test)]
    pub(crate) fn sign(&self, text: &[u8]) -> String {
        STANDARD.encode(hmac::sign(&self.keys[0].0, text))
    }
}

/// Returns the `Authorization` header of a request that is signed with a key of the account, for clients.
///
/// `key` is in base64, `date` is the value of the request's `x-ms-date`.
pub fn sign(
    key: &str,
    verb: &str,
    resource_type: &str,
    link: &str,
    date: &str,
) -> Result<String, OptionsError> {
    let secret = secret(key).map_err(|KeyError| OptionsError::Key)?;
    let mut text = Vec::with_capacity(192);
    push_signed(&mut text, verb, resource_type, |text| text.extend_from_slice(link.as_bytes()), [date, ""]);
    let signature = STANDARD.encode(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), &text));
    // Base64 has three characters that mean something else in a header that is percent-encoded.
    let signature = signature.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    Ok(format!("type%3Dmaster%26ver%3D1.0%26sig%3D{signature}"))
}

/// Returns the bytes of a key in base64.
fn secret(key: &str) -> Result<Vec<u8>, KeyError> {
    let secret = STANDARD.decode(key.trim()).map_err(|_| KeyError)?;
    if secret.is_empty() { Err(KeyError) } else { Ok(secret) }
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
    push_signed(&mut text, method.as_str(), address.resource_type(), push_link, dates);
    text
}

/// Appends the lines that a signature covers. Everything but the link is in lower case.
fn push_signed(
    text: &mut Vec<u8>,
    verb: &str,
    resource_type: &str,
    push_link: impl FnOnce(&mut Vec<u8>),
    dates: [&str; 2],
) {
    let push_lower = |text: &mut Vec<u8>, part: &str| {
        let start = text.len();
        text.extend_from_slice(part.as_bytes());
        text[start..].make_ascii_lowercase();
        text.push(b'\n');
    };
    push_lower(text, verb);
    push_lower(text, resource_type);
    push_link(text);
    text.push(b'\n');
    for date in dates {
        push_lower(text, date);
    }
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
    let decoded = if value.contains('%') {
        Cow::Owned(percent_decode(value.as_bytes()).ok_or_else(malformed)?)
    } else {
        Cow::Borrowed(value)
    };

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
