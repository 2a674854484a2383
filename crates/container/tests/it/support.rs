//! A container on a memory store with simulated time.

use std::sync::Arc;

use armilla_container::{
    Container, ContainerDefinition, ContainerIdentity, ETag, Error, ErrorKind, Item, Limits, ListRequest,
    ListScope, Precondition, Range, ReadCost, SessionToken, WriteMode, Written, check_partition,
    initial_ranges,
};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{SpaceId, Store};
use armilla_value::rid::{ContainerRid, DatabaseRid};
use armilla_value::{PartitionKey, Value, json};

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
    initial_ranges(throughput, definition.partition_key.version, limits, 0, || {
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
    Container::open(store, env, Arc::new(limits), identity(), definition, None, ranges)
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
        self.container.write_item(mode, &key(partition_key), None, body.as_bytes(), precondition).await
    }

    pub(crate) fn read(&self, partition_key: &str, id: &str) -> Result<Item, Error> {
        let session = SessionToken::default();
        let read = self.container.read_item(&key(partition_key), id, None, &session, ReadCost::Single)?;
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
    let ids: Vec<u32> = container.ranges().map(|range| range.id).collect();
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
