//! Regions that fail, or take the writes.

use super::client::{Client, READ_ONLY_KEY};
use http::Method;

const REGIONS: &str = "/_armilla/regions";
const EAST: &str = "/_armilla/regions/east%20us";

fn state(name: &str, port: &str, online: bool, writable: bool) -> String {
    format!(r#"{{"name":"{name}","port":{port},"online":{online},"writable":{writable}}}"#)
}

fn document(regions: &[String]) -> String {
    format!(r#"{{"regions":[{}]}}"#, regions.join(","))
}

#[tokio::test]
async fn regions_are_told_and_changed() {
    let client = Client::with_container().await;
    let west = |writable| state("West US 2", "null", true, writable);
    let east = |online, writable| state("East US", "8082", online, writable);
    assert_eq!(client.get(REGIONS).await.expect(200).text, document(&[west(true), east(true, false)]));
    let offline = client.put(EAST, r#"{"online":false}"#).await.expect(200);
    assert_eq!(offline.text, document(&[west(true), east(false, false)]));
    let moved = client.put(EAST, r#"{"online":true,"writable":true}"#).await.expect(200);
    assert_eq!(moved.text, document(&[east(true, true), west(false)]));
    assert_eq!(client.get(REGIONS).await.expect(200).text, moved.text);
}

#[tokio::test]
async fn what_cannot_be_said_of_a_region() {
    let client = Client::with_container().await;
    let before = client.get(REGIONS).await.expect(200).text;
    for body in [
        "",
        "[]",
        r#"{"online":1}"#,
        r#"{"offline":true}"#,
        r#"{"writable":false}"#,
        r#"{"online":false,"writable":0}"#,
    ] {
        client.put(EAST, body).await.expect(400);
    }
    let unknown = client.put("/_armilla/regions/Mars", "{}").await.expect(404);
    assert!(unknown.member("message").contains("West US 2, East US"), "{unknown:?}");
    let authorization = client.sign(READ_ONLY_KEY, &Method::PUT, EAST);
    client.send_as(&authorization, Method::PUT, EAST, &[], r#"{"online":false}"#).await.expect(403);
    assert_eq!(client.get(REGIONS).await.expect(200).text, before);
}
