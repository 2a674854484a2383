//! Backups of stores in memory and on disk: taken, damaged, restored.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use armilla_kv::memory::MemoryStore;
use armilla_kv::{Batch, Family, SpaceId, Store, block_on};
use armilla_kv_embedded::{EmbeddedStore, Options};
use bytes::Bytes;

use crate::{
    ErrorKind, FRAME_BYTES_MAX, Folder, Manifest, Origin, Position, Result, Taken, Taking, Walk, compare,
    prune, restore, verify,
};

const MOMENT_MS: i64 = 1_794_843_802_000;

fn origin() -> Origin {
    Origin { account: "account".to_owned(), moment_ms: MOMENT_MS, program: "0.0.0".to_owned() }
}

/// Bytes that do not repeat, so that compression does not hide what is written.
pub(crate) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    })
    .take(length)
    .collect()
}

pub(crate) fn put(
    store: &dyn Store,
    space: u64,
    entries: impl IntoIterator<Item = (Family, Vec<u8>, Vec<u8>)>,
) {
    let space = store.open_space(SpaceId(space)).unwrap();
    let mut batch = Batch::new();
    for (family, key, value) in entries {
        batch.put(family, key, value);
        if batch.bytes() > 1_000_000 {
            block_on(space.commit(std::mem::take(&mut batch))).unwrap();
        }
    }
    block_on(space.commit(batch)).unwrap();
}

/// A tree, a partition of some megabytes, one with every family, one with an entry longer than a segment.
fn fill(store: &dyn Store) {
    put(store, 0, [(Family::Meta, b"c".to_vec(), b"counters".to_vec())]);
    let items = (0..8_000_u32)
        .map(|number| (Family::Item, number.to_be_bytes().to_vec(), noise(u64::from(number), 1_000)));
    put(store, 1, items);
    let all = Family::ALL.into_iter().flat_map(|family| {
        [(family, Vec::new(), Vec::new()), (family, vec![0xFF; 16_384], b"longest key".to_vec())]
    });
    put(store, 2, all);
    put(store, 5, [(Family::Item, b"long".to_vec(), noise(5, 9_000_000)), (Family::Feed, vec![1], vec![2])]);
}

fn memory() -> Arc<dyn Store> {
    let store = Arc::new(MemoryStore::new());
    fill(&*store);
    store
}

fn frames(store: &dyn Store) -> Vec<Bytes> {
    let walk = Walk::new(store.snapshot_all().unwrap(), &[]).unwrap();
    let mut position = Position::START;
    let mut frames = Vec::new();
    while !position.is_over() {
        let (frame, next) = walk.frame(&position).unwrap();
        assert_eq!(walk.frame(&position).unwrap(), (frame.clone(), next.clone()), "a frame can be had again");
        assert!(frame.len() <= FRAME_BYTES_MAX);
        frames.push(frame);
        position = next;
    }
    frames
}

fn take_frames(folder: &Path, frames: &[Bytes]) -> Result<Taken> {
    let mut taking = Taking::new(Folder::open_to_write(folder)?, origin())?;
    for frame in frames {
        taking.add(frame)?;
    }
    taking.finish()
}

pub(crate) fn take(folder: &Path, store: &dyn Store) -> Taken {
    take_frames(folder, &frames(store)).unwrap()
}

pub(crate) fn problems(path: &Path) -> Vec<String> {
    let folder = match Folder::open(path) {
        Ok(folder) => folder,
        Err(error) => return vec![error.to_string()],
    };
    let verified = verify(&folder, folder.backups(), &mut |_| {}).unwrap();
    verified.problems.into_iter().map(|problem| problem.message).collect()
}

pub(crate) fn manifest(folder: &Folder, name: Option<&str>) -> Result<Manifest> {
    folder.manifest(folder.find(name)?)
}

/// Restores a backup to a store in memory and compares.
fn restored(path: &Path, name: Option<&str>) -> Result<Arc<dyn Store>> {
    let folder = Folder::open(path)?;
    let manifest = manifest(&folder, name)?;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    restore(&folder, &manifest, &*store, &mut |_| {})?;
    compare(&manifest, &*store, &mut |_| {})?;
    Ok(store)
}

/// Returns all files of a folder, those of a lock aside.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if path.ends_with("LOCK") => {}
            false => found.push(path),
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_taken_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/backups");
    let store = memory();
    let taken = take(&path, &*store);
    assert_eq!((taken.name.as_str(), taken.spaces, taken.entries), ("20261116T154322Z", 4, 8_013));
    assert!(taken.written.0 > 8 && taken.shared == (0, 0), "{taken:?}");
    assert_eq!(problems(&path), Vec::<String>::new());
    let copy = restored(&path, None).unwrap();
    assert_eq!(frames(&*copy), frames(&*store));
    // Neither the store nor what is compared with a backup may be another.
    let opened = Folder::open(&path).unwrap();
    let manifest = manifest(&opened, None).unwrap();
    let error = restore(&opened, &manifest, &*copy, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    put(&*copy, 1, [(Family::Item, 7_u32.to_be_bytes().to_vec(), noise(8, 1_000))]);
    let error = compare(&manifest, &*copy, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("and other content"), "{error}");
    put(&*copy, 9, [(Family::Meta, vec![], vec![])]);
    assert!(compare(&manifest, &*copy, &mut |_| {}).unwrap_err().to_string().contains("5 spaces"));
}

#[test]
fn a_store_on_disk_is_taken_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let backups = folder.path().join("backups");
    let store = EmbeddedStore::open(folder.path().join("store"), Options::default()).unwrap();
    fill(&store);
    let taken = take(&backups, &store);
    // The same state gives the same files, whichever store has it.
    let of_memory = folder.path().join("of memory");
    assert_eq!(take(&of_memory, &*memory()), taken);
    let names = |path: &Path| -> Vec<PathBuf> {
        files(path).iter().map(|file| file.strip_prefix(path).unwrap().to_path_buf()).collect()
    };
    assert_eq!(names(&backups), names(&of_memory));
    for (one, other) in files(&backups).iter().zip(files(&of_memory)) {
        assert_eq!(fs::read(one).unwrap(), fs::read(other).unwrap(), "{}", one.display());
    }
    let opened = Folder::open(&backups).unwrap();
    let manifest = manifest(&opened, None).unwrap();
    let restored_path = folder.path().join("restored");
    let copy = EmbeddedStore::open(&restored_path, Options::default()).unwrap();
    restore(&opened, &manifest, &copy, &mut |_| {}).unwrap();
    compare(&manifest, &copy, &mut |_| {}).unwrap();
    drop(copy);
    let copy = EmbeddedStore::open(&restored_path, Options::default()).unwrap();
    compare(&manifest, &copy, &mut |_| {}).unwrap();
    assert_eq!(frames(&copy), frames(&store));
}

#[test]
fn an_unchanged_state_is_shared_and_a_change_costs_little() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory();
    let first = take(folder.path(), &*store);
    let second = take(folder.path(), &*store);
    assert_eq!((second.name.as_str(), second.written), ("20261116T154322Z-2", (0, 0)));
    assert_eq!(second.shared, first.written);
    // An item changes, one comes, one goes.
    let space = store.open_space(SpaceId(1)).unwrap();
    let mut batch = Batch::new();
    batch.put(Family::Item, 100_u32.to_be_bytes().to_vec(), "changed");
    batch.put(Family::Item, [&100_u32.to_be_bytes()[..], b"new"].concat(), noise(1, 1_000));
    batch.delete(Family::Item, 101_u32.to_be_bytes().to_vec());
    block_on(space.commit(batch)).unwrap();
    let third = take(folder.path(), &*store);
    assert!(third.written.0 <= 3 && third.written.1 < first.written.1 / 2, "{third:?}");
    assert!(third.shared.0 > 0, "{third:?}");
    let opened = Folder::open(folder.path()).unwrap();
    let states: Vec<_> =
        opened.backups().iter().map(|backup| opened.manifest(backup).unwrap().state()).collect();
    assert!(states[0] == states[1] && states[1] != states[2]);
    assert_eq!(frames(&*restored(folder.path(), None).unwrap()), frames(&*store));
    assert_eq!(
        frames(&*restored(folder.path(), Some(&first.name)).unwrap()),
        frames(&*memory()),
        "the first is as it was"
    );
    assert!(problems(folder.path()).is_empty());
}

#[test]
fn whatever_is_done_to_a_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory();
    take(folder.path(), &*store);
    let all = files(folder.path());
    assert!(all.len() > 10);
    let mut refused = 0;
    for path in &all {
        let whole = fs::read(path).unwrap();
        let other = all.iter().find(|other| *other != path && !other.ends_with("INDEX")).unwrap();
        let mut damages: Vec<(&str, Option<Vec<u8>>)> = vec![
            ("deleted", None),
            ("emptied", Some(Vec::new())),
            ("cut by one byte", Some(whole[..whole.len() - 1].to_vec())),
            ("cut in the middle", Some(whole[..whole.len() / 2].to_vec())),
            ("made longer", Some([&whole[..], b"x"].concat())),
            ("zeroed", Some(vec![0; whole.len()])),
            ("another's", Some(fs::read(other).unwrap())),
        ];
        for position in [0, 3, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[position] ^= 1 << (position % 8);
            damages.push(("one bit flipped", Some(bytes)));
        }
        for (what, bytes) in damages {
            match &bytes {
                None => fs::remove_file(path).unwrap(),
                Some(bytes) => fs::write(path, bytes).unwrap(),
            }
            let found = problems(path.ancestors().find(|path| path.join("LOCK").exists()).unwrap());
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(found.iter().any(|problem| problem.contains(name)), "{name} {what}: {found:?}");
            let error = restored(folder.path(), None).err();
            let error = error.unwrap_or_else(|| panic!("{name} {what}: restored"));
            assert!(error.to_string().contains(name), "{name} {what}: {error}");
            refused += 1;
            fs::write(path, &whole).unwrap();
        }
    }
    assert!(refused > 100);
    assert!(problems(folder.path()).is_empty());
}

#[test]
fn a_damaged_segment_is_written_again_by_the_next_backup() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory();
    take(folder.path(), &*store);
    let path = files(&folder.path().join("segments")).remove(0);
    let mut bytes = fs::read(&path).unwrap();
    bytes[10] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(problems(folder.path()).len(), 1);
    assert_eq!(take(folder.path(), &*store).written.0, 1);
    assert!(problems(folder.path()).is_empty());
}

#[test]
fn a_backup_that_was_cut_off_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory();
    let frames = frames(&*store);
    for length in 0..frames.len() {
        let mut taking = Taking::new(Folder::open_to_write(folder.path()).unwrap(), origin()).unwrap();
        for frame in &frames[..length] {
            assert!(!taking.add(frame).unwrap());
        }
        // Half of the time it is dropped, half of the time it is told to be whole.
        match length.is_multiple_of(2) {
            true => assert_eq!(taking.finish().unwrap_err().kind(), ErrorKind::Malformed),
            false => drop(taking),
        }
        let opened = Folder::open(folder.path()).unwrap();
        assert!(opened.backups().is_empty());
        assert!(opened.find(None).unwrap_err().to_string().contains("no backup that was finished"));
    }
    // A process that dies between its last two steps leaves a manifest that nothing names, and files half written.
    fs::write(folder.path().join("manifests/20260101T000000Z.manifest"), "x").unwrap();
    fs::write(folder.path().join("manifests/20260101T000000Z.manifest.new"), "x").unwrap();
    let half = files(&folder.path().join("segments")).remove(0).with_extension("new");
    fs::write(&half, "x").unwrap();
    let taken = take(folder.path(), &*store);
    assert_eq!(taken.written.0, 0, "what was there is used");
    assert_eq!(files(&folder.path().join("manifests")).len(), 1);
    assert!(!half.exists());
    assert!(problems(folder.path()).is_empty());
}

#[test]
fn frames_that_are_lost_doubled_or_out_of_order_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let frames = frames(&*memory());
    let refused = |changed: &[Bytes], what: &str| {
        let error = take_frames(folder.path(), changed).err();
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Malformed), "{what}");
    };
    for at in 0..frames.len() {
        let mut changed = frames.clone();
        let frame = changed.remove(at);
        refused(&changed, &format!("without {at}"));
        changed.insert(at, frame.clone());
        changed.insert(at, frame.clone());
        refused(&changed, &format!("{at} twice"));
        changed.remove(at);
        if at > 0 {
            changed.swap(at, at - 1);
            refused(&changed, &format!("{at} before its turn"));
        }
        let mut changed = frames.clone();
        changed[at] = frame.slice(..frame.len() - 1);
        refused(&changed, &format!("{at} cut"));
    }
    refused(&[Bytes::from_static(b"<html>")], "something else");
    assert!(Folder::open(folder.path()).unwrap().backups().is_empty());
}

#[test]
fn folders_that_are_not_ours_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |error: Option<crate::Error>, expected: &str| {
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    refused(Folder::open(&folder.path().join("nowhere")).err(), "there is no folder");
    refused(Folder::open(folder.path()).err(), "has no INDEX");
    let photos = folder.path().join("photos");
    fs::create_dir(&photos).unwrap();
    fs::write(photos.join("holiday.jpg"), "x").unwrap();
    refused(Folder::open_to_write(&photos).err(), "is not empty and holds no backups");
    assert_eq!(fs::read_dir(&photos).unwrap().count(), 1);
    let ours = folder.path().join("ours");
    take(&ours, &*memory());
    let other = Origin { account: "another".to_owned(), ..origin() };
    refused(Taking::new(Folder::open_to_write(&ours).unwrap(), other).err(), "of another account");
    let held = Folder::open_to_write(&ours).unwrap();
    refused(Folder::open_to_write(&ours).err(), "in use by another armilla");
    refused(Folder::open(&ours).err(), "in use by another armilla");
    drop(held);
    let (_one, _other) = (Folder::open(&ours).unwrap(), Folder::open(&ours).unwrap());
    refused(Folder::open_to_write(&ours).err(), "in use by another armilla");
    for (format, what_to_do) in [("2", "use a newer armilla"), ("0", "use the armilla that wrote it")] {
        let text = fs::read_to_string(ours.join("INDEX")).unwrap();
        let changed = folder.path().join(format!("of format {format}"));
        fs::create_dir(&changed).unwrap();
        fs::write(changed.join("INDEX"), text.replace("format 1", &format!("format {format}"))).unwrap();
        refused(Folder::open(&changed).err(), what_to_do);
        refused(Folder::open_to_write(&changed).err(), what_to_do);
    }
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backups");
    take(&path, &*memory());
    for file in files(&path) {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
        let folder = file.parent().unwrap();
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{}", folder.display());
    }
}

#[test]
fn pruning_keeps_what_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory();
    for number in 0..4_u32 {
        put(&*store, 1, [(Family::Item, (number * 2_000).to_be_bytes().to_vec(), noise(99, 500))]);
        take(folder.path(), &*store);
    }
    let before = files(folder.path()).len();
    let pruned = prune(Folder::open_to_write(folder.path()).unwrap(), 2).unwrap();
    assert_eq!(pruned.backups, ["20261116T154322Z", "20261116T154322Z-2"]);
    assert_eq!(files(folder.path()).len() as u64, before as u64 - 2 - pruned.segments.0);
    assert!(pruned.segments.0 > 0);
    assert!(problems(folder.path()).is_empty());
    assert_eq!(frames(&*restored(folder.path(), None).unwrap()), frames(&*store));
    restored(folder.path(), Some("20261116T154322Z-3")).unwrap();
    // Nothing goes where it is not known what is needed.
    let path = folder.path().join("manifests/20261116T154322Z-4.manifest");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let before = files(folder.path());
    let error = prune(Folder::open_to_write(folder.path()).unwrap(), 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert_eq!(files(folder.path()), before);
    // Without any backup nothing is needed.
    fs::write(&path, &whole).unwrap();
    prune(Folder::open_to_write(folder.path()).unwrap(), 0).unwrap();
    assert_eq!(files(folder.path()).len(), 1);
}
