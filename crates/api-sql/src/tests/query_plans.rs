//! What clients are told that run a query on every partition by themselves.

use armilla_value::{Value, json};
use http::Method;

use super::client::{Answer, Client};
use super::queries::{CROSS, DOCS, RANGE, query, rows, with_items};

const EVERYTHING: &str = "NonValueAggregate, Aggregate, Distinct, MultipleOrderBy, OffsetAndLimit, OrderBy, Top, \
     CompositeAggregate, GroupBy, MultipleAggregates, NonStreamingOrderBy, ListAndSetAggregate, CountIf, DCount, \
     HybridSearch, WeightedRankFusion";

async fn plan(client: &Client, text: &str, features: &str) -> Answer {
    let headers = [
        ("x-ms-documentdb-isquery", "True"),
        ("x-ms-cosmos-is-query-plan-request", "True"),
        ("x-ms-cosmos-query-version", "1.4"),
        ("x-ms-cosmos-supported-query-features", features),
        ("content-type", "application/json"),
    ];
    client.send(Method::POST, DOCS, &headers, format!(r#"{{"query":"{text}"}}"#)).await
}

#[tokio::test]
async fn plans_have_every_list() {
    let client = with_items(1).await;
    let answer = plan(&client, "SELECT * FROM c ORDER BY c.n DESC", EVERYTHING).await.expect(200);
    assert!(answer.header("x-ms-content-path").is_some());
    assert_eq!(answer.number("partitionedQueryExecutionInfoVersion"), 2);
    let body = answer.json();
    let info = body.get("queryInfo").unwrap();
    for name in ["orderBy", "orderByExpressions", "groupByExpressions", "groupByAliases", "aggregates"] {
        assert!(info.get(name).and_then(Value::as_array).is_some(), "{name}: {}", answer.text);
    }
    assert!(answer.text.contains(r#""orderBy":["Descending"]"#), "{}", answer.text);
    let rewritten = info.get("rewrittenQuery").and_then(Value::as_str).unwrap();
    assert!(rewritten.contains("{documentdb-formattableorderbyquery-filter}"), "{rewritten}");
    let ranges = body.get("queryRanges").and_then(Value::as_array).unwrap();
    let range = r#"{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}"#;
    assert_eq!(ranges.iter().map(json::to_string).collect::<Vec<_>>(), [range]);

    let filtered = plan(&client, "SELECT * FROM c WHERE c.pk = 1", EVERYTHING).await.expect(200).json();
    let range = &filtered.get("queryRanges").and_then(Value::as_array).unwrap()[0];
    assert_eq!(range.get("min"), range.get("max"), "a key is a point: {filtered:?}");
}

#[tokio::test]
async fn rewritten_queries_run_on_each_partition() {
    let client = with_items(20).await;
    let answer = plan(&client, "SELECT * FROM c ORDER BY c.n", EVERYTHING).await.expect(200).json();
    let rewritten =
        answer.get("queryInfo").and_then(|info| info.get("rewrittenQuery")).and_then(Value::as_str);
    let rewritten = rewritten.unwrap().replace("{documentdb-formattableorderbyquery-filter}", "true");
    let mut count = 0;
    for range in ["0", "1"] {
        for row in rows(&query(&client, &rewritten, &[CROSS, (RANGE, range)]).await) {
            let row = json::parse(row.as_bytes()).unwrap();
            let names: Vec<&str> = row.as_object().unwrap().iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["_rid", "orderByItems", "payload"]);
            count += 1;
        }
    }
    assert_eq!(count, 20);
}

#[tokio::test]
async fn what_the_client_cannot_merge_is_named() {
    let client = with_items(1).await;
    let refused = plan(&client, "SELECT c.pk FROM c GROUP BY c.pk", "OrderBy, Top").await.expect_code(400, 0);
    assert!(refused.member("message").contains("GroupBy"), "{}", refused.text);
    plan(&client, "SELECT * FROM c ORDER BY c.n", "OrderBy, Top").await.expect(200);
    plan(&client, "SELECT * FROM c", "").await.expect(200);
}

#[tokio::test]
async fn plans_of_wrong_queries_say_who_refused() {
    let client = with_items(1).await;
    let refused = plan(&client, "SELECT * FORM c", EVERYTHING).await.expect_code(400, 0);
    let message = refused.member("message");
    assert!(
        message.starts_with("Gateway Failed to Retrieve Query Plan: Message: {\"errors\":["),
        "{message}"
    );
    assert!(message.contains("SC1001"), "{message}");
    let refused =
        plan(&client, "SELECT VALUE SUM(c.n) / COUNT(1) FROM c", EVERYTHING).await.expect_code(400, 0);
    let message = refused.member("message");
    assert!(
        message.contains("Compositions of aggregates and other expressions are not allowed."),
        "{message}"
    );
    let headers = [("x-ms-cosmos-is-query-plan-request", "True")];
    client.send(Method::POST, DOCS, &headers, "{}").await.expect_code(400, 0);
}

#[tokio::test]
async fn plans_go_before_queries_and_batches() {
    let client = with_items(1).await;
    let headers = [("x-ms-cosmos-is-query-plan-request", "true"), ("x-ms-cosmos-is-batch-request", "true")];
    let answer =
        client.send(Method::POST, DOCS, &headers, r#"{"query":"SELECT * FROM c"}"#).await.expect(200);
    assert!(answer.text.contains("partitionedQueryExecutionInfoVersion"));
}
