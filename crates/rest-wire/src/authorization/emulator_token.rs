//! Tokens of the emulators' Entra ID: what applications with a token credential send to an emulator.
//!
//! ```text
//! {"typ":"JWT","alg":"RS256","x5t":"CosmosEmulatorPrimaryMaster","kid":"CosmosEmulatorPrimaryMaster"}
//! {"nbf":..., "exp":..., and more that says nothing here}
//! the account key, as text
//! ```
//!
//! each in base64 for URLs, between dots. What stands in place of a signature is the key itself: who has a token has the
//! key, and may do what it permits as long as the token lasts.

use armilla_value::Value;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::open_id::check_time;
use super::{AccountKeys, AuthorizationError, KeyAccess, token_part};
use crate::signature::AccountKey;

/// By which name the emulators' key goes in tokens.
const KEY_NAME: &str = "CosmosEmulatorPrimaryMaster";

/// What is said of a token whose key is not one of the account's.
pub const OTHER_KEY: &str = "was made with another key";

/// Tells whether a token is of this kind: by the name of its key.
pub fn is_one(token: &str) -> bool {
    let header = token.split('.').next().and_then(token_part);
    header.is_some_and(|header| names_key(&header))
}

fn names_key(header: &Value) -> bool {
    ["kid", "x5t"].into_iter().any(|name| header.get(name).and_then(Value::as_str) == Some(KEY_NAME))
}

/// Checks a token and says what it permits.
pub fn check(keys: &AccountKeys, token: &str, now_seconds: i64) -> Result<KeyAccess, AuthorizationError> {
    let key = shown_key(token, now_seconds).map_err(|why| AuthorizationError::EntraToken { why })?;
    keys.access_of_key(&key).ok_or(AuthorizationError::EntraToken { why: OTHER_KEY })
}

/// Returns the key that a token shows, if it is valid now. Whether it is a key of the account, the caller finds out.
pub fn shown_key(token: &str, now_seconds: i64) -> Result<AccountKey, &'static str> {
    let mut parts = token.split('.');
    let (Some(header), Some(claims), Some(key), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err("does not have three parts between dots");
    };
    let header = token_part(header).ok_or("has a header that is no JSON in base64")?;
    let claims = token_part(claims).ok_or("has claims that are no JSON in base64")?;
    if !names_key(&header) {
        return Err(
            "is not of the kind that the emulators take: its 'kid' is not CosmosEmulatorPrimaryMaster",
        );
    }
    let key = URL_SAFE_NO_PAD.decode(key.trim_end_matches('=')).ok();
    let key = key.and_then(|text| AccountKey::new(std::str::from_utf8(&text).ok()?).ok());
    let key = key.ok_or("has no account key as its third part")?;
    check_time(&claims, now_seconds)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "c2VjcmV0IGtleQ==";
    const READ_ONLY: &str = "cmVhZCBvbmx5";

    fn token(header: &str, claims: &str, key: &str) -> String {
        [header, claims, key].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".")
    }

    #[test]
    fn tokens_permit_what_their_key_does_while_they_last() {
        let keys = AccountKeys::new([KEY], [READ_ONLY]).unwrap();
        let header = r#"{"typ":"JWT","alg":"RS256","x5t":"CosmosEmulatorPrimaryMaster","kid":"CosmosEmulatorPrimaryMaster"}"#;
        let claims = r#"{"aud":"https://localhost.localhost","nbf":1000,"exp":9000}"#;
        let good = token(header, claims, KEY);
        for (token, now, expected) in [
            (good.clone(), 1_000, Ok(KeyAccess::ReadWrite)),
            (good.clone() + "==", 1_000, Ok(KeyAccess::ReadWrite)),
            (good.clone(), 700, Ok(KeyAccess::ReadWrite)),
            (good.clone(), 699, Err("is not valid yet")),
            (good.clone(), 9_300, Ok(KeyAccess::ReadWrite)),
            (good.clone(), 9_301, Err("has expired")),
            (token(header, claims, READ_ONLY), 1_000, Ok(KeyAccess::ReadOnly)),
            (token(header, claims, "b3RoZXI="), 1_000, Err("another key")),
            (token(header, claims, "%"), 1_000, Err("no account key")),
            (token(header, r#"{"nbf":1}"#, KEY), 1_000, Err("when it expires")),
            (token(header, "{", KEY), 1_000, Err("claims that are no JSON")),
            (token("[", claims, KEY), 1_000, Err("a header that is no JSON")),
            (token(r#"{"kid":"other"}"#, claims, KEY), 1_000, Err("'kid'")),
            (good.clone() + ".more", 1_000, Err("three parts")),
            ("a.b".to_owned(), 1_000, Err("three parts")),
        ] {
            let checked = check(&keys, &token, now);
            match (checked, expected) {
                (Ok(access), Ok(expected)) => assert_eq!(access, expected),
                (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
                (checked, expected) => panic!("{checked:?} instead of {expected:?}"),
            }
        }
    }
}
