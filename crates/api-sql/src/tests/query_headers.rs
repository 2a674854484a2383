//! The headers in which a query tells of itself.

use armilla_value::{Value, json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Method;

use super::queries::{CROSS, DOCS, RANGE, query, rows, with_items};

const METRICS: &str = "x-ms-documentdb-query-metrics";
const UTILIZATION: &str = "x-ms-cosmos-index-utilization";
const EXECUTION: &str = "x-ms-cosmos-query-execution-info";

#[tokio::test]
async fn metrics_are_told_on_request() {
    let client = with_items(10).await;
    let text = "SELECT * FROM c WHERE c.n >= 7";
    assert_eq!(query(&client, text, &[CROSS]).await.expect(200).header(METRICS), None);
    for asked in ["True", "true"] {
        let headers = [CROSS, ("x-ms-documentdb-populatequerymetrics", asked)];
        let answer = query(&client, text, &headers).await.expect(200);
        let metrics = answer.header(METRICS).unwrap();
        assert!(!metrics.ends_with(';'), "{metrics}");
        let value = |name: &str| {
            let pair =
                metrics.split(';').map(|pair| pair.split_once('=').unwrap()).find(|pair| pair.0 == name);
            pair.unwrap_or_else(|| panic!("{name}: {metrics}")).1.parse::<f64>().unwrap()
        };
        assert_eq!(value("outputDocumentCount"), 3.0);
        assert_eq!(value("retrievedDocumentCount"), 3.0, "the index leads to the results alone");
        assert!(value("outputDocumentSize") > 100.0);
        assert!(value("retrievedDocumentSize") > 10.0);
        assert_eq!(value("indexUtilizationRatio"), 1.0);
        assert!(value("totalExecutionTimeInMs") >= 0.0);
    }
    query(&client, text, &[CROSS, ("x-ms-documentdb-populatequerymetrics", "maybe")]).await.expect(400);
}

#[tokio::test]
async fn indexes_are_told_in_two_forms() {
    let client = with_items(10).await;
    let text = "SELECT * FROM c WHERE c.n = 7";
    assert_eq!(query(&client, text, &[CROSS]).await.expect(200).header(UTILIZATION), None);

    let first = ("x-ms-cosmos-populateindexmetrics", "True");
    let answer = query(&client, text, &[CROSS, first]).await.expect(200);
    let decoded = json::parse(&STANDARD.decode(answer.header(UTILIZATION).unwrap()).unwrap()).unwrap();
    let used = decoded.get("UtilizedSingleIndexes").and_then(Value::as_array).unwrap();
    assert_eq!(used[0].get("IndexSpec").and_then(Value::as_str), Some("/n/?"), "{decoded:?}");

    let second = ("x-ms-cosmos-populateindexmetrics-v2", "true");
    for headers in [&[CROSS, second][..], &[CROSS, first, second]] {
        let answer = query(&client, text, headers).await.expect(200);
        let text = answer.header(UTILIZATION).unwrap();
        assert!(text.starts_with("%7B%22"), "{text}");
        assert!(text.contains("%22%2Fn%2F%3F%22"), "{text}");
    }

    let nothing = query(&client, "SELECT * FROM c WHERE c.n = 700", &[CROSS, first]).await.expect(200);
    assert_eq!((rows(&nothing).len(), nothing.header(UTILIZATION)), (0, None));
}

#[tokio::test]
async fn ordered_queries_tell_the_order_of_ties() {
    let client = with_items(10).await;
    for (text, expected) in [
        ("SELECT * FROM c", None),
        ("SELECT * FROM c ORDER BY c.n", Some(r#"{"reverseRidEnabled":false,"reverseIndexScan":false}"#)),
        ("SELECT * FROM c ORDER BY c.n DESC", Some(r#"{"reverseRidEnabled":false,"reverseIndexScan":true}"#)),
    ] {
        let answer = query(&client, text, &[(RANGE, "0")]).await.expect(200);
        assert_eq!(answer.header(EXECUTION), expected, "{text}");
    }
}

#[tokio::test]
async fn sessions_see_every_partition_queried() {
    let client = with_items(50).await;
    let token = |answer: super::client::Answer| answer.header("x-ms-session-token").unwrap().to_owned();
    let all = token(query(&client, "SELECT VALUE COUNT(1) FROM c", &[CROSS]).await.expect(200));
    let ranges: Vec<&str> = all.split(',').map(|part| part.split(':').next().unwrap()).collect();
    assert_eq!(ranges, ["0", "1"], "{all}");
    let one = query(&client, "SELECT VALUE COUNT(1) FROM c", &[(RANGE, "1")]).await.expect(200);
    assert_eq!(one.header(RANGE), Some("1"));
    let one = token(one);
    assert!(one.starts_with("1:-1#") && !one.contains(','), "{one}");

    let seen = ("x-ms-session-token", one.as_str());
    query(&client, "SELECT * FROM c", &[(RANGE, "1"), seen]).await.expect(200);
    let ahead = [(RANGE, "1"), ("x-ms-session-token", "1:-1#99999")];
    query(&client, "SELECT * FROM c", &ahead).await.expect_code(404, 1002);
    let odd = [(RANGE, "1"), ("x-ms-session-token", "1")];
    query(&client, "SELECT * FROM c", &odd).await.expect_code(400, 0);
}

#[tokio::test]
async fn weaker_reads_cost_no_more_and_stronger_are_refused() {
    let client = with_items(5).await;
    let text = "SELECT * FROM c";
    query(&client, text, &[CROSS, ("x-ms-consistency-level", "Eventual")]).await.expect(200);
    query(&client, text, &[CROSS, ("x-ms-consistency-level", "Strong")]).await.expect_code(400, 0);
}

#[tokio::test]
async fn recreated_containers_are_noticed() {
    let client = with_items(1).await;
    let rid = client.get("/dbs/d/colls/c2").await.member("_rid");
    let intended = "x-ms-cosmos-intended-collection-rid";
    query(&client, "SELECT * FROM c", &[CROSS, (intended, &rid)]).await.expect(200);
    query(&client, "SELECT * FROM c", &[CROSS, (intended, "other")]).await.expect_code(400, 1024);
}

#[tokio::test]
async fn hints_are_taken_without_effect() {
    let client = with_items(5).await;
    let plain = query(&client, "SELECT * FROM c WHERE c.n > 1", &[CROSS]).await.expect(200);
    let hints = [
        CROSS,
        ("x-ms-documentdb-query-enable-scan", "true"),
        ("x-ms-documentdb-query-parallelizecrosspartitionquery", "true"),
        ("x-ms-documentdb-query-enable-low-precision-order-by", "true"),
        ("x-ms-documentdb-query-iscontinuationexpected", "False"),
        ("x-ms-documentdb-responsecontinuationtokenlimitinkb", "1"),
        ("x-ms-cosmos-supported-serialization-formats", "JsonText,CosmosBinary"),
        ("x-ms-cosmos-populatequeryadvice", "True"),
        ("x-ms-cosmos-correlated-activityid", "11111111-2222-3333-4444-555555555555"),
    ];
    assert_eq!(query(&client, "SELECT * FROM c WHERE c.n > 1", &hints).await.text, plain.text);
}

#[tokio::test]
async fn no_other_verb_queries() {
    let client = with_items(1).await;
    let headers = [("x-ms-documentdb-isquery", "true")];
    client.send(Method::PUT, DOCS, &headers, r#"{"query":"SELECT * FROM c"}"#).await.expect(405);
}
