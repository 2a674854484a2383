//! Folders from which something is missing: refused, told, left alone, and saved as far as they can be.
//!
//! Before, the engine made a new database where its `version` was missing, deleted the files of a family whose `current` was,
//! began an empty journal where there was none, and took a journal that was cut for one that a crash had torn.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use armilla_kv::{Batch, ErrorKind, Family, SpaceId, Store, block_on};
use armilla_kv_embedded::{EmbeddedStore, Options};

use crate::crash::copy_folder;

const COMMITS: u32 = 50;

fn options() -> Options {
    // Small buffers, so that there are sorted files as well as a journal.
    Options { write_buffer_bytes: 0, ..Options::default() }
}

fn write(store: &EmbeddedStore, numbers: std::ops::Range<u32>) {
    let space = store.open_space(SpaceId(1)).unwrap();
    for number in numbers {
        let mut batch = Batch::new();
        for family in Family::ALL {
            batch.put(family, number.to_be_bytes().to_vec(), vec![number as u8; 3_000]);
        }
        block_on(space.commit(batch)).unwrap();
    }
}

/// Returns how many commits are there, each of which must be whole.
fn count(store: &EmbeddedStore, numbers: std::ops::Range<u32>) -> usize {
    let space = store.open_space(SpaceId(1)).unwrap();
    let is_there = |number: &u32| {
        let found = Family::ALL.iter().filter(|family| {
            space.get(**family, &number.to_be_bytes()).unwrap().is_some_and(|value| value.len() == 3_000)
        });
        match found.count() {
            0 => false,
            5 => true,
            some => panic!("{some} families of commit {number}"),
        }
    };
    numbers.filter(is_there).count()
}

/// A folder as a kill leaves it, and one as a clean end does.
fn folders(root: &Path) -> [PathBuf; 2] {
    let (live, killed) = (root.join("live"), root.join("killed"));
    let store = EmbeddedStore::open(&live, options()).unwrap();
    write(&store, 0..COMMITS);
    copy_still(&live, &killed);
    store.close().unwrap();
    drop(store);
    shorten(&killed);
    [killed, live]
}

/// Copies the folder of an open store. Flushing and merging go on in the background; a copy of what did not change meanwhile
/// is what a kill would leave.
fn copy_still(live: &Path, killed: &Path) {
    let lists = || -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let content = |path: &PathBuf| path.ends_with("current").then(|| fs::read(path).ok()).flatten();
        files(live).into_iter().map(|path| (path.clone(), content(&path))).collect()
    };
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let before = lists();
        // A file may go while it is copied.
        if try_copy(live, killed).is_ok() && lists() == before {
            return;
        }
        fs::remove_dir_all(killed).unwrap();
    }
}

fn try_copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            try_copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Cuts off the zeros behind what journals hold, which say nothing and take long to copy.
fn shorten(folder: &Path) {
    for path in files(&folder.join("fjall")).iter().filter(|path| path.extension().is_some()) {
        let content = fs::read(path).unwrap();
        let end = content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        fs::write(path, &content[..end]).unwrap();
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    files(folder).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_missing_cut_or_zeroed_file_is_refused_or_harmless() {
    let root = tempfile::tempdir().unwrap();
    for folder in folders(root.path()) {
        assert_eq!(EmbeddedStore::inspect(&folder, &mut |_, _| {}).unwrap(), []);
        let whole = contents(&folder);
        for (turn, (path, content)) in whole.iter().enumerate() {
            let name = path.strip_prefix(&folder).unwrap().display().to_string();
            let end = content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let mut variants = vec![None];
            // All of them for every file take minutes: that is what the program in testing/damage is for.
            if end > 0 {
                variants.push(Some(match turn % 3 {
                    0 => content[..end - 1].to_vec(),
                    1 => content[..end / 2].to_vec(),
                    _ => vec![0; content.len()],
                }));
            }
            for variant in variants {
                match &variant {
                    None => fs::remove_file(path).unwrap(),
                    Some(bytes) => fs::write(path, bytes).unwrap(),
                }
                let before = contents(&folder);
                let findings = EmbeddedStore::inspect(&folder, &mut |_, _| {}).unwrap();
                assert!(contents(&folder) == before, "{name}: inspecting changed something");
                // What holds nothing may be missing, and lists and files that nothing refers to.
                let case = root.path().join("case");
                copy_folder(&folder, &case);
                match EmbeddedStore::open(&case, options()) {
                    Ok(store) => assert_eq!(count(&store, 0..COMMITS), COMMITS as usize, "{name}"),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}: {error}");
                        assert!(!findings.is_empty(), "{name}: {error}");
                        assert!(error.to_string().contains("armilla repair"), "{error}");
                        assert!(contents(&folder) == before, "{name}: a refusal changed something");
                    }
                }
                fs::remove_dir_all(&case).unwrap();
                fs::write(path, content).unwrap();
            }
        }
        let names =
            ["store.format", "store.manifest", "fjall/version", "fjall/0.jnl", "fjall/keyspaces/2/current"];
        for name in names {
            let content = fs::read(folder.join(name)).unwrap();
            fs::remove_file(folder.join(name)).unwrap();
            let error = EmbeddedStore::open(&folder, options()).err().unwrap();
            assert!(error.to_string().contains(name), "{name}: {error}");
            fs::write(folder.join(name), content).unwrap();
        }
    }
}

#[test]
fn a_copy_is_read_and_written_without_a_change_to_the_folder() {
    let root = tempfile::tempdir().unwrap();
    for folder in folders(root.path()) {
        let before = contents(&folder);
        let store = EmbeddedStore::open_copy(&folder, root.path(), options()).unwrap();
        assert_eq!(count(&store, 0..COMMITS), COMMITS as usize);
        write(&store, COMMITS..COMMITS + 50);
        assert_eq!(count(&store, 0..COMMITS + 50), COMMITS as usize + 50);
        store.close().unwrap();
        drop(store);
        assert!(contents(&folder) == before);
    }
    let copies = fs::read_dir(root.path()).unwrap().flatten();
    let left = copies.filter(|entry| entry.file_name().to_string_lossy().starts_with("armilla-copy"));
    assert_eq!(left.count(), 0, "a copy was left behind");
}

/// A folder of a program that wrote neither a manifest nor a mark.
fn make_older(folder: &Path) {
    fs::remove_file(folder.join("store.manifest")).unwrap();
    fs::remove_file(folder.join("store.acknowledged")).unwrap();
    fs::write(folder.join("store.format"), "armilla-store 1 strict\n").unwrap();
}

#[test]
fn folders_without_a_manifest_are_compared_once_and_get_one() {
    let root = tempfile::tempdir().unwrap();
    for folder in folders(root.path()) {
        make_older(&folder);
        // Something missing is found by the engine's own lists, and every byte is read once.
        let mut refused = 0;
        for path in files(&folder.join("fjall")) {
            let content = fs::read(&path).unwrap();
            if path.ends_with("lock") || content.is_empty() {
                continue;
            }
            let mut damaged = content.clone();
            damaged[content.len() / 3] ^= 1;
            fs::write(&path, damaged).unwrap();
            let case = root.path().join("case");
            copy_folder(&folder, &case);
            match EmbeddedStore::open(&case, options()) {
                Ok(store) => assert_eq!(count(&store, 0..COMMITS), COMMITS as usize, "{}", path.display()),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                    refused += 1;
                }
            }
            fs::remove_dir_all(&case).unwrap();
            fs::write(&path, content).unwrap();
        }
        assert!(refused > 6, "{refused}");
        let store = EmbeddedStore::open(&folder, options()).unwrap();
        assert_eq!(count(&store, 0..COMMITS), COMMITS as usize);
        drop(store);
        assert_eq!(fs::read_to_string(folder.join("store.format")).unwrap(), "armilla-store 3 strict\n");
        fs::remove_file(folder.join("store.manifest")).unwrap();
        let error = EmbeddedStore::open(&folder, options()).err().unwrap();
        assert!(error.to_string().contains("store.manifest: it is missing"), "{error}");
    }
}

/// A journal that is complete and not yet in sorted files went without a word.
#[test]
fn a_lost_journal_behind_the_newest_is_noticed() {
    let root = tempfile::tempdir().unwrap();
    let (live, killed) = (root.path().join("live"), root.path().join("killed"));
    let store = EmbeddedStore::open(&live, Options::with_write_buffer(256 * 1024 * 1024)).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    for number in 0..200_u32 {
        let mut batch = Batch::new();
        batch.put(Family::Item, number.to_be_bytes().to_vec(), vec![1; 600_000]);
        batch.put(Family::Meta, number.to_be_bytes().to_vec(), vec![2; 100]);
        block_on(space.commit(batch)).unwrap();
    }
    assert!(live.join("fjall/1.jnl").exists(), "one journal holds it all");
    // Until the manifest has caught up.
    let started = Instant::now();
    while !fs::read_to_string(live.join("store.manifest")).unwrap().contains("journal 0 0 ") {
        assert!(started.elapsed() < Duration::from_secs(20), "the manifest does not keep up");
        std::thread::sleep(Duration::from_millis(50));
    }
    copy_still(&live, &killed);
    fs::remove_file(killed.join("fjall/0.jnl")).unwrap();
    let error = EmbeddedStore::open(&killed, options()).err().unwrap();
    assert!(error.to_string().contains("fjall/0.jnl: it is missing"), "{error}");
}

#[test]
fn what_can_be_read_is_saved() {
    let root = tempfile::tempdir().unwrap();
    for folder in folders(root.path()) {
        assert!(EmbeddedStore::salvage(&folder, root.path().join("none"), &mut |_, _| {}).unwrap().is_none());
        assert!(!root.path().join("none").exists());
        let whole = contents(&folder);
        // Every third takes seconds, all take minutes.
        for (path, content) in whole.iter().step_by(3) {
            let name = path.strip_prefix(&folder).unwrap().display().to_string();
            let is_table = name.contains("/tables/");
            let mut damaged = content.clone();
            match is_table {
                true => damaged[content.len() / 3] ^= 1,
                // Lists and the like as a whole; a journal near its end.
                false if name.ends_with(".jnl") => {
                    let Some(last) = content.iter().rposition(|byte| *byte != 0) else { continue };
                    damaged[last - 100] ^= 1;
                }
                false => damaged.clear(),
            }
            fs::write(path, &damaged).unwrap();
            let before = contents(&folder);
            let saved = root.path().join("saved");
            if let Some(salvaged) = EmbeddedStore::salvage(&folder, &saved, &mut |_, _| {}).unwrap() {
                assert!(contents(&folder) == before, "{name}: saving changed the folder");
                assert!(!salvaged.findings.is_empty());
                let store = EmbeddedStore::open(&saved, options()).unwrap();
                let space = store.open_space(SpaceId(1)).unwrap();
                let there = (0..COMMITS)
                    .filter(|number| space.get(Family::Item, &number.to_be_bytes()).unwrap().is_some());
                let there = there.count() as u32;
                assert!(there + 20 >= COMMITS, "{name}: {there} of {COMMITS}, {:?}", salvaged.losses);
                assert!(there == COMMITS || !salvaged.losses.is_empty(), "{name}: lost without a word");
                if !is_table && !name.ends_with(".jnl") {
                    assert_eq!(there, COMMITS, "{name}");
                }
                drop((space, store));
                fs::remove_dir_all(&saved).unwrap();
            }
            fs::write(path, content).unwrap();
        }
    }
}
