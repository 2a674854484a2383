//! Kills a writing process again and again and checks what is left.
//!
//! The child is this test program itself, told by the environment to write. `ARMILLA_CRASH_ROUNDS` asks for
//! more than the usual dozen rounds, `ARMILLA_CRASH_MS` lets each child write for longer.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use armilla_kv::block_on;
use armilla_kv::{Batch, Durability, ErrorKind, Family, Result, Scan, Space, SpaceId, Store};
use armilla_kv_embedded::{EmbeddedStore, Options};

const FOLDER: &str = "ARMILLA_CRASH_FOLDER";
const ROUND: &str = "ARMILLA_CRASH_ROUND";
const SPACES: u64 = 3;

/// Families whose entries older than so many commits are removed, so that there are deletions too.
const SHORT: [Family; 2] = [Family::Feed, Family::Index];
const SHORT_LENGTH: u64 = 50;

fn options(round: u64) -> Options {
    Options {
        durability: if round % 4 == 3 { Durability::Relaxed } else { Durability::Strict },
        // Every other round flushes and compacts all the time.
        write_buffer_bytes: if round.is_multiple_of(2) { 0 } else { 64 * 1024 * 1024 },
        ..Options::default()
    }
}

fn value(space: u64, number: u64, round: u64) -> Vec<u8> {
    // Large values in some rounds, so that journals are rotated.
    let length = if round % 3 == 2 { 40_000 } else { 200 } + (number as usize * 37) % 500;
    let mut value = vec![(space + number) as u8; length];
    value[..8].copy_from_slice(&number.to_be_bytes());
    value
}

fn numbered_batch(space: u64, number: u64, round: u64) -> Batch {
    let mut batch = Batch::new();
    batch.put(Family::Meta, "newest", number.to_be_bytes().to_vec());
    for family in Family::ALL {
        batch.put(family, key(number), value(space, number, round));
    }
    if let Some(old) = number.checked_sub(SHORT_LENGTH) {
        SHORT.into_iter().for_each(|family| batch.delete(family, key(old)));
    }
    batch
}

fn key(number: u64) -> Vec<u8> {
    // Scattered, so that compactions have to merge.
    [number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes(), number.to_be_bytes()].concat()
}

fn newest(space: &dyn Space) -> Result<u64> {
    let found = space.get(Family::Meta, b"newest")?;
    Ok(found.map_or(0, |bytes| u64::from_be_bytes(bytes[..].try_into().unwrap())))
}

/// The part of the crash test that is killed; by itself it does nothing.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let round: u64 = std::env::var(ROUND).unwrap().parse().unwrap();
    let store = EmbeddedStore::open(folder, options(round)).unwrap();
    std::thread::scope(|scope| {
        for id in 0..SPACES {
            let store = &store;
            scope.spawn(move || {
                let space = store.open_space(SpaceId(id)).unwrap();
                let mut number = newest(&*space).unwrap();
                loop {
                    // Two in flight at once, told of in order.
                    let batches = [number + 1, number + 2]
                        .map(|number| space.commit(numbered_batch(id, number, round)));
                    for future in batches {
                        block_on(future).unwrap();
                        number += 1;
                        writeln!(std::io::stdout(), "done {id} {number}").unwrap();
                    }
                }
            });
        }
    });
}

fn start_child(folder: &Path, round: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets a child write for a while, kills it, and returns the newest number that it acknowledged per space.
fn write_and_kill(folder: &Path, round: u64, random: &mut Random) -> HashMap<u64, u64> {
    let mut child = start_child(folder, round);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = HashMap::new();
    let mut note = |line: String| {
        // A kill may cut the last line short; without its end it is no acknowledgement.
        let words: Vec<&str> = line.split(' ').collect();
        if let ["done", id, number] = words[..] {
            acknowledged.insert(id.parse::<u64>().unwrap(), number.parse::<u64>().unwrap());
        }
    };
    // Wait until it writes; sometimes kill it while it still opens.
    if !random.one_in(6) {
        for line in lines.by_ref().map_while(std::result::Result::ok) {
            let is_writing = line.starts_with("done");
            note(line);
            if is_writing {
                break;
            }
        }
    }
    let reader = std::thread::spawn(move || lines.map_while(std::result::Result::ok).collect::<Vec<_>>());
    std::thread::sleep(Duration::from_millis(random.below(number_from_environment("ARMILLA_CRASH_MS", 400))));
    child.kill().unwrap();
    child.wait().unwrap();
    let rest = reader.join().unwrap();
    let complete = rest.len().saturating_sub(1);
    for line in rest.into_iter().take(complete) {
        note(line);
    }
    acknowledged
}

/// Checks that every space holds the commits up to some number, whole, and nothing else. Returns the numbers.
fn check(store: &EmbeddedStore) -> Result<HashMap<u64, u64>> {
    let mut found = HashMap::new();
    for id in 0..SPACES {
        let space = store.open_space(SpaceId(id))?;
        let newest = newest(&*space)?;
        let snapshot = space.snapshot()?;
        for family in Family::ALL {
            let mut scan = Scan::prefix(family, b"");
            let mut count = 0;
            loop {
                let page = snapshot.scan(&scan)?;
                for (key, value) in &page.entries {
                    if key == "newest" {
                        continue;
                    }
                    let number = u64::from_be_bytes(key[8..].try_into().unwrap());
                    assert_eq!(value[..8], number.to_be_bytes(), "value of another key");
                    assert!(value[8..].iter().all(|byte| *byte == (id + number) as u8), "torn value");
                    assert!(
                        number <= newest,
                        "space {id} {family:?}: {number} without its counter, {newest}"
                    );
                    count += 1;
                }
                let Some((last, _)) = page.entries.last().filter(|_| page.more) else { break };
                scan = scan.after(&last.clone());
            }
            let expected = if SHORT.contains(&family) { newest.min(SHORT_LENGTH) } else { newest };
            assert_eq!(count, expected, "space {id} {family:?}: entries up to {newest}");
        }
        found.insert(id, newest);
    }
    Ok(found)
}

#[test]
fn killed_processes_lose_nothing_and_leave_no_halves() {
    let rounds =
        std::env::var("ARMILLA_CRASH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(12);
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(7);
    let mut written = 0;
    for round in 0..rounds {
        let acknowledged = write_and_kill(folder.path(), round, &mut random);
        // With relaxed durability a suffix of what was acknowledged may go.
        let promised = if round % 4 == 3 { HashMap::new() } else { acknowledged.clone() };
        damage_a_copy(folder.path(), round, &promised, &mut random);
        let started = std::time::Instant::now();
        let store = EmbeddedStore::open(folder.path(), options(round)).unwrap();
        let took = started.elapsed();
        let found = check(&store).unwrap();
        for (id, number) in &acknowledged {
            assert!(
                found[id] >= *number,
                "round {round}: space {id} lost commits {} to {number}",
                found[id] + 1
            );
        }
        println!("round {round}: acknowledged {acknowledged:?}, found {found:?}, opened in {took:?}");
        written = found.values().sum();
        if random.one_in(3) {
            store.close().unwrap();
        }
    }
    assert!(written > rounds * 20, "the children hardly wrote anything");
}

/// Cuts or changes the newest journal in a copy of what the kill left, and checks that the store either
/// opens with all that was acknowledged or says that it is damaged.
fn damage_a_copy(folder: &Path, round: u64, acknowledged: &HashMap<u64, u64>, random: &mut Random) {
    if !folder.join("fjall").exists() {
        return;
    }
    for attempt in 0..3 {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(folder, copy.path());
        let mut journals: Vec<(u64, PathBuf)> = std::fs::read_dir(copy.path().join("fjall"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "jnl"))
            .map(|path| (path.file_stem().unwrap().to_str().unwrap().parse().unwrap(), path))
            .collect();
        journals.sort();
        let Some((_, journal)) = journals.pop() else { return };
        let mut content = std::fs::read(&journal).unwrap();
        content.truncate(content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
        if content.is_empty() {
            return;
        }
        let length = content.len() as u64;
        // Mostly near the end, where a crash would do it.
        let at = if random.one_in(3) {
            random.below(length)
        } else {
            length - 1 - random.below(length.min(20_000))
        };
        if random.one_in(2) {
            content.truncate(at as usize);
        } else {
            content[at as usize] ^= 1 << random.below(8);
        }
        std::fs::write(&journal, content).unwrap();
        match EmbeddedStore::open(copy.path(), options(round)) {
            Ok(store) => {
                let found = check(&store).unwrap();
                for (id, number) in acknowledged {
                    assert!(found[id] >= *number, "attempt {attempt}: space {id} silently lost commits");
                }
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "attempt {attempt}: {error}"),
        }
    }
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
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

fn number_from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// A small generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
