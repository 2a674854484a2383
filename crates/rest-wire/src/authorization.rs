//! The `Authorization` header of the SQL API, as front ends check it: signatures with a key of the account, and telling
//! the other kinds of token apart.
//!
//! A front end takes the header apart ([`Credential::of`]), finds the date that was signed ([`SignedDate::of`]), writes
//! what the client must have signed ([`SignedDate::text`]), and asks the keys whether one of them did
//! ([`AccountKeys::access`]).
//!
//! Not here: what is addressed, and how that is written in a signature (the front ends); resource tokens, which the engine
//! gives out and checks; making a signature (`signature`).

use std::fmt;
use std::time::Duration;

use armilla_value::{Value, json};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue, Method, header};

use crate::limits::AUTHORIZATION_BYTES_MAX;
use crate::names::MS_DATE;
use crate::signature::{AccountKey, KeyError, push_master_text};
use crate::status::Status;
use crate::{http_date, percent};

pub mod emulator_token;
pub mod open_id;

#[cfg(test)]
mod tests;

/// An `Authorization` header, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A signature with a key of the account.
    Master {
        /// The raw digest.
        signature: Vec<u8>,
    },
    /// A token that the engine gave out with a permission: the whole value, decoded.
    ResourceToken(String),
    /// A token of Microsoft Entra ID, or one that looks like it: three parts of base64 between dots.
    EntraToken(String),
    /// The server has found out by other means who it is.
    SignedIn(KeyAccess),
}

/// What the server adds to a request whose sender it believes already, as an extension: nothing that comes over a
/// connection can be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedIn(pub KeyAccess);

/// What a valid signature permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAccess {
    /// Everything.
    ReadWrite,
    /// Reads and queries.
    ReadOnly,
}

/// The keys of the account, prepared for checking.
pub struct AccountKeys {
    keys: Vec<(AccountKey, KeyAccess)>,
}

/// The date lines of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedDate<'h> {
    /// The value of `x-ms-date`, or nothing.
    ms_date: &'h str,
    /// The value of `Date`, if there is no `x-ms-date`.
    date: &'h str,
}

/// Why a request is not believed. Displayed, it is what the client is told, in the words of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorizationError {
    /// There is no `Authorization` header.
    Missing,
    /// The header has not the form that it must have.
    Malformed,
    /// The token is of a kind that this server does not take.
    Unsupported {
        /// The kind, for people.
        kind: &'static str,
    },
    /// A token of Microsoft Entra ID is not believed.
    EntraToken {
        /// Why.
        why: &'static str,
    },
    /// The request has no date.
    NoDate,
    /// The date is none.
    MalformedDate {
        /// What stands there.
        date: String,
    },
    /// The date lies too far from the server's time.
    DateTooFar {
        /// The date.
        date: String,
        /// The server's time, in milliseconds since 1970.
        now_ms: i64,
    },
    /// No key of the account signed this.
    WrongSignature {
        /// What one of them would have signed.
        text: Vec<u8>,
    },
}

impl Credential {
    /// Returns what shows who sends a request.
    pub fn of_request(head: &http::request::Parts) -> Result<Credential, AuthorizationError> {
        match head.extensions.get() {
            Some(SignedIn(access)) => Ok(Credential::SignedIn(*access)),
            None => Credential::of(&head.headers),
        }
    }

    /// Takes the `Authorization` header of a request apart.
    pub fn of(headers: &HeaderMap) -> Result<Credential, AuthorizationError> {
        let value = headers.get(header::AUTHORIZATION).ok_or(AuthorizationError::Missing)?;
        if value.len() > AUTHORIZATION_BYTES_MAX {
            return Err(AuthorizationError::Malformed);
        }
        let value = value.to_str().map_err(|_| AuthorizationError::Malformed)?;
        // A token that was not encoded holds `=` and `&` as they are; base64 has no `%`.
        let decoded = percent::decode(value).ok_or(AuthorizationError::Malformed)?;

        let (mut kind, mut version, mut signature) = (None, None, None);
        for pair in decoded.split('&') {
            match pair.split_once('=') {
                Some(("type", value)) => kind = Some(value),
                Some(("ver", value)) => version = Some(value),
                Some(("sig", value)) => signature = Some(value),
                _ => {}
            }
        }
        let (Some(kind), Some("1.0" | "1"), Some(signature)) = (kind, version, signature) else {
            return Err(AuthorizationError::Malformed);
        };
        match kind.to_ascii_lowercase().as_str() {
            "master" => {
                let signature = STANDARD.decode(signature).map_err(|_| AuthorizationError::Malformed)?;
                Ok(Credential::Master { signature })
            }
            "resource" => Ok(Credential::ResourceToken(decoded.into_owned())),
            "aad" => Ok(Credential::EntraToken(signature.to_owned())),
            "sas" => Err(AuthorizationError::Unsupported { kind: "client-generated (type=sas)" }),
            _ => Err(AuthorizationError::Malformed),
        }
    }
}

impl AccountKeys {
    /// Prepares keys given in base64.
    pub fn new<'k>(
        read_write: impl IntoIterator<Item = &'k str>,
        read_only: impl IntoIterator<Item = &'k str>,
    ) -> Result<AccountKeys, KeyError> {
        let read_write = read_write.into_iter().map(|key| (key, KeyAccess::ReadWrite));
        let read_only = read_only.into_iter().map(|key| (key, KeyAccess::ReadOnly));
        let prepare = |(key, access): (&str, KeyAccess)| AccountKey::new(key).map(|key| (key, access));
        Ok(AccountKeys { keys: read_write.chain(read_only).map(prepare).collect::<Result<_, _>>()? })
    }

    /// Returns what a key permits that a caller has shown; none, if it is not one of the account's.
    pub fn access_of_key(&self, key: &AccountKey) -> Option<KeyAccess> {
        // What one of them signs the other must verify, which takes the same time however wrong it is.
        const TEXT: &[u8] = b"the same key";
        let signature = key.digest(TEXT);
        self.access(TEXT, &signature)
    }

    /// Returns what a signature over a text permits; none, if no key made it.
    pub fn access(&self, text: &[u8], signature: &[u8]) -> Option<KeyAccess> {
        self.keys.iter().find(|(key, _)| key.verify(text, signature)).map(|(_, access)| *access)
    }
}

impl<'h> SignedDate<'h> {
    /// Finds the date of a request and checks that it is near the server's time.
    pub fn of(
        headers: &'h HeaderMap,
        now_ms: i64,
        skew: Duration,
    ) -> Result<SignedDate<'h>, AuthorizationError> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let (signed, value) = match (text(&MS_DATE), text(&header::DATE)) {
            (Some(ms_date), _) => (SignedDate { ms_date, date: "" }, ms_date),
            (None, Some(date)) => (SignedDate { ms_date: "", date }, date),
            (None, None) => return Err(AuthorizationError::NoDate),
        };
        let Some(signed_ms) = http_date::parse_ms(value) else {
            return Err(AuthorizationError::MalformedDate { date: value.to_owned() });
        };
        if u128::from(now_ms.abs_diff(signed_ms)) > skew.as_millis() {
            return Err(AuthorizationError::DateTooFar { date: value.to_owned(), now_ms });
        }
        Ok(signed)
    }

    /// Returns what a signature with this date covers.
    pub fn text(
        &self,
        method: &Method,
        resource_type: &str,
        push_link: impl FnOnce(&mut Vec<u8>),
    ) -> Vec<u8> {
        let mut text = Vec::with_capacity(192);
        push_master_text(&mut text, method.as_str(), resource_type, push_link, [self.ms_date, self.date]);
        text
    }
}

/// Reads one of the parts of a token that are JSON in base64 for URLs.
fn token_part(text: &str) -> Option<Value> {
    json::parse(&URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?).ok()
}

impl AuthorizationError {
    /// Returns the status that a client is told.
    pub fn status(&self) -> Status {
        match self {
            AuthorizationError::DateTooFar { .. } => Status::FORBIDDEN,
            AuthorizationError::Missing
            | AuthorizationError::Malformed
            | AuthorizationError::Unsupported { .. }
            | AuthorizationError::EntraToken { .. }
            | AuthorizationError::NoDate
            | AuthorizationError::MalformedDate { .. }
            | AuthorizationError::WrongSignature { .. } => Status::UNAUTHORIZED,
        }
    }
}

impl fmt::Display for AuthorizationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuthorizationError::Missing => f.write_str(
                "Required Header authorization is missing. Ensure a valid Authorization token is passed.",
            ),
            AuthorizationError::Malformed => f.write_str(
                "Authorization header doesn't confirm to the required format. Please verify and try again: it is \
                 type=master&ver=1.0&sig=<base64>, percent-encoded.",
            ),
            AuthorizationError::Unsupported { kind } => write!(
                f,
                "Tokens of the {kind} kind are not supported by this server; use an account key or a resource token."
            ),
            AuthorizationError::EntraToken { why } => {
                write!(f, "The input authorization token can't serve the request. The Microsoft Entra ID token {why}.")
            }
            AuthorizationError::NoDate => f.write_str(
                "The request has neither an x-ms-date nor a Date header; one of them must be part of the \
                 signature.",
            ),
            AuthorizationError::MalformedDate { date } => {
                write!(f, "The date '{date}' is not of the form 'Thu, 27 Apr 2017 00:51:12 GMT'.")
            }
            AuthorizationError::DateTooFar { date, now_ms } => write!(
                f,
                "The authorization token is not valid at the current time. Please create another token and \
                 retry (token time: {date}, server time: {}).",
                http_date::format_ms(*now_ms)
            ),
            AuthorizationError::WrongSignature { text } => write!(
                f,
                "The input authorization token can't serve the request. The wrong key is being used or the \
                 expected payload is not built as per the protocol. Server used the following payload to \
                 sign: '{}'",
                String::from_utf8_lossy(text).replace('\n', "\\n")
            ),
        }
    }
}

impl std::error::Error for AuthorizationError {}
