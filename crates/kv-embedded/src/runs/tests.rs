use std::path::Path;

use armilla_kv::{Batch, Durability, Scan, SpaceId, Store as _, block_on};
use fjall::{Database, OwnedWriteBatch, PersistMode};

use super::*;
use crate::engine::Background;
use crate::options::{KEYSPACE_NAMES, Options, RECORDS, layout};
use crate::records;
use crate::store::EmbeddedStore;

fn op(key: &str, value: Option<&str>) -> EngineOp {
    EngineOp {
        keyspace: INDEX,
        key: key.as_bytes().into(),
        value: value.map(|value| value.as_bytes().into()),
    }
}

fn chunk(entries: &[(&str, Option<&str>)]) -> Chunk {
    written(entries.iter().map(|(key, value)| op(key, *value)).collect()).1
}

fn engine(path: &Path) -> Engine {
    Engine::open(path, &Options::default(), Background::Resting).unwrap().0
}

/// Commits a group as the writer does.
fn commit(engine: &Engine, runs: &mut Runs, group: u64, ops: Vec<EngineOp>) {
    let (of_index, others): (Vec<_>, Vec<_>) = ops.into_iter().partition(|op| op.keyspace == INDEX);
    let (record, chunk) = written(of_index);
    let mut batch =
        OwnedWriteBatch::with_capacity(engine.db.clone(), 0).durability(Some(PersistMode::SyncAll));
    let own = (chunk.len() > 0).then(|| runs.record(group, record));
    for op in others.into_iter().chain(own).chain([records::group(group)]) {
        match op.value {
            Some(value) => batch.insert(&engine.keyspaces[op.keyspace], op.key, value),
            None => batch.remove(&engine.keyspaces[op.keyspace], op.key),
        }
    }
    batch.commit().unwrap();
    if chunk.len() > 0 {
        runs.push(group, chunk);
    }
}

fn seal(engine: &Engine, runs: &mut Runs) -> Arc<SealedRun> {
    runs.seal(records::group_sequence(&engine.keyspaces[RECORDS]).unwrap().unwrap())
}

/// Returns the keys of the tree alone.
fn in_tree(engine: &Engine) -> Vec<String> {
    let keys = engine.keyspaces[INDEX].iter().map(|entry| entry.key().unwrap().to_vec());
    keys.map(|key| String::from_utf8(key).unwrap()).collect()
}

#[test]
fn of_two_writes_of_one_key_the_later_one_counts() {
    let chunk = chunk(&[("b", Some("1")), ("a", Some("")), ("b", None), ("a", Some("2"))]);
    assert_eq!(chunk.len(), 2);
    assert_eq!((chunk.get(b"a"), chunk.get(b"b")), (Some(Some(Bytes::from("2"))), Some(None)));
}

#[test]
fn readers_see_the_newest_run_first() {
    let mut runs = Runs::default();
    runs.push(1, chunk(&[("a", Some("1")), ("b", Some("1")), ("c", Some("1"))]));
    let sealed = runs.seal(1);
    runs.push(2, chunk(&[("a", None), ("b", Some("2"))]));
    let seen = |runs: &Runs| ["a", "b", "c", "d"].map(|key| runs.set().get(key.as_bytes()));
    let (one, two) = (Some(Some(Bytes::from("1"))), Some(Some(Bytes::from("2"))));
    assert_eq!(seen(&runs), [Some(None), two.clone(), one, None]);
    assert!(runs.is_landing() && runs.removals().is_empty());
    sealed.has_landed.store(true, Ordering::Release);
    assert_eq!(seen(&runs), [Some(None), two, None, None]);
    assert_eq!(runs.removals().len(), 1);
    assert_eq!(runs.forget_landed(), [RUN_KEYSPACES[0]]);
    assert!(!runs.has_sealed());
    assert_eq!(runs.forget_landed(), []);
}

#[test]
fn chunks_stay_few_and_lose_nothing() {
    let mut runs = Runs::default();
    let mut most = 0;
    for group in 0..5_000_u64 {
        let key = format!("{:016x}", group.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        runs.push(group, chunk(&[(&key, Some(""))]));
        most = most.max(runs.set().newest_first.len());
    }
    assert!(most < 7 * RUN_CHUNKS_MERGED, "{most}");
    assert_eq!(runs.set().chunks().map(Chunk::len).sum::<usize>(), 5_000);
    assert!(runs.is_in_pieces());
    runs.merge_all();
    assert_eq!(runs.set().chunks().map(Chunk::len).collect::<Vec<_>>(), [5_000]);
    assert_eq!(runs.bytes(), runs.active_bytes());
}

#[test]
fn runs_come_back_from_their_records_and_may_land_twice() {
    let folder = tempfile::tempdir().unwrap();
    {
        let engine = engine(folder.path());
        let mut runs = Runs::load(&engine).unwrap();
        assert!(!runs.is_active());
        commit(&engine, &mut runs, 1, vec![op("a", Some("")), op("b", Some(""))]);
        commit(&engine, &mut runs, 2, vec![op("a", None), op("c", Some(""))]);
        let run = seal(&engine, &mut runs);
        run.land(&engine).unwrap();
        assert_eq!(in_tree(&engine), ["b", "c"]);
        // Into the other keyspace, while the records of the first run are still there.
        commit(&engine, &mut runs, 3, vec![op("b", None), op("d", Some(""))]);
    }
    {
        let engine = engine(folder.path());
        let mut runs = Runs::load(&engine).unwrap();
        let seen =
            ["a", "b", "c", "d"].map(|key| runs.set().get(key.as_bytes()).map(|value| value.is_some()));
        assert_eq!(seen, [Some(false), Some(false), Some(true), Some(true)]);
        let run = seal(&engine, &mut runs);
        run.land(&engine).unwrap();
        assert_eq!(in_tree(&engine), ["c", "d"]);
        let removals = runs.removals();
        assert_eq!(removals.len(), 3);
        commit(&engine, &mut runs, 4, removals);
        assert_eq!(runs.forget_landed(), RUN_KEYSPACES);
    }
    let engine = engine(folder.path());
    assert!(!Runs::load(&engine).unwrap().is_active());
    assert_eq!(in_tree(&engine), ["c", "d"]);
}

#[test]
fn a_damaged_record_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    for (key, value) in [(&b"short"[..], &b""[..]), (&[0; 8][..], &b"\x05"[..])] {
        engine.keyspaces[RUN_KEYSPACES[1]].insert(key, value).unwrap();
        assert_eq!(Runs::load(&engine).unwrap_err().kind(), ErrorKind::Corrupt);
        engine.keyspaces[RUN_KEYSPACES[1]].remove(key).unwrap();
    }
}

/// A program before runs put index entries into the engine one by one, and had no keyspaces for records.
#[test]
fn folders_of_older_programs_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let space = 7_u64.to_be_bytes();
    {
        let db = Database::builder(folder.path().join("fjall")).open().unwrap();
        let keyspaces: Vec<_> = KEYSPACE_NAMES[..=RECORDS]
            .iter()
            .enumerate()
            .map(|(index, name)| db.keyspace(name, || layout(index)).unwrap())
            .collect();
        let mut batch = OwnedWriteBatch::with_capacity(db, 0).durability(Some(PersistMode::SyncAll));
        for key in ["a", "b", "c"] {
            batch.insert(&keyspaces[INDEX], [&space[..], key.as_bytes()].concat(), "");
        }
        let group = records::group(1);
        batch.insert(&keyspaces[RECORDS], group.key, group.value.unwrap());
        batch.commit().unwrap();
    }
    std::fs::write(folder.path().join("store.format"), "armilla-store 1 strict\n").unwrap();
    let keys = |store: &EmbeddedStore| -> Vec<Bytes> {
        let snapshot = store.open_space(SpaceId(7)).unwrap().snapshot().unwrap();
        let page = snapshot.scan(&Scan::prefix(Family::Index, b"")).unwrap();
        page.entries.into_iter().map(|(key, _)| key).collect()
    };
    let options = Options { durability: Durability::Strict, ..Options::default() };
    {
        let store = EmbeddedStore::open(folder.path(), options.clone()).unwrap();
        assert_eq!(keys(&store), ["a", "b", "c"]);
        let mut batch = Batch::new();
        batch.delete(Family::Index, "b");
        batch.put(Family::Index, "d", "");
        block_on(store.open_space(SpaceId(7)).unwrap().commit(batch)).unwrap();
        assert_eq!(keys(&store), ["a", "c", "d"]);
        store.close().unwrap();
    }
    let store = EmbeddedStore::open(folder.path(), options).unwrap();
    assert_eq!(keys(&store), ["a", "c", "d"]);
    assert_eq!(store.open_space(SpaceId(7)).unwrap().get(Family::Index, b"b").unwrap(), None);
    assert_eq!(
        EmbeddedStore::open(folder.path(), Options::default()).err().unwrap().kind(),
        ErrorKind::Locked
    );
}
