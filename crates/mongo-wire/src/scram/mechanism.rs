//! The two hashes, and why a conversation may fail.

use ring::{digest, hmac, pbkdf2};

/// Which hash is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// SCRAM-SHA-1, with MongoDB's own digest in place of the password.
    Sha1,
    /// SCRAM-SHA-256.
    Sha256,
}

impl Mechanism {
    /// Returns the mechanism of that name, which is exact.
    pub fn from_name(name: &str) -> Option<Mechanism> {
        match name {
            "SCRAM-SHA-1" => Some(Mechanism::Sha1),
            "SCRAM-SHA-256" => Some(Mechanism::Sha256),
            _ => None,
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Sha1 => "SCRAM-SHA-1",
            Mechanism::Sha256 => "SCRAM-SHA-256",
        }
    }

    /// Returns the number of rounds that MongoDB's server uses where nothing else is set.
    pub fn default_iterations(self) -> u32 {
        match self {
            Mechanism::Sha1 => 10_000,
            Mechanism::Sha256 => 15_000,
        }
    }

    /// Returns the bytes of a key.
    pub fn key_bytes(self) -> usize {
        match self {
            Mechanism::Sha1 => digest::SHA1_OUTPUT_LEN,
            Mechanism::Sha256 => digest::SHA256_OUTPUT_LEN,
        }
    }

    /// Returns the bytes of a salt, as MongoDB's server makes them.
    pub fn salt_bytes(self) -> usize {
        self.key_bytes() - 4
    }

    pub(super) fn digest(self) -> &'static digest::Algorithm {
        match self {
            Mechanism::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Mechanism::Sha256 => &digest::SHA256,
        }
    }

    fn hmac(self) -> hmac::Algorithm {
        match self {
            Mechanism::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Mechanism::Sha256 => hmac::HMAC_SHA256,
        }
    }

    pub(super) fn pbkdf2(self) -> pbkdf2::Algorithm {
        match self {
            Mechanism::Sha1 => pbkdf2::PBKDF2_HMAC_SHA1,
            Mechanism::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
        }
    }

    pub(super) fn sign(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        hmac::sign(&hmac::Key::new(self.hmac(), key), message).as_ref().to_vec()
    }
}

/// Why a conversation ends without success. A client is told the same of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScramError {
    /// A payload does not have the form it should have.
    Malformed(&'static str),
    /// The user does not exist, or the client does not know the password.
    Failed,
    /// A password has characters that SASLprep does not allow.
    Password,
}

impl std::fmt::Display for ScramError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ScramError::Malformed(what) => write!(formatter, "malformed payload: {what}"),
            ScramError::Failed => formatter.write_str("the user does not exist or the proof is wrong"),
            ScramError::Password => formatter.write_str("the password has characters that are not allowed"),
        }
    }
}

impl std::error::Error for ScramError {}
