//! Splits and merges: by command, by throughput and by size; what clients see of them.
//!
//! Not here: what a crash leaves of them (`reshaping_faults`).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{
    Caller, ContainerFigures, EngineOptions, ErrorKind, ItemName, Limits, ListScope, QueryRequest, RangeMap,
    RangeStatus, ResourceKind, ResourcePrecondition, SessionToken, Throughput, check,
};
use armilla_value::Value;
use armilla_value::rid::ItemRid;

use crate::support::{Fixture, defined, manual, refused, unthrottled, value};

fn options(limits: Limits) -> EngineOptions {
    let limits = Limits { initial_partition_ru: limits.physical_partition_ru, ..limits };
    EngineOptions { limits, ..unthrottled() }
}

pub(crate) async fn create(fixture: &Fixture, throughput: u32) {
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = value(
        r#"{"id":"c","partitionKey":{"paths":["/pk"]},"indexingPolicy":{"includedPaths":[{"path":"/*"}],
            "compositeIndexes":[[{"path":"/g"},{"path":"/n"}]]}}"#,
    );
    let throughput = Some(Throughput::Manual(throughput));
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), throughput).await.unwrap();
}

/// Writes items of as many logical partitions.
pub(crate) async fn fill(fixture: &Fixture, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let body = format!(r#"{{"id":"{number}","pk":"k{number}","n":{number},"g":{}}}"#, number % 3);
        fixture.upsert(&format!("k{number}"), &body).await;
    }
}

fn map(fixture: &Fixture) -> RangeMap {
    fixture.container("c").ranges(&fixture.caller).unwrap()
}

pub(crate) fn ids(fixture: &Fixture) -> Vec<u32> {
    map(fixture).ranges.iter().map(|range| range.id).collect()
}

pub(crate) fn figures(fixture: &Fixture) -> ContainerFigures {
    fixture.engine.partitions(&fixture.caller).unwrap().remove(0)
}

/// Sees to it that all items are there once, wherever one looks, and that what is stored agrees.
pub(crate) async fn assert_whole(fixture: &Fixture, count: u32) {
    for number in 0..count {
        assert!(fixture.item(&format!("k{number}"), &number.to_string()).is_some(), "item {number}");
    }
    let rows = fixture.query("SELECT VALUE c.n FROM c WHERE c.n >= 0").await;
    let found: Vec<u32> =
        rows.split(',').filter(|row| !row.is_empty()).map(|row| row.parse().unwrap()).collect();
    assert_eq!(found.len(), count as usize);
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>().len(), count as usize);
    let engine = fixture.engine.clone();
    let report = tokio::task::spawn_blocking(move || check(&engine, &mut |_, _| {}).unwrap()).await.unwrap();
    assert_eq!((report.items, report.problems), (u64::from(count), vec![]));
    let usage = fixture.container("c").usage(&fixture.caller).unwrap();
    assert_eq!((usage.items, usage.bytes), (u64::from(count), report.bytes));
}

pub(crate) async fn split(fixture: &Fixture, range: Option<u32>, at: Option<&str>) {
    fixture.engine.split(&fixture.caller, "d", "c", range, at).await.unwrap();
    fixture.until_whole("c").await;
    assert_eq!(figures(fixture).failed, None);
}

async fn merge(fixture: &Fixture, ranges: [u32; 2]) {
    fixture.engine.merge(&fixture.caller, "d", "c", ranges).await.unwrap();
    fixture.until_whole("c").await;
    assert_eq!(figures(fixture).failed, None);
}

#[tokio::test]
async fn a_split_by_command() {
    let fixture = Fixture::new().await;
    create(&fixture, 400).await;
    fill(&fixture, 0..60).await;
    let before = map(&fixture);
    assert_eq!((before.version, before.ranges[0].since, before.ranges[0].id), (1, 1, 0));
    let seen = before.ranges[0].lsn;
    let item = fixture.read_item(&fixture.caller, "c", "7", "k7").unwrap();
    let rid: ItemRid = item.item.rid(fixture.container("c").identity());
    fixture.engine.split(&fixture.caller, "d", "c", None, None).await.unwrap();
    assert_eq!(map(&fixture).ranges[0].status, RangeStatus::Splitting);
    refused(fixture.engine.split(&fixture.caller, "d", "c", None, None).await, ErrorKind::Locked);
    fixture.until_whole("c").await;
    let after = map(&fixture);
    assert_eq!(after.version, 2);
    let shape: Vec<_> = after
        .ranges
        .iter()
        .map(|range| (range.id, &*range.min, &*range.max, &range.parents[..], range.since, range.status))
        .collect();
    let middle = after.ranges[0].max.as_str();
    assert!(middle.starts_with("1FFF") || middle.starts_with("2000"), "{middle}");
    let online = RangeStatus::Online;
    assert_eq!(shape, [(1, "", middle, &[0][..], 2, online), (2, middle, "FF", &[0][..], 2, online)]);
    assert!(after.ranges.iter().all(|range| range.lsn > seen && range.throughput_fraction == 0.5));
    assert_whole(&fixture, 60).await;
    // A caller that names the old range is told to look again; one whose session has seen it is served.
    let scope = ListScope::Range { id: Some(0), min: None, max: None };
    let request = QueryRequest { scope, ..QueryRequest::new("SELECT * FROM c") };
    let gone = fixture.engine.query_items(&fixture.caller, &fixture.container("c"), request).await;
    refused(gone, ErrorKind::RangeGone);
    refused(fixture.engine.split(&fixture.caller, "d", "c", Some(0), None).await, ErrorKind::RangeGone);
    let session = SessionToken::parse(&format!("0:-1#{seen}")).unwrap();
    let caller = Caller { session, ..Caller::full() };
    fixture.read_item(&caller, "c", "7", "k7").unwrap();
    let ahead = Caller { session: SessionToken::parse("0:-1#1000000").unwrap(), ..Caller::full() };
    refused(fixture.read_item(&ahead, "c", "7", "k7"), ErrorKind::SessionNotAvailable);
    let container = fixture.container("c");
    let by_rid = fixture.engine.read_item(&fixture.caller, &container, ItemName::Rid(rid), None, None);
    assert_eq!(by_rid.unwrap().item.header().number, item.item.header().number);
    // Figures and what the account keeps.
    let figures = figures(&fixture);
    assert_eq!((figures.map_version, figures.failed.as_deref(), figures.pending), (2, None, false));
    let fixture = fixture.reopen().await;
    assert_eq!(map(&fixture), after);
    fill(&fixture, 60..80).await;
    assert_whole(&fixture, 80).await;
}

#[tokio::test]
async fn where_to_split_can_be_said() {
    let fixture = Fixture::new().await;
    create(&fixture, 400).await;
    fill(&fixture, 0..30).await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    for at in ["", "FF", "XY", "123", "00", "FFFF"] {
        refused(engine.split(caller, "d", "c", Some(0), Some(at)).await, ErrorKind::Invalid);
    }
    refused(engine.split(caller, "d", "c", Some(7), None).await, ErrorKind::RangeGone);
    refused(
        engine.split(caller, "d", "x", None, None).await,
        ErrorKind::OwnerNotFound(ResourceKind::Container),
    );
    split(&fixture, Some(0), Some("0A")).await;
    assert_eq!(map(&fixture).ranges[0].max, "0A");
    refused(engine.split(caller, "d", "c", Some(1), Some("0A")).await, ErrorKind::Invalid);
    refused(engine.split(caller, "d", "c", Some(2), Some("0A00")).await, ErrorKind::Invalid);
    // The widest.
    split(&fixture, None, None).await;
    assert_eq!(ids(&fixture), [1, 3, 4]);
    assert_whole(&fixture, 30).await;
}

#[tokio::test]
async fn the_number_of_partitions_is_bounded() {
    let limits = Limits { physical_partitions_max: 2, ..Limits::default() };
    let fixture = Fixture::with_options(options(limits)).await;
    create(&fixture, 400).await;
    split(&fixture, None, None).await;
    refused(fixture.engine.split(&fixture.caller, "d", "c", None, None).await, ErrorKind::Invalid);
}

#[tokio::test]
async fn a_merge_by_command() {
    let fixture = Fixture::new().await;
    create(&fixture, 400).await;
    fill(&fixture, 0..40).await;
    split(&fixture, None, None).await;
    split(&fixture, Some(1), None).await;
    assert_eq!(ids(&fixture), [3, 4, 2]);
    fill(&fixture, 40..60).await;
    let before = map(&fixture);
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    refused(engine.merge(caller, "d", "c", [3, 2]).await, ErrorKind::Invalid);
    refused(engine.merge(caller, "d", "c", [3, 3]).await, ErrorKind::Invalid);
    refused(engine.merge(caller, "d", "c", [3, 9]).await, ErrorKind::RangeGone);
    // In whichever order they are named.
    merge(&fixture, [2, 4]).await;
    let after = map(&fixture);
    assert_eq!(ids(&fixture), [3, 5]);
    assert_eq!((&after.ranges[1].parents[..], after.version), (&[0, 1, 2, 4][..], 4));
    let seen = before.ranges.iter().map(|range| range.lsn).max().unwrap();
    assert!(after.ranges[1].lsn > before.ranges[1].lsn.max(before.ranges[2].lsn), "{seen}");
    assert_whole(&fixture, 60).await;
    merge(&fixture, [3, 5]).await;
    assert_eq!(ids(&fixture), [6]);
    refused(engine.merge(caller, "d", "c", [6, 6]).await, ErrorKind::Invalid);
    fill(&fixture, 60..70).await;
    assert_whole(&fixture, 70).await;
    // Session tokens of all that were before.
    for range in &before.ranges {
        let session = SessionToken::parse(&format!("{}:-1#{}", range.id, range.lsn)).unwrap();
        let caller = Caller { session, ..Caller::full() };
        for number in 0..40 {
            fixture.read_item(&caller, "c", &number.to_string(), &format!("k{number}")).unwrap();
        }
    }
}

#[tokio::test]
async fn a_merge_that_the_throughput_does_not_allow() {
    let fixture = Fixture::new().await;
    create(&fixture, 20_000).await;
    let error = refused(fixture.engine.merge(&fixture.caller, "d", "c", [0, 1]).await, ErrorKind::Invalid);
    assert!(error.message.contains("needs 2 physical partitions"), "{error}");
}

fn offer_rid(fixture: &Fixture) -> String {
    fixture.engine.list_offers(&fixture.caller, None, None).unwrap().value.resources[0].rid.clone()
}

pub(crate) async fn set_throughput(fixture: &Fixture, throughput: u32) -> armilla_engine::Result<()> {
    let (rid, none) = (offer_rid(fixture), ResourcePrecondition::None);
    fixture.engine.replace_offer(&fixture.caller, &rid, manual(throughput), none).await.map(|_| ())
}

#[tokio::test]
async fn throughput_makes_partitions_and_is_pending_so_long() {
    let fixture = Fixture::new().await;
    create(&fixture, 20_000).await;
    fill(&fixture, 0..50).await;
    assert_eq!(ids(&fixture), [0, 1]);
    let rid = offer_rid(&fixture);
    let state = |fixture: &Fixture| fixture.engine.offer_state(&rid).unwrap();
    assert!(!state(&fixture).pending);
    set_throughput(&fixture, 60_000).await.unwrap();
    assert!(state(&fixture).pending && figures(&fixture).pending);
    refused(set_throughput(&fixture, 30_000).await, ErrorKind::Locked);
    // It is stored all the same, and reported.
    assert_eq!(figures(&fixture).throughput, Some(60_000));
    fixture.until_whole("c").await;
    // The widest first, the lowest id among equals: 0 -> 2, 3; 1 -> 4, 5; 2 -> 6, 7; 3 -> 8, 9.
    assert_eq!(ids(&fixture), [6, 7, 8, 9, 4, 5]);
    assert_eq!((state(&fixture).pending, state(&fixture).minimum), (false, 600));
    assert_whole(&fixture, 50).await;
    // Down at once, and never back together.
    set_throughput(&fixture, 1_000).await.unwrap();
    assert!(!state(&fixture).pending);
    assert_eq!(ids(&fixture).len(), 6);
    refused(set_throughput(&fixture, 500).await, ErrorKind::Invalid);
    // Up again within what there is.
    set_throughput(&fixture, 60_000).await.unwrap();
    assert!(!state(&fixture).pending);
}

#[tokio::test]
async fn one_partition_going_to_thirty_thousand() {
    let fixture = Fixture::new().await;
    create(&fixture, 1_000).await;
    set_throughput(&fixture, 30_000).await.unwrap();
    fixture.until_whole("c").await;
    assert_eq!(ids(&fixture), [3, 4, 2]);
    let parents: Vec<Vec<u32>> = map(&fixture).ranges.into_iter().map(|range| range.parents).collect();
    assert_eq!(parents, [vec![0, 1], vec![0, 1], vec![0]]);
}

#[tokio::test]
async fn shared_throughput_makes_partitions_of_all_who_share_it() {
    let fixture = Fixture::new().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    engine.create_database(caller, "d", Some(Throughput::Manual(1_000))).await.unwrap();
    fixture.create_container("first").await.unwrap();
    fixture.create_container("second").await.unwrap();
    set_throughput(&fixture, 30_000).await.unwrap();
    let rid = offer_rid(&fixture);
    assert!(engine.offer_state(&rid).unwrap().pending);
    fixture.until_whole("first").await;
    fixture.until_whole("second").await;
    assert!(!engine.offer_state(&rid).unwrap().pending);
    for id in ["first", "second"] {
        assert_eq!(fixture.container(id).ranges(caller).unwrap().ranges.len(), 3, "{id}");
    }
}

#[tokio::test]
async fn a_partition_that_grows_too_large_is_split() {
    let limits = Limits { physical_partition_bytes: 40_000, ..Limits::default() };
    let fixture = Fixture::with_options(options(limits)).await;
    create(&fixture, 400).await;
    let text = "x".repeat(400);
    for number in 0..400 {
        let body = format!(r#"{{"id":"{number}","pk":"k{number}","n":{number},"text":"{text}"}}"#);
        fixture.upsert(&format!("k{number}"), &body).await;
    }
    let small = |range: &armilla_engine::RangeFigures| {
        range.figures.as_ref().is_none_or(|figures| figures.bytes + figures.index_bytes <= 40_000)
    };
    fixture.until(|fixture| figures(fixture).partitions.iter().all(small)).await;
    fixture.until_whole("c").await;
    assert!(ids(&fixture).len() >= 4, "{:?}", ids(&fixture));
    assert_whole(&fixture, 400).await;
}

#[tokio::test]
async fn one_large_key_cannot_be_split_and_serves_on() {
    let limits = Limits { physical_partition_bytes: 10_000, ..Limits::default() };
    let fixture = Fixture::with_options(options(limits)).await;
    create(&fixture, 400).await;
    let text = "x".repeat(400);
    for number in 0..100 {
        let body = format!(r#"{{"id":"{number}","pk":"k","text":"{text}"}}"#);
        fixture.upsert("k", &body).await;
        fixture.clock.advance(Duration::from_millis(10));
        tokio::task::yield_now().await;
    }
    fixture.until_whole("c").await;
    assert_eq!((ids(&fixture), figures(&fixture).failed), (vec![0], None));
}

#[tokio::test]
async fn pages_go_on_across_splits_and_merges() {
    let fixture = Fixture::new().await;
    create(&fixture, 400).await;
    fill(&fixture, 0..90).await;
    let texts = [
        "SELECT VALUE c.n FROM c",
        "SELECT VALUE c.n FROM c WHERE c.n >= 10",
        "SELECT VALUE c.n FROM c ORDER BY c.n",
        "SELECT VALUE c.n FROM c ORDER BY c.n DESC",
        "SELECT VALUE c.n FROM c ORDER BY c.g, c.n",
        "SELECT VALUE c.n FROM c ORDER BY c.g",
        "SELECT DISTINCT VALUE c.n FROM c",
        "SELECT DISTINCT VALUE c.g FROM c ORDER BY c.g",
        "SELECT c.g, COUNT(1) AS count FROM c GROUP BY c.g",
        "SELECT TOP 50 VALUE c.n FROM c ORDER BY c.n",
        "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 5 LIMIT 70",
        "SELECT TOP 70 VALUE c.n FROM c",
        "SELECT VALUE SUM(c.n) FROM c",
        "SELECT VALUE COUNT(1) FROM c WHERE c.g = 1",
    ];
    let page = |text: &'static str, rows_max: usize, continuation: Option<String>| {
        let request = QueryRequest { rows_max: Some(rows_max), continuation, ..QueryRequest::new(text) };
        let (engine, caller, container) = (&fixture.engine, &fixture.caller, fixture.container("c"));
        async move {
            let page = engine.query_items(caller, &container, request).await;
            let page = page.unwrap_or_else(|error| panic!("{text}: {error}"));
            let rows = format!("[{}]", String::from_utf8(page.rows).unwrap());
            (value(&rows).as_array().unwrap().to_vec(), page.continuation)
        }
    };
    let mut expected = Vec::new();
    let mut running: Vec<(Vec<Value>, Option<String>)> = Vec::new();
    for text in texts {
        expected.push(page(text, 1_000, None).await.0);
        running.push(page(text, 7, None).await);
    }
    // Between the pages of all of them: two splits, a merge across what one split made, another split, all in one.
    for step in 0..6 {
        match step {
            0 => split(&fixture, None, None).await,
            1 => split(&fixture, Some(1), None).await,
            2 => merge(&fixture, [4, 2]).await,
            3 => split(&fixture, Some(5), None).await,
            4 => merge(&fixture, [3, 6]).await,
            _ => {}
        }
        for (text, (rows, token)) in texts.iter().zip(&mut running) {
            let pages = if step == 5 { 100 } else { 2 };
            for _ in 0..pages {
                let Some(continuation) = token.take() else { break };
                let (more, next) = page(text, 7, Some(continuation)).await;
                rows.extend(more);
                *token = next;
            }
        }
    }
    for ((text, mut expected), (mut rows, token)) in texts.iter().zip(expected).zip(running) {
        assert_eq!(token, None, "{text}");
        let is_free = text.contains("TOP 70");
        if is_free {
            // Any seventy of them will do.
            assert_eq!(rows.len(), 70, "{text}");
            rows.sort_by_key(|row| row.as_i64());
            rows.dedup();
            assert_eq!(rows.len(), 70, "{text}");
            continue;
        }
        if !text.contains("ORDER BY") || text.ends_with("c.g") {
            let text_of = |row: &Value| armilla_value::json::to_string(row);
            rows.sort_by_key(text_of);
            expected.sort_by_key(text_of);
        }
        assert_eq!(rows, expected, "{text}");
    }
}

#[tokio::test]
async fn feeds_go_on_across_splits_and_merges() {
    let fixture = Fixture::new().await;
    create(&fixture, 400).await;
    fill(&fixture, 0..60).await;
    let container = fixture.container("c");
    let (mut seen, mut continuation) = (Vec::new(), None);
    for step in 0.. {
        let request = armilla_engine::PageRequest { scope: ListScope::All, items_max: Some(7), continuation };
        let page = fixture.engine.list_items(&fixture.caller, &container, request).unwrap();
        seen.extend(page.items.iter().map(|item| item.header().number));
        continuation = page.continuation;
        if continuation.is_none() {
            break;
        }
        match step {
            0 => split(&fixture, None, None).await,
            2 => split(&fixture, Some(2), None).await,
            3 => merge(&fixture, [1, 3]).await,
            5 => merge(&fixture, [5, 4]).await,
            _ => {}
        }
    }
    assert_eq!(seen.len(), 60);
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>().len(), 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_and_readers_notice_nothing() {
    let fixture = Arc::new(Fixture::new().await);
    create(&fixture, 20_000).await;
    let time = fixture.moving_time();
    let writers: Vec<_> = (0..8u32)
        .map(|writer| {
            let fixture = fixture.clone();
            tokio::spawn(async move {
                for round in 0..60 {
                    let number = round * 8 + writer;
                    fill(&fixture, number..number + 1).await;
                    assert!(fixture.item(&format!("k{number}"), &number.to_string()).is_some());
                    if round % 20 == 0 {
                        let count = fixture.query("SELECT VALUE COUNT(1) FROM c").await;
                        assert!(count.parse::<u32>().unwrap() > 0);
                    }
                }
            })
        })
        .collect();
    set_throughput(&fixture, 60_000).await.unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
    drop(time);
    fixture.until_whole("c").await;
    assert_eq!(ids(&fixture).len(), 6);
    assert_whole(&fixture, 480).await;
}

#[tokio::test]
async fn a_caller_that_sees_the_new_map_may_go_on() {
    let fixture = Fixture::new().await;
    create(&fixture, 400).await;
    fill(&fixture, 0..20).await;
    for version in 1..6 {
        // Not a moment later than the map is seen.
        fixture.engine.split(&fixture.caller, "d", "c", None, None).await.unwrap();
        assert_eq!(map(&fixture).version, version);
        assert!(map(&fixture).ranges.iter().any(|range| range.status == RangeStatus::Splitting));
        fixture.until(|fixture| map(fixture).version > version).await;
    }
    fixture.until_whole("c").await;
    assert_eq!(ids(&fixture).len(), 6);
    assert_whole(&fixture, 20).await;
}
