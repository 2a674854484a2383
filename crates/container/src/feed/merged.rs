//! The record of the last merge among the ancestors of a partition.

use bytes::Bytes;

use crate::error::{Error, Result};

const FORMAT_VERSION: u8 = 1;

/// The last merge among the ancestors of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Merged {
    /// The commit up to which the log is not in the order of time.
    pub(crate) lsn: u64,
    /// Seconds since 1970 UTC when it was.
    pub(crate) ts: u32,
}

impl Merged {
    pub(crate) fn encode(self) -> Bytes {
        let mut bytes = vec![FORMAT_VERSION];
        bytes.extend_from_slice(&self.lsn.to_be_bytes());
        bytes.extend_from_slice(&self.ts.to_be_bytes());
        bytes.into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Merged> {
        let read = || {
            let (&FORMAT_VERSION, rest) = bytes.split_first()? else { return None };
            let (lsn, rest) = rest.split_first_chunk()?;
            let ts = rest.try_into().ok()?;
            Some(Merged { lsn: u64::from_be_bytes(*lsn), ts: u32::from_be_bytes(ts) })
        };
        read().ok_or_else(|| Error::corrupt("the record of a partition's last merge is damaged"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_as_they_were() {
        let merged = Merged { lsn: 0x0102_0304, ts: 1_700_000_000 };
        let whole = merged.encode();
        assert_eq!(whole.len(), 13);
        assert_eq!(Merged::decode(&whole).unwrap(), merged);
        for length in 0..whole.len() {
            assert!(Merged::decode(&whole[..length]).is_err(), "cut to {length} bytes");
        }
        assert!(Merged::decode(&[&whole[..], b"x"].concat()).is_err());
        assert!(Merged::decode(&[b"\x02", &whole[1..]].concat()).is_err());
    }
}
