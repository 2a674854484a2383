//! Signatures with an account's key in the `Authorization` header: `SharedKey` and `SharedKeyLite`.
//!
//! Both cover the date and the resource; `SharedKey` covers the verb, the content type and the digest of the content
//! as well. Clients and what stands between them and the server differ in how they percent-encode a path, so several
//! spellings of the resource are tried, the one that was sent first.

use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

use armilla_rest_wire::authorization::KeyAccess;
use armilla_rest_wire::percent;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, Method};

use super::accounts::{Accounts, Address, is_known};
use super::error::{AuthError, AuthErrorKind};
use super::limits::AUTHORIZATION_BYTES_MAX;
use super::query_string::pairs;

/// What a signature covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// Verb, digest and type of the content, date, resource.
    SharedKey,
    /// Date and resource.
    SharedKeyLite,
}

/// An `Authorization` header, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authorization<'h> {
    pub(super) scheme: Scheme,
    pub(super) account: &'h str,
    signature: &'h str,
}

impl<'h> Authorization<'h> {
    /// Reads the header; `None` if there is none.
    pub(super) fn of(headers: &'h HeaderMap) -> Result<Option<Authorization<'h>>, AuthError> {
        let Some(value) = headers.get(http::header::AUTHORIZATION) else { return Ok(None) };
        let malformed = |detail| AuthError::new(AuthErrorKind::NotAuthentic, detail);
        if value.len() > AUTHORIZATION_BYTES_MAX {
            return Err(malformed("the Authorization header is too long"));
        }
        let value =
            value.to_str().map_err(|_| malformed("the Authorization header is not ASCII text"))?.trim();
        let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
        let scheme = if scheme.eq_ignore_ascii_case("SharedKey") {
            Scheme::SharedKey
        } else if scheme.eq_ignore_ascii_case("SharedKeyLite") {
            Scheme::SharedKeyLite
        } else {
            return Err(malformed("the Authorization header is neither of SharedKey nor of SharedKeyLite"));
        };
        let (account, signature) = rest.trim().split_once(':').ok_or_else(|| {
            malformed("the Authorization header is not of the form 'SharedKey account:signature'")
        })?;
        Ok(Some(Authorization { scheme, account, signature }))
    }
}

/// What of a request a signature covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signed<'r> {
    pub(super) method: &'r Method,
    /// As it was sent.
    pub(super) path: &'r str,
    /// As it was sent.
    pub(super) query: &'r str,
    pub(super) headers: &'r HeaderMap,
    pub(super) host: Option<&'r str>,
}

/// Checks a signature and says what it permits.
pub(super) fn check(
    authorization: &Authorization<'_>,
    signed: &Signed<'_>,
    address: &Address<'_>,
    accounts: &Accounts,
    now_ms: i64,
    date_skew: Option<Duration>,
) -> Result<KeyAccess, AuthError> {
    let refused = |detail: String| AuthError::new(AuthErrorKind::NotAuthentic, detail);
    if !is_known(authorization.account, address, signed.host) {
        return Err(refused(format!("there is no account '{}' at this address", authorization.account)));
    }
    let signature = STANDARD
        .decode(authorization.signature)
        .map_err(|_| refused("the signature in the Authorization header is not base64".to_owned()))?;
    let dates = dates(signed.headers);
    let [Some(date), _] = dates else {
        return Err(refused("the request has neither an x-ms-date nor a Date header".to_owned()));
    };
    let mut text = Vec::with_capacity(256);
    for path in path_spellings(signed.path, address) {
        for date in dates.into_iter().flatten() {
            text.clear();
            push_string_to_sign(&mut text, authorization, signed, date, &path);
            if let Some(access) = accounts.access(authorization.account, &text, &signature) {
                // The date that was signed counts: whoever holds an old request can put another one beside it.
                return match date_skew {
                    Some(skew) => check_date(date, now_ms, skew).map(|()| access),
                    None => Ok(access),
                };
            }
        }
    }
    text.clear();
    push_string_to_sign(&mut text, authorization, signed, date, signed.path);
    let payload = String::from_utf8_lossy(&text).replace('\n', "\\n");
    Err(refused(format!("the server used the following string to sign: '{payload}'")))
}

/// Returns the dates that may have been signed. `x-ms-date` goes first; some clients sign `Date` though both are there.
fn dates(headers: &HeaderMap) -> [Option<&str>; 2] {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match (text("x-ms-date"), text("date")) {
        (Some(ms_date), date) => [Some(ms_date), date.filter(|date| *date != ms_date)],
        (None, date) => [date, None],
    }
}

fn check_date(date: &str, now_ms: i64, skew: Duration) -> Result<(), AuthError> {
    let refused = |detail: String| AuthError::new(AuthErrorKind::NotAuthentic, detail);
    let signed_ms = httpdate::parse_http_date(date.trim())
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .ok_or_else(|| {
            refused(format!("the date '{date}' is not of the form 'Thu, 27 Apr 2017 00:51:12 GMT'"))
        })?;
    if u128::from(now_ms.abs_diff(signed_ms)) > skew.as_millis() {
        return Err(refused(format!("the date '{date}' is too far from the server's")));
    }
    Ok(())
}

/// Returns the spellings of a path that may have been signed.
fn path_spellings<'p>(path: &'p str, address: &Address<'_>) -> Vec<Cow<'p, str>> {
    let mut spellings = vec![Cow::Borrowed(path)];
    if path.contains("%27") {
        spellings.push(Cow::Owned(path.replace("%27", "'")));
    } else if path.contains('\'') {
        spellings.push(Cow::Owned(path.replace('\'', "%27")));
    }
    if path.contains('%')
        && let Some(decoded) = percent::decode(path)
    {
        spellings.push(decoded);
    }
    if address.prefix.len() > 1 + address.account.len() {
        // The secondary address signs as the primary one does, says the service; not every client listens.
        let primary: Vec<_> = spellings
            .iter()
            .filter_map(|spelling| spelling.strip_prefix(address.prefix))
            .map(|rest| Cow::Owned(format!("/{}{rest}", address.account)))
            .collect();
        spellings.extend(primary);
    }
    spellings
}

fn push_string_to_sign(
    text: &mut Vec<u8>,
    authorization: &Authorization<'_>,
    signed: &Signed<'_>,
    date: &str,
    path: &str,
) {
    let mut line = |part: &[u8]| {
        text.extend_from_slice(part);
        text.push(b'\n');
    };
    if authorization.scheme == Scheme::SharedKey {
        let header = |name: &str| signed.headers.get(name).map_or(&b""[..], |value| value.as_bytes());
        line(signed.method.as_str().as_bytes());
        line(header("content-md5"));
        line(header("content-type"));
    }
    line(date.as_bytes());
    text.push(b'/');
    text.extend_from_slice(authorization.account.as_bytes());
    text.extend_from_slice(path.as_bytes());
    if let Some((_, comp)) = pairs(signed.query).find(|(name, _)| name.eq_ignore_ascii_case("comp")) {
        text.extend_from_slice(b"?comp=");
        text.extend_from_slice(comp.as_bytes());
    }
}
