//! Random histories with followers of the change feed: every answer is compared with what was written.
//!
//! Writes, deletes, transactions, splits, merges, copies that are given up, restarts, sweeps; readers of every scope that
//! hold their tokens all the while, and now and then go back to an older one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use armilla_container::{
    BatchStep, ChangeKind, Container, CutBy, ErrorKind, FeedMode, FeedPage, FeedStart, Limits, ListScope,
    PartitionMap, Policy, Precondition, Priority, ReadCost, StepDone, ThroughputSource, WriteMode,
    check_partition,
};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::Store;
use armilla_kv::memory::MemoryStore;
use armilla_value::{HashVersion, HashedKey, hashed_key};

use crate::feeding::{Follower, arc, property};
use crate::reshaping::{begin_merge_anew, begin_split_anew, ids};
use crate::support::{Random, check, definition, identity, key, known_numbers, ranges};

const LATEST: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;

const ALL_VERSIONS: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "changeFeedPolicy":{"retentionDuration":10,"previousImages":true}}"#;

const KEYS: u64 = 12;
const IDS: u64 = 5;
const RETENTION_SECONDS: u64 = 600;

type Name = (u64, u64);

/// Something that was written.
#[derive(Debug, Clone)]
struct Event {
    name: Name,
    lsn: u64,
    kind: ChangeKind,
    n: Option<u64>,
    before: Option<u64>,
    at_seconds: u64,
}

/// A follower, and what it has seen.
#[derive(Clone)]
struct Reader {
    follower: Follower,
    keys: BTreeSet<u64>,
    /// Where in the history it began.
    began: usize,
    /// The newest version that it saw of each item, with its commit.
    view: BTreeMap<Name, (u64, u64)>,
    /// How many events of each item it saw.
    seen: BTreeMap<Name, usize>,
    /// When it last was at the end.
    at_end_seconds: u64,
}

struct Model {
    random: Random,
    store: Arc<dyn Store>,
    env: Env,
    clock: Arc<SimulatedClock>,
    now_seconds: u64,
    container: Container,
    keeps_all: bool,
    /// When it was last changed whether all versions are kept.
    switched_seconds: Option<u64>,
    items: BTreeMap<Name, (u64, u64)>,
    history: Vec<Event>,
    readers: Vec<Reader>,
    last_n: u64,
}

fn partition_key(pk: u64) -> String {
    format!(r#"["{pk}"]"#)
}

fn hashed(pk: u64) -> HashedKey {
    hashed_key(&key(&partition_key(pk)), HashVersion::V2)
}

fn open(store: Arc<dyn Store>, env: Env, text: &str, map: PartitionMap) -> Container {
    let policy = Policy { enforced: false, burst: false };
    let (limits, definition) = (Arc::new(Limits::default()), definition(text));
    let supply = ThroughputSource::own(400);
    Container::open(
        store,
        env,
        limits,
        identity(),
        definition,
        None,
        map,
        supply,
        policy,
        known_numbers(),
        None,
    )
}

impl Model {
    fn new(seed: u64, keeps_all: bool) -> Model {
        let (env, clock) = Env::simulated(seed);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let text = if keeps_all { ALL_VERSIONS } else { LATEST };
        let random = Random::new(seed);
        let throughput = [400, 20_000][random.below(2) as usize];
        let ranges = ranges(&definition(text), throughput, &Limits::default());
        let container = open(store.clone(), env.clone(), text, PartitionMap { version: 1, ranges });
        let mut model = Model {
            random,
            store,
            env,
            clock,
            now_seconds: 0,
            container,
            keeps_all,
            switched_seconds: None,
            items: BTreeMap::new(),
            history: Vec::new(),
            readers: Vec::new(),
            last_n: 0,
        };
        for _ in 0..6 {
            model.add_reader();
        }
        model
    }

    fn add_reader(&mut self) {
        let all: BTreeSet<u64> = (0..KEYS).collect();
        let pick = self.random.below(KEYS);
        let (scope, keys) = match self.random.below(4) {
            0 => (ListScope::All, all),
            1 => (ListScope::PartitionKey(key(&partition_key(pick))), BTreeSet::from([pick])),
            2 => {
                let cut = hashed(pick);
                let keys = all.into_iter().filter(|pk| hashed(*pk) < cut).collect();
                (arc(&HashedKey::MIN, &cut), keys)
            }
            _ => {
                let cut = hashed(pick);
                let keys = all.into_iter().filter(|pk| hashed(*pk) >= cut).collect();
                (arc(&cut, &HashedKey::MAX), keys)
            }
        };
        let is_versions = self.keeps_all && self.random.below(3) > 0;
        let (mode, start) = match is_versions {
            true => (FeedMode::AllVersions, FeedStart::Now),
            false => (FeedMode::Latest, FeedStart::Beginning),
        };
        let mut follower = Follower::new(mode, scope, start);
        follower.items_max = 1 + self.random.below(6) as usize;
        let began = self.history.len();
        if is_versions {
            follower.next(&self.container);
        }
        self.readers.push(Reader {
            follower,
            keys,
            began,
            view: BTreeMap::new(),
            seen: BTreeMap::new(),
            at_end_seconds: self.now_seconds,
        });
    }

    fn wrote(&mut self, name: Name, lsn: u64, kind: ChangeKind, n: Option<u64>) {
        let before = match n {
            Some(n) => self.items.insert(name, (n, lsn)),
            None => self.items.remove(&name),
        };
        let before = before.map(|(n, _)| n);
        self.history.push(Event { name, lsn, kind, n, before, at_seconds: self.now_seconds });
    }

    fn body(&mut self, (pk, id): Name) -> (String, u64) {
        self.last_n += 1;
        (format!(r#"{{"id":"{id}","pk":"{pk}","n":{}}}"#, self.last_n), self.last_n)
    }

    async fn put(&mut self, name: Name) {
        let (body, n) = self.body(name);
        let partition_key = key(&partition_key(name.0));
        let written = self.container.write_item(
            WriteMode::Upsert,
            &partition_key,
            None,
            body.as_bytes().into(),
            Precondition::None,
            Priority::High,
        );
        let written = written.await.unwrap();
        self.wrote(name, written.position.lsn, written.kind, Some(n));
    }

    async fn delete(&mut self, name: Name) {
        let partition_key = key(&partition_key(name.0));
        let id = name.1.to_string();
        let done = self.container.delete_item(&partition_key, &id, Precondition::None, Priority::High).await;
        match done {
            Ok(written) => self.wrote(name, written.position.lsn, ChangeKind::Delete, None),
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::ItemNotFound, "{error}");
                assert!(!self.items.contains_key(&name));
            }
        }
    }

    async fn batch(&mut self, pk: u64) {
        let mut steps = Vec::new();
        let mut names = Vec::new();
        let mut live: BTreeSet<u64> = (0..IDS).filter(|id| self.items.contains_key(&(pk, *id))).collect();
        for _ in 0..1 + self.random.below(5) {
            let id = self.random.below(IDS);
            if self.random.below(4) == 0 && live.remove(&id) {
                steps.push(BatchStep::Delete { id: id.to_string(), precondition: Precondition::None });
                names.push(((pk, id), None));
            } else {
                live.insert(id);
                let (body, n) = self.body((pk, id));
                steps.push(BatchStep::Put {
                    mode: WriteMode::Upsert,
                    id: None,
                    body: body.into(),
                    precondition: Precondition::None,
                });
                names.push(((pk, id), Some(n)));
            }
        }
        let partition_key = key(&partition_key(pk));
        let done = self.container.batch(&partition_key, steps, ReadCost::Single, Priority::High).await;
        let done = done.unwrap().ok().unwrap();
        for (step, (name, n)) in done.steps.into_iter().zip(names) {
            let StepDone::Written(written) = step else { panic!("only writes") };
            self.wrote(name, done.position.lsn, written.kind, n);
        }
    }

    async fn write(&mut self) {
        let name = (self.random.below(KEYS), self.random.below(IDS));
        match self.random.below(8) {
            0..=3 => self.put(name).await,
            4 | 5 => self.delete(name).await,
            _ => self.batch(name.0).await,
        }
    }

    async fn reshape(&mut self) {
        let ranges = ids(&self.container);
        let place = self.random.below(ranges.len() as u64) as usize;
        let by = [CutBy::Arc, CutBy::Bytes][self.random.below(2) as usize];
        let begun = if ranges.len() > 3 || (place + 1 < ranges.len() && self.random.below(2) == 0) {
            let place = place.min(ranges.len() - 2);
            begin_merge_anew(&self.container, [ranges[place], ranges[place + 1]])
        } else if self.container.split_point(ranges[place], by).unwrap().is_some() {
            begin_split_anew(&self.container, ranges[place], by)
        } else {
            return;
        };
        let mut reshape = begun.unwrap();
        for _ in 0..self.random.below(10) {
            self.write().await;
        }
        reshape.copy().await.unwrap();
        for _ in 0..self.random.below(10) {
            self.write().await;
        }
        if self.random.below(4) == 0 {
            // It is given up.
            return;
        }
        let closed = reshape.close().await.unwrap();
        closed.flip(self.container.map().version + 1);
    }

    fn reopen(&mut self) {
        let text = if self.keeps_all { ALL_VERSIONS } else { LATEST };
        let map = self.container.map();
        self.container = open(self.store.clone(), self.env.clone(), text, map);
    }

    fn switch(&mut self) {
        self.keeps_all = !self.keeps_all;
        self.switched_seconds = Some(self.now_seconds);
        let text = if self.keeps_all { ALL_VERSIONS } else { LATEST };
        self.container.set_definition(definition(text), None);
    }

    async fn sweep(&mut self) {
        // Those that were not opened are left alone.
        self.container.positions().unwrap();
        for _ in 0..1_000 {
            let swept = self.container.sweep_step().await.unwrap();
            if !swept.more {
                break;
            }
        }
        check(&self.container);
        if !self.keeps_all {
            for id in ids(&self.container) {
                let summary = check_partition(&self.container, id, &mut |_| {}).unwrap();
                assert_eq!(summary.changes, summary.items, "one entry for each live item");
            }
        }
    }

    /// Reads a page and compares it. Returns whether it was the last.
    fn read(&mut self, place: usize) -> bool {
        let mut reader = self.readers[place].clone();
        let page = match reader.follower.try_next(&self.container) {
            Ok(page) => page,
            Err(error) => {
                assert_eq!(reader.follower.mode, FeedMode::AllVersions, "{error}");
                let is_switched = self.switched_seconds.is_some();
                match error.kind {
                    ErrorKind::Invalid => assert!(!self.keeps_all, "{error}"),
                    ErrorKind::FeedExpired => {
                        let is_late = self.now_seconds - reader.at_end_seconds > RETENTION_SECONDS;
                        assert!(is_late || is_switched, "{error}");
                    }
                    _ => panic!("{error}"),
                }
                self.readers.swap_remove(place);
                self.add_reader();
                return true;
            }
        };
        assert!(!page.changes.is_empty() || page.is_end);
        match reader.follower.mode {
            FeedMode::Latest => self.compare_latest(&mut reader, &page),
            FeedMode::AllVersions => self.compare_versions(&mut reader, &page),
        }
        let is_end = page.is_end;
        if is_end {
            reader.at_end_seconds = self.now_seconds;
        }
        self.readers[place] = reader;
        is_end
    }

    fn compare_latest(&self, reader: &mut Reader, page: &FeedPage) {
        let mut on_page = BTreeSet::new();
        for change in &page.changes {
            let item = change.item.as_ref().unwrap();
            let number = |name: &str| property(item, name).parse::<u64>().unwrap();
            let name = (number("pk"), number("id"));
            assert!(reader.keys.contains(&name.0), "{name:?} is none of its own");
            assert_eq!(self.items.get(&name), Some(&(number("n"), change.lsn)), "{name:?}");
            let last = reader.view.insert(name, (number("n"), change.lsn));
            assert!(last.is_none_or(|(_, lsn)| lsn < change.lsn), "{name:?} came twice at {}", change.lsn);
            on_page.insert((name, change.lsn));
        }
        for (name, lsn) in &on_page {
            for id in 0..IDS {
                let other = (name.0, id);
                if self.items.get(&other).is_some_and(|(_, at)| at == lsn) {
                    assert!(on_page.contains(&(other, *lsn)), "commit {lsn} is cut");
                }
            }
        }
        if page.is_end {
            for (name, (n, _)) in self.items.iter().filter(|(name, _)| reader.keys.contains(&name.0)) {
                assert_eq!(reader.view.get(name).map(|(seen, _)| seen), Some(n), "{name:?} was not shown");
            }
        }
    }

    fn compare_versions(&self, reader: &mut Reader, page: &FeedPage) {
        let history = &self.history[reader.began..];
        let of_item = |name: Name| history.iter().filter(move |event| event.name == name);
        let mut commits: BTreeMap<(u64, u64), usize> = BTreeMap::new();
        for change in &page.changes {
            let pk: u64 = change.partition_key.to_json().trim_matches(['[', ']', '"']).parse().unwrap();
            assert!(reader.keys.contains(&pk));
            let name = (pk, change.id.parse().unwrap());
            let seen = reader.seen.entry(name).or_default();
            let event =
                of_item(name).nth(*seen).unwrap_or_else(|| panic!("{name:?}: nothing more was written"));
            *seen += 1;
            *commits.entry((pk, change.lsn)).or_default() += 1;
            let n = |item: &Option<armilla_container::Item>| {
                item.as_ref().map(|item| property(item, "n").parse::<u64>().unwrap())
            };
            assert_eq!(
                (change.lsn, change.kind, n(&change.item)),
                (event.lsn, event.kind, event.n),
                "{name:?}"
            );
            // What came before may be gone where versions were not kept for a while.
            let is_there = self.switched_seconds.is_none();
            assert!(
                n(&change.previous) == event.before || (!is_there && change.previous.is_none()),
                "{name:?} at {}: {:?} {:?}",
                change.lsn,
                n(&change.previous),
                event.before
            );
        }
        for ((pk, lsn), count) in commits {
            let written = history.iter().filter(|event| (event.name.0, event.lsn) == (pk, lsn)).count();
            assert_eq!(count, written, "commit {lsn} is cut");
        }
        if page.is_end {
            let mut of_keys = history.iter().filter(|event| reader.keys.contains(&event.name.0));
            let shown: usize = reader.seen.values().sum();
            assert_eq!(of_keys.by_ref().count(), shown, "something was not shown");
        }
    }

    async fn run(&mut self, steps: u64, switches: bool) {
        for _ in 0..steps {
            match self.random.below(40) {
                0..=19 => self.write().await,
                20..=31 => {
                    let place = self.random.below(self.readers.len() as u64) as usize;
                    self.read(place);
                }
                32 => self.reshape().await,
                33 => self.reopen(),
                34 => {
                    let seconds = self.random.below(200);
                    self.clock.advance(Duration::from_secs(seconds));
                    self.now_seconds += seconds;
                }
                35 => self.sweep().await,
                36 if switches => self.switch(),
                37 => {
                    // Another reader goes on from where this one is.
                    let place = self.random.below(self.readers.len() as u64) as usize;
                    let other = self.random.below(self.readers.len() as u64) as usize;
                    self.readers[other] = self.readers[place].clone();
                }
                38 => {
                    let place = self.random.below(self.readers.len() as u64) as usize;
                    self.readers.swap_remove(place);
                    self.add_reader();
                }
                _ => {}
            }
        }
        for place in (0..self.readers.len()).rev() {
            while !self.read(place) {}
        }
        check(&self.container);
        let oldest = self.history.iter().map(|event| event.at_seconds).min();
        assert!(oldest.is_none_or(|oldest| oldest <= self.now_seconds));
    }
}

/// How many histories each test runs; a variable of the environment asks for more.
fn seeds(first: u64) -> std::ops::Range<u64> {
    let count = std::env::var("ARMILLA_FEED_HISTORIES").ok().and_then(|count| count.parse().ok());
    first..first + count.unwrap_or(60)
}

/// Runs one history, in a task of its own so that a failure names it.
async fn replay(seed: u64, keeps_all: bool, switches: bool) {
    let run = tokio::spawn(async move { Model::new(seed, keeps_all).run(300, switches).await });
    assert!(run.await.is_ok(), "history {seed} failed");
}

#[tokio::test]
async fn followers_of_the_latest_versions_see_every_item() {
    for seed in seeds(0) {
        replay(seed, false, false).await;
    }
}

#[tokio::test]
async fn followers_of_all_versions_see_every_change() {
    for seed in seeds(1_000_000) {
        replay(seed, true, false).await;
    }
}

#[tokio::test]
async fn what_is_kept_may_change_at_any_time() {
    for seed in seeds(2_000_000) {
        replay(seed, seed % 2 == 0, true).await;
    }
}
