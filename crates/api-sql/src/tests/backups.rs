//! Backups as the wire shows them; what is in them is tested in the engine.

use armilla_value::Value;
use http::Method;

use super::client::{Client, KEY, READ_ONLY_KEY, sign};

const BACKUPS: &str = "/_armilla/backups";

/// Begins a backup and returns the path of it.
async fn begin(client: &Client) -> String {
    let begun = client.post(BACKUPS, "").await.expect(201);
    for (member, length) in [("id", 36), ("account", 32)] {
        assert_eq!(begun.member(member).len(), length, "{begun:?}");
    }
    let body = begun.json();
    assert_eq!(body.get("spaces").and_then(Value::as_i64), Some(1));
    assert!(body.get("momentMs").and_then(Value::as_i64).unwrap() > 1_600_000_000_000);
    assert_eq!(begun.member("program"), env!("CARGO_PKG_VERSION"));
    format!("{BACKUPS}/{}", begun.member("id"))
}

#[tokio::test]
async fn a_backup_is_read_frame_by_frame() {
    let client = Client::with_container().await;
    let path = begin(&client).await;
    let first = client.get(&format!("{path}/frames/0")).await.expect(200);
    assert_eq!(first.header("content-type"), Some("application/octet-stream"));
    assert_eq!(first.header("x-ms-request-charge"), Some("0.00"));
    client.get(&format!("{path}/frames/1")).await.expect(200);
    client.get(&format!("{path}/frames/7")).await.expect_code(400, 0);
    client.get(&format!("{path}/frames/seven")).await.expect(404);
    client.send(Method::DELETE, &path, &[], "").await.expect(204);
    client.send(Method::DELETE, &path, &[], "").await.expect_code(404, 0);
    let gone = client.get(&format!("{path}/frames/1")).await.expect_code(404, 0);
    assert!(gone.text.contains("is being taken"), "{gone:?}");
}

#[tokio::test]
async fn few_are_taken_at_a_time_and_verbs_count() {
    let client = Client::with_container().await;
    let path = begin(&client).await;
    begin(&client).await;
    let full = client.post(BACKUPS, "").await.expect_code(423, 0);
    assert!(full.text.contains("being taken already"), "{full:?}");
    for (method, path) in [
        (Method::GET, BACKUPS.to_owned()),
        (Method::GET, path.clone()),
        (Method::POST, path.clone()),
        (Method::POST, format!("{path}/frames/0")),
        (Method::DELETE, format!("{path}/frames/0")),
    ] {
        client.send(method, &path, &[], "").await.expect(405);
    }
}

/// Who may only read may not have this: with the secret in it, they could make tokens that write.
#[tokio::test]
async fn the_key_for_reading_takes_no_backup() {
    let client = Client::with_container().await;
    let path = begin(&client).await;
    client.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
    let permission = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#;
    let permission = client.post("/dbs/d/users/u/permissions", permission).await.expect(201);
    let token = permission.member("_token").replace('&', "%26").replace('=', "%3D").replace('+', "%2B");
    for (method, path) in [
        (Method::POST, BACKUPS.to_owned()),
        (Method::GET, format!("{path}/frames/0")),
        (Method::DELETE, path.clone()),
    ] {
        let signed = |key: &str| sign(key, method.as_str(), "armilla", &path[1..], &client.date());
        client.send_as("", method.clone(), &path, &[], "").await.expect(401);
        client.send_as(&signed("d3Jvbmc="), method.clone(), &path, &[], "").await.expect(401);
        client.send_as(&signed(READ_ONLY_KEY), method.clone(), &path, &[], "").await.expect_code(403, 0);
        client.send_as(&token, method.clone(), &path, &[], "").await.expect_code(403, 0);
        let answer = client.send_as(&signed(KEY), method.clone(), &path, &[], "").await;
        assert!((200..300).contains(&answer.status), "{answer:?}");
    }
}
