//! How the SDK reaches the server, and what it finds out about it.

use azure_data_cosmos::models::ContainerProperties;

use crate::server::over_each_scheme;

#[tokio::test]
async fn requests_travel_over_http_2() {
    over_each_scheme(async |connection| {
        let container = connection.container("c", "/city").await;
        let item = serde_json::json!({"id": "1", "city": "Oslo"});
        let response = container.create_item("Oslo", "1", &item, None).await.expect("create");
        let diagnostics = response.diagnostics();
        let requests = diagnostics.requests();
        assert!(!requests.is_empty());
        for request in requests.iter() {
            assert!(request.transport_http_version().is_http2(), "{:?}: {request:?}", connection.scheme);
        }
    })
    .await;
}

#[tokio::test]
async fn ranges_follow_the_throughput() {
    over_each_scheme(async |connection| {
        for (id, throughput, count) in [("one", 10_000, 1), ("two", 20_000, 2), ("five", 50_000, 5)] {
            let properties = ContainerProperties::new(id, "/deviceId".into());
            let container = connection.container_with(properties, throughput).await;
            let ranges = container.read_feed_ranges(None).await.expect("feed ranges");
            assert_eq!(ranges.len(), count, "{id}");
        }
    })
    .await;
}

#[tokio::test]
async fn keys_reach_every_range() {
    over_each_scheme(async |connection| {
        let properties = ContainerProperties::new("c", ("/tenant", "/user").into());
        let container = connection.container_with(properties, 40_000).await;
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..60_i64 {
            let tenant = format!("tenant {number}");
            let item = serde_json::json!({"id": "1", "tenant": tenant, "user": number});
            let key =
                azure_data_cosmos::PartitionKey::try_from(vec![tenant.into(), number.into()]).expect("key");
            let written = container.create_item(key.clone(), "1", &item, None).await.expect("create");
            seen.insert(written.headers().partition_key_range_id().expect("range id").to_owned());
            let read = container.read_item(key, "1", None).await.expect("read");
            assert_eq!(read.into_model::<serde_json::Value>().expect("item")["user"], number);
        }
        assert_eq!(seen.len(), 4, "sixty keys reach all four ranges");
    })
    .await;
}
