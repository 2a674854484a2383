//! Databases and offers.

use armilla_value::Value;
use http::Method;

use super::client::Client;

#[tokio::test]
async fn databases_live_through_every_verb() {
    let client = Client::new().await;
    let created = client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
    let rid = created.member("_rid");
    assert_eq!((rid.len(), &rid[6..]), (8, "=="));
    assert_eq!(created.member("_self"), format!("dbs/{rid}/"));
    assert_eq!((created.member("_colls"), created.member("_users")), ("colls/".into(), "users/".into()));
    assert_eq!(created.header("etag"), Some(created.member("_etag").as_str()));
    assert_eq!(created.number("_ts"), 1_700_000_000);
    assert_eq!(created.header("x-ms-session-token"), None);
    assert_eq!(created.header("x-ms-alt-content-path"), None, "the account has no name path");

    assert_eq!(client.get("/dbs/d").await.expect(200).text, created.text);
    assert_eq!(client.get("/dbs/d/").await.expect(200).text, created.text);
    client.post("/dbs", r#"{"id":"d"}"#).await.expect_code(409, 0);
    assert_eq!(client.get("/dbs").await.expect(200).ids("Databases"), ["d"]);
    assert_eq!(client.get("/dbs").await.member("_rid"), "");
    let deleted = client.delete("/dbs/d").await.expect(204);
    assert_eq!(deleted.header("etag"), None);
    client.get("/dbs/d").await.expect_code(404, 0);
    client.delete("/dbs/d").await.expect_code(404, 0);
}

#[tokio::test]
async fn databases_answer_to_their_resource_id() {
    let client = Client::new().await;
    let created = client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
    let path = format!("/{}", created.member("_self"));
    assert_eq!(client.get(&path).await.expect(200).text, created.text);
}

#[tokio::test]
async fn what_is_no_database_is_refused() {
    let client = Client::new().await;
    for body in
        ["", "{", "[]", "\"d\"", "{}", r#"{"id":5}"#, r#"{"id":""}"#, r#"{"id":"a/b"}"#, r#"{"id":null}"#]
    {
        assert_eq!(client.post("/dbs", body).await.expect(400).member("code"), "BadRequest", "{body}");
    }
    client.send(Method::POST, "/dbs", &[], &b"\xFF\xFE"[..]).await.expect(400);
    let missing = client.post("/dbs", "{}").await;
    assert!(missing.member("message").contains("the required properties - 'id; ' - are missing"));
}

#[tokio::test]
async fn lists_come_in_pages() {
    let client = Client::new().await;
    for n in 0..5 {
        client.post("/dbs", &format!(r#"{{"id":"d{n}"}}"#)).await.expect(201);
    }
    let mut ids = Vec::new();
    let mut continuation: Option<String> = None;
    let mut pages = 0;
    loop {
        let mut headers = vec![("x-ms-max-item-count", "2")];
        headers.extend(continuation.as_deref().map(|token| ("x-ms-continuation", token)));
        let page = client.send(Method::GET, "/dbs", &headers, "").await.expect(200);
        ids.extend(page.ids("Databases"));
        pages += 1;
        continuation = page.header("x-ms-continuation").map(str::to_owned);
        if continuation.is_none() {
            break;
        }
    }
    assert_eq!((ids, pages), (["d0", "d1", "d2", "d3", "d4"].map(str::to_owned).to_vec(), 3));
    client.send(Method::GET, "/dbs", &[("x-ms-continuation", "nonsense")], "").await.expect(400);
    client.send(Method::GET, "/dbs", &[("x-ms-max-item-count", "none")], "").await.expect(400);
}

#[tokio::test]
async fn unchanged_resources_are_not_sent_again() {
    let client = Client::with_container().await;
    client.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
    for path in ["/dbs/d", "/dbs/d/colls/c", "/dbs/d/users/u"] {
        let etag = client.get(path).await.expect(200).header("etag").unwrap().to_owned();
        client.send(Method::GET, path, &[("if-none-match", &etag)], "").await.expect(304);
        client.send(Method::GET, path, &[("if-none-match", "\"other\"")], "").await.expect(200);
        client.send(Method::DELETE, path, &[("if-match", "\"other\"")], "").await.expect(412);
    }
    for path in ["/dbs/d/users/u", "/dbs/d/colls/c", "/dbs/d"] {
        let etag = client.get(path).await.expect(200).header("etag").unwrap().to_owned();
        client.send(Method::DELETE, path, &[("if-match", &etag)], "").await.expect(204);
    }
}

#[tokio::test]
async fn throughput_becomes_an_offer() {
    let client = Client::new().await;
    client.post("/dbs", r#"{"id":"none"}"#).await.expect(201);
    assert_eq!(client.get("/offers").await.expect(200).ids("Offers"), [] as [&str; 0]);
    let headers = [("x-ms-offer-throughput", "1000")];
    let database = client.send(Method::POST, "/dbs", &headers, r#"{"id":"manual"}"#).await.expect(201);
    let headers = [("x-ms-cosmos-offer-autopilot-settings", r#"{"maxThroughput":4000}"#)];
    client.send(Method::POST, "/dbs", &headers, r#"{"id":"auto"}"#).await.expect(201);

    let offers = client.get("/offers").await.expect(200);
    assert_eq!(offers.member("_rid"), "");
    let ids = offers.ids("Offers");
    assert_eq!(ids.len(), 2);
    let manual = client.get(&format!("/offers/{}", ids[0])).await.expect(200);
    assert_eq!(manual.member("resource"), database.member("_self"), "byte for byte: clients query by it");
    assert_eq!(manual.member("offerResourceId"), database.member("_rid"));
    assert_eq!(manual.member("_self"), format!("offers/{}/", ids[0]));
    assert_eq!(manual.header("x-ms-offer-replace-pending"), Some("false"));
    assert_eq!(manual.header("x-ms-cosmos-min-throughput"), Some("400"));
    let content = manual.json().get("content").cloned().unwrap();
    assert_eq!(content.get("offerThroughput").and_then(Value::as_i64), Some(1_000));
    assert_eq!(content.get("offerAutopilotSettings"), None, "its presence means autoscale to clients");
    let auto = client.get(&format!("/offers/{}", ids[1])).await.expect(200);
    assert!(auto.text.contains("\"maxThroughput\":4000"), "{}", auto.text);

    let changed = manual.text.replace("\"offerThroughput\":1000", "\"offerThroughput\":2000");
    let replaced = client.put(&format!("/offers/{}", ids[0]), &changed).await.expect(200);
    assert!(replaced.text.contains("\"offerThroughput\":2000"), "{}", replaced.text);
    let refused = manual.text.replace("\"offerThroughput\":1000", "\"offerThroughput\":50");
    client.put(&format!("/offers/{}", ids[0]), &refused).await.expect(400);
    client.get("/offers/ZZZZ").await.expect_code(404, 0);
    client.put("/offers/ZZZZ", &changed).await.expect_code(404, 0);
    client.put(&format!("/offers/{}", ids[1]), &changed).await.expect_code(400, 0);
}

#[tokio::test]
async fn throughput_out_of_the_rules_is_refused() {
    let client = Client::new().await;
    for headers in [
        &[("x-ms-offer-throughput", "399")][..],
        &[("x-ms-offer-throughput", "450")],
        &[("x-ms-offer-throughput", "many")],
        &[("x-ms-cosmos-offer-autopilot-settings", r#"{"maxThroughput":500}"#)],
        &[("x-ms-cosmos-offer-autopilot-settings", "{}")],
        &[
            ("x-ms-offer-throughput", "400"),
            ("x-ms-cosmos-offer-autopilot-settings", r#"{"maxThroughput":4000}"#),
        ],
    ] {
        client.send(Method::POST, "/dbs", headers, r#"{"id":"d"}"#).await.expect(400);
    }
    client.get("/dbs/d").await.expect(404);
}
