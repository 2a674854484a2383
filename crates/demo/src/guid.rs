//! Ids of users, posts and answers, as the text that items carry.

use armilla_env::Random;

/// A version 4 GUID as lower-case text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Guid([u8; GUID_BYTES]);

/// How long a GUID is as text.
pub(crate) const GUID_BYTES: usize = 36;

impl Guid {
    /// Draws one.
    pub(crate) fn random(random: &mut Random) -> Guid {
        Guid::of(random.guid_bytes())
    }

    fn of(bytes: [u8; 16]) -> Guid {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut text = [b'-'; GUID_BYTES];
        let mut at = 0;
        for (position, byte) in bytes.iter().enumerate() {
            if matches!(position, 4 | 6 | 8 | 10) {
                at += 1;
            }
            text[at] = HEX[usize::from(byte >> 4)];
            text[at + 1] = HEX[usize::from(byte & 15)];
            at += 2;
        }
        Guid(text)
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a GUID is made of hexadecimal digits and hyphens")
    }

    /// Returns the text's bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guids() {
        let draw = || Guid::random(&mut Random::of_thing(7, &[]));
        let guid = draw();
        assert_eq!(guid, draw());
        let text = guid.as_str();
        assert_eq!((text.len(), &text[14..15]), (36, "4"));
        assert_eq!(text.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>(), [8, 13, 18, 23]);
        assert_eq!(Guid::of([0xAB; 16]).as_str(), "abababab-abab-abab-abab-abababababab");
    }
}
