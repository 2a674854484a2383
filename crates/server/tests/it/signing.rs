//! Signs requests as the SDKs do.

use std::time::{Duration, UNIX_EPOCH};

use armilla_env::Env;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// The emulators' well-known key.
pub(crate) const KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// Who signs, what for, and when.
pub(crate) struct Signature<'a> {
    pub(crate) key: &'a str,
    pub(crate) verb: &'a str,
    pub(crate) resource_type: &'a str,
    pub(crate) link: &'a str,
    /// Seconds that the date lies ahead of now.
    pub(crate) date_offset_seconds: i64,
}

/// Returns the two headers of a signature.
pub(crate) fn headers(signature: &Signature<'_>) -> String {
    let seconds = Env::system().clock.now_seconds() + signature.date_offset_seconds;
    let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap()));
    let Signature { key, verb, resource_type, link, .. } = signature;
    let text = format!("{}\n{resource_type}\n{link}\n{}\n\n", verb.to_lowercase(), date.to_lowercase());
    let key = hmac::Key::new(hmac::HMAC_SHA256, &STANDARD.decode(key).unwrap());
    let mac = STANDARD.encode(hmac::sign(&key, text.as_bytes()));
    let mac = mac.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    format!("x-ms-date: {date}\r\nauthorization: type%3Dmaster%26ver%3D1.0%26sig%3D{mac}\r\n")
}

/// Returns a signed request of the well-known key.
pub(crate) fn request(
    verb: &str,
    path: &str,
    resource_type: &str,
    link: &str,
    more: &str,
    body: &str,
) -> Vec<u8> {
    let signature = Signature { key: KEY, verb, resource_type, link, date_offset_seconds: 0 };
    let length = body.len();
    let signed = headers(&signature);
    format!(
        "{verb} {path} HTTP/1.1\r\nhost: localhost\r\n{signed}{more}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The documented example: the signing itself is right.
#[test]
fn known_signature() {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &STANDARD.decode(KEY).unwrap());
    let text = "get\ndbs\n\nthu, 27 apr 2017 00:51:12 gmt\n\n";
    let mac = STANDARD.encode(hmac::sign(&key, text.as_bytes()));
    assert_eq!(mac, "Bk4MqbjRdQImb4Rqp5pmqv1/OhkMQU93qlTmk/SzVRQ=");
}
