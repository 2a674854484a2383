//! Damages journals that the engine really wrote.

use std::sync::Arc;

use armilla_kv::block_on;
use armilla_kv::{Batch, Family, SpaceId, Store};
use proptest::prelude::*;

use super::*;
use crate::{EmbeddedStore, Options};

const COMMITS: u32 = 30;

/// A folder as a crash leaves it: a journal with commits, nothing flushed.
struct Crashed {
    _folder: tempfile::TempDir,
    path: PathBuf,
    journal: PathBuf,
    /// Content of the journal without the zeros at its end.
    content: Vec<u8>,
    /// Where each batch ends.
    ends: Vec<u64>,
}

fn crashed(durability: Durability) -> Crashed {
    let folder = tempfile::tempdir().unwrap();
    let live = folder.path().join("live");
    let store: Arc<dyn Store> =
        Arc::new(EmbeddedStore::open(&live, Options { durability, ..Options::default() }).unwrap());
    let space = store.open_space(SpaceId(1)).unwrap();
    for number in 0..COMMITS {
        let mut batch = Batch::new();
        for family in Family::ALL {
            batch.put(
                family,
                number.to_be_bytes().to_vec(),
                vec![number as u8; 100 + 300 * (number as usize % 20)],
            );
        }
        block_on(space.commit(batch)).unwrap();
    }
    // A copy taken while the store is open is what a kill would leave.
    let path = folder.path().join("copy");
    copy_folder(&live, &path);
    let (_, journal) = list(&path.join("fjall")).unwrap().pop().unwrap();
    let mut reader = JournalReader::open(&journal).unwrap();
    let (mut ends, mut before) = (Vec::new(), None);
    while let Some(batch) = reader.next_batch(before).unwrap() {
        before = Some(batch);
        ends.push(reader.end_of_batches());
    }
    // One more than the commits: the first group of a new store.
    assert_eq!(ends.len(), COMMITS as usize + 1, "the journal format is not the one that is understood here");
    let mut content = std::fs::read(&journal).unwrap();
    content.truncate(*ends.last().unwrap() as usize);
    Crashed { _folder: folder, path, journal, content, ends }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Looks at the journals and cuts off what a crash left. Returns the last group.
fn repair(engine_path: &Path, written_with: Durability) -> Result<Option<u64>> {
    let found = inspect(engine_path, written_with)?;
    if let Some(damage) = found.iter().find_map(|journal| journal.damage.clone()) {
        return Err(Error::new(ErrorKind::Corrupt, damage));
    }
    cut_torn_end(&found)?;
    Ok(found.iter().filter_map(|journal| journal.batches).next_back().map(|(_, last)| last.group))
}

impl Crashed {
    fn restore(&self, content: &[u8]) {
        std::fs::write(&self.journal, content).unwrap();
    }

    fn repaired_length(&self, content: &[u8], written_with: Durability) -> Result<u64> {
        self.restore(content);
        repair(&self.path.join("fjall"), written_with)?;
        Ok(std::fs::metadata(&self.journal).unwrap().len())
    }

    /// Opens the store and returns how many commits are there, having checked that each is whole.
    fn open_and_count(&self, content: &[u8], durability: Durability) -> Result<u32> {
        self.open_acknowledged(content, durability, u64::from(COMMITS))
    }

    /// The same where so many commits had been acknowledged.
    fn open_acknowledged(&self, content: &[u8], durability: Durability, acknowledged: u64) -> Result<u32> {
        let copy = tempfile::tempdir().unwrap();
        self.restore(content);
        copy_folder(&self.path, copy.path());
        std::fs::remove_file(copy.path().join(crate::mark::FILE)).unwrap();
        crate::mark::Mark::open(copy.path(), acknowledged).unwrap();
        let store = EmbeddedStore::open(copy.path(), Options { durability, ..Options::default() })?;
        let space = store.open_space(SpaceId(1))?;
        let mut count = 0;
        for number in 0..COMMITS {
            let there = Family::ALL
                .iter()
                .filter(|family| space.get(**family, &number.to_be_bytes()).unwrap().is_some())
                .count();
            assert!(there == 0 || there == Family::ALL.len(), "half of commit {number}");
            assert!(there == 0 || count == number, "commit {number} without the one before");
            count += u32::from(there > 0);
        }
        Ok(count)
    }
}

#[test]
fn a_healthy_journal_is_left_alone() {
    let crashed = crashed(Durability::Strict);
    let mut with_zeros = crashed.content.clone();
    for zeros in [0, 1, 5_000, 3_000_000] {
        with_zeros.resize(crashed.content.len() + zeros, 0);
        assert_eq!(
            crashed.repaired_length(&with_zeros, Durability::Strict).unwrap(),
            with_zeros.len() as u64
        );
        assert_eq!(crashed.open_and_count(&with_zeros, Durability::Strict).unwrap(), COMMITS);
    }
}

#[test]
fn a_truncated_journal_yields_the_whole_commits_before() {
    let crashed = crashed(Durability::Strict);
    let length = crashed.content.len();
    for cut in (0..40).map(|step| length - 1 - step * (length - 1) / 40).chain([0, 1, length]) {
        let whole = crashed.ends.iter().filter(|end| **end <= cut as u64).count() as u64;
        let end = whole.checked_sub(1).map_or(0, |last| crashed.ends[last as usize]);
        assert_eq!(crashed.repaired_length(&crashed.content[..cut], Durability::Strict).unwrap(), end);
        // What was never acknowledged may be missing.
        let commits = whole.saturating_sub(1);
        let cut_content = &crashed.content[..cut];
        let counted = crashed.open_acknowledged(cut_content, Durability::Strict, commits).unwrap();
        assert_eq!(u64::from(counted), commits, "cut at {cut}");
        // What was acknowledged may not, be it the last commit alone.
        if commits < u64::from(COMMITS) {
            let refused =
                crashed.open_acknowledged(cut_content, Durability::Strict, commits + 1).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Corrupt);
            assert!(refused.to_string().contains("0.jnl"), "{refused}");
        }
    }
}

#[test]
fn damage_in_the_last_batch_is_a_torn_write_or_a_lost_one() {
    let crashed = crashed(Durability::Strict);
    let before = crashed.ends[crashed.ends.len() - 2];
    for step in 0..50 {
        let at = before as usize + step * (crashed.content.len() - before as usize) / 50;
        let mut content = crashed.content.clone();
        content[at] ^= 0x40;
        let length = crashed.repaired_length(&content, Durability::Strict).unwrap();
        assert!(length == before || is_harmless(&crashed, at), "byte {at} left {length}");
        let unacknowledged = u64::from(COMMITS) - 1;
        let counted = crashed.open_acknowledged(&content, Durability::Strict, unacknowledged).unwrap();
        assert!(counted == COMMITS - 1 || is_harmless(&crashed, at), "byte {at} left {counted}");
        match crashed.open_and_count(&content, Durability::Strict) {
            Ok(counted) => assert!(counted == COMMITS && is_harmless(&crashed, at), "byte {at}"),
            Err(refused) => assert_eq!(refused.kind(), ErrorKind::Corrupt, "byte {at}: {refused}"),
        }
    }
}

#[test]
fn damage_before_the_last_batch_is_reported() {
    let crashed = crashed(Durability::Strict);
    let (first, last) = (crashed.ends[0] as usize, crashed.ends[crashed.ends.len() - 2] as usize);
    for step in 0..60 {
        let at = first + step * (last - first) / 60;
        let mut content = crashed.content.clone();
        content[at] ^= 0x10;
        match crashed.repaired_length(&content, Durability::Strict) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt),
            Ok(length) => assert!(
                length == content.len() as u64 && is_harmless(&crashed, at),
                "byte {at} left {length}"
            ),
        }
        // With relaxed durability the hole takes the commits behind it back.
        let length = crashed.repaired_length(&content, Durability::Relaxed).unwrap();
        assert!(crashed.ends.contains(&length));
    }
    // A page of zeros in the middle, as a failing disk may return.
    let mut content = crashed.content.clone();
    content[first + 10..first + 4_106].fill(0);
    assert_eq!(crashed.repaired_length(&content, Durability::Strict).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_missing_batch_between_whole_ones_is_reported() {
    let crashed = crashed(Durability::Strict);
    let mut content = crashed.content.clone();
    content.drain(crashed.ends[4] as usize..crashed.ends[5] as usize);
    assert_eq!(crashed.repaired_length(&content, Durability::Strict).unwrap_err().kind(), ErrorKind::Corrupt);
    // Also where one journal ends and the next begins.
    let next = crashed.journal.with_file_name("77.jnl");
    std::fs::write(&next, &crashed.content[crashed.ends[5] as usize..]).unwrap();
    let first = &crashed.content[..crashed.ends[4] as usize];
    assert_eq!(crashed.repaired_length(first, Durability::Strict).unwrap_err().kind(), ErrorKind::Corrupt);
    // A whole journal before another is fine, a torn one is not.
    let whole = &crashed.content[..crashed.ends[5] as usize];
    assert!(crashed.repaired_length(whole, Durability::Strict).is_ok());
    let torn = &crashed.content[..crashed.ends[5] as usize + 3];
    assert_eq!(crashed.repaired_length(torn, Durability::Relaxed).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn random_damage_never_panics_and_never_leaves_half_a_commit() {
    let crashed = crashed(Durability::Strict);
    let config = ProptestConfig::with_cases(40);
    proptest!(config, |(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 1_u8..=255), 1..5),
        cut in proptest::option::of(any::<prop::sample::Index>()),
        garbage in proptest::collection::vec(any::<u8>(), 0..200),
    )| {
        let mut content = crashed.content.clone();
        for (index, flip) in flips {
            let at = index.index(content.len());
            content[at] ^= flip;
        }
        if let Some(cut) = cut {
            content.truncate(cut.index(content.len()));
        }
        content.extend(garbage);
        match crashed.open_and_count(&content, Durability::Strict) {
            Ok(count) => prop_assert_eq!(count, COMMITS),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::Corrupt),
        }
    });
}

/// Returns whether a byte belongs to a sequence number, where a small change keeps the order.
fn is_harmless(crashed: &Crashed, at: usize) -> bool {
    let starts = std::iter::once(0).chain(crashed.ends.iter().copied());
    starts.into_iter().any(|start| (start as usize + 5..start as usize + 13).contains(&at))
}

/// Closing failed once in a while, because the engine had removed an old journal after they were listed.
#[test]
fn a_journal_that_is_gone_meanwhile_is_empty_enough() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0.jnl");
    assert!(empty_one(&path).is_ok());
    std::fs::write(&path, b"content").unwrap();
    empty_one(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}
