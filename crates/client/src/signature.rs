//! Signatures over requests, with a key of the account.
//!
//! The service's rule: HMAC-SHA256 over verb, kind of resource, link and date, each on a line of its own; all but the
//! link in lower case.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut as _, BytesMut};
use http::{HeaderValue, Method};
use ring::hmac;

/// What an authorization begins with, percent-encoded: `type=master&ver=1.0&sig=`.
const PREFIX: &[u8] = b"type%3Dmaster%26ver%3D1.0%26sig%3D";

/// Bytes of a SHA-256 digest in base64.
const DIGEST_BASE64_BYTES: usize = 44;

/// A key, prepared for signing.
#[derive(Clone)]
pub(crate) struct Signer {
    key: hmac::Key,
}

impl Signer {
    /// Takes a key in base64.
    pub(crate) fn new(key: &str) -> Result<Signer> {
        let secret = STANDARD.decode(key.trim()).context("cannot sign with this key: it is not base64")?;
        if secret.is_empty() {
            bail!("cannot sign with this key: it is empty");
        }
        Ok(Signer { key: hmac::Key::new(hmac::HMAC_SHA256, &secret) })
    }

    /// Returns the `Authorization` header of a request. `text` is scratch space.
    pub(crate) fn sign(
        &self,
        method: &Method,
        resource_type: &str,
        link: &str,
        date: &Date,
        text: &mut Vec<u8>,
    ) -> HeaderValue {
        text.clear();
        text.extend_from_slice(method.as_str().as_bytes());
        text.make_ascii_lowercase();
        text.push(b'\n');
        text.extend_from_slice(resource_type.as_bytes());
        text.push(b'\n');
        text.extend_from_slice(link.as_bytes());
        text.push(b'\n');
        text.extend_from_slice(&date.lower);
        text.extend_from_slice(b"\n\n");
        let digest = hmac::sign(&self.key, text);
        let mut encoded = [0u8; DIGEST_BASE64_BYTES];
        let length = STANDARD.encode_slice(digest.as_ref(), &mut encoded).expect("a digest has 32 bytes");
        // Base64 has three characters that mean something else in a header that is percent-encoded.
        let mut value = BytesMut::with_capacity(PREFIX.len() + 3 * DIGEST_BASE64_BYTES);
        value.put_slice(PREFIX);
        for byte in &encoded[..length] {
            match byte {
                b'+' => value.put_slice(b"%2B"),
                b'/' => value.put_slice(b"%2F"),
                b'=' => value.put_slice(b"%3D"),
                other => value.put_u8(*other),
            }
        }
        HeaderValue::from_maybe_shared(value.freeze()).expect("base64 and percent signs are visible ASCII")
    }
}

/// The date of requests: made once in a second.
pub(crate) struct Date {
    seconds: i64,
    header: HeaderValue,
    lower: Vec<u8>,
}

impl Date {
    /// Returns the date of a time.
    pub(crate) fn new(seconds: i64) -> Date {
        let since = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        let text = httpdate::fmt_http_date(std::time::UNIX_EPOCH + since);
        let lower = text.to_ascii_lowercase().into_bytes();
        Date { seconds, header: HeaderValue::try_from(text).expect("a date is visible ASCII"), lower }
    }

    /// Moves to a time.
    pub(crate) fn move_to(&mut self, seconds: i64) {
        if self.seconds != seconds {
            *self = Date::new(seconds);
        }
    }

    /// Returns the value of `x-ms-date`.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the service's documentation.
    #[test]
    fn the_documented_example() {
        let key = "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==";
        let date = Date::new(1_493_254_272);
        assert_eq!(date.header().to_str().unwrap(), "Thu, 27 Apr 2017 00:51:12 GMT");
        let signed =
            Signer::new(key).unwrap().sign(&Method::GET, "dbs", "dbs/ToDoList", &date, &mut Vec::new());
        assert_eq!(
            signed.to_str().unwrap(),
            "type%3Dmaster%26ver%3D1.0%26sig%3Dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D"
        );
    }

    #[test]
    fn dates_change_with_the_second() {
        let mut date = Date::new(0);
        let first = date.header();
        date.move_to(0);
        assert_eq!(date.header(), first);
        date.move_to(1);
        assert_eq!(date.header().to_str().unwrap(), "Thu, 01 Jan 1970 00:00:01 GMT");
        assert_eq!(date.lower, b"thu, 01 jan 1970 00:00:01 gmt");
        assert_eq!(Date::new(-5).header().to_str().unwrap(), "Thu, 01 Jan 1970 00:00:00 GMT");
    }

    #[test]
    fn keys_that_are_none() {
        for key in ["", " ", "?", "AAA"] {
            assert!(Signer::new(key).is_err(), "{key}");
        }
        assert!(Signer::new(" AAAA\n").is_ok());
    }
}
