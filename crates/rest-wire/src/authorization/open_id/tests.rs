//! Tokens that are believed, and those that are not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Made with OpenSSL: keys of an issuer, another key, and tokens signed by them, each with what is said of it.
const TOKENS: &[u8] = include_bytes!("tokens.json");

/// When the tokens are looked at.
const NOW: i64 = 2_000;

fn document() -> Value {
    json::parse(TOKENS).unwrap()
}

fn keys(name: &str) -> KeySet {
    let keys = json::to_string(document().get(name).unwrap());
    KeySet::parse(format!(r#"{{"keys":{keys}}}"#).as_bytes()).unwrap()
}

fn token(name: &str) -> String {
    let document = document();
    let rows = document.get("tokens").and_then(Value::as_array).unwrap();
    let is_it = |row: &&Value| row.get("name").and_then(Value::as_str) == Some(name);
    rows.iter().find(is_it).unwrap().get("token").and_then(Value::as_str).unwrap().to_owned()
}

fn believing(on_unknown_key: impl Fn() + Send + Sync + 'static) -> OpenId {
    let options = OpenIdOptions {
        issuer: "https://issuer.example/".to_owned(),
        audience: "armilla".to_owned(),
        roles_claim: "roles".to_owned(),
        roles: BTreeMap::from([("boss".to_owned(), DataRole::Contributor)]),
    };
    OpenId::new(options, keys("keys"), on_unknown_key)
}

#[test]
fn every_token_is_told_what_it_is() {
    let (open_id, document) = (believing(|| ()), document());
    for row in document.get("tokens").and_then(Value::as_array).unwrap() {
        let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap();
        let told = match open_id.role_of(text("token"), NOW) {
            Ok(DataRole::Reader) => "reader",
            Ok(DataRole::Contributor) => "contributor",
            Err(why) => why,
        };
        assert_eq!(told, text("expected"), "{}", text("name"));
    }
}

#[test]
fn a_token_counts_while_it_lasts() {
    let (open_id, token) = (believing(|| ()), token("ES256"));
    for (now, expected) in [
        (700, Ok(DataRole::Reader)),
        (699, Err("is not valid yet ('nbf')")),
        (9_300, Ok(DataRole::Reader)),
        (9_301, Err("has expired")),
    ] {
        assert_eq!(open_id.role_of(&token, now), expected, "{now}");
    }
}

#[test]
fn a_changed_token_is_not_believed() {
    let (open_id, token) = (believing(|| ()), token("RS256"));
    for place in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        // The last letter of a part has bits that mean nothing.
        let is_same = |one: &str, other: &str| {
            let parts = |text: &str| {
                text.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).ok()).collect::<Vec<_>>()
            };
            parts(one) == parts(other)
        };
        assert!(open_id.role_of(&changed, NOW).is_err() || is_same(&changed, &token), "{place}");
    }
}

#[test]
fn a_new_key_of_the_issuer_is_asked_for() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let open_id = believing(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let token = token("unknown key");
    assert!(open_id.role_of(&token, NOW).is_err());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    open_id.set_keys(keys("newKeys"));
    assert_eq!(open_id.role_of(&token, NOW), Ok(DataRole::Reader));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn sets_of_keys_that_are_none() {
    for text in [
        "",
        "[]",
        "{}",
        r#"{"keys":{}}"#,
        r#"{"keys":[]}"#,
        r#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#,
        r#"{"keys":[{"kty":"RSA","n":"%","e":"AQAB"}]}"#,
        r#"{"keys":[{"kty":"RSA","use":"enc","n":"AAAA","e":"AQAB"}]}"#,
        r#"{"keys":[{"kty":"EC","crv":"P-384","x":"AAAA","y":"AAAA"}]}"#,
    ] {
        assert!(KeySet::parse(text.as_bytes()).is_err(), "{text}");
    }
    // Nonsense that has the form of a key verifies nothing.
    let odd = r#"{"keys":[{"kty":"RSA","n":"","e":""},{"kty":"EC","crv":"P-256","x":"","y":""}]}"#;
    let odd = KeySet::parse(odd.as_bytes()).unwrap();
    for algorithm in ["RS256", "ES256", "none"] {
        assert!(!odd.verify(None, algorithm, b"", b""), "{algorithm}");
    }
}
