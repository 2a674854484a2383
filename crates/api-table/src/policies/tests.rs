//! Tests of the policies of tables.

use std::sync::Arc;

use armilla_engine::{Caller, ContainerHandle, Engine, ResourcePrecondition};
use armilla_value::json;

use super::Policies;
use crate::auth::AccessPolicy;
use crate::settings::{CONTAINER, REMEMBERED_MAX};
use crate::tables::DATABASE;
use crate::utc_time::UtcTime;
use crate::xml::SignedIdentifier;

async fn create_table(engine: &Engine, name: &str) -> Arc<ContainerHandle> {
    let _ = engine.create_database(&Caller::full(), DATABASE, None).await;
    let definition =
        format!(r#"{{"id":"{name}","partitionKey":{{"paths":["/PartitionKey"],"kind":"Hash"}}}}"#);
    let definition = json::parse(definition.as_bytes()).unwrap();
    engine
        .create_container(
            &Caller::full(),
            DATABASE,
            armilla_engine::ContainerDefinition::from_value(&definition).unwrap(),
            None,
        )
        .await
        .unwrap();
    engine.container(DATABASE, name).unwrap().container
}

fn identifier(id: &str, permission: &str) -> SignedIdentifier {
    let expiry = UtcTime::parse("2099-01-01T00:00:00.1234567Z");
    let policy = AccessPolicy { start: None, expiry, permission: Some(permission.to_owned()) };
    SignedIdentifier { id: id.to_owned(), policy }
}

#[tokio::test]
async fn policies_belong_to_one_table_and_end_with_it() {
    let (engine, env, clock) = crate::settings::tests::engine().await;
    let policies = Policies::new(engine.clone(), env.clone());
    let (first, second) = (create_table(&engine, "first").await, create_table(&engine, "second").await);
    assert_eq!(*policies.read(&first).unwrap(), []);
    let written = vec![identifier("a", "r"), identifier("b <&> é", "raud")];
    policies.write(&first, written.clone()).await.unwrap();
    assert_eq!(*policies.read(&first).unwrap(), written);
    assert_eq!(*policies.read(&second).unwrap(), []);
    assert_eq!(policies.find(&first, "a").unwrap(), Some(written[0].policy.clone()));
    assert_eq!(policies.find(&first, "A").unwrap(), None);
    assert_eq!(policies.find(&second, "a").unwrap(), None);

    // Others read them from where they are kept.
    let others = Policies::new(engine.clone(), env);
    assert_eq!(*others.read(&first).unwrap(), written);

    // A table that is made again has none, even if nobody cleaned up.
    engine.delete_container(&Caller::full(), DATABASE, "first", ResourcePrecondition::None).await.unwrap();
    let again = create_table(&engine, "first").await;
    assert_eq!(*policies.read(&again).unwrap(), []);
    assert_eq!(*others.read(&again).unwrap(), []);
    policies.forget(&first).await;
    clock.advance(REMEMBERED_MAX);
    assert_eq!(*others.read(&first).unwrap(), []);
}

#[tokio::test]
async fn the_empty_list_removes_them() {
    let (engine, env, _) = crate::settings::tests::engine().await;
    let policies = Policies::new(engine.clone(), env);
    let table = create_table(&engine, "t").await;
    policies.write(&table, Vec::new()).await.unwrap();
    assert!(engine.container(DATABASE, CONTAINER).is_err());
    policies.write(&table, vec![identifier("a", "r")]).await.unwrap();
    policies.write(&table, Vec::new()).await.unwrap();
    assert_eq!(*policies.read(&table).unwrap(), []);
}
