//! The change feed of all versions and deletes: what it tells, where it begins, how long it is kept.

use std::time::Duration;

use armilla_value::Value;
use http::Method;

use super::client::Client;
use super::feed_reader::{
    ALL_VERSIONS, DOCS, ENVELOPES, KEY, RANGE, Reader, batch, id, number, numbers, put, remove, sorted,
    with_container,
};

const POLICY: &str = r#","changeFeedPolicy":{"retentionDuration":10}"#;
const IMAGES: &str = r#","changeFeedPolicy":{"retentionDuration":10,"previousImages":true}"#;

/// A reader that begins now.
async fn follower(client: &Client, headers: &[(&'static str, &str)]) -> Reader {
    let mut reader = Reader::all_versions(headers).at("*");
    reader.page(client).await.expect(304);
    reader
}

fn operation(entry: &Value) -> String {
    entry
        .get("metadata")
        .and_then(|data| data.get("operationType"))
        .and_then(Value::as_str)
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn every_version_is_told() {
    for (policy, shows_images) in [(POLICY, false), (IMAGES, true)] {
        let client = with_container(policy, "400").await;
        put(&client, 0, 1, "").await;
        let mut reader = follower(&client, &[]).await;
        let created = put(&client, 1, 1, r#","v":1"#).await;
        client.clock.advance(Duration::from_secs(5));
        let replaced = put(&client, 1, 1, r#","v":2"#).await;
        let deleted =
            client.send(Method::DELETE, &format!("{DOCS}/1"), &[(KEY, "[1]")], "").await.expect(204);
        let page = reader.page(&client).await.expect(200);
        let (first, second) = (created.number("_ts"), replaced.number("_ts"));
        assert_eq!(first + 5, second);
        let lsn = |answer: &super::client::Answer| answer.header("lsn").unwrap().to_owned();
        let (one, two, three) = (lsn(&created), lsn(&replaced), lsn(&deleted));
        let previous = match shows_images {
            true => format!(r#","previous":{}"#, created.text),
            false => String::new(),
        };
        let expected = [
            format!(
                r#"{{"current":{},"metadata":{{"lsn":{one},"crts":{first},"operationType":"create"}}}}"#,
                created.text
            ),
            format!(
                r#"{{"current":{}{previous},"metadata":{{"lsn":{two},"crts":{second},"operationType":"replace","previousImageLSN":{one}}}}}"#,
                replaced.text
            ),
            format!(
                r#"{{"current":{{}},"previous":{},"metadata":{{"lsn":{three},"crts":{second},"operationType":"delete","previousImageLSN":{two},"timeToLiveExpired":false,"id":"1","partitionKey":{{"pk":1}}}}}}"#,
                replaced.text
            ),
        ];
        let rid = page.member("_rid");
        let expected = format!(r#"{{"_rid":"{rid}","Documents":[{}],"_count":3}}"#, expected.join(","));
        assert_eq!(page.text, expected, "{policy}");
        reader.page(&client).await.expect(304);
        // The other mode works beside it.
        assert_eq!(Reader::latest(&[]).ids(&client).await, ["0"]);
    }
}

#[tokio::test]
async fn deletes_are_named_by_key_and_id() {
    let client = Client::new().await;
    client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
    let definition = format!(
        r#"{{"id":"c","partitionKey":{{"paths":["/a/x","/b"],"kind":"MultiHash","version":2}}{POLICY}}}"#
    );
    client.post("/dbs/d/colls", &definition).await.expect(201);
    let mut reader = follower(&client, &[]).await;
    for (id, key, body) in [
        ("i \\\"1\\\"", r#"["x",1.5]"#, r#""a":{"x":"x"},"b":1.5"#),
        ("2", r#"["x",{}]"#, r#""a":{"x":"x"}"#),
        ("3", "[null,true]", r#""a":{"x":null},"b":true"#),
    ] {
        let body = format!(r#"{{"id":"{id}",{body}}}"#);
        client.send(Method::POST, DOCS, &[(KEY, key)], body).await.expect(201);
        let path = format!("{DOCS}/{}", id.replace(" \\\"1\\\"", "%20%221%22"));
        client.send(Method::DELETE, &path, &[(KEY, key)], "").await.expect(204);
    }
    let deleted: Vec<String> = reader
        .entries(&client)
        .await
        .iter()
        .filter(|entry| operation(entry) == "delete")
        .map(|entry| {
            let data = entry.get("metadata").unwrap();
            format!(
                "{} {}",
                armilla_value::json::to_string(data.get("id").unwrap()),
                armilla_value::json::to_string(data.get("partitionKey").unwrap())
            )
        })
        .collect();
    assert_eq!(deleted, [r#""i \"1\"" {"x":"x","b":1.5}"#, r#""2" {"x":"x"}"#, r#""3" {"x":null,"b":true}"#]);
}

#[tokio::test]
async fn all_versions_have_two_beginnings() {
    let client = with_container(POLICY, "400").await;
    put(&client, 1, 1, "").await;
    let date = client.date();
    let time = ("if-modified-since", date.as_str());
    for headers in [&[ALL_VERSIONS, ENVELOPES][..], &[ALL_VERSIONS], &[ALL_VERSIONS, ENVELOPES, time]] {
        let answer = client.send(Method::GET, DOCS, headers, "").await.expect_code(400, 0);
        assert!(answer.member("message").contains("if-none-match"), "{}", answer.text);
    }
    let mut reader = follower(&client, &[]).await;
    client.clock.advance(Duration::from_secs(10));
    put(&client, 2, 1, "").await;
    client.clock.advance(Duration::from_secs(10));
    let late = client.date();
    put(&client, 3, 1, "").await;
    let position = reader.position.clone().unwrap();
    let mut filtered = Reader::all_versions(&[("if-modified-since", &late)]).at(&position);
    assert_eq!(filtered.ids(&client).await, ["3"], "a time beside a position filters");
    assert_eq!(reader.ids(&client).await, ["2", "3"]);
    // A position of the other mode is a position, too.
    let mut latest = Reader::latest(&[]).at("*");
    latest.page(&client).await.expect(304);
    put(&client, 4, 1, "").await;
    remove(&client, 4, 1).await;
    let mut other = Reader::all_versions(&[]).at(&latest.position.clone().unwrap());
    assert_eq!(other.entries(&client).await.len(), 2);
    // Without the version of the wire format it is the same one.
    let plain = client.send(Method::GET, DOCS, &[ALL_VERSIONS, ("if-none-match", &position)], "").await;
    assert!(plain.expect(200).text.contains(r#""operationType":"create""#));
}

#[tokio::test]
async fn all_versions_need_a_policy() {
    for definition in ["", r#","changeFeedPolicy":{"retentionDuration":0}"#] {
        let client = with_container(definition, "400").await;
        for position in ["*", "\"1\""] {
            Reader::all_versions(&[]).at(position).try_page(&client).await.expect_code(400, 0);
        }
        Reader::latest(&[]).page(&client).await.expect(304);
    }
}

#[tokio::test]
async fn policies_come_back_as_they_were_given() {
    for policy in [r#"{"retentionDuration":10}"#, r#"{"retentionDuration":10,"previousImages":true}"#] {
        let client = with_container(&format!(r#","changeFeedPolicy":{policy}"#), "400").await;
        let read = client.get("/dbs/d/colls/c").await.expect(200);
        assert!(read.text.contains(&format!(r#""changeFeedPolicy":{policy}"#)), "{}", read.text);
    }
}

#[tokio::test]
async fn pages_and_scopes_hold_for_all_versions() {
    let client = with_container(POLICY, "20000").await;
    let mut all = follower(&client, &[("x-ms-max-item-count", "2")]).await;
    let mut ranges = [follower(&client, &[(RANGE, "0")]).await, follower(&client, &[(RANGE, "1")]).await];
    let mut key = follower(&client, &[(KEY, "[3]")]).await;
    for n in 0..20 {
        put(&client, n, n % 5, "").await;
    }
    for n in 0..10 {
        remove(&client, n, n % 5).await;
    }
    batch(&client, 100..105, 3).await;
    let expected = sorted([numbers(0..20), numbers(0..10), numbers(100..105)].concat());
    let pages = all.pages(&client).await;
    assert_eq!(sorted(pages.concat().iter().map(id).collect()), expected);
    assert!(pages.iter().all(|page| page.len() <= 2 || (5..=6).contains(&page.len())));
    let of_batch = |entry: &Value| id(entry).parse::<usize>().unwrap() >= 100;
    assert_eq!(pages.iter().filter(|page| page.iter().any(of_batch)).count(), 1, "a commit is never cut");
    let mut found = Vec::new();
    for range in &mut ranges {
        let part = range.entries(&client).await;
        let lsns: Vec<i64> = part.iter().map(|entry| number(entry, &["metadata", "lsn"])).collect();
        assert!(lsns.is_sorted(), "{lsns:?}");
        found.extend(part.iter().map(id));
    }
    assert_eq!(sorted(found), expected);
    let of_key: Vec<(String, String)> =
        key.entries(&client).await.iter().map(|entry| (operation(entry), id(entry))).collect();
    let create = |n: usize| ("create".to_owned(), n.to_string());
    let delete = |n: usize| ("delete".to_owned(), n.to_string());
    let expected: Vec<(String, String)> = [3, 8, 13, 18]
        .map(create)
        .into_iter()
        .chain([3, 8].map(delete))
        .chain((100..105).map(create))
        .collect();
    assert_eq!(of_key, expected);
}

#[tokio::test]
async fn what_is_older_than_the_window_is_gone() {
    let client = with_container(POLICY, "400").await;
    let mut reader = follower(&client, &[]).await;
    let old = reader.position.clone().unwrap();
    put(&client, 1, 1, r#","v":1"#).await;
    put(&client, 1, 1, r#","v":2"#).await;
    client.clock.advance(Duration::from_secs(5 * 60));
    assert_eq!(Reader::all_versions(&[]).at(&old).entries(&client).await.len(), 2);
    reader.entries(&client).await;
    put(&client, 2, 1, "").await;
    let recent = reader.position.clone().unwrap();
    client.clock.advance(Duration::from_secs(6 * 60));
    // Changes are dropped once they are older than the retention, in the background.
    let answer = client
        .wait_for(async || {
            let answer = Reader::all_versions(&[]).at(&old).try_page(&client).await;
            (answer.status != 200).then_some(answer)
        })
        .await;
    let answer = answer.expect_code(400, 0);
    assert_eq!(answer.member("code"), "BadRequest");
    // Newer positions, and the newest versions, are not concerned.
    assert_eq!(Reader::all_versions(&[]).at(&recent).ids(&client).await, ["2"]);
    assert_eq!(Reader::latest(&[]).at(&old).ids(&client).await, ["1", "2"]);
    assert_eq!(Reader::latest(&[]).ids(&client).await, ["1", "2"]);
}

#[tokio::test]
async fn a_policy_that_comes_later_begins_then() {
    let client = with_container("", "400").await;
    put(&client, 1, 1, "").await;
    let mut latest = Reader::latest(&[]);
    latest.page(&client).await.expect(200);
    let before = latest.position.clone().unwrap();
    put(&client, 2, 1, "").await;
    let mut definition = client.get("/dbs/d/colls/c").await.text;
    definition.truncate(definition.len() - 1);
    client.put("/dbs/d/colls/c", &format!("{definition}{POLICY}}}")).await.expect(200);
    // What came in between was not kept whole.
    Reader::all_versions(&[]).at(&before).try_page(&client).await.expect_code(400, 0);
    let mut reader = follower(&client, &[]).await;
    put(&client, 1, 1, r#","v":2"#).await;
    remove(&client, 1, 1).await;
    let found: Vec<String> = reader.entries(&client).await.iter().map(operation).collect();
    assert_eq!(found, ["replace", "delete"]);
}
