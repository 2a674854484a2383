//! SCRAM, the server's side of it: RFC 5802 with SHA-1 and RFC 7677 with SHA-256, as MongoDB's drivers speak them.
//!
//! The server keeps no password, only two keys derived from it: with one it recognises a client that knows the
//! password, with the other it shows the client that it knows it too. One user name may have several credentials,
//! the keys of an account: they share a salt, since the salt goes out before it is known which key the client has.
//!
//! Invariants:
//! * a user that does not exist is answered like one that does, with a salt that stays the same;
//! * comparing keys takes the same time wherever they differ;
//! * nothing is drawn at random: the server's nonce is an argument.
//!
//! Not here: the commands that carry the payloads, the rights of who was recognised.

mod credential;
mod mechanism;
mod text;

pub use credential::{Account, Credential, password_text, salt_of};
pub use mechanism::{Mechanism, ScramError};

use crate::limits::{NONCE_BYTES_MAX, SCRAM_PAYLOAD_BYTES_MAX};
use text::{ClientFinal, ClientFirst};

/// A conversation after its first step.
#[derive(Debug, Clone)]
pub struct ServerConversation {
    mechanism: Mechanism,
    user: String,
    /// What the client said before its name, which it repeats at the end.
    gs2_header: String,
    /// The client's and the server's nonce.
    nonce: String,
    /// The client's first message and the server's, with a comma after each.
    messages: String,
    account: Account,
}

/// A conversation that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Who it is.
    pub user: String,
    /// Which of the account's credentials it was.
    pub credential: usize,
    /// What the client verifies the server by.
    pub payload: Vec<u8>,
}

impl ServerConversation {
    /// Takes the client's first message and returns the server's first.
    ///
    /// `lookup` finds the account of a user. `server_nonce` is printable and new for every conversation, see
    /// [`nonce_text`]. `secret` makes the salts of users that do not exist; it stays the same while the server
    /// lives, or a client could tell them by it.
    pub fn start(
        mechanism: Mechanism,
        payload: &[u8],
        lookup: impl FnOnce(&str) -> Option<Account>,
        server_nonce: &str,
        secret: &[u8],
    ) -> Result<(ServerConversation, Vec<u8>), ScramError> {
        let first = ClientFirst::parse(payload_text(payload)?)?;
        if !text::is_nonce(server_nonce) || server_nonce.len() > NONCE_BYTES_MAX {
            return Err(ScramError::Malformed("server nonce"));
        }
        let account = lookup(&first.user).filter(|account| !account.credentials.is_empty());
        let account = account.unwrap_or_else(|| Account::unknown(mechanism, &first.user, secret));
        let nonce = format!("{}{server_nonce}", first.nonce);
        let reply = format!("r={nonce},s={},i={}", text::base64(&account.salt), account.iterations);
        let messages = format!("{},{reply},", first.bare);
        let conversation = ServerConversation {
            mechanism,
            user: first.user,
            gs2_header: first.gs2_header.to_owned(),
            nonce,
            messages,
            account,
        };
        Ok((conversation, reply.into_bytes()))
    }

    /// Returns the name that the client goes by, which is not proven yet.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns the mechanism.
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// Takes the client's last message and returns which credential it proves, with the server's last.
    pub fn finish(self, payload: &[u8]) -> Result<Finished, ScramError> {
        let last = ClientFinal::parse(payload_text(payload)?)?;
        if last.channel_binding != self.gs2_header.as_bytes() || last.nonce != self.nonce {
            return Err(ScramError::Failed);
        }
        let message = format!("{}{}", self.messages, last.without_proof);
        let mut found = None;
        for (index, credential) in self.account.credentials.iter().enumerate() {
            // All are tried, so that the time does not tell which it was.
            if credential.is_proven(self.mechanism, message.as_bytes(), &last.proof) && found.is_none() {
                found = Some((index, credential));
            }
        }
        let (index, credential) = found.ok_or(ScramError::Failed)?;
        let signature = self.mechanism.sign(&credential.server_key, message.as_bytes());
        let payload = format!("v={}", text::base64(&signature)).into_bytes();
        Ok(Finished { user: self.user, credential: index, payload })
    }
}

/// Makes a server's nonce of random bytes; MongoDB's server takes 24.
pub fn nonce_text(random: &[u8]) -> String {
    text::base64(random)
}

fn payload_text(payload: &[u8]) -> Result<&str, ScramError> {
    if payload.len() > SCRAM_PAYLOAD_BYTES_MAX {
        return Err(ScramError::Malformed("too long"));
    }
    std::str::from_utf8(payload).map_err(|_| ScramError::Malformed("not UTF-8"))
}

#[cfg(test)]
mod tests;
