//! What is kept of a password, and how a client's proof is held against it.

use std::borrow::Cow;
use std::num::NonZeroU32;

use md5::{Digest, Md5};
use ring::{digest, pbkdf2};

use super::mechanism::{Mechanism, ScramError};

/// The two keys that are kept of one password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// The hash of the key with which a client proves itself.
    pub stored_key: Vec<u8>,
    /// The key with which the server proves itself.
    pub server_key: Vec<u8>,
}

impl std::fmt::Debug for Credential {
    /// Shows neither key: with the server's one could play the server.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Credential")
    }
}

/// The credentials that go by one user name, for one mechanism.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The salt of all of them.
    pub salt: Vec<u8>,
    /// The rounds of all of them.
    pub iterations: u32,
    /// The credentials; an account without one is like no account.
    pub credentials: Vec<Credential>,
}

impl Account {
    /// Derives the credentials of some passwords, which takes `iterations` hashes for each.
    pub fn derive(
        mechanism: Mechanism,
        user: &str,
        passwords: &[&str],
        salt: &[u8],
        iterations: NonZeroU32,
    ) -> Result<Account, ScramError> {
        let credentials = passwords
            .iter()
            .map(|password| {
                let text = password_text(mechanism, user, password)?;
                Ok(Credential::derive(mechanism, &text, salt, iterations))
            })
            .collect::<Result<_, ScramError>>()?;
        Ok(Account { salt: salt.to_vec(), iterations: iterations.get(), credentials })
    }

    /// Returns what a user looks like from outside who does not exist: one credential that no proof fits.
    pub(super) fn unknown(mechanism: Mechanism, user: &str, secret: &[u8]) -> Account {
        Account {
            salt: salt_of(mechanism, user, secret),
            iterations: mechanism.default_iterations(),
            credentials: vec![Credential { stored_key: Vec::new(), server_key: Vec::new() }],
        }
    }
}

impl Credential {
    /// Derives the keys of a text, which is the password or what stands for it (see [`password_text`]).
    pub fn derive(mechanism: Mechanism, text: &str, salt: &[u8], iterations: NonZeroU32) -> Credential {
        let mut salted = vec![0; mechanism.key_bytes()];
        pbkdf2::derive(mechanism.pbkdf2(), iterations, salt, text.as_bytes(), &mut salted);
        let client_key = mechanism.sign(&salted, b"Client Key");
        Credential {
            stored_key: digest::digest(mechanism.digest(), &client_key).as_ref().to_vec(),
            server_key: mechanism.sign(&salted, b"Server Key"),
        }
    }

    /// Says whether a proof was made by a client that knows the password.
    pub(super) fn is_proven(&self, mechanism: Mechanism, message: &[u8], proof: &[u8]) -> bool {
        let signature = mechanism.sign(&self.stored_key, message);
        if proof.len() != signature.len() {
            return false;
        }
        let client_key: Vec<u8> = proof.iter().zip(&signature).map(|(left, right)| left ^ right).collect();
        same(digest::digest(mechanism.digest(), &client_key).as_ref(), &self.stored_key)
    }
}

/// Returns the text from which keys are derived: the password made to compare equal however it was typed, or
/// MongoDB's older digest of it.
pub fn password_text<'p>(
    mechanism: Mechanism,
    user: &str,
    password: &'p str,
) -> Result<Cow<'p, str>, ScramError> {
    match mechanism {
        Mechanism::Sha256 => stringprep::saslprep(password).map_err(|_| ScramError::Password),
        Mechanism::Sha1 => {
            let digest = Md5::digest(format!("{user}:mongo:{password}"));
            Ok(Cow::Owned(digest.iter().map(|byte| format!("{byte:02x}")).collect()))
        }
    }
}

/// Makes a salt that is always the same for one user and one secret, and tells nothing of either.
pub fn salt_of(mechanism: Mechanism, user: &str, secret: &[u8]) -> Vec<u8> {
    let mut salt = Mechanism::Sha256.sign(secret, format!("{} {user}", mechanism.name()).as_bytes());
    salt.truncate(mechanism.salt_bytes());
    salt
}

/// Compares in a time that only the lengths decide.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && std::hint::black_box(left.iter().zip(right).fold(0, |differences, (a, b)| differences | (a ^ b)))
            == 0
}
