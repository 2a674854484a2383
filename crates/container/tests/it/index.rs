//! The index: maintained with every write, read as of one moment, verified.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use armilla_container::{
    ComputedProperties, Container, ContainerDefinition, Limits, ListScope, Operation, PartitionReader,
    Precondition, Priority, SessionToken, WriteMode, check_partition,
};
use armilla_env::Env;
use armilla_index::paths::{PathSegment, PropertyRoute};
use armilla_index::{IndexId, TermRange, split_entry, term};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Batch, Direction, Family, Scan, SpaceId, Store};
use armilla_value::{Node, Value};

use crate::support::{check, definition, key, open_ranges, ranges, scan};

pub(crate) fn path(text: &str) -> Vec<PathSegment> {
    PropertyRoute::parse(text).unwrap().segments().to_vec()
}

pub(crate) fn with_policy(policy: &str) -> ContainerDefinition {
    definition(&format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"indexingPolicy":{policy}}}"#))
}

/// Opens a container of one or more partitions on a store that may hold it already.
pub(crate) fn open(
    store: &Arc<dyn Store>,
    definition: ContainerDefinition,
    computed: Option<Arc<dyn ComputedProperties>>,
    throughput: u32,
) -> Container {
    let limits = Limits::default();
    let ranges = ranges(&definition, throughput, &limits);
    let env = Env::simulated(1).0;
    open_ranges(store.clone(), env, Arc::new(limits), definition, computed, ranges)
}

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

pub(crate) async fn upsert(container: &Container, pk: &str, body: &str) {
    let key = key(&format!("[{pk}]"));
    container
        .write_item(WriteMode::Upsert, &key, None, body.as_bytes().into(), Precondition::None, Priority::High)
        .await
        .unwrap();
}

pub(crate) async fn delete(container: &Container, pk: &str, id: &str) -> bool {
    container.delete_item(&key(&format!("[{pk}]")), id, Precondition::None, Priority::High).await.is_ok()
}

pub(crate) async fn reindex(container: &Container) -> usize {
    let mut steps = 1;
    while container.reindex_step().await.unwrap() {
        steps += 1;
    }
    assert!(!container.needs_reindex());
    assert_eq!(container.index_progress().unwrap(), 100);
    steps
}

pub(crate) fn readers(container: &Container) -> Vec<PartitionReader> {
    container.readers(&ListScope::All, &SessionToken::default()).unwrap()
}

pub(crate) fn reader(container: &Container) -> PartitionReader {
    readers(container).pop().unwrap()
}

/// All terms of an index with their item numbers, read in small pages.
pub(crate) fn entries(reader: &PartitionReader, index: IndexId, range: TermRange<'_>) -> Vec<(Vec<u8>, u64)> {
    let mut keys = Vec::new();
    let mut range = range.span(index).range;
    while reader.entries(&range, Direction::Forward, 3, &mut keys).unwrap() {
        range.lower = std::ops::Bound::Excluded(keys.last().unwrap().clone());
    }
    let split = keys.iter().map(|key| split_entry(key).unwrap());
    split
        .map(|(own, term, number)| {
            assert_eq!(own, index);
            (term.to_vec(), number)
        })
        .collect()
}

pub(crate) fn ids(reader: &PartitionReader, numbers: &[u64]) -> Vec<Option<String>> {
    let mut items = Vec::new();
    reader.load(numbers, &mut items).unwrap();
    let id = |item: armilla_container::Item| {
        item.stored().root().get("id").unwrap().as_str().unwrap().into_owned()
    };
    items.into_iter().map(|item| item.map(id)).collect()
}

/// The ids of the items that an index finds.
pub(crate) fn find(container: &Container, index: &str, range: TermRange<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for reader in readers(container) {
        let numbers: Vec<u64> = entries(&reader, IndexId::of_path(&path(index)), range)
            .iter()
            .map(|(_, number)| *number)
            .collect();
        found.extend(ids(&reader, &numbers).into_iter().flatten());
    }
    found
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[tokio::test]
async fn entries_follow_the_items() {
    let container = open(&memory(), with_policy("{}"), None, 400);
    upsert(&container, "1", r#"{"id":"a","pk":1,"n":1,"tags":["x","y"],"o":{"k":[{"z":1}]}}"#).await;
    upsert(&container, "1", r#"{"id":"b","pk":1,"n":1.0,"tags":["y"]}"#).await;
    upsert(&container, "2", r#"{"id":"c","pk":2,"n":"1","o":{"k":[{"z":1.0}]}}"#).await;
    let equal = |value: Value| value;
    let (one, y) = (equal(Value::Int64(1)), Value::from("y"));
    assert_eq!(find(&container, "/n", TermRange::Equal(&one)), set(&["a", "b"]));
    assert_eq!(find(&container, "/n", TermRange::STRINGS), set(&["c"]));
    assert_eq!(find(&container, "/tags/[]", TermRange::Equal(&y)), set(&["a", "b"]));
    assert_eq!(find(&container, "/o/k/[]/z", TermRange::Equal(&one)), set(&["a", "c"]));
    let object = armilla_value::json::parse(br#"{"z":1}"#).unwrap();
    assert_eq!(find(&container, "/o/k/[]", TermRange::Equal(&object)), set(&["a", "c"]));
    assert_eq!(find(&container, "/_ts", TermRange::NUMBERS), set(&["a", "b", "c"]));
    upsert(&container, "1", r#"{"id":"a","pk":1,"n":2,"tags":["x"]}"#).await;
    assert!(delete(&container, "1", "b").await);
    assert_eq!(find(&container, "/n", TermRange::Equal(&one)), set(&[]));
    assert_eq!(find(&container, "/n", TermRange::NUMBERS), set(&["a"]));
    assert_eq!(find(&container, "/tags/[]", TermRange::All), set(&["a"]));
    assert_eq!(find(&container, "/o/k/[]", TermRange::Equal(&object)), set(&["c"]));
    let reader = reader(&container);
    for (index, count, name) in [("/n", 2, "/n/?"), ("/tags/[]", 1, "/tags/[]/?"), ("/id", 2, "/id/?")] {
        let id = IndexId::of_path(&path(index));
        assert_eq!(reader.index_entries(id).unwrap(), count, "{index}");
        assert_eq!(reader.index_name(id).unwrap().as_deref(), Some(name), "{index}");
    }
    assert_eq!(reader.index_entries(IndexId(1)).unwrap(), 0);
    assert_eq!(reader.index_name(IndexId(1)).unwrap(), None);
    check(&container);
}

#[tokio::test]
async fn patches_and_repeated_writes_in_one_group() {
    let container = Arc::new(open(&memory(), with_policy("{}"), None, 400));
    // All queued before the committer runs, so that they share groups.
    let writes = (0..200).map(|n| {
        let container = container.clone();
        async move {
            if n % 7 == 6 {
                delete(&container, "1", "a").await;
            } else {
                let text =
                    format!(r#"{{"id":"a","pk":1,"n":{},"t":[{},{}],"x{}":1}}"#, n % 3, n, n + 1, n % 5);
                upsert(&container, "1", &text).await;
            }
        }
    });
    let tasks: Vec<_> = writes.map(tokio::spawn).collect();
    for task in tasks {
        task.await.unwrap();
    }
    let target = armilla_container::Pointer::parse("/n").unwrap();
    let set_text = Operation::Set { path: target, value: Value::from("patched") };
    let patch = armilla_container::Patch::new(vec![set_text], 64).unwrap();
    container.patch_item(&key("[1]"), "a", patch, Precondition::None, Priority::High).await.unwrap();
    assert_eq!(find(&container, "/n", TermRange::STRINGS), set(&["a"]));
    check(&container);
}

#[tokio::test]
async fn a_reader_sees_one_moment() {
    let container = open(&memory(), with_policy("{}"), None, 400);
    for n in 0..5 {
        upsert(&container, "1", &format!(r#"{{"id":"{n}","pk":1,"v":"old"}}"#)).await;
    }
    let reader = reader(&container);
    upsert(&container, "1", r#"{"id":"0","pk":1,"v":"new"}"#).await;
    assert!(delete(&container, "1", "1").await);
    assert!(delete(&container, "1", "2").await);
    upsert(&container, "1", r#"{"id":"2","pk":1,"v":"again"}"#).await;
    upsert(&container, "1", r#"{"id":"9","pk":1,"v":"new"}"#).await;
    let mut items = Vec::new();
    reader.load(&[1, 2, 3, 4, 5, 6, 7, 99], &mut items).unwrap();
    let shown: Vec<_> =
        items.iter().map(|item| item.as_ref().map(|item| item.stored().text().to_owned())).collect();
    for (n, text) in shown[..5].iter().enumerate() {
        assert_eq!(text.as_deref(), Some(&*format!(r#"{{"id":"{n}","pk":1,"v":"old"}}"#)));
    }
    assert_eq!(shown[5..], [None, None, None]);
    assert_eq!((reader.item_count(), reader.position().lsn), (5, 5));
    let index = IndexId::of_path(&path("/v"));
    let old = Value::from("old");
    assert_eq!(entries(&reader, index, TermRange::Equal(&old)).len(), 5);
    assert_eq!(reader.index_entries(index).unwrap(), 5);
    let range = TermRange::Equal(&old).span(index).range;
    assert_eq!(reader.count_entries(&range, u64::MAX).unwrap(), 5);
    assert_eq!(reader.count_entries(&range, 3).unwrap(), 3);
    let mut of_entries = Vec::new();
    assert!(reader.entry_numbers(&range, 3, &mut of_entries).unwrap().is_some());
    assert_eq!(of_entries, [1, 2, 3]);
    of_entries.clear();
    assert!(reader.entry_numbers(&range, 6, &mut of_entries).unwrap().is_none());
    assert_eq!(of_entries, [1, 2, 3, 4, 5]);
    let mut numbers = Vec::new();
    assert!(reader.numbers(0, 3, &mut numbers).unwrap());
    assert!(!reader.numbers(3, 3, &mut numbers).unwrap());
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    // A new reader sees the new moment, and knows nothing false about numbers that it learned before.
    let reader = self::reader(&container);
    assert_eq!(ids(&reader, &[1, 2, 3, 4]), [Some("0".into()), None, None, Some("3".into())]);
    assert_eq!(reader.item_key_of(7).unwrap(), reader.item_key_of(7).unwrap());
    check(&container);
}

/// An index names items by number, and each number took a look-up of its own in the store before the item could be
/// loaded, also where it had been written a moment before.
#[tokio::test]
async fn items_that_were_just_written_are_loaded_without_asking_where_they_lie() {
    let store = memory();
    let container = open(&store, with_policy("{}"), None, 400);
    for n in 0..5 {
        upsert(&container, "1", &format!(r#"{{"id":"{n}","pk":1}}"#)).await;
    }
    // With these gone, the store cannot tell.
    let space = store.open_space(SpaceId(1)).unwrap();
    let mut batch = Batch::new();
    for (number, _) in scan(space.as_ref(), Family::Number) {
        batch.delete(Family::Number, number);
    }
    space.commit(batch).await.unwrap();
    let expected: Vec<_> = (0..5).map(|n| Some(n.to_string())).collect();
    assert_eq!(ids(&reader(&container), &[1, 2, 3, 4, 5]), expected);
    assert_eq!(
        ids(&reader(&open(&store, with_policy("{}"), None, 400)), &[1, 2, 3, 4, 5]),
        [const { None }; 5]
    );
}

#[tokio::test]
async fn a_reader_of_a_logical_partition_sees_one_moment() {
    // Few items are kept once their numbers were asked for; many, or large ones, are read again.
    for (count, text) in [(5, "few".to_owned()), (300, "many".to_owned()), (5, "x".repeat(100_000))] {
        let container = open(&memory(), with_policy("{}"), None, 400);
        upsert(&container, "2", r#"{"id":"other","pk":2}"#).await;
        for n in 0..count {
            upsert(&container, "1", &format!(r#"{{"id":"{n}","pk":1,"v":"{text}"}}"#)).await;
        }
        let scope = ListScope::PartitionKey(key("[1]"));
        let reader = container.readers(&scope, &SessionToken::default()).unwrap().remove(0);
        upsert(&container, "1", r#"{"id":"0","pk":1,"v":"new"}"#).await;
        assert!(delete(&container, "1", "1").await);
        let asked = [1, 2, 3, 4, 2, 9_999];
        let shown = |items: &[Option<armilla_container::Item>]| -> Vec<Option<String>> {
            items.iter().map(|item| item.as_ref().map(|item| item.stored().text().to_owned())).collect()
        };
        let (mut before, mut after, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        reader.load(&asked, &mut before).unwrap();
        assert!(!reader.numbers(0, 1_000, &mut numbers).unwrap());
        reader.load(&asked, &mut after).unwrap();
        assert_eq!(numbers, (2..=count + 1).collect::<Vec<u64>>());
        let item = |n: u64| Some(format!(r#"{{"id":"{n}","pk":1,"v":"{text}"}}"#));
        assert_eq!(shown(&before), [None, item(0), item(1), item(2), item(0), None]);
        assert_eq!(shown(&after), shown(&before));
    }
}

#[tokio::test]
async fn scopes() {
    for version in [1, 2] {
        let text =
            format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":{version}}}}}"#);
        let container = open(&memory(), definition(&text), None, 30_000);
        for n in 0..60 {
            upsert(&container, &(n % 20).to_string(), &format!(r#"{{"id":"{n}","pk":{}}}"#, n % 20)).await;
        }
        let session = SessionToken::default();
        let ids_of = |readers: &[PartitionReader]| -> Vec<String> {
            let mut ids = Vec::new();
            for reader in readers {
                let mut items = Vec::new();
                let mut after: Option<bytes::Bytes> = None;
                while reader.scan(after.as_deref(), 2, &mut items).unwrap() {
                    after = items.last().map(|(key, _)| key.clone());
                }
                assert!(items.is_sorted_by_key(|(key, _)| key.clone()));
                let mut numbers = Vec::new();
                let mut last = 0;
                while reader.numbers(last, 7, &mut numbers).unwrap() {
                    last = *numbers.last().unwrap();
                }
                assert!(numbers.is_sorted());
                if reader.logical() {
                    // Not those of the whole physical partition, which may be a million times as many.
                    assert_eq!(numbers.len() as u64, reader.item_count());
                }
                let mut loaded = self::ids(reader, &numbers).into_iter().flatten().collect::<Vec<_>>();
                let id = |item: &armilla_container::Item| {
                    item.stored().root().get("id").unwrap().as_str().unwrap().into_owned()
                };
                let mut scanned: Vec<String> = items.iter().map(|(_, item)| id(item)).collect();
                scanned.sort();
                loaded.sort();
                assert_eq!(scanned, loaded);
                ids.extend(scanned);
            }
            ids.sort();
            ids
        };
        let all = container.readers(&ListScope::All, &session).unwrap();
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|reader| reader.is_whole() && !reader.logical()));
        assert_eq!(ids_of(&all).len(), 60);
        assert_eq!(all.iter().map(PartitionReader::item_count).sum::<u64>(), 60);
        let one = container.readers(&ListScope::PartitionKey(key("[7]")), &session).unwrap();
        assert_eq!(
            (one.len(), one[0].logical(), one[0].is_whole(), one[0].item_count()),
            (1, true, false, 3)
        );
        assert_eq!(ids_of(&one), ["27", "47", "7"]);
        let (min, max) = one[0].bounds();
        assert!(min < max);
        // Any cut of the ring gives every item to exactly one side.
        for cut in [min, max] {
            let lower = ListScope::Range { id: None, min: None, max: Some(cut.clone()) };
            let upper = ListScope::Range { id: None, min: Some(cut), max: None };
            let (lower, upper) =
                (container.readers(&lower, &session).unwrap(), container.readers(&upper, &session).unwrap());
            assert_eq!(lower.len() + upper.len(), 4);
            let mut both = ids_of(&lower);
            both.extend(ids_of(&upper));
            both.sort();
            assert_eq!(both, ids_of(&all));
        }
        let second = ListScope::Range { id: Some(1), min: None, max: None };
        let second = container.readers(&second, &session).unwrap();
        assert_eq!((second.len(), second[0].range_id(), second[0].is_whole()), (1, 1, true));
        let gone = ListScope::Range { id: Some(9), min: None, max: None };
        assert!(container.readers(&gone, &session).is_err());
        let ahead = SessionToken::parse("0:-1#9999").unwrap();
        assert!(container.readers(&ListScope::All, &ahead).is_err());
    }
}

/// Lower-cases `name`, doubles `n`.
pub(crate) struct Computed;

impl ComputedProperties for Computed {
    fn evaluate(&self, root: Node<'_>) -> Vec<(String, Option<Value>)> {
        let low =
            root.get("name").and_then(|name| name.as_str().map(|name| Value::String(name.to_lowercase())));
        let double = root.get("n").and_then(|n| n.as_i64()).map(|n| Value::Int64(2 * n));
        vec![("low".to_owned(), low), ("double".to_owned(), double), ("hidden".to_owned(), Some(Value::Null))]
    }
}

pub(crate) fn computed_definition(low_query: &str) -> ContainerDefinition {
    definition(&format!(
        r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"indexingPolicy":{{
            "includedPaths":[{{"path":"/*"}},{{"path":"/low/?"}}],
            "compositeIndexes":[[{{"path":"/double"}},{{"path":"/_ts"}}]]}},
            "computedProperties":[
                {{"name":"low","query":"SELECT VALUE {low_query} FROM c"}},
                {{"name":"double","query":"SELECT VALUE c.n * 2 FROM c"}},
                {{"name":"hidden","query":"SELECT VALUE null FROM c"}}]}}"#
    ))
}

#[tokio::test]
async fn computed_properties_are_indexed_by_name() {
    let store = memory();
    let container = open(&store, computed_definition("LOWER(c.name)"), Some(Arc::new(Computed)), 400);
    upsert(&container, "1", r#"{"id":"a","pk":1,"name":"ANN","n":1,"low":"stored","hidden":"stored"}"#).await;
    upsert(&container, "1", r#"{"id":"b","pk":1,"n":2}"#).await;
    let ann = Value::from("ann");
    assert_eq!(find(&container, "/low", TermRange::Equal(&ann)), set(&["a"]));
    assert_eq!(find(&container, "/low", TermRange::Undefined), set(&["b"]));
    assert_eq!(find(&container, "/low", TermRange::All), set(&["a", "b"]));
    assert_eq!(find(&container, "/hidden", TermRange::All), set(&[]));
    let usable = reader(&container).usable().clone();
    for (name, is_usable) in [("/low", true), ("/hidden", false), ("/double", false), ("/name", true)] {
        assert_eq!(usable.is_path_usable(&path(name)), is_usable, "{name}");
    }
    assert!(usable.has_undefined_entries(&path("/low")));
    assert_eq!(usable.composites().len(), 1);
    check(&container);
    upsert(&container, "1", r#"{"id":"a","pk":1,"name":"Bob","n":1}"#).await;
    assert!(delete(&container, "1", "b").await);
    assert_eq!(find(&container, "/low", TermRange::All), set(&["a"]));
    check(&container);

    // Another query by the same name: what is there is of the old one, so it is not used before it is built again.
    container.set_definition(computed_definition("UPPER(c.name)"), Some(Arc::new(Computed)));
    assert!(!reader(&container).usable().is_path_usable(&path("/low")));
    upsert(&container, "1", r#"{"id":"c","pk":1,"name":"Cid"}"#).await;
    // And back: the entry of `c` was not made by this query, so the index is still not trusted.
    container.set_definition(computed_definition("LOWER(c.name)"), Some(Arc::new(Computed)));
    assert!(!reader(&container).usable().is_path_usable(&path("/low")));
    assert!(reader(&container).usable().is_path_usable(&path("/name")));
    assert!(container.needs_reindex());
    reindex(&container).await;
    assert!(reader(&container).usable().is_path_usable(&path("/low")));
    assert_eq!(find(&container, "/low", TermRange::All), set(&["a", "c"]));
    check(&container);

    // A container that cannot evaluate keeps the rest right.
    drop(container);
    let container = open(&store, computed_definition("LOWER(c.name)"), None, 400);
    upsert(&container, "1", r#"{"id":"a","pk":1,"name":"Eve"}"#).await;
    assert!(!reader(&container).usable().is_path_usable(&path("/low")));
    assert!(!container.needs_reindex());
    check(&container);
    drop(container);
    let container = open(&store, computed_definition("LOWER(c.name)"), Some(Arc::new(Computed)), 400);
    assert!(!reader(&container).usable().is_path_usable(&path("/low")));
    reindex(&container).await;
    assert_eq!(find(&container, "/low", TermRange::Equal(&Value::from("eve"))), set(&["a"]));
    check(&container);
}

fn numbers(count: usize, from: usize) -> String {
    (from..from + count).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

#[tokio::test]
async fn items_with_too_many_entries_are_left_out_of_single_indexes() {
    // As in limits.rs, which keeps it to itself.
    const CONTENT_ENTRIES_MAX: usize = 32_768;
    let container = open(&memory(), with_policy("{}"), None, 400);
    upsert(&container, "1", r#"{"id":"small","pk":1,"big":[5],"x":1}"#).await;
    // `id`, `pk`, `big` and `x` take four.
    let body = |count: usize| format!(r#"{{"id":"large","pk":1,"x":1,"big":[{}]}}"#, numbers(count, 0));
    let is_usable = |name: &str| reader(&container).usable().is_path_usable(&path(name));
    upsert(&container, "1", &body(CONTENT_ENTRIES_MAX - 4)).await;
    assert!(is_usable("/big/[]"));
    check(&container);
    upsert(&container, "1", &body(CONTENT_ENTRIES_MAX - 3)).await;
    assert!(!is_usable("/big/[]") && is_usable("/big") && is_usable("/x"));
    assert_eq!(find(&container, "/x", TermRange::All), set(&["large", "small"]));
    check(&container);
    // Many that are all the same are few.
    let same = format!(r#"{{"id":"same","pk":1,"other":[{}]}}"#, vec!["1"; 400_000].join(","));
    upsert(&container, "1", &same).await;
    assert!(is_usable("/other/[]"));
    upsert(&container, "1", r#"{"id":"large","pk":1,"x":1,"big":[1]}"#).await;
    assert!(is_usable("/big/[]"));
    check(&container);
    // So many paths that they are not told apart.
    let paths: Vec<String> = (0..CONTENT_ENTRIES_MAX + 10).map(|n| format!(r#""p{n}":1"#)).collect();
    upsert(&container, "1", &format!(r#"{{"id":"wide","pk":1,{}}}"#, paths.join(","))).await;
    assert!(!is_usable("/x") && !is_usable("/p1") && is_usable("/id") && is_usable("/_ts"));
    assert_eq!(find(&container, "/id", TermRange::All), set(&["large", "same", "small", "wide"]));
    check(&container);
    assert!(delete(&container, "1", "wide").await);
    assert!(is_usable("/x") && is_usable("/p1"));
    check(&container);
}

#[tokio::test]
async fn groups_of_large_writes_fit_the_store() {
    let container = Arc::new(open(&memory(), with_policy("{}"), None, 400));
    for round in 0..2 {
        let tasks: Vec<_> = (0..24)
            .map(|n| {
                let container = container.clone();
                // Every round has other values, so that all entries go and others come.
                let list = numbers(20_000, 20_000 * (n + 24 * round));
                tokio::spawn(async move {
                    upsert(&container, "1", &format!(r#"{{"id":"{n}","pk":1,"a":[{list}]}}"#)).await
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    }
    assert_eq!(reader(&container).index_entries(IndexId::of_path(&path("/a/[]"))).unwrap(), 24 * 20_000);
    check(&container);
}

#[tokio::test]
async fn a_check_finds_damage() {
    let planted = IndexId::of_path(&path("/n"));
    let count_key = [&[3], &planted.0.to_be_bytes()[..]].concat();
    let name_key = [&[4], &planted.0.to_be_bytes()[..]].concat();
    let entry = |value: i64| armilla_index::entry_key(planted, &term::of(Some(&Value::Int64(value))), 1);
    type Damage = Box<dyn Fn(&mut Batch)>;
    let (missing, extra) = (entry(1), entry(2));
    let damages: Vec<(&str, Damage)> = vec![
        ("is missing", Box::new(move |batch| batch.delete(Family::Index, missing.clone()))),
        ("entries", Box::new(move |batch| batch.put(Family::Index, extra.clone(), ""))),
        (
            "has a value",
            Box::new({
                let key = entry(1);
                move |batch| batch.put(Family::Index, key.clone(), "x")
            }),
        ),
        ("a key of 3 bytes", Box::new(|batch| batch.put(Family::Index, "abc", ""))),
        (
            "its record says Some(7)",
            Box::new({
                let key = count_key.clone();
                move |batch| batch.put(Family::Meta, key.clone(), vec![1, 0, 0, 0, 0, 0, 0, 0, 7])
            }),
        ),
        (
            "its record says None",
            Box::new({
                let key = count_key.clone();
                move |batch| batch.delete(Family::Meta, key.clone())
            }),
        ),
        ("is damaged", Box::new(move |batch| batch.put(Family::Meta, count_key.clone(), "x"))),
        (
            "has no name",
            Box::new({
                let key = name_key.clone();
                move |batch| batch.delete(Family::Meta, key.clone())
            }),
        ),
        (
            "counts and",
            Box::new(|batch| {
                batch.put(Family::Meta, vec![3, 0, 0, 0, 0, 0, 0, 0, 9], vec![1, 0, 0, 0, 0, 0, 0, 0, 7])
            }),
        ),
        ("computed entries", Box::new(|batch| batch.put(Family::Meta, vec![5, 0, 0, 0, 0, 0, 0, 0, 1], "x"))),
        (
            "computed entries",
            Box::new(|batch| batch.put(Family::Meta, vec![5, 0, 0, 0, 0, 0, 0, 0, 77], vec![1, 0])),
        ),
        (
            "crowded",
            Box::new(|batch| {
                batch.put(
                    Family::Meta,
                    vec![8],
                    [&[1][..], &7u64.to_be_bytes(), &1u64.to_be_bytes()].concat(),
                )
            }),
        ),
    ];
    for (expected, damage) in damages {
        let store = memory();
        let container = open(&store, with_policy("{}"), None, 400);
        upsert(&container, "1", r#"{"id":"a","pk":1,"n":1}"#).await;
        check(&container);
        drop(container);
        let mut batch = Batch::new();
        damage(&mut batch);
        store.open_space(SpaceId(1)).unwrap().commit(batch).await.unwrap();
        let container = open(&store, with_policy("{}"), None, 400);
        let problems = check_partition(&container, 0, &mut |_| {}).unwrap().problems;
        assert!(
            problems.iter().any(|problem| problem.message.contains(expected)),
            "{expected}: {problems:#?}"
        );
    }
    // Damaged layouts stop the partition.
    for (key, value) in [(6u8, "\u{1}{}"), (6, "\u{2}null"), (7, "x"), (8, "\u{1}abc")] {
        let store = memory();
        let container = open(&store, with_policy("{}"), None, 400);
        upsert(&container, "1", r#"{"id":"a","pk":1,"n":1}"#).await;
        drop(container);
        let mut batch = Batch::new();
        batch.put(Family::Meta, vec![key], value);
        store.open_space(SpaceId(1)).unwrap().commit(batch).await.unwrap();
        let container = open(&store, with_policy("{}"), None, 400);
        assert_eq!(container.positions().unwrap_err().kind, armilla_container::ErrorKind::Corrupt);
    }
}

/// Everything stored of the index, byte by byte.
pub(crate) fn stored_index(store: &Arc<dyn Store>, space: u64) -> BTreeMap<(Family, Vec<u8>), Vec<u8>> {
    let snapshot = store.open_space(SpaceId(space)).unwrap().snapshot().unwrap();
    let mut stored = BTreeMap::new();
    for family in [Family::Meta, Family::Index] {
        let mut scan = Scan::prefix(family, b"");
        loop {
            let page = snapshot.scan(&scan).unwrap();
            for (key, value) in &page.entries {
                if family == Family::Index || (3..=8).contains(&key[0]) {
                    stored.insert((family, key.to_vec()), value.to_vec());
                }
            }
            match page.entries.last() {
                Some((key, _)) if page.more => scan = scan.after(key),
                _ => break,
            }
        }
    }
    stored
}
