//! Provisioned throughput: requests beyond it are retried by the SDK, and raising it splits partitions under its feet.

use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::models::{ContainerProperties, ThroughputProperties};
use azure_data_cosmos::options::ReadFeedRangesOptions;
use azure_data_cosmos::{ContainerClient, Query};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value, json};

use crate::server::{over_each_scheme, status};

const WRITERS: usize = 4;
const LEAVES: usize = 38;

/// An item below a kilobyte of which a create costs 20 RU.
fn wide_item(id: &str) -> Value {
    let mut item: Map<String, Value> = (0..LEAVES).map(|n| (format!("f{n}"), n.into())).collect();
    item.insert("id".to_owned(), id.into());
    item.insert("city".to_owned(), "Oslo".into());
    Value::Object(item)
}

async fn numbers(container: &ContainerClient, query: &str) -> Vec<i64> {
    let found = container.query_items::<i64>(Query::from(query), FeedScope::full_container(), None);
    found.await.expect("query").try_collect().await.expect("rows")
}

#[tokio::test]
async fn retries_wait_for_the_budget() {
    over_each_scheme(async |connection| {
        let properties = ContainerProperties::new("c", "/city".into());
        let container = connection.container_with(properties, 400).await;
        let container = &container;
        // Three seconds of the budget.
        let written: Vec<_> = stream::iter(0..50)
            .map(async |n| {
                let id = format!("item {n}");
                container.create_item("Oslo", &id, &wide_item(&id), None).await.expect("create")
            })
            .buffer_unordered(WRITERS)
            .collect()
            .await;
        let charges: f64 =
            written.iter().map(|answer| answer.headers().request_charge().expect("charge").value()).sum();
        assert!(charges > 2.0 * 400.0, "{charges}");
        assert_eq!(numbers(container, "SELECT VALUE c.f1 FROM c").await, [1; 50]);
    })
    .await;
}

#[tokio::test]
async fn throughput_is_read_and_replaced() {
    over_each_scheme(async |connection| {
        let properties = ContainerProperties::new("c", "/city".into());
        let container = connection.container_with(properties, 1_000).await;
        let read = container.read_throughput(None).await.expect("read").expect("an offer");
        assert_eq!(read.throughput(), Some(1_000));
        let poller = container.begin_replace_throughput(ThroughputProperties::manual(4_000), None).await;
        let replaced = poller.expect("replace").await.expect("done").into_model().expect("offer");
        assert_eq!(replaced.throughput(), Some(4_000));
        let low = container.begin_replace_throughput(ThroughputProperties::manual(100), None).await;
        assert_eq!(status(&low.err().expect("below the minimum")), 400);
    })
    .await;
}

#[tokio::test]
async fn raised_throughput_splits_under_a_working_client() {
    over_each_scheme(async |connection| {
        let properties = ContainerProperties::new("c", "/city".into());
        let container = connection.container_with(properties, 20_000).await;
        let write = async |n: i64| {
            let (id, city) = (n.to_string(), format!("city {}", n % 40));
            let item = json!({"id": id, "city": city, "n": n});
            container.upsert_item(city, &id, &item, None).await.expect("write");
        };
        for n in 0..200 {
            write(n).await;
        }
        let query = "SELECT VALUE c.n FROM c ORDER BY c.n";
        let mut wanted: Vec<i64> = (0..200).collect();
        assert_eq!(numbers(&container, query).await, wanted, "the client knows two ranges now");

        let poller = container.begin_replace_throughput(ThroughputProperties::manual(60_000), None).await;
        let poller = poller.expect("replace");
        // The change takes as long as it takes: meanwhile this client goes on with the ranges it knows.
        let (replaced, ()) = tokio::join!(poller, async {
            for n in 200..260 {
                write(n).await;
                assert_eq!(numbers(&container, query).await.len() as i64, n + 1);
            }
        });
        let replaced = replaced.expect("done").into_model().expect("offer");
        assert_eq!(replaced.throughput(), Some(60_000));
        wanted.extend(200..260);
        assert_eq!(numbers(&container, query).await, wanted);
        let fresh = ReadFeedRangesOptions::default().with_force_refresh(true);
        assert_eq!(container.read_feed_ranges(Some(fresh)).await.expect("ranges").len(), 6);
        for n in 0..260_i64 {
            let read =
                container.read_item(format!("city {}", n % 40), &n.to_string(), None).await.expect("read");
            assert_eq!(read.into_model::<Value>().expect("item")["n"], n);
        }
    })
    .await;
}
