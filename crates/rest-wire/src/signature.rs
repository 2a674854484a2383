//! Signatures over requests with a key of the account: made by clients, checked by front ends.
//!
//! All are HMAC-SHA256. The SQL API's covers verb, kind of resource, link and date, each on a line of its own; all but
//! the link in lower case. The Table API has several, of which clients here make the short one.
//!
//! Invariant: checking takes a time that does not depend on how wrong a signature is.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut as _, BytesMut};
use http::HeaderValue;
use ring::hmac;

use crate::percent;

/// What an authorization of the SQL API begins with, percent-encoded: `type=master&ver=1.0&sig=`.
const MASTER_PREFIX: &[u8] = b"type%3Dmaster%26ver%3D1.0%26sig%3D";

/// Bytes of a SHA-256 digest in base64.
const DIGEST_BASE64_BYTES: usize = 44;

/// A key that is not base64, or is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyError;

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key is not base64, or is empty")
    }
}

impl std::error::Error for KeyError {}

/// A key of the account, prepared for signing and for checking.
#[derive(Clone)]
pub struct AccountKey {
    key: hmac::Key,
}

impl AccountKey {
    /// Takes a key in base64.
    pub fn new(key: &str) -> Result<AccountKey, KeyError> {
        let secret = STANDARD.decode(key.trim()).map_err(|_| KeyError)?;
        if secret.is_empty() {
            return Err(KeyError);
        }
        Ok(AccountKey { key: hmac::Key::new(hmac::HMAC_SHA256, &secret) })
    }

    /// Signs a text, in base64.
    pub fn sign(&self, text: &[u8]) -> String {
        STANDARD.encode(hmac::sign(&self.key, text))
    }

    /// Signs a text, as bytes.
    pub fn digest(&self, text: &[u8]) -> Vec<u8> {
        hmac::sign(&self.key, text).as_ref().to_vec()
    }

    /// Says whether a signature, as bytes, is this key's over a text.
    pub fn verify(&self, text: &[u8], signature: &[u8]) -> bool {
        hmac::verify(&self.key, text, signature).is_ok()
    }

    /// Returns the `Authorization` header of a request of the SQL API. `date` is its `x-ms-date`, `text` is scratch
    /// space.
    pub fn master_header(
        &self,
        verb: &str,
        resource_type: &str,
        link: &str,
        date: &str,
        text: &mut Vec<u8>,
    ) -> HeaderValue {
        text.clear();
        push_master_text(
            text,
            verb,
            resource_type,
            |text| text.extend_from_slice(link.as_bytes()),
            [date, ""],
        );
        let digest = hmac::sign(&self.key, text);
        let mut buffer = [0u8; DIGEST_BASE64_BYTES];
        let length = STANDARD.encode_slice(digest.as_ref(), &mut buffer).expect("a digest has 32 bytes");
        let encoded = std::str::from_utf8(&buffer[..length]).expect("base64 is ASCII");
        let mut value = BytesMut::with_capacity(MASTER_PREFIX.len() + 3 * DIGEST_BASE64_BYTES);
        value.put_slice(MASTER_PREFIX);
        for piece in percent::encode(encoded) {
            value.put_slice(piece.as_bytes());
        }
        HeaderValue::from_maybe_shared(value.freeze()).expect("base64 and percent signs are visible ASCII")
    }

    /// Returns the same as text.
    pub fn master(&self, verb: &str, resource_type: &str, link: &str, date: &str) -> String {
        let header = self.master_header(verb, resource_type, link, date, &mut Vec::with_capacity(192));
        header.to_str().expect("base64 and percent signs are visible ASCII").to_owned()
    }

    /// Returns the `Authorization` header of a request of the Table API. `path` is as it is sent, without its query.
    pub fn shared_key_lite(&self, account: &str, path: &str, date: &str) -> String {
        format!("SharedKeyLite {account}:{}", self.sign(format!("{date}\n/{account}{path}").as_bytes()))
    }
}

/// Appends what a signature of the SQL API covers: `dates` are those of `x-ms-date` and of `Date`.
pub fn push_master_text(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::well_known;

    const DATE: &str = "Thu, 27 Apr 2017 00:51:12 GMT";

    /// The example of the service's documentation, and the vectors that its clients are tested with.
    #[test]
    fn published_signatures() {
        let documented =
            "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==";
        for (key, verb, resource_type, link, expected) in [
            (documented, "GET", "dbs", "dbs/ToDoList", "c09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D"),
            (well_known::COSMOS_KEY, "get", "", "", "gFB1bRB%2FPLJTG3bCgMuoVgNzOyFvZAamzEtLuSITjRc%3D"),
            (well_known::COSMOS_KEY, "GET", "dbs", "", "Bk4MqbjRdQImb4Rqp5pmqv1%2FOhkMQU93qlTmk%2FSzVRQ%3D"),
            (
                well_known::COSMOS_KEY,
                "POST",
                "docs",
                "dbs/db/colls/c",
                "wt2rUAbwksZ7mmt5%2F5toW2aGlF5M7ULaHVL7iZwd86U%3D",
            ),
        ] {
            let signed = AccountKey::new(key).unwrap().master(verb, resource_type, link, DATE);
            assert_eq!(signed, format!("type%3Dmaster%26ver%3D1.0%26sig%3D{expected}"));
        }
    }

    #[test]
    fn scratch_space_is_emptied() {
        let key = AccountKey::new(well_known::COSMOS_KEY).unwrap();
        let header = key.master_header("GET", "dbs", "", DATE, &mut b"old".to_vec());
        assert_eq!(header.to_str().unwrap(), key.master("GET", "dbs", "", DATE));
    }

    #[test]
    fn signatures_are_checked() {
        let key = AccountKey::new(well_known::STORAGE_KEY).unwrap();
        let signature = STANDARD.decode(key.sign(b"text")).unwrap();
        assert!(key.verify(b"text", &signature));
        assert!(!key.verify(b"texT", &signature) && !key.verify(b"text", &signature[..31]));
        let other = AccountKey::new(well_known::COSMOS_KEY).unwrap();
        assert!(!other.verify(b"text", &signature));
    }

    #[test]
    fn what_the_short_signature_covers() {
        let key = AccountKey::new(well_known::STORAGE_KEY).unwrap();
        let expected = key.sign(b"Thu, 27 Apr 2017 00:51:12 GMT\n/devstoreaccount1/devstoreaccount1/Tables");
        assert_eq!(
            key.shared_key_lite(well_known::STORAGE_ACCOUNT, "/devstoreaccount1/Tables", DATE),
            format!("SharedKeyLite devstoreaccount1:{expected}")
        );
    }

    #[test]
    fn keys_that_are_none() {
        for key in ["", " ", "?", "AAA"] {
            assert_eq!(AccountKey::new(key).err(), Some(KeyError), "{key}");
        }
        assert!(AccountKey::new(" AAAA\n").is_ok());
    }
}
