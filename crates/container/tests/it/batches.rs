//! Transactional batches: all steps or none, one commit, each step seeing those before it.

use armilla_container::{
    BatchDone, BatchFailed, BatchStep, ChangeKind, Error, ErrorKind, Limits, Operation, Patch, Pointer,
    Precondition, Priority, ReadCost, StepDone, TRANSACTION_WRITES_MAX, WriteMode,
};
use armilla_value::Value;
use bytes::Bytes;

use crate::support::{Glass, key, refused, text};

const DEFINITION: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#;
const ALL_VERSIONS: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "changeFeedPolicy":{"retentionDuration":60},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#;
const KEY: &str = r#"["a"]"#;

fn body(id: &str, unique: &str) -> Bytes {
    format!(r#"{{"id":"{id}","pk":"a","u":"{unique}","n":1}}"#).into()
}

fn put(mode: WriteMode, id: &str, unique: &str) -> BatchStep {
    BatchStep::Put { mode, id: None, body: body(id, unique).into(), precondition: Precondition::None }
}

fn create(id: &str) -> BatchStep {
    put(WriteMode::Create, id, id)
}

fn replace(id: &str, unique: &str) -> BatchStep {
    put(WriteMode::Replace, id, unique)
}

fn delete(id: &str) -> BatchStep {
    BatchStep::Delete { id: id.to_owned(), precondition: Precondition::None }
}

fn read(id: &str) -> BatchStep {
    BatchStep::Read { id: id.to_owned(), known: None, precondition: Precondition::None }
}

fn increment(id: &str) -> BatchStep {
    let increment = Operation::Increment { path: Pointer::parse("/n").unwrap(), by: Value::Int64(1) };
    let patch = Patch::new(vec![increment], 20).unwrap();
    BatchStep::Patch { id: id.to_owned(), patch, precondition: Precondition::None }
}

async fn batch(glass: &Glass, steps: Vec<BatchStep>) -> Result<BatchDone, BatchFailed> {
    glass.fixture.container.batch(&key(KEY), steps, ReadCost::Single, Priority::High).await.unwrap()
}

async fn done(glass: &Glass, steps: Vec<BatchStep>) -> BatchDone {
    batch(glass, steps).await.unwrap_or_else(|failed| panic!("step {}: {}", failed.step, failed.error))
}

#[tokio::test]
async fn steps_share_one_commit_and_see_those_before() {
    for definition in [DEFINITION, ALL_VERSIONS] {
        let glass = Glass::new(definition, Limits::default());
        done(&glass, vec![create("old")]).await;
        let steps = vec![
            create("1"),
            increment("1"),
            read("1"),
            delete("old"),
            create("2"),
            delete("2"),
            create("2"),
        ];
        let batch = done(&glass, steps).await;
        assert_eq!(batch.position.lsn, 2);
        let mut etags = Vec::new();
        let mut operations = Vec::new();
        for step in &batch.steps {
            match step {
                StepDone::Written(written) => {
                    assert_eq!(written.position.lsn, 2);
                    if written.kind != ChangeKind::Delete {
                        assert_eq!(written.item.header().lsn, 2);
                        operations.push(written.item.header().operation);
                        etags.push(glass.fixture.etag(&written.item));
                    }
                }
                StepDone::Read(read) => {
                    assert_eq!(text(&read.item), r#"{"id":"1","pk":"a","u":"1","n":2}"#);
                    assert_eq!(glass.fixture.etag(&read.item), etags[1]);
                }
                StepDone::NotModified { .. } => panic!("nothing was known"),
            }
        }
        assert_eq!(operations, [0, 1, 3, 5]);
        for (position, etag) in etags.iter().enumerate() {
            assert!(!etags[..position].contains(etag), "versions of one item have different etags");
        }
        let feed = glass.store.feed();
        if definition == DEFINITION {
            // The latest version of each live item.
            assert_eq!(feed, [(2, 1), (2, 5)]);
        } else {
            assert_eq!(feed, [(1, 0), (2, 0), (2, 1), (2, 2), (2, 3), (2, 4), (2, 5)]);
        }
        assert_eq!(glass.fixture.etag(&glass.fixture.read(KEY, "1").unwrap()), etags[1]);
        refused(glass.fixture.read(KEY, "old"), ErrorKind::ItemNotFound);
        assert_eq!(glass.fixture.container.counters().unwrap().items, 2);
        glass.fixture.check();
    }
}

#[tokio::test]
async fn any_failing_step_anywhere_leaves_nothing() {
    let limits = Limits { logical_partition_bytes_max: 4_000, item_bytes_max: 8_000, ..Limits::default() };
    for definition in [DEFINITION, ALL_VERSIONS] {
        let glass = Glass::new(definition, limits.clone());
        done(&glass, vec![create("kept"), create("gone"), create("held")]).await;
        let before = glass.store.dump();
        let stale = Precondition::Version(None);
        let large = |bytes: usize| {
            format!(r#"{{"id":"large","pk":"a","u":"large","x":"{}"}}"#, "x".repeat(bytes)).into()
        };
        let put_body = |id: Option<&str>, body: Bytes| BatchStep::Put {
            mode: WriteMode::Upsert,
            id: id.map(str::to_owned),
            body: body.into(),
            precondition: Precondition::None,
        };
        type Failing = (ErrorKind, Box<dyn Fn() -> BatchStep>);
        let failing: Vec<Failing> = vec![
            (ErrorKind::ItemExists, Box::new(|| create("kept"))),
            (ErrorKind::ItemNotFound, Box::new(|| replace("nothing", "x"))),
            (ErrorKind::ItemNotFound, Box::new(|| delete("nothing"))),
            (ErrorKind::ItemNotFound, Box::new(|| read("nothing"))),
            (ErrorKind::ItemNotFound, Box::new(|| increment("nothing"))),
            (ErrorKind::UniqueKeyTaken, Box::new(|| put(WriteMode::Upsert, "new", "held"))),
            (ErrorKind::PreconditionFailed, {
                Box::new(move || BatchStep::Delete { id: "kept".to_owned(), precondition: stale })
            }),
            (ErrorKind::LogicalPartitionFull, Box::new(move || put_body(None, large(4_000)))),
            (ErrorKind::ItemTooLarge, Box::new(move || put_body(None, large(8_000)))),
            (ErrorKind::Invalid, Box::new(move || put_body(None, Bytes::from_static(b"{\"pk\":\"a\"}")))),
            (ErrorKind::ItemNotFound, Box::new(move || put_body(Some("2"), body("3", "3")))),
            (ErrorKind::ItemExists, Box::new(move || put_body(Some("kept"), body("held", "3")))),
            (ErrorKind::PartitionKeyMismatch, {
                Box::new(move || put_body(None, Bytes::from_static(b"{\"id\":\"x\",\"pk\":\"b\"}")))
            }),
            (ErrorKind::Invalid, {
                Box::new(|| BatchStep::Fail(Error::new(ErrorKind::Invalid, "it is not a step")))
            }),
        ];
        let others: [fn() -> BatchStep; 5] = [
            || create("new"),
            || delete("gone"),
            || replace("kept", "other"),
            || increment("held"),
            || read("held"),
        ];
        for (kind, step) in &failing {
            for at in 0..=others.len() {
                let mut steps: Vec<BatchStep> = others.iter().map(|step| step()).collect();
                steps.insert(at, step());
                let failed = batch(&glass, steps).await.err().expect("a step fails");
                assert_eq!((failed.step, failed.error.kind), (at, *kind), "{}", failed.error);
                assert_eq!(glass.store.dump(), before, "{kind:?} at {at}");
                assert!(failed.charge >= failed.error.charge);
                assert_eq!(failed.position.lsn, 1);
            }
        }
        glass.fixture.check();
        // What the failed ones left in memory is not in the way either.
        done(&glass, others.iter().map(|step| step()).collect()).await;
        glass.fixture.check();
        assert_eq!(glass.fixture.container.positions().unwrap()[0].lsn, 2);
    }
}

#[tokio::test]
async fn failures_do_not_touch_their_neighbours_in_the_group() {
    let glass = Glass::new(DEFINITION, Limits::default());
    done(&glass, vec![create("1")]).await;
    // All are queued before the committer runs, so they are applied as one group.
    let (first, failed, last, single) = tokio::join!(
        batch(&glass, vec![create("2"), increment("1")]),
        batch(&glass, vec![delete("2"), increment("1"), replace("1", "9"), create("1")]),
        batch(&glass, vec![create("3"), increment("1"), read("2")]),
        glass.fixture.write(WriteMode::Upsert, KEY, r#"{"id":"4","pk":"a","u":"4"}"#, Precondition::None),
    );
    let first = first.ok().unwrap();
    assert_eq!(failed.err().unwrap().step, 3);
    let last = last.ok().unwrap();
    assert_eq!((first.position.lsn, last.position.lsn, single.unwrap().position.lsn), (2, 3, 4));
    let counted = glass.fixture.read(KEY, "1").unwrap();
    assert_eq!(text(&counted), r#"{"id":"1","pk":"a","u":"1","n":3}"#);
    glass.fixture.check();
}

#[tokio::test]
async fn unique_keys_can_change_hands() {
    let glass = Glass::new(DEFINITION, Limits::default());
    done(&glass, vec![create("1"), create("2")]).await;
    let swapped = vec![delete("1"), replace("2", "1"), put(WriteMode::Create, "1", "2")];
    done(&glass, swapped).await;
    glass.fixture.check();
    let failed = batch(&glass, vec![replace("1", "1")]).await.err().unwrap();
    assert_eq!(failed.error.kind, ErrorKind::UniqueKeyTaken);
    let through_a_third = vec![replace("1", "x"), replace("2", "2"), replace("1", "1")];
    done(&glass, through_a_third).await;
    glass.fixture.check();
}

#[tokio::test]
async fn reads_alone_write_nothing() {
    let glass = Glass::new(DEFINITION, Limits::default());
    let written = done(&glass, vec![create("1")]).await;
    let StepDone::Written(written) = &written.steps[0] else { panic!("it wrote") };
    let etag = glass.fixture.etag(&written.item);
    let before = glass.store.dump();
    let known = BatchStep::Read { id: "1".to_owned(), known: Some(etag), precondition: Precondition::None };
    let batch = done(&glass, vec![read("1"), known]).await;
    assert_eq!((batch.position.lsn, batch.charge.to_string()), (1, "2.00".to_owned()));
    assert!(matches!(&batch.steps[0], StepDone::Read(_)));
    assert!(matches!(&batch.steps[1], StepDone::NotModified { etag: same, .. } if *same == etag));
    assert_eq!(done(&glass, Vec::new()).await.steps.len(), 0);
    assert_eq!(glass.store.dump(), before);
}

#[tokio::test]
async fn charges() {
    let glass = Glass::new(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#, Limits::default());
    // Four leaves: 26 + 2 x 4 + 1 - 4 = 31 write units, 5.90.
    assert_eq!(done(&glass, vec![create("1")]).await.charge.to_string(), "5.90");
    // Nothing changes: 26 + 26 - 4.
    assert_eq!(done(&glass, vec![replace("1", "1")]).await.charge.to_string(), "9.14");
    // After a read the old version is known: 26 - 4, and 1 for the read.
    let batch = done(&glass, vec![read("1"), replace("1", "1")]).await;
    assert_eq!(batch.charge.to_string(), "5.19");
    // Neither a patch nor a delete gains by that: 52 + 4 - 4 and 0.4; 26 + 9 - 4.
    let batch = done(&glass, vec![increment("1"), increment("1"), delete("1")]).await;
    assert_eq!(batch.charge.to_string(), "26.50");
    // What fails is charged with what was done before it.
    let failed = self::batch(&glass, vec![create("1"), delete("2"), create("3")]).await.err().unwrap();
    assert_eq!((failed.error.charge.to_string(), failed.charge.to_string()), ("1.24".into(), "7.14".into()));
}

#[tokio::test]
async fn a_batch_has_bounds() {
    let glass = Glass::new(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#, Limits::default());
    let creates = |count: usize| (0..count).map(|id| create(&id.to_string())).collect::<Vec<_>>();
    let failed = batch(&glass, creates(TRANSACTION_WRITES_MAX + 1)).await.err().unwrap();
    assert_eq!((failed.step, failed.error.kind), (TRANSACTION_WRITES_MAX, ErrorKind::ItemTooLarge));
    assert_eq!(glass.fixture.container.counters().unwrap().items, 0);
    let whole = done(&glass, creates(TRANSACTION_WRITES_MAX)).await;
    assert_eq!(whole.position.lsn, 1);
    glass.fixture.check();
    // Deletes weigh what they delete from the index: here 9,000 entries and as many indexes, three times.
    let properties: Vec<String> = (0..9_000).map(|path| format!(r#""p{path}":{path}"#)).collect();
    let wide = |id: usize| BatchStep::Put {
        mode: WriteMode::Create,
        id: None,
        body: format!(r#"{{"id":"w{id}","pk":"a",{}}}"#, properties.join(",")).into(),
        precondition: Precondition::None,
    };
    for id in 0..8 {
        done(&glass, vec![wide(id)]).await;
    }
    let failed = batch(&glass, (0..8).map(|id| delete(&format!("w{id}"))).collect()).await.err().unwrap();
    assert_eq!(failed.error.kind, ErrorKind::ItemTooLarge);
    glass.fixture.check();
    done(&glass, (0..5).map(|id| delete(&format!("w{id}"))).collect()).await;
    glass.fixture.check();
}
