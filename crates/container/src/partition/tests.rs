//! What a partition knows without asking the store.

use armilla_kv::memory::MemoryStore;
use armilla_value::json;
use armilla_value::rid::{ContainerRid, DatabaseRid};

use super::*;
use crate::compiled_definition::CompiledDefinition;
use crate::definition::ContainerDefinition;
use crate::map::ranges::initial_ranges;

fn partition() -> Partition {
    let text = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
    let definition = ContainerDefinition::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap();
    let limits = Limits::default();
    let version = definition.partition_key.version;
    let range = initial_ranges(1, version, 0, 0, || SpaceId(1)).remove(0);
    let rid = ContainerRid::new(DatabaseRid::new(1).unwrap(), 1);
    let (env, _) = Env::simulated(1);
    Partition::open(
        Arc::new(MemoryStore::new()),
        &range,
        Arc::new(ContainerIdentity::new(rid)),
        Arc::new(limits),
        env,
        Arc::new(CurrentDefinition::new(CompiledDefinition::new(
            definition.clone(),
            None,
            &Limits::default(),
        ))),
        Arc::new(Layout::of(&definition)),
        Arc::default(),
        Arc::new(KnownNumbers::new(0)),
    )
    .unwrap()
}

/// A step of a re-indexing changes the index and gives no commit number, so a snapshot with the number of the change may
/// be from before it.
#[test]
fn the_index_of_a_snapshot_is_known_where_the_snapshot_is_surely_newer() {
    let partition = partition();
    // Nothing is stored, so the layout is that of the reader's definition.
    assert!(partition.index_of_snapshot(7).is_none());
    let stored = IndexState { is_stored: true, ..partition.index() };
    partition.set_index(stored.clone(), 5);
    assert!(partition.index_of_snapshot(4).is_none());
    assert!(partition.index_of_snapshot(5).is_none());
    assert!(partition.index_of_snapshot(6).is_some());
    partition.set_index(stored, 6);
    assert!(partition.index_of_snapshot(6).is_none());
}
