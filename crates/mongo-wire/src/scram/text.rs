//! The texts of SCRAM: attributes of one letter, separated by commas.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::mechanism::ScramError;
use crate::limits::NONCE_BYTES_MAX;

/// The client's first message.
pub(super) struct ClientFirst<'a> {
    /// What comes before the name, with its comma.
    pub(super) gs2_header: &'a str,
    /// What comes after that.
    pub(super) bare: &'a str,
    /// The name, with its commas and equal signs.
    pub(super) user: String,
    pub(super) nonce: &'a str,
}

impl<'a> ClientFirst<'a> {
    pub(super) fn parse(text: &'a str) -> Result<ClientFirst<'a>, ScramError> {
        let malformed = |what| Err(ScramError::Malformed(what));
        let Some((flag, rest)) = text.split_once(',') else { return malformed("channel binding") };
        // A binding to the channel would be `p=`: no driver asks for one.
        if flag != "n" && flag != "y" {
            return malformed("channel binding");
        }
        let Some((identity, bare)) = rest.split_once(',') else { return malformed("identity") };
        let mut attributes = bare.split(',');
        let Some(name) = attributes.next().and_then(|text| text.strip_prefix("n=")) else {
            return malformed("user name");
        };
        let Some(user) = unescape(name).filter(|user| !user.is_empty()) else {
            return malformed("user name");
        };
        // To act for another user is nothing that an account could allow.
        let own = identity.strip_prefix("a=").and_then(unescape);
        if !identity.is_empty() && own.as_deref() != Some(&user) {
            return malformed("identity");
        }
        let Some(nonce) = attributes.next().and_then(|text| text.strip_prefix("r=")) else {
            return malformed("nonce");
        };
        if !is_nonce(nonce) || nonce.len() > NONCE_BYTES_MAX {
            return malformed("nonce");
        }
        let gs2_header = &text[..text.len() - bare.len()];
        Ok(ClientFirst { gs2_header, bare, user, nonce })
    }
}

/// The client's last message.
pub(super) struct ClientFinal<'a> {
    pub(super) channel_binding: Vec<u8>,
    pub(super) nonce: &'a str,
    pub(super) proof: Vec<u8>,
    /// Everything before the proof and its comma.
    pub(super) without_proof: &'a str,
}

impl<'a> ClientFinal<'a> {
    pub(super) fn parse(text: &'a str) -> Result<ClientFinal<'a>, ScramError> {
        let malformed = |what| Err(ScramError::Malformed(what));
        let Some((without_proof, proof)) = text.rsplit_once(",p=") else { return malformed("proof") };
        let Ok(proof) = STANDARD.decode(proof) else { return malformed("proof") };
        let mut attributes = without_proof.split(',');
        let channel_binding = attributes.next().and_then(|text| text.strip_prefix("c="));
        let Some(channel_binding) = channel_binding.and_then(|text| STANDARD.decode(text).ok()) else {
            return malformed("channel binding");
        };
        let Some(nonce) = attributes.next().and_then(|text| text.strip_prefix("r=")) else {
            return malformed("nonce");
        };
        Ok(ClientFinal { channel_binding, nonce, proof, without_proof })
    }
}

/// Says whether every character is printable and none is a comma.
pub(super) fn is_nonce(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',')
}

/// Resolves the two escapes of a name; any other use of the equal sign is none.
fn unescape(text: &str) -> Option<String> {
    let mut parts = text.split('=');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        let (character, rest) = match (part.strip_prefix("2C"), part.strip_prefix("3D")) {
            (Some(rest), _) => (',', rest),
            (_, Some(rest)) => ('=', rest),
            _ => return None,
        };
        name.push(character);
        name.push_str(rest);
    }
    Some(name)
}

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
