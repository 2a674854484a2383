//! Unique keys that come and go while a container is in use: what they keep out, and what a crash or a split leaves.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{ErrorKind, ResourcePrecondition, Triggers, UniqueKey, WriteMode, check};
use armilla_kv::fault::FaultStore;
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Space, SpaceId, Store, StoreStats};
use armilla_value::{PropertyPath, Value};

use crate::reshaping::{create, ids};
use crate::support::{Fixture, defined, unthrottled, value};

fn unique(paths: &[&str]) -> UniqueKey {
    UniqueKey::new(paths.iter().map(|path| PropertyPath::parse(path).unwrap()).collect(), false)
}

fn sparse(paths: &[&str]) -> UniqueKey {
    UniqueKey::new(unique(paths).paths, true)
}

/// Asks for keys; returns whether they hold now.
async fn change(fixture: &Fixture, keys: &[UniqueKey]) -> bool {
    let changed = fixture.engine.change_unique_keys(&fixture.caller, "d", "c", keys.to_vec()).await;
    changed.unwrap().is_none()
}

async fn write(fixture: &Fixture, mode: WriteMode, key: &str, body: &str) -> Result<(), ErrorKind> {
    let written = fixture.put(mode, key, body, &Triggers::default()).await;
    written.map(|_| ()).map_err(|error| error.kind)
}

async fn create_item(fixture: &Fixture, key: &str, body: &str) -> Result<(), ErrorKind> {
    write(fixture, WriteMode::Create, key, body).await
}

/// Waits until dropped keys have left nothing behind, and sees to it that what is stored agrees.
async fn assert_clean(fixture: &Fixture) {
    fixture.until(|fixture| fixture.container("c").definition().dropped_slots().is_empty()).await;
    let engine = fixture.engine.clone();
    let report = tokio::task::spawn_blocking(move || check(&engine, &mut |_, _| {}).unwrap()).await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[tokio::test]
async fn a_key_over_items_holds_until_it_is_dropped() {
    let fixture = Fixture::with_container().await;
    // More than one step has to look at.
    for number in 0..250 {
        fixture.upsert("p", &format!(r#"{{"id":"{number}","pk":"p","u":{number},"v":1}}"#)).await;
    }
    assert!(change(&fixture, &[unique(&["/u"])]).await);
    assert_clean(&fixture).await;
    let taken = create_item(&fixture, "p", r#"{"id":"x","pk":"p","u":7}"#).await;
    assert_eq!(taken, Err(ErrorKind::UniqueKeyTaken));
    assert_eq!(create_item(&fixture, "q", r#"{"id":"x","pk":"q","u":7}"#).await, Ok(()));
    let moved = write(&fixture, WriteMode::Upsert, "p", r#"{"id":"7","pk":"p","u":1000}"#).await;
    assert_eq!(moved, Ok(()));
    assert_eq!(create_item(&fixture, "p", r#"{"id":"x","pk":"p","u":7}"#).await, Ok(()));
    assert_clean(&fixture).await;

    // The other one cannot be, and nothing comes of it.
    let before = fixture.container("c").definition();
    let changed = fixture.engine.change_unique_keys(
        &fixture.caller,
        "d",
        "c",
        vec![unique(&["/u"]), unique(&["/v", "/w"])],
    );
    let duplicate = changed.await.unwrap().unwrap();
    assert_eq!(duplicate.values, [Some(Value::Int64(1)), None]);
    assert_eq!(fixture.container("c").definition().to_value(), before.to_value());
    assert_eq!(create_item(&fixture, "p", r#"{"id":"y","pk":"p","u":-1,"v":1}"#).await, Ok(()));
    let taken = create_item(&fixture, "p", r#"{"id":"z","pk":"p","u":-1}"#).await;
    assert_eq!(taken, Err(ErrorKind::UniqueKeyTaken));
    assert_clean(&fixture).await;

    let fixture = fixture.reopen().await;
    let taken = create_item(&fixture, "p", r#"{"id":"z","pk":"p","u":-1}"#).await;
    assert_eq!(taken, Err(ErrorKind::UniqueKeyTaken));
    assert!(change(&fixture, &[]).await);
    assert_eq!(create_item(&fixture, "p", r#"{"id":"z","pk":"p","u":-1}"#).await, Ok(()));
    assert_clean(&fixture).await;
    assert!(!change(&fixture, &[unique(&["/u"])]).await, "two items have the same by now");
    assert_clean(&fixture).await;
}

#[tokio::test]
async fn a_sparse_key_leaves_out_items_that_have_none_of_its_values() {
    let fixture = Fixture::with_container().await;
    for (id, rest) in [("1", ""), ("2", ""), ("3", r#","a":1"#), ("4", r#","b":1"#)] {
        fixture.upsert("p", &format!(r#"{{"id":"{id}","pk":"p"{rest}}}"#)).await;
    }
    assert!(!change(&fixture, &[unique(&["/a", "/b"])]).await);
    assert!(change(&fixture, &[sparse(&["/a", "/b"])]).await);
    assert_eq!(create_item(&fixture, "p", r#"{"id":"5","pk":"p"}"#).await, Ok(()));
    let taken = create_item(&fixture, "p", r#"{"id":"6","pk":"p","b":1}"#).await;
    assert_eq!(taken, Err(ErrorKind::UniqueKeyTaken));
    assert_clean(&fixture).await;
}

#[tokio::test]
async fn replacing_the_container_does_not_change_its_keys() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("p", r#"{"id":"1","pk":"p","u":1}"#).await;
    assert!(change(&fixture, &[unique(&["/u"]), unique(&["/v"])]).await);
    // The first goes, so the second is not where its slot says.
    assert!(change(&fixture, &[unique(&["/v"]), sparse(&["/w"])]).await);
    let shown = fixture.container("c").definition().to_value();
    let replace = |definition: Value| {
        let (engine, caller) = (&fixture.engine, &fixture.caller);
        engine.replace_container(caller, "d", "c", defined(&definition), ResourcePrecondition::None)
    };
    replace(shown.clone()).await.unwrap();
    assert_eq!(fixture.container("c").definition().to_value(), shown);
    let text =
        r#"{"id":"c","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#;
    assert!(replace(value(text)).await.is_err());
    replace(value(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#)).await.unwrap();
    assert_clean(&fixture).await;
    let fixture = fixture.reopen().await;
    assert_eq!(create_item(&fixture, "p", r#"{"id":"2","pk":"p","u":1,"v":2}"#).await, Ok(()));
    let taken = create_item(&fixture, "p", r#"{"id":"3","pk":"p","v":2}"#).await;
    assert_eq!(taken, Err(ErrorKind::UniqueKeyTaken));
    assert_clean(&fixture).await;
}

/// While a key is built, others write items that have the same values now and then. Whatever comes of it, no two have
/// the same once the key holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_duplicate_slips_in_while_a_key_is_built() {
    for round in 0..6 {
        let fixture = Arc::new(Fixture::with_container().await);
        for number in 0..300 {
            fixture.upsert("p", &format!(r#"{{"id":"{number}","pk":"p","u":{number}}}"#)).await;
        }
        let writers = (0..4_u32).map(|writer| {
            let fixture = fixture.clone();
            tokio::spawn(async move {
                let mut taken = 0;
                for step in 0..120_u32 {
                    let id = (writer * 31 + step * 7 + round) % 320;
                    let other = if round % 2 == 0 { id } else { (id * 3 + step / 8) % 320 };
                    let body = format!(r#"{{"id":"{id}","pk":"p","u":{other},"step":{step}}}"#);
                    match write(&fixture, WriteMode::Upsert, "p", &body).await {
                        Ok(()) => {}
                        Err(ErrorKind::UniqueKeyTaken) => taken += 1,
                        Err(other) => panic!("{other:?}"),
                    }
                }
                taken
            })
        });
        let writers: Vec<_> = writers.collect();
        let holds = change(&fixture, &[unique(&["/u"])]).await;
        for writer in writers {
            writer.await.unwrap();
        }
        if holds {
            let rows = fixture.query("SELECT VALUE c.u FROM c").await;
            let values: Vec<&str> = rows.split(',').collect();
            assert_eq!(values.iter().collect::<BTreeSet<_>>().len(), values.len());
        }
        assert!(holds || round % 2 == 1, "every item has a value of its own");
        assert_clean(&fixture).await;
    }
}

#[tokio::test]
async fn partitions_split_while_a_key_is_built() {
    for first in [true, false] {
        let fixture = Fixture::on_store(Arc::new(MemoryStore::new()), unthrottled()).await;
        create(&fixture, 400).await;
        for number in 0..400 {
            let key = format!("k{}", number % 10);
            fixture.upsert(&key, &format!(r#"{{"id":"{number}","pk":"{key}","u":{}}}"#, number / 10)).await;
        }
        let (engine, caller) = (fixture.engine.clone(), fixture.caller.clone());
        let building = tokio::spawn(async move {
            engine.change_unique_keys(&caller, "d", "c", vec![unique(&["/u"])]).await.unwrap()
        });
        if first {
            tokio::task::yield_now().await;
        }
        fixture.engine.split(&fixture.caller, "d", "c", None, None).await.unwrap();
        fixture.until(|fixture| ids(fixture).len() == 2 && building.is_finished()).await;
        assert!(building.await.unwrap().is_none());
        fixture.until_whole("c").await;
        for number in 0..10 {
            let key = format!("k{number}");
            let taken = create_item(&fixture, &key, &format!(r#"{{"id":"x","pk":"{key}","u":39}}"#)).await;
            assert_eq!(taken, Err(ErrorKind::UniqueKeyTaken));
        }
        assert_clean(&fixture).await;
        assert!(change(&fixture, &[]).await);
        fixture.engine.split(&fixture.caller, "d", "c", None, None).await.unwrap();
        fixture.until(|fixture| ids(fixture).len() == 3).await;
        assert_clean(&fixture).await;
    }
}

/// A disk that can die, and that outlives the engine that closes it.
#[derive(Clone)]
struct Disk {
    fault: Arc<FaultStore>,
}

impl Store for Disk {
    fn open_space(&self, space: SpaceId) -> armilla_kv::Result<Arc<dyn Space>> {
        self.fault.open_space(space)
    }

    fn drop_space(&self, space: SpaceId) -> armilla_kv::Result<()> {
        self.fault.drop_space(space)
    }

    fn snapshot_all(&self) -> armilla_kv::Result<Box<dyn armilla_kv::StoreSnapshot>> {
        self.fault.snapshot_all()
    }

    fn stats(&self) -> StoreStats {
        self.fault.stats()
    }

    fn close(&self) -> armilla_kv::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_dead_disk_at_every_commit_of_making_and_dropping_a_key() {
    let mut ends = BTreeSet::new();
    for commits in 0..24 {
        let is_made = commits % 2 == 0;
        let disk = Disk { fault: Arc::new(FaultStore::new(Arc::new(MemoryStore::new()))) };
        let fixture = Fixture::on_store(Arc::new(disk.clone()), unthrottled()).await;
        create(&fixture, 400).await;
        for number in 0..250 {
            fixture.upsert("p", &format!(r#"{{"id":"{number}","pk":"p","u":{number}}}"#)).await;
        }
        if !is_made {
            assert!(change(&fixture, &[unique(&["/u"])]).await);
        }
        let wanted = if is_made { vec![unique(&["/u"])] } else { Vec::new() };
        disk.fault.kill_after_commits(commits / 2);
        let answered = fixture.engine.change_unique_keys(&fixture.caller, "d", "c", wanted).await.is_ok();
        for _ in 0..20 {
            fixture.clock.advance(Duration::from_millis(10));
            tokio::task::yield_now().await;
            tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_micros(200))).await.unwrap();
        }
        disk.fault.kill();
        fixture.engine.close().await.unwrap();
        disk.fault.revive();
        let fixture = fixture.reopen().await;
        let held = fixture.container("c").definition().held_unique_keys().count() == 1;
        assert!(!answered || held == is_made, "{commits}");
        assert_clean(&fixture).await;
        let written = create_item(&fixture, "p", r#"{"id":"x","pk":"p","u":7}"#).await;
        assert_eq!(written, if held { Err(ErrorKind::UniqueKeyTaken) } else { Ok(()) }, "{commits}");
        ends.insert((is_made, held));
        assert_clean(&fixture).await;
    }
    assert_eq!(ends.len(), 4, "each is seen done and not done: {ends:?}");
}
