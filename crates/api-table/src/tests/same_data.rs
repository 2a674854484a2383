//! The same data through SQL: entities are plain items, and plain items with the keys are entities.

use armilla_engine::{Caller, Precondition, WriteMode};
use http::Method;

use super::client::Client;
use crate::Flavour;
use crate::request::logical_partition;

const ONE: &str = "/t12(PartitionKey='p',RowKey='r')";

async fn put(client: &Client, item: &str) {
    let (caller, container) = (Caller::full(), client.container("t12"));
    let (mode, none, triggers) = (WriteMode::Upsert, Precondition::None, Default::default());
    let key = logical_partition("p");
    let written = client.engine.write_item(
        &caller,
        &container,
        mode,
        Some(&key),
        item.as_bytes().into(),
        none,
        &triggers,
    );
    written.await.unwrap();
}

#[tokio::test]
async fn entities_are_plain_items() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    let body = r#"{"PartitionKey":"p","RowKey":"r","name":"Ann","age":39,"even":3.0,"married":true,
        "big@odata.type":"Edm.Int64","big":"1125899906842624","born@odata.type":"Edm.DateTime","born":"1973-10-04T00:00:00Z",
        "bin@odata.type":"Edm.Binary","bin":"YmluYXJ5","uid@odata.type":"Edm.Guid","uid":"c9da6455-213d-42c9-9a79-3e9149a57833",
        "nan@odata.type":"Edm.Double","nan":"NaN","id":"own"}"#;
    client.insert("t12", body).await.expect(204);
    let item = client.sql("t12", "SELECT * FROM c").await;
    let expected = r#"{"id":"r","PartitionKey":"p","RowKey":"r","name":"Ann","age":39,"even":3.0,"married":true,"big":1125899906842624,"born":"1973-10-04T00:00:00.0000000Z","bin":"YmluYXJ5","uid":"c9da6455-213d-42c9-9a79-3e9149a57833","nan":"NaN","$p:id":"own","$edm":{"big":"Int64","born":"DateTime","bin":"Binary","uid":"Guid","nan":"Double"},"_rid""#;
    assert!(item.starts_with(expected), "{item}");
    let query = r#"SELECT VALUE c.name FROM c WHERE c.PartitionKey = "p" AND c.age > 30 AND c.big > 1000"#;
    assert_eq!(client.sql("t12", query).await, "\"Ann\"");
    // Both see the same moment.
    let read = client.get(ONE).await.expect(200);
    let seconds = client.sql("t12", "SELECT VALUE c._ts FROM c").await;
    assert_eq!(seconds, "1700000000");
    assert!(read.member("Timestamp").unwrap().starts_with("\"2023-11-14T22:13:20."));
}

#[tokio::test]
async fn plain_items_with_keys_are_entities() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    put(
        &client,
        r#"{"PartitionKey":"p","RowKey":"r","id":"r","n":5,"x":5.5,"deep":{"a":1},"list":[1],"nothing":null,"wide":5000000000,
            "$edm":{"n":"Int64","x":"Guid","text":"Nonsense"},"text":"t"}"#,
    )
    .await;
    let none = [("accept", "application/json;odata=nometadata")];
    let read = client.send(Method::GET, ONE, &none, "").await.expect(200);
    assert!(
        read.text.starts_with(
            r#"{"PartitionKey":"p","RowKey":"r","n":"5","x":5.5,"wide":5000000000.0,"text":"t","Timestamp":"#
        ),
        "{}",
        read.text
    );
    let found = client.get("/t12()?$filter=n%20eq%205L%20and%20x%20gt%205.0").await.expect(200);
    assert_eq!(found.all("RowKey"), ["r"]);
    // What entities cannot show stays in the item when it is merged, and goes when it is replaced.
    client.send(Method::PATCH, ONE, &[], r#"{"n":6}"#).await.expect(204);
    let item = client.sql("t12", "SELECT * FROM c").await;
    assert!(item.contains(r#""deep":{"a":1},"list":[1]"#) && item.contains(r#""n":6"#), "{item}");
    assert!(!item.contains("Int64"), "{item}");
    client.send(Method::PUT, ONE, &[], r#"{"n":7}"#).await.expect(204);
    let item = client.sql("t12", "SELECT * FROM c").await;
    assert!(item.starts_with(r#"{"id":"r","PartitionKey":"p","RowKey":"r","n":7,"_rid""#), "{item}");
}

#[tokio::test]
async fn versions_are_shared() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    let made = client.insert("t12", r#"{"PartitionKey":"p","RowKey":"r"}"#).await.expect(204).etag();
    put(&client, r#"{"id":"r","PartitionKey":"p","RowKey":"r","by":"another"}"#).await;
    let stale = [("if-match", made.as_str())];
    client.send(Method::PUT, ONE, &stale, "{}").await.expect(412);
    let read = client.get(ONE).await.expect(200);
    assert_ne!(read.etag(), made);
    client.send(Method::PUT, ONE, &[("if-match", read.etag().as_str())], "{}").await.expect(204);
}

#[tokio::test]
async fn types_are_not_indexed() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    let definition = armilla_value::json::to_string(&client.container("t12").definition().to_value());
    assert!(definition.contains(r#"{"path":"/\"$edm\"/*"}"#), "{definition}");
    assert!(definition.contains(r#""paths":["/PartitionKey"]"#), "{definition}");
    let insert = async |row_key: &str, members: &str| -> f64 {
        let body = format!(r#"{{"PartitionKey":"p","RowKey":"{row_key}",{members}}}"#);
        let made = client.insert("t12", &body).await.expect(204);
        made.header("x-ms-request-charge").unwrap().parse().unwrap()
    };
    let plain = insert("a", r#""n":5"#).await;
    let typed = insert("b", r#""n@odata.type":"Edm.Int64","n":"5""#).await;
    assert_eq!(plain, typed);
}
