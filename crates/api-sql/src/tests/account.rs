//! The account document, and who gets in.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;

use super::client::{Client, KEY, READ_ONLY_KEY};
use crate::SqlApiOptions;

#[tokio::test]
async fn account_names_the_address_by_which_the_client_came() {
    let client = Client::new().await;
    let answer = client.get("/").await.expect(200);
    assert!(
        answer.text.contains(r#""databaseAccountEndpoint":"https://localhost:8081/""#),
        "{}",
        answer.text
    );
    assert_eq!(answer.member("id"), "armilla");
    assert_eq!(answer.header("etag"), None);
    assert_eq!(answer.header("x-ms-session-token"), None);
    let answer = client.send(Method::GET, "/", &[("host", "127.0.0.1:9")], "").await.expect(200);
    assert!(answer.text.contains("https://127.0.0.1:9/"));
}

#[tokio::test]
async fn advertised_address_wins() {
    let mut options = SqlApiOptions::new(KEY);
    options.advertised_url = Some("http://db.example:1".to_owned());
    let answer = Client::with_options(options).await.get("/").await.expect(200);
    assert!(answer.text.contains(r#""databaseAccountEndpoint":"http://db.example:1/""#));
    assert_eq!(answer.header("content-location"), Some("http://db.example:1/"));
}

#[tokio::test]
async fn callers_that_are_not_believed_are_told_nothing() {
    let client = Client::new().await;
    for path in ["/", "/dbs", "/dbs/d/colls/c/docs/1", "/nothing", "/dbs//x"] {
        for authorization in ["", "nonsense", "type=master&ver=1.0&sig=AAAA", "type=aad&ver=1.0&sig=a.b.c"] {
            if authorization.contains("AAAA") && (path == "/nothing" || path == "/dbs//x") {
                continue;
            }
            let answer = client.send_as(authorization, Method::GET, path, &[], "").await.expect(401);
            assert_eq!(answer.member("code"), "Unauthorized");
        }
    }
}

#[tokio::test]
async fn wrong_signatures_are_shown_what_was_signed() {
    let client = Client::new().await;
    let authorization = client.sign("d3Jvbmc=", &Method::GET, "/dbs/d");
    let answer = client.send_as(&authorization, Method::GET, "/dbs/d", &[], "").await.expect(401);
    let payload = format!(r"get\ndbs\ndbs/d\n{}\n\n", client.date().to_lowercase());
    assert!(answer.member("message").contains(&payload), "{}", answer.text);
}

#[tokio::test]
async fn every_configured_key_is_tried() {
    let secondary = "c2Vjb25kYXJ5";
    let mut options = SqlApiOptions::new(KEY);
    options.secondary_key = Some(secondary.to_owned());
    options.read_only_keys.push(READ_ONLY_KEY.to_owned());
    let client = Client::with_options(options).await;
    for (key, body, status) in [
        (KEY, r#"{"id":"a"}"#, 201),
        (secondary, r#"{"id":"b"}"#, 201),
        (READ_ONLY_KEY, r#"{"id":"c"}"#, 403),
        ("d3Jvbmc=", r#"{"id":"d"}"#, 401),
    ] {
        let authorization = client.sign(key, &Method::POST, "/dbs");
        client.send_as(&authorization, Method::POST, "/dbs", &[], body).await.expect(status);
    }
}

#[tokio::test]
async fn tokens_of_other_kinds_are_refused() {
    let client = Client::new().await;
    for (authorization, kind) in [("type%3Dsas%26ver%3D1.0%26sig%3Dx", "client-generated (type=sas)")] {
        let answer = client.send_as(authorization, Method::GET, "/dbs", &[], "").await.expect(401);
        let message = format!("Tokens of the {kind} kind are not supported by this server");
        assert!(answer.member("message").starts_with(&message), "{}", answer.text);
    }
}

#[tokio::test]
async fn stale_signatures_are_forbidden() {
    let client = Client::new().await;
    let authorization = client.sign(KEY, &Method::GET, "/dbs");
    let date = client.date();
    let send =
        async || client.send_as(&authorization, Method::GET, "/dbs", &[("x-ms-date", &date)], "").await;
    client.clock.advance(Duration::from_secs(15 * 60));
    send().await.expect(200);
    client.clock.advance(Duration::from_secs(1));
    assert_eq!(send().await.expect(403).member("code"), "Forbidden");
}

#[tokio::test]
async fn read_only_keys_read() {
    let client = Client::with_container().await;
    let send = async |method: Method, path: &str, body: &'static str| {
        let authorization = client.sign(READ_ONLY_KEY, &method, path);
        let headers = [("x-ms-documentdb-partitionkey", "[1]")];
        client.send_as(&authorization, method, path, &headers, body).await
    };
    for path in ["/", "/dbs", "/dbs/d", "/dbs/d/colls/c", "/dbs/d/colls/c/docs", "/dbs/d/colls/c/pkranges"] {
        send(Method::GET, path, "").await.expect(200);
    }
    send(Method::POST, "/dbs", r#"{"id":"e"}"#).await.expect(403);
    send(Method::POST, "/dbs/d/colls/c/docs", r#"{"id":"1","pk":1}"#).await.expect(403);
    send(Method::DELETE, "/dbs/d", "").await.expect(403);
}

#[tokio::test]
async fn authorization_can_be_switched_off() {
    let mut options = SqlApiOptions::new(KEY);
    options.require_auth = false;
    let client = Client::with_options(options).await;
    client.send_as("", Method::POST, "/dbs", &[], r#"{"id":"d"}"#).await.expect(201);
    client.send_as("", Method::GET, "/nothing", &[], "").await.expect(404);
}

#[tokio::test]
async fn activity_ids_are_echoed_or_made() {
    let client = Client::new().await;
    let own = "6d0d4d9a-2f8e-4f0d-9a3e-0f6a3c3e8c11";
    let answer = client.send(Method::GET, "/dbs/no", &[("x-ms-activity-id", own)], "").await.expect(404);
    assert_eq!(answer.header("x-ms-activity-id"), Some(own));
    assert!(answer.member("message").contains(&format!("ActivityId: {own}")));
    let (first, second) = (client.get("/dbs").await, client.get("/dbs").await);
    assert_eq!(first.header("x-ms-activity-id").unwrap().len(), 36);
    assert_ne!(first.header("x-ms-activity-id"), second.header("x-ms-activity-id"));
}

#[tokio::test]
async fn http_2_requests_have_no_host_header() {
    let mut options = SqlApiOptions::new(KEY);
    options.require_auth = false;
    let client = Client::with_options(options).await;
    let request = Request::get("http://two.example:7/").body(Full::new(Bytes::new())).unwrap();
    assert!(client.exchange(request).await.expect(200).text.contains("https://two.example:7/"));
    let request = Request::get("/").body(Full::new(Bytes::new())).unwrap();
    client.exchange(request).await.expect(400);
}

/// They would see a 404 otherwise, and look for what is missing.
#[tokio::test]
async fn clients_in_direct_mode_are_told() {
    let client = Client::with_container().await;
    for path in ["/addresses", "/addresses/", "//addresses/?$resolveFor=dbs%2fd%2fcolls%2fc%2fdocs"] {
        let authorization = client.sign(KEY, &Method::GET, "/dbs");
        let answer = client.send_as(&authorization, Method::GET, path, &[], "").await.expect_code(400, 0);
        let message = answer.member("message");
        assert!(message.contains("gatewayMode()") && message.contains("ConnectionMode.Gateway"), "{message}");
    }
}

/// Returns a token as applications make it for an emulator.
fn emulator_token(key: &str, expires: i64) -> String {
    let header = r#"{"typ":"JWT","alg":"RS256","kid":"CosmosEmulatorPrimaryMaster"}"#;
    let parts = [header, &format!(r#"{{"nbf":0,"exp":{expires}}}"#), key];
    let token =
        parts.map(|part| base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, part));
    format!("type=aad&ver=1.0&sig={}", token.join("."))
}

#[tokio::test]
async fn tokens_of_the_emulators_are_taken() {
    let mut options = SqlApiOptions::new(KEY);
    options.read_only_keys.push(READ_ONLY_KEY.to_owned());
    let client = Client::with_options(options).await;
    for (key, expires, status) in
        [(KEY, i64::MAX, 201), (READ_ONLY_KEY, i64::MAX, 403), ("d3Jvbmc=", i64::MAX, 401), (KEY, 1, 401)]
    {
        let token = emulator_token(key, expires);
        client.send_as(&token, Method::POST, "/dbs", &[], r#"{"id":"d"}"#).await.expect(status);
    }
    let token = emulator_token(KEY, i64::MAX);
    client.send_as(&token, Method::GET, "/dbs/d", &[], "").await.expect(200);
}
