//! A process among others that are made up, on a store in memory with simulated time: callers that go away in the middle of
//! a change, a tree that goes to another process, a copy that is not trusted any more.

use std::sync::atomic::AtomicBool;

use armilla_container::{ContainerDefinition, Peer};
use armilla_env::SimulatedClock;
use armilla_kv::memory::MemoryStore;
use armilla_kv::{
    self as kv, Batch, CommitFuture, Family, Page, Scan, Snapshot, Space, StoreSnapshot, StoreStats,
};
use armilla_value::{HashedKey, PartitionKey, json};
use tokio::sync::watch;

use super::*;
use crate::containers::ContainerHandle;
use crate::neighbours::{NodeFigures, NodeStatus};
use crate::{
    Caller, EngineOptions, Policy, Precondition, QueryRequest, ResourcePrecondition, Triggers, WriteMode,
};

/// The only node, which has everything unless it is told otherwise.
#[derive(Default)]
struct Alone {
    is_invalid: AtomicBool,
    /// Whether no node has the partitions of containers.
    has_lost: AtomicBool,
    /// A space that no node has.
    lost: AtomicU64,
    /// How often another node has had the root space and given it back; odd while it has it.
    root_moves: AtomicU64,
}

impl Peers for Alone {
    fn find(&self, space: SpaceId) -> Whereabouts {
        if space == ROOT_SPACE {
            let moves = self.root_moves.load(Ordering::Acquire);
            return if moves.is_multiple_of(2) {
                Whereabouts::Here { since: 1 + moves }
            } else {
                Whereabouts::Nowhere
            };
        }
        let is_lost = self.has_lost.load(Ordering::Acquire) || space.0 == self.lost.load(Ordering::Acquire);
        match is_lost {
            true => Whereabouts::Nowhere,
            false => Whereabouts::Here { since: 1 },
        }
    }

    fn changed(&self) -> PeerFuture<()> {
        Box::pin(std::future::ready(()))
    }

    fn is_ending(&self) -> bool {
        false
    }

    fn settle(&self) -> PeerFuture<std::result::Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Nodes for Alone {
    fn name(&self) -> String {
        "a".to_owned()
    }

    fn living(&self) -> Vec<String> {
        vec![self.name()]
    }

    fn partitions_added(&self) {}

    fn is_valid(&self) -> bool {
        !self.is_invalid.load(Ordering::Acquire)
    }

    fn bring(&self, _: &[SpaceId], _: &str) {}

    fn table(&self) -> Vec<NodeStatus> {
        Vec::new()
    }

    fn peer(&self, _: &str) -> Option<Arc<dyn Peer>> {
        None
    }

    fn figures(&self) -> NodeFigures {
        NodeFigures::default()
    }

    fn drain(&self, _: &str) {}
}

/// A store in memory that says late what was stored in the root space, and whose snapshots can go elsewhere.
struct HeldStore {
    inner: Arc<dyn Store>,
    state: Arc<State>,
}

struct State {
    is_held: watch::Sender<bool>,
    /// Whether spaces of containers take long to open, and who waits for them.
    is_slow: Mutex<bool>,
    is_quick: parking_lot::Condvar,
    /// How many have begun to open.
    openings: AtomicU64,
    /// Reads that fail because another process has the space.
    moved_reads: AtomicU64,
}

struct HeldSpace {
    inner: Arc<dyn Space>,
    state: Arc<State>,
    is_root: bool,
}

struct HeldSnapshot {
    inner: Box<dyn Snapshot>,
    state: Arc<State>,
}

impl HeldStore {
    fn new() -> Arc<HeldStore> {
        let state = State {
            is_held: watch::Sender::new(false),
            is_slow: Mutex::new(false),
            is_quick: parking_lot::Condvar::new(),
            openings: AtomicU64::new(0),
            moved_reads: AtomicU64::new(0),
        };
        Arc::new(HeldStore { inner: Arc::new(MemoryStore::new()), state: Arc::new(state) })
    }

    fn open_slowly(&self, is_slow: bool) {
        *self.state.is_slow.lock() = is_slow;
        self.state.is_quick.notify_all();
    }

    fn hold(&self, is_held: bool) {
        self.state.is_held.send_replace(is_held);
    }
}

impl Store for HeldStore {
    fn open_space(&self, space: SpaceId) -> kv::Result<Arc<dyn Space>> {
        if space != ROOT_SPACE {
            self.state.openings.fetch_add(1, Ordering::AcqRel);
            let mut is_slow = self.state.is_slow.lock();
            self.state.is_quick.wait_while(&mut is_slow, |is_slow| *is_slow);
        }
        let inner = self.inner.open_space(space)?;
        Ok(Arc::new(HeldSpace { inner, state: self.state.clone(), is_root: space == ROOT_SPACE }))
    }

    fn drop_space(&self, space: SpaceId) -> kv::Result<()> {
        self.inner.drop_space(space)
    }

    fn snapshot_all(&self) -> kv::Result<Box<dyn StoreSnapshot>> {
        self.inner.snapshot_all()
    }

    fn stats(&self) -> StoreStats {
        self.inner.stats()
    }

    fn is_current(&self) -> bool {
        self.inner.is_current()
    }

    fn close(&self) -> kv::Result<()> {
        self.inner.close()
    }
}

impl Space for HeldSpace {
    fn get(&self, family: Family, key: &[u8]) -> kv::Result<Option<Bytes>> {
        self.inner.get(family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> kv::Result<Vec<Option<Bytes>>> {
        self.inner.multi_get(family, keys)
    }

    fn snapshot(&self) -> kv::Result<Box<dyn Snapshot>> {
        let inner = self.inner.snapshot()?;
        match self.is_root {
            true => Ok(inner),
            false => Ok(Box::new(HeldSnapshot { inner, state: self.state.clone() })),
        }
    }

    fn commit(&self, batch: Batch) -> CommitFuture {
        let done = self.inner.commit(batch);
        let mut held = self.state.is_held.subscribe();
        let is_root = self.is_root;
        Box::pin(async move {
            if is_root {
                let _ = held.wait_for(|is_held| !*is_held).await;
            }
            done.await
        })
    }
}

impl HeldSnapshot {
    fn check(&self) -> kv::Result<()> {
        let take = |left: u64| left.checked_sub(1);
        match self.state.moved_reads.fetch_update(Ordering::AcqRel, Ordering::Acquire, take) {
            Ok(_) => Err(kv::Error::new(kv::ErrorKind::Elsewhere, "another node has it")),
            Err(_) => Ok(()),
        }
    }
}

impl Snapshot for HeldSnapshot {
    fn get(&self, family: Family, key: &[u8]) -> kv::Result<Option<Bytes>> {
        self.check()?;
        self.inner.get(family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> kv::Result<Vec<Option<Bytes>>> {
        self.check()?;
        self.inner.multi_get(family, keys)
    }

    fn scan(&self, scan: &Scan) -> kv::Result<Page> {
        self.check()?;
        self.inner.scan(scan)
    }
}

struct Fixture {
    among: Arc<Among>,
    engine: Engine,
    nodes: Arc<Alone>,
    store: Arc<HeldStore>,
    clock: Arc<SimulatedClock>,
    caller: Caller,
}

impl Fixture {
    async fn new() -> Fixture {
        let (env, clock) = Env::simulated(1);
        let (store, nodes) = (HeldStore::new(), Arc::new(Alone::default()));
        let among = Among::new(store.clone(), env.clone(), nodes.clone());
        let policy = Policy { enforced: false, burst: false };
        let options = EngineOptions { policy, ..EngineOptions::default() };
        let engine = Engine::open_among(among.clone(), store.clone(), env, options).await.unwrap();
        Fixture { among, engine, nodes, store, clock, caller: Caller::full() }
    }

    /// Lets time pass, and others do what they want meanwhile.
    async fn pass(&self, time: Duration) {
        let end = self.clock_now() + time;
        while self.clock_now() < end {
            self.clock.advance(Duration::from_millis(50));
            turns().await;
        }
    }

    fn clock_now(&self) -> Duration {
        use armilla_env::Clock;
        self.clock.elapsed()
    }

    async fn container(&self, definition: &str) -> Arc<ContainerHandle> {
        let _ = self.engine.create_database(&self.caller, "d", None).await;
        let definition = json::parse(definition.as_bytes()).unwrap();
        let definition = ContainerDefinition::from_value(&definition).unwrap();
        self.engine.create_container(&self.caller, "d", definition, None).await.unwrap();
        self.engine.container("d", "c").unwrap().container
    }

    /// Writes an item. Returns its commit.
    async fn write(&self, container: &Arc<ContainerHandle>) -> u64 {
        let key = PartitionKey::from_json(br#"["p"]"#).unwrap();
        let body = br#"{"id":"1","pk":"p"}"#.as_slice();
        let (mode, free, none) = (WriteMode::Upsert, Precondition::None, Triggers::default());
        let written =
            self.engine.write_item(&self.caller, container, mode, Some(&key), body.into(), free, &none).await;
        written.unwrap().position.lsn
    }
}

async fn turns() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    // Threads that may block have their turn, too.
    tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_micros(100))).await.unwrap();
}

/// A keeper whose tree a process of this name is about to change.
async fn keeper(store: &Arc<HeldStore>) -> (Arc<Keeper>, Arc<dyn Nodes>, Arc<()>) {
    let (env, _clock) = Env::simulated(1);
    let keeper = Arc::new(Keeper::new(store.clone(), env));
    let (nodes, life): (Arc<dyn Nodes>, Arc<()>) = (Arc::new(Alone::default()), Arc::default());
    keeper.open(nodes.as_ref()).await.unwrap();
    keeper.take_turn(nodes.as_ref(), 1, "a", &life).await;
    (keeper, nodes, life)
}

fn records() -> Vec<Written> {
    vec![(Bytes::from_static(b"zkey"), Some(Bytes::from_static(b"value")))]
}

/// Has it store the records for a caller of its own.
fn storing(
    keeper: &Arc<Keeper>,
    nodes: &Arc<dyn Nodes>,
    life: &Arc<()>,
) -> tokio::task::JoinHandle<Result<u64>> {
    let (keeper, nodes, life) = (keeper.clone(), nodes.clone(), life.clone());
    tokio::spawn(async move { keeper.store(nodes, 1, &life, "a".to_owned(), records()).await })
}

#[tokio::test]
async fn what_is_stored_is_told_though_its_caller_has_gone() {
    let store = HeldStore::new();
    let (keeper, nodes, life) = keeper(&store).await;
    store.hold(true);
    let caller = storing(&keeper, &nodes, &life);
    turns().await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    keeper.end_turn(1, &life);
    let (other, settling) = (Arc::new(()), keeper.clone());
    let settled = tokio::spawn(async move { settling.settle("a").await });
    let (next, of) = (keeper.clone(), nodes.clone());
    let turn = tokio::spawn(async move { next.take_turn(of.as_ref(), 2, "b", &other).await });
    turns().await;
    assert!(!settled.is_finished(), "it is not known yet whether it is stored");
    assert!(!turn.is_finished(), "another would change what this one is changing");
    store.hold(false);
    settled.await.unwrap();
    turn.await.unwrap();
    let news = keeper.news(0, 0).unwrap();
    assert_eq!(news.number, 1);
    assert!(news.records.contains(&records()[0]));
}

#[tokio::test]
async fn what_may_be_stored_is_not_said_to_be_undone() {
    let store = HeldStore::new();
    let (keeper, nodes, life) = keeper(&store).await;
    store.hold(true);
    let caller = storing(&keeper, &nodes, &life);
    turns().await;
    keeper.release().await;
    store.hold(false);
    assert_eq!(caller.await.unwrap().unwrap_err().kind, ErrorKind::OutcomeUnknown);
    keeper.open(nodes.as_ref()).await.unwrap();
    assert!(keeper.news(0, 0).unwrap().records.contains(&records()[0]));
}

#[tokio::test]
async fn a_turn_ends_where_the_tree_goes_to_another() {
    let store = HeldStore::new();
    let (keeper, nodes, life) = keeper(&store).await;
    keeper.release().await;
    keeper.open(nodes.as_ref()).await.unwrap();
    let late = storing(&keeper, &nodes, &life).await.unwrap();
    assert_eq!(late.unwrap_err().kind, ErrorKind::Unavailable);
    // Its end was said while no node could hear it.
    let other = Arc::new(());
    keeper.take_turn(nodes.as_ref(), 2, "b", &other).await;
}

/// A process that waited for a change to be known opened the root space again after another process had been given it. It
/// kept what it read then, and when the space came back told everybody to go back to that: containers that were made in
/// between were dropped.
#[tokio::test]
async fn what_was_kept_before_another_had_the_tree_is_not_told() {
    let store = HeldStore::new();
    let (env, _clock) = Env::simulated(1);
    let keeper = Keeper::new(store.clone(), env);
    let nodes = Alone::default();
    keeper.open(&nodes).await.unwrap();
    nodes.root_moves.fetch_add(1, Ordering::AcqRel);
    keeper.release().await;
    let late = keeper.open(&nodes).await;
    assert_eq!(late.unwrap_err().kind, ErrorKind::Unavailable);
    // The other makes a container.
    let (key, value) = records()[0].clone();
    let mut batch = Batch::new();
    batch.put(Family::Meta, key, value.unwrap());
    store.open_space(ROOT_SPACE).unwrap().commit(batch).await.unwrap();
    nodes.root_moves.fetch_add(1, Ordering::AcqRel);
    keeper.open(&nodes).await.unwrap();
    assert!(keeper.news(0, 0).unwrap().records.contains(&records()[0]));
    // Gone and back before it was told to let go.
    let epoch = keeper.news(0, 0).unwrap().epoch;
    nodes.root_moves.fetch_add(2, Ordering::AcqRel);
    keeper.open(&nodes).await.unwrap();
    assert_ne!(keeper.news(0, 0).unwrap().epoch, epoch);
}

#[tokio::test]
async fn a_change_is_shown_though_its_caller_has_gone() {
    let fixture = Fixture::new().await;
    fixture.store.hold(true);
    let (engine, caller) = (fixture.engine.clone(), fixture.caller.clone());
    let creating = tokio::spawn(async move { engine.create_database(&caller, "d", None).await.map(|_| ()) });
    fixture.pass(Duration::from_millis(200)).await;
    creating.abort();
    assert!(creating.await.unwrap_err().is_cancelled());
    fixture.store.hold(false);
    fixture.pass(Duration::from_secs(2)).await;
    fixture.engine.read_database(&fixture.caller, "d", None).unwrap();
    let again = fixture.engine.create_database(&fixture.caller, "d", None).await;
    assert!(matches!(again.map(|_| ()).unwrap_err().kind, ErrorKind::AlreadyExists(_)));
}

#[tokio::test]
async fn definitions_that_may_be_old_are_not_acted_by() {
    let fixture = Fixture::new().await;
    let container = fixture.container(r#"{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":2}"#).await;
    fixture.write(&container).await;
    fixture.nodes.is_invalid.store(true, Ordering::Release);
    fixture.pass(Duration::from_secs(10)).await;
    assert_eq!(container.stored().unwrap().items, 1, "it may not expire any more");
    const OPEN: u8 = 12;
    const UNLOCK: u8 = 17;
    let ask = |kind: u8| {
        let mut out = request(TO_CONTAINER);
        out.u64(u64::from_be_bytes(container.rid().to_bytes()));
        let range = container.container().map().ranges[0].clone();
        out.u32(range.id);
        out.u64(range.space.0);
        out.u8(kind);
        if kind == UNLOCK {
            out.u64(7);
        }
        fixture.among.clone().serve(Arc::default(), out.finish())
    };
    assert_eq!(ask(OPEN).await, not_here());
    assert_ne!(ask(UNLOCK).await, not_here(), "a lock that is given back must not stay");
    fixture.nodes.is_invalid.store(false, Ordering::Release);
    assert_ne!(ask(OPEN).await, not_here());
    fixture.pass(Duration::from_secs(5)).await;
    assert_eq!(container.stored().unwrap().items, 0);
}

#[tokio::test]
async fn a_page_that_finds_its_partition_gone_is_begun_anew() {
    let fixture = Fixture::new().await;
    let container = fixture.container(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).await;
    fixture.write(&container).await;
    fixture.store.state.moved_reads.store(1, Ordering::Release);
    let page = fixture
        .engine
        .query_items(&fixture.caller, &container, QueryRequest::new("SELECT VALUE c.id FROM c"))
        .await
        .unwrap();
    assert_eq!(page.rows, br#""1""#);
    assert_eq!(fixture.store.state.moved_reads.load(Ordering::Acquire), 0);
}

/// A write that came while its partition was being opened asked again and again without letting go of its thread. As many
/// of them as there are threads kept a node from doing anything else, the answers that the opening waited for among it.
#[tokio::test]
async fn writes_let_others_go_on_while_their_partition_is_opened() {
    let fixture = Fixture::new().await;
    let container = fixture.container(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).await;
    fixture.write(&container).await;
    let space = container.container().map().ranges[0].space;
    container.container().release(&[space]).await;
    let opened = fixture.store.state.openings.load(Ordering::Acquire);
    fixture.store.open_slowly(true);
    let write = || {
        let (engine, container, caller) = (fixture.engine.clone(), container.clone(), fixture.caller.clone());
        async move {
            let key = PartitionKey::from_json(br#"["p"]"#).unwrap();
            let body = br#"{"id":"1","pk":"p"}"#.as_slice();
            let (mode, free, none) = (WriteMode::Upsert, Precondition::None, Triggers::default());
            let body = armilla_container::ItemBody::from(Bytes::from_static(body));
            engine.write_item(&caller, &container, mode, Some(&key), body, free, &none).await.map(|_| ())
        }
    };
    let first = write();
    let first = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(first)
    });
    while fixture.store.state.openings.load(Ordering::Acquire) == opened {
        tokio::task::yield_now().await;
    }
    let second = tokio::spawn(write());
    turns().await;
    assert!(!second.is_finished());
    fixture.store.open_slowly(false);
    second.await.unwrap().unwrap();
    tokio::task::spawn_blocking(move || first.join().unwrap()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_container_that_cannot_be_asked_is_left_far_behind() {
    for has_lost in [false, true] {
        let fixture = Fixture::new().await;
        let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
        let container = fixture.container(definition).await;
        let seen = fixture.write(&container).await;
        fixture.nodes.has_lost.store(has_lost, Ordering::Release);
        let (engine, caller) = (fixture.engine.clone(), fixture.caller.clone());
        let none = ResourcePrecondition::default();
        let deleting =
            tokio::spawn(async move { engine.delete_database(&caller, "d", none).await.map(|_| ()) });
        while !deleting.is_finished() {
            fixture.pass(Duration::from_millis(250)).await;
        }
        deleting.await.unwrap().unwrap();
        fixture.nodes.has_lost.store(false, Ordering::Release);
        let container = fixture.container(definition).await;
        let next = fixture.write(&container).await;
        assert!(next >= seen + (1 << if has_lost { 40 } else { 30 }), "{next} behind {seen}");
    }
}

#[tokio::test]
async fn a_split_waits_for_a_partition_that_is_on_its_way() {
    let fixture = Fixture::new().await;
    let container = fixture.container(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).await;
    fixture.write(&container).await;
    let parent = container.container().map().ranges[0].clone();
    let cut = HashedKey::from_hex("20").unwrap();
    container.reshape_by_command(vec![parent.id], Some(cut)).unwrap();
    fixture.nodes.lost.store(parent.space.0, Ordering::Release);
    fixture.pass(Duration::from_secs(2)).await;
    assert_eq!(container.container().map().ranges.len(), 1);
    fixture.nodes.lost.store(ROOT_SPACE.0, Ordering::Release);
    fixture.pass(Duration::from_secs(2)).await;
    assert_eq!(container.container().map().ranges.len(), 2, "it was given up");
    assert_eq!(container.stored().unwrap().items, 1);
}
