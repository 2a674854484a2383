//! The moment of a version: later than that of the version before it, kept wherever the item goes, and good to name it by.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use armilla_container::{
    BatchStep, Container, CutBy, ETag, Error, ErrorKind, FeedStart, Item, Limits, ListScope, Moment,
    Operation, Patch, Pointer, Precondition, Priority, ReadCost, SessionToken, StepDone, WriteMode,
};
use armilla_env::{Clock, Env, SleepFuture};
use armilla_kv::fault::{Fault, FaultStore};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Batch, Family, SpaceId, Store};
use armilla_value::Value;
use proptest::prelude::*;

use crate::feeding::Follower;
use crate::reshaping::{begin_merge, begin_split, ids, merge, split};
use crate::support::{carried, check, definition, key, make_older, open, refused, run, scan};

const SIMPLE: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
const ALL_VERSIONS: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "changeFeedPolicy":{"retentionDuration":600}}"#;
pub(crate) const KEY: &str = r#"["a"]"#;
pub(crate) const START_MS: i64 = 1_700_000_000_123;

/// A clock that can be set back.
pub(crate) struct SetClock(AtomicI64);

impl SetClock {
    pub(crate) fn new() -> Arc<SetClock> {
        Arc::new(SetClock(AtomicI64::new(START_MS)))
    }

    pub(crate) fn set(&self, now_ms: i64) {
        self.0.store(now_ms, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Moment {
        let ticks = self.now_ms() as u64 * 10_000;
        Moment::from_ticks(Moment::of_second(0).ticks() + ticks)
    }
}

impl Clock for SetClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, _: Duration) -> SleepFuture {
        Box::pin(std::future::ready(()))
    }
}

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

pub(crate) fn container(
    store: &Arc<dyn Store>,
    clock: &Arc<SetClock>,
    text: &str,
    throughput: u32,
) -> Container {
    let env = Env { clock: clock.clone(), ..Env::simulated(1).0 };
    open(store.clone(), env, definition(text), throughput, Limits::default())
}

pub(crate) fn simple(store: &Arc<dyn Store>, clock: &Arc<SetClock>) -> Container {
    container(store, clock, SIMPLE, 400)
}

pub(crate) fn body(id: &str, n: u32) -> String {
    format!(r#"{{"id":"{id}","pk":"a","n":{n}}}"#)
}

async fn write(
    container: &Container,
    mode: WriteMode,
    id: &str,
    precondition: Precondition,
) -> Result<Item, Error> {
    let body = body(id, 1);
    let written = container
        .write_item(mode, &key(KEY), None, body.as_bytes().into(), precondition, Priority::High)
        .await;
    written.map(|written| written.item)
}

pub(crate) async fn upsert(container: &Container, id: &str) -> Item {
    write(container, WriteMode::Upsert, id, Precondition::None).await.unwrap()
}

async fn delete(container: &Container, id: &str, precondition: Precondition) -> Result<Item, Error> {
    let deleted = container.delete_item(&key(KEY), id, precondition, Priority::High).await;
    deleted.map(|written| written.item)
}

pub(crate) fn read(container: &Container, partition_key: &str, id: &str) -> Item {
    let session = SessionToken::default();
    let read = container.read_item(&key(partition_key), id, None, &session, ReadCost::Single, Priority::High);
    read.unwrap().item
}

pub(crate) fn shown(container: &Container, item: &Item) -> (Moment, ETag) {
    let etag = item.etag(container.identity());
    assert_eq!(etag.moment(), item.moment());
    assert_eq!(item.moment().second(), item.header().ts);
    (item.moment(), etag)
}

fn tick_after(moment: Moment) -> Moment {
    Moment::from_ticks(moment.ticks() + 1)
}

#[tokio::test]
async fn a_version_has_the_moment_of_the_clock() {
    let (store, clock) = (memory(), SetClock::new());
    let container = simple(&store, &clock);
    let first = upsert(&container, "1").await;
    assert_eq!(shown(&container, &first).0, clock.now());
    assert_eq!(first.header().ts, 1_700_000_000);
    // As long as the clock stands still, moments lie as near to each other as can be.
    assert_eq!(upsert(&container, "1").await.moment(), tick_after(clock.now()));
    assert_eq!(upsert(&container, "2").await.moment(), tick_after(tick_after(clock.now())));
    for later_ms in [1, 876, 877, 5_000] {
        clock.set(START_MS + later_ms);
        let item = upsert(&container, "1").await;
        assert_eq!(item.moment(), clock.now());
        assert_eq!(i64::from(item.header().ts), clock.now_seconds());
        assert_eq!(shown(&container, &read(&container, KEY, "1")), shown(&container, &item));
    }
    // A patch makes a version, too.
    let add = Operation::Increment { path: Pointer::parse("/n").unwrap(), by: Value::Int64(1) };
    let patch = Patch::new(vec![add], 20).unwrap();
    let patched = container.patch_item(&key(KEY), "1", patch, Precondition::None, Priority::High).await;
    assert_eq!(shown(&container, &patched.unwrap().item).0, tick_after(clock.now()));
    check(&container);
}

#[tokio::test]
async fn a_time_stamp_follows_its_moment_into_the_next_second() {
    let (store, clock) = (memory(), SetClock::new());
    clock.set(1_700_000_000_999);
    let container = simple(&store, &clock);
    // So many writes that a millisecond is over by counting alone.
    let steps_per_batch = 100;
    let mut last = Moment::of_second(0);
    for _ in 0..101 {
        let put = |place: usize| BatchStep::Put {
            mode: WriteMode::Upsert,
            id: None,
            body: body(&(place % 7).to_string(), 1).into(),
            precondition: Precondition::None,
        };
        let steps = (0..steps_per_batch).map(put).collect();
        let done = container.batch(&key(KEY), steps, ReadCost::Single, Priority::High).await.unwrap();
        for step in done.ok().unwrap().steps {
            let StepDone::Written(written) = step else { panic!("all are writes") };
            let (moment, _) = shown(&container, &written.item);
            assert!(moment > last);
            last = moment;
        }
    }
    assert_eq!(clock.now_seconds(), 1_700_000_000);
    assert_eq!(last, Moment::from_ticks(clock.now().ticks() + 10_099));
    assert_eq!(last.second(), 1_700_000_001);
    check(&container);
}

#[tokio::test]
async fn moments_grow_also_if_the_clock_goes_back_a_little() {
    let (store, clock) = (memory(), SetClock::new());
    let container = container(&store, &clock, ALL_VERSIONS, 400);
    let mut follower = Follower::versions(ListScope::All, FeedStart::Now);
    follower.next(&container);
    let mut last = upsert(&container, "1").await.moment();
    for now_ms in [START_MS - 1, START_MS - 9_999, START_MS - 5_000, START_MS - 4_999, START_MS - 1, START_MS]
    {
        clock.set(now_ms);
        let mut later = |item: &Item| {
            let (moment, _) = shown(&container, item);
            assert!(moment > last, "{now_ms}");
            last = moment;
        };
        later(&upsert(&container, "1").await);
        // What is made anew is later than what was deleted.
        delete(&container, "1", Precondition::None).await.unwrap();
        later(&upsert(&container, "1").await);
        let (drafted, ..) = run(&container, &key(KEY), |transaction| {
            let written =
                transaction.put(WriteMode::Upsert, None, body("1", 2).as_bytes(), Precondition::None)?;
            Ok(written.item)
        })
        .await
        .unwrap();
        later(&drafted);
        assert_eq!(shown(&container, &read(&container, KEY, "1")), shown(&container, &drafted));
    }
    // The log is in the order of time: deletes have theirs from the same source.
    let changes = follower.drain(&container);
    assert_eq!(changes.len(), 1 + 6 * 4);
    assert!(changes.is_sorted_by_key(|change| change.ts));
    clock.set(START_MS + 1);
    assert_eq!(upsert(&container, "1").await.moment(), clock.now());
    check(&container);
}

/// After a restart it is not known what was given last, but what is stored is.
#[tokio::test]
async fn a_restart_keeps_moments_and_goes_on_behind_them() {
    let (store, clock) = (memory(), SetClock::new());
    let before = {
        let container = simple(&store, &clock);
        upsert(&container, "2").await;
        upsert(&container, "3").await;
        shown(&container, &upsert(&container, "1").await)
    };
    clock.set(START_MS - 9_000);
    let container = simple(&store, &clock);
    assert_eq!(shown(&container, &read(&container, KEY, "1")), before);
    // What is new goes by the clock, what replaces is later than what it replaces.
    assert_eq!(upsert(&container, "4").await.moment(), clock.now());
    let held = Precondition::WrittenAt(before.0);
    let after = write(&container, WriteMode::Replace, "1", held).await.unwrap();
    assert_eq!(shown(&container, &after).0, tick_after(before.0));
    // A draft that finds its item ahead of it is moved behind it, and shown as it will be.
    drop(container);
    let container = simple(&store, &clock);
    for round in 0..2 {
        let (drafts, _, attempts) = run(&container, &key(KEY), |transaction| {
            let mut put = |mode, id: &str, precondition| {
                Ok::<Item, Error>(transaction.put(mode, None, body(id, 3).as_bytes(), precondition)?.item)
            };
            let first = put(WriteMode::Replace, "1", Precondition::None)?;
            let own = Precondition::WrittenAt(first.moment());
            let second = put(WriteMode::Replace, "1", own)?;
            refused(put(WriteMode::Replace, "1", own), ErrorKind::PreconditionFailed);
            let other = put(WriteMode::Upsert, "5", Precondition::None)?;
            Ok([first, second, other])
        })
        .await
        .unwrap();
        assert_eq!(attempts, 0, "{round}");
        assert!(after.moment() < drafts[0].moment(), "{round}");
        assert!(drafts.is_sorted_by(|one, next| one.moment() < next.moment()), "{round}");
        for (id, draft) in [("1", &drafts[1]), ("5", &drafts[2])] {
            assert_eq!(shown(&container, &read(&container, KEY, id)), shown(&container, draft), "{round}");
        }
    }
    check(&container);
}

#[tokio::test]
async fn a_commit_that_fails_takes_no_moment_back() {
    for fault in [Fault::FailBefore, Fault::UnknownNotApplied, Fault::UnknownApplied] {
        let faults = Arc::new(FaultStore::new(memory()));
        let (store, clock): (Arc<dyn Store>, _) = (faults.clone(), SetClock::new());
        let container = simple(&store, &clock);
        let first = upsert(&container, "1").await.moment();
        faults.fail_next_commit(fault);
        assert!(write(&container, WriteMode::Upsert, "1", Precondition::None).await.is_err());
        clock.set(START_MS - 1_000);
        let found = read(&container, KEY, "1").moment();
        let is_applied = fault == Fault::UnknownApplied;
        assert_eq!(found, if is_applied { tick_after(first) } else { first }, "{fault:?}");
        assert_eq!(upsert(&container, "1").await.moment(), tick_after(tick_after(first)), "{fault:?}");
        check(&container);
    }
}

#[tokio::test]
async fn a_clock_beyond_all_time_stamps_is_refused() {
    let (store, clock) = (memory(), SetClock::new());
    let container = simple(&store, &clock);
    let last_ms = i64::from(u32::MAX) * 1_000 + 999;
    for now_ms in [last_ms + 1, 1 << 50] {
        clock.set(now_ms);
        refused(write(&container, WriteMode::Upsert, "1", Precondition::None).await, ErrorKind::Unavailable);
    }
    clock.set(START_MS);
    assert_eq!(upsert(&container, "1").await.moment(), clock.now());
    clock.set(last_ms + 1);
    refused(delete(&container, "1", Precondition::None).await, ErrorKind::Unavailable);
    clock.set(last_ms);
    assert_eq!(upsert(&container, "1").await.header().ts, u32::MAX);
    check(&container);
}

#[tokio::test]
async fn a_write_may_ask_for_the_version_of_a_moment() {
    let (store, clock) = (memory(), SetClock::new());
    let container = simple(&store, &clock);
    let none = Precondition::WrittenAt(clock.now());
    // There is nothing: as with an etag, an upsert goes ahead, and all others have nothing to change.
    refused(write(&container, WriteMode::Replace, "1", none).await, ErrorKind::ItemNotFound);
    refused(delete(&container, "1", none).await, ErrorKind::ItemNotFound);
    let mut current = write(&container, WriteMode::Upsert, "1", none).await.unwrap().moment();
    refused(
        write(&container, WriteMode::Create, "1", Precondition::WrittenAt(current)).await,
        ErrorKind::ItemExists,
    );
    for mode in [WriteMode::Replace, WriteMode::Upsert] {
        let held = Precondition::WrittenAt(current);
        current = write(&container, mode, "1", held).await.unwrap().moment();
        for stale in [
            held,
            Precondition::WrittenAt(tick_after(current)),
            Precondition::WrittenAt(Moment::of_second(0)),
        ] {
            let error = refused(write(&container, mode, "1", stale).await, ErrorKind::PreconditionFailed);
            assert_eq!(error.charge.to_string(), "1.24");
            refused(delete(&container, "1", stale).await, ErrorKind::PreconditionFailed);
            let patch =
                Patch::new(vec![Operation::Remove { path: Pointer::parse("/n").unwrap() }], 0).unwrap();
            let patched = container.patch_item(&key(KEY), "1", patch, stale, Priority::High).await;
            refused(patched, ErrorKind::PreconditionFailed);
        }
    }
    let patch = Patch::new(vec![Operation::Remove { path: Pointer::parse("/n").unwrap() }], 0).unwrap();
    let held = Precondition::WrittenAt(current);
    let patched = container.patch_item(&key(KEY), "1", patch, held, Priority::High).await.unwrap();
    delete(&container, "1", Precondition::WrittenAt(patched.item.moment())).await.unwrap();
    check(&container);
}

#[tokio::test]
async fn so_may_the_steps_of_a_batch() {
    let (store, clock) = (memory(), SetClock::new());
    let container = simple(&store, &clock);
    let current = upsert(&container, "1").await.moment();
    let put = |precondition| BatchStep::Put {
        mode: WriteMode::Replace,
        id: Some("1".to_owned()),
        body: body("1", 2).into(),
        precondition,
    };
    let look = |precondition| BatchStep::Read { id: "1".to_owned(), known: None, precondition };
    let gone = |precondition| BatchStep::Delete { id: "1".to_owned(), precondition };
    let held = Precondition::WrittenAt(current);
    // The clock stands still, so the step behind the first knows what that one writes.
    let next = Precondition::WrittenAt(tick_after(current));
    let batch =
        async |steps| container.batch(&key(KEY), steps, ReadCost::Single, Priority::High).await.unwrap();
    for (steps, failing) in [
        (vec![put(Precondition::None), put(held)], 1),
        (vec![put(Precondition::None), look(held)], 1),
        (vec![put(Precondition::None), gone(held)], 1),
        (vec![look(next)], 0),
    ] {
        let failed = batch(steps).await.err().unwrap();
        assert_eq!((failed.step, failed.error.kind), (failing, ErrorKind::PreconditionFailed));
        assert_eq!(read(&container, KEY, "1").moment(), current);
    }
    assert!(batch(vec![look(held), put(held), put(Precondition::Exists)]).await.is_ok());
    let current = read(&container, KEY, "1").moment();
    let held = Precondition::WrittenAt(current);
    assert!(
        batch(vec![look(held), put(held), gone(Precondition::WrittenAt(tick_after(current)))]).await.is_ok()
    );
    check(&container);
}

#[tokio::test]
async fn one_winner_among_writers_with_the_same_moment() {
    let (store, clock) = (memory(), SetClock::new());
    let container = simple(&store, &clock);
    let mut held = upsert(&container, "1").await.moment();
    for _ in 0..10 {
        let writers: Vec<_> = (0..16)
            .map(|_| {
                let container = container.clone();
                tokio::spawn(async move {
                    write(&container, WriteMode::Replace, "1", Precondition::WrittenAt(held)).await
                })
            })
            .collect();
        let mut winners = Vec::new();
        for writer in writers {
            match writer.await.unwrap() {
                Ok(item) => winners.push(item.moment()),
                Err(error) => assert_eq!(error.kind, ErrorKind::PreconditionFailed),
            }
        }
        assert_eq!(winners.len(), 1);
        held = winners[0];
    }
}

const PARTITIONS: u32 = 24;

async fn put(container: &Container, pk: u32, mode: WriteMode, id: &str, precondition: Precondition) -> Item {
    let (key, body) = (key(&format!(r#"["{pk}"]"#)), format!(r#"{{"id":"{id}","pk":"{pk}"}}"#));
    let written =
        container.write_item(mode, &key, None, body.as_bytes().into(), precondition, Priority::High).await;
    written.unwrap().item
}

async fn fill(container: &Container) {
    for pk in 0..PARTITIONS {
        for id in ["1", "1", "2"] {
            put(container, pk, WriteMode::Upsert, id, Precondition::None).await;
        }
        let body = |id: &str| format!(r#"{{"id":"{id}","pk":"{pk}"}}"#);
        run(container, &key(&format!(r#"["{pk}"]"#)), |transaction| {
            transaction.put(WriteMode::Upsert, None, body("3").as_bytes(), Precondition::None)?;
            transaction.put(WriteMode::Upsert, None, body("2").as_bytes(), Precondition::None)
        })
        .await
        .unwrap();
    }
}

fn all_shown(container: &Container) -> Vec<(Moment, ETag)> {
    let all = (0..PARTITIONS).flat_map(|pk| ["1", "2", "3"].map(|id| (format!(r#"["{pk}"]"#), id)));
    all.map(|(pk, id)| shown(container, &read(container, &pk, id))).collect()
}

/// Replaces every item, given when it was written; nothing may be earlier than it was.
async fn replace_all(container: &Container) {
    for pk in 0..PARTITIONS {
        for id in ["1", "2", "3"] {
            let before = read(container, &format!(r#"["{pk}"]"#), id).moment();
            let held = Precondition::WrittenAt(before);
            let item = put(container, pk, WriteMode::Replace, id, held).await;
            assert!(shown(container, &item).0 > before);
        }
    }
}

#[tokio::test]
async fn splits_and_merges_keep_moments() {
    for text in [SIMPLE, ALL_VERSIONS] {
        let (store, clock) = (memory(), SetClock::new());
        // Two partitions whose commits have the same numbers, so that a merge renumbers.
        let container = container(&store, &clock, text, 20_000);
        assert_eq!(ids(&container), [0, 1]);
        fill(&container).await;
        let before = all_shown(&container);
        let latest = before.iter().map(|(moment, _)| *moment).max().unwrap();
        // The clock goes back before anything is copied.
        clock.set(START_MS - 9_000);
        merge(&container, [0, 1]).await.unwrap();
        assert_eq!(all_shown(&container), before);
        split(&container, 2, CutBy::Bytes).await.unwrap();
        assert_eq!(all_shown(&container), before);
        check(&container);
        // Children go on behind their parents, with what is new as well.
        for pk in 0..PARTITIONS {
            let item = put(&container, pk, WriteMode::Create, "4", Precondition::None).await;
            assert!(item.moment() > latest);
        }
        replace_all(&container).await;
        // And what comes while others are being made to take the place, by catching up.
        let mut reshape = begin_merge(&container, [3, 4]).unwrap();
        reshape.copy().await.unwrap();
        replace_all(&container).await;
        let before = all_shown(&container);
        reshape.close().await.unwrap().flip(container.map().version + 1);
        assert_eq!(all_shown(&container), before);
        let mut reshape = begin_split(&container, 5, CutBy::Arc).unwrap();
        reshape.copy().await.unwrap();
        replace_all(&container).await;
        let before = all_shown(&container);
        reshape.close().await.unwrap().flip(container.map().version + 1);
        assert_eq!(all_shown(&container), before);
        replace_all(&container).await;
        check(&container);
    }
}

/// Makes the items of a space those of a program that knew of no moments, and has them counted again.
async fn forget_moments(store: &Arc<dyn Store>, space: u64) {
    let opened = store.open_space(SpaceId(space)).unwrap();
    let mut batch = Batch::new();
    for (key, value) in scan(opened.as_ref(), Family::Item) {
        let (head, rest) = (&value[2..28], &value[32..]);
        let version = match value[..2] {
            [4, 0] => 1,
            [4, 1] => 2,
            _ => panic!("an item of another form"),
        };
        batch.put(Family::Item, key, [&[version, 0], head, rest].concat());
    }
    // The change log carried nothing then. Images have longer keys.
    for (key, entry) in scan(opened.as_ref(), Family::Feed).into_iter().filter(|(key, _)| key.len() == 10) {
        batch.put(Family::Feed, key, carried(&entry).1);
    }
    opened.commit(batch).await.unwrap();
    make_older(store, space, 2).await;
}

#[tokio::test]
async fn items_of_older_programs_keep_their_etags() {
    for text in [SIMPLE, ALL_VERSIONS] {
        let (store, clock) = (memory(), SetClock::new());
        let opened = container(&store, &clock, text, 20_000);
        fill(&opened).await;
        drop(opened);
        forget_moments(&store, 1).await;
        forget_moments(&store, 2).await;
        clock.set(START_MS - 9_000);
        let container = container(&store, &clock, text, 20_000);
        let before = all_shown(&container);
        for (pk, id) in [(0, "1"), (7, "3")] {
            let item = read(&container, &format!(r#"["{pk}"]"#), id);
            let header = item.header();
            assert_eq!((header.second_ticks, header.ts), (None, 1_700_000_000));
            assert_eq!(header.stamp.is_some(), id == "3");
            // As it always was: what tells it apart first, the time stamp last.
            let etag = item.etag(container.identity()).to_string();
            let first = header.stamp.map_or(header.lsn, |stamp| stamp.number() | (1 << 63));
            assert_eq!(etag[1..19].replace('-', ""), format!("{first:016x}"));
            assert_eq!(&etag[29..37], "6553f100");
        }
        check(&container);
        merge(&container, [0, 1]).await.unwrap();
        assert_eq!(all_shown(&container), before);
        check(&container);
        // They can be named by their moments, and what takes their place has a real one.
        replace_all(&container).await;
        let item = read(&container, r#"["0"]"#, "1");
        assert!(item.header().second_ticks.is_some());
        let before = all_shown(&container);
        split(&container, 2, CutBy::Bytes).await.unwrap();
        assert_eq!(all_shown(&container), before);
        check(&container);
    }
}

#[derive(Debug, Clone)]
enum Act {
    Write { id: u8 },
    Delete { id: u8 },
    Draft { first: u8, second: u8 },
    SetClock { now_ms: i64 },
    Restart,
}

fn act() -> impl Strategy<Value = Act> {
    let id = || 0..4u8;
    prop_oneof![
        4 => id().prop_map(|id| Act::Write { id }),
        1 => id().prop_map(|id| Act::Delete { id }),
        2 => (id(), id()).prop_map(|(first, second)| Act::Draft { first, second }),
        2 => (START_MS - 3_000..START_MS + 3_000).prop_map(|now_ms| Act::SetClock { now_ms }),
        1 => Just(Act::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_version_is_later_than_the_one_before(acts in prop::collection::vec(act(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (store, clock) = (memory(), SetClock::new());
            let mut container = simple(&store, &clock);
            let mut current: [Option<(Moment, ETag)>; 4] = [None; 4];
            for act in acts {
                let mut later = |id: u8, item: &Item| {
                    let shown = shown(&container, item);
                    let before = current[usize::from(id)].replace(shown);
                    assert!(before.is_none_or(|before| before.0 < shown.0 && before.1 != shown.1));
                    assert!(shown.0 >= clock.now());
                };
                match act {
                    Act::Write { id } => later(id, &upsert(&container, &id.to_string()).await),
                    Act::Delete { id } => {
                        let held = current[usize::from(id)].take().map_or(
                            Precondition::None,
                            |(moment, _)| Precondition::WrittenAt(moment),
                        );
                        let is_there = held != Precondition::None;
                        let deleted = delete(&container, &id.to_string(), held).await;
                        assert_eq!(deleted.is_ok(), is_there);
                    }
                    Act::Draft { first, second } => {
                        let (drafts, ..) = run(&container, &key(KEY), |transaction| {
                            let mut put = |id: u8| {
                                let body = body(&id.to_string(), 2);
                                let none = Precondition::None;
                                transaction.put(WriteMode::Upsert, None, body.as_bytes(), none)
                            };
                            Ok([put(first)?.item, put(second)?.item])
                        })
                        .await
                        .unwrap();
                        later(first, &drafts[0]);
                        later(second, &drafts[1]);
                    }
                    Act::SetClock { now_ms } => clock.set(now_ms),
                    Act::Restart => {
                        drop(container);
                        container = simple(&store, &clock);
                    }
                }
                for (id, expected) in (0..4u8).zip(current) {
                    let session = SessionToken::default();
                    let id = id.to_string();
                    let read = container
                        .read_item(&key(KEY), &id, None, &session, ReadCost::Single, Priority::High)
                        .ok()
                        .map(|read| shown(&container, &read.item));
                    assert_eq!(read, expected);
                }
            }
            check(&container);
        });
    }
}
