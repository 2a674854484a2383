//! Queries: this SDK plans most of them itself, asks the server for the plan of the rest, and always sends its own
//! rewriting to every physical partition.

use std::num::NonZeroU32;

use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::models::{ContainerProperties, ThroughputProperties};
use azure_data_cosmos::options::{MaxItemCountHint, QueryOptions, QueryPlanMode};
use azure_data_cosmos::{ContainerClient, Query};
use futures::TryStreamExt;
use serde_json::{Value, json};

use crate::server::{Connection, over_each_scheme, status};

const CITIES: [&str; 5] = ["Oslo", "Rome", "Lima", "Kyiv", "Bern"];

async fn filled(connection: &Connection) -> ContainerClient {
    let properties = ContainerProperties::new("c".to_owned(), "/city".into());
    let container = connection.container_with(properties, 40_000).await;
    for n in 0..40 {
        let city = CITIES[n % CITIES.len()];
        let item = json!({"id": n.to_string(), "city": city, "n": n, "half": n / 2});
        container.create_item(city, &n.to_string(), &item, None).await.expect("create");
    }
    container
}

fn options(page: u32, mode: QueryPlanMode) -> QueryOptions {
    let size = NonZeroU32::new(page).expect("a page has room");
    QueryOptions::default().with_max_item_count(MaxItemCountHint::Limit(size)).with_query_plan_mode(mode)
}

async fn rows(
    container: &ContainerClient,
    query: impl Into<Query>,
    scope: FeedScope,
    options: QueryOptions,
) -> Vec<Value> {
    let found = container.query_items::<Value>(query, scope, Some(options)).await.expect("query");
    found.try_collect().await.expect("rows")
}

#[tokio::test]
async fn queries_of_one_logical_partition() {
    over_each_scheme(async |connection| {
        let container = filled(&connection).await;
        let query = Query::from("SELECT VALUE c.n FROM c WHERE c.n >= @n ORDER BY c.n DESC");
        let query = query.with_parameter("@n", 20).expect("parameter");
        let scope = FeedScope::partition("Rome");
        let found = rows(&container, query, scope, QueryOptions::default()).await;
        assert_eq!(found, [36, 31, 26, 21].map(|n| json!(n)));
    })
    .await;
}

#[tokio::test]
async fn queries_of_all_partitions() {
    let numbers = |numbers: &mut dyn Iterator<Item = i64>| numbers.map(|n| json!(n)).collect::<Vec<_>>();
    let cases: Vec<(&str, bool, Vec<Value>)> = vec![
        ("SELECT VALUE c.n FROM c", false, numbers(&mut (0..40))),
        ("SELECT VALUE c.n FROM c WHERE c.n > 30", false, numbers(&mut (31..40))),
        ("SELECT VALUE c.n FROM c ORDER BY c.n", true, numbers(&mut (0..40))),
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC", true, numbers(&mut (0..40).rev())),
        ("SELECT TOP 7 VALUE c.n FROM c ORDER BY c.n", true, numbers(&mut (0..7))),
        ("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 5 LIMIT 6", true, numbers(&mut (5..11))),
        // This SDK wants a bound on what it has to remember.
        ("SELECT DISTINCT TOP 100 VALUE c.half FROM c", false, numbers(&mut (0..20))),
    ];
    over_each_scheme(async |connection| {
        let container = filled(&connection).await;
        for (text, is_ordered, expected) in &cases {
            for page in [1, 3, 100] {
                for mode in [QueryPlanMode::LocalPreferred, QueryPlanMode::GatewayOnly] {
                    let scope = FeedScope::full_container();
                    let mut found = rows(&container, *text, scope, options(page, mode)).await;
                    if !is_ordered {
                        found.sort_by_key(Value::as_i64);
                    }
                    assert_eq!(found, *expected, "{text}, pages of {page}, {mode:?}");
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn pages_tell_of_metrics_and_go_on_from_tokens() {
    over_each_scheme(async |connection| {
        let container = filled(&connection).await;
        let text = "SELECT VALUE c.n FROM c WHERE c.n >= 0 ORDER BY c.half";
        let asked = options(3, QueryPlanMode::default())
            .with_populate_query_metrics(true)
            .with_populate_index_metrics(true);
        let mut found = Vec::new();
        let mut token = None;
        loop {
            let asked = match token.take() {
                Some(token) => asked.clone().with_continuation_token(token),
                None => asked.clone(),
            };
            let query = container.query_items::<i64>(text, FeedScope::full_container(), Some(asked)).await;
            let mut pages = query.expect("query").into_pages();
            let Some(page) = pages.try_next().await.expect("page") else { break };
            if !page.items().is_empty() {
                assert!(page.query_metrics().is_some_and(|text| text.contains("retrievedDocumentCount=")));
                assert!(page.index_metrics().is_some_and(|text| text.contains("/half/?")));
            }
            found.extend(page.into_items());
            token = Some(pages.to_continuation_token().expect("token"));
        }
        let halves: Vec<i64> = found.iter().map(|n| n / 2).collect();
        assert!(halves.is_sorted(), "{halves:?}");
        found.sort_unstable();
        assert_eq!(found, (0..40).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn wrong_queries_are_refused() {
    over_each_scheme(async |connection| {
        let container = filled(&connection).await;
        let scope = FeedScope::partition("Rome");
        let refused = match container.query_items::<Value>("SELECT * FORM c", scope, None).await {
            Ok(rows) => rows.try_collect::<Vec<_>>().await.expect_err("refused"),
            Err(error) => error,
        };
        assert_eq!(status(&refused), 400, "{refused:?}");
    })
    .await;
}

#[tokio::test]
async fn throughput_is_found_by_its_owner() {
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        let read = container.read_throughput(None).await.expect("read").expect("an offer");
        assert_eq!(read.throughput(), Some(10_000));
        let poller = container.begin_replace_throughput(ThroughputProperties::manual(12_000), None).await;
        poller.expect("replace").await.expect("replaced");
        let read = container.read_throughput(None).await.expect("read").expect("an offer");
        assert_eq!(read.throughput(), Some(12_000));
    })
    .await;
}
