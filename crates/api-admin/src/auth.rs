//! The `Authorization` header: signatures with a key of the account, and telling the other kinds of token apart.
//!
//! A signature is an HMAC-SHA256 over verb, kind of resource, link and date, as the SQL API has it; here the kind is
//! always `armilla`, and the link is the path as it was sent. Comparison takes constant time.
//!
//! Not here: resource tokens are checked by the engine, which made them, and permit nothing here.

use std::borrow::Cow;
use std::time::Duration;

use armilla_engine::Access;
use armilla_rest_wire::names::MS_DATE;
use armilla_rest_wire::signature::{AccountKey, push_master_text};
use armilla_rest_wire::{http_date, percent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, Method, header};

use crate::failure::{Failure, Status};
use crate::limits::AUTHORIZATION_BYTES_MAX;
use crate::options::KeyError;

/// The word that signatures use for what is here.
const RESOURCE_TYPE: &str = "armilla";

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
    keys: Vec<(AccountKey, Access)>,
}

impl Keys {
    /// Prepares keys given in base64.
    pub(crate) fn new<'k>(
        read_write: impl Iterator<Item = &'k str>,
        read_only: impl Iterator<Item = &'k str>,
    ) -> Result<Keys, KeyError> {
        let read_write = read_write.map(|key| (key, Access::Full));
        let read_only = read_only.map(|key| (key, Access::ReadOnly));
        let prepare = |(key, access): (&str, Access)| {
            AccountKey::new(key).map(|key| (key, access)).map_err(|_| KeyError)
        };
        Ok(Keys { keys: read_write.chain(read_only).map(prepare).collect::<Result<_, _>>()? })
    }

    /// Checks a signature over a request and says what it permits.
    pub(crate) fn check(
        &self,
        signature: &[u8],
        method: &Method,
        link: &str,
        date: &SignedDate<'_>,
    ) -> Result<Access, Failure> {
        let text = string_to_sign(method, link, date);
        match self.keys.iter().find(|(key, _)| key.verify(&text, signature)) {
            Some((_, access)) => Ok(access.clone()),
            None => Err(Failure::new(
                Status::UNAUTHORIZED,
                format!(
                    "The input authorization token can't serve the request. The wrong key is being used or the \
                     expected payload is not built as per the protocol. Server used the following payload to \
                     sign: '{}'",
                    String::from_utf8_lossy(&text).replace('\n', "\\n")
                ),
            )),
        }
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
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let (signed, value) = match (text(&MS_DATE), text(&header::DATE)) {
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

/// Builds the text that a signature covers. Everything but the link is in lower case.
fn string_to_sign(method: &Method, link: &str, date: &SignedDate<'_>) -> Vec<u8> {
    let mut text = Vec::with_capacity(128);
    let push_link = |text: &mut Vec<u8>| text.extend_from_slice(link.as_bytes());
    push_master_text(&mut text, method.as_str(), RESOURCE_TYPE, push_link, [date.ms_date, date.date]);
    text
}

/// Takes an `Authorization` header apart.
pub(crate) fn parse_authorization(headers: &HeaderMap) -> Result<Credential, Failure> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
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
        percent::decode(value).ok_or_else(malformed)?
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
    let (Some(kind), Some("1.0" | "1"), Some(signature)) = (kind, version, signature) else {
        return Err(malformed());
    };
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
mod tests {
    use super::*;

    const KEY: &str = "c2VjcmV0";
    const DATE: &str = "Thu, 27 Apr 2017 00:51:12 GMT";
    const DATE_MS: i64 = 1_493_254_272_000;
    const SKEW: Duration = Duration::from_secs(900);
    const LINK: &str = "_armilla/dbs/a%20B/colls/c/split";

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (http::HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    fn status<T>(outcome: Result<T, Failure>) -> Result<T, u16> {
        outcome.map_err(|failure| failure.status.http.as_u16())
    }

    /// The SQL API's signature, which clients make, is the one that is checked here.
    #[test]
    fn signatures_are_those_that_clients_make() {
        let keys = |read_write: &[&'static str], read_only: &[&'static str]| {
            Keys::new(read_write.iter().copied(), read_only.iter().copied())
        };
        let checked = |key: &str, verb: &str, link: &str| {
            let authorization = AccountKey::new(key).unwrap().master(verb, RESOURCE_TYPE, link, DATE);
            let headers = headers(&[("authorization", &authorization), ("x-ms-date", DATE)]);
            let Ok(Credential::Master { signature }) = parse_authorization(&headers) else { panic!("{key}") };
            let date = SignedDate::of(&headers, DATE_MS, SKEW).unwrap();
            let keys = keys(&[KEY, "b3RoZXI="], &["cmVhZA=="]).unwrap();
            keys.check(&signature, &Method::POST, LINK, &date)
        };
        assert!(matches!(checked(KEY, "POST", LINK), Ok(Access::Full)));
        assert!(matches!(checked("b3RoZXI=", "post", LINK), Ok(Access::Full)));
        assert!(matches!(checked("cmVhZA==", "POST", LINK), Ok(Access::ReadOnly)));
        for (key, verb, link) in [
            ("d3Jvbmc=", "POST", LINK),
            (KEY, "GET", LINK),
            (KEY, "POST", "_armilla/dbs/a B/colls/c/split"),
            (KEY, "POST", "_armilla/dbs/a%20b/colls/c/split"),
        ] {
            let failure = checked(key, verb, link).unwrap_err();
            assert_eq!(failure.status.http, 401);
            let payload = format!(r"'post\narmilla\n{LINK}\nthu, 27 apr 2017 00:51:12 gmt\n\n'");
            assert!(failure.message.ends_with(&payload), "{}", failure.message);
        }
        assert!(
            keys(&["not base64!"], &[]).is_err()
                && keys(&[""], &[]).is_err()
                && keys(&[KEY], &["?"]).is_err()
        );
    }

    #[test]
    fn dates_must_be_near() {
        let of = |pairs: &[(&'static str, &str)], now_ms| {
            status(
                SignedDate::of(&headers(pairs), now_ms, SKEW)
                    .map(|date| String::from_utf8(string_to_sign(&Method::GET, "l", &date)).unwrap()),
            )
        };
        let skew_ms = SKEW.as_millis() as i64;
        let ms_date = "get\narmilla\nl\nthu, 27 apr 2017 00:51:12 gmt\n\n".to_owned();
        for now_ms in [DATE_MS, DATE_MS - skew_ms, DATE_MS + skew_ms] {
            assert_eq!(of(&[("x-ms-date", DATE), ("date", "?")], now_ms), Ok(ms_date.clone()));
            assert_eq!(of(&[("x-ms-date", &DATE.to_lowercase())], now_ms), Ok(ms_date.clone()));
        }
        let date = "get\narmilla\nl\n\nthu, 27 apr 2017 00:51:12 gmt\n".to_owned();
        assert_eq!(of(&[("date", DATE)], DATE_MS), Ok(date));
        assert_eq!(of(&[("x-ms-date", DATE)], DATE_MS - skew_ms - 1), Err(403));
        assert_eq!(of(&[("x-ms-date", DATE)], DATE_MS + skew_ms + 1), Err(403));
        for value in ["", "yesterday", "2017-04-27T00:51:12Z", "Thu, 27 Apr 2017 00:51:12 CET"] {
            assert_eq!(of(&[("x-ms-date", value)], DATE_MS), Err(401), "{value}");
        }
        assert_eq!(of(&[], DATE_MS), Err(401));
    }

    #[test]
    fn authorization_headers() {
        let parsed = |value: &str| status(parse_authorization(&headers(&[("authorization", value)])));
        let master = Credential::Master { signature: b"sig".to_vec() };
        for value in [
            "type=master&ver=1.0&sig=c2ln",
            "type%3dmaster%26ver%3D1%26sig%3Dc2ln",
            "sig=c2ln&type=MASTER&more=x&ver=1.0",
        ] {
            assert_eq!(parsed(value), Ok(master.clone()), "{value}");
        }
        let token = "type=resource&ver=1&sig=abc;def";
        assert_eq!(parsed(token), Ok(Credential::ResourceToken(token.to_owned())));
        let long = format!("type=master&ver=1.0&sig={}", "A".repeat(AUTHORIZATION_BYTES_MAX));
        for value in [
            "",
            "Bearer x",
            "type=master&ver=1.0",
            "type=master&ver=2.0&sig=c2ln",
            "type=master&ver=1.0&sig=?",
            "type=other&ver=1.0&sig=c2ln",
            "type=aad&ver=1.0&sig=c2ln",
            "type=sas&ver=1.0&sig=c2ln",
            "type%3",
            "é",
            &long,
        ] {
            assert_eq!(parsed(value), Err(401), "{value}");
        }
        assert_eq!(status(parse_authorization(&HeaderMap::new())), Err(401));
    }
}
