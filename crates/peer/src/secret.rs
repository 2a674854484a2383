//! What nodes of one account have in common, and how they prove it.

use ring::{hkdf, hmac};

/// What is derived from an account's key for nodes, and for nothing else.
const PURPOSE: &[u8] = b"armilla nodes 1";

/// Bytes of a proof.
pub(crate) const PROOF_BYTES: usize = 32;

/// Bytes that both sides of a TLS session know, and that no other session has.
pub(crate) type Session = [u8; 32];

/// Whose proof it is: neither side can send back what it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Caller,
    Server,
}

/// What nodes prove to each other that they belong together. It is derived from the account's key and never sent.
#[derive(Clone)]
pub struct Secret(hmac::Key);

impl Secret {
    /// Derives the secret from the account's key.
    pub fn derive(account_key: &str) -> Secret {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"");
        let key = salt.extract(account_key.as_bytes());
        let key = key.expand(&[PURPOSE], hmac::HMAC_SHA256).expect("a key of one digest can be derived");
        Secret(key.into())
    }

    /// Returns what tells this secret from others, and from which it cannot be found out.
    pub fn mark(&self) -> Vec<u8> {
        hmac::sign(&self.0, b"the mark of this secret").as_ref().to_vec()
    }

    /// Proves, in one session, that this side knows the secret.
    pub(crate) fn prove(&self, role: Role, session: &Session) -> [u8; PROOF_BYTES] {
        let mut proof = [0; PROOF_BYTES];
        proof.copy_from_slice(hmac::sign(&self.0, &message(role, session)).as_ref());
        proof
    }

    /// Tells whether the other side has proved it. Takes the same time whatever is wrong with the proof.
    pub(crate) fn is_proved(&self, role: Role, session: &Session, proof: &[u8]) -> bool {
        hmac::verify(&self.0, &message(role, session), proof).is_ok()
    }
}

fn message(role: Role, session: &Session) -> [u8; 33] {
    let mut message = [0; 33];
    message[0] = match role {
        Role::Caller => 1,
        Role::Server => 2,
    };
    message[1..].copy_from_slice(session);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_those_of_a_secret() {
        assert_eq!(Secret::derive("key").mark(), Secret::derive("key").mark());
        assert_ne!(Secret::derive("key").mark(), Secret::derive("other key").mark());
    }

    #[test]
    fn a_proof_is_of_one_secret_one_role_and_one_session() {
        let (secret, other) = (Secret::derive("key"), Secret::derive("other key"));
        let proof = secret.prove(Role::Caller, &[7; 32]);
        assert!(Secret::derive("key").is_proved(Role::Caller, &[7; 32], &proof));
        assert!(!other.is_proved(Role::Caller, &[7; 32], &proof));
        assert!(!secret.is_proved(Role::Server, &[7; 32], &proof));
        assert!(!secret.is_proved(Role::Caller, &[8; 32], &proof));
        assert!(!secret.is_proved(Role::Caller, &[7; 32], &proof[..31]));
    }
}
