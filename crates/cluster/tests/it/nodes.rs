//! What one sees of a few nodes.

use std::sync::Arc;
use std::time::Duration;

use armilla_cluster::{
    Assignment, Board, Coordinator, Host, Member, MemberOptions, Ownership, Partition, PartitionId, Roll,
};
use armilla_env::{Clock, Env, SimulatedClock};
use armilla_lease::{Record, RegisterError};
use futures_util::future::BoxFuture;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use parking_lot::Mutex;

const LENGTH: Duration = Duration::from_secs(6);

struct Count(u64);

impl Roll for Count {
    fn partitions<'a>(&'a self, _: &'a Assignment) -> BoxFuture<'a, Result<Vec<Partition>, RegisterError>> {
        let all = (0..self.0).map(|id| Partition { id: PartitionId(id), load: 0 }).collect();
        Box::pin(std::future::ready(Ok(all)))
    }
}

/// Says what it was told to release, and takes its time for it.
struct Slow {
    clock: Arc<SimulatedClock>,
    released: Mutex<Vec<PartitionId>>,
    takes: Duration,
}

impl Host for Slow {
    fn release(&self, partitions: Vec<PartitionId>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.clock.sleep(self.takes).await;
            self.released.lock().extend(partitions);
        })
    }
}

struct World {
    board: Board,
    objects: Arc<dyn ObjectStore>,
    env: Env,
    clock: Arc<SimulatedClock>,
}

impl World {
    fn new() -> World {
        let (env, clock) = Env::simulated(1);
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        World { board: Board::objects(&objects, &Path::from("c")), objects, env, clock }
    }

    fn host(&self) -> Arc<Slow> {
        Arc::new(Slow { clock: self.clock.clone(), released: Mutex::default(), takes: Duration::ZERO })
    }

    async fn join(&self) -> Member {
        let options = MemberOptions { address: "a:1".to_owned(), version: "1".to_owned(), length: LENGTH };
        Member::join(self.board.clone(), options, &self.env).await.unwrap()
    }

    fn coordinator(&self, of: &Member) -> Coordinator {
        Coordinator::new(self.board.clone(), of.ownership(), LENGTH, &self.env)
    }

    async fn pass(&self, time: Duration) {
        let end = self.clock.elapsed() + time;
        settle().await;
        while self.clock.elapsed() < end {
            self.clock.advance(Duration::from_millis(100));
            settle().await;
        }
    }

    async fn records(&self) -> usize {
        use futures_util::StreamExt as _;
        self.objects.list(Some(&Path::from("c/nodes"))).count().await
    }
}

async fn settle() {
    for _ in 0..60 {
        tokio::task::yield_now().await;
    }
}

fn count(ownership: &Ownership) -> usize {
    ownership.mine().into_iter().filter(|id| ownership.is_mine(*id)).count()
}

#[tokio::test]
async fn partitions_are_given_and_what_a_newcomer_gets_was_released_before() {
    let world = World::new();
    let (roll, host) = (Count(4), world.host());
    let mut first = world.join().await;
    let mut coordinator = world.coordinator(&first);
    assert_eq!(coordinator.round(&roll).await.unwrap(), Some(1));
    assert_eq!(count(&first.ownership()), 0);
    assert!(first.look(&*host).await.unwrap());
    assert_eq!(count(&first.ownership()), 4);
    settle().await;
    assert_eq!(coordinator.round(&roll).await.unwrap(), None);
    let mut second = world.join().await;
    assert_eq!(coordinator.round(&roll).await.unwrap(), Some(2));
    second.look(&*host).await.unwrap();
    // The first does not know yet, and the second has nothing.
    assert_eq!((count(&first.ownership()), count(&second.ownership())), (4, 0));
    settle().await;
    assert_eq!(coordinator.round(&roll).await.unwrap(), None);
    first.look(&*host).await.unwrap();
    assert_eq!((count(&first.ownership()), host.released.lock().len()), (2, 2));
    settle().await;
    assert_eq!(coordinator.round(&roll).await.unwrap(), Some(3));
    second.look(&*host).await.unwrap();
    assert_eq!((count(&first.ownership()), count(&second.ownership())), (2, 2));
    let (owner, node) = second.ownership().owner_of(first.ownership().mine()[0]).unwrap();
    assert_eq!((&owner, node.address.as_str()), (first.ownership().node(), "a:1"));
}

/// A look that was dropped while partitions were released had forgotten them: nothing said that they were free.
#[tokio::test]
async fn a_look_that_is_dropped_is_finished_by_the_next() {
    let world = World::new();
    let roll = Count(2);
    let host = Slow { clock: world.clock.clone(), released: Mutex::default(), takes: Duration::from_secs(1) };
    let mut first = world.join().await;
    let mut coordinator = world.coordinator(&first);
    coordinator.round(&roll).await.unwrap();
    first.look(&host).await.unwrap();
    let mut second = world.join().await;
    coordinator.round(&roll).await.unwrap();
    {
        let look = first.look(&host);
        tokio::pin!(look);
        tokio::select! {
            biased;
            _ = &mut look => panic!("it did not wait"),
            () = settle() => {}
        }
    }
    assert_eq!(count(&first.ownership()), 1);
    assert_eq!(coordinator.round(&roll).await.unwrap(), None);
    let look = async { first.look(&host).await.unwrap() };
    let (is_new, ()) = tokio::join!(look, world.pass(Duration::from_secs(2)));
    assert!(is_new);
    assert_eq!(host.released.lock().len(), 1);
    assert_eq!(coordinator.round(&roll).await.unwrap(), Some(3));
    second.look(&host).await.unwrap();
    assert_eq!(count(&second.ownership()), 1);
}

#[tokio::test]
async fn what_a_dead_node_had_is_served_again_and_its_record_goes() {
    let world = World::new();
    let (roll, host) = (Arc::new(Count(8)), world.host());
    let (first, mut second) = (world.join().await, world.join().await);
    let coordinator = world.coordinator(&second);
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn({
        let roll = roll.clone();
        async move { coordinator.run(&*roll, async { drop(ended.await) }).await }
    });
    let (one, two) = (first.ownership(), second.ownership());
    let run = |mut member: Member| {
        let host = host.clone();
        tokio::spawn(async move { member.run(&*host).await })
    };
    let first = run(first);
    let run_second = async {
        tokio::select! {
            () = second.run(&*host) => panic!("it has not ended"),
            () = world.pass(Duration::from_secs(5)) => {}
        }
    };
    run_second.await;
    assert_eq!((count(&one), count(&two)), (4, 4));
    // It dies: its lease and a tenth, and a few looks.
    first.abort();
    let dead = world.clock.elapsed();
    let served = async {
        while count(&two) < 8 {
            world.pass(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        () = second.run(&*host) => panic!("it has not ended"),
        () = served => {}
    }
    let took = world.clock.elapsed() - dead;
    assert!(took > Duration::from_millis(4_500) && took < Duration::from_secs(10), "{took:?}");
    assert_eq!(count(&one), 0);
    tokio::select! {
        () = second.run(&*host) => panic!("it has not ended"),
        () = world.pass(Duration::from_secs(5)) => {}
    }
    assert_eq!(world.records().await, 1);
    // One that ends leaves nothing behind but a record that is removed by the next.
    second.end().await;
    assert_eq!(count(&two), 0);
    world.pass(Duration::from_secs(5)).await;
    assert_eq!(world.records().await, 0);
    end.send(()).unwrap();
    world.pass(Duration::from_secs(1)).await;
    assert!(running.is_finished());
    // The turn was given up, and nothing is kept of those that ended.
    let record = world.objects.get(&Path::from("c/coordinator")).await.unwrap().bytes().await.unwrap();
    assert!(Record::decode(&record).unwrap().is_released);
}

#[tokio::test]
async fn an_assignment_that_cannot_be_read_changes_nothing() {
    let world = World::new();
    let (roll, host) = (Count(2), world.host());
    let mut first = world.join().await;
    let mut coordinator = world.coordinator(&first);
    coordinator.round(&roll).await.unwrap();
    first.look(&*host).await.unwrap();
    let path = Path::from("c/assignment");
    let good = world.objects.get(&path).await.unwrap().bytes().await.unwrap();
    world.objects.put(&path, good.slice(..good.len() - 1).into()).await.unwrap();
    let refused = first.look(&*host).await.unwrap_err().to_string();
    assert!(refused.contains("damaged, or was written by a later version"), "{refused}");
    assert!(coordinator.round(&roll).await.is_err());
    assert_eq!(count(&first.ownership()), 2);
}

#[tokio::test]
async fn nodes_of_one_machine_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let board = Board::folder(folder.path()).unwrap();
    let env = Env::system();
    let roll = Count(6);
    let host = World::new().host();
    let options = || MemberOptions { address: "a:1".to_owned(), version: "1".to_owned(), length: LENGTH };
    let mut first = Member::join(board.clone(), options(), &env).await.unwrap();
    let mut second = Member::join(board.clone(), options(), &env).await.unwrap();
    let mut coordinator = Coordinator::new(board, first.ownership(), LENGTH, &env);
    assert_eq!(coordinator.round(&roll).await.unwrap(), Some(1));
    first.look(&*host).await.unwrap();
    second.look(&*host).await.unwrap();
    assert_eq!((count(&first.ownership()), count(&second.ownership())), (3, 3));
    first.end().await;
    assert_eq!(coordinator.round(&roll).await.unwrap(), Some(2));
    second.look(&*host).await.unwrap();
    assert_eq!(count(&second.ownership()), 6);
    let bytes = std::fs::read(folder.path().join("assignment")).unwrap();
    assert_eq!(Assignment::decode(&bytes).unwrap().epoch, 2);
}
