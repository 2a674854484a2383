//! Throughput that changes: how much, of which kind, and how long it takes.

use std::time::Duration;

use armilla_value::Value;
use http::Method;

use super::client::{Answer, Client};

const TO_AUTOSCALE: (&str, &str) = ("x-ms-cosmos-migrate-offer-to-autopilot", "true");
const TO_MANUAL: (&str, &str) = ("x-ms-cosmos-migrate-offer-to-manual-throughput", "True");

/// The path of the container's offer.
async fn offer_path(client: &Client) -> String {
    format!("/offers/{}", client.get("/offers").await.expect(200).ids("Offers")[0])
}

fn content(answer: &Answer) -> Value {
    answer.json().get("content").cloned().unwrap()
}

fn throughput(answer: &Answer) -> Option<i64> {
    content(answer).get("offerThroughput").and_then(Value::as_i64)
}

fn autoscale_max(answer: &Answer) -> Option<i64> {
    content(answer).get("offerAutopilotSettings")?.get("maxThroughput")?.as_i64()
}

fn with_throughput(offer: &Answer, throughput: i64) -> String {
    let mut body = offer.json();
    let content = body.as_object_mut().unwrap().get_mut("content").unwrap();
    content.as_object_mut().unwrap().insert("offerThroughput", throughput);
    let mut text = Vec::new();
    armilla_value::json::write(&body, &mut text);
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn throughput_changes_its_kind() {
    let client = Client::with_container().await;
    let path = offer_path(&client).await;
    let manual = client.get(&path).await.expect(200);
    assert_eq!((throughput(&manual), autoscale_max(&manual)), (Some(400), None));
    assert_eq!(manual.header("x-ms-cosmos-min-throughput"), Some("400"));

    let both = client.send(Method::PUT, &path, &[TO_AUTOSCALE, TO_MANUAL], &manual.text).await.expect(400);
    assert!(both.member("message").contains("exclude each other"), "{}", both.text);
    let autoscale = client.send(Method::PUT, &path, &[TO_AUTOSCALE], &manual.text).await.expect(200);
    assert_eq!(autoscale_max(&autoscale), Some(1_000));
    assert_eq!(throughput(&autoscale), Some(100), "a tenth while nothing is used");
    assert_eq!(autoscale.header("x-ms-cosmos-min-throughput"), Some("1000"));
    assert_eq!(autoscale.header("x-ms-offer-replace-pending"), Some("false"));
    assert_eq!(client.get(&path).await.expect(200).text, autoscale.text);

    let manual = client.send(Method::PUT, &path, &[TO_MANUAL], &autoscale.text).await.expect(200);
    assert_eq!((throughput(&manual), autoscale_max(&manual)), (Some(1_000), None));
    // Without the header the kind stays.
    let refused = client.put(&path, &autoscale.text).await.expect_code(400, 0);
    let sentence =
        "x-ms-cosmos-migrate-offer-to-autopilot must be supplied and offercontent must not contain";
    assert!(refused.member("message").starts_with(sentence), "{refused:?}");
}

#[tokio::test]
async fn throughput_beyond_the_partitions_is_pending() {
    let client = Client::with_container().await;
    let path = offer_path(&client).await;
    let offer = client.get(&path).await.expect(200);
    // Within what one partition may have it changes at once.
    let offer = client.put(&path, &with_throughput(&offer, 10_000)).await.expect(200);
    assert_eq!(offer.header("x-ms-offer-replace-pending"), Some("false"));
    let pending = client.put(&path, &with_throughput(&offer, 30_000)).await.expect(200);
    assert_eq!(throughput(&pending), Some(30_000));
    assert_eq!(pending.header("x-ms-offer-replace-pending"), Some("true"));
    let locked = client.put(&path, &with_throughput(&offer, 40_000)).await.expect_code(423, 0);
    assert_eq!(locked.member("code"), "Locked");
    client
        .wait_for(async || {
            let offer = client.get(&path).await.expect(200);
            (offer.header("x-ms-offer-replace-pending") == Some("false")).then_some(())
        })
        .await;
    let ranges = client.get("/dbs/d/colls/c/pkranges").await.expect(200);
    let ids = ranges.ids("PartitionKeyRanges");
    assert_eq!(ids.len(), 3, "{ids:?}");
    // Scaling down is immediate, and merges nothing.
    let offer = client.put(&path, &with_throughput(&offer, 1_000)).await.expect(200);
    assert_eq!(offer.header("x-ms-offer-replace-pending"), Some("false"));
    assert_eq!(offer.header("x-ms-cosmos-min-throughput"), Some("400"));
    client.clock.advance(Duration::from_secs(60));
    assert_eq!(client.get("/dbs/d/colls/c/pkranges").await.expect(200).ids("PartitionKeyRanges"), ids);
}
