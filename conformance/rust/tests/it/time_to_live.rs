//! Time to live: the container's and the items' own.

use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::models::{ContainerProperties, TimeToLive};
use azure_data_cosmos::{ContainerClient, Query};
use futures::TryStreamExt;
use serde_json::json;

use crate::server::{over_each_scheme, pause, status};

const EXPIRY_POLLS_MAX: usize = 100;

async fn wait_until_gone(container: &ContainerClient, id: &str) {
    for _ in 0..EXPIRY_POLLS_MAX {
        match container.read_item("Oslo", id, None).await {
            Ok(_) => pause().await,
            Err(error) => return assert_eq!(status(&error), 404),
        }
    }
    panic!("{id} is still there");
}

async fn ids(container: &ContainerClient) -> Vec<String> {
    let query = Query::from("SELECT VALUE c.id FROM c ORDER BY c.id");
    let found = container.query_items::<String>(query, FeedScope::full_container(), None);
    found.await.expect("query").try_collect().await.expect("rows")
}

#[tokio::test]
async fn items_expire() {
    over_each_scheme(async |connection| {
        let properties =
            ContainerProperties::new("c", "/city".into()).with_default_ttl(TimeToLive::Seconds(1));
        let container = connection.container_with(properties, 1_000).await;
        let off = connection.container("off", "/city").await;
        let items = [
            json!({"id": "default", "city": "Oslo"}),
            json!({"id": "own", "city": "Oslo", "ttl": 2}),
            json!({"id": "long", "city": "Oslo", "ttl": 3600}),
            json!({"id": "never", "city": "Oslo", "ttl": -1}),
        ];
        for item in &items {
            let id = item["id"].as_str().expect("text");
            for container in [&container, &off] {
                container.create_item("Oslo", id, item, None).await.expect("create");
            }
        }
        wait_until_gone(&container, "default").await;
        wait_until_gone(&container, "own").await;
        assert_eq!(ids(&container).await, ["long", "never"]);
        assert_eq!(ids(&off).await, ["default", "long", "never", "own"]);
        let replaced = container.replace_item("Oslo", "own", &items[1], None).await;
        assert_eq!(status(&replaced.expect_err("expired")), 404);
        let deleted = container.delete_item("Oslo", "default", None).await;
        assert_eq!(status(&deleted.expect_err("expired")), 404);
        container.create_item("Oslo", "own", &items[1], None).await.expect("create anew");
        assert_eq!(ids(&container).await, ["long", "never", "own"]);
    })
    .await;
}
