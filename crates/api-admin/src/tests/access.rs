//! Who may do what: every operation there is, by every kind of caller, on what exists and on what does not.

use std::time::Duration;

use http::Method;

use super::client::{Answer, Client, KEY, READ_ONLY_KEY};
use crate::path::{self, Resource};

/// A verb, a path, a body, what the key of the account is answered and what the one for reading.
type Row = (Method, &'static str, &'static str, u16, u16);

fn rows() -> [Row; 23] {
    let buckets = r#"{"throughputBuckets":[]}"#;
    let ranges = r#"{"ranges":["0","1"]}"#;
    [
        (Method::GET, "/_armilla/partitions", "", 200, 200),
        (Method::POST, "/_armilla/dbs/d/colls/c/split", "", 202, 403),
        (Method::POST, "/_armilla/dbs/d/colls/x/split", "", 404, 403),
        (Method::POST, "/_armilla/dbs/x/colls/c/split", "", 404, 403),
        (Method::POST, "/_armilla/dbs/d/colls/c/merge", ranges, 410, 403),
        (Method::POST, "/_armilla/dbs/d/colls/x/merge", ranges, 404, 403),
        (Method::GET, "/_armilla/dbs/d/colls/c/throughputBuckets", "", 200, 200),
        (Method::PUT, "/_armilla/dbs/d/colls/c/throughputBuckets", buckets, 200, 403),
        (Method::PUT, "/_armilla/dbs/d/colls/x/throughputBuckets", buckets, 404, 403),
        (Method::GET, "/_armilla/dbs/d/colls/c/partitions", "", 200, 200),
        (Method::GET, "/_armilla/dbs/d/colls/x/partitions", "", 404, 404),
        (Method::GET, "/_armilla/dbs/d/colls/c/history", "", 200, 200),
        (Method::GET, "/_armilla/dbs/d/colls/x/history", "", 404, 404),
        (Method::GET, "/_armilla/regions", "", 200, 200),
        (Method::PUT, "/_armilla/regions/x", "{}", 404, 403),
        (Method::POST, "/_armilla/advice", "", 200, 200),
        (Method::GET, "/_armilla/requests", "", 200, 200),
        (Method::DELETE, "/_armilla/requests", "", 200, 403),
        (Method::GET, "/_armilla/nodes", "", 200, 200),
        (Method::POST, "/_armilla/nodes/drain", "", 400, 403),
        (Method::POST, "/_armilla/backups", "", 201, 403),
        (Method::GET, "/_armilla/backups/b/frames/0", "", 404, 403),
        (Method::DELETE, "/_armilla/backups/b", "", 404, 403),
    ]
}

/// What a caller learns from a refusal.
fn lesson(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let activity = answer.header("x-ms-activity-id").unwrap().to_owned();
    let headers = answer.headers.iter().filter(|(name, _)| *name != "x-ms-activity-id");
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (answer.status, headers.collect(), answer.text.replace(&activity, ""))
}

/// Callers with a token are told the same, to the letter, whatever is asked for and whether it exists or not.
#[tokio::test]
async fn every_operation_by_every_caller() {
    let mut told_to_tokens = None;
    for (method, path, body, of_key, of_reading) in rows() {
        let client = Client::with_container().await;
        let token = client.token().await;
        let ask =
            async |authorization: &str| client.send_as(authorization, method.clone(), path, &[], body).await;
        ask("").await.expect(401);
        ask(&client.sign("d3Jvbmc=", &method, path)).await.expect(401);
        ask("type=resource&ver=1&sig=forged").await.expect(401);
        let refused = ask(&token).await.expect_code(403, 0);
        assert_eq!(
            *told_to_tokens.get_or_insert_with(|| lesson(&refused)),
            lesson(&refused),
            "{method} {path}"
        );
        ask(&client.sign(READ_ONLY_KEY, &method, path)).await.expect(of_reading);
        ask(&client.sign(KEY, &method, path)).await.expect(of_key);
    }
}

/// Names the kinds of resources; one that is added must be added here, and then to the rows.
fn kind(resource: &Resource<'_>) -> usize {
    match resource {
        Resource::Partitions => 0,
        Resource::Backups => 1,
        Resource::Backup { .. } => 2,
        Resource::BackupFrame { .. } => 3,
        Resource::Split { .. } => 4,
        Resource::Merge { .. } => 5,
        Resource::Buckets { .. } => 6,
        Resource::Regions => 7,
        Resource::Region { .. } => 8,
        Resource::Nodes => 9,
        Resource::Drain => 10,
        Resource::History { .. } => 11,
        Resource::PartitionsOf { .. } => 12,
        Resource::Advice => 13,
        Resource::Requests => 14,
    }
}

#[test]
fn no_kind_of_resource_is_forgotten() {
    let mut is_found = [false; 15];
    for (_, path, ..) in rows() {
        is_found[kind(&path::parse(path).unwrap())] = true;
    }
    assert_eq!(is_found, [true; 15]);
}

#[tokio::test]
async fn verbs_that_a_resource_does_not_take() {
    let client = Client::with_container().await;
    for (method, path, allowed) in [
        (Method::POST, "/_armilla/partitions", "GET"),
        (Method::HEAD, "/_armilla/partitions", "GET"),
        (Method::GET, "/_armilla/dbs/d/colls/c/split", "POST"),
        (Method::DELETE, "/_armilla/dbs/d/colls/c/merge", "POST"),
        (Method::PUT, "/_armilla/dbs/d/colls/c/partitions", "GET"),
        (Method::PUT, "/_armilla/dbs/d/colls/c/history", "GET"),
        (Method::GET, "/_armilla/advice", "POST"),
        (Method::POST, "/_armilla/requests", "GET"),
        (Method::POST, "/_armilla/nodes", "GET"),
        (Method::GET, "/_armilla/nodes/drain", "POST"),
        (Method::GET, "/_armilla/backups", "POST"),
        (Method::POST, "/_armilla/backups/b", "DELETE"),
        (Method::DELETE, "/_armilla/backups/b/frames/0", "GET"),
    ] {
        let answer = client.send(method.clone(), path, &[], "").await.expect(405);
        assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
        assert_eq!(answer.member("code"), "MethodNotAllowed");
    }
}

/// Callers without a credential are not told which paths there are.
#[tokio::test]
async fn paths_that_lead_nowhere_are_told_to_callers_with_a_key() {
    let client = Client::with_container().await;
    for (path, status) in [("/_armilla", 404), ("/_armilla/nothing", 404), ("/_armilla//x", 400)] {
        client.get(path).await.expect_code(status, 0);
        client.send_as("", Method::GET, path, &[], "").await.expect(401);
    }
}

#[tokio::test]
async fn stale_signatures_are_forbidden() {
    let client = Client::with_container().await;
    let path = "/_armilla/partitions";
    let (authorization, date) = (client.sign(KEY, &Method::GET, path), client.date());
    let send = async || client.send_as(&authorization, Method::GET, path, &[("x-ms-date", &date)], "").await;
    client.clock.advance(Duration::from_secs(15 * 60));
    send().await.expect(200);
    client.clock.advance(Duration::from_secs(1));
    assert_eq!(send().await.expect(403).member("code"), "Forbidden");
}

#[tokio::test]
async fn activity_ids_are_echoed_where_they_can_be() {
    let client = Client::with_container().await;
    let path = "/_armilla/partitions";
    let longest = "x".repeat(armilla_rest_wire::limits::ACTIVITY_ID_BYTES_MAX);
    for (id, is_echoed) in [("an id", true), (&*longest, true), (&*format!("{longest}x"), false), ("", false)]
    {
        let answer = client.send(Method::GET, path, &[("x-ms-activity-id", id)], "").await.expect(200);
        assert_eq!(answer.header("x-ms-activity-id") == Some(id), is_echoed, "{id}");
    }
}
