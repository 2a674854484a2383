//! Figures of physical partitions, splitting and merging them.

use armilla_value::{Object, Value};
use http::Method;

use super::client::{Answer, Client, KEY, READ_ONLY_KEY};

const PARTITIONS: &str = "/_armilla/partitions";
const SPLIT: &str = "/_armilla/dbs/d/colls/c/split";
const MERGE: &str = "/_armilla/dbs/d/colls/c/merge";

/// The one container of an answer.
fn container(answer: &Answer) -> Object {
    let body = answer.json();
    let [Value::Object(container)] = body.get("containers").and_then(Value::as_array).unwrap() else {
        panic!("not one container: {answer:?}");
    };
    container.clone()
}

fn partitions(container: &Object) -> &[Value] {
    container.get("partitions").and_then(Value::as_array).unwrap()
}

fn names(object: &Object) -> Vec<&str> {
    object.iter().map(|(name, _)| name).collect()
}

#[tokio::test]
async fn partitions_are_told_with_their_figures() {
    let client = Client::with_container().await;
    let key = [("x-ms-documentdb-partitionkey", r#"["a"]"#)];
    for id in ["1", "2"] {
        let body = format!(r#"{{"id":"{id}","pk":"a"}}"#);
        client.send(Method::POST, "/dbs/d/colls/c/docs", &key, body).await.expect(201);
    }
    client.send(Method::GET, "/dbs/d/colls/c/docs/1", &key, "").await.expect(200);
    client.clock.advance(std::time::Duration::from_secs(1));
    let answer = client.get(PARTITIONS).await.expect(200);
    let container = container(&answer);
    assert_eq!(
        names(&container),
        [
            "database",
            "container",
            "rid",
            "throughput",
            "shared",
            "autoscaleNow",
            "pending",
            "mapVersion",
            "failed",
            "partitions"
        ]
    );
    assert_eq!(container.get("database").and_then(Value::as_str), Some("d"));
    assert_eq!(container.get("container").and_then(Value::as_str), Some("c"));
    assert_eq!(container.get("rid").and_then(Value::as_str).map(str::len), Some(12));
    assert_eq!(container.get("throughput").and_then(Value::as_i64), Some(400));
    assert_eq!(container.get("shared").and_then(Value::as_bool), Some(false));
    assert_eq!(container.get("autoscaleNow"), Some(&Value::Null));
    assert_eq!(container.get("pending").and_then(Value::as_bool), Some(false));
    assert_eq!(container.get("mapVersion").and_then(Value::as_i64), Some(1));
    assert_eq!(container.get("failed"), Some(&Value::Null));
    let [Value::Object(partition)] = partitions(&container) else { panic!("not one partition: {answer:?}") };
    assert_eq!(
        names(partition),
        [
            "id",
            "minInclusive",
            "maxExclusive",
            "parents",
            "status",
            "node",
            "progressPercent",
            "items",
            "bytes",
            "indexBytes",
            "lsn",
            "provisionedRu",
            "usedRuLastSecond",
            "usedRuLastMinute",
            "refusedLastMinute",
            "requestsLastMinute",
            "normalizedPercent",
            "totalRu",
            "totalRequests",
            "totalRefused",
            "hottest",
            "latencies"
        ]
    );
    let number = |name: &str| partition.get(name).and_then(Value::as_f64).unwrap_or_else(|| panic!("{name}"));
    let text = |name: &str| partition.get(name).and_then(Value::as_str).unwrap();
    assert_eq!((text("id"), text("minInclusive"), text("maxExclusive")), ("0", "", "FF"));
    assert_eq!(text("status"), "online");
    // Nobody else serves the account.
    assert_eq!(partition.get("node"), Some(&Value::Null));
    assert_eq!(partition.get("progressPercent"), Some(&Value::Null));
    assert_eq!((number("items"), number("totalRequests"), number("totalRefused")), (2.0, 3.0, 0.0));
    assert_eq!(number("provisionedRu"), 400.0);
    assert!(number("bytes") > 0.0 && number("indexBytes") > 0.0 && number("lsn") >= 2.0);
    // Two small writes and a point read.
    assert!((10.0..15.0).contains(&number("usedRuLastSecond")), "{answer:?}");
    assert_eq!(number("usedRuLastSecond"), number("totalRu"));
    assert!((2.0..4.0).contains(&number("normalizedPercent")), "{answer:?}");
    let hottest = partition.get("hottest").and_then(Value::as_array).unwrap();
    assert_eq!(hottest[0].get("partitionKey").and_then(Value::as_array), Some(&[Value::from("a")][..]));
    assert!(hottest[0].get("ru").and_then(Value::as_f64).unwrap() > 0.0);
    let latencies = partition.get("latencies").and_then(Value::as_object).unwrap();
    assert_eq!(names(latencies), ["read", "write", "query", "script"]);
    for (kind, count) in [("read", 1), ("write", 2), ("query", 0), ("script", 0)] {
        let latency = latencies.get(kind).unwrap();
        assert_eq!(latency.get("count").and_then(Value::as_i64), Some(count), "{kind}");
        assert_eq!(latency.get("p50Us").unwrap().is_null(), count == 0, "{kind}");
        assert_eq!(latency.get("p99Us").unwrap().is_null(), count == 0, "{kind}");
    }
}

#[tokio::test]
async fn only_keys_of_the_account_administrate() {
    let client = Client::with_container().await;
    let token = client.token().await;
    for (method, path) in [(Method::GET, PARTITIONS), (Method::POST, SPLIT), (Method::POST, MERGE)] {
        client.send_as("", method.clone(), path, &[], "{}").await.expect(401);
        client.send_as(&token, method.clone(), path, &[], "{}").await.expect_code(403, 0);
        let wrong = client.sign("d3Jvbmc=", &method, path);
        client.send_as(&wrong, method.clone(), path, &[], "{}").await.expect(401);
        // A signature over another path does not serve this one.
        let other = client.sign(KEY, &method, "/_armilla/other");
        client.send_as(&other, method.clone(), path, &[], "{}").await.expect(401);
        let read_only = client.sign(READ_ONLY_KEY, &method, path);
        let expected = if method == Method::GET { 200 } else { 403 };
        let body = if path == MERGE { r#"{"ranges":["0","1"]}"# } else { "{}" };
        client.send_as(&read_only, method, path, &[], body).await.expect(expected);
    }
    client.get(PARTITIONS).await.expect(200);
}

#[tokio::test]
async fn what_cannot_be_split_or_merged_is_refused() {
    let client = Client::with_container().await;
    for body in [
        "[]",
        "{",
        r#"{"range":"x"}"#,
        r#"{"range":[0]}"#,
        r#"{"rnage":"0"}"#,
        r#"{"range":"0","force":true}"#,
        r#"{"at":7}"#,
        r#"{"at":"not hexadecimal"}"#,
        r#"{"range":"0","at":"FF"}"#,
        r#"{"range":"0","at":""}"#,
    ] {
        client.post(SPLIT, body).await.expect_code(400, 0);
    }
    client.post(SPLIT, r#"{"range":"7"}"#).await.expect_code(410, 1002);
    let misspelt = r#"{"ranges":["0","1"],"at":""}"#;
    for body in
        ["", "{}", misspelt, r#"{"ranges":"0"}"#, r#"{"ranges":["0"]}"#, r#"{"ranges":["0","1","2"]}"#]
    {
        client.post(MERGE, body).await.expect_code(400, 0);
    }
    client.post(MERGE, r#"{"ranges":["0","7"]}"#).await.expect_code(410, 1002);
    client.post("/_armilla/dbs/d/colls/no/split", "{}").await.expect(404);
    client.post("/_armilla/dbs/no/colls/c/split", "{}").await.expect(404);
    client.reshape("split", "{}").await;
    client.reshape("split", r#"{"range":2}"#).await;
    // 1 and 4 do not lie side by side.
    client.post(MERGE, r#"{"ranges":["1","4"]}"#).await.expect_code(400, 0);
    client.post(MERGE, r#"{"ranges":["1","1"]}"#).await.expect_code(400, 0);
    client.post(MERGE, r#"{"ranges":["0","1"]}"#).await.expect_code(410, 1002);
}

#[tokio::test]
async fn splits_are_made_where_they_are_asked_for() {
    let client = Client::with_container().await;
    let at = "0C000000000000000000000000000000";
    let map = client.reshape("split", &format!(r#"{{"range":"0","at":"{at}"}}"#)).await;
    let expected = format!(r#""minInclusive":"","maxExclusive":"{at}""#);
    assert!(map.text.contains(&expected), "{}", map.text);
    let container = container(&client.get(PARTITIONS).await.expect(200));
    let ids: Vec<&str> =
        partitions(&container).iter().map(|range| range.get("id").and_then(Value::as_str).unwrap()).collect();
    assert_eq!(ids, ["1", "2"]);
    assert_eq!(container.get("mapVersion").and_then(Value::as_i64), Some(2));
}

#[tokio::test]
async fn names_in_paths_are_signed_as_they_are_sent() {
    let client = Client::with_container().await;
    let definition = r#"{"id":"a b","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    client.post("/dbs/d/colls", definition).await.expect(201);
    let path = "/_armilla/dbs/d/colls/a%20b/split";
    client.post(path, "").await.expect(202);
}

#[tokio::test]
async fn one_container_is_told_in_full() {
    let client = Client::with_container().await;
    let definition = r#"{"id":"other","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    client.post("/dbs/d/colls", definition).await.expect(201);
    let key = [("x-ms-documentdb-partitionkey", r#"["a"]"#)];
    let body = r#"{"id":"1","pk":"a"}"#;
    client.send(Method::POST, "/dbs/d/colls/c/docs", &key, body).await.expect(201);
    let of_all = client.get(PARTITIONS).await.expect(200).json();
    let of_all = of_all.get("containers").and_then(Value::as_array).unwrap().to_vec();
    assert_eq!(of_all.len(), 2);
    let told = client.get("/_armilla/dbs/d/colls/c/partitions").await.expect(200).json();
    for name in ["database", "container", "rid", "throughput", "mapVersion"] {
        assert_eq!(told.get(name), of_all[0].get(name), "{name}");
    }
    let limits = told.get("limits").unwrap();
    assert_eq!(limits.get("physicalPartitionRu").and_then(Value::as_i64), Some(10_000));
    assert_eq!(limits.get("logicalPartitionBytes").and_then(Value::as_i64), Some(20 << 30));
    let [partition] = told.get("partitions").and_then(Value::as_array).unwrap() else { panic!("{told:?}") };
    let writes = partition.get("latencies").unwrap().get("write").unwrap();
    let steps = writes.get("upTo").and_then(Value::as_array).unwrap();
    let [Value::Array(last)] = steps else { panic!("{writes:?}") };
    assert_eq!(last[1].as_i64(), Some(1));
    assert!(last[0].as_i64().unwrap() >= writes.get("p99Us").and_then(Value::as_i64).unwrap());
    let short = of_all[0].get("partitions").and_then(Value::as_array).unwrap()[0].get("latencies").unwrap();
    assert_eq!(short.get("write").unwrap().get("upTo"), None);
}

#[tokio::test]
async fn what_was_served_lately_is_told_in_steps() {
    let client = Client::with_container().await;
    let key = [("x-ms-documentdb-partitionkey", r#"["a"]"#)];
    let history = async || client.get("/_armilla/dbs/d/colls/c/history").await.expect(200).json();
    let steps = |history: &Value, name: &str| match history.get(name) {
        Some(Value::Object(steps)) => steps.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let list = |steps: &Object, name: &str| -> Vec<f64> {
        let [partition] = steps.get("partitions").and_then(Value::as_array).unwrap() else {
            panic!("{steps:?}")
        };
        let list = partition.get(name).and_then(Value::as_array).unwrap();
        list.iter().map(|value| value.as_f64().unwrap()).collect()
    };

    let body = r#"{"id":"1","pk":"a"}"#;
    let written = client.send(Method::POST, "/dbs/d/colls/c/docs", &key, body).await.expect(201);
    let charge: f64 = written.header("x-ms-request-charge").unwrap().parse().unwrap();
    client.clock.advance(std::time::Duration::from_secs(1));
    let told = history().await;
    let seconds = steps(&told, "seconds");
    assert_eq!(seconds.get("step").and_then(Value::as_i64), Some(1));
    let used = list(&seconds, "used");
    assert_eq!((used.len(), used[..59].iter().sum::<f64>(), used[59]), (60, 0.0, charge));
    assert_eq!(list(&seconds, "operations")[59], 1.0);
    assert_eq!(list(&seconds, "refused")[59], 0.0);
    assert_eq!(list(&steps(&told, "minutes"), "used"), vec![0.0; 60]);

    client.clock.advance(std::time::Duration::from_secs(60));
    let later = history().await;
    assert_eq!(list(&steps(&later, "seconds"), "used"), vec![0.0; 60]);
    let minutes = steps(&later, "minutes");
    assert_eq!(list(&minutes, "used")[59], charge);
    let end = |steps: &Object| steps.get("end").and_then(Value::as_i64).unwrap();
    assert_eq!((end(&minutes) % 60, end(&steps(&later, "seconds")) - end(&seconds)), (0, 60));
}
