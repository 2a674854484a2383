//! Resource tokens: a permission's grant with an end, signed, so that it can be checked without looking it up.
//!
//! The text is `{signature};{content};` in URL-safe base64. The content is JSON; the signature is its HMAC-SHA256
//! under a secret that the account makes once and keeps.
//!
//! A token is good until its end, also when its permission is deleted or changed before that, as with the service. It
//! says when it was made, too: one that was made while the clock was ahead would live until the clock is there again.

use armilla_value::PartitionKey;
use armilla_value::rid::ContainerRid;
use armilla_value::{Object, Value, json};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

use crate::access::{Grant, GrantMode};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{TOKEN_BYTES_MAX, TOKEN_CLOCK_SECONDS_MAX};

/// Makes and checks tokens.
pub(crate) struct TokenMint {
    key: hmac::Key,
}

impl TokenMint {
    pub(crate) fn new(secret: &[u8]) -> TokenMint {
        TokenMint { key: hmac::Key::new(hmac::HMAC_SHA256, secret) }
    }

    /// Makes a token for a grant, from now on for some seconds.
    pub(crate) fn mint(&self, grant: &Grant, now_seconds: i64, seconds: u32) -> String {
        let mut content = Object::default();
        content.insert("mode", grant.mode.name());
        content.insert("container", grant.container.to_string());
        if let Some(item) = &grant.item {
            content.insert("item", item.as_str());
        }
        if let Some(partition_key) = &grant.partition_key {
            content.insert("partitionKey", partition_key.to_json());
        }
        content.insert("made", now_seconds);
        content.insert("expires", now_seconds + i64::from(seconds));
        let content = json::to_string(&Value::Object(content));
        let signature = hmac::sign(&self.key, content.as_bytes());
        format!(
            "type=resource&ver=1&sig={};{};",
            URL_SAFE_NO_PAD.encode(signature),
            URL_SAFE_NO_PAD.encode(content)
        )
    }

    /// Returns what a token's signature part grants.
    pub(crate) fn verify(&self, token: &str, now_seconds: i64) -> Result<Grant> {
        let content = self.content(token).ok_or_else(|| {
            Error::new(
                ErrorKind::Unauthenticated,
                "the resource token is damaged or was not made by this account",
            )
        })?;
        let (grant, [made, expires]) = read(&content)
            .ok_or_else(|| Error::new(ErrorKind::Unauthenticated, "the resource token cannot be read"))?;
        if made > now_seconds.saturating_add(TOKEN_CLOCK_SECONDS_MAX) {
            return Err(Error::new(
                ErrorKind::Forbidden,
                "the resource token was made while the clock of the server was ahead: read the permission again",
            ));
        }
        if now_seconds >= expires {
            return Err(Error::new(
                ErrorKind::Forbidden,
                "the resource token has expired: read the permission again",
            ));
        }
        Ok(grant)
    }

    fn content(&self, token: &str) -> Option<Vec<u8>> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let token = token.rsplit_once("sig=").map_or(token, |(_, signature)| signature);
        let (signature, content) = token.trim_end_matches(';').split_once(';')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let content = URL_SAFE_NO_PAD.decode(content).ok()?;
        hmac::verify(&self.key, &content, &signature).ok()?;
        Some(content)
    }
}

fn read(content: &[u8]) -> Option<(Grant, [i64; 2])> {
    let content = json::parse(content).ok()?;
    let text = |name: &str| content.get(name).and_then(Value::as_str);
    let partition_key = match text("partitionKey") {
        Some(key) => Some(PartitionKey::from_json(key.as_bytes()).ok()?),
        None => None,
    };
    let grant = Grant {
        mode: GrantMode::parse(text("mode")?)?,
        container: ContainerRid::parse(text("container")?)?,
        item: text("item").map(str::to_owned),
        partition_key,
    };
    let time = |name: &str| content.get(name)?.as_i64();
    Some((grant, [time("made")?, time("expires")?]))
}
