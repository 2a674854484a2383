//! Several sorted sources as one: pieces of runs, and what the tree has.
//!
//! Of a key that is in several, the newest source says what became of it. Sources are numbered from the newest; the tree
//! is older than all runs.

use std::ops::{Bound, Range};

use armilla_kv::{Direction, Result};
use bytes::Bytes;

use super::chunk::{Chunk, Entry};
use super::tournament::Tournament;

/// Which entries come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Keys that are there.
    Present,
    /// Those that were removed as well.
    Everything,
}

/// What comes from the tree, in the direction of the merge: keys that are there, and their values.
pub(crate) type TreeEntry = Result<(Bytes, Bytes)>;

/// A part of a chunk that is still to come.
struct Cursor<'c> {
    chunk: &'c Chunk,
    rest: Range<usize>,
    /// The key that comes next.
    head: &'c [u8],
}

impl Cursor<'_> {
    /// Returns the place of the next entry.
    fn at(&self, direction: Direction) -> usize {
        match direction {
            Direction::Forward => self.rest.start,
            Direction::Reverse => self.rest.end - 1,
        }
    }

    /// Goes on. Returns whether there is more.
    fn advance(&mut self, direction: Direction) -> bool {
        match direction {
            Direction::Forward => self.rest.start += 1,
            Direction::Reverse => self.rest.end -= 1,
        }
        let is_more = !self.rest.is_empty();
        if is_more {
            self.head = self.chunk.entry(self.at(direction)).key;
        }
        is_more
    }
}

/// What comes next in each source.
struct Heads<'c> {
    cursors: Vec<Cursor<'c>>,
    tree: Option<(Bytes, Bytes)>,
    direction: Direction,
}

impl Heads<'_> {
    fn key(&self, player: usize) -> &[u8] {
        match self.cursors.get(player) {
            Some(cursor) => cursor.head,
            None => self.tree.as_ref().map(|(key, _)| &key[..]).unwrap_or_default(),
        }
    }

    fn beats(&self, left: usize, right: usize) -> bool {
        let order = match self.direction {
            Direction::Forward => self.key(left).cmp(self.key(right)),
            Direction::Reverse => self.key(right).cmp(self.key(left)),
        };
        // Of the same key the newest comes first.
        order.then(left.cmp(&right)).is_lt()
    }
}

/// Sorted sources as one.
pub(crate) struct Merge<'c, I> {
    heads: Heads<'c>,
    tree: I,
    tournament: Tournament,
    kept: Kept,
    /// What the tree could not read, until it is told.
    failure: Option<armilla_kv::Error>,
}

/// An entry that was met.
pub(crate) enum Met<'c> {
    /// In a run, at a place of one of its pieces.
    InRun(&'c Chunk, usize),
    /// In the tree.
    InTree(Bytes, Bytes),
}

impl Met<'_> {
    /// Returns the key.
    pub(crate) fn key(&self) -> &[u8] {
        match self {
            Met::InRun(chunk, at) => chunk.entry(*at).key,
            Met::InTree(key, _) => key,
        }
    }

    /// Returns the key and the value.
    pub(crate) fn into_entry(self) -> (Bytes, Bytes) {
        match self {
            Met::InRun(chunk, at) => {
                let (key, value) = chunk.shared_entry(at);
                (key, value.unwrap_or_default())
            }
            Met::InTree(key, value) => (key, value),
        }
    }
}

impl<'c> Merge<'c, std::iter::Empty<TreeEntry>> {
    /// Merges all of some chunks, in the order of the keys.
    pub(crate) fn of_chunks(newest_first: impl Iterator<Item = &'c Chunk>, kept: Kept) -> Self {
        let everything = (Bound::Unbounded, Bound::Unbounded);
        Merge::new(newest_first, &everything, Direction::Forward, std::iter::empty(), kept)
    }

    /// Returns the next entry, where there is no tree.
    pub(crate) fn next_in_runs(&mut self) -> Option<Entry<'c>> {
        match self.next_met()? {
            Ok(Met::InRun(chunk, at)) => Some(chunk.entry(at)),
            Ok(Met::InTree(..)) | Err(_) => None,
        }
    }
}

impl<'c, I: Iterator<Item = TreeEntry>> Merge<'c, I> {
    /// Merges what chunks have in a range with what the tree gives of it, in the same direction.
    pub(crate) fn new(
        newest_first: impl Iterator<Item = &'c Chunk>,
        range: &(Bound<Vec<u8>>, Bound<Vec<u8>>),
        direction: Direction,
        tree: I,
        kept: Kept,
    ) -> Merge<'c, I> {
        let cursors = newest_first.filter_map(|chunk| cursor(chunk, range, direction)).collect();
        let mut merge = Merge {
            heads: Heads { cursors, tree: None, direction },
            tree,
            tournament: Tournament::new(0, |_, _| false),
            kept,
            failure: None,
        };
        merge.advance_tree();
        let players = merge.heads.cursors.len() + usize::from(merge.heads.tree.is_some());
        merge.tournament = Tournament::new(players, |left, right| merge.heads.beats(left, right));
        merge
    }

    /// Returns the next entry.
    pub(crate) fn next_met(&mut self) -> Option<Result<Met<'c>>> {
        loop {
            if let Some(failure) = self.failure.take() {
                return Some(Err(failure));
            }
            let winner = self.tournament.winner()?;
            let met = match self.heads.cursors.get(winner) {
                Some(cursor) => Met::InRun(cursor.chunk, cursor.at(self.heads.direction)),
                None => {
                    let (key, value) = self.heads.tree.take()?;
                    Met::InTree(key, value)
                }
            };
            self.advance(winner);
            // What older sources say of the key counts no more.
            while let Some(older) = self.tournament.winner()
                && self.heads.key(older) == met.key()
            {
                self.advance(older);
            }
            let is_removed = matches!(met, Met::InRun(chunk, at) if chunk.entry(at).value.is_none());
            if !is_removed || self.kept == Kept::Everything {
                return Some(Ok(met));
            }
        }
    }

    fn advance(&mut self, player: usize) {
        let direction = self.heads.direction;
        let is_more = match self.heads.cursors.get_mut(player) {
            Some(cursor) => cursor.advance(direction),
            None => self.advance_tree(),
        };
        let beats = |left, right| self.heads.beats(left, right);
        match is_more {
            true => self.tournament.replay(player, beats),
            false => self.tournament.remove(player, beats),
        }
    }

    fn advance_tree(&mut self) -> bool {
        self.heads.tree = match self.tree.next() {
            Some(Ok(entry)) => Some(entry),
            Some(Err(failure)) => {
                self.failure = Some(failure);
                None
            }
            None => None,
        };
        self.heads.tree.is_some()
    }
}

impl<I: Iterator<Item = TreeEntry>> Iterator for Merge<'_, I> {
    type Item = TreeEntry;

    fn next(&mut self) -> Option<TreeEntry> {
        self.next_met().map(|met| met.map(Met::into_entry))
    }
}

fn cursor<'c>(
    chunk: &'c Chunk,
    (lower, upper): &(Bound<Vec<u8>>, Bound<Vec<u8>>),
    direction: Direction,
) -> Option<Cursor<'c>> {
    let start = match lower {
        Bound::Included(key) => chunk.lower_bound(key),
        Bound::Excluded(key) => chunk.upper_bound(key),
        Bound::Unbounded => 0,
    };
    let end = match upper {
        Bound::Included(key) => chunk.upper_bound(key),
        Bound::Excluded(key) => chunk.lower_bound(key),
        Bound::Unbounded => chunk.len(),
    };
    let mut cursor = Cursor { chunk, rest: start..end, head: &[] };
    (start < end).then(|| {
        cursor.head = chunk.entry(cursor.at(direction)).key;
        cursor
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use armilla_kv::{Error, ErrorKind};
    use proptest::prelude::*;

    use super::super::chunk::ChunkBuilder;
    use super::*;

    type Entries = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    fn chunk(entries: &Entries) -> Chunk {
        let mut builder = ChunkBuilder::default();
        entries.iter().for_each(|(key, value)| builder.push(key, value.as_deref()));
        builder.finish()
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0..4_u8, 0..3)
    }

    fn entries() -> impl Strategy<Value = Entries> {
        let value = prop::option::of(prop::collection::vec(any::<u8>(), 0..3));
        prop::collection::btree_map(key(), value, 0..12)
    }

    fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
        prop_oneof![Just(Bound::Unbounded), key().prop_map(Bound::Included), key().prop_map(Bound::Excluded)]
    }

    proptest! {
        #[test]
        fn the_newest_source_counts(
            newest_first in prop::collection::vec(entries(), 0..6),
            tree in prop::collection::btree_map(key(), prop::collection::vec(any::<u8>(), 0..3), 0..12),
            range in (bound(), bound()),
            is_reverse in any::<bool>(),
        ) {
            prop_assume!(!crate::read::is_empty(&range));
            let mut model: BTreeMap<Vec<u8>, Vec<u8>> = tree.clone();
            for entries in newest_first.iter().rev() {
                for (key, value) in entries {
                    match value {
                        Some(value) => model.insert(key.clone(), value.clone()),
                        None => model.remove(key),
                    };
                }
            }
            let mut expected: Vec<(Vec<u8>, Vec<u8>)> =
                model.range(range.clone()).map(|(key, value)| (key.clone(), value.clone())).collect();
            let mut of_tree: Vec<TreeEntry> = tree
                .range(range.clone())
                .map(|(key, value)| Ok((key.clone().into(), value.clone().into())))
                .collect();
            let mut direction = Direction::Forward;
            if is_reverse {
                expected.reverse();
                of_tree.reverse();
                direction = Direction::Reverse;
            }
            let chunks: Vec<Chunk> = newest_first.iter().map(chunk).collect();
            let merge = Merge::new(chunks.iter(), &range, direction, of_tree.into_iter(), Kept::Present);
            let found: Vec<(Vec<u8>, Vec<u8>)> = merge
                .map(|entry| entry.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap())
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_the_tree_cannot_read_is_told() {
        let newest = chunk(&BTreeMap::from([(vec![1], Some(vec![])), (vec![3], Some(vec![]))]));
        let broken = || Err(Error::new(ErrorKind::Corrupt, "broken"));
        let tree = vec![Ok((Bytes::from(vec![2]), Bytes::new())), broken()];
        let everything = (Bound::Unbounded, Bound::Unbounded);
        let mut merge = Merge::new(
            [&newest].into_iter(),
            &everything,
            Direction::Forward,
            tree.into_iter(),
            Kept::Present,
        );
        assert_eq!(merge.next().unwrap().unwrap().0, vec![1]);
        assert_eq!(merge.next().unwrap().unwrap().0, vec![2]);
        assert_eq!(merge.next().unwrap().unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
