//! Opening folders that are new, taken, foreign, damaged, or left behind.

use std::path::Path;
use std::time::{Duration, Instant};

use armilla_kv::block_on;
use armilla_kv::{Batch, Durability, ErrorKind, Family, SpaceId, Store};
use armilla_kv_embedded::{EmbeddedStore, Options};

fn open(path: &Path) -> armilla_kv::Result<EmbeddedStore> {
    EmbeddedStore::open(path, Options::default())
}

fn put(store: &EmbeddedStore, key: &str, value: Vec<u8>) {
    let space = store.open_space(SpaceId(1)).unwrap();
    let mut batch = Batch::new();
    batch.put(Family::Item, key.to_owned(), value);
    block_on(space.commit(batch)).unwrap();
}

fn has(store: &EmbeddedStore, key: &str) -> bool {
    store.open_space(SpaceId(1)).unwrap().get(Family::Item, key.as_bytes()).unwrap().is_some()
}

#[test]
fn a_folder_is_open_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let error = open(folder.path()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
    put(&store, "key", vec![1]);
    drop(store);
    assert!(has(&open(folder.path()).unwrap(), "key"));
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    put(&open(folder.path()).unwrap(), "key", vec![1]);
    let format = folder.path().join("store.format");
    let written = std::fs::read_to_string(&format).unwrap();
    assert_eq!(written, "armilla-store 3 strict\n");
    std::fs::write(&format, "armilla-store 4 strict with something new\n").unwrap();
    assert_eq!(open(folder.path()).err().unwrap().kind(), ErrorKind::NewerFormat);
    std::fs::write(&format, written).unwrap();
    assert!(has(&open(folder.path()).unwrap(), "key"));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = open(&path).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}

#[test]
fn data_without_a_format_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    put(&open(folder.path()).unwrap(), "key", vec![1]);
    std::fs::remove_file(folder.path().join("store.format")).unwrap();
    assert_eq!(open(folder.path()).err().unwrap().kind(), ErrorKind::Corrupt);
}

#[test]
fn an_interrupted_first_start_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    // The engine's files as they are before it writes its version, which comes last.
    let engine = folder.path().join("fjall");
    std::fs::create_dir_all(engine.join("keyspaces")).unwrap();
    std::fs::write(engine.join("0.jnl"), vec![0; 1_000]).unwrap();
    std::fs::write(engine.join("lock"), "").unwrap();
    let store = open(folder.path()).unwrap();
    put(&store, "key", vec![1]);
    assert!(has(&store, "key"));
}

#[test]
fn damaged_tables_are_reported_and_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    for number in 0..200 {
        put(&store, &format!("key {number}"), vec![number; 1_000]);
    }
    drop(store);
    let tables: Vec<_> = std::fs::read_dir(folder.path().join("fjall/keyspaces"))
        .unwrap()
        .flat_map(|keyspace| std::fs::read_dir(keyspace.unwrap().path().join("tables")).into_iter().flatten())
        .map(|table| table.unwrap().path())
        .collect();
    assert!(!tables.is_empty());
    for table in tables {
        let content = std::fs::read(&table).unwrap();
        let mut damaged = content.clone();
        let middle = damaged.len() / 3;
        damaged[middle..middle + 20.min(content.len() - middle)].fill(0xA5);
        for variant in [damaged, content[..content.len() / 2].to_vec()] {
            std::fs::write(&table, variant).unwrap();
            match open(folder.path()) {
                Err(error) => assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Io), "{error}"),
                Ok(store) => {
                    let space = store.open_space(SpaceId(1)).unwrap();
                    for number in 0..200 {
                        if let Err(error) = space.get(Family::Item, format!("key {number}").as_bytes()) {
                            assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Io), "{error}");
                        }
                    }
                }
            }
        }
        std::fs::write(&table, content).unwrap();
    }
    assert!(has(&open(folder.path()).unwrap(), "key 199"));
}

#[test]
fn options_may_change_between_runs() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [
        Options::default(),
        Options { durability: Durability::Relaxed, ..Options::default() },
        Options { write_buffer_bytes: 0, block_cache_bytes: 0, cached_files_max: 0, ..Options::default() },
        Options { journal_bytes_max: 1 << 30, ..Options::default() },
    ];
    for (run, options) in runs.into_iter().enumerate() {
        let store = EmbeddedStore::open(folder.path(), options).unwrap();
        for number in 0..200 {
            put(&store, &format!("{run} {number}"), vec![0; 3_000]);
        }
        for earlier in 0..=run {
            assert!(has(&store, &format!("{earlier} 199")), "run {run} misses what run {earlier} wrote");
        }
    }
}

#[test]
fn a_clean_close_leaves_an_empty_journal_and_the_next_start_is_quick() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    for number in 0..300 {
        put(&store, &format!("key {number}"), vec![number as u8; 50_000]);
    }
    store.close().unwrap();
    drop(store);
    let journal_bytes: u64 = std::fs::read_dir(folder.path().join("fjall"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jnl"))
        .map(|entry| entry.metadata().unwrap().len())
        .sum();
    assert_eq!(journal_bytes, 0);
    let started = Instant::now();
    let store = open(folder.path()).unwrap();
    let took = started.elapsed();
    println!("opened 15 MB after a clean close in {took:?}");
    assert!(took < Duration::from_secs(2));
    for number in 0..300 {
        assert!(has(&store, &format!("key {number}")));
    }
    // And it goes on from there, also after a start without a clean close.
    put(&store, "later", vec![1]);
    drop(store);
    assert!(has(&open(folder.path()).unwrap(), "later"));
}

/// The store's own records reach sorted files long before the items of the same groups do. When the journal
/// then lost its end, the store opened, knew of the newest group, and missed the items of it.
#[test]
fn a_journal_that_ends_before_the_sorted_files_is_reported() {
    const COMMITS: usize = 1_000;
    let folder = tempfile::tempdir().unwrap();
    let live = folder.path().join("live");
    let options = Options { write_buffer_bytes: 0, ..Options::default() };
    let store = EmbeddedStore::open(&live, options.clone()).unwrap();
    for number in 0..COMMITS {
        put(&store, &format!("key {number}"), vec![1]);
    }
    // The records of a thousand groups fill their small buffer several times, a thousand short items do not
    // fill theirs. The flushing itself goes on in the background.
    std::thread::sleep(Duration::from_millis(300));
    let copy = folder.path().join("copy");
    crate::crash::copy_folder(&live, &copy);
    let journals: Vec<_> = std::fs::read_dir(copy.join("fjall"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jnl"))
        .collect();
    let [journal] = &journals[..] else { panic!("one journal, found {journals:?}") };
    let mut content = std::fs::read(journal).unwrap();
    content.truncate(content.iter().rposition(|byte| *byte != 0).unwrap() + 1);
    content.truncate(content.len() / 10);
    std::fs::write(journal, content).unwrap();
    match EmbeddedStore::open(&copy, options) {
        Ok(store) => {
            let found = (0..COMMITS).filter(|number| has(&store, &format!("key {number}"))).count();
            panic!("opened with {found} of {COMMITS} items");
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
    }
}
