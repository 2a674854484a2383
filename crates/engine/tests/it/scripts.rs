//! Stored procedures, triggers and user-defined functions as resources of a container.

use std::time::Duration;

use armilla_engine::{
    Access, Caller, Content, ErrorKind, Resource, ResourceKind, ResourcePrecondition, STORED_PROCEDURES_MAX,
    ScriptDefinition, ScriptKind, TRIGGERS_MAX, TriggerOperation, TriggerRule, TriggerTime,
    USER_FUNCTIONS_MAX, check,
};

use crate::support::{Fixture, refused, script};

const NONE: ResourcePrecondition = ResourcePrecondition::None;

/// A script of a kind with what that kind needs.
fn definition(kind: ScriptKind, id: &str, body: &str) -> ScriptDefinition {
    let trigger = match kind {
        ScriptKind::Trigger => Some(TriggerRule::parse("Pre", "All").unwrap()),
        ScriptKind::StoredProcedure | ScriptKind::UserDefinedFunction => None,
    };
    ScriptDefinition { trigger, ..script(id, body) }
}

async fn create(
    fixture: &Fixture,
    kind: ScriptKind,
    id: &str,
    body: &str,
) -> armilla_engine::Result<Resource> {
    let definition = definition(kind, id, body);
    let answer = fixture.engine.create_script(&fixture.caller, "d", "c", kind, &definition).await?;
    assert!(answer.charge.hundredths() > 0);
    Ok(answer.value)
}

fn ids(fixture: &Fixture, container: &str, kind: ScriptKind) -> Vec<String> {
    let feed = fixture.engine.list_scripts(&fixture.caller, "d", container, kind, None, None).unwrap().value;
    feed.resources.into_iter().map(|resource| resource.id).collect()
}

#[tokio::test]
async fn scripts_of_each_kind_live_through_every_operation() {
    for (kind, resource_kind, links) in [
        (ScriptKind::StoredProcedure, ResourceKind::StoredProcedure, "sprocs"),
        (ScriptKind::Trigger, ResourceKind::Trigger, "triggers"),
        (ScriptKind::UserDefinedFunction, ResourceKind::UserDefinedFunction, "udfs"),
    ] {
        let fixture = Fixture::with_container().await;
        let (engine, caller) = (&fixture.engine, &fixture.caller);
        let body = "function (x) { return x; }";
        let created = create(&fixture, kind, "f", body).await.unwrap();
        let owner = engine.read_container(caller, "d", "c", None).unwrap().value;
        assert_eq!(
            (created.kind, created.id.as_str(), &created.parent_rid),
            (resource_kind, "f", &owner.rid)
        );
        assert_eq!(created.self_link, format!("{}{links}/{}/", owner.self_link, created.rid));
        let Content::Script { body: stored, trigger } = &created.content else { panic!("{created:?}") };
        assert_eq!((stored.as_str(), trigger.is_some()), (body, kind == ScriptKind::Trigger));
        refused(create(&fixture, kind, "f", "x => x").await, ErrorKind::AlreadyExists(resource_kind));
        let read = |id: &str, known| engine.read_script(caller, "d", "c", kind, id, known);
        assert_eq!(read("f", None).unwrap().value, created);
        let by_rid = engine.read_script(caller, &owner.parent_rid, &owner.rid, kind, &created.rid, None);
        assert_eq!(by_rid.unwrap().value, created);
        let etag = Some(created.etag);
        refused(read("f", etag), ErrorKind::NotModified);
        refused(read("g", None), ErrorKind::NotFound(resource_kind));
        let nowhere = engine.read_script(caller, "d", "x", kind, "f", None);
        refused(nowhere, ErrorKind::OwnerNotFound(ResourceKind::Container));
        create(&fixture, kind, "e", "x => x").await.unwrap();
        assert_eq!(ids(&fixture, "c", kind), ["f", "e"]);
        for other in ScriptKind::ALL.into_iter().filter(|other| *other != kind) {
            assert_eq!(ids(&fixture, "c", other), [] as [&str; 0], "each kind has names of its own");
            let other_kind =
                engine.read_script(caller, &owner.parent_rid, &owner.rid, other, &created.rid, None);
            refused(other_kind, ErrorKind::NotFound(other.resource_kind()));
        }

        fixture.clock.advance(Duration::from_secs(5));
        let stale = ResourcePrecondition::Version(None);
        let body = "function (x) { return x + 1; }";
        let [f, g, e] = ["f", "g", "e"].map(|id| definition(kind, id, body));
        let failed = engine.replace_script(caller, "d", "c", kind, "f", &f, stale).await;
        refused(failed, ErrorKind::PreconditionFailed);
        let taken = engine.replace_script(caller, "d", "c", kind, "f", &e, NONE).await;
        refused(taken, ErrorKind::AlreadyExists(resource_kind));
        let current = ResourcePrecondition::Version(etag);
        let replaced = engine.replace_script(caller, "d", "c", kind, "f", &g, current).await.unwrap().value;
        assert_eq!((replaced.id.as_str(), &replaced.rid, replaced.ts), ("g", &created.rid, created.ts + 5));
        assert_ne!(replaced.etag, created.etag);
        assert_eq!(ids(&fixture, "c", kind), ["g", "e"]);
        let again = definition(kind, "g", "x => 3");
        let (upserted, is_new) = engine.upsert_script(caller, "d", "c", kind, &again).await.unwrap();
        assert_eq!((upserted.value.rid.as_str(), is_new), (created.rid.as_str(), false));
        let fresh = definition(kind, "h", "x => 4");
        assert!(engine.upsert_script(caller, "d", "c", kind, &fresh).await.unwrap().1);

        let deleted =
            async |precondition| engine.delete_script(caller, "d", "c", kind, "g", precondition).await;
        refused(deleted(stale).await, ErrorKind::PreconditionFailed);
        deleted(NONE).await.unwrap();
        refused(deleted(NONE).await, ErrorKind::NotFound(resource_kind));
        assert_eq!(ids(&fixture, "c", kind), ["e", "h"]);
        let reborn = create(&fixture, kind, "g", body).await.unwrap();
        assert_ne!(reborn.rid, created.rid, "ids are never used twice");
    }
}

/// A text was evaluated when it was registered, with no turn and no deadline of its own: this one kept a thread for ever.
#[tokio::test]
async fn nothing_is_evaluated_when_it_is_registered() {
    let fixture = Fixture::with_container().await;
    for kind in ScriptKind::ALL {
        create(&fixture, kind, "f", "(() => { for (;;) {} })()").await.unwrap();
    }
}

#[tokio::test]
async fn what_cannot_be_a_script_is_refused() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    for kind in ScriptKind::ALL {
        for id in ["", "a/b", &"x".repeat(256)] {
            refused(create(&fixture, kind, id, "x => x").await, ErrorKind::Invalid);
        }
        let long = "x".repeat(256 * 1024 + 1);
        refused(create(&fixture, kind, "f", &long).await, ErrorKind::ScriptInvalid);
        create(&fixture, kind, "f", "x => x").await.unwrap();
        let worse = definition(kind, "f", &long);
        let replaced = engine.replace_script(caller, "d", "c", kind, "f", &worse, NONE).await;
        refused(replaced, ErrorKind::ScriptInvalid);
        // A trigger says when it runs, and nothing else does.
        let mut odd = definition(kind, "g", "x => x");
        odd.trigger = match odd.trigger {
            Some(_) => None,
            None => Some(TriggerRule::parse("Pre", "All").unwrap()),
        };
        refused(engine.create_script(caller, "d", "c", kind, &odd).await, ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn a_container_has_so_many_scripts_of_a_kind_and_no_more() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    for (kind, count_max) in [
        (ScriptKind::StoredProcedure, STORED_PROCEDURES_MAX),
        (ScriptKind::Trigger, TRIGGERS_MAX),
        (ScriptKind::UserDefinedFunction, USER_FUNCTIONS_MAX),
    ] {
        for n in 0..count_max {
            create(&fixture, kind, &format!("f{n}"), "x => x").await.unwrap();
        }
        refused(create(&fixture, kind, "more", "x => x").await, ErrorKind::Invalid);
        let again = definition(kind, "f7", "x => 1");
        let (_, is_new) = engine.upsert_script(caller, "d", "c", kind, &again).await.unwrap();
        assert!(!is_new);
        engine.delete_script(caller, "d", "c", kind, "f0", NONE).await.unwrap();
        create(&fixture, kind, "more", "x => x").await.unwrap();
    }
}

#[tokio::test]
async fn scripts_survive_and_go_with_their_container() {
    let fixture = Fixture::with_container().await;
    fixture.create_container("other").await.unwrap();
    let mut created = Vec::new();
    for kind in ScriptKind::ALL {
        created.push(create(&fixture, kind, "f", "function (x) { return x + '!'; }").await.unwrap());
        create(&fixture, kind, "g", "x => x").await.unwrap();
        let renamed = definition(kind, "h", "x => x");
        fixture.engine.replace_script(&fixture.caller, "d", "c", kind, "g", &renamed, NONE).await.unwrap();
    }
    let fixture = fixture.reopen().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    for (kind, created) in ScriptKind::ALL.into_iter().zip(&created) {
        assert_eq!(engine.read_script(caller, "d", "c", kind, "f", None).unwrap().value, *created);
        assert_eq!(ids(&fixture, "c", kind), ["f", "h"]);
        assert_eq!(ids(&fixture, "other", kind), [] as [&str; 0]);
    }
    assert_eq!(fixture.query("SELECT VALUE udf.f('a')").await, r#""a!""#);
    assert_eq!(check(engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());

    engine.delete_container(caller, "d", "c", NONE).await.unwrap();
    fixture.create_container("c").await.unwrap();
    for kind in ScriptKind::ALL {
        assert_eq!(ids(&fixture, "c", kind), [] as [&str; 0]);
        create(&fixture, kind, "f", "x => x").await.unwrap();
    }
    let fixture = fixture.reopen().await;
    for kind in ScriptKind::ALL {
        assert_eq!(ids(&fixture, "c", kind), ["f"]);
    }
    fixture.engine.delete_database(&fixture.caller, "d", NONE).await.unwrap();
    // An orphan's record would be an error here.
    fixture.reopen().await;
}

#[tokio::test]
async fn the_words_of_a_trigger_are_kept_as_they_came() {
    let fixture = Fixture::with_container().await;
    let mut made = Vec::new();
    for (time_text, operation_text, time, operation) in [
        ("Pre", "All", TriggerTime::Pre, TriggerOperation::All),
        ("post", "create", TriggerTime::Post, TriggerOperation::Create),
        ("POST", "Delete", TriggerTime::Post, TriggerOperation::Delete),
        ("pre", "uPDATE", TriggerTime::Pre, TriggerOperation::Update),
        ("Post", "Replace", TriggerTime::Post, TriggerOperation::Replace),
        ("Pre", "upsert", TriggerTime::Pre, TriggerOperation::Upsert),
    ] {
        let rule = TriggerRule::parse(time_text, operation_text).unwrap();
        assert_eq!((rule.time(), rule.operation()), (time, operation));
        let id = format!("t{}", made.len());
        fixture.trigger(&id, time_text, operation_text, "function () {}").await;
        made.push((id, time_text, operation_text));
    }
    let fixture = fixture.reopen().await;
    for (id, time_text, operation_text) in made {
        let kind = ScriptKind::Trigger;
        let read = fixture.engine.read_script(&fixture.caller, "d", "c", kind, &id, None).unwrap().value;
        let Content::Script { trigger: Some(trigger), .. } = read.content else { panic!("{read:?}") };
        assert_eq!((trigger.time_text(), trigger.operation_text()), (time_text, operation_text));
    }
    for (time, operation) in
        [("", "All"), ("Before", "All"), ("Pre", ""), ("Pre", "Read"), ("Pre", "create ")]
    {
        refused(TriggerRule::parse(time, operation), ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn who_may_read_and_write_scripts() {
    let fixture = Fixture::with_container().await;
    let engine = &fixture.engine;
    let mut callers = Vec::new();
    for (user, mode, resource, reads, writes) in [
        ("u", "Read", r#""dbs/d/colls/c""#, true, false),
        ("u", "Read", r#""dbs/d/colls/c/docs/1","resourcePartitionKey":["a"]"#, false, false),
        ("u", "All", r#""dbs/d/colls/c/docs/2","resourcePartitionKey":["a"]"#, false, false),
        ("v", "All", r#""dbs/d/colls/c""#, true, true),
    ] {
        let id = callers.len();
        let body = format!(r#"{{"id":"p{id}","permissionMode":"{mode}","resource":{resource}}}"#);
        callers.push((fixture.granted(user, &body).await, reads, writes));
    }
    callers.push((Caller { access: Access::ReadOnly, ..Caller::full() }, true, false));
    for kind in ScriptKind::ALL {
        create(&fixture, kind, "f", "x => x").await.unwrap();
        for (index, (caller, reads, writes)) in callers.iter().enumerate() {
            let read = engine.read_script(caller, "d", "c", kind, "f", None);
            assert_eq!(read.is_ok(), *reads, "{index}");
            let listed = engine.list_scripts(caller, "d", "c", kind, None, None);
            assert_eq!(listed.is_ok(), *reads, "{index}");
            let new = definition(kind, &format!("g{index}"), "x => x");
            let created = engine.create_script(caller, "d", "c", kind, &new).await;
            assert_eq!(created.is_ok(), *writes, "{index}");
            let old = definition(kind, "f", "x => x");
            let replaced = engine.replace_script(caller, "d", "c", kind, "f", &old, NONE).await;
            assert_eq!(replaced.is_ok(), *writes, "{index}");
            for failed in [created.err(), replaced.err(), read.err()].into_iter().flatten() {
                assert_eq!(failed.kind, ErrorKind::Forbidden, "{index}: {failed}");
            }
        }
        let item_only = &callers[2].0;
        refused(engine.delete_script(item_only, "d", "c", kind, "f", NONE).await, ErrorKind::Forbidden);
    }
}
