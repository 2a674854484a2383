//! Signs requests as the SDKs do.

use armilla_env::Env;
use armilla_rest_wire::http_date;
use armilla_rest_wire::signature::AccountKey;

/// The emulators' well-known key.
pub(crate) const KEY: &str = armilla_rest_wire::well_known::COSMOS_KEY;

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
    let date = http_date::format_seconds(seconds);
    let Signature { key, verb, resource_type, link, .. } = signature;
    let authorization = AccountKey::new(key).unwrap().master(verb, resource_type, link, &date);
    format!("x-ms-date: {date}\r\nauthorization: {authorization}\r\n")
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
