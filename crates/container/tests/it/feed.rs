//! The change feed of latest versions: where it begins, what of it belongs to a scope, where its pages end.

use std::time::Duration;

use armilla_container::{
    BatchStep, Container, CutBy, ErrorKind, FeedMode, FeedStart, Limits, ListScope, Policy, Position,
    Precondition, Priority, ReadCost, SessionToken, ThroughputSource, WriteMode,
};
use armilla_value::{HashVersion, HashedKey, hashed_key};

use crate::feeding::{Follower, arc, range, shown};
use crate::reshaping::{ids, merge, split};
use crate::support::{Fixture, Glass, check, key, refused, run};

const SIMPLE: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;

pub(crate) async fn put(container: &Container, pk: &str, id: &str, n: u32) -> Position {
    let body = format!(r#"{{"id":"{id}","pk":"{pk}","n":{n}}}"#);
    let (mode, key) = (WriteMode::Upsert, key(&format!(r#"["{pk}"]"#)));
    let written = container
        .write_item(mode, &key, None, body.as_bytes().into(), Precondition::None, Priority::High)
        .await;
    written.unwrap().position
}

pub(crate) async fn delete(container: &Container, pk: &str, id: &str) {
    let key = key(&format!(r#"["{pk}"]"#));
    container.delete_item(&key, id, Precondition::None, Priority::High).await.unwrap();
}

/// Writes items of one logical partition with one commit.
pub(crate) async fn put_together(container: &Container, pk: &str, ids: std::ops::Range<u32>, n: u32) {
    let step = |id: u32| BatchStep::Put {
        mode: WriteMode::Upsert,
        id: None,
        body: format!(r#"{{"id":"{id}","pk":"{pk}","n":{n}}}"#).into(),
        precondition: Precondition::None,
    };
    let key = key(&format!(r#"["{pk}"]"#));
    let steps = ids.map(step).collect();
    container.batch(&key, steps, ReadCost::Single, Priority::High).await.unwrap().ok().unwrap();
}

fn hashed(pk: &str) -> HashedKey {
    hashed_key(&key(&format!(r#"["{pk}"]"#)), HashVersion::V2)
}

fn logical(pk: &str) -> ListScope {
    ListScope::PartitionKey(key(&format!(r#"["{pk}"]"#)))
}

#[tokio::test]
async fn the_newest_version_of_each_item_in_the_order_of_commits() {
    let container = Fixture::simple().container;
    let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
    let empty = follower.next(&container);
    assert!(empty.changes.is_empty() && empty.is_end);
    assert_eq!((empty.token.as_str(), empty.charge.to_string().as_str()), ("0", "1.00"));
    put(&container, "a", "1", 1).await;
    put(&container, "b", "1", 2).await;
    put(&container, "a", "2", 3).await;
    put(&container, "a", "1", 4).await;
    put(&container, "c", "1", 5).await;
    delete(&container, "b", "1").await;
    let from_start = Follower::latest(ListScope::All, FeedStart::Beginning).drain(&container);
    assert_eq!(shown(&from_start), ["a/2=3", "a/1=4", "c/1=5"]);
    assert_eq!(from_start.iter().map(|change| change.lsn).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(from_start.iter().map(|change| change.previous_lsn).collect::<Vec<_>>(), [0, 1, 0]);
    assert!(from_start.iter().all(|change| change.previous.is_none() && change.id.is_empty()));
    let page = follower.next(&container);
    assert_eq!(shown(&page.changes), ["a/2=3", "a/1=4", "c/1=5"]);
    // The delete was a commit, too.
    assert_eq!((page.token.as_str(), page.is_end), ("6", true));
    assert_eq!(page.positions, [Position { range_id: 0, lsn: 6 }]);
    assert!(follower.next(&container).changes.is_empty());
    put(&container, "b", "1", 6).await;
    assert_eq!(shown(&follower.drain(&container)), ["b/1=6"]);
}

#[tokio::test]
async fn it_begins_now_or_with_a_token_or_at_a_time() {
    let Fixture { container, clock } = Fixture::simple();
    let mut starts = Vec::new();
    for step in 0..30_u32 {
        starts.push((step, clock_seconds(&container, &clock).await));
        put(&container, "a", &step.to_string(), step).await;
        clock.advance(Duration::from_secs(7));
    }
    let mut now = Follower::latest(ListScope::All, FeedStart::Now);
    let page = now.next(&container);
    assert!(page.changes.is_empty() && page.is_end);
    // Each step has two commits beside its own: the clock is read off an item.
    assert_eq!(page.token, "90");
    let written_at = |ts: u32| starts.iter().filter(|(_, at)| *at >= ts).count();
    for (_, ts) in starts.clone() {
        for at in [ts - 1, ts, ts + 1, ts + 6, ts + 7] {
            for scope in [ListScope::All, logical("a"), range(0), arc(&HashedKey::MIN, &HashedKey::MAX)] {
                let mut follower = Follower::latest(scope, FeedStart::Time(at));
                assert_eq!(follower.drain(&container).len(), written_at(at), "{at}");
                assert_eq!(follower.token(), "90");
            }
        }
    }
    // The time is an additional condition where there is a token.
    let mut follower = Follower::latest(ListScope::All, FeedStart::Token("20".to_owned()));
    follower.modified_since = Some(starts[20].1);
    assert_eq!(follower.drain(&container).len(), 10);
    let mut follower = Follower::latest(ListScope::All, FeedStart::Token("75".to_owned()));
    follower.modified_since = Some(starts[20].1);
    assert_eq!(follower.drain(&container).len(), 5);
    assert!(now.next(&container).changes.is_empty());
}

/// Reads the clock off an item that is gone again.
async fn clock_seconds(container: &Container, _: &armilla_env::SimulatedClock) -> u32 {
    let body = r#"{"id":"clock","pk":"clock","n":0}"#;
    let (mode, key) = (WriteMode::Upsert, key(r#"["clock"]"#));
    let written = container
        .write_item(mode, &key, None, body.as_bytes().into(), Precondition::None, Priority::High)
        .await;
    let item = written.unwrap().item;
    container.delete_item(&key, "clock", Precondition::None, Priority::High).await.unwrap();
    item.header().ts
}

#[tokio::test]
async fn a_time_before_a_merge_and_after_it() {
    let Fixture { container, clock } = Fixture::new(SIMPLE, 20_000, Limits::default());
    // One half is written much more than the other, so that its commits have other numbers at the same time.
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for pk in 0..200 {
        let pk = pk.to_string();
        if hashed(&pk) < container.map().ranges[1].min { low.push(pk) } else { high.push(pk) }
    }
    for step in 0..20_usize {
        put(&container, &low[step], "1", 1).await;
        put(&container, &high[2 * step], "1", 1).await;
        put(&container, &high[2 * step + 1], "1", 1).await;
        clock.advance(Duration::from_secs(60));
    }
    merge(&container, [0, 1]).await.unwrap();
    let merged_at = 1_700_000_000 + 20 * 60;
    for step in 0..20_usize {
        clock.advance(Duration::from_secs(60));
        put(&container, &low[step + 20], "1", 1).await;
    }
    let first = Follower::latest(ListScope::All, FeedStart::Beginning).next(&container).changes.remove(0).ts;
    assert_eq!(first + 20 * 60, merged_at, "the simulated clock begins at another time");
    for (at, expected) in [
        (first, 80),
        (first + 1, 77),
        (first + 60, 77),
        (first + 19 * 60, 23),
        (first + 19 * 60 + 1, 20),
        (merged_at + 30, 20),
        (merged_at + 61, 19),
        (merged_at + 20 * 60, 1),
        (merged_at + 20 * 60 + 1, 0),
    ] {
        let mut follower = Follower::latest(ListScope::All, FeedStart::Time(at));
        assert_eq!(follower.drain(&container).len(), expected, "{}", at - first);
    }
}

#[tokio::test]
async fn pages_end_between_commits() {
    let container = Fixture::simple().container;
    put(&container, "a", "x", 1).await;
    put_together(&container, "a", 0..5, 2).await;
    put_together(&container, "a", 5..7, 3).await;
    put(&container, "a", "y", 4).await;
    for scope in [ListScope::All, logical("a"), range(0), arc(&HashedKey::MIN, &hashed("a"))] {
        let is_whole = !matches!(&scope, ListScope::Range { max: Some(max), .. } if *max == hashed("a"));
        for (items_max, expected) in [
            (1, &[1, 5, 2, 1][..]),
            (2, &[6, 2, 1]),
            (6, &[6, 3]),
            (7, &[8, 1]),
            (8, &[8, 1]),
            (9, &[9]),
            (1_000, &[9]),
        ] {
            let mut follower = Follower::latest(scope.clone(), FeedStart::Beginning);
            follower.items_max = items_max;
            let mut pages = Vec::new();
            loop {
                let page = follower.next(&container);
                if page.changes.is_empty() {
                    assert!(page.is_end);
                    break;
                }
                pages.push(page.changes.len());
            }
            assert_eq!(pages, if is_whole { expected } else { &[] }, "{items_max}");
            assert_eq!(follower.token(), "4");
        }
    }
}

#[tokio::test]
async fn pages_are_bounded_in_bytes() {
    let container = Fixture::simple().container;
    let text = "x".repeat(1_000_000);
    for id in 0..10 {
        let body = format!(r#"{{"id":"{id}","pk":"a","text":"{text}"}}"#);
        let (mode, key) = (WriteMode::Upsert, key(r#"["a"]"#));
        let written = container.write_item(
            mode,
            &key,
            None,
            body.as_bytes().into(),
            Precondition::None,
            Priority::High,
        );
        written.await.unwrap();
    }
    let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
    let mut pages = Vec::new();
    loop {
        let page = follower.next(&container);
        pages.push(page.changes.len());
        if page.is_end {
            break;
        }
    }
    assert_eq!(pages, [5, 5]);
}

#[tokio::test]
async fn scopes_see_what_is_theirs() {
    for throughput in [400, 50_000] {
        let container = Fixture::new(SIMPLE, throughput, Limits::default()).container;
        let mut by_hash = Vec::new();
        for number in 0..60_u32 {
            let pk = number.to_string();
            put(&container, &pk, "1", number).await;
            by_hash.push((hashed(&pk), pk));
        }
        by_hash.sort();
        let all = Follower::latest(ListScope::All, FeedStart::Beginning).drain(&container);
        assert_eq!(all.len(), 60);
        for ends in [0..1, 0..60, 10..30, 59..60, 29..31] {
            let min = if ends.start == 0 { HashedKey::MIN } else { by_hash[ends.start].0.clone() };
            let max = by_hash.get(ends.end).map_or(HashedKey::MAX, |(hashed, _)| hashed.clone());
            for items_max in [1, 7, 1_000] {
                let mut follower = Follower::latest(arc(&min, &max), FeedStart::Beginning);
                follower.items_max = items_max;
                let mut seen: Vec<String> =
                    shown(&follower.drain(&container)).iter().map(|name| name.replace("/1", "")).collect();
                seen.sort();
                let mut expected: Vec<String> =
                    by_hash[ends.clone()].iter().map(|(_, pk)| format!("{pk}={pk}")).collect();
                expected.sort();
                assert_eq!(seen, expected, "{ends:?}");
                assert!(follower.next(&container).changes.is_empty());
            }
        }
        for (_, pk) in &by_hash {
            let mut follower = Follower::latest(logical(pk), FeedStart::Beginning);
            assert_eq!(shown(&follower.drain(&container)), [format!("{pk}/1={pk}")]);
        }
        let mut by_range = 0;
        for id in ids(&container) {
            by_range += Follower::latest(range(id), FeedStart::Beginning).drain(&container).len();
        }
        assert_eq!(by_range, 60);
        refused(
            container.read_feed(&Follower::latest(range(77), FeedStart::Now).request()),
            ErrorKind::RangeGone,
        );
        refused(
            container.read_feed(
                &Follower::latest(arc(&HashedKey::MAX, &HashedKey::MIN), FeedStart::Now).request(),
            ),
            ErrorKind::Invalid,
        );
    }
}

/// A logical partition is read by its items or by the log, whichever is less; readers cannot tell.
#[tokio::test]
async fn a_logical_partition_among_many() {
    let container = Fixture::simple().container;
    for round in 0..40_u32 {
        put(&container, "small", &(round % 7).to_string(), round).await;
        for other in 0..round {
            put(&container, "large", &other.to_string(), round).await;
        }
        if round % 5 == 4 {
            put_together(&container, "small", 10..13, round).await;
            put(&container, "small", "3", round).await;
            delete(&container, "small", "3").await;
        }
        for pk in ["small", "large"] {
            for items_max in [1, 3, 1_000] {
                let mut follower = Follower::latest(logical(pk), FeedStart::Beginning);
                follower.items_max = items_max;
                let seen = follower.drain(&container);
                let all = Follower::latest(ListScope::All, FeedStart::Beginning).drain(&container);
                let expected: Vec<String> =
                    shown(&all).into_iter().filter(|name| name.starts_with(pk)).collect();
                let mut sorted = (shown(&seen), expected);
                // Inside a commit there is no order.
                sorted.0.sort();
                sorted.1.sort();
                assert_eq!(sorted.0, sorted.1);
                assert!(seen.is_sorted_by_key(|change| change.lsn));
            }
        }
    }
}

#[tokio::test]
async fn positions_of_parents_are_good_for_children() {
    for by in [CutBy::Arc, CutBy::Bytes] {
        let container = Fixture::simple().container;
        for number in 0..40_u32 {
            put(&container, &number.to_string(), "1", number).await;
        }
        let mut half = Follower::latest(range(0), FeedStart::Beginning);
        half.items_max = 15;
        let first = shown(&half.next(&container).changes);
        let mut whole = Follower::latest(ListScope::All, half.start.clone());
        split(&container, 0, by).await.unwrap();
        refused(half.try_next(&container), ErrorKind::RangeGone);
        let mut seen = first.clone();
        let mut tokens = Vec::new();
        for id in ids(&container) {
            let mut child = Follower::latest(range(id), half.start.clone());
            seen.extend(shown(&child.drain(&container)));
            tokens.push(child.token().to_owned());
        }
        assert_eq!(seen.len(), 40, "nothing is lost and nothing comes twice");
        seen.extend(shown(&whole.drain(&container)));
        assert_eq!(seen.len(), 40 + 25);
        // Both children go on from the same commit, so one number is enough.
        assert_eq!(whole.token(), tokens[0]);
        put(&container, "0", "1", 100).await;
        put(&container, "1", "1", 101).await;
        assert_eq!(whole.drain(&container).len(), 2);
        // A range inside of one child takes the position of all.
        let (min, max) = (hashed("0"), HashedKey::MAX);
        let mut part = Follower::latest(arc(&min, &max), whole.start.clone());
        assert!(part.next(&container).changes.is_empty());
        let [low, high] = ids(&container)[..] else { panic!("two ranges") };
        let mut behind = whole.clone();
        put(&container, "5", "1", 105).await;
        merge(&container, [low, high]).await.unwrap();
        put(&container, "6", "1", 106).await;
        let mut rest = shown(&behind.drain(&container));
        rest.sort();
        assert_eq!(rest, ["5/1=105", "6/1=106"]);
        assert!(
            !behind.token().contains(';'),
            "what was brought together has one position: {}",
            behind.token()
        );
        check(&container);
    }
}

/// What a merge brought together has one position as soon as it was read to its end once, whatever is written meanwhile.
#[tokio::test]
async fn parts_of_one_partition_come_to_one_position() {
    let container = Fixture::new(SIMPLE, 20_000, Limits::default()).container;
    for number in 0..40_u32 {
        put(&container, &(number % 13).to_string(), "1", number).await;
    }
    let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
    follower.drain(&container);
    assert!(follower.token().starts_with("F1;"), "{}", follower.token());
    merge(&container, [0, 1]).await.unwrap();
    put(&container, "1", "1", 100).await;
    put(&container, "2", "1", 100).await;
    let page = follower.next(&container);
    assert_eq!((page.changes.len(), page.is_end), (2, true));
    assert_eq!(page.positions.len(), 1);
    assert_eq!(page.token, page.positions[0].lsn.to_string());
}

#[tokio::test]
async fn what_is_no_token_is_refused() {
    let container = Fixture::simple().container;
    for token in ["", "x", "-1", "F1", "F1;-10-5", "L1;-FF-7", "N1;5"] {
        let follower = Follower::latest(ListScope::All, FeedStart::Token(token.to_owned()));
        let error = refused(container.read_feed(&follower.request()), ErrorKind::Invalid);
        assert!(error.message.contains("Continuation Token"), "{error}");
        let waited = container.feed_changed(&ListScope::All, token).await;
        refused(waited, ErrorKind::Invalid);
    }
    // A position that is not there yet was never given to a reader.
    put(&container, "a", "1", 1).await;
    for (token, is_one) in [("0", true), ("1", true), ("2", false), ("18446744073709551615", false)] {
        let mut follower = Follower::latest(ListScope::All, FeedStart::Token(token.to_owned()));
        let page = follower.try_next(&container).map_err(|error| error.kind);
        assert_eq!(page.err(), (!is_one).then_some(ErrorKind::Invalid), "{token}");
    }
}

/// A partition that is written all the time does not keep the others' changes from being shown.
#[tokio::test]
async fn no_reader_waits_behind_a_busy_partition() {
    let container = Fixture::new(SIMPLE, 20_000, Limits::default()).container;
    let cut = container.map().ranges[1].min.clone();
    let busy = (0..).map(|number: u32| number.to_string()).find(|pk| hashed(pk) < cut).unwrap();
    let quiet = (0..).map(|number: u32| number.to_string()).find(|pk| hashed(pk) >= cut).unwrap();
    let mut follower = Follower::latest(ListScope::All, FeedStart::Now);
    follower.items_max = 5;
    follower.next(&container);
    for id in 0..8 {
        put(&container, &quiet, &id.to_string(), 1).await;
    }
    let mut seen = 0;
    for round in 0..20_u32 {
        for id in 0..6 {
            put(&container, &busy, &format!("{round}-{id}"), 1).await;
        }
        let page = follower.next(&container);
        seen += shown(&page.changes).iter().filter(|name| name.starts_with(&format!("{quiet}/"))).count();
        assert!(!page.is_end);
    }
    assert_eq!(seen, 8);
}

#[tokio::test]
async fn what_the_client_has_seen_is_shown() {
    let container = Fixture::simple().container;
    let position = put(&container, "a", "1", 1).await;
    let mut request = Follower::latest(ListScope::All, FeedStart::Now).request();
    request.session = SessionToken::from(Position { lsn: position.lsn + 1, ..position });
    for start in [FeedStart::Now, FeedStart::Beginning, FeedStart::Token("1".to_owned())] {
        request.start = start;
        refused(container.read_feed(&request), ErrorKind::SessionNotAvailable);
    }
    request.session = SessionToken::from(position);
    assert_eq!(container.read_feed(&request).unwrap().positions, [position]);
}

#[tokio::test]
async fn pages_cost_what_they_show_and_what_they_walk() {
    let container = Fixture::simple().container;
    for number in 0..1_000_u32 {
        put(&container, "a", &number.to_string(), number).await;
    }
    put(&container, "b", "1", 1).await;
    let charge = |scope: ListScope, items_max: usize| {
        let mut follower = Follower::latest(scope, FeedStart::Beginning);
        follower.items_max = items_max;
        follower.next(&container).charge.to_string()
    };
    assert_eq!(charge(ListScope::All, 1), "1.00");
    assert_eq!(charge(ListScope::All, 10), "10.00");
    // By its one item.
    assert_eq!(charge(logical("b"), 10), "1.00");
    // By the log.
    let narrow = arc(&hashed("b"), &HashedKey::from_bytes(&[hashed("b").as_bytes(), &[0]].concat()));
    assert_eq!(charge(narrow, 10), "5.20");
    let mut end = Follower::latest(ListScope::All, FeedStart::Now);
    assert_eq!(end.next(&container).charge.to_string(), "1.00");
    assert_eq!(end.next(&container).charge.to_string(), "1.00");
}

#[tokio::test]
async fn who_has_spent_what_it_may_waits() {
    let (env, clock) = armilla_env::Env::simulated(1);
    let definition = crate::support::definition(SIMPLE);
    let limits = Limits::default();
    let map = armilla_container::PartitionMap {
        version: 1,
        ranges: crate::support::ranges(&definition, 400, &limits),
    };
    let container = Container::open(
        std::sync::Arc::new(armilla_kv::memory::MemoryStore::new()),
        env,
        std::sync::Arc::new(limits),
        crate::support::identity(),
        definition,
        None,
        map,
        ThroughputSource::own(400),
        Policy { enforced: true, burst: false },
        crate::support::known_numbers(),
        None,
    );
    for number in 0..60_u32 {
        put(&container, "a", &number.to_string(), number).await;
        clock.advance(Duration::from_millis(100));
    }
    clock.advance(Duration::from_secs(2));
    let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
    let mut seen = 0;
    let mut refusals = 0;
    for _ in 0..1_000 {
        match follower.try_next(&container) {
            Ok(page) => {
                seen += page.changes.len();
                if page.is_end {
                    break;
                }
            }
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::Throttled);
                refusals += 1;
                clock.advance(Duration::from_secs(2));
            }
        }
    }
    assert_eq!(seen, 60);
    assert!(refusals < 3);
    while follower.try_next(&container).is_ok() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_is_told() {
    let container = Fixture::new(SIMPLE, 20_000, Limits::default()).container;
    let cut = container.map().ranges[1].min.clone();
    let low = (0..).map(|number: u32| number.to_string()).find(|pk| hashed(pk) < cut).unwrap();
    let high = (0..).map(|number: u32| number.to_string()).find(|pk| hashed(pk) >= cut).unwrap();
    let wait = |scope: ListScope, token: String| {
        let container = container.clone();
        async move {
            let changed = container.feed_changed(&scope, &token);
            tokio::time::timeout(Duration::from_millis(300), changed).await.is_ok()
        }
    };
    let position = |scope: ListScope| {
        let mut follower = Follower::latest(scope, FeedStart::Now);
        follower.next(&container);
        follower.token().to_owned()
    };
    let scopes = [ListScope::All, range(0), logical(&low), arc(&HashedKey::MIN, &cut)];
    for scope in &scopes {
        let token = position(scope.clone());
        assert!(!wait(scope.clone(), token.clone()).await, "nothing happened");
        let waiting = tokio::spawn(wait(scope.clone(), token.clone()));
        tokio::task::yield_now().await;
        put(&container, &low, "1", 1).await;
        assert!(waiting.await.unwrap());
        assert!(wait(scope.clone(), token).await, "it has happened already");
        let token = position(scope.clone());
        let waiting = tokio::spawn(wait(scope.clone(), token));
        tokio::task::yield_now().await;
        put(&container, &high, "1", 1).await;
        assert_eq!(waiting.await.unwrap(), matches!(scope, ListScope::All));
    }
    // A reader that waits for a partition that is replaced goes on with the next.
    for scope in [ListScope::All, logical(&low)] {
        let token = position(scope.clone());
        let waiting = tokio::spawn(wait(scope, token));
        tokio::task::yield_now().await;
        let first = ids(&container)[0];
        split(&container, first, CutBy::Arc).await.unwrap();
        assert!(waiting.await.unwrap());
    }
}

#[tokio::test]
async fn transactions_have_the_time_at_which_they_were_drafted() {
    let Fixture { container, clock } = Fixture::simple();
    put(&container, "b", "1", 1).await;
    clock.advance(Duration::from_secs(20));
    let mut begun = container.begin(&key(r#"["a"]"#), 0, ReadCost::Single, Priority::High).await.unwrap();
    begun.put(WriteMode::Upsert, None, br#"{"id":"1","pk":"a","n":2}"#, Precondition::None).unwrap();
    clock.advance(Duration::from_secs(5));
    let between = put(&container, "b", "2", 3).await;
    begun.commit().await.unwrap();
    let ts = 1_700_000_000 + 20;
    let shown_since =
        |at: u32| shown(&Follower::latest(ListScope::All, FeedStart::Time(at)).drain(&container));
    assert_eq!(between.lsn, 2);
    let first = Follower::latest(ListScope::All, FeedStart::Beginning).next(&container).changes.remove(0).ts;
    assert_eq!(first + 20, ts);
    assert_eq!(shown_since(ts), ["b/2=3", "a/1=2"]);
    assert_eq!(shown_since(ts + 1), ["b/2=3"]);
    assert_eq!(shown_since(ts + 6), [""; 0]);
    let (_, position, _) = run(&container, &key(r#"["a"]"#), |transaction| {
        transaction.put(WriteMode::Upsert, None, br#"{"id":"1","pk":"a","n":5}"#, Precondition::None)
    })
    .await
    .unwrap();
    assert_eq!(position.lsn, 4);
}

#[tokio::test]
async fn keys_of_every_kind() {
    for (definition, keys) in [
        (r#"{"paths":["/pk"],"version":1}"#, ["[\"x\"]", "[\"y\"]"]),
        (r#"{"paths":["/pk","/id"],"kind":"MultiHash","version":2}"#, ["[\"x\",\"1\"]", "[\"y\",\"1\"]"]),
    ] {
        let text = format!(r#"{{"id":"c","partitionKey":{definition}}}"#);
        let container = Fixture::new(&text, 20_000, Limits::default()).container;
        for (pk, partition_key) in ["x", "y"].into_iter().zip(keys) {
            let body = format!(r#"{{"id":"1","pk":"{pk}","n":1}}"#);
            let (mode, key) = (WriteMode::Create, key(partition_key));
            let body = body.as_bytes();
            container
                .write_item(mode, &key, None, body.into(), Precondition::None, Priority::High)
                .await
                .unwrap();
        }
        for (pk, partition_key) in ["x", "y"].into_iter().zip(keys) {
            let scope = ListScope::PartitionKey(key(partition_key));
            let seen = Follower::latest(scope, FeedStart::Beginning).drain(&container);
            assert_eq!(shown(&seen), [format!("{pk}/1=1")]);
        }
        assert_eq!(Follower::latest(ListScope::All, FeedStart::Beginning).drain(&container).len(), 2);
    }
    let text = r#"{"id":"c","partitionKey":{"paths":["/pk","/id"],"kind":"MultiHash","version":2}}"#;
    let glass = Glass::new(text, Limits::default());
    for id in 0..5 {
        for pk in ["x", "y"] {
            let body = format!(r#"{{"id":"{id}","pk":"{pk}","n":1}}"#);
            let full = format!(r#"["{pk}","{id}"]"#);
            glass.fixture.create(&full, &body).await.unwrap();
        }
    }
    let prefix = ListScope::PartitionKey(key(r#"["x"]"#));
    let mut follower = Follower::latest(prefix, FeedStart::Beginning);
    follower.items_max = 2;
    assert_eq!(follower.drain(&glass.fixture.container).len(), 5);
    assert_eq!(
        Follower::new(FeedMode::Latest, range(0), FeedStart::Beginning).drain(&glass.fixture.container).len(),
        10
    );
}
