//! The change feed: this SDK asks for envelopes in both modes, and reads every physical partition in turn.

use std::num::NonZeroU32;
use std::time::Duration;

use azure_data_cosmos::ContainerClient;
use azure_data_cosmos::feed::{ChangeFeedPageIterator, ContinuationToken, FeedScope};
use azure_data_cosmos::models::{
    ChangeFeedItem, ChangeFeedOperationType, ChangeFeedPolicy, ContainerProperties, ThroughputProperties,
    TimeToLive,
};
use azure_data_cosmos::options::{
    ChangeFeedMode, ChangeFeedOptions, ChangeFeedStartFrom, MaxItemCountHint, ReadFeedRangesOptions,
};
use futures::StreamExt;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::server::{Connection, over_each_scheme, pause, status};

/// More than there are ranges in any test: so many empty pages in a row mean that every range is at its end.
const EMPTY_PAGES: usize = 8;
const RETENTION: Duration = Duration::from_secs(3_600);
const EXPIRY_POLLS_MAX: usize = 300;

type Feed = ChangeFeedPageIterator<ChangeFeedItem<Value>>;
type Change = ChangeFeedItem<Value>;

async fn container(connection: &Connection, throughput: u64) -> ContainerClient {
    let policy = ChangeFeedPolicy::default().with_retention_duration(RETENTION);
    let properties = ContainerProperties::new("c", "/city".into())
        .with_change_feed_policy(policy)
        .with_default_ttl(TimeToLive::NoDefault);
    connection.container_with(properties, throughput).await
}

/// Creates or replaces one item in each of so many cities.
async fn write(container: &ContainerClient, id: &str, cities: usize) {
    for city in (0..cities).map(|n| format!("city {n}")) {
        let item = json!({"id": id, "city": city, "ttl": -1});
        container.upsert_item(city, id, &item, None).await.expect("write");
    }
}

fn options(page: u32) -> ChangeFeedOptions {
    let size = NonZeroU32::new(page).expect("a page has room");
    ChangeFeedOptions::default().with_max_item_count(MaxItemCountHint::Limit(size))
}

fn all_versions(page: u32) -> ChangeFeedOptions {
    options(page).with_mode(ChangeFeedMode::AllVersionsAndDeletes)
}

async fn open(
    container: &ContainerClient,
    scope: FeedScope,
    start: ChangeFeedStartFrom,
    options: ChangeFeedOptions,
) -> Feed {
    container.query_change_feed::<Value>(scope, start, Some(options)).await.expect("open")
}

/// Takes a position up again, as text, as a program does that was stopped in between.
async fn take_up(
    container: &ContainerClient,
    scope: FeedScope,
    token: &ContinuationToken,
    options: ChangeFeedOptions,
) -> Feed {
    let token = ContinuationToken::from_string(token.as_str().to_owned());
    open(container, scope, ChangeFeedStartFrom::Beginning, options.with_continuation_token(token)).await
}

/// Reads until every range says that nothing is new.
async fn drain(feed: &mut Feed) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut empty = 0;
    while empty < EMPTY_PAGES {
        let page = feed.next().await.expect("a feed never ends").expect("page");
        assert!(page.headers().request_charge().is_some_and(|charge| charge.value() > 0.0));
        assert!(page.headers().session_token().is_some());
        empty = if page.items().is_empty() { empty + 1 } else { 0 };
        changes.extend(page.into_items());
    }
    changes
}

/// Names each item by what it is now, in the order of the feed.
fn names(changes: &[Change]) -> Vec<String> {
    let name = |item: &Value| {
        let member = |name: &str| item[name].as_str().expect("text").to_owned();
        format!("{} {}", member("id"), member("city"))
    };
    changes.iter().map(|change| name(change.current().expect("latest version"))).collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

fn expected(ids: &[&str], cities: usize) -> Vec<String> {
    sorted(ids.iter().flat_map(|id| (0..cities).map(move |n| format!("{id} city {n}"))).collect())
}

#[tokio::test]
async fn latest_versions_from_every_start() {
    over_each_scheme(async |connection| {
        let container = container(&connection, 20_000).await;
        write(&container, "a", 10).await;
        let first_of_b = OffsetDateTime::now_utc().replace_nanosecond(0).expect("no fraction")
            + time::Duration::seconds(1);
        while OffsetDateTime::now_utc() <= first_of_b {
            pause().await;
        }
        let full = FeedScope::full_container;
        let mut now = open(&container, full(), ChangeFeedStartFrom::Now, options(3)).await;
        assert!(drain(&mut now).await.is_empty());
        write(&container, "b", 10).await;

        let mut beginning = open(&container, full(), ChangeFeedStartFrom::Beginning, options(3)).await;
        let changes = drain(&mut beginning).await;
        assert_eq!(sorted(names(&changes)), expected(&["a", "b"], 10));
        for change in &changes {
            let metadata = change.metadata().expect("metadata");
            assert!(metadata.lsn().is_some_and(|lsn| lsn.value() > 0));
            assert!(metadata.operation_type().is_none(), "latest versions do not say what was done");
            assert!(change.previous().is_none());
        }
        assert_eq!(sorted(names(&drain(&mut now).await)), expected(&["b"], 10));
        let start = ChangeFeedStartFrom::PointInTime(first_of_b);
        let mut since = open(&container, full(), start, options(100)).await;
        assert_eq!(sorted(names(&drain(&mut since).await)), expected(&["b"], 10));

        let start = ChangeFeedStartFrom::Beginning;
        let mut key = open(&container, FeedScope::partition("city 3"), start.clone(), options(1)).await;
        assert_eq!(names(&drain(&mut key).await), ["a city 3", "b city 3"]);
        let mut of_ranges = Vec::new();
        for range in container.read_feed_ranges(None).await.expect("ranges") {
            let mut feed = open(&container, FeedScope::range(range), start.clone(), options(100)).await;
            let seen = names(&drain(&mut feed).await);
            assert!(!seen.is_empty());
            of_ranges.extend(seen);
        }
        assert_eq!(sorted(of_ranges), expected(&["a", "b"], 10));
    })
    .await;
}

#[tokio::test]
async fn positions_are_taken_up_where_they_were_left() {
    over_each_scheme(async |connection| {
        let container = container(&connection, 20_000).await;
        write(&container, "a", 12).await;
        for scope in [FeedScope::full_container(), FeedScope::partition("city 3")] {
            let mut feed = open(&container, scope.clone(), ChangeFeedStartFrom::Beginning, options(2)).await;
            let whole = names(&drain(&mut feed).await);
            let mut feed = open(&container, scope.clone(), ChangeFeedStartFrom::Beginning, options(2)).await;
            let mut seen = Vec::new();
            for _ in 0..8 {
                let page = feed.next().await.expect("a feed never ends").expect("page");
                seen.extend(names(page.items()));
                let token = feed.to_continuation_token().expect("position");
                let mut rest = take_up(&container, scope.clone(), &token, options(2)).await;
                let all = [seen.clone(), names(&drain(&mut rest).await)].concat();
                assert_eq!(sorted(all), sorted(whole.clone()));
            }
        }
    })
    .await;
}

#[tokio::test]
async fn positions_outlive_splits() {
    over_each_scheme(async |connection| {
        let container = container(&connection, 20_000).await;
        let full = FeedScope::full_container;
        let mut every = open(&container, full(), ChangeFeedStartFrom::Now, all_versions(5)).await;
        assert!(drain(&mut every).await.is_empty());
        write(&container, "a", 30).await;
        let mut latest = open(&container, full(), ChangeFeedStartFrom::Beginning, options(5)).await;
        let mut seen = names(latest.next().await.expect("a feed never ends").expect("page").items());
        let mut key =
            open(&container, FeedScope::partition("city 7"), ChangeFeedStartFrom::Beginning, options(5))
                .await;
        assert_eq!(names(&drain(&mut key).await), ["a city 7"]);
        let tokens = [&latest, &every, &key].map(|feed| feed.to_continuation_token().expect("position"));

        let poller = container.begin_replace_throughput(ThroughputProperties::manual(60_000), None).await;
        poller.expect("replace").await.expect("done");
        let fresh = ReadFeedRangesOptions::default().with_force_refresh(true);
        assert_eq!(container.read_feed_ranges(Some(fresh)).await.expect("ranges").len(), 6);
        write(&container, "b", 30).await;
        container.delete_item("city 7", "a", None).await.expect("delete");

        // Feeds that went on, and positions taken up. One item was deleted: who had not seen it never does.
        let mut again = take_up(&container, full(), &tokens[0], options(5)).await;
        let without = |mut names: Vec<String>| {
            names.retain(|name| name != "a city 7");
            sorted(names)
        };
        let wanted = without(expected(&["a", "b"], 30));
        assert_eq!(without([seen.clone(), names(&drain(&mut again).await)].concat()), wanted);
        seen.extend(names(&drain(&mut latest).await));
        assert_eq!(without(seen), wanted);

        let mut every_again = take_up(&container, full(), &tokens[1], all_versions(5)).await;
        for feed in [&mut every, &mut every_again] {
            let changes = drain(feed).await;
            let (written, deleted): (Vec<_>, Vec<_>) =
                changes.into_iter().partition(|change| change.current().is_some());
            assert_eq!(sorted(names(&written)), expected(&["a", "b"], 30));
            assert_eq!(deleted.len(), 1);
            let metadata = deleted[0].metadata().expect("metadata");
            assert_eq!(metadata.operation_type(), Some(ChangeFeedOperationType::Delete));
        }
        let mut key_again = take_up(&container, FeedScope::partition("city 7"), &tokens[2], options(5)).await;
        for feed in [&mut key, &mut key_again] {
            assert_eq!(names(&drain(feed).await), ["b city 7"]);
        }
    })
    .await;
}

#[tokio::test]
async fn all_versions_and_deletes() {
    over_each_scheme(async |connection| {
        let container = container(&connection, 1_000).await;
        let scope = || FeedScope::partition("Oslo");
        let mut feed = open(&container, scope(), ChangeFeedStartFrom::Now, all_versions(2)).await;
        assert!(drain(&mut feed).await.is_empty());
        let item = |id: &str, n: i64, ttl: i64| json!({"id": id, "city": "Oslo", "n": n, "ttl": ttl});
        container.create_item("Oslo", "1", &item("1", 1, -1), None).await.expect("create");
        container.replace_item("Oslo", "1", &item("1", 2, -1), None).await.expect("replace");
        container.delete_item("Oslo", "1", None).await.expect("delete");
        container.create_item("Oslo", "2", &item("2", 3, 1), None).await.expect("create");
        let mut changes = drain(&mut feed).await;
        for _ in 0..EXPIRY_POLLS_MAX {
            if changes.len() == 5 {
                break;
            }
            pause().await;
            changes.extend(drain(&mut feed).await);
        }
        let kinds: Vec<_> = changes.iter().filter_map(Change::operation_type).collect();
        use ChangeFeedOperationType::{Create, Delete, Replace};
        assert_eq!(kinds, [Create, Replace, Delete, Create, Delete]);
        let numbers: Vec<_> =
            changes.iter().map(|change| change.current().map(|item| item["n"].clone())).collect();
        assert_eq!(numbers, [Some(json!(1)), Some(json!(2)), None, Some(json!(3)), None]);
        let metadata: Vec<_> = changes.iter().map(|change| change.metadata().expect("metadata")).collect();
        for (n, before) in [(1, 0), (2, 1), (4, 3)] {
            assert_eq!(metadata[n].previous_image_lsn(), metadata[before].lsn());
        }
        assert!(metadata.is_sorted_by_key(|one| one.lsn()));
        for (n, id, previous, expired) in [(2, "1", 2, false), (4, "2", 3, true)] {
            assert_eq!(metadata[n].id(), Some(id));
            assert!(metadata[n].partition_key().is_some());
            assert_eq!(metadata[n].time_to_live_expired().unwrap_or(false), expired);
            assert_eq!(changes[n].previous().expect("previous image")["n"], previous);
        }

        for start in
            [ChangeFeedStartFrom::Beginning, ChangeFeedStartFrom::PointInTime(OffsetDateTime::UNIX_EPOCH)]
        {
            let mut feed = open(&container, scope(), start, all_versions(2)).await;
            let error = feed.next().await.expect("an answer").expect_err("not a start of this mode");
            assert_eq!(status(&error), 400);
        }
        let plain = connection.container("plain", "/city").await;
        let mut feed = open(&plain, scope(), ChangeFeedStartFrom::Now, all_versions(2)).await;
        assert_eq!(status(&feed.next().await.expect("an answer").expect_err("no retention")), 400);
    })
    .await;
}
