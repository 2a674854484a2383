//! Databases and containers.

use azure_data_cosmos::models::{
    ContainerProperties, IndexingPolicy, TimeToLive, UniqueKey, UniqueKeyPolicy,
};

use crate::server::{over_each_scheme, status};

#[tokio::test]
async fn databases_live_through_every_verb() {
    over_each_scheme(async |connection| {
        let client = &connection.client;
        client.create_database("a database", None).await.expect("create");
        let database = client.database_client("a database");
        let read = database.read(None).await.expect("read").into_model().expect("properties");
        assert_eq!(read.id.as_deref(), Some("a database"));
        let again = client.create_database("a database", None).await.expect_err("conflict");
        assert_eq!(status(&again), 409);
        database.delete(None).await.expect("delete");
        let gone = database.read(None).await.expect_err("not found");
        assert_eq!(status(&gone), 404);
    })
    .await;
}

#[tokio::test]
async fn containers_keep_their_policies() {
    over_each_scheme(async |connection| {
        let unique = UniqueKeyPolicy::default().with_unique_key(UniqueKey::default().with_path("/email"));
        let indexing = IndexingPolicy::default().with_included_path("/*").with_excluded_path("/notes/*");
        let properties = ContainerProperties::new("c", ("/tenant", "/user", "/session").into())
            .with_default_ttl(TimeToLive::NoDefault)
            .with_unique_key_policy(unique.clone())
            .with_indexing_policy(indexing);
        let container = connection.container_with(properties, 1_000).await;
        let read = container.read(None).await.expect("read").into_model().expect("properties");
        assert_eq!(read.partition_key, ("/tenant", "/user", "/session").into());
        assert_eq!(read.default_ttl, TimeToLive::NoDefault);
        assert_eq!(read.unique_key_policy, Some(unique));
        let excluded = read.indexing_policy.as_ref().expect("indexing policy").excluded_paths.clone();
        assert!(excluded.iter().any(|path| path.path == "/notes/*"), "{excluded:?}");

        let mut changed = read;
        changed.default_ttl = TimeToLive::Seconds(60);
        let replaced =
            container.replace(changed, None).await.expect("replace").into_model().expect("properties");
        assert_eq!(replaced.default_ttl, TimeToLive::Seconds(60));
        container.delete(None).await.expect("delete");
        assert_eq!(status(&container.read(None).await.expect_err("not found")), 404);
    })
    .await;
}
