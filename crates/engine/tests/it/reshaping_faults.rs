//! Splits and merges that are cut short: by a dead disk, a failed commit, a deletion, or the end of the account.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{ResourcePrecondition, check};
use armilla_kv::fault::{Fault, FaultStore};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{ErrorKind as StoreErrorKind, Space, SpaceId, Store, StoreStats};

use crate::reshaping::{assert_whole, create, figures, fill, ids, set_throughput, split};
use crate::support::{Fixture, unthrottled};

/// A disk that can die, and that outlives the engine that closes it.
#[derive(Clone)]
struct Disk {
    memory: Arc<MemoryStore>,
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

impl Disk {
    fn new() -> Disk {
        let memory = Arc::new(MemoryStore::new());
        Disk { fault: Arc::new(FaultStore::new(memory.clone())), memory }
    }

    fn is_dropped(&self, space: u64) -> bool {
        match self.memory.open_space(SpaceId(space)) {
            Ok(_) => false,
            Err(error) => error.kind() == StoreErrorKind::SpaceDropped,
        }
    }
}

#[tokio::test]
async fn a_dead_disk_at_every_commit_of_a_split_and_a_merge() {
    let mut ends = BTreeSet::new();
    for commits in 0..60 {
        let disk = Disk::new();
        let fixture = Fixture::on_store(Arc::new(disk.clone()), unthrottled()).await;
        create(&fixture, 20_000).await;
        fill(&fixture, 0..20).await;
        if commits % 2 == 0 {
            set_throughput(&fixture, 30_000).await.unwrap();
        } else {
            set_throughput(&fixture, 1_000).await.unwrap();
            fixture.engine.merge(&fixture.caller, "d", "c", [0, 1]).await.unwrap();
        }
        disk.fault.kill_after_commits(commits / 2);
        for _ in 0..60 {
            fixture.clock.advance(Duration::from_millis(10));
            tokio::task::yield_now().await;
            tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_micros(200))).await.unwrap();
        }
        disk.fault.kill();
        fixture.engine.close().await.unwrap();
        disk.fault.revive();
        let fixture = fixture.reopen().await;
        fixture.until_whole("c").await;
        let count = ids(&fixture).len();
        ends.insert((commits % 2, count));
        fill(&fixture, 20..25).await;
        assert_whole(&fixture, 25).await;
        // What is neither served nor wanted is gone: 1 and 2 are the first partitions.
        let (first, second) = (disk.is_dropped(1), disk.is_dropped(2));
        match (commits % 2, count) {
            (0, 3) => assert_ne!(first, second, "{commits}: one of them was split"),
            (1, 2) => assert_eq!((first, second), (false, false), "{commits}"),
            (1, 1) => {
                fixture.until(|_| disk.is_dropped(1) && disk.is_dropped(2)).await;
            }
            other => panic!("{commits}: {other:?}"),
        }
    }
    // The split always happens in the end, because the throughput still asks for it.
    assert!(ends.contains(&(0, 3)) && ends.contains(&(1, 2)) && ends.contains(&(1, 1)), "{ends:?}");
}

#[tokio::test]
async fn a_commit_that_fails_or_is_not_known_anywhere_in_a_split() {
    for fault in [Fault::FailBefore, Fault::UnknownApplied, Fault::UnknownNotApplied] {
        let (mut made, mut kept) = (0, 0);
        for before in 0..14 {
            let disk = Disk::new();
            let fixture = Fixture::on_store(Arc::new(disk.clone()), unthrottled()).await;
            create(&fixture, 400).await;
            fill(&fixture, 0..20).await;
            for _ in 0..before {
                disk.fault.fail_next_commit(Fault::ReportLate { polls: 0 });
            }
            disk.fault.fail_next_commit(fault);
            fixture.engine.split(&fixture.caller, "d", "c", None, None).await.unwrap();
            fixture.until_whole("c").await;
            disk.fault.calm();
            let served = ids(&fixture);
            match (served.as_slice(), figures(&fixture).failed) {
                ([1, 2], None) => made += 1,
                ([0], Some(_)) => kept += 1,
                other => panic!("{fault:?} after {before}: {other:?}"),
            }
            fill(&fixture, 20..30).await;
            assert_whole(&fixture, 30).await;
            // The account agrees.
            let fixture = fixture.reopen().await;
            assert_eq!(ids(&fixture), served, "{fault:?} after {before}");
            assert_whole(&fixture, 30).await;
            // And what failed can be done again.
            if served == [0] {
                split(&fixture, None, None).await;
                assert_whole(&fixture, 30).await;
            }
        }
        assert!(made > 0 && kept > 0, "{fault:?}: made {made}, kept {kept}");
    }
}

#[tokio::test]
async fn a_container_or_database_can_be_deleted_while_it_is_split() {
    for (round, with_database) in (0..24).flat_map(|round| [(round, false), (round, true)]) {
        let disk = Disk::new();
        let fixture = Fixture::on_store(Arc::new(disk.clone()), unthrottled()).await;
        create(&fixture, 400).await;
        fill(&fixture, 0..40).await;
        set_throughput(&fixture, 20_000).await.unwrap();
        for _ in 0..round {
            tokio::task::yield_now().await;
            if round > 12 {
                tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_micros(50))).await.unwrap();
                fixture.clock.advance(Duration::from_millis(10));
            }
        }
        let none = ResourcePrecondition::None;
        if with_database {
            fixture.engine.delete_database(&fixture.caller, "d", none).await.unwrap();
        } else {
            fixture.engine.delete_container(&fixture.caller, "d", "c", none).await.unwrap();
        }
        fixture.until(|_| disk.is_dropped(1)).await;
        // The next start finds nothing to do.
        let fixture = fixture.reopen().await;
        for space in 1..=3 {
            let is_made = disk.memory.open_space(SpaceId(space)).is_ok();
            let is_empty = || {
                let space = disk.memory.open_space(SpaceId(space)).unwrap();
                let scan = armilla_kv::Scan::prefix(armilla_kv::Family::Item, b"");
                space.snapshot().unwrap().scan(&scan).unwrap().entries.is_empty()
            };
            assert!(!is_made || is_empty(), "round {round}: space {space} is left");
        }
        let report = check(&fixture.engine, &mut |_, _| {}).unwrap();
        assert_eq!((report.items, report.problems), (0, vec![]));
    }
}

#[tokio::test]
async fn an_account_can_be_closed_while_a_split_is_on_its_way() {
    for round in 0..12 {
        let fixture = Fixture::new().await;
        create(&fixture, 400).await;
        fill(&fixture, 0..30).await;
        set_throughput(&fixture, 20_000).await.unwrap();
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        fixture.engine.close().await.unwrap();
    }
}
