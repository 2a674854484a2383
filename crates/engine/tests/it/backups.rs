//! Backups of an account that is being used: as of one moment, whatever happens while they are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_backup::{Folder, Frame, Origin, Taking, compare, restore};
use armilla_engine::{
    Access, BACKUP_IDLE_MAX, BACKUPS_AT_ONCE_MAX, BackupBegun, Caller, Engine, ErrorKind,
    ResourcePrecondition, WriteMode, check,
};
use armilla_kv::Store;
use armilla_kv::memory::MemoryStore;
use bytes::Bytes;

use crate::batches::put;
use crate::reshaping::{assert_whole, create, figures, fill};
use crate::support::{Fixture, partition_key, refused, unthrottled};

/// Reads the frames of a backup from one on, to the end.
async fn rest(engine: &Engine, begun: &BackupBegun, mut frames: Vec<Bytes>) -> Vec<Bytes> {
    loop {
        let number = frames.len() as u64;
        let frame = engine.backup_frame(&Caller::full(), &begun.id, number).await.unwrap().unwrap();
        let is_last = matches!(Frame::decode(&frame).unwrap(), Frame::End(_));
        frames.push(frame);
        if is_last {
            assert!(engine.end_backup(&Caller::full(), &begun.id).await.unwrap());
            return frames;
        }
    }
}

/// Takes a backup of what is now.
async fn frames(engine: &Engine) -> Vec<Bytes> {
    let begun = engine.begin_backup(&Caller::full()).await.unwrap();
    rest(engine, &begun, Vec::new()).await
}

/// Restores frames to another store, by way of a folder.
fn restored(frames: &[Bytes]) -> Arc<dyn Store> {
    let folder = tempfile::tempdir().unwrap();
    let origin = Origin { account: "a".to_owned(), moment_ms: 0, program: "p".to_owned() };
    let mut taking = Taking::new(Folder::open_to_write(folder.path()).unwrap(), origin).unwrap();
    for frame in frames {
        taking.add(frame).unwrap();
    }
    taking.finish().unwrap();
    let folder = Folder::open(folder.path()).unwrap();
    let manifest = folder.manifest(folder.find(None).unwrap()).unwrap();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    restore(&folder, &manifest, &*store, &mut |_| {}).unwrap();
    compare(&manifest, &*store, &mut |_| {}).unwrap();
    store
}

async fn opened(frames: &[Bytes]) -> Fixture {
    Fixture::on_store(restored(frames), unthrottled()).await
}

async fn checked(fixture: &Fixture) -> (u64, Vec<String>) {
    let engine = fixture.engine.clone();
    let report = tokio::task::spawn_blocking(move || check(&engine, &mut |_, _| {}).unwrap()).await.unwrap();
    (report.items, report.problems)
}

#[tokio::test]
async fn everything_comes_back_and_tokens_go_on_working() {
    let fixture = Fixture::with_container().await;
    fixture.create_item(&fixture.caller, "c", "1", "a").await.unwrap();
    let granted = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#;
    fixture.granted("u", granted).await;
    let token = fixture.engine.read_permission(&fixture.caller, "d", "u", "p", None, None).unwrap();
    let token = crate::support::token(&token.value);
    let begun = fixture.engine.begin_backup(&fixture.caller).await.unwrap();
    assert_eq!((begun.account.len(), begun.spaces), (32, 2));
    // What comes after the moment is not in it.
    fixture.create_item(&fixture.caller, "c", "2", "a").await.unwrap();
    fixture.create_container("later").await.unwrap();
    let copy = opened(&rest(&fixture.engine, &begun, Vec::new()).await).await;
    let ids = |fixture: &Fixture| {
        let containers = fixture.engine.list_containers(&fixture.caller, "d", None, None).unwrap().value;
        containers.resources.into_iter().map(|container| container.rid).collect::<Vec<_>>()
    };
    assert_eq!(ids(&copy), ids(&fixture)[..1]);
    assert!(copy.item("a", "1").is_some() && copy.item("a", "2").is_none());
    assert_eq!(copy.item("a", "1"), fixture.item("a", "1"), "with its etag and its time stamp");
    assert!(copy.engine.authorize_token(&token).is_ok());
    assert_eq!(checked(&copy).await, (1, vec![]));
    // It is the same account, and its numbers go on where they were.
    let again = copy.engine.begin_backup(&copy.caller).await.unwrap();
    assert_eq!(again.account, begun.account);
    copy.create_container("next").await.unwrap();
    copy.create_item(&copy.caller, "c", "2", "a").await.unwrap();
    let other = Fixture::with_container().await.engine.begin_backup(&copy.caller).await.unwrap();
    // Simulated randomness repeats; another seed makes another account.
    assert_eq!(other.account, begun.account);
    let (env, _) = armilla_env::Env::simulated(2);
    let other = Engine::open(Arc::new(MemoryStore::new()), env, unthrottled()).await.unwrap();
    assert_ne!(other.begin_backup(&copy.caller).await.unwrap().account, begun.account);
}

#[tokio::test]
async fn the_same_state_gives_the_same_bytes() {
    let fixture = Fixture::new().await;
    create(&fixture, 400).await;
    fill(&fixture, 0..50).await;
    let first = frames(&fixture.engine).await;
    assert_eq!(frames(&fixture.engine).await, first);
    // Whoever opens what was restored changes nothing of it.
    assert_eq!(frames(&opened(&first).await.engine).await, first);
}

/// A backup is taken between any two steps of a split and of a merge; each is whole, with the parents or the children.
#[tokio::test]
async fn splits_and_merges_under_way() {
    let fixture = Fixture::new().await;
    create(&fixture, 400).await;
    let mut count = 300;
    fill(&fixture, 0..count).await;
    let mut under_way = 0;
    for step in 0..2 {
        let version = figures(&fixture).map_version;
        match step {
            0 => fixture.engine.split(&fixture.caller, "d", "c", None, None).await.unwrap(),
            _ => fixture.engine.merge(&fixture.caller, "d", "c", [1, 2]).await.unwrap(),
        }
        while figures(&fixture).map_version == version {
            let begun = fixture.engine.begin_backup(&fixture.caller).await.unwrap();
            let before = count;
            // It goes on while the backup is read: more is copied, the map may change, parents may be dropped.
            fill(&fixture, count..count + 3).await;
            count += 3;
            fixture.clock.advance(Duration::from_millis(10));
            tokio::task::yield_now().await;
            let copy = opened(&rest(&fixture.engine, &begun, Vec::new()).await).await;
            assert_whole(&copy, before).await;
            under_way += 1;
            copy.engine.close().await.unwrap();
        }
        fixture.until_whole("c").await;
    }
    assert!(under_way >= 2, "{under_way} backups while something was under way");
    let copy = opened(&frames(&fixture.engine).await).await;
    assert_whole(&copy, count).await;
}

#[tokio::test]
async fn a_container_that_is_deleted_meanwhile_stays_in_the_backup() {
    let fixture = Fixture::new().await;
    create(&fixture, 400).await;
    fill(&fixture, 0..40).await;
    let begun = fixture.engine.begin_backup(&fixture.caller).await.unwrap();
    let first = fixture.engine.backup_frame(&fixture.caller, &begun.id, 0).await.unwrap().unwrap();
    fixture.engine.delete_container(&fixture.caller, "d", "c", ResourcePrecondition::None).await.unwrap();
    // Its space is dropped, and another takes its name.
    fixture.create_container("c").await.unwrap();
    let copy = opened(&rest(&fixture.engine, &begun, vec![first]).await).await;
    assert_whole(&copy, 40).await;
    // A backup from now on has nothing of it.
    let copy = opened(&frames(&fixture.engine).await).await;
    assert_eq!(checked(&copy).await, (0, vec![]));
}

/// Writers keep a sum in each logical partition, and go from one container to the next in turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn logical_partitions_and_containers_are_as_of_one_moment() {
    let fixture = Arc::new(Fixture::with_container().await);
    fixture.create_container("second").await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let writing = {
        let (fixture, is_over) = (fixture.clone(), is_over.clone());
        tokio::spawn(async move {
            for round in 1.. {
                if is_over.load(Ordering::Relaxed) {
                    return round;
                }
                for container in ["c", "second"] {
                    let actions =
                        vec![put(WriteMode::Upsert, "1", round), put(WriteMode::Upsert, "2", -round)];
                    let (handle, key) = (fixture.container(container), partition_key("a"));
                    let done =
                        fixture.engine.execute_batch(&fixture.caller, &handle, Some(&key), actions).await;
                    assert!(done.unwrap().results.iter().all(Result::is_ok));
                    tokio::task::yield_now().await;
                }
            }
            unreachable!("it is told to end")
        })
    };
    for _ in 0..10 {
        let copy = opened(&frames(&fixture.engine).await).await;
        let number = |container: &str, id: &str| {
            let read = copy.read_item(&copy.caller, container, id, "a").ok()?;
            let mut text = Vec::new();
            read.item.write_json(copy.container(container).identity(), &mut text);
            armilla_value::json::parse(&text).unwrap().get("n")?.as_i64()
        };
        let [first, second] = ["c", "second"].map(|container| {
            let (one, other) = (number(container, "1").unwrap_or(0), number(container, "2").unwrap_or(0));
            assert_eq!(one + other, 0, "a batch is there as a whole or not at all");
            one
        });
        assert!(first == second || first == second + 1, "{first} and {second}");
        assert_eq!(checked(&copy).await.1, Vec::<String>::new());
    }
    is_over.store(true, Ordering::Relaxed);
    assert!(writing.await.unwrap() > 1);
}

#[tokio::test]
async fn frames_come_one_after_the_other() {
    let fixture = Fixture::with_container().await;
    fixture.create_item(&fixture.caller, "c", "1", "a").await.unwrap();
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    let begun = engine.begin_backup(caller).await.unwrap();
    refused(engine.backup_frame(caller, &begun.id, 1).await, ErrorKind::Invalid);
    let all = rest(engine, &begun, Vec::new()).await;
    assert!(all.len() > 2);
    assert_eq!(engine.backup_frame(caller, &begun.id, 0).await.unwrap(), None, "it has ended");
    assert!(!engine.end_backup(caller, &begun.id).await.unwrap());
    let begun = engine.begin_backup(caller).await.unwrap();
    for (number, frame) in all.iter().enumerate() {
        // Again, as after an answer that got lost; not the one before, and not one beyond.
        for _ in 0..2 {
            let read = engine.backup_frame(caller, &begun.id, number as u64).await.unwrap();
            assert_eq!(read.as_ref(), Some(frame));
        }
        refused(engine.backup_frame(caller, &begun.id, number as u64 + 2).await, ErrorKind::Invalid);
        if number > 0 {
            refused(engine.backup_frame(caller, &begun.id, number as u64 - 1).await, ErrorKind::Invalid);
        }
    }
    refused(engine.backup_frame(caller, &begun.id, all.len() as u64).await, ErrorKind::Invalid);
}

#[tokio::test]
async fn backups_that_nobody_asks_for_are_given_up() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    let mut begun = Vec::new();
    for _ in 0..BACKUPS_AT_ONCE_MAX {
        begun.push(engine.begin_backup(caller).await.unwrap());
    }
    let error = refused(engine.begin_backup(caller).await, ErrorKind::Locked);
    assert!(error.message.contains("being taken already"), "{error}");
    let is_there = async |begun: &BackupBegun, number| {
        engine.backup_frame(caller, &begun.id, number).await.unwrap().is_some()
    };
    // Tasks that wait have to be asleep before time passes.
    let pass = async |time| {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        fixture.clock.advance(time);
        for _ in 0..20 {
            tokio::task::yield_now().await;
            tokio::task::spawn_blocking(|| {}).await.unwrap();
        }
    };
    pass(BACKUP_IDLE_MAX - Duration::from_secs(1)).await;
    assert!(is_there(&begun[0], 0).await);
    pass(Duration::from_secs(1)).await;
    assert!(is_there(&begun[0], 1).await, "it was asked for a second ago");
    assert!(!is_there(&begun[1], 0).await, "nobody asked for it for a minute");
    let third = engine.begin_backup(caller).await.unwrap();
    pass(BACKUP_IDLE_MAX).await;
    assert!(!is_there(&begun[0], 2).await && !is_there(&third, 0).await);
    let fourth = engine.begin_backup(caller).await.unwrap();
    engine.close().await.unwrap();
    assert!(!is_there(&fourth, 0).await, "the account is closed");
}

#[tokio::test]
async fn only_those_who_may_do_everything_take_backups() {
    let fixture = Fixture::with_container().await;
    let granted =
        fixture.granted("u", r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#).await;
    let begun = fixture.engine.begin_backup(&fixture.caller).await.unwrap();
    for caller in [Caller { access: Access::ReadOnly, ..Caller::full() }, granted] {
        refused(fixture.engine.begin_backup(&caller).await, ErrorKind::Forbidden);
        refused(fixture.engine.backup_frame(&caller, &begun.id, 0).await, ErrorKind::Forbidden);
        refused(fixture.engine.end_backup(&caller, &begun.id).await, ErrorKind::Forbidden);
    }
}
