//! A sorted piece of a run: keys with what became of them, in one block of memory.
//!
//! Each key is in it once. Nothing of it ever changes, so readers hold it as long as they like.

use bytes::Bytes;

use super::merge::{Kept, Merge};

/// In front of each entry in a chunk's memory: the length of its key, and that of its value or [`REMOVED`].
const HEAD_BYTES: usize = 6;

/// Stands for the length of a value where the key was removed.
const REMOVED: u32 = u32::MAX;

/// A sorted piece of a run.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    memory: Bytes,
    /// Where each entry begins, in the order of the keys.
    offsets: Vec<u32>,
}

/// One entry of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'c> {
    pub(crate) key: &'c [u8],
    /// Nothing if the key was removed.
    pub(crate) value: Option<&'c [u8]>,
}

impl Chunk {
    /// Returns how many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns how many bytes of memory it takes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.memory.len() + size_of_val(self.offsets.as_slice())) as u64
    }

    /// Returns an entry by its place.
    pub(crate) fn entry(&self, at: usize) -> Entry<'_> {
        let (key, value) = self.place(at);
        Entry { key: &self.memory[key], value: value.map(|value| &self.memory[value]) }
    }

    /// Returns the key of an entry, and its value, without copying them.
    pub(crate) fn shared_entry(&self, at: usize) -> (Bytes, Option<Bytes>) {
        let (key, value) = self.place(at);
        (self.memory.slice(key), value.map(|value| self.memory.slice(value)))
    }

    /// Returns where the first entry is whose key is not before another.
    pub(crate) fn lower_bound(&self, key: &[u8]) -> usize {
        self.offsets.partition_point(|offset| self.key_from(*offset) < key)
    }

    /// Returns where the first entry is whose key is behind another.
    pub(crate) fn upper_bound(&self, key: &[u8]) -> usize {
        self.offsets.partition_point(|offset| self.key_from(*offset) <= key)
    }

    /// Returns what became of a key, if it is in the chunk.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Option<Bytes>> {
        let at = self.lower_bound(key);
        (at < self.len() && self.entry(at).key == key).then(|| self.shared_entry(at).1)
    }

    /// Makes one of several; of a key that is in more than one, the entry of the first counts.
    pub(crate) fn merged<'c>(newest_first: impl Iterator<Item = &'c Chunk> + Clone) -> Chunk {
        let bytes = newest_first.clone().map(|chunk| chunk.memory.len()).sum();
        let mut builder = ChunkBuilder::with_capacity(newest_first.clone().map(Chunk::len).sum(), bytes);
        let mut merge = Merge::of_chunks(newest_first, Kept::Everything);
        while let Some(entry) = merge.next_in_runs() {
            builder.push(entry.key, entry.value);
        }
        builder.finish()
    }

    fn place(&self, at: usize) -> (std::ops::Range<usize>, Option<std::ops::Range<usize>>) {
        let (key_bytes, value_bytes, start) = self.head(self.offsets[at]);
        let end = start + key_bytes;
        (start..end, (value_bytes != REMOVED).then(|| end..end + value_bytes as usize))
    }

    fn head(&self, offset: u32) -> (usize, u32, usize) {
        let at = offset as usize;
        let head = &self.memory[at..at + HEAD_BYTES];
        let key_bytes = u16::from_le_bytes([head[0], head[1]]);
        let value_bytes = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
        (usize::from(key_bytes), value_bytes, at + HEAD_BYTES)
    }

    fn key_from(&self, offset: u32) -> &[u8] {
        let (key_bytes, _, start) = self.head(offset);
        &self.memory[start..start + key_bytes]
    }
}

/// Puts a chunk together. Keys come in order, each once.
#[derive(Default)]
pub(crate) struct ChunkBuilder {
    memory: Vec<u8>,
    offsets: Vec<u32>,
}

impl ChunkBuilder {
    /// Makes room for so many entries, with so many bytes of keys and values or a few more.
    pub(crate) fn with_capacity(entries: usize, bytes: usize) -> ChunkBuilder {
        ChunkBuilder { memory: Vec::with_capacity(bytes), offsets: Vec::with_capacity(entries) }
    }

    /// Adds what became of a key. A run is far smaller than what its offsets can say, and a key and a value are bounded by
    /// the store's limits.
    pub(crate) fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.offsets.push(self.memory.len() as u32);
        self.memory.extend_from_slice(&(key.len() as u16).to_le_bytes());
        self.memory.extend_from_slice(&value.map_or(REMOVED, |value| value.len() as u32).to_le_bytes());
        self.memory.extend_from_slice(key);
        self.memory.extend_from_slice(value.unwrap_or_default());
    }

    /// Returns the chunk.
    pub(crate) fn finish(self) -> Chunk {
        Chunk { memory: self.memory.into(), offsets: self.offsets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(entries: &[(&str, Option<&str>)]) -> Chunk {
        let mut builder = ChunkBuilder::default();
        entries.iter().for_each(|(key, value)| builder.push(key.as_bytes(), value.map(str::as_bytes)));
        builder.finish()
    }

    #[test]
    fn entries_are_found_by_place_and_by_key() {
        let chunk = chunk(&[("a", Some("")), ("c", None), ("cc", Some("three"))]);
        assert_eq!(chunk.len(), 3);
        assert_eq!(chunk.entry(2), Entry { key: b"cc", value: Some(b"three") });
        assert_eq!(chunk.shared_entry(1), (Bytes::from("c"), None));
        assert_eq!([b"a".as_slice(), b"b", b"c", b"d"].map(|key| chunk.lower_bound(key)), [0, 1, 1, 3]);
        assert_eq!([b"a".as_slice(), b"b", b"c", b"d"].map(|key| chunk.upper_bound(key)), [1, 1, 2, 3]);
        assert_eq!(chunk.get(b"a"), Some(Some(Bytes::new())));
        assert_eq!(chunk.get(b"c"), Some(None));
        assert_eq!((chunk.get(b"b"), chunk.get(b"d"), Chunk::default().get(b"")), (None, None, None));
    }

    #[test]
    fn of_several_the_first_counts_and_removals_stay() {
        let newest = chunk(&[("b", None), ("d", Some("new"))]);
        let older = chunk(&[("a", Some("1")), ("b", Some("2"))]);
        let oldest = chunk(&[("b", Some("0")), ("d", Some("old")), ("e", None)]);
        let merged = Chunk::merged([&newest, &older, &oldest].into_iter());
        let found: Vec<_> = (0..merged.len()).map(|at| merged.entry(at)).collect();
        let entry = |key: &'static str, value: Option<&'static str>| Entry {
            key: key.as_bytes(),
            value: value.map(str::as_bytes),
        };
        assert_eq!(
            found,
            [entry("a", Some("1")), entry("b", None), entry("d", Some("new")), entry("e", None)]
        );
        assert!(merged.bytes() > 0);
    }
}
