//! Signatures with a key of the account, as clients of the SQL API and of the Table API make them.

use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// The key that every emulator of the service knows.
pub const WELL_KNOWN_KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// Signs with one key.
#[derive(Clone)]
pub struct Signer {
    key: hmac::Key,
}

impl Signer {
    /// Returns a signer for a key in base64, if it is that.
    pub fn new(key: &str) -> Option<Signer> {
        let secret = STANDARD.decode(key).ok()?;
        Some(Signer { key: hmac::Key::new(hmac::HMAC_SHA256, &secret) })
    }

    /// Returns the `Authorization` header of a request of the SQL API. `date` is its `x-ms-date`.
    pub fn master(&self, method: &str, resource_type: &str, link: &str, date: &str) -> String {
        let (method, date) = (method.to_ascii_lowercase(), date.to_ascii_lowercase());
        let signature = self.sign(&format!("{method}\n{resource_type}\n{link}\n{date}\n\n"));
        format!("type%3Dmaster%26ver%3D1.0%26sig%3D{}", percent_encode(&signature))
    }

    /// Returns the `Authorization` header of a request of the Table API. `resource` begins with the account's name.
    pub fn shared_key_lite(&self, account: &str, resource: &str, date: &str) -> String {
        format!("SharedKeyLite {account}:{}", self.sign(&format!("{date}\n/{resource}")))
    }

    /// Signs a text, in base64.
    pub fn sign(&self, text: &str) -> String {
        STANDARD.encode(hmac::sign(&self.key, text.as_bytes()))
    }
}

/// Encodes what stands for something else in a header or a query string that is percent-encoded.
pub fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '+' => encoded.push_str("%2B"),
            '/' => encoded.push_str("%2F"),
            '=' => encoded.push_str("%3D"),
            '&' => encoded.push_str("%26"),
            ';' => encoded.push_str("%3B"),
            plain => encoded.push(plain),
        }
    }
    encoded
}

/// Writes a time as the date headers have it.
pub fn http_date(seconds: i64) -> String {
    let since = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    httpdate::fmt_http_date(UNIX_EPOCH + since)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of the API's documentation, for the well-known key.
    #[test]
    fn signatures() {
        let signer = Signer::new(WELL_KNOWN_KEY).unwrap();
        let date = "Thu, 27 Apr 2017 00:51:12 GMT";
        for (method, resource_type, link, expected) in [
            ("GET", "", "", "gFB1bRB/PLJTG3bCgMuoVgNzOyFvZAamzEtLuSITjRc="),
            ("GET", "dbs", "", "Bk4MqbjRdQImb4Rqp5pmqv1/OhkMQU93qlTmk/SzVRQ="),
            ("POST", "docs", "dbs/db/colls/c", "wt2rUAbwksZ7mmt5/5toW2aGlF5M7ULaHVL7iZwd86U="),
        ] {
            let token = signer.master(method, resource_type, link, date);
            let decoded =
                token.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=").replace("%26", "&");
            assert_eq!(decoded, format!("type=master&ver=1.0&sig={expected}"));
        }
        assert!(Signer::new("not base64").is_none());
    }

    #[test]
    fn dates() {
        assert_eq!(http_date(1_493_254_272), "Thu, 27 Apr 2017 00:51:12 GMT");
    }
}
