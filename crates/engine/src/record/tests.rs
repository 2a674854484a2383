//! Reading and writing the records of the tree.

use super::*;

fn record(ranges: &str) -> Bytes {
    let mut bytes = vec![FORMAT_VERSION];
    bytes.extend_from_slice(format!(r#"{{"ranges":{ranges}}}"#).as_bytes());
    bytes.into()
}

fn range(id: u32, min: &str, max: &str) -> String {
    format!(r#"{{"id":{id},"min":"{min}","max":"{max}","parents":[],"space":{id},"lsnBase":0}}"#)
}

#[test]
fn a_partition_map_covers_the_ring_or_is_damaged() {
    let read = |ranges: &str| Record::decode(&record(ranges), "a container").unwrap().map(77);
    let whole = read(&format!("[{},{}]", range(0, "", "20"), range(1, "20", "FF"))).unwrap();
    assert_eq!(whole.ranges.len(), 2);
    // The form of older versions.
    assert_eq!(whole.version, FIRST_MAP_VERSION);
    assert!(whole.ranges.iter().all(|range| (range.map_version, range.ts) == (FIRST_MAP_VERSION, 77)));
    for damaged in [
        "[]".to_owned(),
        "7".to_owned(),
        "[{}]".to_owned(),
        format!("[{}]", range(0, "10", "FF")),
        format!("[{}]", range(0, "", "20")),
        format!("[{},{}]", range(0, "", "20"), range(1, "30", "FF")),
        format!("[{},{}]", range(0, "", "30"), range(1, "20", "FF")),
    ] {
        assert_eq!(read(&damaged).unwrap_err().kind, ErrorKind::Corrupt, "{damaged}");
    }
}

#[test]
fn records_of_other_versions_are_refused() {
    for bytes in [&b""[..], &[9, b'{', b'}'], &[FORMAT_VERSION, b'['], &[FORMAT_VERSION, b'1']] {
        let error = Record::decode(bytes, "a record").err().unwrap();
        assert_eq!(error.kind, ErrorKind::Corrupt, "{bytes:?}");
    }
}

#[test]
fn a_partition_map_comes_back() {
    let range = |id: u32, min: &str, max: &str| Range {
        id,
        min: HashedKey::from_hex(min).unwrap(),
        max: HashedKey::from_hex(max).unwrap(),
        parents: vec![0, 1],
        space: SpaceId(u64::from(id) + 7),
        lsn_base: 12,
        map_version: u64::from(id),
        ts: 1_700_000_000 + id,
    };
    let map = PartitionMap { version: 4, ranges: vec![range(3, "", "20"), range(4, "20", "FF")] };
    let mut object = Object::default();
    put_map(&mut object, &map);
    let encoded = encode(object);
    let read = Record::decode(&encoded, "a container").unwrap().map(1).unwrap();
    assert_eq!((read.version, read.ranges), (map.version, map.ranges));
    let half = range_text_without_time();
    let damaged = Record::decode(&half, "a container").unwrap().map(1);
    assert_eq!(damaged.err().map(|error| error.kind), Some(ErrorKind::Corrupt));
}

/// One that says in which map a range was first, and not when.
fn range_text_without_time() -> Bytes {
    let text = r#"[{"id":0,"min":"","max":"FF","parents":[],"space":1,"lsnBase":0,"mapVersion":2}]"#;
    record(text)
}
