//! The client's side of SCRAM-SHA-256 (RFC 7677), as far as logging in to a server of our own takes it.

use std::num::NonZeroU32;

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};

/// A login after its first message.
pub(super) struct Login {
    nonce: String,
    first_bare: String,
}

impl Login {
    /// Begins, with a nonce that is printable.
    pub(super) fn new(user: &str, nonce: &str) -> Login {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        Login { nonce: nonce.to_owned(), first_bare: format!("n={user},r={nonce}") }
    }

    /// Returns the first message.
    pub(super) fn first(&self) -> Vec<u8> {
        format!("n,,{}", self.first_bare).into_bytes()
    }

    /// Answers the server's first message with the proof.
    pub(super) fn last(&self, server_first: &[u8], password: &str) -> Result<Vec<u8>> {
        let server_first = std::str::from_utf8(server_first).context("the server's message is no text")?;
        let field = |name: &str| server_first.split(',').find_map(|part| part.strip_prefix(name));
        let nonce = field("r=").context("the server gives no nonce")?;
        ensure!(nonce.starts_with(&self.nonce), "the server answers another client");
        let salt = STANDARD.decode(field("s=").context("the server gives no salt")?)?;
        let iterations: NonZeroU32 = field("i=").context("the server gives no number of rounds")?.parse()?;
        let mut salted = [0; digest::SHA256_OUTPUT_LEN];
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, password.as_bytes(), &mut salted);
        let client_key = sign(&salted, b"Client Key");
        let stored_key = digest::digest(&digest::SHA256, client_key.as_ref());
        let without_proof = format!("c=biws,r={nonce}");
        let message = format!("{},{server_first},{without_proof}", self.first_bare);
        let signature = sign(stored_key.as_ref(), message.as_bytes());
        let proof: Vec<u8> =
            client_key.as_ref().iter().zip(signature.as_ref()).map(|(key, sign)| key ^ sign).collect();
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)).into_bytes())
    }
}

fn sign(key: &[u8], message: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677.
    #[test]
    fn the_published_conversation() {
        let login = Login::new("user", "rOprNGfwEbeRWgbNEkqO");
        assert_eq!(login.first(), b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let server_first =
            b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let expected = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                        p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(login.last(server_first, "pencil").unwrap(), expected.as_bytes());
        assert!(login.last(b"r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "pencil").is_err());
        assert!(login.last(b"", "pencil").is_err());
    }
}
