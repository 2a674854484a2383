//! Queries of items: what they are kept to, pages, and who merges.

use armilla_value::{Value, json};
use http::Method;

use super::client::{Answer, Client, KEY};
use crate::{CrossPartitionQueries, SqlApiOptions};

pub(super) const DOCS: &str = "/dbs/d/colls/c2/docs";
pub(super) const CROSS: (&str, &str) = ("x-ms-documentdb-query-enablecrosspartition", "True");
pub(super) const RANGE: &str = "x-ms-documentdb-partitionkeyrangeid";

/// Makes a container of two physical partitions with items in five logical ones.
pub(super) async fn with_items(count: usize) -> Client {
    let client = Client::new().await;
    fill(&client, count).await;
    client
}

async fn with_plans(count: usize) -> Client {
    let mut options = SqlApiOptions::new(KEY);
    options.cross_partition_queries = CrossPartitionQueries::Plan;
    let client = Client::with_options(options).await;
    fill(&client, count).await;
    client
}

async fn fill(client: &Client, count: usize) {
    client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
    let definition = r#"{"id":"c2","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    let headers = [("x-ms-offer-throughput", "20000")];
    client.send(Method::POST, "/dbs/d/colls", &headers, definition).await.expect(201);
    for n in 0..count {
        let key = format!("[{}]", n % 5);
        let body = format!(r#"{{"id":"{n}","pk":{},"n":{n}}}"#, n % 5);
        client.send(Method::POST, DOCS, &[("x-ms-documentdb-partitionkey", &key)], body).await.expect(201);
    }
}

/// Sends the text of a query.
pub(super) async fn query(client: &Client, text: &str, headers: &[(&'static str, &str)]) -> Answer {
    let mut body = Vec::new();
    crate::json_text::push_string(&mut body, text);
    send(client, &format!(r#"{{"query":{}}}"#, String::from_utf8(body).unwrap()), headers).await
}

/// Sends the body of a query.
pub(super) async fn send(client: &Client, body: &str, headers: &[(&'static str, &str)]) -> Answer {
    let mut all = vec![("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json")];
    all.extend_from_slice(headers);
    client.send(Method::POST, DOCS, &all, body).await
}

/// The rows of an answer as compact JSON.
#[track_caller]
pub(super) fn rows(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let body = answer.json();
    let rows = body.get("Documents").and_then(Value::as_array).unwrap_or_else(|| panic!("{answer:?}"));
    assert_eq!(answer.number("_count"), rows.len() as i64);
    assert_eq!(answer.header("x-ms-item-count"), Some(rows.len().to_string().as_str()));
    rows.iter().map(json::to_string).collect()
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_by_key(|row| row.parse::<i64>().unwrap());
    rows
}

fn numbers(numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers.map(|number| number.to_string()).collect()
}

async fn all_pages(
    client: &Client,
    text: &str,
    headers: &[(&'static str, &str)],
) -> (Vec<String>, Vec<usize>, f64) {
    let (mut found, mut sizes, mut charge) = (Vec::new(), Vec::new(), 0.0);
    let mut continuation: Option<String> = None;
    loop {
        let mut headers = headers.to_vec();
        headers.extend(continuation.as_deref().map(|token| ("x-ms-continuation", token)));
        let page = query(client, text, &headers).await;
        let page_rows = rows(&page);
        sizes.push(page_rows.len());
        found.extend(page_rows);
        charge += page.header("x-ms-request-charge").unwrap().parse::<f64>().unwrap();
        continuation = page.header("x-ms-continuation").map(str::to_owned);
        match &continuation {
            None => return (found, sizes, charge),
            Some(token) => assert!(token.len() < 1_024 && token.is_ascii(), "{token}"),
        }
    }
}

#[tokio::test]
async fn queries_are_answered_as_a_feed() {
    let client = with_items(3).await;
    let answer = query(&client, "SELECT * FROM c WHERE c.id = '1'", &[CROSS]).await;
    let container = client.get("/dbs/d/colls/c2").await;
    assert_eq!(answer.member("_rid"), container.member("_rid"));
    assert_eq!(answer.ids("Documents"), ["1"]);
    let item = client
        .send(Method::GET, &format!("{DOCS}/1"), &[("x-ms-documentdb-partitionkey", "[1]")], "")
        .await
        .expect(200);
    assert_eq!(rows(&answer), [json::to_string(&item.json())], "items come with their system properties");
    assert_eq!(answer.header("x-ms-content-path"), Some(container.member("_rid").as_str()));
    assert_eq!(answer.header("x-ms-alt-content-path"), Some("dbs/d/colls/c2"));
    assert_eq!(answer.header("x-ms-continuation"), None);
    assert!(answer.header("x-ms-session-token").is_some());
    assert!(answer.header("x-ms-request-charge").unwrap().parse::<f64>().unwrap() > 0.0);
}

#[tokio::test]
async fn any_of_three_headers_marks_a_query() {
    let client = with_items(2).await;
    for header in [
        ("x-ms-documentdb-isquery", "True"),
        ("x-ms-documentdb-query", "true"),
        ("content-type", "application/query+json"),
        ("content-type", "application/query+json; charset=utf-8"),
    ] {
        let body = r#"{"query":"SELECT VALUE c.n FROM c WHERE c.pk = 1"}"#;
        let answer = client.send(Method::POST, DOCS, &[header], body).await;
        assert_eq!(rows(&answer), ["1"], "{header:?}");
    }
}

#[tokio::test]
async fn parameters_take_part() {
    let client = with_items(10).await;
    let body = r#"{"query":"SELECT VALUE c.n FROM c WHERE c.pk = @key AND ARRAY_CONTAINS(@list, c.n)",
        "parameters":[{"name":"@key","value":1},{"name":"@list","value":[1,2,6]},{"name":"@unused","value":null}]}"#;
    assert_eq!(rows(&send(&client, body, &[CROSS]).await), ["1", "6"]);
}

#[tokio::test]
async fn queries_are_kept_to_a_key_or_a_range() {
    let client = with_items(50).await;
    let text = "SELECT VALUE c.n FROM c";
    let (of_key, _, _) = all_pages(&client, text, &[("x-ms-documentdb-partitionkey", "[3]")]).await;
    assert_eq!(of_key, numbers((0..50).filter(|n| n % 5 == 3)), "in the order of insertion");
    let (all, _, _) = all_pages(&client, text, &[CROSS, ("x-ms-max-item-count", "7")]).await;
    assert_eq!(sorted(all), numbers(0..50));

    let (mut both, _, _) = all_pages(&client, text, &[(RANGE, "0")]).await;
    let (second, _, _) = all_pages(&client, text, &[(RANGE, "1")]).await;
    assert!(!both.is_empty() && !second.is_empty());
    both.extend(second.clone());
    assert_eq!(sorted(both), numbers(0..50));
    let kind = ("x-ms-read-key-type", "EffectivePartitionKeyRange");
    let half = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
    let upper = [kind, (RANGE, "1"), ("x-ms-start-epk", half), ("x-ms-end-epk", "FF")];
    assert_eq!(all_pages(&client, text, &upper).await.0, second);

    for (headers, code) in [
        (&[(RANGE, "9")][..], (410, 1002)),
        (&[(RANGE, "none")], (410, 1002)),
        (&[kind, (RANGE, "0"), ("x-ms-start-epk", half), ("x-ms-end-epk", "FF")], (410, 1002)),
        (&[("x-ms-read-key-type", "EffectivePartitionKey")], (400, 0)),
        (&[("x-ms-documentdb-partitionkey", "3")], (400, 0)),
    ] {
        assert_eq!(query(&client, text, headers).await.code(), code, "{headers:?}");
    }
}

#[tokio::test]
async fn the_first_levels_of_a_key_are_enough() {
    let client = with_items(0).await;
    let definition =
        r#"{"id":"h","partitionKey":{"paths":["/tenant","/user","/day"],"kind":"MultiHash","version":2}}"#;
    let headers = [("x-ms-offer-throughput", "30000")];
    client.send(Method::POST, "/dbs/d/colls", &headers, definition).await.expect(201);
    let docs = "/dbs/d/colls/h/docs";
    for n in 0..24 {
        let (tenant, user, day) = (n % 2, n % 3, n % 4);
        let key = format!("[{tenant},{user},{day}]");
        let body = format!(r#"{{"id":"{n}","tenant":{tenant},"user":{user},"day":{day},"n":{n}}}"#);
        client.send(Method::POST, docs, &[("x-ms-documentdb-partitionkey", &key)], body).await.expect(201);
    }
    for (key, expected) in [
        ("[1]", numbers((0..24).filter(|n| n % 2 == 1))),
        ("[1, 2]", numbers((0..24).filter(|n| n % 2 == 1 && n % 3 == 2))),
        ("[1,2,3]", numbers((0..24).filter(|n| n % 12 == 11))),
        ("[7]", Vec::new()),
    ] {
        let headers = [("x-ms-documentdb-isquery", "true"), ("x-ms-documentdb-partitionkey", key)];
        let body = r#"{"query":"SELECT VALUE c.n FROM c ORDER BY c.n"}"#;
        let answer = client.send(Method::POST, docs, &headers, body).await;
        assert_eq!(rows(&answer), expected, "{key}");
    }
}

#[tokio::test]
async fn parts_of_the_ring_need_no_partition() {
    let client = with_items(50).await;
    let text = "SELECT VALUE c.n FROM c";
    let half = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
    let kind = ("x-ms-read-key-type", "EffectivePartitionKeyRange");
    let (lower, _, _) =
        all_pages(&client, text, &[CROSS, kind, ("x-ms-start-epk", ""), ("x-ms-end-epk", half)]).await;
    assert_eq!(lower, all_pages(&client, text, &[(RANGE, "0")]).await.0);
    let (upper, _, _) =
        all_pages(&client, text, &[CROSS, kind, ("x-ms-start-epk", half), ("x-ms-end-epk", "FF")]).await;
    assert_eq!(upper, all_pages(&client, text, &[(RANGE, "1")]).await.0);
}

#[tokio::test]
async fn crossing_partitions_needs_the_clients_word() {
    let client = with_items(10).await;
    for header in [None, Some((CROSS.0, "false"))] {
        let headers: Vec<_> = header.into_iter().collect();
        let refused = query(&client, "SELECT * FROM c WHERE c.n > 5", &headers).await.expect_code(400, 0);
        let message = refused.member("message");
        assert!(message.contains("Cross partition query is required but disabled."), "{message}");
        // A filter by the partition key says enough.
        let answer = query(&client, "SELECT VALUE c.n FROM c WHERE c.pk = 3", &headers).await;
        assert_eq!(rows(&answer), ["3", "8"]);
    }
}

#[tokio::test]
async fn pages_have_the_size_asked_for() {
    let client = with_items(25).await;
    for (text, is_ordered) in
        [("SELECT VALUE c.n FROM c", false), ("SELECT VALUE c.n FROM c ORDER BY c.n", true)]
    {
        let mut charges = Vec::new();
        for (size, largest) in [("1", 1), ("4", 4), ("24", 24), ("25", 25), ("100", 25), ("-1", 25)] {
            let (found, sizes, charge) =
                all_pages(&client, text, &[CROSS, ("x-ms-max-item-count", size)]).await;
            assert!(sizes.iter().all(|size| *size <= largest), "{size}: {sizes:?}");
            let found = if is_ordered { found } else { sorted(found) };
            assert_eq!(found, numbers(0..25), "{text}, {size}");
            charges.push((charge * 100.0).round() as i64);
        }
        // Each page costs something; as long as that does not matter, the price does not depend on the pages.
        let whole = charges[charges.len() - 1];
        assert_eq!(charges[charges.len() - 2], whole, "{text}: {charges:?}");
        assert!(charges.iter().all(|charge| *charge >= whole), "{text}: {charges:?}");
    }
}

#[tokio::test]
async fn pages_are_as_long_as_asked_or_a_hundred_rows() {
    let client = with_items(120).await;
    let text = "SELECT VALUE c.n FROM c";
    assert_eq!(rows(&query(&client, text, &[CROSS]).await).len(), 100);
    assert_eq!(rows(&query(&client, text, &[CROSS, ("x-ms-max-item-count", "-1")]).await).len(), 120);
    for odd in ["0", "-2", "many"] {
        query(&client, text, &[CROSS, ("x-ms-max-item-count", odd)]).await.expect_code(400, 0);
    }
}

#[tokio::test]
async fn results_of_partitions_are_merged() {
    let client = with_items(50).await;
    for (text, expected) in [
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC", numbers((0..50).rev())),
        ("SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n", numbers(0..3)),
        ("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 10 LIMIT 3", numbers(10..13)),
        ("SELECT VALUE COUNT(1) FROM c", vec!["50".to_owned()]),
        ("SELECT VALUE SUM(c.n) FROM c", vec!["1225".to_owned()]),
        ("SELECT COUNT(1) AS n, MAX(c.n) AS most FROM c", vec![r#"{"n":50,"most":49}"#.to_owned()]),
    ] {
        let (found, _, _) = all_pages(&client, text, &[CROSS, ("x-ms-max-item-count", "7")]).await;
        assert_eq!(found, expected, "{text}");
    }
    let (found, _, _) = all_pages(&client, "SELECT DISTINCT VALUE c.pk FROM c", &[CROSS]).await;
    assert_eq!(sorted(found), numbers(0..5));
    let (found, _, _) = all_pages(&client, "SELECT c.pk, COUNT(1) AS n FROM c GROUP BY c.pk", &[CROSS]).await;
    assert_eq!(found.len(), 5);
    assert!(found.contains(&r#"{"pk":3,"n":10}"#.to_owned()), "{found:?}");
}

#[tokio::test]
async fn clients_may_be_left_to_merge() {
    let client = with_plans(20).await;
    for (text, words) in [
        ("SELECT * FROM c ORDER BY c.n", "can not be directly served by the gateway"),
        ("SELECT TOP 3 * FROM c", "can not be directly served by the gateway"),
        ("SELECT * FROM c OFFSET 1 LIMIT 2", "can not be directly served by the gateway"),
        ("SELECT DISTINCT VALUE c.pk FROM c", "can not be directly served by the gateway"),
        ("SELECT c.pk FROM c GROUP BY c.pk", "can not be directly served by the gateway"),
        ("SELECT VALUE COUNT(1) FROM c", "can not be directly served by the gateway"),
        ("SELECT COUNT(1) AS n FROM c", "Cross partition query only supports 'VALUE <AggregateFunc>'"),
    ] {
        let refused = query(&client, text, &[CROSS]).await.expect_code(400, 1004);
        let message = refused.member("message");
        assert!(message.contains(words), "{text}: {message}");
        let plan = json::parse(refused.member("additionalErrorInfo").as_bytes()).unwrap();
        assert!(plan.get("queryInfo").is_some() && plan.get("queryRanges").is_some(), "{text}: {plan:?}");
        // One partition has nothing to merge with, and plain filters need no merging.
        query(&client, text, &[("x-ms-documentdb-partitionkey", "[3]")]).await.expect(200);
        query(&client, text, &[(RANGE, "0")]).await.expect(200);
    }
    let (found, _, _) = all_pages(&client, "SELECT VALUE c.n FROM c WHERE c.n > 4", &[CROSS]).await;
    assert_eq!(sorted(found), numbers(5..20));
    let (found, _, _) = all_pages(&client, "SELECT VALUE c.n FROM c WHERE c.pk = 1 ORDER BY c.n", &[]).await;
    assert_eq!(found, ["1", "6", "11", "16"]);
    // Plans themselves are the same.
    query(&client, "SELECT", &[CROSS]).await.expect_code(400, 0);
}

#[tokio::test]
async fn read_many_finds_items_by_key_and_id() {
    let client = with_items(50).await;
    // As the Python client asks for them.
    let mut clauses = Vec::new();
    let mut parameters = Vec::new();
    for n in 0..50 {
        clauses.push(format!("( c.id = @param_id{n} AND c.pk = @param_pk{n}0 )"));
        parameters.push(format!(r#"{{"name":"@param_id{n}","value":"{n}"}}"#));
        parameters.push(format!(r#"{{"name":"@param_pk{n}0","value":{}}}"#, n % 5));
    }
    let text = format!("SELECT * FROM c WHERE ( {} )", clauses.join(" OR "));
    let body = format!(r#"{{"query":"{text}","parameters":[{}]}}"#, parameters.join(","));
    let answer = send(&client, &body, &[CROSS, ("x-ms-max-item-count", "1000")]).await;
    let mut ids = answer.ids("Documents");
    ids.sort_by_key(|id| id.parse::<u32>().unwrap());
    assert_eq!(ids, numbers(0..50));
    let text = "SELECT VALUE c.n FROM c WHERE c.pk = 1 AND c.id IN ('1', '6', '7')";
    assert_eq!(rows(&query(&client, text, &[CROSS]).await), ["1", "6"]);
}

#[tokio::test]
async fn ordered_queries_begin_where_the_body_says() {
    let client = with_items(20).await;
    let text = "SELECT VALUE c.n FROM c ORDER BY c.n";
    let resumed = |filter: &str| format!(r#"{{"query":"{text}","resumeFilter":{filter}}}"#);
    let key = [("x-ms-documentdb-partitionkey", "[1]")];
    for (filter, expected) in [
        (r#"{"value":[6],"exclude":false}"#, &["6", "11", "16"][..]),
        (r#"{"value":[6],"exclude":true}"#, &["11", "16"]),
        (r#"{"value":[7],"exclude":true}"#, &["11", "16"]),
        (r#"{"value":[[]],"exclude":false}"#, &["1", "6", "11", "16"]),
        (r#"{"value":["text"],"exclude":false}"#, &[]),
    ] {
        assert_eq!(rows(&send(&client, &resumed(filter), &key).await), expected, "{filter}");
    }
    for odd in ["[]", "5", r#"{"value":5}"#, "{}"] {
        send(&client, &resumed(odd), &key).await.expect_code(400, 0);
    }
}

#[tokio::test]
async fn tokens_for_one_partition_see_that_partition() {
    let client = with_items(10).await;
    client.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
    let token = |id: &str, more: &str| {
        format!(r#"{{"id":"{id}","permissionMode":"Read","resource":"dbs/d/colls/c2"{more}}}"#)
    };
    let path = "/dbs/d/users/u/permissions";
    let whole = client.post(path, &token("all", "")).await.expect(201).member("_token");
    let part = token("one", r#","resourcePartitionKey":[1]"#);
    let part = client.post(path, &part).await.expect(201).member("_token");
    let body = r#"{"query":"SELECT VALUE c.n FROM c ORDER BY c.n"}"#;
    for (token, key, expected) in [
        (&whole, None, Some(numbers(0..10))),
        (&part, Some("[1]"), Some(numbers([1, 6].into_iter()))),
        (&part, None, Some(numbers([1, 6].into_iter()))),
        (&part, Some("[2]"), None),
    ] {
        let encoded: String = token.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let mut headers = vec![("x-ms-documentdb-isquery", "true"), CROSS];
        headers.extend(key.map(|key| ("x-ms-documentdb-partitionkey", key)));
        let answer = client.send_as(&encoded, Method::POST, DOCS, &headers, body).await;
        match expected {
            Some(expected) => assert_eq!(rows(&answer), expected),
            None => assert_eq!(answer.code(), (403, 0)),
        }
        // Some clients ask for a plan with every query.
        headers.push(("x-ms-cosmos-is-query-plan-request", "True"));
        headers.push(("x-ms-cosmos-supported-query-features", "OrderBy"));
        client.send_as(&encoded, Method::POST, DOCS, &headers, body).await.expect(200);
    }
}
