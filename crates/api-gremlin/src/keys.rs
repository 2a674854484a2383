//! Who asks: a key of the account, or a resource token.

use armilla_engine::{Access, Engine, GrantMode};
use ring::digest;

use crate::options::GremlinApiOptions;

/// The keys of the account, hashed, so that comparing them tells nothing.
pub(crate) struct Keys {
    keys: Vec<Vec<u8>>,
    read_only_keys: Vec<Vec<u8>>,
}

/// What resource tokens begin with, in whichever coding they are given.
const TOKEN_PREFIXES: [&str; 2] = ["type=resource", "type%3Dresource"];

impl Keys {
    pub(crate) fn new(options: &GremlinApiOptions) -> Keys {
        let hashed = |keys: &[String]| keys.iter().map(|key| hash(key)).collect();
        Keys { keys: hashed(&options.keys), read_only_keys: hashed(&options.read_only_keys) }
    }

    /// Returns what a password permits; nothing if it is no password.
    pub(crate) fn access(&self, password: &str, engine: &Engine) -> Option<Access> {
        let hashed = hash(password);
        if self.keys.contains(&hashed) {
            return Some(Access::Full);
        }
        if self.read_only_keys.contains(&hashed) {
            return Some(Access::ReadOnly);
        }
        let is_token = TOKEN_PREFIXES.iter().any(|prefix| password.starts_with(prefix));
        if !is_token {
            return None;
        }
        engine.authorize_token(password).ok().map(Access::Granted)
    }
}

/// Says whether a caller may write at all.
pub(crate) fn may_write(access: &Access) -> bool {
    match access {
        Access::Full => true,
        Access::ReadOnly => false,
        Access::Role(role) => *role == armilla_engine::DataRole::Contributor,
        Access::Granted(grant) => grant.mode == GrantMode::All,
    }
}

fn hash(text: &str) -> Vec<u8> {
    digest::digest(&digest::SHA256, text.as_bytes()).as_ref().to_vec()
}
