//! What a group of commits does to a run, as it is written to the journal: one record for the whole group.
//!
//! Keys come in order, so each is written as what differs from the one before:
//!
//! | bytes | what |
//! |---|---|
//! | number | how many bytes the key has in common with the one before |
//! | number | how many follow |
//! | number | 0 where the key was removed, else one more than the length of the value |
//! | | the rest of the key, then the value |
//!
//! Numbers have seven bits in a byte, the lowest first; the eighth says that more follow.

use armilla_kv::{Error, ErrorKind, KEY_BYTES_MAX, Result};

use super::chunk::{Chunk, ChunkBuilder};

/// Writes a record.
#[derive(Default)]
pub(crate) struct RecordWriter {
    bytes: Vec<u8>,
    last_key: Vec<u8>,
}

impl RecordWriter {
    /// Makes room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> RecordWriter {
        RecordWriter { bytes: Vec::with_capacity(bytes), last_key: Vec::new() }
    }

    /// Adds what became of a key. Keys come in order, each once.
    pub(crate) fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        let shared = common_bytes(&self.last_key, key);
        put(&mut self.bytes, shared);
        put(&mut self.bytes, key.len() - shared);
        put(&mut self.bytes, value.map_or(0, |value| value.len() + 1));
        self.bytes.extend_from_slice(&key[shared..]);
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.last_key.truncate(shared);
        self.last_key.extend_from_slice(&key[shared..]);
    }

    /// Returns the record.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Returns how many bytes two keys begin with in common.
fn common_bytes(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a record.
pub(crate) fn read(record: &[u8]) -> Result<Chunk> {
    let mut builder = ChunkBuilder::default();
    let mut rest = record;
    let mut key: Vec<u8> = Vec::new();
    let mut is_first = true;
    while !rest.is_empty() {
        let (value, follows) = next(&mut rest, &mut key, is_first).ok_or_else(damaged)?;
        builder.push(&key, value);
        rest = follows;
        is_first = false;
    }
    Ok(builder.finish())
}

/// Reads one entry: makes `key` its key, and returns its value with what follows.
fn next<'r>(rest: &mut &'r [u8], key: &mut Vec<u8>, is_first: bool) -> Option<(Option<&'r [u8]>, &'r [u8])> {
    let (shared, key_bytes, value) = (take(rest)?, take(rest)?, take(rest)?);
    let (key_rest, follows) = rest.split_at_checked(key_bytes)?;
    let is_in_order = is_first || key.get(shared..).is_some_and(|before| before < key_rest);
    if shared > key.len() || !is_in_order || shared + key_bytes > LONGEST_KEY_BYTES {
        return None;
    }
    key.truncate(shared);
    key.extend_from_slice(key_rest);
    match value.checked_sub(1) {
        None => Some((None, follows)),
        Some(value_bytes) => {
            let (value, follows) = follows.split_at_checked(value_bytes)?;
            Some((Some(value), follows))
        }
    }
}

/// The longest key of a space, and the space in front of it.
const LONGEST_KEY_BYTES: usize = KEY_BYTES_MAX + crate::keys::SPACE_PREFIX_BYTES;

fn take(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0_usize;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt, "a record of index entries is damaged")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Entries = std::collections::BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    fn written(entries: &Entries) -> Vec<u8> {
        let mut writer = RecordWriter::default();
        entries.iter().for_each(|(key, value)| writer.push(key, value.as_deref()));
        writer.finish()
    }

    fn entries() -> impl Strategy<Value = Entries> {
        let key = prop::collection::vec(0..3_u8, 0..12);
        let value = prop::option::of(prop::collection::vec(any::<u8>(), 0..200));
        prop::collection::btree_map(key, value, 0..30)
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(entries in entries()) {
            let chunk = read(&written(&entries)).unwrap();
            let found: Entries = (0..chunk.len())
                .map(|at| chunk.entry(at))
                .map(|entry| (entry.key.to_vec(), entry.value.map(<[u8]>::to_vec)))
                .collect();
            prop_assert_eq!(chunk.len(), entries.len());
            prop_assert_eq!(found, entries);
        }

        #[test]
        fn whatever_else_it_is_it_is_read_in_order_or_refused(record in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(chunk) = read(&record) {
                let keys: Vec<&[u8]> = (0..chunk.len()).map(|at| chunk.entry(at).key).collect();
                prop_assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
            }
        }
    }

    #[test]
    fn neighbours_are_short() {
        let keys: Vec<Vec<u8>> = (0..100_u8).map(|number| [&[7; 40][..], &[number]].concat()).collect();
        let mut writer = RecordWriter::default();
        keys.iter().for_each(|key| writer.push(key, Some(&[])));
        assert_eq!(writer.finish().len(), 41 + 3 + 99 * (1 + 3));
    }
}
