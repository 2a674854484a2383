//! One moment of the whole store, for a caller that copies it.
//!
//! Readers read at the moment published last (`view`), which lies between two commits for all families and so for all
//! spaces. A snapshot of the engine at that moment would do, but not for long: while it lives, the engine keeps every
//! version of a family since, memtables that were flushed long ago among them. So this takes hold of the one version
//! that the moment needs, and lets go of the engine's snapshot at once. What it keeps is the memtables of that moment,
//! one write buffer at most, and the files of that moment, which compaction may replace but not delete meanwhile.
//!
//! When the instance of the engine is replaced after a failed write, its moments end: no file of it may be held then.
//!
//! Nothing here asks whether a space was dropped after the moment: what its keys were is still in these files.

use std::ops::Bound;
use std::sync::Arc;

use armilla_kv::{Direction, Error, ErrorKind, Family, Page, Result, Scan, Snapshot, SpaceId, StoreSnapshot};
use bytes::Bytes;
use fjall::{AbstractTree, AnyTree, Keyspace};
use parking_lot::RwLock;

use crate::failure;
use crate::keys::{self, SPACE_PREFIX_BYTES};
use crate::options::{KEYSPACES, RECORDS};
use crate::read::{Range, is_empty, page};
use crate::records;
use crate::runs::{INDEX, Kept, Merge, RunSet};
use crate::shared::Shared;
use crate::view;

type Entries<'r> = Box<dyn Iterator<Item = Result<(Bytes, Bytes)>> + 'r>;
type TreeEntries = Box<dyn DoubleEndedIterator<Item = Result<(Bytes, Bytes)>>>;

/// Reads one keyspace as of the moment.
struct Reader {
    tree: Box<dyn Fn(&Range) -> TreeEntries + Send + Sync>,
    /// What is read over the tree.
    runs: Option<Arc<RunSet>>,
}

impl Reader {
    fn read<'r>(&'r self, range: &Range, direction: Direction) -> Entries<'r> {
        let tree = (self.tree)(range);
        let tree: Entries<'r> = match direction {
            Direction::Forward => tree,
            Direction::Reverse => Box::new(tree.rev()),
        };
        match &self.runs {
            Some(runs) => Box::new(Merge::new(runs.chunks(), range, direction, tree, Kept::Present)),
            None => tree,
        }
    }
}

/// The moment of a store.
pub(crate) struct Moment {
    inner: Arc<Inner>,
}

struct Inner {
    readers: Arc<Readers>,
    shared: Arc<Shared>,
}

/// What reads the families as of a moment: nothing any more once the instance of the engine is gone whose files they are.
#[derive(Default)]
pub(crate) struct Readers(RwLock<Option<[Reader; KEYSPACES]>>);

impl Readers {
    /// Lets go of the files. Waits for who reads in them.
    pub(crate) fn end(&self) {
        *self.0.write() = None;
    }
}

impl Inner {
    /// Reads with the readers of all families, if they are still there.
    fn with<R>(&self, read: impl FnOnce(&[Reader; KEYSPACES]) -> Result<R>) -> Result<R> {
        match &*self.readers.0.read() {
            Some(keyspaces) => read(keyspaces),
            None => Err(view::ended()),
        }
    }
}

struct SpaceMoment {
    inner: Arc<Inner>,
    space: SpaceId,
}

impl Moment {
    /// Takes hold of the moment published last.
    pub(crate) fn new(shared: &Arc<Shared>) -> Result<Moment> {
        // Until this goes, the engine forgets no version that the moment needs.
        let published = shared.view.latest()?;
        let mut keyspaces = Vec::with_capacity(KEYSPACES);
        for (index, keyspace) in published.engine.keyspaces.iter().enumerate() {
            let runs = (index == INDEX).then(|| published.runs.clone());
            keyspaces.push(reader(keyspace, published.snapshot.seqno(), runs)?);
        }
        let keyspaces: [Reader; KEYSPACES] =
            keyspaces.try_into().map_err(|_| Error::new(ErrorKind::Corrupt, "the engine lost a keyspace"))?;
        let readers = Arc::new(Readers(RwLock::new(Some(keyspaces))));
        published.engine.keep(&readers)?;
        Ok(Moment { inner: Arc::new(Inner { readers, shared: shared.clone() }) })
    }
}

fn reader(keyspace: &Keyspace, moment: u64, runs: Option<Arc<RunSet>>) -> Result<Reader> {
    if !matches!(keyspace.tree, AnyTree::Standard(_)) {
        return Err(Error::new(ErrorKind::Corrupt, "a family keeps its values in files of their own"));
    }
    let version = keyspace.tree.get_version_history_lock().get_version_for_snapshot(moment);
    let tree = Box::new(move |range: &Range| -> TreeEntries {
        let entries = lsm_tree::Tree::create_internal_range(version.clone(), range, moment, None);
        Box::new(entries.map(|entry| match entry {
            Ok(entry) => Ok((entry.key.user_key.into(), entry.value.into())),
            Err(error) => Err(failure::of_read(&fjall::Error::Storage(error))),
        }))
    });
    Ok(Reader { tree, runs })
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Memtables that only the moment kept can be freed as soon as this is gone; the thread that frees them
        // looks for a while.
        self.shared.retired.look_again();
    }
}

impl StoreSnapshot for Moment {
    fn spaces(&self) -> Result<Vec<SpaceId>> {
        self.inner.with(spaces)
    }

    fn space(&self, space: SpaceId) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(SpaceMoment { inner: self.inner.clone(), space }))
    }
}

/// Lists the spaces that there are and that were not dropped.
fn spaces(keyspaces: &[Reader; KEYSPACES]) -> Result<Vec<SpaceId>> {
    let everything = (Bound::Unbounded, Bound::Unbounded);
    let records = keyspaces[RECORDS].read(&everything, Direction::Forward);
    let dropped = records::read(records)?.dropped;
    let mut spaces = std::collections::BTreeSet::new();
    for family in Family::ALL {
        let reader = &keyspaces[family as usize];
        let mut from = Bound::Unbounded;
        // One look for each space, whatever it holds.
        while let Some(entry) = reader.read(&(from, Bound::Unbounded), Direction::Forward).next() {
            let (key, _) = entry?;
            let id = key.get(..SPACE_PREFIX_BYTES).and_then(|id| id.try_into().ok()).ok_or_else(|| {
                Error::new(ErrorKind::Corrupt, format!("the key {key:02x?} names no space"))
            })?;
            let id = u64::from_be_bytes(id);
            if !dropped.contains(id) {
                spaces.insert(SpaceId(id));
            }
            match id.checked_add(1) {
                Some(next) => from = Bound::Included(keys::prefixed(SpaceId(next), &[])),
                None => break,
            }
        }
    }
    Ok(spaces.into_iter().collect())
}

impl Snapshot for SpaceMoment {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        let key = keys::prefixed(self.space, key);
        let range = (Bound::Included(key.clone()), Bound::Included(key));
        let entry = self.inner.with(|keyspaces| {
            keyspaces[family as usize].read(&range, Direction::Forward).next().transpose()
        })?;
        Ok(entry.map(|(_, value)| value))
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        keys.iter().map(|key| self.get(family, key)).collect()
    }

    fn scan(&self, scan: &Scan) -> Result<Page> {
        let range = (keys::lower(self.space, &scan.lower), keys::upper(self.space, &scan.upper));
        if is_empty(&range) {
            return Ok(Page::default());
        }
        self.inner.with(|keyspaces| page(keyspaces[scan.family as usize].read(&range, scan.direction), scan))
    }
}

#[cfg(test)]
mod tests {
    use armilla_kv::{Batch, Store, block_on};

    use super::*;
    use crate::options::Options;
    use crate::store::EmbeddedStore;

    const WRITE_BUFFER_BYTES: u64 = 2 * 1024 * 1024;
    const ITEM_BYTES: usize = 64 * 1024;

    /// Returns the bytes of memtables that the engine keeps for any reader.
    fn kept_bytes(store: &EmbeddedStore) -> u64 {
        let engine = store.shared().view.engine().unwrap();
        engine.keyspaces.iter().map(|keyspace| keyspace.tree.version_memtable_size_sum()).sum()
    }

    fn write(store: &EmbeddedStore, round: u8) {
        let space = store.open_space(SpaceId(1)).unwrap();
        for number in 0..64_u8 {
            let mut batch = Batch::new();
            batch.put(Family::Item, vec![number], vec![round; ITEM_BYTES]);
            block_on(space.commit(batch)).unwrap();
        }
    }

    /// A backup takes minutes, and every memtable of these minutes used to stay in memory until its end:
    /// that is what the engine's own snapshot does, and what this is for.
    #[test]
    fn what_is_written_later_is_not_kept_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let store =
            EmbeddedStore::open(folder.path(), Options::with_write_buffer(WRITE_BUFFER_BYTES)).unwrap();
        write(&store, 0);
        let moment = store.snapshot_all().unwrap();
        let rounds = 8;
        for round in 1..=rounds {
            write(&store, round);
        }
        // Sixteen times the write buffer was written; it takes the engine a moment to let go of what it has flushed.
        let limit = 4 * WRITE_BUFFER_BYTES;
        let wait = std::time::Duration::from_millis(10);
        let mut tries = 0;
        while kept_bytes(&store) > limit {
            tries += 1;
            assert!(tries < 1_000, "{} bytes are kept, {limit} would be right", kept_bytes(&store));
            std::thread::sleep(wait);
        }
        let space = moment.space(SpaceId(1)).unwrap();
        for number in 0..64_u8 {
            let value = space.get(Family::Item, &[number]).unwrap();
            assert_eq!(value, Some(Bytes::from(vec![0; ITEM_BYTES])), "as of the moment");
        }
        drop((space, moment));
        let space = store.open_space(SpaceId(1)).unwrap();
        assert_eq!(space.get(Family::Item, &[0]).unwrap(), Some(Bytes::from(vec![rounds; ITEM_BYTES])));
    }
}
