//! Bulk requests: many actions, each on its own.

use armilla_engine::{
    Access, BATCH_ACTIONS_MAX, BatchAnswer, BulkOperation, Caller, Error, ErrorKind, ItemAction,
    Precondition, WriteMode, check,
};
use armilla_value::PartitionKey;
use proptest::prelude::*;

use crate::batches::{delete, held_at, increment, outcomes, put, read};
use crate::support::{Fixture, defined, partition_key, refused, value};

async fn bulk(
    fixture: &Fixture,
    actions: Vec<ItemAction>,
    continue_on_error: bool,
) -> Result<BatchAnswer, Error> {
    let operations = actions
        .into_iter()
        .map(|action| BulkOperation { partition_key: partition_key("a"), action })
        .collect();
    let container = fixture.container("c");
    fixture.engine.execute_bulk(&fixture.caller, &container, Some(0), operations, continue_on_error).await
}

fn mixed() -> Vec<ItemAction> {
    vec![
        put(WriteMode::Create, "1", 1),
        put(WriteMode::Create, "1", 2),
        increment("1", None),
        read("1", None),
        delete("2"),
        put(WriteMode::Upsert, "2", 1),
        increment("2", Some("FROM c WHERE c.n = 9")),
        read("2", None),
        ItemAction::Invalid("it was odd".to_owned()),
        delete("1"),
        put(WriteMode::Replace, "1", 3),
    ]
}

#[tokio::test]
async fn actions_stand_for_themselves() {
    let fixture = Fixture::with_container().await;
    let answer = bulk(&fixture, mixed(), true).await.unwrap();
    let expected = [
        "created",
        "AlreadyExists(Item)",
        "replaced",
        "n=2",
        "NotFound(Item)",
        "created",
        "PreconditionFailed",
        "n=1",
        "Invalid",
        "deleted",
        "NotFound(Item)",
    ];
    assert_eq!(outcomes(&fixture, &answer), expected);
    assert!(answer.charge.hundredths() > 0);
    assert_eq!(fixture.query("SELECT VALUE c.id FROM c").await, r#""2""#);
    let container = fixture.container("c");
    let etag = fixture.read_item(&fixture.caller, "c", "2", "a").unwrap().item.etag(container.identity());
    let known = bulk(&fixture, vec![read("2", Some(etag))], true).await.unwrap();
    assert_eq!(outcomes(&fixture, &known), ["not modified"]);
}

#[tokio::test]
async fn actions_may_name_a_version_by_its_moment() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    let moment = || fixture.read_item(&fixture.caller, "c", "1", "a").unwrap().item.moment();
    let stale = moment();
    let first = bulk(&fixture, held_at("1", stale).to_vec(), true).await.unwrap();
    let refused = "PreconditionFailed";
    assert_eq!(outcomes(&fixture, &first), ["n=1", "replaced", refused, refused]);
    let second = bulk(&fixture, held_at("1", stale).to_vec(), true).await.unwrap();
    assert_eq!(outcomes(&fixture, &second), [refused; 4]);
    let last = vec![held_at("1", moment())[3].clone()];
    assert_eq!(outcomes(&fixture, &bulk(&fixture, last, true).await.unwrap()), ["deleted"]);
}

#[tokio::test]
async fn the_first_failure_ends_it_if_asked() {
    let fixture = Fixture::with_container().await;
    let answer = bulk(&fixture, mixed(), false).await.unwrap();
    let mut expected = vec!["FailedDependency"; mixed().len()];
    expected[..2].copy_from_slice(&["created", "AlreadyExists(Item)"]);
    assert_eq!(outcomes(&fixture, &answer), expected);
    assert_eq!(fixture.query("SELECT VALUE c.n FROM c").await, "1", "what was done before stays");
}

#[tokio::test]
async fn bulk_requests_have_bounds_and_a_range() {
    let fixture = Fixture::with_container().await;
    let many = |count: usize| (0..count).map(|n| put(WriteMode::Create, &format!("{n}"), 0)).collect();
    refused(bulk(&fixture, many(0), true).await, ErrorKind::Invalid);
    refused(bulk(&fixture, many(BATCH_ACTIONS_MAX + 1), true).await, ErrorKind::Invalid);
    let answer = bulk(&fixture, many(BATCH_ACTIONS_MAX), true).await.unwrap();
    assert!(answer.results.iter().all(Result::is_ok));
    assert_eq!(answer.position.unwrap().range_id, 0);
    let (container, caller) = (fixture.container("c"), &fixture.caller);
    let one = || vec![BulkOperation { partition_key: partition_key("a"), action: read("1", None) }];
    let gone = fixture.engine.execute_bulk(caller, &container, Some(7), one(), true).await;
    refused(gone, ErrorKind::RangeGone);
    fixture.engine.execute_bulk(caller, &container, None, one(), true).await.unwrap();
    // Whose key could not be read is refused for that.
    let odd = vec![BulkOperation {
        partition_key: PartitionKey::default(),
        action: ItemAction::Invalid("the key is odd".to_owned()),
    }];
    let answer = fixture.engine.execute_bulk(caller, &container, Some(0), odd, true).await.unwrap();
    assert_eq!(answer.results[0].as_ref().err().unwrap().message, "the key is odd");
}

#[tokio::test]
async fn every_action_finds_its_partition_and_needs_its_permission() {
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = value(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#);
    let throughput = Some(armilla_engine::Throughput::Manual(40_000));
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), throughput).await.unwrap();
    let container = fixture.container("c");
    let creates = || {
        (0..40).map(|n| BulkOperation {
            partition_key: partition_key(&format!("k{n}")),
            action: ItemAction::Put {
                mode: WriteMode::Create,
                id: None,
                body: format!(r#"{{"id":"x","pk":"k{n}"}}"#).into(),
                precondition: Precondition::None,
            },
        })
    };
    let answer = fixture
        .engine
        .execute_bulk(&fixture.caller, &container, Some(0), creates().collect(), true)
        .await
        .unwrap();
    assert!(answer.results.iter().all(Result::is_ok));
    assert_eq!(answer.position.unwrap().range_id, 0, "that of the range which the request names");
    assert_eq!(fixture.query("SELECT VALUE COUNT(1) FROM c").await, "40");
    let on_k1 =
        r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["k1"]}"#;
    let on_k1 = fixture.granted("u", on_k1).await;
    let reader = Caller { access: Access::ReadOnly, ..Caller::full() };
    let deletes = || {
        (0..3).map(|n| BulkOperation { partition_key: partition_key(&format!("k{n}")), action: delete("x") })
    };
    for (caller, expected) in
        [(&reader, ["Forbidden", "Forbidden", "Forbidden"]), (&on_k1, ["Forbidden", "deleted", "Forbidden"])]
    {
        let answer =
            fixture.engine.execute_bulk(caller, &container, None, deletes().collect(), true).await.unwrap();
        assert_eq!(outcomes(&fixture, &answer), expected);
    }
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn unique_keys_are_freed_in_order() {
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition =
        r#"{"id":"c","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/n"]}]}}"#;
    fixture.engine.create_container(&fixture.caller, "d", defined(&value(definition)), None).await.unwrap();
    let actions = vec![
        put(WriteMode::Create, "1", 1),
        put(WriteMode::Create, "2", 1),
        delete("1"),
        put(WriteMode::Create, "3", 1),
    ];
    let answer = bulk(&fixture, actions, true).await.unwrap();
    assert_eq!(outcomes(&fixture, &answer), ["created", "UniqueKeyTaken", "deleted", "created"]);
}

fn any_action() -> impl Strategy<Value = ItemAction> {
    let id = (0..4u8).prop_map(|id| id.to_string());
    (id, 0..6u8, 0..3i64).prop_map(|(id, which, n)| match which {
        0 => put(WriteMode::Create, &id, n),
        1 => put(WriteMode::Upsert, &id, n),
        2 => put(WriteMode::Replace, &id, n),
        3 => delete(&id),
        4 => increment(&id, (n == 0).then_some("FROM c WHERE c.n = 0")),
        _ => read(&id, None),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_done_at_once_is_as_if_done_in_order(actions in prop::collection::vec(any_action(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (at_once, in_order) = (Fixture::with_container().await, Fixture::with_container().await);
            let answer = bulk(&at_once, actions.clone(), true).await.unwrap();
            let mut expected = Vec::new();
            for action in actions {
                let answer = bulk(&in_order, vec![action], true).await.unwrap();
                expected.extend(outcomes(&in_order, &answer));
            }
            prop_assert_eq!(outcomes(&at_once, &answer), expected);
            let rows = "SELECT VALUE [c.id, c.n] FROM c ORDER BY c.id";
            prop_assert_eq!(at_once.query(rows).await, in_order.query(rows).await);
            Ok(())
        })?;
    }
}
