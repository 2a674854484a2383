//! Items: written as binary JSON by default, read back as text.

use azure_data_cosmos::models::{CosmosNumber, PatchInstructions, PatchOperation};
use azure_data_cosmos::options::{
    BinaryEncodingOptions, ContentResponseOnWrite, ItemReadOptions, ItemWriteOptions,
    OperationOptionsBuilder, PatchItemOptions, PatchStrategy, Precondition,
};
use azure_data_cosmos::{ContainerClient, PartitionKey};
use serde_json::{Value, json};

use crate::server::{over_each_scheme, status};

const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

async fn read(container: &ContainerClient, key: impl Into<PartitionKey>, id: &str) -> Value {
    let mut item: Value = container.read_item(key, id, None).await.expect("read").into_model().expect("item");
    let members = item.as_object_mut().expect("object");
    for name in SYSTEM_PROPERTIES {
        assert!(members.remove(name).is_some(), "{name} is missing");
    }
    item
}

#[tokio::test]
async fn items_live_through_every_verb() {
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        let mut item = json!({"id": "1", "city": "Oslo", "n": 1});
        let created = container.create_item("Oslo", "1", &item, None).await.expect("create");
        assert_eq!(u16::from(created.status().status_code()), 201);
        assert!(created.headers().etag().is_some());
        assert!(created.headers().session_token().is_some());
        assert!(created.headers().request_charge().is_some_and(|charge| charge.value() > 0.0));
        assert_eq!(read(&container, "Oslo", "1").await, item);

        let again = container.create_item("Oslo", "1", &item, None).await.expect_err("conflict");
        assert_eq!(status(&again), 409);
        item["n"] = json!(2);
        container.replace_item("Oslo", "1", &item, None).await.expect("replace");
        assert_eq!(read(&container, "Oslo", "1").await, item);
        item["n"] = json!(3);
        let upserted = container.upsert_item("Oslo", "1", &item, None).await.expect("upsert");
        assert_eq!(u16::from(upserted.status().status_code()), 200);
        assert_eq!(read(&container, "Oslo", "1").await, item);

        container.delete_item("Oslo", "1", None).await.expect("delete");
        let gone = container.read_item("Oslo", "1", None).await.expect_err("not found");
        assert_eq!(status(&gone), 404);
    })
    .await;
}

#[tokio::test]
async fn every_kind_of_value_survives_the_binary_form() {
    let items = [
        json!({"integers": [0, 31, 32, 255, 256, -1, -32768, 65536, 4_294_967_296_i64, i64::MAX, i64::MIN]}),
        json!({"floats": [0.5, -0.25, 1e300, 5e-324, 0.1, -1.5e-7]}),
        json!({"scalars": [null, true, false, "", "x"], "empty": [[], {}]}),
        json!({"short": "x".repeat(63), "byte": "x".repeat(64), "word": "x".repeat(255), "long": "x".repeat(70_000)}),
        json!({"unicode": "é 日本語 😀 \u{0} \u{7f} \" \\ \u{10ffff}", "名前": {"ключ": ["ß"]}}),
        json!({"many": (0..70_000).collect::<Vec<i64>>()}),
        json!({"wide": (0..400).map(|n| (format!("member {n}"), json!(n))).collect::<serde_json::Map<_, _>>()}),
        json!({"deep": (0..40).fold(json!("bottom"), |inner, _| json!({"a": [inner]}))}),
        json!({"strings known to the format": ["id", "_etag", "Point", "coordinates", "value"], "type": "Feature"}),
    ];
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        for (number, members) in items.iter().enumerate() {
            let id = number.to_string();
            let mut item = members.clone();
            item["id"] = json!(id);
            item["city"] = json!("Oslo");
            container.create_item("Oslo", &id, &item, None).await.expect("create");
            assert_eq!(read(&container, "Oslo", &id).await, item);
            container.replace_item("Oslo", &id, &item, None).await.expect("replace");
            container.upsert_item("Oslo", &id, &item, None).await.expect("upsert");
            assert_eq!(read(&container, "Oslo", &id).await, item);
        }
    })
    .await;
}

#[tokio::test]
async fn text_and_binary_clients_read_each_other() {
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        let text = OperationOptionsBuilder::new()
            .with_binary_encoding(BinaryEncodingOptions::new().with_enabled(false))
            .build();
        let as_text = || Some(ItemWriteOptions::default().with_operation_options(text.clone()));
        for (id, options) in [("binary", None), ("text", as_text())] {
            let item = json!({"id": id, "city": "Oslo", "n": i64::MAX, "f": 0.1, "s": "😀"});
            container.create_item("Oslo", id, &item, options).await.expect("create");
            assert_eq!(read(&container, "Oslo", id).await, item);
        }
    })
    .await;
}

#[tokio::test]
async fn keys_of_every_kind_find_their_items() {
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        let keys: [(&str, Option<Value>, PartitionKey); 6] = [
            ("text", Some(json!("Oslo")), "Oslo".into()),
            ("empty", Some(json!("")), "".into()),
            ("number", Some(json!(42)), 42_i64.into()),
            ("boolean", Some(json!(true)), true.into()),
            ("null", Some(Value::Null), azure_data_cosmos::models::PartitionKeyValue::NULL.into()),
            ("missing", None, azure_data_cosmos::models::PartitionKeyValue::UNDEFINED.into()),
        ];
        for (name, value, key) in &keys {
            let mut item = json!({"id": "1", "name": name});
            if let Some(value) = value {
                item["city"] = value.clone();
            }
            container.create_item(key.clone(), "1", &item, None).await.expect(name);
        }
        for (name, _, key) in &keys {
            assert_eq!(read(&container, key.clone(), "1").await["name"], *name);
        }
    })
    .await;
}

#[tokio::test]
async fn odd_ids_reach_their_items() {
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        for id in ["a b", "100%", "%20", "a+b", "a&b=c", "it's", "say \"hi\"", "é", "日本語", "😀", "docs"]
        {
            let item = json!({"id": id, "city": "Oslo"});
            container.create_item("Oslo", id, &item, None).await.expect(id);
            assert_eq!(read(&container, "Oslo", id).await, item);
            container.delete_item("Oslo", id, None).await.expect(id);
        }
    })
    .await;
}

#[tokio::test]
async fn preconditions_decide() {
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        let item = json!({"id": "1", "city": "Oslo"});
        let created = container.create_item("Oslo", "1", &item, None).await.expect("create");
        let etag = created.headers().etag().expect("etag").clone();
        let if_match =
            || Some(ItemWriteOptions::default().with_precondition(Precondition::if_match(etag.clone())));
        container.replace_item("Oslo", "1", &item, if_match()).await.expect("first writer");
        let stale = container.replace_item("Oslo", "1", &item, if_match()).await.expect_err("second writer");
        assert_eq!(status(&stale), 412);
        let stale = container.delete_item("Oslo", "1", if_match()).await.expect_err("deleter");
        assert_eq!(status(&stale), 412);

        let now = container.read_item("Oslo", "1", None).await.expect("read");
        let current = now.headers().etag().expect("etag").clone();
        let unchanged = ItemReadOptions::default().with_precondition(Precondition::if_none_match(current));
        let response =
            container.read_item("Oslo", "1", Some(unchanged)).await.expect("not modified is no error");
        assert_eq!(u16::from(response.status().status_code()), 304);
    })
    .await;
}

#[tokio::test]
async fn patches_apply_on_either_side() {
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        let item = json!({"id": "1", "city": "Oslo", "n": 1, "tags": ["a"], "old": true});
        container.create_item("Oslo", "1", &item, None).await.expect("create");

        // Only sets and replacements: the default strategy sends one PATCH.
        let safe = PatchInstructions::new()
            .with_operation(PatchOperation::set("/name", json!("Ada")))
            .with_operation(PatchOperation::replace("/n", json!(10)));
        container.patch_item("Oslo", "1", safe, None).await.expect("default patch");

        // Everything there is, on the server.
        let all = PatchInstructions::new()
            .with_operation(PatchOperation::add("/tags/-", json!("b")))
            .with_operation(PatchOperation::increment("/n", CosmosNumber::from(1_i64)))
            .with_operation(PatchOperation::remove("/old"))
            .with_operation(PatchOperation::move_value("/name", "/alias"));
        let on_the_server = PatchItemOptions::default().with_strategy(PatchStrategy::ServerSide);
        container.patch_item("Oslo", "1", all, Some(on_the_server)).await.expect("server-side patch");
        let wanted = json!({"id": "1", "city": "Oslo", "n": 11, "tags": ["a", "b"], "alias": "Ada"});
        assert_eq!(read(&container, "Oslo", "1").await, wanted);

        // An increment by default: the SDK reads, edits and replaces with the etag, leaving a mark in the item.
        let unsafe_to_repeat = PatchInstructions::new()
            .with_operation(PatchOperation::increment("/n", CosmosNumber::from(1_i64)));
        container.patch_item("Oslo", "1", unsafe_to_repeat, None).await.expect("client-side patch");
        assert_eq!(read(&container, "Oslo", "1").await["n"], 12);

        let bad = PatchInstructions::new().with_operation(PatchOperation::replace("/nothing", json!(1)));
        assert_eq!(status(&container.patch_item("Oslo", "1", bad, None).await.expect_err("refused")), 400);
    })
    .await;
}

#[tokio::test]
async fn content_comes_back_when_asked_for() {
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        let item = json!({"id": "1", "city": "Oslo"});
        let with_content = OperationOptionsBuilder::new()
            .with_content_response_on_write(ContentResponseOnWrite::Enabled)
            .build();
        let options = ItemWriteOptions::default().with_operation_options(with_content);
        let created = container.create_item("Oslo", "1", &item, Some(options)).await.expect("create");
        assert_eq!(created.into_model::<Value>().expect("item")["city"], "Oslo");
        let replaced = container.replace_item("Oslo", "1", &item, None).await.expect("replace");
        assert!(replaced.into_body().is_empty(), "without being asked the server sends headers only");
    })
    .await;
}
