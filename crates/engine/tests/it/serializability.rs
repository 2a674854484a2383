//! Scripts that run at the same time in one logical partition: as if they ran one after the other.

use std::sync::Arc;

use armilla_engine::{ErrorKind, ItemName, Operation, Patch, Pointer, Triggers, WriteMode, check};

use crate::support::{Fixture, partition_key, refused, value};

const TASKS: usize = 16;

/// Adds one to a counter.
const INCREMENT: &str = "function (id) {
    var c = getContext().getCollection();
    c.readDocument(c.getAltLink() + '/docs/' + id, function (err, doc) {
        if (err) throw err;
        doc.n++;
        c.replaceDocument(doc._self, doc, function (err) { if (err) throw err; });
    });
}";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_increment_is_lost() {
    const EACH: usize = 63;
    let fixture = Arc::new(Fixture::with_container().await);
    for counter in ["x", "y"] {
        fixture.upsert("a", &format!(r#"{{"id":"{counter}","pk":"a","n":0}}"#)).await;
    }
    fixture.procedure("increment", INCREMENT).await;
    let mut tasks = Vec::new();
    for _ in 0..TASKS {
        let fixture = fixture.clone();
        tasks.push(tokio::spawn(async move {
            let mut charges = Vec::new();
            for _ in 0..EACH {
                for counter in ["x", "y"] {
                    let arguments = format!(r#"["{counter}"]"#);
                    charges.push(fixture.run("increment", "a", &arguments).await.unwrap().charge);
                }
            }
            charges
        }));
    }
    let mut charges = Vec::new();
    for task in tasks {
        charges.extend(task.await.unwrap());
    }
    for counter in ["x", "y"] {
        let n = fixture.item("a", counter).unwrap().get("n").unwrap().as_i64().unwrap();
        assert_eq!(n, (TASKS * EACH) as i64, "{counter}");
    }
    charges.dedup();
    assert_eq!(charges.len(), 1, "how often a script had to be repeated is not charged");
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn scripts_and_other_writers_do_not_lose_each_others_writes() {
    const EACH: usize = 50;
    let fixture = Arc::new(Fixture::with_container().await);
    fixture.upsert("a", r#"{"id":"x","pk":"a","n":0}"#).await;
    fixture.procedure("increment", INCREMENT).await;
    let mut tasks = Vec::new();
    for task in 0..TASKS {
        let fixture = fixture.clone();
        tasks.push(tokio::spawn(async move {
            for _ in 0..EACH {
                if task % 2 == 0 {
                    fixture.run("increment", "a", r#"["x"]"#).await.unwrap();
                } else {
                    let path = Pointer::parse("/n").unwrap();
                    let patch = Patch::new(vec![Operation::Increment { path, by: value("1") }], 64).unwrap();
                    let (key, name) = (partition_key("a"), ItemName::Id("x"));
                    let container = fixture.container("c");
                    let (caller, none) = (&fixture.caller, Default::default());
                    fixture
                        .engine
                        .patch_item(caller, &container, name, Some(&key), patch, None, none)
                        .await
                        .unwrap();
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let n = fixture.item("a", "x").unwrap().get("n").unwrap().as_i64().unwrap();
    assert_eq!(n, (TASKS * EACH) as i64);
}

/// Each script takes the doctor of its argument off call, if another stays. A snapshot alone would let both go.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn write_skew_does_not_happen() {
    let fixture = Arc::new(Fixture::with_container().await);
    let by_query = "function (id) {
        var c = getContext().getCollection();
        c.queryDocuments(c.getSelfLink(), 'SELECT * FROM c WHERE c.onCall = true', function (err, found) {
            if (err) throw err;
            if (found.length < 2) throw new Error(4001, 'somebody must stay');
            c.upsertDocument(c.getSelfLink(), { id: id, pk: found[0].pk, onCall: false });
        });
    }";
    let by_id = "function (id) {
        var c = getContext().getCollection(), other = id === 'alice' ? 'bob' : 'alice';
        c.readDocument(c.getAltLink() + '/docs/' + other, function (err, doc) {
            if (err) throw err;
            if (!doc.onCall) throw new Error(4001, 'somebody must stay');
            c.upsertDocument(c.getSelfLink(), { id: id, pk: doc.pk, onCall: false });
        });
    }";
    fixture.procedure("query", by_query).await;
    fixture.procedure("id", by_id).await;
    for procedure in ["query", "id"] {
        for round in 0..40 {
            let key = format!("{procedure}{round}");
            for id in ["alice", "bob"] {
                fixture.upsert(&key, &format!(r#"{{"id":"{id}","pk":"{key}","onCall":true}}"#)).await;
            }
            let tasks = ["alice", "bob"].map(|id| {
                let (fixture, key) = (fixture.clone(), key.clone());
                tokio::spawn(async move { fixture.run(procedure, &key, &format!(r#"["{id}"]"#)).await })
            });
            let mut went = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Ok(_) => went += 1,
                    Err(error) => assert_eq!(error.kind, ErrorKind::ScriptFailed(Some(4001)), "{error}"),
                }
            }
            assert_eq!(went, 1, "{key}");
        }
    }
}

/// A feed that keeps its newest items only.
const TRIM: &str = "function () {
    var KEPT = 10, c = getContext().getCollection();
    c.queryDocuments(c.getSelfLink(), 'SELECT VALUE COUNT(1) FROM c', function (err, counts) {
        if (err) throw err;
        // The query does not see the item that was just written.
        var surplus = counts[0] + 1 - KEPT;
        if (surplus <= 0) return;
        var oldest = { query: 'SELECT TOP @count c._self FROM c ORDER BY c.n',
                       parameters: [{ name: '@count', value: surplus }] };
        c.queryDocuments(c.getSelfLink(), oldest, function (err, found) {
            if (err) throw err;
            found.forEach(function (doc) { c.deleteDocument(doc._self); });
        });
    });
}";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_trimming_trigger_keeps_exactly_its_maximum() {
    const EACH: usize = 25;
    let fixture = Arc::new(Fixture::with_container().await);
    fixture.trigger("trim", "Post", "Create", TRIM).await;
    let triggers = Triggers { post: Some("trim".to_owned()), ..Triggers::default() };
    let mut tasks = Vec::new();
    for task in 0..TASKS {
        let (fixture, triggers) = (fixture.clone(), triggers.clone());
        tasks.push(tokio::spawn(async move {
            for n in 0..EACH {
                let n = task * EACH + n;
                let body = format!(r#"{{"id":"{n}","pk":"a","n":{n}}}"#);
                fixture.put(WriteMode::Create, "a", &body, &triggers).await.unwrap();
                let count: usize = fixture.query("SELECT VALUE COUNT(1) FROM c").await.parse().unwrap();
                assert!(count <= 10, "{count} items");
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(fixture.query("SELECT VALUE COUNT(1) FROM c").await, "10");
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

/// A script that is slow never gets through as long as others are faster, unless it holds the logical partition.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_slow_script_gets_through_among_fast_writers() {
    let fixture = Arc::new(Fixture::with_container().await);
    fixture.upsert("a", r#"{"id":"x","pk":"a","n":0}"#).await;
    let slow = "function () {
        var c = getContext().getCollection();
        c.queryDocuments(c.getSelfLink(), 'SELECT * FROM c', function (err, found) {
            if (err) throw err;
            for (var i = 0, sum = 0; i < 3000000; i++) sum += i;
            c.createDocument(c.getSelfLink(), { id: 'slow', pk: 'a', sum: sum, saw: found[0].n });
        });
    }";
    fixture.procedure("slow", slow).await;
    let over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut writers = Vec::new();
    for _ in 0..4 {
        let (fixture, over) = (fixture.clone(), over.clone());
        writers.push(tokio::spawn(async move {
            let mut n = 0;
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                fixture.upsert("a", &format!(r#"{{"id":"x","pk":"a","n":{n}}}"#)).await;
                n += 1;
            }
            n
        }));
    }
    fixture.run("slow", "a", "").await.unwrap();
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(fixture.item("a", "slow").is_some());
    refused(fixture.run("slow", "a", "").await, ErrorKind::ScriptFailed(Some(409)));
}
