//! The partition map, and sessions.

use std::sync::Arc;

use armilla_container::{ErrorKind, Limits, Precondition, Priority, ReadCost, SessionToken, WriteMode};
use armilla_env::Env;
use armilla_kv::memory::MemoryStore;

use crate::support::{Fixture, definition, key, open, ranges, refused};

#[test]
fn throughput_decides_how_many_partitions_there_are() {
    let definition = definition(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#);
    for (throughput, count) in [(400, 1), (10_000, 1), (10_100, 2), (20_000, 2), (60_000, 6)] {
        let ranges = ranges(&definition, throughput, &Limits::default());
        assert_eq!(ranges.len(), count, "{throughput}");
        assert_eq!(ranges[0].min.to_hex(), "");
        assert_eq!(ranges[count - 1].max.to_hex(), "FF");
        assert!(ranges.windows(2).all(|pair| pair[0].max == pair[1].min));
    }
    let two = ranges(&definition, 20_000, &Limits::default());
    assert_eq!(two[0].max.to_hex(), format!("1{}", "F".repeat(31)));
}

#[tokio::test]
async fn items_spread_over_the_partitions() {
    let fixture = Fixture::new(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#, 40_000, Limits::default());
    for number in 0..400 {
        let body = format!(r#"{{"id":"{number}","pk":"{number}"}}"#);
        fixture.create(&format!(r#"["{number}"]"#), &body).await.unwrap();
    }
    let lsns: Vec<u64> = fixture.container.positions().unwrap().iter().map(|position| position.lsn).collect();
    assert_eq!(lsns.iter().sum::<u64>(), 400);
    assert!(lsns.iter().all(|lsn| (60..140).contains(lsn)), "{lsns:?}");
    fixture.check();
}

#[tokio::test]
async fn a_session_ahead_of_the_partition_is_refused() {
    let fixture = Fixture::simple();
    fixture.create(r#"["a"]"#, r#"{"id":"1","pk":"a"}"#).await.unwrap();
    let read = |token: &str| {
        let session = SessionToken::parse(token).unwrap();
        fixture.container.read_item(&key(r#"["a"]"#), "1", None, &session, ReadCost::Single, Priority::High)
    };
    read("0:-1#1").unwrap();
    read("7:-1#99").unwrap();
    refused(read("0:-1#2"), ErrorKind::SessionNotAvailable);
}

/// Who reads sees a commit as soon as it is durable; that its partition says so a moment later does not matter to readers.
#[tokio::test]
async fn a_session_that_saw_a_commit_before_its_writers_were_told_is_served() {
    let store = Arc::new(MemoryStore::new());
    let open = || {
        let (env, _) = Env::simulated(1);
        let definition = definition(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#);
        let container = open(store.clone(), env, definition, 400, Limits::default());
        // The partition is opened, and notes how far it is.
        container.positions().unwrap();
        container
    };
    let (behind, ahead) = (open(), open());
    let (partition_key, body) = (key(r#"["a"]"#), br#"{"id":"1","pk":"a"}"#);
    let written = ahead
        .write_item(WriteMode::Create, &partition_key, None, body.into(), Precondition::None, Priority::High)
        .await
        .unwrap();
    assert!(behind.positions().unwrap()[0].lsn < written.position.lsn);
    let read = |lsn: u64| {
        let session = SessionToken::parse(&format!("0:-1#{lsn}")).unwrap();
        behind.read_item(&partition_key, "1", None, &session, ReadCost::Single, Priority::High)
    };
    assert!(read(written.position.lsn).is_ok());
    refused(read(written.position.lsn + 1), ErrorKind::SessionNotAvailable);
}
