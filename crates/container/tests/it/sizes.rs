//! How much logical and physical partitions hold: verified, and bounded.

use std::sync::Arc;

use armilla_container::{
    BatchStep, ErrorKind, Limits, ListRequest, ListScope, LogicalSize, Operation, Patch, Pointer,
    Precondition, Priority, ReadCost, SessionToken, WriteMode, check_partition,
};
use armilla_kv::{Batch, Family, SpaceId, Store};
use armilla_value::Value;
use bytes::Bytes;

use crate::index::{memory, open, reindex, upsert, with_policy};
use crate::support::{Fixture, check, key, refused, run, scan};

const MEBIBYTE: u64 = 1024 * 1024;

/// A transaction has not read what a re-indexing changes.
#[tokio::test]
async fn a_re_indexing_disturbs_no_transaction() {
    let store = memory();
    let container = open(&store, with_policy("{}"), None, 400);
    for id in 0..3 {
        upsert(&container, "1", &format!(r#"{{"id":"{id}","pk":1,"a":1}}"#)).await;
    }
    let mut transaction = container.begin(&key("[1]"), 0, ReadCost::Single, Priority::High).await.unwrap();
    let _ = transaction.snapshot();
    transaction.put(WriteMode::Upsert, None, br#"{"id":"2","pk":1,"b":2}"#, Precondition::None).unwrap();
    container.set_definition(with_policy(r#"{"indexingMode":"none"}"#), None);
    reindex(&container).await;
    assert_eq!(container.counters().unwrap().index_bytes, 0);
    transaction.commit().await.unwrap();
    check(&container);
}

/// Every figure that is wrong is found, and named.
#[tokio::test]
async fn a_check_finds_wrong_figures() {
    const COUNTERS: &[u8] = &[0];
    let said = "say 3 items in";
    // The last byte of a figure, and what a check says.
    let rows: [(bool, usize, &str); 6] = [
        (false, 24, "the counters say 4 items in "),
        (false, 32, said),
        (false, 40, said),
        (true, 8, "its record says 4 items in "),
        (true, 16, "its record says 3 items in "),
        (true, 24, "its record says 3 items in "),
    ];
    for (is_logical, position, expected) in rows {
        for by in [1u8, 255] {
            let (store, size_key) = three_items().await;
            let space = store.open_space(SpaceId(1)).unwrap();
            let key = if is_logical { size_key } else { Bytes::from_static(COUNTERS) };
            let mut record = space.get(Family::Meta, &key).unwrap().unwrap().to_vec();
            let right = record.clone();
            record[position] = record[position].wrapping_add(by);
            let mut batch = Batch::new();
            batch.put(Family::Meta, key.clone(), record);
            space.commit(batch).await.unwrap();
            let container = open(&store, with_policy("{}"), None, 400);
            let problems = check_partition(&container, 0, &mut |_| {}).unwrap().problems;
            assert_eq!(problems.len(), 1, "{problems:?}");
            let message = &problems[0].message;
            let expected = if by == 1 { expected.to_owned() } else { expected.replace('4', "2") };
            assert!(message.contains(&expected), "{message}");
            // What was wrong is put right by nothing but another figure.
            drop(container);
            let space = store.open_space(SpaceId(1)).unwrap();
            let mut batch = Batch::new();
            batch.put(Family::Meta, key, right);
            space.commit(batch).await.unwrap();
            check(&open(&store, with_policy("{}"), None, 400));
        }
    }
    type Damage = fn(&mut Batch, Bytes);
    let rows: [(&str, Damage); 4] = [
        ("it has no record", |batch, key| batch.delete(Family::Meta, key)),
        ("there are 0 sizes of logical partitions for 1", |batch, key| batch.delete(Family::Meta, key)),
        ("the size of a logical partition is damaged", |batch, key| {
            batch.put(Family::Meta, key, vec![1; 17])
        }),
        ("there are 2 sizes of logical partitions for 1", |batch, key| {
            batch.put(
                Family::Meta,
                [&key[..], b"x"].concat(),
                LogicalSize::default().items.to_be_bytes().to_vec(),
            );
        }),
    ];
    for (expected, damage) in rows {
        let (store, size_key) = three_items().await;
        let mut batch = Batch::new();
        damage(&mut batch, size_key);
        store.open_space(SpaceId(1)).unwrap().commit(batch).await.unwrap();
        let container = open(&store, with_policy("{}"), None, 400);
        let problems = check_partition(&container, 0, &mut |_| {}).unwrap().problems;
        assert!(
            problems.iter().any(|problem| problem.message.contains(expected)),
            "{expected}: {problems:?}"
        );
    }
}

/// Returns a store with three items of one logical partition, and the key of its size.
async fn three_items() -> (Arc<dyn Store>, Bytes) {
    let store = memory();
    let container = open(&store, with_policy("{}"), None, 400);
    for id in 0..3 {
        upsert(&container, "1", &format!(r#"{{"id":"{id}","pk":1,"a":1}}"#)).await;
    }
    drop(container);
    let space = store.open_space(SpaceId(1)).unwrap();
    let mut sizes = scan(space.as_ref(), Family::Meta);
    sizes.retain(|(key, _)| key[0] == 1);
    let [(key, _)] = sizes.try_into().unwrap();
    (store, key)
}

/// A container with this limit of logical partitions, and a body with a property of `length` bytes.
fn bounded(max: u64) -> (Fixture, impl Fn(&str, usize) -> String) {
    let limits = Limits { logical_partition_bytes_max: max, ..Limits::default() };
    let fixture = Fixture::new(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#, 400, limits);
    (fixture, |id: &str, length: usize| format!(r#"{{"id":"{id}","pk":"a","x":"{}"}}"#, "x".repeat(length)))
}

const A: &str = r#"["a"]"#;

#[tokio::test]
async fn a_logical_partition_may_be_as_large_as_its_limit() {
    let (fixture, body) = bounded(MEBIBYTE);
    let size = || fixture.container.logical_size(&key(A)).unwrap();
    const PIECE: usize = 10_000;
    let mut count = 0;
    let full = loop {
        match fixture.create(A, &body(&format!("{count:03}"), PIECE)).await {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind, ErrorKind::LogicalPartitionFull);
    let size_then = size();
    let shown = format!(
        "partition key reached maximum size of 1 MB: it holds {count} items in {} bytes, with {} bytes of index",
        size_then.bytes, size_then.index_bytes
    );
    assert_eq!(full.message, shown);
    // Long strings are cut short in the index, so from here on each byte of data is one byte.
    let mut length = 1_000;
    fixture.create(A, &body("last", length)).await.unwrap();
    length += (MEBIBYTE - size().total_bytes()) as usize;
    let replace = |length: usize| {
        let (fixture, body) = (&fixture, body("last", length));
        async move { fixture.write(WriteMode::Upsert, A, &body, Precondition::None).await }
    };
    refused(replace(length + 1).await, ErrorKind::LogicalPartitionFull);
    replace(length).await.unwrap();
    assert_eq!(size().total_bytes(), MEBIBYTE);
    // The same size again is no growth; one byte more is.
    replace(length).await.unwrap();
    refused(replace(length + 1).await, ErrorKind::LogicalPartitionFull);
    refused(fixture.create(A, r#"{"id":"x","pk":"a"}"#).await, ErrorKind::LogicalPartitionFull);
    let add = Operation::Add { path: Pointer::parse("/y").unwrap(), value: Value::Null };
    let patch = Patch::new(vec![add], 10).unwrap();
    refused(
        fixture.container.patch_item(&key(A), "last", patch, Precondition::None, Priority::High).await,
        ErrorKind::LogicalPartitionFull,
    );
    // Reads, deletes, other partitions go on.
    fixture.read(A, "000").unwrap();
    fixture.create(r#"["b"]"#, r#"{"id":"x","pk":"b"}"#).await.unwrap();
    fixture.container.delete_item(&key(A), "000", Precondition::None, Priority::High).await.unwrap();
    fixture.create(A, &body("001-again", PIECE - 20)).await.unwrap();
    refused(fixture.create(A, &body("002-again", PIECE)).await, ErrorKind::LogicalPartitionFull);
    fixture.check();
}

/// The sum is what counts: data may make room for the index, and the other way round.
#[tokio::test]
async fn data_and_index_share_the_limit() {
    let (fixture, body) = bounded(2_000);
    let spread = |count: usize| {
        let members: Vec<String> = (0..count).map(|n| format!(r#""m{n}":7"#)).collect();
        format!(r#"{{"id":"1","pk":"a",{}}}"#, members.join(","))
    };
    fixture.create(A, &body("1", 1_200)).await.unwrap();
    let before = fixture.container.logical_size(&key(A)).unwrap();
    assert!(before.total_bytes() < 2_000, "{before:?}");
    // Less data, but every member has an entry of its own.
    refused(
        fixture.write(WriteMode::Replace, A, &spread(60), Precondition::None).await,
        ErrorKind::LogicalPartitionFull,
    );
    fixture.write(WriteMode::Replace, A, &spread(30), Precondition::None).await.unwrap();
    let after = fixture.container.logical_size(&key(A)).unwrap();
    assert!(after.bytes < before.bytes && after.index_bytes > before.index_bytes);
    fixture.check();
}

/// A limit that is passed by no write: the index grew. What shrinks is let through, step by step.
#[tokio::test]
async fn beyond_the_limit_only_growth_is_refused() {
    let limits = Limits { logical_partition_bytes_max: 20_000, ..Limits::default() };
    let text = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"indexingPolicy":{"indexingMode":"none"}}"#;
    let fixture = Fixture::new(text, 400, limits);
    let body = |id: usize, members: usize| {
        let members: String = (0..members).map(|n| format!(r#","m{n}":"{n}""#)).collect();
        format!(r#"{{"id":"{id}","pk":"a"{members}}}"#)
    };
    for id in 0..30 {
        fixture.create(A, &body(id, 30)).await.unwrap();
    }
    fixture.container.set_definition(with_policy("{}"), None);
    reindex(&fixture.container).await;
    let size = || fixture.container.logical_size(&key(A)).unwrap().total_bytes();
    assert!(size() > 30_000, "{}", size());
    refused(fixture.create(A, &body(99, 0)).await, ErrorKind::LogicalPartitionFull);
    let write = |id: usize, members: usize| {
        let (fixture, body) = (&fixture, body(id, members));
        async move { fixture.write(WriteMode::Upsert, A, &body, Precondition::None).await }
    };
    refused(write(0, 31).await, ErrorKind::LogicalPartitionFull);
    write(0, 30).await.unwrap();
    write(0, 29).await.unwrap();
    let remove = Operation::Remove { path: Pointer::parse("/m1").unwrap() };
    let patch = Patch::new(vec![remove], 10).unwrap();
    fixture.container.patch_item(&key(A), "1", patch, Precondition::None, Priority::High).await.unwrap();
    // In a batch each step is judged by itself, on what those before it left.
    let delete = |id: usize| BatchStep::Delete { id: id.to_string(), precondition: Precondition::None };
    let put = |id: usize, members: usize| BatchStep::Put {
        mode: WriteMode::Upsert,
        id: None,
        body: body(id, members).into(),
        precondition: Precondition::None,
    };
    let before = size();
    let steps = vec![delete(2), delete(3), put(4, 31)];
    let failed = fixture
        .container
        .batch(&key(A), steps, ReadCost::Single, Priority::High)
        .await
        .unwrap()
        .err()
        .unwrap();
    assert_eq!((failed.step, failed.error.kind), (2, ErrorKind::LogicalPartitionFull));
    assert_eq!(size(), before);
    let steps: Vec<BatchStep> = (2..20).map(delete).chain([put(20, 31)]).collect();
    fixture
        .container
        .batch(&key(A), steps, ReadCost::Single, Priority::High)
        .await
        .unwrap()
        .map_err(|failed| failed.error)
        .unwrap();
    assert!(size() < 20_000);
    // In a transaction too.
    let (kinds, ..) = run(&fixture.container, &key(A), |transaction| {
        let mut put = |id: usize, members: usize| {
            let put =
                transaction.put(WriteMode::Upsert, None, body(id, members).as_bytes(), Precondition::None);
            put.err().map(|error| error.kind)
        };
        let kinds = [put(50, 400), put(50, 10), put(51, 300), put(50, 9)];
        Ok(kinds)
    })
    .await
    .unwrap();
    let full = Some(ErrorKind::LogicalPartitionFull);
    assert_eq!(kinds, [full, None, full, None]);
    fixture.check();
}

/// No value of the partition key, in a container that was made without one.
#[tokio::test]
async fn containers_without_a_key() {
    let limits =
        Limits { fixed_container_bytes: 20_000, logical_partition_bytes_max: 1_000, ..Limits::default() };
    let fixture = Fixture::new(r#"{"id":"c"}"#, 400, limits);
    let container = &fixture.container;
    assert!(container.definition().is_fixed());
    fixture.create("[]", r#"{"id":"1","a":1}"#).await.unwrap();
    fixture.create("[{}]", r#"{"id":"2","a":2}"#).await.unwrap();
    refused(fixture.create("[]", r#"{"id":"1"}"#).await, ErrorKind::ItemExists);
    fixture.create(r#"["x"]"#, r#"{"id":"1","_partitionKey":"x"}"#).await.unwrap();
    refused(fixture.create("[]", r#"{"id":"3","_partitionKey":"x"}"#).await, ErrorKind::PartitionKeyMismatch);
    refused(fixture.create("[1,2]", r#"{"id":"3"}"#).await, ErrorKind::PartitionKeyMismatch);
    for partition_key in ["[]", "[{}]"] {
        fixture.read(partition_key, "1").unwrap();
        fixture.read(partition_key, "2").unwrap();
        assert_eq!(container.logical_size(&key(partition_key)).unwrap().items, 2);
        let scope = ListScope::PartitionKey(key(partition_key));
        let page = container
            .list_items(&ListRequest {
                scope: scope.clone(),
                items_max: 10,
                continuation: None,
                session: SessionToken::default(),
                cost: ReadCost::Single,
                claim: Priority::High.into(),
            })
            .unwrap();
        assert_eq!(page.items.len(), 2);
        let readers = container.readers(&scope, &SessionToken::default()).unwrap();
        assert_eq!(readers.iter().map(|reader| reader.item_count()).sum::<u64>(), 2);
        let patch = Operation::Increment { path: Pointer::parse("/a").unwrap(), by: Value::Int64(1) };
        let patch = Patch::new(vec![patch], 10).unwrap();
        container
            .patch_item(&key(partition_key), "2", patch, Precondition::None, Priority::High)
            .await
            .unwrap();
        run(container, &key(partition_key), |transaction| {
            transaction.put(WriteMode::Upsert, None, br#"{"id":"1","a":5}"#, Precondition::None)
        })
        .await
        .unwrap();
        let steps =
            vec![BatchStep::Read { id: "1".to_owned(), known: None, precondition: Precondition::None }];
        assert!(
            container
                .batch(&key(partition_key), steps, ReadCost::Single, Priority::High)
                .await
                .unwrap()
                .is_ok()
        );
    }
    // The limit is that of the whole container, and the one of logical partitions does not count.
    let body = |id: usize| format!(r#"{{"id":"{id}","_partitionKey":{},"x":"{}"}}"#, id % 3, "x".repeat(500));
    let mut id = 10;
    let full = loop {
        match fixture.create(&format!("[{}]", id % 3), &body(id)).await {
            Ok(_) => id += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind, ErrorKind::LogicalPartitionFull);
    assert!(full.message.starts_with("partition key reached maximum size of 20000 bytes"), "{full}");
    let total = container.counters().unwrap().size().total_bytes();
    assert!((19_000..=20_000).contains(&total), "{total}");
    for partition in 0..3 {
        assert!(container.logical_size(&key(&format!("[{partition}]"))).unwrap().total_bytes() > 1_000);
    }
    container.delete_item(&key("[1]"), "10", Precondition::None, Priority::High).await.unwrap();
    fixture.create(&format!("[{}]", id % 3), &body(id)).await.unwrap();
    fixture.check();
}
