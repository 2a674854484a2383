//! Tokens of an OpenID Connect issuer: signed by one of its keys, for this account, with a role that says what its bearer
//! may do.
//!
//! What is believed is what the configured keys have signed, by RS256, RS384, RS512, PS256 or ES256; a token that says it
//! is not signed at all, or by a secret that both sides know, is refused. Issuer and audience must be those that were
//! configured, and the token must be valid now.
//!
//! Not here: where keys come from, and what a role means for a request.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use armilla_value::{Value, json};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey,
};

use super::AuthorizationError;

/// Seconds that the issuer's clock may differ from the server's.
const SKEW_SECONDS: i64 = 300;

/// Most keys of an issuer that are kept.
const KEYS_MAX: usize = 64;

/// What the bearer of a token may do: the service's built-in roles for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DataRole {
    /// Read items, definitions and feeds, and ask queries.
    Reader,
    /// Also write items, and run procedures.
    Contributor,
}

impl DataRole {
    /// Reads the name of a role: short, or as the service has it, or by the id that the service gave it.
    pub fn from_name(name: &str) -> Option<DataRole> {
        let names = [
            ("reader", DataRole::Reader),
            ("Cosmos DB Built-in Data Reader", DataRole::Reader),
            ("00000000-0000-0000-0000-000000000001", DataRole::Reader),
            ("contributor", DataRole::Contributor),
            ("Cosmos DB Built-in Data Contributor", DataRole::Contributor),
            ("00000000-0000-0000-0000-000000000002", DataRole::Contributor),
        ];
        names.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, role)| role)
    }
}

/// Which tokens are believed.
#[derive(Debug, Clone, Default)]
pub struct OpenIdOptions {
    /// The claim `iss`, to the letter.
    pub issuer: String,
    /// The claim `aud`, or one of them.
    pub audience: String,
    /// The claim with the roles: text, or a list of it.
    pub roles_claim: String,
    /// Roles of bearers by their claim `oid` or `sub`, whatever else the token says.
    pub roles: BTreeMap<String, DataRole>,
}

/// Keys of an issuer.
#[derive(Debug, Default)]
pub struct KeySet {
    keys: Vec<Key>,
}

#[derive(Debug)]
struct Key {
    id: Option<String>,
    material: Material,
}

#[derive(Debug)]
enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// A point of the curve P-256, uncompressed.
    P256(Vec<u8>),
}

impl KeySet {
    /// Reads a JSON Web Key Set. Keys of kinds that are not known are passed over, but some must be.
    pub fn parse(text: &[u8]) -> Result<KeySet, String> {
        let document = json::parse(text).map_err(|error| format!("it is no JSON: {error}"))?;
        let list = document.get("keys").and_then(Value::as_array).ok_or("it has no list 'keys'")?;
        let keys: Vec<Key> = list.iter().filter_map(read_key).take(KEYS_MAX).collect();
        if keys.is_empty() {
            return Err("it has no key for signatures by RSA or P-256".to_owned());
        }
        Ok(KeySet { keys })
    }

    /// Returns whether one of the keys has made a signature.
    fn verify(&self, id: Option<&str>, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        // A token that names a key was signed by that one.
        let named = |key: &&Key| id.is_none() || key.id.is_none() || key.id.as_deref() == id;
        self.keys.iter().filter(named).any(|key| key.material.verify(algorithm, message, signature))
    }

    fn knows(&self, id: &str) -> bool {
        self.keys.iter().any(|key| key.id.as_deref() == Some(id))
    }
}

impl Material {
    fn verify(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Material::Rsa { modulus, exponent } => {
                let parameters: &RsaParameters = match algorithm {
                    "RS256" => &RSA_PKCS1_2048_8192_SHA256,
                    "RS384" => &RSA_PKCS1_2048_8192_SHA384,
                    "RS512" => &RSA_PKCS1_2048_8192_SHA512,
                    "PS256" => &RSA_PSS_2048_8192_SHA256,
                    _ => return false,
                };
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(parameters, message, signature).is_ok()
            }
            Material::P256(point) => {
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
                algorithm == "ES256" && key.verify(message, signature).is_ok()
            }
        }
    }
}

fn read_key(key: &Value) -> Option<Key> {
    let text = |name: &str| key.get(name).and_then(Value::as_str);
    let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?.trim_end_matches('=')).ok();
    if text("use").is_some_and(|usage| usage != "sig") {
        return None;
    }
    let material = match text("kty")? {
        "RSA" => {
            // A number: zeros before it, which some write, are none of it.
            let modulus = bytes("n")?.into_iter().skip_while(|byte| *byte == 0).collect();
            Material::Rsa { modulus, exponent: bytes("e")? }
        }
        "EC" if text("crv") == Some("P-256") => {
            Material::P256([&[4], &bytes("x")?[..], &bytes("y")?[..]].concat())
        }
        _ => return None,
    };
    Some(Key { id: text("kid").map(str::to_owned), material })
}

/// Checks tokens of an issuer.
pub struct OpenId {
    options: OpenIdOptions,
    keys: RwLock<Arc<KeySet>>,
    /// Told of a token that names a key which is not known: the issuer may have a new one.
    on_unknown_key: Box<dyn Fn() + Send + Sync>,
}

impl std::fmt::Debug for OpenId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenId").field("options", &self.options).finish_non_exhaustive()
    }
}

impl OpenId {
    /// Begins to believe tokens by these keys. `on_unknown_key` is called in the middle of a request, and must be quick.
    pub fn new(
        options: OpenIdOptions,
        keys: KeySet,
        on_unknown_key: impl Fn() + Send + Sync + 'static,
    ) -> OpenId {
        OpenId { options, keys: RwLock::new(Arc::new(keys)), on_unknown_key: Box::new(on_unknown_key) }
    }

    /// Believes other keys from now on.
    pub fn set_keys(&self, keys: KeySet) {
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }

    /// Checks a token and says what its bearer may do.
    pub fn check(&self, token: &str, now_seconds: i64) -> Result<DataRole, AuthorizationError> {
        self.role_of(token, now_seconds).map_err(|why| AuthorizationError::EntraToken { why })
    }

    /// Checks a token and says what its bearer may do, or why it is not believed: words that follow 'the token'.
    pub fn role_of(&self, token: &str, now_seconds: i64) -> Result<DataRole, &'static str> {
        let (signed, signature) = token.rsplit_once('.').ok_or("does not have three parts between dots")?;
        let (header, claims) = signed.split_once('.').ok_or("does not have three parts between dots")?;
        let header = super::token_part(header).ok_or("has a header that is no JSON in base64")?;
        let claims = super::token_part(claims).ok_or("has claims that are no JSON in base64")?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "has a signature that is no base64")?;
        let algorithm =
            header.get("alg").and_then(Value::as_str).ok_or("does not say how it is signed ('alg')")?;
        let id = header.get("kid").and_then(Value::as_str);
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner).clone();
        if !keys.verify(id, algorithm, signed.as_bytes(), &signature) {
            if id.is_some_and(|id| !keys.knows(id)) {
                (self.on_unknown_key)();
                return Err("was signed by a key that the issuer is not known to have");
            }
            return Err("has a signature that no key of the issuer made");
        }
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        if text("iss") != Some(&self.options.issuer) {
            return Err("is of another issuer ('iss')");
        }
        if !claims.get("aud").is_some_and(|audience| has(audience, |one| one == self.options.audience)) {
            return Err("is for something else ('aud')");
        }
        check_time(&claims, now_seconds)?;
        let by_bearer = ["oid", "sub"].into_iter().find_map(|name| self.options.roles.get(text(name)?));
        let by_claim = || {
            let mut role = None;
            if let Some(names) = claims.get(&self.options.roles_claim) {
                has(names, |name| {
                    role = role.max(DataRole::from_name(name));
                    false
                });
            }
            role
        };
        by_bearer.copied().or_else(by_claim).ok_or("gives no role for data: neither reader nor contributor")
    }
}

/// Refuses a token that is not valid now.
pub(super) fn check_time(claims: &Value, now_seconds: i64) -> Result<(), &'static str> {
    let seconds = |name| claims.get(name).and_then(Value::as_i64);
    match seconds("exp") {
        None => return Err("does not say when it expires ('exp')"),
        Some(end) if end.saturating_add(SKEW_SECONDS) < now_seconds => return Err("has expired"),
        Some(_) => {}
    }
    if seconds("nbf").is_some_and(|begin| begin.saturating_sub(SKEW_SECONDS) > now_seconds) {
        return Err("is not valid yet ('nbf')");
    }
    Ok(())
}

/// Returns whether a text, or one of a list of texts, is what is looked for.
fn has(value: &Value, mut is_wanted: impl FnMut(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_wanted(text),
        Value::Array(list) => list.iter().filter_map(Value::as_str).any(is_wanted),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
