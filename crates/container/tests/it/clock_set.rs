//! A clock that was wrong and is set right: time stamps, time to live and versions afterwards.
//!
//! Not here: clocks that go back a little (`moments`), and what is kept of changes (`feed_versions`).

use armilla_container::{
    Container, FeedStart, ListScope, Precondition, Priority, ReadCost, SessionToken, WriteMode,
};
use armilla_env::Clock as _;

use crate::feeding::Follower;
use crate::moments::{self, KEY, START_MS, SetClock, body, memory, read, shown, simple, upsert};
use crate::support::{check, key, run};

const DAY_MS: i64 = 86_400_000;
const EXPIRING: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":60}"#;

fn is_there(container: &Container, id: &str) -> bool {
    let session = SessionToken::default();
    container.read_item(&key(KEY), id, None, &session, ReadCost::Single, Priority::High).is_ok()
}

/// The clock of the machine was ten years ahead for a while. Everything written later had time stamps ten years ahead
/// until the next start, and with a time to live never expired.
#[tokio::test]
async fn time_stamps_and_time_to_live_follow_a_clock_that_was_set_back() {
    for is_restarted in [false, true] {
        let (store, clock) = (memory(), SetClock::new());
        let mut container = moments::container(&store, &clock, EXPIRING, 400);
        let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
        let first = upsert(&container, "1").await;
        clock.set(START_MS + 3_650 * DAY_MS);
        let wrong = upsert(&container, "1").await;
        upsert(&container, "wrong").await;
        assert_eq!(wrong.moment().second(), clock.now().second());
        clock.set(START_MS);
        if is_restarted {
            drop(container);
            container = moments::container(&store, &clock, EXPIRING, 400);
        }
        let second = START_MS.div_euclid(1_000) as u32;
        // What is new, what takes the place of what was written meanwhile, and what a script writes.
        let replaced = upsert(&container, "1").await;
        let new = upsert(&container, "2").await;
        let (drafts, ..) = run(&container, &key(KEY), |transaction| {
            let mut put = |id: &str| {
                let body = body(id, 2);
                transaction.put(WriteMode::Upsert, None, body.as_bytes(), Precondition::None)
            };
            Ok([put("wrong")?.item, put("wrong")?.item, put("3")?.item])
        })
        .await
        .unwrap();
        for item in [&replaced, &new, &drafts[0], &drafts[1], &drafts[2]] {
            assert_eq!(item.header().ts, second, "{is_restarted}");
        }
        // No two versions are alike, though the clock shows what it did at first.
        let versions = [&first, &wrong, &replaced].map(|item| shown(&container, item));
        assert!(
            versions[0].0 != versions[1].0
                && versions[1].0 != versions[2].0
                && versions[0].0 != versions[2].0
        );
        assert!(versions[0].1 != versions[2].1);
        // What a script was shown is what is stored.
        let stored = shown(&container, &read(&container, KEY, "wrong"));
        assert_eq!(stored, shown(&container, &drafts[1]), "{is_restarted}");
        // The order of commits holds.
        let lsns = [&first, &wrong, &replaced, &new].map(|item| item.header().lsn);
        assert!(lsns.is_sorted_by(|one, next| one < next), "{lsns:?}");
        let changes = follower.drain(&container);
        assert!(changes.is_sorted_by_key(|change| change.lsn), "{is_restarted}");
        assert_eq!(changes.len(), 4);
        // A reader that follows from a time on is shown what was written since.
        let mut since = Follower::latest(ListScope::All, FeedStart::Time(second));
        assert_eq!(since.drain(&container).len(), 4, "{is_restarted}");
        // And everything expires at the end of its time to live.
        clock.set(START_MS + 59_000);
        assert!(["1", "2", "3", "wrong"].iter().all(|id| is_there(&container, id)));
        clock.set(START_MS + 61_000);
        assert!(["1", "2", "3", "wrong"].iter().all(|id| !is_there(&container, id)), "{is_restarted}");
        check(&container);
    }
}

/// The clock was ahead all the time, and is set right.
#[tokio::test]
async fn a_version_of_a_clock_that_was_ahead_is_replaced_by_one_of_now() {
    let (store, clock) = (memory(), SetClock::new());
    let container = simple(&store, &clock);
    let mut held = Vec::new();
    for _ in 0..100 {
        held.push(shown(&container, &upsert(&container, "1").await));
        clock.set(clock.now_ms() + 1);
    }
    clock.set(START_MS - 3_600_000);
    held.push(shown(&container, &upsert(&container, "1").await));
    // An hour later it is the same time again, and nothing is as it was.
    clock.set(START_MS);
    for _ in 0..100 {
        held.push(shown(&container, &upsert(&container, "1").await));
        clock.set(clock.now_ms() + 1);
    }
    let count = held.len();
    held.sort_by_key(|(moment, _)| *moment);
    held.dedup_by_key(|(moment, _)| *moment);
    assert_eq!(held.len(), count, "a moment was given twice");
    check(&container);
}
