//! Who may see the figures: they name databases, containers and keys.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, header};

/// The keys that open the figures to other machines.
pub(crate) struct FigureKeys(Vec<String>);

impl FigureKeys {
    /// Takes the account's keys.
    pub(crate) fn new(keys: impl IntoIterator<Item = String>) -> FigureKeys {
        FigureKeys(keys.into_iter().collect())
    }

    /// Tells whether a request may see them: it comes from this machine or with a key.
    pub(crate) fn admit(&self, peer: IpAddr, headers: &HeaderMap) -> bool {
        peer.to_canonical().is_loopback() || given_key(headers).is_some_and(|given| self.has(&given))
    }

    /// Takes as long for a key that is nearly right as for any other.
    fn has(&self, given: &str) -> bool {
        let differs = |key: &String| {
            let difference = key.bytes().zip(given.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
            std::hint::black_box(difference) != 0 || key.len() != given.len()
        };
        // All of them are looked at.
        self.0.iter().filter(|key| !differs(key)).count() > 0
    }
}

/// Returns the key that a request carries, as a bearer's or as a password.
fn given_key(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, credentials) = text.split_once(' ')?;
    let credentials = credentials.trim();
    if kind.eq_ignore_ascii_case("bearer") {
        return Some(credentials.to_owned());
    }
    if !kind.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(credentials).ok()?).ok()?;
    decoded.split_once(':').map(|(_, password)| password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_or_a_key() {
        let keys = FigureKeys::new(["a2V5".to_owned(), "b3RoZXI=".to_owned()]);
        let admit = |peer: &str, authorization: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(text) = authorization {
                headers.insert(header::AUTHORIZATION, text.parse().unwrap());
            }
            keys.admit(peer.parse().unwrap(), &headers)
        };
        for peer in ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"] {
            assert!(admit(peer, None), "{peer}");
        }
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        for good in ["Bearer a2V5", "bearer  b3RoZXI=", &basic("prometheus:a2V5"), &basic(":b3RoZXI=")] {
            assert!(admit("192.0.2.1", Some(good)), "{good}");
        }
        for bad in ["", "Bearer", "Bearer ", "Bearer a2V", "Bearer a2V55", "a2V5", &basic("a2V5"), "Basic ?"]
        {
            assert!(!admit("192.0.2.1", Some(bad)), "{bad}");
        }
        assert!(!admit("192.0.2.1", None));
        assert!(!admit("::ffff:192.0.2.1", None));
    }
}
