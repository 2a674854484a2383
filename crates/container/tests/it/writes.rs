//! What each write does and refuses.

use std::time::Duration;

use armilla_container::{
    ChangeKind, ErrorKind, Limits, Operation, Patch, Pointer, Precondition, Priority, WriteMode,
};
use armilla_value::Value;

use crate::support::{Fixture, key, refused, text, value};

#[tokio::test]
async fn created_items_are_read_back_as_written() {
    let fixture = Fixture::simple();
    let body = r#"{ "id" : "1", "pk":"a", "n": 9007199254740993, "f": 1.50, "z":null, "a":[{}] }"#;
    let written = fixture.create(r#"["a"]"#, body).await.unwrap();
    assert_eq!(written.kind, ChangeKind::Create);
    let item = fixture.read(r#"["a"]"#, "1").unwrap();
    assert_eq!(text(&item), r#"{"id":"1","pk":"a","n":9007199254740993,"f":1.50,"z":null,"a":[{}]}"#);
    assert_eq!(item.header(), written.item.header());
    fixture.check();
}

#[tokio::test]
async fn the_same_id_lives_once_in_each_logical_partition() {
    let fixture = Fixture::simple();
    for (partition_key, body) in [
        (r#"["a"]"#, r#"{"id":"1","pk":"a"}"#),
        (r#"["b"]"#, r#"{"id":"1","pk":"b"}"#),
        ("[null]", r#"{"id":"1","pk":null}"#),
        ("[{}]", r#"{"id":"1"}"#),
        (r#"[""]"#, r#"{"id":"1","pk":""}"#),
        ("[1]", r#"{"id":"1","pk":1}"#),
        ("[true]", r#"{"id":"1","pk":true}"#),
    ] {
        fixture.create(partition_key, body).await.unwrap();
        refused(fixture.create(partition_key, body).await, ErrorKind::ItemExists);
        assert_eq!(text(&fixture.read(partition_key, "1").unwrap()), body);
    }
    fixture.check();
}

#[tokio::test]
async fn versions_change_and_numbers_stay() {
    let fixture = Fixture::simple();
    let first = fixture.create(r#"["a"]"#, r#"{"id":"1","pk":"a"}"#).await.unwrap();
    fixture.clock.advance(Duration::from_secs(5));
    let body = r#"{"id":"1","pk":"a","n":1}"#;
    let second = fixture.write(WriteMode::Upsert, r#"["a"]"#, body, Precondition::None).await.unwrap();
    assert_eq!(second.kind, ChangeKind::Replace);
    assert_ne!(fixture.etag(&first.item), fixture.etag(&second.item));
    assert_eq!(first.item.header().number, second.item.header().number);
    assert_eq!(second.item.header().lsn, first.item.header().lsn + 1);
    assert_eq!(second.item.header().ts, first.item.header().ts + 5);
    fixture.check();
}

#[tokio::test]
async fn replace_with_a_stale_etag_is_refused() {
    let fixture = Fixture::simple();
    let partition_key = r#"["a"]"#;
    let first = fixture.create(partition_key, r#"{"id":"1","pk":"a"}"#).await.unwrap();
    let held = Precondition::Version(Some(fixture.etag(&first.item)));
    let body = r#"{"id":"1","pk":"a","n":1}"#;
    fixture.write(WriteMode::Replace, partition_key, body, held).await.unwrap();
    let error = refused(
        fixture.write(WriteMode::Replace, partition_key, body, held).await,
        ErrorKind::PreconditionFailed,
    );
    assert_eq!(error.charge.to_string(), "1.24");
    assert_eq!(error.position.unwrap().lsn, 2);
    let never = Precondition::Version(None);
    refused(
        fixture.write(WriteMode::Upsert, partition_key, body, never).await,
        ErrorKind::PreconditionFailed,
    );
    refused(
        fixture.container.delete_item(&key(partition_key), "1", held, Priority::High).await,
        ErrorKind::PreconditionFailed,
    );
    let patch = Patch::new(vec![Operation::Remove { path: Pointer::parse("/n").unwrap() }], 0).unwrap();
    let patched = fixture.container.patch_item(&key(partition_key), "1", patch, held, Priority::High).await;
    refused(patched, ErrorKind::PreconditionFailed);
    assert_eq!(text(&fixture.read(partition_key, "1").unwrap()), body);
}

#[tokio::test]
async fn preconditions_on_what_is_not_there() {
    let fixture = Fixture::simple();
    let partition_key = r#"["a"]"#;
    let body = r#"{"id":"1","pk":"a"}"#;
    refused(
        fixture.write(WriteMode::Replace, partition_key, body, Precondition::None).await,
        ErrorKind::ItemNotFound,
    );
    refused(
        fixture.container.delete_item(&key(partition_key), "1", Precondition::None, Priority::High).await,
        ErrorKind::ItemNotFound,
    );
    // An upsert that creates does not look at the version.
    fixture.write(WriteMode::Upsert, partition_key, body, Precondition::Version(None)).await.unwrap();
    for mode in [WriteMode::Create, WriteMode::Upsert] {
        let result = fixture.write(mode, partition_key, body, Precondition::Missing).await;
        refused(result, ErrorKind::PreconditionFailed);
    }
}

#[tokio::test]
async fn deleted_items_are_gone_and_come_back_as_others() {
    let fixture = Fixture::simple();
    let partition_key = r#"["a"]"#;
    let body = r#"{"id":"1","pk":"a"}"#;
    let first = fixture.create(partition_key, body).await.unwrap();
    let deleted = fixture
        .container
        .delete_item(&key(partition_key), "1", Precondition::Exists, Priority::High)
        .await
        .unwrap();
    assert_eq!(deleted.kind, ChangeKind::Delete);
    refused(fixture.read(partition_key, "1"), ErrorKind::ItemNotFound);
    let second = fixture.create(partition_key, body).await.unwrap();
    assert_ne!(first.item.header().number, second.item.header().number);
    assert_eq!(fixture.container.counters().unwrap().items, 1);
    fixture.check();
}

#[tokio::test]
async fn bodies_that_do_not_fit_are_refused() {
    let fixture = Fixture::simple();
    for (partition_key, body, kind, message) in [
        (r#"["a"]"#, r#"{"pk":"a"}"#, ErrorKind::Invalid, "required properties - 'id; '"),
        (r#"["a"]"#, r#"{"id":1,"pk":"a"}"#, ErrorKind::Invalid, "must be a string, it is 1"),
        (r#"["a"]"#, r#"{"id":"","pk":"a"}"#, ErrorKind::Invalid, "must not be empty"),
        (r#"["a"]"#, r#"{"id":"1","pk":"a""#, ErrorKind::Invalid, "not valid"),
        (r#"["a"]"#, r#"[1]"#, ErrorKind::Invalid, "object"),
        (r#"["a"]"#, r#"{"id":"1","pk":"b"}"#, ErrorKind::PartitionKeyMismatch, r#"The item has ["b"]"#),
        (r#"["a"]"#, r#"{"id":"1"}"#, ErrorKind::PartitionKeyMismatch, "The item has [{}]"),
        (r#"["a","b"]"#, r#"{"id":"1","pk":"a"}"#, ErrorKind::PartitionKeyMismatch, "doesn't match"),
        ("[]", r#"{"id":"1","pk":"a"}"#, ErrorKind::PartitionKeyMismatch, "doesn't match"),
        (r#"["a"]"#, r#"{"id":"1","pk":"a","ttl":0}"#, ErrorKind::Invalid, "ttl '0' is invalid"),
        (r#"["a"]"#, r#"{"id":"1","pk":"a","ttl":null}"#, ErrorKind::Invalid, "ttl 'null' is invalid"),
        (r#"["a"]"#, r#"{"id":"1","pk":"a","ttl":1.5}"#, ErrorKind::Invalid, "ttl '1.5' is invalid"),
        (r#"["a"]"#, r#"{"id":"1","pk":"a","ttl":2147483648}"#, ErrorKind::Invalid, "is invalid"),
    ] {
        let error = refused(fixture.create(partition_key, body).await, kind);
        assert!(error.message.contains(message), "{body}: {error}");
    }
    assert_eq!(fixture.container.counters().unwrap().items, 0);
    for ttl in ["1", "-1", "2147483647"] {
        let body = format!(r#"{{"id":"{ttl}","pk":"a","ttl":{ttl}}}"#);
        let written = fixture.create(r#"["a"]"#, &body).await.unwrap();
        assert_eq!(written.item.header().ttl.to_string(), ttl);
    }
}

#[tokio::test]
async fn sizes_are_bounded() {
    let limits = Limits { item_bytes_max: 100, ..Limits::default() };
    let fixture = Fixture::new(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#, 400, limits);
    let body = |length: usize| {
        let fixed = r#"{"id":"1","pk":"a","x":""}"#.len();
        format!(r#"{{"id":"1","pk":"a","x":"{}"}}"#, "x".repeat(length - fixed))
    };
    let error = refused(fixture.create(r#"["a"]"#, &body(101)).await, ErrorKind::ItemTooLarge);
    assert!(error.message.contains("101 bytes long, the limit is 100"), "{error}");
    fixture.create(r#"["a"]"#, &body(100)).await.unwrap();
    let fixture = Fixture::simple();
    let with_id = |length: usize| format!(r#"{{"id":"{}","pk":"a"}}"#, "i".repeat(length));
    fixture.create(r#"["a"]"#, &with_id(1_023)).await.unwrap();
    refused(fixture.create(r#"["a"]"#, &with_id(1_024)).await, ErrorKind::Invalid);
    let key_of = |length: usize| "k".repeat(length);
    let with_key = |length: usize| format!(r#"{{"id":"1","pk":"{}"}}"#, key_of(length));
    fixture.create(&format!(r#"["{}"]"#, key_of(2_048)), &with_key(2_048)).await.unwrap();
    refused(fixture.create(&format!(r#"["{}"]"#, key_of(2_049)), &with_key(2_049)).await, ErrorKind::Invalid);
    fixture.check();
}

#[tokio::test]
async fn unique_keys_hold_inside_a_logical_partition() {
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
        "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/mail"]},{"paths":["/a","/b/c"]}]}}"#;
    let fixture = Fixture::new(definition, 400, Limits::default());
    let a = r#"["a"]"#;
    fixture.create(a, r#"{"id":"1","pk":"a","mail":"x","a":1}"#).await.unwrap();
    refused(fixture.create(a, r#"{"id":"2","pk":"a","mail":"x","a":2}"#).await, ErrorKind::UniqueKeyTaken);
    // The second unique key: what is missing counts as null.
    refused(
        fixture.create(a, r#"{"id":"2","pk":"a","mail":"y","a":1,"b":{"c":null}}"#).await,
        ErrorKind::UniqueKeyTaken,
    );
    fixture.create(r#"["b"]"#, r#"{"id":"2","pk":"b","mail":"x","a":1}"#).await.unwrap();
    fixture.create(a, r#"{"id":"2","pk":"a","mail":"X","a":"1"}"#).await.unwrap();
    // A replace gives its old values back and may keep them.
    let body = r#"{"id":"1","pk":"a","mail":"z","a":1}"#;
    fixture.write(WriteMode::Replace, a, body, Precondition::None).await.unwrap();
    fixture.create(a, r#"{"id":"3","pk":"a","mail":"x","a":3}"#).await.unwrap();
    refused(
        fixture.write(WriteMode::Upsert, a, r#"{"id":"1","pk":"a","mail":"x"}"#, Precondition::None).await,
        ErrorKind::UniqueKeyTaken,
    );
    fixture.container.delete_item(&key(a), "3", Precondition::None, Priority::High).await.unwrap();
    fixture.create(a, r#"{"id":"4","pk":"a","mail":"x","a":3}"#).await.unwrap();
    // Long values count as a whole.
    let long = "l".repeat(5_000);
    fixture.create(a, &format!(r#"{{"id":"5","pk":"a","mail":"{long}1","a":5}}"#)).await.unwrap();
    fixture.create(a, &format!(r#"{{"id":"6","pk":"a","mail":"{long}2","a":6}}"#)).await.unwrap();
    refused(
        fixture.create(a, &format!(r#"{{"id":"7","pk":"a","mail":"{long}1","a":7}}"#)).await,
        ErrorKind::UniqueKeyTaken,
    );
    fixture.check();
}

#[tokio::test]
async fn a_full_logical_partition_refuses_growth_only() {
    let limits = Limits { logical_partition_bytes_max: 2_000, ..Limits::default() };
    let fixture = Fixture::new(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#, 400, limits);
    let a = r#"["a"]"#;
    let body = |id: u32, length: usize| format!(r#"{{"id":"{id}","pk":"a","x":"{}"}}"#, "x".repeat(length));
    fixture.create(a, &body(1, 300)).await.unwrap();
    fixture.create(a, &body(2, 300)).await.unwrap();
    let error = refused(fixture.create(a, &body(3, 300)).await, ErrorKind::LogicalPartitionFull);
    assert!(error.message.starts_with("partition key reached maximum size of 2000 bytes"), "{error}");
    refused(
        fixture.write(WriteMode::Upsert, a, &body(2, 1_900), Precondition::None).await,
        ErrorKind::LogicalPartitionFull,
    );
    fixture.write(WriteMode::Upsert, a, &body(2, 299), Precondition::None).await.unwrap();
    fixture.read(a, "1").unwrap();
    fixture.create(r#"["b"]"#, &body(3, 300).replace(r#""pk":"a""#, r#""pk":"b""#)).await.unwrap();
    fixture.container.delete_item(&key(a), "1", Precondition::None, Priority::High).await.unwrap();
    fixture.create(a, &body(3, 300)).await.unwrap();
    assert_eq!(fixture.container.logical_size(&key(a)).unwrap().items, 2);
    fixture.check();
}

#[tokio::test]
async fn patches_change_the_stored_item() {
    let fixture = Fixture::simple();
    let a = r#"["a"]"#;
    fixture.create(a, r#"{"id":"1","pk":"a","n":1,"list":[1]}"#).await.unwrap();
    let pointer = |text: &str| Pointer::parse(text).unwrap();
    let operations = vec![
        Operation::Increment { path: pointer("/n"), by: Value::Int64(4) },
        Operation::Add { path: pointer("/list/-"), value: Value::Int64(2) },
    ];
    let patch = Patch::new(operations, 0).unwrap();
    let written = fixture
        .container
        .patch_item(&key(a), "1", patch.clone(), Precondition::None, Priority::High)
        .await
        .unwrap();
    assert_eq!(written.kind, ChangeKind::Replace);
    assert_eq!(text(&fixture.read(a, "1").unwrap()), r#"{"id":"1","pk":"a","n":5,"list":[1,2]}"#);
    refused(
        fixture.container.patch_item(&key(a), "2", patch, Precondition::None, Priority::High).await,
        ErrorKind::ItemNotFound,
    );
    let broken = Patch::new(
        vec![
            Operation::Set { path: pointer("/n"), value: Value::Int64(7) },
            Operation::Remove { path: pointer("/missing") },
        ],
        0,
    );
    let result =
        fixture.container.patch_item(&key(a), "1", broken.unwrap(), Precondition::None, Priority::High).await;
    refused(result, ErrorKind::Invalid);
    assert_eq!(value(&fixture.read(a, "1").unwrap()).get("n").unwrap().as_i64(), Some(5));
    fixture.check();
}

#[tokio::test]
async fn one_winner_among_writers_with_the_same_etag() {
    let fixture = std::sync::Arc::new(Fixture::simple());
    let mut held = {
        let written = fixture.create(r#"["a"]"#, r#"{"id":"1","pk":"a"}"#).await.unwrap();
        fixture.etag(&written.item)
    };
    for round in 0..20 {
        let mut tasks = Vec::new();
        for writer in 0..16 {
            let fixture = fixture.clone();
            tasks.push(tokio::spawn(async move {
                let body = format!(r#"{{"id":"1","pk":"a","round":{round},"writer":{writer}}}"#);
                fixture.write(WriteMode::Replace, r#"["a"]"#, &body, Precondition::Version(Some(held))).await
            }));
        }
        let mut winners = Vec::new();
        for task in tasks {
            match task.await.unwrap() {
                Ok(written) => winners.push(written),
                Err(error) => assert_eq!(error.kind, ErrorKind::PreconditionFailed),
            }
        }
        assert_eq!(winners.len(), 1);
        held = fixture.etag(&winners[0].item);
    }
    fixture.check();
}

#[tokio::test]
async fn hierarchical_and_nested_keys() {
    let definition = r#"{"id":"c","partitionKey":{"paths":["/t","/u/name"],"kind":"MultiHash","version":2}}"#;
    let fixture = Fixture::new(definition, 400, Limits::default());
    fixture.create(r#"["x","y"]"#, r#"{"id":"1","t":"x","u":{"name":"y"}}"#).await.unwrap();
    // One SDK sends null where a level is missing.
    fixture.create(r#"["x",null]"#, r#"{"id":"2","t":"x"}"#).await.unwrap();
    assert_eq!(text(&fixture.read(r#"["x",{}]"#, "2").unwrap()), r#"{"id":"2","t":"x"}"#);
    refused(fixture.read(r#"["x"]"#, "1"), ErrorKind::PartitionKeyMismatch);
    fixture.check();
}

#[tokio::test]
async fn hash_version_1() {
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":1}}"#;
    let fixture = Fixture::new(definition, 40_000, Limits::default());
    for number in 0..50 {
        let body = format!(r#"{{"id":"{number}","pk":{number}}}"#);
        fixture.create(&format!("[{number}]"), &body).await.unwrap();
        assert_eq!(text(&fixture.read(&format!("[{number}]"), &number.to_string()).unwrap()), body);
    }
    fixture.check();
}

/// A replace may change the id of an item inside its logical partition.
#[tokio::test]
async fn a_replace_may_give_another_id() {
    let fixture = Fixture::simple();
    let a = key(r#"["a"]"#);
    for id in ["1", "2"] {
        fixture.create(r#"["a"]"#, &format!(r#"{{"id":"{id}","pk":"a"}}"#)).await.unwrap();
    }
    let is_there = |id: &str| fixture.read(r#"["a"]"#, id).is_ok();
    let replace = async |from: &str, to: &str, precondition: Precondition| {
        let body = format!(r#"{{"id":"{to}","pk":"a","from":"{from}"}}"#);
        let (mode, priority) = (WriteMode::Replace, Priority::High);
        fixture.container.write_item(mode, &a, Some(from), body.into(), precondition, priority).await
    };
    refused(replace("1", "2", Precondition::None).await, ErrorKind::ItemExists);
    refused(replace("7", "8", Precondition::None).await, ErrorKind::ItemNotFound);
    refused(replace("1", "3", Precondition::Version(None)).await, ErrorKind::PreconditionFailed);
    assert!(is_there("1") && is_there("2") && !is_there("3") && !is_there("8"));
    fixture.check();
    let etag = Some(fixture.etag(&fixture.read(r#"["a"]"#, "1").unwrap()));
    let written = replace("1", "3", Precondition::Version(etag)).await.unwrap();
    assert_eq!(written.kind, ChangeKind::Replace);
    assert!(!is_there("1") && is_there("3"));
    replace("3", "1", Precondition::None).await.unwrap();
    assert!(is_there("1") && !is_there("3"));
    fixture.check();
}

#[tokio::test]
async fn what_is_missing_is_null_to_a_unique_key() {
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/m/a"]}]}}"#;
    let bodies = [
        r#"{"id":"1","pk":"a"}"#,
        r#"{"id":"2","pk":"a","m":{"a":null}}"#,
        r#"{"id":"3","pk":"a","m":null}"#,
        r#"{"id":"4","pk":"a","m":5}"#,
        r#"{"id":"5","pk":"a","m":{}}"#,
        r#"{"id":"6","pk":"a","m":[{"a":1}]}"#,
    ];
    for first in bodies {
        let fixture = Fixture::new(definition, 400, Limits::default());
        fixture.create(r#"["a"]"#, first).await.unwrap();
        for second in bodies.iter().filter(|second| **second != first) {
            refused(fixture.create(r#"["a"]"#, second).await, ErrorKind::UniqueKeyTaken);
        }
        fixture.create(r#"["a"]"#, r#"{"id":"7","pk":"a","m":{"a":0}}"#).await.unwrap();
        fixture.check();
    }
}

#[tokio::test]
async fn sparse_unique_keys_leave_items_out() {
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
        "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/m"],"sparse":true},{"paths":["/a","/b"],"sparse":true}]}}"#;
    let fixture = Fixture::new(definition, 20_000, Limits::default());
    let a = r#"["a"]"#;
    let partition_key = key(a);
    let upsert = |body: &'static str| {
        let (mode, free) = (WriteMode::Upsert, Precondition::None);
        fixture.container.write_item(mode, &partition_key, None, body.into(), free, Priority::High)
    };
    for body in [r#"{"id":"1","pk":"a"}"#, r#"{"id":"2","pk":"a"}"#, r#"{"id":"3","pk":"a","m":null}"#] {
        upsert(body).await.unwrap();
    }
    // A null that is there is a value.
    refused(upsert(r#"{"id":"1","pk":"a","m":null}"#).await, ErrorKind::UniqueKeyTaken);
    upsert(r#"{"id":"1","pk":"a","m":1,"a":1}"#).await.unwrap();
    refused(upsert(r#"{"id":"2","pk":"a","m":1}"#).await, ErrorKind::UniqueKeyTaken);
    // An item that has one of the values is not left out; what it lacks is null.
    refused(upsert(r#"{"id":"2","pk":"a","a":1,"b":null}"#).await, ErrorKind::UniqueKeyTaken);
    upsert(r#"{"id":"2","pk":"a","b":1}"#).await.unwrap();
    fixture.check();
    // Values are free again once an item is left out, or gone.
    upsert(r#"{"id":"1","pk":"a"}"#).await.unwrap();
    upsert(r#"{"id":"4","pk":"a","m":1,"a":1}"#).await.unwrap();
    fixture.check();
    fixture.container.delete_item(&key(a), "3", Default::default(), Priority::High).await.unwrap();
    fixture.container.delete_item(&key(a), "1", Default::default(), Priority::High).await.unwrap();
    upsert(r#"{"id":"5","pk":"a","m":null}"#).await.unwrap();
    fixture.check();
    crate::reshaping::split(&fixture.container, 0, armilla_container::CutBy::Arc).await.unwrap();
    fixture.check();
    refused(upsert(r#"{"id":"6","pk":"a","m":1}"#).await, ErrorKind::UniqueKeyTaken);
    upsert(r#"{"id":"6","pk":"a"}"#).await.unwrap();
    fixture.check();
}

/// With unique keys the one that goes gives its values to the one that comes, and takes them back if that fails.
#[tokio::test]
async fn another_id_keeps_unique_values() {
    let definition =
        r#"{"id":"c","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#;
    let fixture = Fixture::new(definition, 400, Limits::default());
    let a = key(r#"["a"]"#);
    for id in [1, 2] {
        fixture.create(r#"["a"]"#, &format!(r#"{{"id":"{id}","pk":"a","u":{id}}}"#)).await.unwrap();
    }
    let replace = async |from: &str, body: &str| {
        let (mode, priority) = (WriteMode::Replace, Priority::High);
        fixture.container.write_item(mode, &a, Some(from), body.into(), Precondition::None, priority).await
    };
    replace("1", r#"{"id":"3","pk":"a","u":1}"#).await.unwrap();
    refused(replace("3", r#"{"id":"4","pk":"a","u":2}"#).await, ErrorKind::UniqueKeyTaken);
    refused(fixture.create(r#"["a"]"#, r#"{"id":"5","pk":"a","u":1}"#).await, ErrorKind::UniqueKeyTaken);
    fixture.read(r#"["a"]"#, "3").unwrap();
    fixture.check();
}
