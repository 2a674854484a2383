//! What traversals touch, by what `executionProfile()` says of it.

use armilla_value::Value;

use crate::client::{Account, Client, at};

/// What one step did: its name, results, items it read, and operations on the store.
type Effort = (String, i64, i64, i64);

async fn efforts(client: &mut Client, script: &str) -> Vec<Effort> {
    let results = client.results(&format!("{script}.executionProfile()")).await;
    let metrics = at(&results[0], &["metrics"]).as_array().unwrap();
    let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_i64).unwrap_or(0);
    metrics
        .iter()
        .map(|metric| {
            let name = at(metric, &["name"]).as_str().unwrap().to_owned();
            let operations = metric.get("storeOps").and_then(Value::as_array).and_then(|all| all.first());
            let (items, times) = operations
                .map_or((0, 0), |operation| (number(operation, "count"), number(operation, "storageCount")));
            (name, number(at(metric, &["counts"]), "resultCount"), items, times)
        })
        .collect()
}

/// Makes a vertex with edges to the vertices of other numbers.
async fn put(account: &Account, number: usize, to: std::ops::Range<usize>) {
    let pk = |number: usize| format!("p{}", number % 7);
    let own = pk(number);
    let vertex =
        format!(r#"{{"id":"v{number}","label":"v","pk":"{own}","n":[{{"id":"x","_value":{number}}}]}}"#);
    account.put(&own, &vertex).await;
    for to in to {
        let edge = format!(
            r#"{{"id":"e{number}-{to}","label":"to","pk":"{own}","_isEdge":true,"_vertexId":"v{number}","_vertexLabel":"v",
                "_sink":"v{to}","_sinkLabel":"v","_sinkPartition":"{}"}}"#,
            pk(to)
        );
        account.put(&own, &edge).await;
    }
}

/// One vertex leads to a hundred, each of which leads to the same hundred others, each of which leads to two.
#[tokio::test(flavor = "multi_thread")]
async fn hops_touch_what_they_must() {
    let account = Account::new().await;
    let mut client = account.client().await;
    put(&account, 0, 100..200).await;
    for number in 100..200 {
        put(&account, number, 200..300).await;
    }
    for number in 200..300 {
        put(&account, number, 300..302).await;
    }
    let hop = |results, items, operations| ("GetNeighborVertices".to_owned(), results, items, operations);
    let first = ("GetVertices".to_owned(), 1, 1, 1);

    // The third hop is counted by the index: a row for each of a hundred vertices, though twenty thousand ways lead on.
    let effort = efforts(&mut client, "g.V('v0').out().out().out().count()").await;
    // One look-up finds all edges of a vertex.
    assert_eq!(effort[..2], [first, hop(100, 100, 1)], "{effort:?}");
    assert_eq!((effort[2].1, effort[2].2), (10_000, 10_000), "each edge is read once: {effort:?}");
    assert!(effort[2].3 <= 13, "in pages: {effort:?}");
    assert_eq!((effort[3].2, effort.len()), (100, 4), "{effort:?}");

    // Neighbours that are met many times are looked at once.
    let effort = efforts(&mut client, "g.V('v0').out().out().dedup().out().dedup().id()").await;
    assert_eq!((effort[4].1, effort[4].2), (200, 200), "{effort:?}");

    // A limit is told to the store: three edges by one query, and the vertex at the end of each.
    let effort = efforts(&mut client, "g.V('v0').out().limit(3)").await;
    assert_eq!(effort[1], hop(3, 6, 4));
    let effort = efforts(&mut client, "g.V('v0').outE().limit(2).inV().id()").await;
    assert_eq!((effort[1].2, effort[1].3), (2, 1), "{effort:?}");

    // Where several are limited each on its own, each has its own.
    let all = client.results("g.V('v100','v101').local(out().limit(2)).count()").await;
    assert_eq!(all, [Value::from(4_i64)]);
}

/// A traversal that takes longer than a moment, or writes before it reads on, is begun again; nothing is done twice.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_begun_again_is_done_once() {
    let account = Account::new().await;
    let mut client = account.client().await;
    let table = [
        (
            "g.addV('a').property('pk','p').property('id','1').addV('a').property('pk','p').property('id','2')",
            "1",
        ),
        // It reads what it has written.
        ("g.addV('b').property('pk','q').property('id','3').V('1','2').count()", "2"),
        ("g.V().count()", "3"),
        ("g.addV('c').property('pk','q').property('id','4').iterate(); g.V().hasLabel('c').count()", "1"),
        ("g.V().hasLabel('a').property('n',7).count()", "2"),
        ("g.V().has('n',7).count()", "2"),
        ("g.V('1').addE('to').to(__.V('3')).inV().in('to').count()", "1"),
        ("g.E().count()", "1"),
        ("g.V('3').drop().iterate(); g.E().count()", "0"),
    ];
    for (script, expected) in table {
        let results = client.results(script).await;
        let shown = match results.first() {
            Some(Value::Object(_)) => results.len().to_string(),
            Some(value) => armilla_value::json::to_string(value),
            None => String::new(),
        };
        assert_eq!(shown, expected, "{script}");
    }
    // A conflict is found when what was left to write is written.
    let (code, inner, _) = client.failure("g.addV('a').property('pk','p').property('id','1')").await;
    assert_eq!((code, inner), (500, 409));
    // Results that are more than a trial may hold.
    let many = client
        .results("g.inject(1).repeat(union(identity(),identity())).times(13).constant('0123456789')")
        .await;
    assert_eq!(many.len(), 8_192);
}
