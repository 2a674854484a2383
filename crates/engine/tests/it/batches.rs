//! Transactional batches: all of their actions, or none.

use armilla_engine::{
    Access, ActionDone, BATCH_ACTIONS_MAX, BatchAnswer, Caller, ChangeKind, ETag, Error, ErrorKind,
    ItemAction, ItemBody, Moment, Operation, Patch, Pointer, Precondition, ResourceKind, WriteMode, check,
};
use bytes::Bytes;

use crate::support::{Fixture, partition_key, refused, value};

pub(crate) fn put(mode: WriteMode, id: &str, n: i64) -> ItemAction {
    let body = Bytes::from(format!(r#"{{"id":"{id}","pk":"a","n":{n}}}"#));
    let named = (mode == WriteMode::Replace).then(|| id.to_owned());
    ItemAction::Put { mode, id: named, body: body.into(), precondition: Precondition::None }
}

pub(crate) fn delete(id: &str) -> ItemAction {
    ItemAction::Delete { id: id.to_owned(), precondition: Precondition::None }
}

pub(crate) fn read(id: &str, known: Option<ETag>) -> ItemAction {
    ItemAction::Read { id: id.to_owned(), known, precondition: Precondition::None }
}

pub(crate) fn increment(id: &str, condition: Option<&str>) -> ItemAction {
    let path = Pointer::parse("/n").unwrap();
    let patch = Patch::new(vec![Operation::Increment { path, by: value("1") }], 64).unwrap();
    let condition = condition.map(str::to_owned);
    ItemAction::Patch { id: id.to_owned(), patch, condition, precondition: Precondition::None }
}

async fn batch(fixture: &Fixture, actions: Vec<ItemAction>) -> Result<BatchAnswer, Error> {
    let key = partition_key("a");
    fixture.engine.execute_batch(&fixture.caller, &fixture.container("c"), Some(&key), actions).await
}

/// What became of each action, in short.
pub(crate) fn outcomes(fixture: &Fixture, answer: &BatchAnswer) -> Vec<String> {
    let outcome = |result: &Result<ActionDone, Error>| match result {
        Ok(ActionDone::Written(written)) => match written.kind {
            ChangeKind::Create => "created".to_owned(),
            ChangeKind::Replace | ChangeKind::Update => "replaced".to_owned(),
            ChangeKind::Delete | ChangeKind::Expire => "deleted".to_owned(),
        },
        Ok(ActionDone::Read(read)) => {
            format!("n={:?}", fixture.shown(&read.item).get("n").unwrap().as_i64().unwrap())
        }
        Ok(ActionDone::NotModified { .. }) => "not modified".to_owned(),
        Err(error) => format!("{:?}", error.kind),
    };
    answer.results.iter().map(outcome).collect()
}

#[tokio::test]
async fn actions_are_done_in_order_and_see_each_other() {
    let fixture = Fixture::with_container().await;
    let answer = batch(
        &fixture,
        vec![
            put(WriteMode::Create, "1", 1),
            read("1", None),
            put(WriteMode::Upsert, "1", 5),
            increment("1", Some("FROM c WHERE c.n = 5")),
            read("1", None),
            put(WriteMode::Create, "2", 2),
            put(WriteMode::Replace, "2", 3),
            delete("1"),
        ],
    )
    .await
    .unwrap();
    let expected = ["created", "n=1", "replaced", "replaced", "n=6", "created", "replaced", "deleted"];
    assert_eq!(outcomes(&fixture, &answer), expected);
    assert_eq!(fixture.query("SELECT VALUE [c.id, c.n] FROM c").await, r#"["2",3]"#);
    let first = answer.position.unwrap();
    let sum: u64 = answer
        .results
        .iter()
        .map(|result| match result.as_ref().ok().unwrap() {
            ActionDone::Written(written) => written.charge.hundredths(),
            ActionDone::Read(read) => read.charge.hundredths(),
            ActionDone::NotModified { charge, .. } => charge.hundredths(),
        })
        .sum();
    assert_eq!(answer.charge.hundredths(), sum);
    // One commit for all of it.
    let next = batch(&fixture, vec![put(WriteMode::Create, "3", 3), delete("2")]).await.unwrap();
    assert_eq!(next.position.unwrap().lsn, first.lsn + 1);
    let container = fixture.container("c");
    let etag = fixture.read_item(&fixture.caller, "c", "3", "a").unwrap().item.etag(container.identity());
    let reads = batch(&fixture, vec![read("3", Some(etag)), read("3", None)]).await.unwrap();
    assert_eq!(outcomes(&fixture, &reads), ["not modified", "n=3"]);
    assert_eq!(reads.position.unwrap().lsn, first.lsn + 1, "nothing was written");
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn one_failure_fails_all() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"there","pk":"a","n":7}"#).await;
    let elsewhere = ItemAction::Put {
        mode: WriteMode::Create,
        id: None,
        body: ItemBody::from(r#"{"id":"x","pk":"b"}"#),
        precondition: Precondition::None,
    };
    let stale = ItemAction::Delete { id: "there".to_owned(), precondition: Precondition::Version(None) };
    for (action, kind) in [
        (put(WriteMode::Create, "there", 1), ErrorKind::AlreadyExists(ResourceKind::Item)),
        (put(WriteMode::Replace, "nobody", 1), ErrorKind::NotFound(ResourceKind::Item)),
        (delete("nobody"), ErrorKind::NotFound(ResourceKind::Item)),
        (read("nobody", None), ErrorKind::NotFound(ResourceKind::Item)),
        (increment("nobody", None), ErrorKind::NotFound(ResourceKind::Item)),
        (increment("there", Some("FROM c WHERE c.n > 7")), ErrorKind::PreconditionFailed),
        (increment("there", Some("FROM c WHERE")), ErrorKind::BadQuery),
        (increment("there", Some("FROM c")), ErrorKind::Invalid),
        (stale, ErrorKind::PreconditionFailed),
        (elsewhere, ErrorKind::PartitionKeyMismatch),
        (ItemAction::Invalid("it was odd".to_owned()), ErrorKind::Invalid),
    ] {
        for place in 0..3 {
            let mut actions = vec![put(WriteMode::Create, "1", 1), put(WriteMode::Upsert, "there", 8)];
            // The condition of a patch is about the item as it is then.
            if place > 1 && kind == ErrorKind::PreconditionFailed {
                actions[1] = put(WriteMode::Upsert, "2", 8);
            }
            actions.insert(place, action.clone());
            let answer = batch(&fixture, actions).await.unwrap();
            for (index, result) in answer.results.iter().enumerate() {
                let error = result.as_ref().err().unwrap();
                let expected = if index == place { kind } else { ErrorKind::FailedDependency };
                assert_eq!(error.kind, expected, "{action:?} at {place}: {error}");
            }
            assert!(answer.charge.hundredths() > 0);
            assert_eq!(fixture.query("SELECT VALUE [c.id, c.n] FROM c").await, r#"["there",7]"#);
        }
    }
    let wrong = batch(&fixture, vec![ItemAction::Invalid("it was odd".to_owned())]).await.unwrap();
    assert_eq!(wrong.results[0].as_ref().err().unwrap().message, "it was odd");
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

/// Actions that each name the version of an item by its moment: a read, a write, a patch and a delete.
pub(crate) fn held_at(id: &str, moment: Moment) -> [ItemAction; 4] {
    let held = Precondition::WrittenAt(moment);
    let mut actions = [read(id, None), put(WriteMode::Replace, id, 9), increment(id, None), delete(id)];
    for action in &mut actions {
        match action {
            ItemAction::Put { precondition, .. }
            | ItemAction::Delete { precondition, .. }
            | ItemAction::Patch { precondition, .. }
            | ItemAction::Read { precondition, .. } => *precondition = held,
            ItemAction::Invalid(_) => {}
        }
    }
    actions
}

#[tokio::test]
async fn actions_may_name_a_version_by_its_moment() {
    let fixture = Fixture::with_container().await;
    let moment = |fixture: &Fixture| {
        let item = fixture.read_item(&fixture.caller, "c", "1", "a").unwrap().item;
        assert_eq!(item.etag(fixture.container("c").identity()).moment(), item.moment());
        item.moment()
    };
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    let stale = moment(&fixture);
    for action in held_at("1", stale) {
        let is_delete = matches!(action, ItemAction::Delete { .. });
        let held = moment(&fixture);
        // The write before makes it another version.
        let answer = batch(&fixture, vec![put(WriteMode::Upsert, "1", 2), action.clone()]).await.unwrap();
        assert_eq!(outcomes(&fixture, &answer), ["FailedDependency", "PreconditionFailed"], "{action:?}");
        assert_eq!(moment(&fixture), held);
        let fitting = held_at("1", held)
            .into_iter()
            .find(|other| std::mem::discriminant(other) == std::mem::discriminant(&action));
        let answer = batch(&fixture, vec![fitting.unwrap()]).await.unwrap();
        assert!(answer.results.iter().all(Result::is_ok), "{action:?}");
        assert_eq!(answer.results.len(), 1);
        if is_delete {
            assert!(fixture.read_item(&fixture.caller, "c", "1", "a").is_err());
        }
    }
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn batches_have_bounds() {
    let fixture = Fixture::with_container().await;
    let many = |count: usize| (0..count).map(|n| put(WriteMode::Create, &format!("{n}"), 0)).collect();
    let none = refused(batch(&fixture, many(0)).await, ErrorKind::Invalid);
    assert_eq!(none.message, "Batch request has no operations.");
    let more = refused(batch(&fixture, many(BATCH_ACTIONS_MAX + 1)).await, ErrorKind::Invalid);
    assert_eq!(more.message, "Batch request has more operations than what is supported.");
    let most = batch(&fixture, many(BATCH_ACTIONS_MAX)).await.unwrap();
    assert_eq!(most.results.len(), BATCH_ACTIONS_MAX);
    let keyless = fixture
        .engine
        .execute_batch(&fixture.caller, &fixture.container("c"), None, vec![read("1", None)])
        .await;
    refused(keyless, ErrorKind::Invalid);
}

#[tokio::test]
async fn every_action_of_a_batch_needs_its_permission() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    let container = fixture.container("c");
    let reader = Caller { access: Access::ReadOnly, ..Caller::full() };
    let on_a = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}"#;
    let on_a = fixture.granted("u", on_a).await;
    let on_item =
        r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/docs/1","resourcePartitionKey":["a"]}"#;
    let on_item = fixture.granted("v", on_item).await;
    let cases = [
        (&reader, "a", vec![read("1", None)], true),
        (&reader, "a", vec![read("1", None), increment("1", None)], false),
        (&on_a, "a", vec![read("1", None), increment("1", None)], true),
        (&on_a, "b", vec![read("1", None)], false),
        (&on_a, "a", vec![put(WriteMode::Create, "new", 1), delete("new")], true),
        (&on_item, "a", vec![increment("1", None), put(WriteMode::Replace, "1", 1)], true),
        (&on_item, "a", vec![increment("1", None), put(WriteMode::Upsert, "1", 1)], false),
        (&on_item, "a", vec![increment("1", None), read("2", None)], false),
        (&on_item, "a", vec![delete("2")], false),
        (&on_item, "b", vec![read("1", None)], false),
    ];
    for (index, (caller, key, actions, allowed)) in cases.into_iter().enumerate() {
        let key = partition_key(key);
        let outcome = fixture.engine.execute_batch(caller, &container, Some(&key), actions).await;
        match allowed {
            true => assert!(outcome.unwrap().results.iter().all(Result::is_ok), "{index}"),
            false => drop(refused(outcome, ErrorKind::Forbidden)),
        }
    }
}
