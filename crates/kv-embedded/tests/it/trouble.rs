//! Full disks and no descriptors: the store refuses writes, says why, and goes on by itself once there is room again.
//!
//! The limits are those of a process, so each case is a process of its own: this test program itself, told by the
//! environment what to run out of. Nothing is simulated: the system refuses to write beyond a size, or to open a file.
//!
//! Before, the first failed write was the last: all writes failed until the program was started again.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use armilla_kv::{Batch, Error, ErrorKind, Family, Space, SpaceId, Store, block_on};
use armilla_kv_embedded::{EmbeddedStore, Options};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const CASE: &str = "ARMILLA_TROUBLE_CASE";
const FOLDER: &str = "ARMILLA_TROUBLE_FOLDER";

fn limit(resource: Resource, most: Option<u64>) {
    let now = getrlimit(resource);
    setrlimit(resource, Rlimit { current: most.or(now.maximum), maximum: now.maximum }).unwrap();
}

fn key(number: u32) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

fn put(space: &dyn Space, number: u32, bytes: usize) -> Result<(), Error> {
    let mut batch = Batch::new();
    for family in Family::ALL {
        batch.put(family, key(number), vec![number as u8; bytes]);
    }
    block_on(space.commit(batch))
}

fn has(space: &dyn Space, number: u32) -> bool {
    Family::ALL.iter().all(|family| space.get(*family, &key(number)).unwrap().is_some())
}

/// The part that runs out of something; by itself it does nothing.
#[test]
fn child() {
    let (Ok(case), Ok(folder)) = (std::env::var(CASE), std::env::var(FOLDER)) else { return };
    let folder = Path::new(&folder);
    // Small buffers, so that sorted files are written all the time.
    let options = Options { write_buffer_bytes: 0, cached_files_max: 0, ..Options::default() };
    let store = EmbeddedStore::open(folder, options.clone()).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    for number in 0..50 {
        put(&*space, number, 2_000).unwrap();
    }
    let held = space.snapshot().unwrap();
    let mut acknowledged = 50;
    // Twice: that it goes on once does not mean that it always does.
    for round in 0..2 {
        match case.as_str() {
            "descriptors" => {
                let used = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
                limit(Resource::Nofile, Some(used));
            }
            "disk" => limit(Resource::Fsize, Some(2_000_000 + round * 2_000_000)),
            other => panic!("no case {other}"),
        }
        let space = store.open_space(SpaceId(1)).unwrap();
        let started = Instant::now();
        let error = loop {
            match put(&*space, acknowledged, 20_000) {
                Ok(()) => acknowledged += 1,
                Err(error) => break error,
            }
            assert!(started.elapsed() < Duration::from_secs(60), "the store does not notice");
        };
        assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::OutcomeUnknown), "{error}");
        let trouble = store.trouble().expect("it says why it takes no writes");
        assert!(trouble.contains("takes no writes"), "{trouble}");
        // It stays so as long as there is no room, and readers go on.
        let refused = Instant::now();
        while refused.elapsed() < Duration::from_millis(1_500) {
            let space = store.open_space(SpaceId(1)).unwrap();
            assert_eq!(put(&*space, u32::MAX, 10).unwrap_err().kind(), ErrorKind::Io);
            // Without descriptors files that are not open cannot be read; what is in memory can.
            if case == "disk" {
                assert!((0..acknowledged).step_by(7).all(|number| has(&*space, number)));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        limit(if case == "disk" { Resource::Fsize } else { Resource::Nofile }, None);
        let freed = Instant::now();
        while let Some(trouble) = store.trouble() {
            assert!(freed.elapsed() < Duration::from_secs(40), "it does not go on: {trouble}");
            std::thread::sleep(Duration::from_millis(10));
        }
        let space = store.open_space(SpaceId(1)).unwrap();
        assert!(space.get(Family::Item, &key(u32::MAX)).unwrap().is_none(), "what was refused is there");
        assert!((0..acknowledged).all(|number| has(&*space, number)), "something acknowledged is gone");
        put(&*space, acknowledged, 20_000).unwrap();
        acknowledged += 1;
    }
    // What was begun before the files were opened again cannot go on, and says so.
    assert_eq!(held.get(Family::Item, &key(0)).unwrap_err().kind(), ErrorKind::Io);
    drop((held, space));
    store.close().unwrap();
    drop(store);
    let store = EmbeddedStore::open(folder, options).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    assert!((0..acknowledged).all(|number| has(&*space, number)));
    assert!(!has(&*space, u32::MAX));
}

fn run(case: &str) {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    // The signal that comes with a file too large would end the process; a disk sends none.
    let ended = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" --exact trouble::child --nocapture --test-threads=1"])
        .arg(program)
        .env(CASE, case)
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{case}: {said}\n{}", String::from_utf8_lossy(&ended.stdout));
}

#[test]
fn a_store_without_descriptors_goes_on_when_there_are_some() {
    run("descriptors");
}

#[test]
fn a_store_on_a_full_disk_goes_on_when_there_is_room() {
    run("disk");
}
