//! Receipts: what came of a write, stored with it, so that one who does not know whether it was done can ask.
//!
//! A transaction or batch may leave receipts in its logical partition: each under a key that its owner makes up and will
//! come up with again, with some bytes that say what was done. They are stored by the same commit as the writes, or not
//! at all. A key is good for one commit: a second one with the same key fails with
//! [`ErrorKind::Conflict`](crate::ErrorKind::Conflict), so that of two that do the same thing only one does it.
//!
//! A receipt lives for [`RECEIPT_SECONDS`], or until its physical partition has too many. Splits and merges take receipts
//! along. No reader of items and no change feed sees them, and they count for no size.
//!
//! Not here: what a commit does with them (`apply`), finding them (`read`), dropping those that are over (`sweep`).

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::limits::{
    RECEIPT_KEY_BYTES_MAX, RECEIPT_OUTCOME_BYTES_MAX, RECEIPT_SECONDS, TRANSACTION_RECEIPTS_MAX,
};

/// What is stored of a write for the one who did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    key: Bytes,
    outcome: Bytes,
}

impl Receipt {
    /// Makes a receipt: a key of 1 to [`RECEIPT_KEY_BYTES_MAX`] bytes, and what came of the write, in at most
    /// [`RECEIPT_OUTCOME_BYTES_MAX`] bytes.
    pub fn new(key: impl Into<Bytes>, outcome: impl Into<Bytes>) -> Result<Receipt> {
        let (key, outcome) = (key.into(), outcome.into());
        check_key(&key)?;
        if outcome.len() > RECEIPT_OUTCOME_BYTES_MAX {
            return Err(Error::invalid(format!(
                "a receipt says what was done in {} bytes, the limit is {RECEIPT_OUTCOME_BYTES_MAX}",
                outcome.len()
            )));
        }
        Ok(Receipt { key, outcome })
    }

    /// Returns the key.
    pub fn key(&self) -> &Bytes {
        &self.key
    }

    /// Returns what came of the write.
    pub fn outcome(&self) -> &Bytes {
        &self.outcome
    }

    /// Returns about how much memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.key.len() + self.outcome.len()
    }
}

/// Refuses more receipts than one commit may leave, and two with one key.
pub(crate) fn check_receipts(receipts: &[Receipt]) -> Result<()> {
    if receipts.len() > TRANSACTION_RECEIPTS_MAX {
        return Err(Error::invalid(format!(
            "there are {} receipts of one commit, the limit is {TRANSACTION_RECEIPTS_MAX}",
            receipts.len()
        )));
    }
    let is_repeated = |place: usize| receipts[..place].iter().any(|other| other.key == receipts[place].key);
    if (1..receipts.len()).any(is_repeated) {
        return Err(Error::invalid("two receipts of one commit have the same key"));
    }
    Ok(())
}

/// Refuses a key that no receipt can have.
pub(crate) fn check_key(key: &[u8]) -> Result<()> {
    match key.len() {
        1..=RECEIPT_KEY_BYTES_MAX => Ok(()),
        length => Err(Error::invalid(format!(
            "the key of a receipt has {length} bytes, it must have 1 to {RECEIPT_KEY_BYTES_MAX}"
        ))),
    }
}

/// The version of the records.
const VERSION: u8 = 1;

/// Bytes of a record before what came of the write.
const HEADER_BYTES: usize = 13;

/// A receipt as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredReceipt {
    /// The commit that left it.
    pub(crate) lsn: u64,
    /// The last second in which it lives.
    pub(crate) last_second: u32,
    pub(crate) outcome: Bytes,
}

impl StoredReceipt {
    pub(crate) fn new(lsn: u64, now: u32, outcome: Bytes) -> StoredReceipt {
        StoredReceipt { lsn, last_second: now.saturating_add(RECEIPT_SECONDS), outcome }
    }

    pub(crate) fn is_over(&self, now: u32) -> bool {
        self.last_second < now
    }

    pub(crate) fn encode(&self) -> Bytes {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.outcome.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.lsn.to_be_bytes());
        bytes.extend_from_slice(&self.last_second.to_be_bytes());
        bytes.extend_from_slice(&self.outcome);
        bytes.into()
    }

    pub(crate) fn decode(bytes: &Bytes) -> Result<StoredReceipt> {
        let damaged = || Error::corrupt(format!("a receipt has a record of {} bytes", bytes.len()));
        let (&VERSION, rest) = bytes.split_first().ok_or_else(damaged)? else {
            return Err(Error::corrupt("a receipt has a record of an unknown version"));
        };
        let (lsn, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let (last_second, _) = rest.split_first_chunk().ok_or_else(damaged)?;
        Ok(StoredReceipt {
            lsn: u64::from_be_bytes(*lsn),
            last_second: u32::from_be_bytes(*last_second),
            outcome: bytes.slice(HEADER_BYTES..),
        })
    }
}

/// The record that keeps a receipt's place in the order of commits says how long it lives.
pub(crate) fn encode_last_second(last_second: u32) -> Bytes {
    Bytes::copy_from_slice(&last_second.to_be_bytes())
}

/// Reads such a record.
pub(crate) fn decode_last_second(bytes: &[u8]) -> Result<u32> {
    let bytes = bytes.try_into().map_err(|_| {
        Error::corrupt(format!("the record of when a receipt is over has {} bytes", bytes.len()))
    })?;
    Ok(u32::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_have_bounds() {
        let receipt = |key: usize, outcome: usize| Receipt::new(vec![1; key], vec![2; outcome]);
        assert!(receipt(1, 0).is_ok());
        assert!(receipt(RECEIPT_KEY_BYTES_MAX, RECEIPT_OUTCOME_BYTES_MAX).is_ok());
        for (key, outcome) in [(0, 0), (RECEIPT_KEY_BYTES_MAX + 1, 0), (1, RECEIPT_OUTCOME_BYTES_MAX + 1)] {
            assert!(receipt(key, outcome).is_err(), "{key} {outcome}");
        }
        let many = |count: usize| -> Vec<Receipt> {
            (0..count).map(|number| Receipt::new(number.to_be_bytes().to_vec(), "").unwrap()).collect()
        };
        assert!(check_receipts(&many(TRANSACTION_RECEIPTS_MAX)).is_ok());
        assert!(check_receipts(&many(TRANSACTION_RECEIPTS_MAX + 1)).is_err());
        let twice = [many(2), many(1)].concat();
        assert!(check_receipts(&twice).is_err());
    }

    #[test]
    fn records_come_back_as_they_were() {
        let stored = StoredReceipt::new(7, 100, Bytes::from_static(b"done"));
        let bytes = stored.encode();
        assert_eq!(StoredReceipt::decode(&bytes).unwrap(), stored);
        assert_eq!(
            (stored.is_over(100 + RECEIPT_SECONDS), stored.is_over(101 + RECEIPT_SECONDS)),
            (false, true)
        );
        for length in 0..HEADER_BYTES {
            assert!(StoredReceipt::decode(&bytes.slice(..length)).is_err(), "{length}");
        }
        assert!(StoredReceipt::decode(&Bytes::from([&[2], &bytes[1..]].concat())).is_err());
        assert_eq!(decode_last_second(&encode_last_second(9)).unwrap(), 9);
        assert!(decode_last_second(b"123").is_err());
    }
}
