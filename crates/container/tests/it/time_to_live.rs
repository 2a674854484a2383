//! Time to live, with a clock that is moved by hand: until when an item is there, for whom, and what takes its place.

use std::time::Duration;

use armilla_container::{
    BatchStep, ChangeKind, Container, ErrorKind, Limits, ListScope, Operation, Patch, Pointer, Precondition,
    Priority, ReadCost, SessionToken, StepDone, WriteMode,
};
use armilla_value::Value;

use crate::support::{Fixture, check, definition, key, list, refused, run, value};

const A: &str = r#"["a"]"#;

/// The definition of a container with this default, keyed by `/pk`, with a unique key.
pub(crate) fn with_default(default_ttl: Option<i32>) -> String {
    let default_ttl = default_ttl.map_or(String::new(), |seconds| format!(r#","defaultTtl":{seconds}"#));
    format!(
        r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},
            "uniqueKeyPolicy":{{"uniqueKeys":[{{"paths":["/u"]}},{{"paths":["/v"]}}]}}{default_ttl}}}"#
    )
}

pub(crate) fn fixture(default_ttl: Option<i32>) -> Fixture {
    Fixture::new(&with_default(default_ttl), 400, Limits::default())
}

pub(crate) fn set_default(container: &Container, default_ttl: Option<i32>) {
    container.set_definition(definition(&with_default(default_ttl)), None);
}

/// An item of the logical partition `a`, whose unique values are its id if nothing else is said.
pub(crate) fn body(id: &str, ttl: Option<i32>) -> String {
    unique_body(id, ttl, id, id)
}

fn unique_body(id: &str, ttl: Option<i32>, u: &str, v: &str) -> String {
    let ttl = ttl.map_or(String::new(), |seconds| format!(r#","ttl":{seconds}"#));
    format!(r#"{{"id":"{id}","pk":"a","u":"{u}","v":"{v}"{ttl}}}"#)
}

impl Fixture {
    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub(crate) async fn purge(&self) -> u64 {
        purge(&self.container).await
    }
}

/// Takes away all that is due.
pub(crate) async fn purge(container: &Container) -> u64 {
    let mut purged = 0;
    loop {
        let (items, more) = container.purge_step().await.unwrap();
        purged += items;
        if !more {
            return purged;
        }
    }
}

/// Returns whether an item is there, after asking in every way there is.
async fn is_there(fixture: &Fixture, id: &str, number: u64) -> bool {
    let container = &fixture.container;
    let session = SessionToken::default();
    let mut answers = Vec::new();
    let read = fixture.read(A, id);
    if let Err(error) = &read {
        assert_eq!(error.kind, ErrorKind::ItemNotFound);
    }
    answers.push(("point read", read.is_ok()));
    let read = container.read_item_by_number(number, None, &session, ReadCost::Single, Priority::High);
    answers.push(("read by number", read.is_ok()));

    let known = fixture.read(A, id).ok().map(|item| fixture.etag(&item));
    let read = container.read_item(&key(A), id, known, &session, ReadCost::Single, Priority::High);
    let kind = read.err().map(|error| error.kind);
    answers.push(("conditional read", kind == Some(ErrorKind::NotModified)));

    for (name, scope) in [
        ("list", ListScope::All),
        ("list of a logical partition", ListScope::PartitionKey(key(A))),
        ("list of a range", ListScope::Range { id: Some(0), min: None, max: None }),
    ] {
        for items_max in [1, 100] {
            let found = list(container, scope.clone(), items_max).concat();
            answers.push((name, found.contains(&id.to_owned())));
        }
    }

    for (name, scope) in
        [("reader", ListScope::All), ("reader of a logical partition", ListScope::PartitionKey(key(A)))]
    {
        let reader = container.readers(&scope, &session).unwrap().pop().unwrap();
        let mut loaded = Vec::new();
        reader.load(&[number], &mut loaded).unwrap();
        answers.push((name, loaded[0].is_some()));
        for items_max in [1, 100] {
            let (mut scanned, mut after) = (Vec::new(), None);
            while reader.scan(after.as_deref(), items_max, &mut scanned).unwrap() {
                after = Some(scanned.last().expect("more than nothing").0.to_vec());
            }
            answers.push((name, scanned.iter().any(|(_, item)| item.header().number == number)));
        }
        if reader.logical() {
            answers.push(("point of a reader", reader.point(id).unwrap().is_some()));
            let mut numbers = Vec::new();
            reader.numbers(0, 100, &mut numbers).unwrap();
            answers.push(("numbers of a reader", numbers.contains(&number)));
        }
    }

    let mut transaction = container.begin(&key(A), 0, ReadCost::Single, Priority::High).await.unwrap();
    answers.push(("transaction", transaction.read(id).unwrap().is_some()));
    answers.push(("number in a transaction", transaction.id_of(number).unwrap().is_some()));
    answers.push(("reader of a transaction", transaction.snapshot().point(id).unwrap().is_some()));

    let read = BatchStep::Read { id: id.to_owned(), known: None, precondition: Precondition::None };
    let done = container.batch(&key(A), vec![read], ReadCost::Single, Priority::High).await.unwrap();
    answers.push(("batch", matches!(done, Ok(done) if matches!(done.steps[0], StepDone::Read(_)))));

    let first = answers[0].1;
    assert!(answers.iter().all(|(_, answer)| *answer == first), "{id}: {answers:?}");
    first
}

/// Service rules: the reference on time to live.
#[tokio::test]
async fn an_item_lives_as_long_as_it_was_given() {
    const FOR_EVER: u64 = 2_500_000_000;
    for (default_ttl, ttl, lives_for) in [
        (None, None, None),
        (None, Some(5), None),
        (None, Some(-1), None),
        (Some(-1), None, None),
        (Some(-1), Some(5), Some(5)),
        (Some(-1), Some(-1), None),
        (Some(10), None, Some(10)),
        (Some(10), Some(5), Some(5)),
        (Some(10), Some(20), Some(20)),
        (Some(10), Some(-1), None),
        (Some(1), None, Some(1)),
        (Some(i32::MAX), None, Some(i32::MAX as u64)),
        (Some(10), Some(i32::MAX), Some(i32::MAX as u64)),
    ] {
        let row = format!("default {default_ttl:?}, item {ttl:?}");
        let fixture = fixture(default_ttl);
        // Something that stays, on both sides.
        fixture.create(A, &body("0", Some(-1))).await.unwrap();
        let number = fixture.create(A, &body("1", ttl)).await.unwrap().item.header().number;
        fixture.create(A, &body("2", Some(-1))).await.unwrap();
        fixture.pass(lives_for.unwrap_or(FOR_EVER));
        assert!(is_there(&fixture, "1", number).await, "{row}");
        assert_eq!(fixture.purge().await, 0, "{row}");
        let Some(_) = lives_for else { continue };
        fixture.clock.advance(Duration::from_millis(999));
        assert!(is_there(&fixture, "1", number).await, "{row}: its last second is not over");
        fixture.clock.advance(Duration::from_millis(1));
        assert!(!is_there(&fixture, "1", number).await, "{row}");
        fixture.check();
        assert_eq!(fixture.container.counters().unwrap().items, 3, "{row}");
        assert_eq!(fixture.purge().await, 1, "{row}");
        assert!(!is_there(&fixture, "1", number).await, "{row}");
        assert!(is_there(&fixture, "0", 1).await && is_there(&fixture, "2", 3).await, "{row}");
        assert_eq!(fixture.container.counters().unwrap().items, 2, "{row}");
        fixture.check();
    }
}

#[tokio::test]
async fn every_write_begins_the_time_anew() {
    let fixture = fixture(Some(10));
    let number = fixture.create(A, &body("1", None)).await.unwrap().item.header().number;
    let patch = async || {
        let increment = Operation::Increment { path: Pointer::parse("/n").unwrap(), by: Value::Int64(1) };
        let patch = Patch::new(vec![increment], 20).unwrap();
        fixture.container.patch_item(&key(A), "1", patch, Precondition::None, Priority::High).await
    };
    for round in 0..3 {
        fixture.pass(10);
        match round {
            0 => {
                drop(fixture.write(WriteMode::Upsert, A, &body("1", None), Precondition::None).await.unwrap())
            }
            1 => drop(
                fixture.write(WriteMode::Replace, A, &body("1", None), Precondition::None).await.unwrap(),
            ),
            _ => {
                patch().await.unwrap();
            }
        }
        assert_eq!(fixture.purge().await, 0);
        assert!(is_there(&fixture, "1", number).await);
    }
    // Reading does not.
    fixture.pass(11);
    assert!(!is_there(&fixture, "1", number).await);
    refused(patch().await, ErrorKind::ItemNotFound);
    fixture.check();
}

/// What is stored of an item may say another time with every version.
#[tokio::test]
async fn the_time_of_an_item_may_change() {
    let fixture = fixture(Some(10));
    for ttl in [None, Some(20), Some(5), Some(-1), Some(7), None, Some(7), Some(7)] {
        fixture.write(WriteMode::Upsert, A, &body("1", ttl), Precondition::None).await.unwrap();
        fixture.check();
        fixture.pass(1);
    }
    fixture.pass(6);
    assert!(fixture.read(A, "1").is_ok());
    fixture.pass(1);
    refused(fixture.read(A, "1"), ErrorKind::ItemNotFound);
    assert_eq!(fixture.purge().await, 1);
    fixture.check();
}

#[tokio::test]
async fn another_default_counts_at_once_for_what_is_still_stored() {
    let fixture = fixture(Some(10));
    let number = fixture.create(A, &body("1", None)).await.unwrap().item.header().number;
    fixture.pass(11);
    for (default_ttl, expected) in [
        (Some(10), false),
        (Some(11), true),
        (Some(1), false),
        (Some(-1), true),
        (Some(5), false),
        (None, true),
        (Some(100), true),
        (Some(2), false),
    ] {
        set_default(&fixture.container, default_ttl);
        assert_eq!(is_there(&fixture, "1", number).await, expected, "{default_ttl:?}");
        if expected {
            assert_eq!(fixture.purge().await, 0, "{default_ttl:?}");
        }
    }
    assert_eq!(fixture.purge().await, 1);
    // What is gone stays gone.
    set_default(&fixture.container, None);
    assert!(!is_there(&fixture, "1", number).await);
    fixture.check();
}

#[tokio::test]
async fn times_of_items_count_once_the_container_has_them() {
    let fixture = fixture(None);
    for (id, ttl) in [("1", Some(5)), ("2", Some(-1)), ("3", None), ("4", Some(50))] {
        fixture.create(A, &body(id, ttl)).await.unwrap();
    }
    fixture.pass(20);
    assert_eq!(fixture.purge().await, 0);
    let there = |fixture: &Fixture| list(&fixture.container, ListScope::All, 10).concat();
    assert_eq!(there(&fixture), ["1", "2", "3", "4"]);
    set_default(&fixture.container, Some(-1));
    assert_eq!(there(&fixture), ["2", "3", "4"]);
    set_default(&fixture.container, Some(10));
    assert_eq!(there(&fixture), ["2", "4"]);
    assert_eq!(fixture.purge().await, 2);
    assert_eq!(there(&fixture), ["2", "4"]);
    fixture.check();
}

/// An expired item is not there for writers, before it is purged and after.
#[tokio::test]
async fn writes_find_nothing_or_room() {
    for is_purged in [false, true] {
        for act in 0..8 {
            let what = format!("purged {is_purged}, act {act}");
            let fixture = fixture(Some(10));
            let container = &fixture.container;
            let old = fixture.create(A, &body("1", None)).await.unwrap();
            let etag = Some(fixture.etag(&old.item));
            fixture.pass(11);
            if is_purged {
                assert_eq!(fixture.purge().await, 1);
            }
            let before = container.positions().unwrap()[0].lsn;
            // Its own entry in the log has a commit of its own, but inside of a transaction.
            let purges = u64::from(!is_purged);
            let body = body("1", Some(100));
            let (expected_lsn, is_created) = match act {
                0 | 1 => {
                    let mode = if act == 0 { WriteMode::Create } else { WriteMode::Upsert };
                    let written = fixture.write(mode, A, &body, Precondition::None).await.unwrap();
                    assert_eq!(written.kind, ChangeKind::Create, "{what}");
                    assert!(written.item.header().number > old.item.header().number, "{what}");
                    (before + 1 + purges, true)
                }
                2 => {
                    let written = fixture.write(WriteMode::Replace, A, &body, Precondition::None).await;
                    refused(written, ErrorKind::ItemNotFound);
                    (before, false)
                }
                3 => {
                    let precondition = Precondition::Version(etag);
                    let deleted = container.delete_item(&key(A), "1", precondition, Priority::High).await;
                    refused(deleted, ErrorKind::ItemNotFound);
                    (before, false)
                }
                4 => {
                    let written = fixture.write(WriteMode::Create, A, &body, Precondition::Missing).await;
                    assert_eq!(written.unwrap().kind, ChangeKind::Create, "{what}");
                    (before + 1 + purges, true)
                }
                5 => {
                    let steps = vec![
                        BatchStep::Put {
                            mode: WriteMode::Create,
                            id: None,
                            body: body.clone().into(),
                            precondition: Precondition::None,
                        },
                        BatchStep::Read { id: "1".to_owned(), known: None, precondition: Precondition::None },
                    ];
                    let done = container.batch(&key(A), steps, ReadCost::Single, Priority::High).await;
                    assert!(done.unwrap().is_ok(), "{what}");
                    (before + 1, true)
                }
                6 => {
                    let steps = vec![
                        BatchStep::Put {
                            mode: WriteMode::Upsert,
                            id: None,
                            body: body.clone().into(),
                            precondition: Precondition::None,
                        },
                        BatchStep::Delete { id: "none".to_owned(), precondition: Precondition::None },
                    ];
                    let done = container.batch(&key(A), steps, ReadCost::Single, Priority::High).await;
                    let failed = done.unwrap().err().unwrap();
                    assert_eq!((failed.step, failed.error.kind), (1, ErrorKind::ItemNotFound), "{what}");
                    (before, false)
                }
                _ => {
                    let (number, ..) = run(container, &key(A), |transaction| {
                        assert!(transaction.read("1")?.is_none());
                        assert!(transaction.delete("1", Precondition::None).is_err());
                        let written =
                            transaction.put(WriteMode::Create, None, body.as_bytes(), Precondition::None)?;
                        assert_eq!(written.kind, ChangeKind::Create, "{what}");
                        assert!(transaction.read("1")?.is_some());
                        Ok(written.item.header().number)
                    })
                    .await
                    .unwrap();
                    assert!(number > old.item.header().number, "{what}");
                    (before + 1, true)
                }
            };
            assert_eq!(container.positions().unwrap()[0].lsn, expected_lsn, "{what}");
            assert_eq!(fixture.read(A, "1").is_ok(), is_created, "{what}");
            fixture.check();
            let stored = u64::from(is_created || !is_purged);
            assert_eq!(container.counters().unwrap().items, stored, "{what}");
            let left = if is_created { 0 } else { purges };
            assert_eq!(fixture.purge().await, left, "{what}");
            fixture.check();
        }
    }
}

#[tokio::test]
async fn unique_keys_of_expired_items_are_free() {
    for is_purged in [false, true] {
        for in_transaction in [false, true] {
            let what = format!("purged {is_purged}, in a transaction {in_transaction}");
            let fixture = fixture(Some(10));
            fixture.create(A, &unique_body("1", None, "u", "1")).await.unwrap();
            fixture.create(A, &unique_body("2", Some(10), "2", "v")).await.unwrap();
            fixture.create(A, &unique_body("3", Some(100), "w", "w")).await.unwrap();
            // At the bound they are not.
            fixture.pass(10);
            let taken = fixture.create(A, &unique_body("4", None, "u", "v")).await;
            refused(taken, ErrorKind::UniqueKeyTaken);
            fixture.pass(1);
            if is_purged {
                assert_eq!(fixture.purge().await, 2);
            }
            let taken = fixture.create(A, &unique_body("4", None, "u", "w")).await;
            refused(taken, ErrorKind::UniqueKeyTaken);
            fixture.check();
            let body = unique_body("4", None, "u", "v");
            if in_transaction {
                let put = |transaction: &mut armilla_container::Transaction| {
                    transaction.put(WriteMode::Create, None, body.as_bytes(), Precondition::None)
                };
                run(&fixture.container, &key(A), put).await.unwrap();
            } else {
                fixture.create(A, &body).await.unwrap();
            }
            fixture.check();
            assert_eq!(fixture.container.counters().unwrap().items, 2, "{what}");
            assert_eq!(list(&fixture.container, ListScope::All, 10).concat(), ["3", "4"], "{what}");
            assert_eq!(fixture.purge().await, 0, "{what}");
        }
    }
}

/// A transaction sees one moment: what was there when it began is there until it is committed.
#[tokio::test]
async fn items_that_expire_under_a_transaction() {
    let begin = |fixture: &Fixture, attempt| {
        let container = fixture.container.clone();
        async move { container.begin(&key(A), attempt, ReadCost::Single, Priority::High).await.unwrap() }
    };
    for act in 0..3 {
        // No other writer interferes: whatever it read, it goes through.
        let fixture = fixture(Some(10));
        fixture.create(A, &body("1", None)).await.unwrap();
        fixture.pass(10);
        let mut transaction = begin(&fixture, 0).await;
        assert!(transaction.read("1").unwrap().is_some());
        fixture.pass(1);
        assert!(transaction.read("1").unwrap().is_some());
        assert!(transaction.snapshot().point("1").unwrap().is_some());
        match act {
            0 => drop(transaction.delete("1", Precondition::Exists).unwrap()),
            1 => {
                let written = transaction.put(
                    WriteMode::Replace,
                    Some("1"),
                    body("1", None).as_bytes(),
                    Precondition::Exists,
                );
                assert_eq!(written.unwrap().kind, ChangeKind::Replace);
            }
            _ => drop(
                transaction
                    .put(WriteMode::Create, None, body("2", None).as_bytes(), Precondition::None)
                    .unwrap(),
            ),
        }
        fixture.pass(5);
        transaction.commit().await.unwrap();
        fixture.check();
        let expected: &[&str] = [&[][..], &["1"], &["2"]][act];
        assert_eq!(list(&fixture.container, ListScope::All, 10).concat(), expected, "act {act}");
    }

    // The item is purged meanwhile: it has to be run again, and finds nothing then.
    let fixture = fixture(Some(10));
    fixture.create(A, &body("1", None)).await.unwrap();
    let mut transaction = begin(&fixture, 0).await;
    transaction.delete("1", Precondition::None).unwrap();
    fixture.pass(11);
    assert_eq!(fixture.purge().await, 1);
    refused(transaction.commit().await, ErrorKind::Conflict);

    // One that had expired before it began may be purged or not.
    fixture.create(A, &body("1", None)).await.unwrap();
    fixture.pass(11);
    let mut transaction = begin(&fixture, 0).await;
    assert!(transaction.read("1").unwrap().is_none());
    transaction.put(WriteMode::Create, None, body("1", None).as_bytes(), Precondition::None).unwrap();
    assert_eq!(fixture.purge().await, 1);
    transaction.commit().await.unwrap();
    fixture.check();

    // Who holds the logical partition is not run again: nothing is purged there.
    let mut transaction = begin(&fixture, armilla_container::OPTIMISTIC_ATTEMPTS_MAX).await;
    fixture.pass(11);
    fixture
        .write(WriteMode::Create, r#"["b"]"#, r#"{"id":"1","pk":"b","ttl":1}"#, Precondition::None)
        .await
        .unwrap();
    fixture.pass(2);
    assert_eq!(fixture.purge().await, 1, "only that of the other logical partition");
    assert!(transaction.read("1").unwrap().is_some());
    transaction.put(WriteMode::Create, None, body("2", None).as_bytes(), Precondition::None).unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(fixture.purge().await, 1);
    assert_eq!(list(&fixture.container, ListScope::All, 10).concat(), ["2"]);
    fixture.check();
}

/// A full page of expired items is not the end.
#[tokio::test]
async fn pages_go_on_behind_expired_items() {
    let fixture = fixture(Some(-1));
    for number in 0..2_000 {
        let ttl = if number % 700 == 0 { -1 } else { 1 };
        fixture.create(A, &body(&format!("{number:04}"), Some(ttl))).await.unwrap();
    }
    fixture.pass(2);
    let expected = ["0000", "0700", "1400"];
    for scope in [ListScope::All, ListScope::PartitionKey(key(A))] {
        for items_max in [1, 2, 1_000] {
            assert_eq!(list(&fixture.container, scope.clone(), items_max).concat(), expected);
        }
        let reader = fixture.container.readers(&scope, &SessionToken::default()).unwrap().pop().unwrap();
        for items_max in [1, 3, 256] {
            let mut found = Vec::new();
            while reader
                .scan(
                    found.last().map(|(key, _): &(bytes::Bytes, _)| key.clone()).as_deref(),
                    items_max,
                    &mut found,
                )
                .unwrap()
            {}
            let ids: Vec<_> = found.iter().map(|(_, item)| value(item)).collect();
            assert_eq!(ids.len(), 3, "{ids:?}");
        }
    }
    check(&fixture.container);
}
