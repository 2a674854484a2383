//! Who has signed in.
//!
//! A session is named by random bytes that only its cookie holds: here is their digest, so that what is read of this
//! memory signs nobody in.

use std::collections::HashMap;
use std::time::Duration;

use armilla_env::Env;
use armilla_rest_wire::authorization::KeyAccess;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderValue;
use parking_lot::Mutex;
use ring::digest;

use crate::limits::{SECRET_BYTES, SESSION_IDLE, SESSION_LIFE, SESSIONS_MAX};

/// What the key or token permits that a session was begun with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Right {
    /// A key of the account.
    Key(KeyAccess),
    /// A resource token, as the header of a request has it.
    Token(HeaderValue),
}

/// A session, as a request finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) right: Right,
    /// What the page says besides its cookie.
    pub(crate) csrf: String,
    /// How long it lasts from now on, if it is not used.
    pub(crate) lasts: Duration,
}

struct Session {
    right: Right,
    csrf: String,
    began: Duration,
    used: Duration,
}

/// All sessions of a process.
pub(crate) struct Sessions {
    env: Env,
    open: Mutex<HashMap<Name, Session>>,
}

type Name = [u8; digest::SHA256_OUTPUT_LEN];

impl Sessions {
    pub(crate) fn new(env: Env) -> Sessions {
        Sessions { env, open: Mutex::default() }
    }

    /// Begins a session and returns what its cookie says.
    pub(crate) fn begin(&self, right: Right) -> (String, Found) {
        let (secret, csrf) = (secret(&self.env), secret(&self.env));
        let now = self.env.clock.elapsed();
        let session = Session { right: right.clone(), csrf: csrf.clone(), began: now, used: now };
        let mut open = self.open.lock();
        open.retain(|_, session| !session.remaining(now).is_zero());
        if open.len() >= SESSIONS_MAX {
            let oldest = open.iter().min_by_key(|(_, session)| session.used).map(|(name, _)| *name);
            oldest.map(|name| open.remove(&name));
        }
        let lasts = session.remaining(now);
        open.insert(name(&secret), session);
        (secret, Found { right, csrf, lasts })
    }

    /// Returns the session that a cookie names, which is used by that.
    pub(crate) fn find(&self, secret: &str) -> Option<Found> {
        let now = self.env.clock.elapsed();
        let mut open = self.open.lock();
        let session = open.get_mut(&name(secret)).filter(|session| !session.remaining(now).is_zero())?;
        session.used = now;
        let lasts = session.remaining(now);
        Some(Found { right: session.right.clone(), csrf: session.csrf.clone(), lasts })
    }

    /// Ends a session.
    pub(crate) fn end(&self, secret: &str) {
        self.open.lock().remove(&name(secret));
    }
}

impl Session {
    fn remaining(&self, now: Duration) -> Duration {
        let until = (self.used + SESSION_IDLE).min(self.began + SESSION_LIFE);
        until.saturating_sub(now)
    }
}

/// Returns random text that cannot be guessed.
pub(crate) fn secret(env: &Env) -> String {
    let mut bytes = [0; SECRET_BYTES];
    env.entropy.fill(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Compares in a time that does not tell where two texts differ.
pub(crate) fn is_same(given: &[u8], expected: &[u8]) -> bool {
    name_of(given) == name_of(expected)
}

fn name(secret: &str) -> Name {
    name_of(secret.as_bytes())
}

fn name_of(bytes: &[u8]) -> Name {
    let mut name = Name::default();
    name.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_end_when_they_rest_and_after_their_life() {
        let (env, clock) = Env::simulated(1);
        let sessions = Sessions::new(env);
        let (secret, found) = sessions.begin(Right::Key(KeyAccess::ReadOnly));
        assert_eq!((found.right, found.lasts), (Right::Key(KeyAccess::ReadOnly), SESSION_IDLE));
        assert_eq!(sessions.find(&secret).unwrap().csrf, found.csrf);
        assert_eq!(sessions.find("other"), None);
        // Used again and again, it lasts as long as any may.
        for _ in 0..23 {
            clock.advance(SESSION_IDLE / 2);
            assert!(sessions.find(&secret).is_some());
        }
        assert_eq!(sessions.find(&secret).unwrap().lasts, SESSION_IDLE / 2);
        clock.advance(SESSION_IDLE / 2);
        assert_eq!(sessions.find(&secret), None);

        let (secret, _) = sessions.begin(Right::Key(KeyAccess::ReadWrite));
        clock.advance(SESSION_IDLE);
        assert_eq!(sessions.find(&secret), None);
        let (secret, _) = sessions.begin(Right::Key(KeyAccess::ReadWrite));
        sessions.end(&secret);
        assert_eq!(sessions.find(&secret), None);
    }

    #[test]
    fn the_session_that_rested_longest_makes_room() {
        let (env, clock) = Env::simulated(2);
        let sessions = Sessions::new(env);
        let mut secrets = Vec::new();
        for _ in 0..SESSIONS_MAX {
            secrets.push(sessions.begin(Right::Key(KeyAccess::ReadWrite)).0);
            clock.advance(Duration::from_millis(1));
        }
        assert!(sessions.find(&secrets[0]).is_some());
        sessions.begin(Right::Key(KeyAccess::ReadWrite));
        let there: Vec<bool> = secrets.iter().map(|secret| sessions.find(secret).is_some()).collect();
        assert_eq!(there.iter().filter(|is_there| **is_there).count(), SESSIONS_MAX - 1);
        assert!(there[0] && !there[1]);
    }

    #[test]
    fn secrets_are_compared_whole() {
        assert!(is_same(b"abc", b"abc"));
        assert!(!is_same(b"ab", b"abc"));
        assert!(!is_same(b"", b"abc"));
    }
}
