//! A container on a memory store with simulated time.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use armilla_container::{
    ComputedProperties, Container, ContainerDefinition, ContainerIdentity, ETag, Error, ErrorKind,
    FIRST_MAP_VERSION, Item, KNOWN_LOOKUPS_BYTES, KNOWN_NUMBERS_BYTES, KnownNumbers, Limits, ListRequest,
    ListScope, PartitionMap, Policy, Position, Precondition, Priority, Range, ReadCost, SessionToken,
    ThroughputSource, Transaction, WriteMode, Written, check_partition, initial_ranges,
};
use armilla_env::{Entropy, Env, SeededEntropy, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Batch, Family, Scan, Space, SpaceId, Store, StoreStats};
use armilla_value::rid::{ContainerRid, DatabaseRid};
use armilla_value::{PartitionKey, Value, json};
use bytes::Bytes;
use parking_lot::Mutex;

pub(crate) struct Fixture {
    pub(crate) container: Container,
    pub(crate) clock: Arc<SimulatedClock>,
}

pub(crate) fn definition(text: &str) -> ContainerDefinition {
    ContainerDefinition::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap()
}

pub(crate) fn identity() -> ContainerIdentity {
    ContainerIdentity::new(ContainerRid::new(DatabaseRid::new(1).unwrap(), 1))
}

pub(crate) fn ranges(definition: &ContainerDefinition, throughput: u32, limits: &Limits) -> Vec<Range> {
    let mut space = 0;
    let count = throughput.div_ceil(limits.physical_partition_ru).max(1);
    initial_ranges(count, definition.partition_key.version, 0, 0, || {
        space += 1;
        SpaceId(space)
    })
}

pub(crate) fn open(
    store: Arc<dyn Store>,
    env: Env,
    definition: ContainerDefinition,
    throughput: u32,
    limits: Limits,
) -> Container {
    let ranges = ranges(&definition, throughput, &limits);
    open_ranges(store, env, Arc::new(limits), definition, None, ranges)
}

/// Opens a container that refuses no request.
pub(crate) fn open_ranges(
    store: Arc<dyn Store>,
    env: Env,
    limits: Arc<Limits>,
    definition: ContainerDefinition,
    computed: Option<Arc<dyn ComputedProperties>>,
    ranges: Vec<Range>,
) -> Container {
    let map = PartitionMap { version: FIRST_MAP_VERSION, ranges };
    let policy = Policy { enforced: false, burst: false };
    Container::open(
        store,
        env,
        limits,
        identity(),
        definition,
        computed,
        map,
        ThroughputSource::own(400),
        policy,
        known_numbers(),
        None,
    )
}

pub(crate) fn known_numbers() -> Arc<KnownNumbers> {
    Arc::new(KnownNumbers::new(KNOWN_NUMBERS_BYTES).with_lookups(KNOWN_LOOKUPS_BYTES))
}

impl Fixture {
    pub(crate) fn new(definition_text: &str, throughput: u32, limits: Limits) -> Fixture {
        let (env, clock) = Env::simulated(1);
        let container =
            open(Arc::new(MemoryStore::new()), env, definition(definition_text), throughput, limits);
        Fixture { container, clock }
    }

    /// A container keyed by `/pk` with the default policies.
    pub(crate) fn simple() -> Fixture {
        Fixture::new(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#, 400, Limits::default())
    }

    pub(crate) async fn create(&self, partition_key: &str, body: &str) -> Result<Written, Error> {
        self.write(WriteMode::Create, partition_key, body, Precondition::None).await
    }

    pub(crate) async fn write(
        &self,
        mode: WriteMode,
        partition_key: &str,
        body: &str,
        precondition: Precondition,
    ) -> Result<Written, Error> {
        self.container
            .write_item(mode, &key(partition_key), None, body.as_bytes().into(), precondition, Priority::High)
            .await
    }

    pub(crate) fn read(&self, partition_key: &str, id: &str) -> Result<Item, Error> {
        let session = SessionToken::default();
        let read = self.container.read_item(
            &key(partition_key),
            id,
            None,
            &session,
            ReadCost::Single,
            Priority::High,
        )?;
        Ok(read.item)
    }

    pub(crate) fn etag(&self, item: &Item) -> ETag {
        item.etag(self.container.identity())
    }

    pub(crate) fn check(&self) {
        check(&self.container);
    }
}

/// Fails if anything stored does not agree.
pub(crate) fn check(container: &Container) {
    let ids: Vec<u32> = container.map().ranges.iter().map(|range| range.id).collect();
    for id in ids {
        let summary = check_partition(container, id, &mut |_| {}).unwrap();
        assert!(summary.problems.is_empty(), "{:#?}", summary.problems);
    }
}

pub(crate) fn key(text: &str) -> PartitionKey {
    PartitionKey::from_json(text.as_bytes()).unwrap()
}

pub(crate) fn text(item: &Item) -> String {
    item.stored().text().to_owned()
}

pub(crate) fn value(item: &Item) -> Value {
    item.stored().root().to_value()
}

#[track_caller]
pub(crate) fn refused<T>(result: Result<T, Error>, kind: ErrorKind) -> Error {
    match result {
        Ok(_) => panic!("expected {kind:?}, it went through"),
        Err(error) => {
            assert_eq!(error.kind, kind, "{error}");
            error
        }
    }
}

pub(crate) fn list(container: &Container, scope: ListScope, items_max: usize) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut continuation = None;
    loop {
        let page = container
            .list_items(&ListRequest {
                scope: scope.clone(),
                items_max,
                continuation,
                session: SessionToken::default(),
                cost: ReadCost::Single,
                claim: Priority::High.into(),
            })
            .unwrap();
        let id = |item: &Item| item.stored().root().get("id").unwrap().as_str().unwrap().into_owned();
        pages.push(page.items.iter().map(id).collect());
        continuation = page.continuation;
        if continuation.is_none() {
            return pages;
        }
    }
}

/// A store in front of another that lets a test look at a space without taking it over.
pub(crate) struct GlassStore {
    pub(crate) inner: Arc<dyn Store>,
    spaces: Mutex<HashMap<SpaceId, Arc<dyn Space>>>,
}

impl GlassStore {
    pub(crate) fn new(inner: Arc<dyn Store>) -> GlassStore {
        GlassStore { inner, spaces: Mutex::default() }
    }

    /// Returns everything that is stored.
    pub(crate) fn dump(&self) -> BTreeMap<(u64, u8, Bytes), Bytes> {
        let mut all = BTreeMap::new();
        for (id, space) in &*self.spaces.lock() {
            for family in Family::ALL {
                let entries = scan(space.as_ref(), family);
                all.extend(entries.into_iter().map(|(key, value)| ((id.0, family as u8, key), value)));
            }
        }
        all
    }

    /// Returns the positions of all entries of the change log.
    pub(crate) fn feed(&self) -> Vec<(u64, u16)> {
        // Images lie beside the entries, with longer keys.
        let is_feed = |(_, family, key): &&(u64, u8, Bytes)| *family == Family::Feed as u8 && key.len() == 10;
        let position = |(_, _, key): &(u64, u8, Bytes)| {
            let lsn = u64::from_be_bytes(key[..8].try_into().unwrap());
            (lsn, u16::from_be_bytes(key[8..].try_into().unwrap()))
        };
        self.dump().keys().filter(is_feed).map(position).collect()
    }
}

impl Store for GlassStore {
    fn open_space(&self, space: SpaceId) -> armilla_kv::Result<Arc<dyn Space>> {
        let opened = self.inner.open_space(space)?;
        self.spaces.lock().insert(space, opened.clone());
        Ok(opened)
    }

    fn drop_space(&self, space: SpaceId) -> armilla_kv::Result<()> {
        self.inner.drop_space(space)
    }

    fn snapshot_all(&self) -> armilla_kv::Result<Box<dyn armilla_kv::StoreSnapshot>> {
        self.inner.snapshot_all()
    }

    fn stats(&self) -> StoreStats {
        self.inner.stats()
    }

    fn close(&self) -> armilla_kv::Result<()> {
        self.inner.close()
    }
}

/// A container whose store can be looked into.
pub(crate) struct Glass {
    pub(crate) fixture: Fixture,
    pub(crate) store: Arc<GlassStore>,
}

impl Glass {
    pub(crate) fn new(definition_text: &str, limits: Limits) -> Glass {
        Glass::with(definition_text, 400, limits)
    }

    pub(crate) fn with(definition_text: &str, throughput: u32, limits: Limits) -> Glass {
        let store = Arc::new(GlassStore::new(Arc::new(MemoryStore::new())));
        let (env, clock) = Env::simulated(1);
        let container = open(store.clone(), env, definition(definition_text), throughput, limits);
        Glass { fixture: Fixture { container, clock }, store }
    }
}

/// Returns all that a family of a space holds.
pub(crate) fn scan(space: &dyn Space, family: Family) -> Vec<(Bytes, Bytes)> {
    let snapshot = space.snapshot().unwrap();
    let mut scan = Scan::prefix(family, b"");
    let mut all = Vec::new();
    loop {
        let page = snapshot.scan(&scan).unwrap();
        all.extend(page.entries);
        match all.last() {
            Some((key, _)) if page.more => scan = scan.after(key),
            _ => return all,
        }
    }
}

/// Returns what an entry of the change log carries, and the entry without it, as it is where nothing is carried.
pub(crate) fn carried(entry: &Bytes) -> (Option<Bytes>, Bytes) {
    const FIXED_BYTES: usize = 28;
    let key_bytes = u32::from_be_bytes(entry[FIXED_BYTES - 4..FIXED_BYTES].try_into().unwrap()) as usize;
    let (plain, carried) = (entry.slice(..FIXED_BYTES + key_bytes), entry.slice(FIXED_BYTES + key_bytes..));
    assert_eq!(entry[0], if carried.is_empty() { 2 } else { 3 });
    ((!carried.is_empty()).then_some(carried), [&[2], &plain[1..]].concat().into())
}

/// Makes the counters and sizes of a space those of a program that did not count the bytes of the index: version 1 of
/// the counters was written by programs without one, version 2 by those with one.
pub(crate) async fn make_older(store: &Arc<dyn Store>, space: u64, version: u8) {
    let space = store.open_space(SpaceId(space)).unwrap();
    let mut batch = Batch::new();
    for (key, value) in scan(space.as_ref(), Family::Meta) {
        let without_index = &value[..value.len().saturating_sub(8)];
        match key[0] {
            0 => {
                assert_eq!((value[0], value.len()), (4, 41));
                batch.put(Family::Meta, key, [&[version], &without_index[1..]].concat());
            }
            1 => {
                assert_eq!((value[0], value.len()), (2, 25));
                batch.put(Family::Meta, key, [&[1], &without_index[1..]].concat());
            }
            _ => {}
        }
    }
    space.commit(batch).await.unwrap();
}

/// Runs a transaction as callers do: again and again, until no other writer interferes.
pub(crate) async fn run<T>(
    container: &Container,
    partition_key: &PartitionKey,
    mut script: impl FnMut(&mut Transaction) -> Result<T, Error>,
) -> Result<(T, Position, u32), Error> {
    for attempt in 0.. {
        let mut transaction =
            container.begin(partition_key, attempt, ReadCost::Single, Priority::High).await?;
        let value = script(&mut transaction)?;
        match transaction.commit().await {
            Ok(position) => return Ok((value, position, attempt)),
            Err(error) if error.kind == ErrorKind::Conflict => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("attempts do not run out")
}

/// Choices that follow from a seed.
pub(crate) struct Random(SeededEntropy);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(SeededEntropy::new(seed))
    }

    pub(crate) fn below(&self, end: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % end
    }
}
