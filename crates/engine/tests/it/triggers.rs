//! Triggers, which run in one transaction with the write that names them.

use armilla_engine::{
    ChangeKind, Error, ErrorKind, ItemName, ItemWritten, Precondition, ResourceKind, Triggers, WriteMode,
    check,
};

use crate::support::{Fixture, partition_key, refused, value};

const BODY: &str = r#"{"id":"1","pk":"a"}"#;

fn pre(name: &str) -> Triggers {
    Triggers { pre: Some(name.to_owned()), post: None }
}

fn post(name: &str) -> Triggers {
    Triggers { pre: None, post: Some(name.to_owned()) }
}

/// The four writes that triggers run with.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Write {
    Create,
    Upsert,
    Replace,
    Delete,
}

async fn write(
    fixture: &Fixture,
    write: Write,
    body: &str,
    triggers: &Triggers,
) -> Result<ItemWritten, Error> {
    let (engine, caller, container) = (&fixture.engine, &fixture.caller, fixture.container("c"));
    let (key, name, none) = (partition_key("a"), ItemName::Id("1"), Precondition::None);
    match write {
        Write::Create => fixture.put(WriteMode::Create, "a", body, triggers).await,
        Write::Upsert => fixture.put(WriteMode::Upsert, "a", body, triggers).await,
        Write::Replace => {
            engine
                .replace_item(caller, &container, name, Some(&key), body.as_bytes().into(), none, triggers)
                .await
        }
        Write::Delete => engine.delete_item(caller, &container, name, Some(&key), none, triggers).await,
    }
}

#[tokio::test]
async fn a_trigger_before_the_write_changes_what_is_written() {
    let fixture = Fixture::with_container().await;
    let stamp = "function () {
        var request = getContext().getRequest(), body = request.getBody();
        body.stamped = request.getOperationType();
        request.setBody(body);
    }";
    fixture.trigger("stamp", "Pre", "All", stamp).await;
    for (write_, kind, expected) in [
        (Write::Create, ChangeKind::Create, "Create"),
        (Write::Replace, ChangeKind::Replace, "Replace"),
        (Write::Upsert, ChangeKind::Replace, "Upsert"),
    ] {
        let written = write(&fixture, write_, BODY, &pre("stamp")).await.unwrap();
        assert_eq!(written.kind, kind);
        let shown = fixture.shown(&written.item);
        assert_eq!(shown.get("stamped").unwrap().as_str(), Some(expected));
        assert_eq!(Some(&shown), fixture.item("a", "1").as_ref(), "answered as it is stored");
        assert_eq!(written.position.lsn, written.position.lsn.max(1));
    }
    // Without being named, it does not run.
    write(&fixture, Write::Upsert, BODY, &Triggers::default()).await.unwrap();
    assert_eq!(fixture.item("a", "1").unwrap().get("stamped"), None);
    // The rules for bodies are those for any.
    for (id, change, kind) in [
        ("rename", "body.id = 'other';", ErrorKind::Invalid),
        ("move", "body.pk = 'b';", ErrorKind::PartitionKeyMismatch),
        ("nameless", "delete body.id;", ErrorKind::Invalid),
    ] {
        let text = format!(
            "function () {{ var request = getContext().getRequest(), body = request.getBody(); {change} \
             request.setBody(body); }}"
        );
        fixture.trigger(id, "Pre", "Replace", &text).await;
        refused(write(&fixture, Write::Replace, BODY, &pre(id)).await, kind);
    }
}

#[tokio::test]
async fn a_trigger_after_the_write_sees_what_was_written() {
    let fixture = Fixture::with_container().await;
    let text = "function () {
        var context = getContext(), c = context.getCollection();
        var request = context.getRequest().getBody(), stored = context.getResponse().getBody();
        c.upsertDocument(c.getSelfLink(), {
            id: 'note', pk: 'a', operation: context.getRequest().getOperationType(),
            request: request, stored: stored
        });
    }";
    fixture.trigger("note", "Post", "All", text).await;
    for (write_, name) in [(Write::Create, "Create"), (Write::Replace, "Replace"), (Write::Upsert, "Upsert")]
    {
        let written = write(&fixture, write_, BODY, &post("note")).await.unwrap();
        let note = fixture.item("a", "note").unwrap();
        assert_eq!(note.get("operation").unwrap().as_str(), Some(name));
        assert_eq!(note.get("request"), Some(&value(BODY)));
        assert_eq!(note.get("stored"), Some(&fixture.shown(&written.item)));
        assert_eq!(fixture.item("a", "1"), Some(fixture.shown(&written.item)));
    }
    let deleted = write(&fixture, Write::Delete, "", &post("note")).await.unwrap();
    assert_eq!(deleted.kind, ChangeKind::Delete);
    assert_eq!(fixture.item("a", "note").unwrap().get("operation").unwrap().as_str(), Some("Delete"));
    assert_eq!(fixture.item("a", "1"), None);
}

#[tokio::test]
async fn what_fails_undoes_all_of_it() {
    let fixture = Fixture::with_container().await;
    let create =
        "var c = getContext().getCollection(); c.createDocument(c.getSelfLink(), { id: 'by', pk: 'a' });";
    for (id, time, rest) in [
        ("good", "Pre", ""),
        ("bad", "Pre", "throw new Error(7, 'bad before');"),
        ("late", "Post", ""),
        ("worse", "Post", "throw new Error(8, 'bad after');"),
    ] {
        let create = if id == "good" || id == "worse" { create } else { "" };
        fixture.trigger(id, time, "All", &format!("function () {{ {create} {rest} }}")).await;
    }
    fixture.upsert("a", r#"{"id":"taken","pk":"a"}"#).await;
    let count = async || fixture.query("SELECT VALUE COUNT(1) FROM c").await;
    for (before, after, body, kind) in [
        (Some("bad"), None, BODY, ErrorKind::ScriptFailed(Some(7))),
        (None, Some("worse"), BODY, ErrorKind::ScriptFailed(Some(8))),
        (Some("good"), Some("worse"), BODY, ErrorKind::ScriptFailed(Some(8))),
        // The write itself fails as it does without triggers.
        (
            Some("good"),
            Some("late"),
            r#"{"id":"taken","pk":"a"}"#,
            ErrorKind::AlreadyExists(ResourceKind::Item),
        ),
        (Some("good"), None, r#"{"id":"1","pk":"b"}"#, ErrorKind::PartitionKeyMismatch),
        (Some("good"), None, r#"{"id":"1","pk":"#, ErrorKind::Invalid),
        (Some("good"), None, r#"[1]"#, ErrorKind::Invalid),
    ] {
        let triggers = Triggers { pre: before.map(str::to_owned), post: after.map(str::to_owned) };
        let error = refused(write(&fixture, Write::Create, body, &triggers).await, kind);
        assert!(error.charge.hundredths() >= 57, "{body} {error} {}", error.charge);
        assert_eq!(count().await, "1");
    }
    write(&fixture, Write::Create, BODY, &pre("good")).await.unwrap();
    assert_eq!(count().await, "3");
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_trigger_runs_with_its_operations_only() {
    let fixture = Fixture::with_container().await;
    let runs: [(&str, &[Write]); 6] = [
        ("All", &[Write::Create, Write::Upsert, Write::Replace, Write::Delete]),
        ("Create", &[Write::Create, Write::Upsert]),
        ("Update", &[Write::Upsert, Write::Replace]),
        ("Replace", &[Write::Upsert, Write::Replace]),
        ("Delete", &[Write::Delete]),
        ("Upsert", &[Write::Upsert]),
    ];
    for (operation, allowed) in runs {
        for (time, triggers) in
            [("Pre", pre(&format!("Pre{operation}"))), ("Post", post(&format!("Post{operation}")))]
        {
            fixture.trigger(&format!("{time}{operation}"), time, operation, "function () {}").await;
            for write_ in [Write::Create, Write::Upsert, Write::Replace, Write::Delete] {
                let none = Triggers::default();
                match write_ {
                    Write::Create => drop(write(&fixture, Write::Delete, "", &none).await),
                    _ => drop(write(&fixture, Write::Upsert, BODY, &none).await.unwrap()),
                }
                let outcome = write(&fixture, write_, BODY, &triggers).await;
                if allowed.contains(&write_) {
                    outcome.unwrap();
                } else {
                    let error = refused(outcome, ErrorKind::Invalid);
                    let start = format!("the trigger '{time}{operation}' does not run with this operation");
                    assert!(error.message.starts_with(&start), "{error}");
                }
            }
        }
    }
    for (triggers, message) in [
        (pre("nobody"), "the trigger 'nobody' does not exist in this container"),
        (post("nobody"), "the trigger 'nobody' does not exist in this container"),
        (pre("PostAll"), "the trigger 'PostAll' is named as a Pre-trigger, its triggerType is Post"),
        (post("PreAll"), "the trigger 'PreAll' is named as a Post-trigger, its triggerType is Pre"),
    ] {
        let error = refused(write(&fixture, Write::Upsert, BODY, &triggers).await, ErrorKind::Invalid);
        assert_eq!(error.message, message);
    }
}

#[tokio::test]
async fn preconditions_hold_with_triggers() {
    let fixture = Fixture::with_container().await;
    fixture.trigger("t", "Post", "All", "function () {}").await;
    fixture.upsert("a", BODY).await;
    let (engine, caller, container) = (&fixture.engine, &fixture.caller, fixture.container("c"));
    let (key, name, triggers) = (partition_key("a"), ItemName::Id("1"), post("t"));
    let current = fixture.read_item(caller, "c", "1", "a").unwrap().item.etag(container.identity());
    let replace = async |precondition| {
        engine
            .replace_item(
                caller,
                &container,
                name,
                Some(&key),
                BODY.as_bytes().into(),
                precondition,
                &triggers,
            )
            .await
    };
    refused(replace(Precondition::Version(None)).await, ErrorKind::PreconditionFailed);
    let replaced = replace(Precondition::Version(Some(current))).await.unwrap();
    let stale = replace(Precondition::Version(Some(current))).await;
    refused(stale, ErrorKind::PreconditionFailed);
    let newer = replaced.item.etag(container.identity());
    assert_eq!(fixture.read_item(caller, "c", "1", "a").unwrap().item.etag(container.identity()), newer);
    replace(Precondition::Version(Some(newer))).await.unwrap();
}

#[tokio::test]
async fn what_triggers_write_runs_no_triggers() {
    let fixture = Fixture::with_container().await;
    let text = "function () {
        var c = getContext().getCollection(), id = getContext().getRequest().getBody().id;
        c.createDocument(c.getSelfLink(), { id: id + '+', pk: 'a' });
    }";
    fixture.trigger("again", "Post", "Create", text).await;
    write(&fixture, Write::Create, BODY, &post("again")).await.unwrap();
    assert_eq!(fixture.query("SELECT VALUE c.id FROM c").await, r#""1","1+""#);
}

#[tokio::test]
async fn triggers_are_charged_beside_the_write() {
    let fixture = Fixture::with_container().await;
    fixture.trigger("before", "Pre", "All", "function () {}").await;
    fixture.trigger("after", "Post", "All", "function () {}").await;
    let both = Triggers { post: Some("after".to_owned()), ..pre("before") };
    let mut charges = Vec::new();
    for triggers in [Triggers::default(), pre("before"), post("after"), both] {
        let written = write(&fixture, Write::Create, BODY, &triggers).await.unwrap();
        charges.push(written.charge.hundredths() as i64);
        write(&fixture, Write::Delete, "", &Triggers::default()).await.unwrap();
    }
    // 12/21 for each, and the write costs 16/21 less as part of a transaction.
    let [plain, one, other, both] = charges[..] else { panic!("four") };
    assert!((one - (plain + 57 - 76)).abs() <= 1, "{charges:?}");
    assert_eq!(one, other);
    assert!((both - (one + 57)).abs() <= 1, "{charges:?}");
}

#[tokio::test]
async fn endless_triggers_are_stopped() {
    let fixture = Fixture::with_container().await;
    fixture.trigger("before", "Pre", "All", "function () { for (;;) {} }").await;
    fixture.trigger("after", "Post", "All", "function () { for (;;) {} }").await;
    for triggers in [pre("before"), post("after")] {
        let moving = fixture.moving_time();
        refused(write(&fixture, Write::Create, BODY, &triggers).await, ErrorKind::ScriptTimeout);
        drop(moving);
        assert_eq!(fixture.item("a", "1"), None);
    }
}
