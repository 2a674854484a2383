//! Heavy writing: what readers notice of it, what it costs, and what happens when the disk gives up.
//!
//! `ARMILLA_LOAD_SECONDS` makes the measuring tests run longer; they print what they measure.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use armilla_kv::block_on;
use armilla_kv::{Batch, ErrorKind, Family, Scan, Space, SpaceId, Store};
use armilla_kv_embedded::{EmbeddedStore, Options};

fn load_time() -> Duration {
    let seconds = std::env::var("ARMILLA_LOAD_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or(1.5))
}

fn key(number: u64) -> Vec<u8> {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes().to_vec()
}

/// A batch like that of a document: an item, its number, its feed entry and fifteen index entries.
fn document(number: u64, value_bytes: usize) -> Batch {
    let mut batch = Batch::new();
    batch.put(Family::Item, key(number), vec![number as u8; value_bytes]);
    batch.put(Family::Number, number.to_be_bytes().to_vec(), key(number));
    batch.put(Family::Feed, number.to_be_bytes().to_vec(), key(number));
    for path in 0..15_u64 {
        let term =
            [key(number ^ (path << 56)), path.to_be_bytes().to_vec(), number.to_be_bytes().to_vec()].concat();
        batch.put(Family::Index, term, "");
    }
    batch
}

/// Times of many operations.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn quantile(&mut self, share: f64) -> Duration {
        self.0.sort_unstable();
        self.0[((self.0.len() - 1) as f64 * share) as usize]
    }

    fn show(&mut self) -> String {
        let [p50, p99, p999, max] = [0.5, 0.99, 0.999, 1.0].map(|share| self.quantile(share));
        format!("{} operations: p50 {p50:?}, p99 {p99:?}, p99.9 {p999:?}, longest {max:?}", self.0.len())
    }
}

/// Writes documents from several threads for the load time, and measures readers beside them.
fn measure(
    options: Options,
    writers: u64,
    value_bytes: usize,
) -> (EmbeddedStore, tempfile::TempDir, Times, Times) {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(folder.path(), options).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    block_on(space.commit(document(0, value_bytes))).unwrap();
    // How many documents each writer has committed; its documents are every so-manieth number.
    let (committed, done) =
        ((0..writers).map(|_| AtomicU64::new(0)).collect::<Vec<_>>(), AtomicBool::new(false));
    let number_of = |writer: u64, count: u64| 1 + count * writers + writer;
    let (reads, commits) = std::thread::scope(|scope| {
        let writing: Vec<_> = (0..writers)
            .map(|writer| {
                let (space, committed) = (&space, &committed[writer as usize]);
                scope.spawn(move || {
                    let (mut times, started) = (Times::default(), Instant::now());
                    while started.elapsed() < load_time() {
                        let batch =
                            document(number_of(writer, committed.load(Ordering::Relaxed)), value_bytes);
                        let begun = Instant::now();
                        block_on(space.commit(batch)).unwrap();
                        times.0.push(begun.elapsed());
                        committed.fetch_add(1, Ordering::Release);
                    }
                    times
                })
            })
            .collect();
        let reading = scope.spawn(|| {
            let (mut times, mut state) = (Times::default(), 1_u64);
            while !done.load(Ordering::Relaxed) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let writer = (state >> 20) % writers;
                let number = match committed[writer as usize].load(Ordering::Acquire) {
                    0 => 0,
                    count => number_of(writer, (state >> 33) % count),
                };
                let begun = Instant::now();
                if state & (1 << 60) == 0 {
                    assert!(space.get(Family::Item, &key(number)).unwrap().is_some(), "document {number}");
                } else {
                    let snapshot = space.snapshot().unwrap();
                    let scan = Scan { entries_max: 10, ..Scan::prefix(Family::Index, &key(number)[..2]) };
                    snapshot.scan(&scan).unwrap();
                }
                times.0.push(begun.elapsed());
                // Leave the writers some of two cores.
                std::thread::sleep(Duration::from_micros(50));
            }
            times
        });
        let mut commits = Times::default();
        for writer in writing {
            commits.0.extend(writer.join().unwrap().0);
        }
        done.store(true, Ordering::Relaxed);
        (reading.join().unwrap(), commits)
    });
    drop(space);
    (store, folder, reads, commits)
}

#[test]
fn readers_go_on_while_writers_are_held_back() {
    let options = Options { write_buffer_bytes: 0, block_cache_bytes: 8 * 1024 * 1024, ..Options::default() };
    let (store, _folder, mut reads, mut commits) = measure(options, 8, 60_000);
    let stats = store.stats();
    println!("reads while writers stall: {}\ncommits: {}\n{stats:?}", reads.show(), commits.show());
    assert!(stats.stalls > 0, "the load did not stall: {stats:?}");
    // Readers that are held back with the writers make no more steps than they do, however slow the machine is.
    assert!(reads.0.len() > commits.0.len() / 8, "readers waited as long as writers");
}

#[test]
fn readers_beside_heavy_writers() {
    let (store, _folder, mut reads, mut commits) = measure(Options::default(), 16, 400);
    let stats = store.stats();
    println!("reads beside writers: {}\ncommits: {}\n{stats:?}", reads.show(), commits.show());
    assert!(stats.flushes < stats.commits, "commits were not grouped: {stats:?}");
    assert_eq!(stats.commits, commits.0.len() as u64 + 1);
    assert!(stats.write_buffer_bytes <= 64 * 1024 * 1024);
}

#[test]
fn snapshots_hold_still_while_files_are_flushed_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        EmbeddedStore::open(folder.path(), Options { write_buffer_bytes: 0, ..Options::default() }).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let snapshot = space.snapshot().unwrap();
                    let read = || Family::ALL.map(|family| snapshot.get(family, b"round").unwrap());
                    let first = read();
                    assert!(first.iter().all(|value| *value == first[0]), "half a batch: {first:?}");
                    std::thread::sleep(Duration::from_micros(200));
                    assert_eq!(read(), first, "a snapshot changed");
                }
            });
        }
        let started = Instant::now();
        let mut round = 0_u32;
        while started.elapsed() < load_time() {
            round += 1;
            let mut batch = Batch::new();
            for family in Family::ALL {
                batch.put(family, "round", round.to_be_bytes().to_vec());
                batch.put(family, key(round.into()), vec![0; 2_000]);
            }
            block_on(space.commit(batch)).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        println!("{round} rounds");
    });
}

#[test]
fn a_full_queue_refuses_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { queue_bytes_max: 200_000, ..Options::default() };
    let store = EmbeddedStore::open(folder.path(), options).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    let futures: Vec<_> = (0..500_u64)
        .map(|number| {
            let mut batch = Batch::new();
            batch.put(Family::Item, number.to_be_bytes().to_vec(), vec![0; 50_000]);
            space.commit(batch)
        })
        .collect();
    let mut refused = 0;
    for (number, future) in futures.into_iter().enumerate() {
        let outcome = block_on(future);
        let there = space.get(Family::Item, &(number as u64).to_be_bytes()).unwrap().is_some();
        assert_eq!(outcome.is_ok(), there);
        if let Err(error) = outcome {
            // The first finds the queue full and closes the handle for those behind it.
            let expected = if refused == 0 { ErrorKind::Io } else { ErrorKind::HandleClosed };
            assert_eq!(error.kind(), expected);
            refused += 1;
        }
    }
    assert!(refused > 0 && refused < 500, "{refused} of 500 were refused");
    // A batch that is larger than the whole queue goes through an empty one.
    let space = store.open_space(SpaceId(1)).unwrap();
    let mut batch = Batch::new();
    batch.put(Family::Item, "large", vec![0; 1_000_000]);
    block_on(space.commit(batch)).unwrap();
    assert_eq!(store.stats().queued_bytes, 0);
}

#[test]
fn a_thousand_spaces_cost_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(folder.path(), Options::default()).unwrap();
    let spaces: Vec<Arc<dyn Space>> = (0..1_000).map(|id| store.open_space(SpaceId(id)).unwrap()).collect();
    let futures: Vec<_> = spaces.iter().map(|space| space.commit(document(1, 100))).collect();
    for future in futures {
        block_on(future).unwrap();
    }
    store.close().unwrap();
    let mut files = 0;
    let mut folders = vec![folder.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            files += 1;
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(files < 100, "{files} files");
    assert_eq!(store.stats().commits, 1_000);
}

#[test]
fn dropped_spaces_shrink_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { write_buffer_bytes: 8 * 1024 * 1024, ..Options::default() };
    let store = EmbeddedStore::open(folder.path(), options).unwrap();
    let fill = |id: u64| {
        let space = store.open_space(SpaceId(id)).unwrap();
        for chunk in 0..20 {
            let futures: Vec<_> =
                (0..100).map(|number| space.commit(document(chunk * 100 + number, 2_000))).collect();
            for future in futures {
                block_on(future).unwrap();
            }
        }
    };
    fill(1);
    fill(2);
    let full = store.stats().disk_bytes;
    store.drop_space(SpaceId(1)).unwrap();
    store.drop_space(SpaceId(2)).unwrap();
    let started = Instant::now();
    while store.stats().spaces_to_reclaim > 0 {
        assert!(started.elapsed() < Duration::from_secs(60), "reclaiming does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("reclaimed in {:?}", started.elapsed());
    store.close().unwrap();
    drop(store);
    let store = EmbeddedStore::open(folder.path(), Options::default()).unwrap();
    let started = Instant::now();
    loop {
        let left = store.stats().disk_bytes;
        if left < full / 4 {
            println!("{full} bytes, {left} after dropping everything");
            break;
        }
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{full} bytes, {left} after dropping everything"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_failing_disk_stops_writes_but_not_reads() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        EmbeddedStore::open(folder.path(), Options { write_buffer_bytes: 0, ..Options::default() }).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    block_on(space.commit(document(0, 100))).unwrap();
    // No sorted file can be written any more.
    for keyspace in std::fs::read_dir(folder.path().join("fjall/keyspaces")).unwrap() {
        std::fs::remove_dir_all(keyspace.unwrap().path().join("tables")).unwrap();
    }
    let started = Instant::now();
    let mut number = 0;
    let error = loop {
        number += 1;
        match block_on(space.commit(document(number, 10_000))) {
            Ok(()) => assert!(started.elapsed() < Duration::from_secs(60), "the store does not notice"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::OutcomeUnknown), "{error}");
    let later = block_on(space.commit(document(number + 1, 10))).unwrap_err();
    assert!(matches!(later.kind(), ErrorKind::Io | ErrorKind::HandleClosed), "{later}");
    let again = store.open_space(SpaceId(1)).unwrap();
    assert_eq!(block_on(again.commit(document(number + 2, 10))).unwrap_err().kind(), ErrorKind::Io);
    let trouble = store.trouble().unwrap();
    assert!(trouble.contains("takes no writes"), "{trouble}");
    // Attempts to go on find that the files are not whole, and leave readers what they have.
    std::thread::sleep(Duration::from_millis(1_200));
    assert!(space.get(Family::Item, &key(0)).unwrap().is_some());
    assert!(space.get(Family::Item, &key(number - 1)).unwrap().is_some());
    assert!(store.close().is_err());
}

#[test]
fn memory_of_flushed_data_is_given_back_in_a_pause() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        EmbeddedStore::open(folder.path(), Options { write_buffer_bytes: 0, ..Options::default() }).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    for number in 0..300 {
        block_on(space.commit(document(number, 20_000))).unwrap();
    }
    let before = store.stats().write_buffer_bytes;
    // The view is renewed after a second without commits; nothing may be lost by it.
    std::thread::sleep(Duration::from_millis(2_500));
    assert!(store.stats().write_buffer_bytes <= before);
    for number in 0..300 {
        assert!(space.get(Family::Item, &key(number)).unwrap().is_some());
    }
    block_on(space.commit(document(300, 20_000))).unwrap();
    assert!(space.get(Family::Item, &key(300)).unwrap().is_some());
}

/// Returns how many sorted files there are.
fn file_count(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|entry| match entry.file_type().unwrap().is_dir() {
            true => file_count(&entry.path()),
            false => usize::from(entry.path().parent().unwrap().ends_with("tables")),
        })
        .sum()
}

#[test]
fn files_of_an_old_snapshot_go_once_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { write_buffer_bytes: 0, ..Options::default() };
    let store = EmbeddedStore::open(folder.path(), options).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    let put = |round: u8| {
        for number in 0..20 {
            let mut batch = Batch::new();
            batch.put(Family::Item, key(number), vec![round; 60_000]);
            block_on(space.commit(batch)).unwrap();
        }
    };
    put(0);
    let snapshot = space.snapshot().unwrap();
    let mut round = 0;
    let started = Instant::now();
    while started.elapsed() < load_time() || file_count(folder.path()) < 12 {
        assert!(started.elapsed() < Duration::from_secs(60), "{} files", file_count(folder.path()));
        round = round % 250 + 1;
        put(round);
    }
    let held = file_count(folder.path());
    for number in 0..20 {
        assert_eq!(snapshot.get(Family::Item, &key(number)).unwrap().unwrap(), vec![0; 60_000]);
    }
    drop(snapshot);
    let ended = Instant::now();
    let (mut left, mut reads) = (held, Times::default());
    while left > held / 2 {
        assert!(ended.elapsed() < Duration::from_secs(30), "{left} of {held} files are still there");
        let begun = Instant::now();
        assert_eq!(space.get(Family::Item, &key(7)).unwrap().unwrap(), vec![round; 60_000]);
        reads.0.push(begun.elapsed());
        left = file_count(folder.path());
    }
    println!("{left} of {held} files left after {:?}; reads meanwhile: {}", ended.elapsed(), reads.show());
    drop((space, store));
    let store = EmbeddedStore::open(folder.path(), Options::default()).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    for number in 0..20 {
        assert_eq!(space.get(Family::Item, &key(number)).unwrap().unwrap(), vec![round; 60_000]);
    }
}
