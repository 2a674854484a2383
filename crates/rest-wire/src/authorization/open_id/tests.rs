//! Tokens that are believed, and those that are not.

use std::sync::atomic::{AtomicUsize, Ordering};

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

use super::*;

/// Made with OpenSSL: a key of 2048 bits, and a token that it signed.
const RSA_KEYS: &[u8] = include_bytes!("rs256-keys.json");
const RSA_TOKEN: &str = include_str!("rs256-token.txt");

const CLAIMS: &str =
    r#"{"iss":"https://issuer.example/","aud":["x","armilla"],"exp":9000,"sub":"s","roles":["reader"]}"#;

fn options() -> OpenIdOptions {
    OpenIdOptions {
        issuer: "https://issuer.example/".to_owned(),
        audience: "armilla".to_owned(),
        roles_claim: "roles".to_owned(),
        roles: BTreeMap::new(),
    }
}

/// An issuer with one key on the curve P-256.
struct Issuer {
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

impl Issuer {
    fn new() -> Issuer {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap();
        Issuer { pair, random }
    }

    fn keys(&self) -> KeySet {
        let (x, y) = self.pair.public_key().as_ref()[1..].split_at(32);
        let [x, y] = [x, y].map(|part| URL_SAFE_NO_PAD.encode(part));
        let text = format!(r#"{{"keys":[{{"kty":"EC","crv":"P-256","kid":"k","x":"{x}","y":"{y}"}}]}}"#);
        KeySet::parse(text.as_bytes()).unwrap()
    }

    fn token(&self, header: &str, claims: &str) -> String {
        let signed = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
        let signature = self.pair.sign(&self.random, signed.as_bytes()).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

const HEADER: &str = r#"{"typ":"JWT","alg":"ES256","kid":"k"}"#;

fn said(open_id: &OpenId, token: &str, now: i64) -> String {
    open_id.role_of(token, now).unwrap_err().to_owned()
}

#[test]
fn a_token_signed_by_rsa_is_believed_while_it_lasts() {
    let open_id = OpenId::new(options(), KeySet::parse(RSA_KEYS).unwrap(), || ());
    let token = RSA_TOKEN.trim();
    assert_eq!(open_id.role_of(token, 1_000), Ok(DataRole::Reader));
    assert_eq!(said(&open_id, token, 699), "is not valid yet ('nbf')");
    assert_eq!(said(&open_id, token, 9_301), "has expired");
    let mut changed = token.to_owned();
    changed.replace_range(60..61, if &changed[60..61] == "A" { "B" } else { "A" });
    assert!(open_id.role_of(&changed, 1_000).is_err());
}

#[test]
fn roles_come_from_the_claim_or_by_name() {
    let issuer = Issuer::new();
    let by_name = BTreeMap::from([("boss".to_owned(), DataRole::Contributor)]);
    let open_id = OpenId::new(OpenIdOptions { roles: by_name, ..options() }, issuer.keys(), || ());
    let with = |more: &str| {
        let claims = format!(r#"{{"iss":"https://issuer.example/","aud":"armilla","exp":9000{more}}}"#);
        open_id.role_of(&issuer.token(HEADER, &claims), 1_000).ok()
    };
    for (more, expected) in [
        (r#","roles":"reader""#, Some(DataRole::Reader)),
        (r#","roles":["other","Contributor","reader"]"#, Some(DataRole::Contributor)),
        (r#","roles":["Cosmos DB Built-in Data Contributor"]"#, Some(DataRole::Contributor)),
        (r#","roles":["00000000-0000-0000-0000-000000000001"]"#, Some(DataRole::Reader)),
        (r#","sub":"boss""#, Some(DataRole::Contributor)),
        (r#","oid":"boss","sub":"other","roles":"reader""#, Some(DataRole::Contributor)),
        (r#","sub":"other""#, None),
        (r#","roles":"admin""#, None),
        (r#","roles":{"reader":true}"#, None),
    ] {
        assert_eq!(with(more), expected, "{more}");
    }
}

#[test]
fn what_is_not_believed() {
    let issuer = Issuer::new();
    let open_id = OpenId::new(options(), issuer.keys(), || ());
    let good = issuer.token(HEADER, CLAIMS);
    assert_eq!(open_id.role_of(&good, 1_000), Ok(DataRole::Reader));
    assert!(open_id.role_of(&format!("{good}.x"), 1_000).is_err());
    let other = Issuer::new().token(HEADER, CLAIMS);
    let unsigned = format!("{}.", good.rsplit_once('.').unwrap().0);
    let claims = |from: &str, to: &str| issuer.token(HEADER, &CLAIMS.replace(from, to));
    for (token, expected) in [
        (other, "has a signature that no key of the issuer made"),
        (unsigned, "has a signature that no key of the issuer made"),
        (
            issuer.token(r#"{"alg":"none","kid":"k"}"#, CLAIMS),
            "has a signature that no key of the issuer made",
        ),
        (
            issuer.token(r#"{"alg":"HS256","kid":"k"}"#, CLAIMS),
            "has a signature that no key of the issuer made",
        ),
        (issuer.token(r#"{"kid":"k"}"#, CLAIMS), "does not say how it is signed ('alg')"),
        (claims("https://issuer.example/", "https://issuer.example"), "is of another issuer ('iss')"),
        (claims(r#"["x","armilla"]"#, r#""other""#), "is for something else ('aud')"),
        (claims(r#""aud":["x","armilla"],"#, ""), "is for something else ('aud')"),
        (claims(r#""exp":9000,"#, ""), "does not say when it expires ('exp')"),
        (claims("9000", "1"), "has expired"),
        (issuer.token(HEADER, "{"), "has claims that are no JSON in base64"),
        (issuer.token("", CLAIMS), "has a header that is no JSON in base64"),
        ("a.b".to_owned(), "does not have three parts between dots"),
        (String::new(), "does not have three parts between dots"),
    ] {
        let told = said(&open_id, &token, 1_000);
        assert_eq!(told, expected, "{token}");
    }
}

#[test]
fn a_new_key_of_the_issuer_is_asked_for() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let (old, new) = (Issuer::new(), Issuer::new());
    let open_id = OpenId::new(options(), old.keys(), || {
        ASKED.fetch_add(1, Ordering::Relaxed);
    });
    let token = new.token(&HEADER.replace("\"k\"", "\"new\""), CLAIMS);
    assert_eq!(said(&open_id, &token, 1_000), "was signed by a key that the issuer is not known to have");
    assert_eq!(ASKED.load(Ordering::Relaxed), 1);
    let mut keys = new.keys();
    keys.keys[0].id = Some("new".to_owned());
    open_id.set_keys(keys);
    assert_eq!(open_id.role_of(&token, 1_000), Ok(DataRole::Reader));
    assert_eq!(ASKED.load(Ordering::Relaxed), 1);
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
    let odd =
        KeySet::parse(br#"{"keys":[{"kty":"RSA","n":"","e":""},{"kty":"EC","crv":"P-256","x":"","y":""}]}"#);
    let odd = odd.unwrap();
    for algorithm in ["RS256", "ES256", "none"] {
        assert!(!odd.verify(None, algorithm, b"", b""), "{algorithm}");
    }
}
