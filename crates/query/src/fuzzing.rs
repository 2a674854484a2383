//! What the fuzzer reaches inside of this crate; nothing else may use it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::continuation::{Token, VERSION, VERSION_WITHOUT_PATHS, checksum, continuation_cuts};

/// Reads bytes as a continuation token, and as the inside of one whose sum is right.
pub fn continuation(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = Token::decode(text, 0);
    }
    for version in [VERSION, VERSION_WITHOUT_PATHS] {
        let text = sealed(version, data);
        let cuts = continuation_cuts(&text, 0);
        let Ok(token) = Token::decode(&text, 0) else {
            assert!(cuts.is_err(), "{text}");
            continue;
        };
        assert!(cuts.is_ok(), "{text}");
        assert_eq!(Token::decode(&token.encode(0), 0).ok().as_ref(), Some(&token), "{text}");
    }
}

fn sealed(version: u8, inside: &[u8]) -> String {
    let mut bytes = vec![version];
    bytes.extend_from_slice(&0_u64.to_be_bytes());
    bytes.extend_from_slice(inside);
    let sum = checksum(&bytes);
    bytes.extend_from_slice(&sum);
    URL_SAFE_NO_PAD.encode(bytes)
}
