use armilla_value::rid::DatabaseRid;
use armilla_value::{json, stored};

use super::*;

fn identity() -> ContainerIdentity {
    ContainerIdentity::new(ContainerRid::new(DatabaseRid::new(0x3FA7_D100).unwrap(), 0x00BA_DC0D))
}

fn item(text: &str, header: ItemHeader) -> Item {
    let mut value = vec![0; header.bytes_len()];
    value.extend(stored::encode(text.as_bytes(), &SYSTEM_PROPERTIES).unwrap());
    header.write(&mut value);
    Item::open(value.into()).unwrap()
}

const HEADER: ItemHeader = ItemHeader {
    lsn: 42,
    operation: 3,
    number: 1,
    ts: 1_700_000_000,
    ttl: -1,
    stamp: None,
    shown_operation: None,
};

fn stamped() -> ItemHeader {
    ItemHeader { stamp: Some(Stamp::new(0x0102_0304_0506_0708)), ..HEADER }
}

#[test]
fn header_comes_back() {
    for header in [HEADER, stamped()] {
        let item = item(r#"{"id":"1"}"#, header);
        assert_eq!(*item.header(), header);
        let (bytes, start) = item.raw();
        assert_eq!(start, if header.stamp.is_some() { 36 } else { 28 });
        let again = Item::from_raw(bytes.clone()).unwrap();
        assert_eq!((*again.header(), again.stored().text()), (header, r#"{"id":"1"}"#));
    }
    assert_eq!(stamped().stamp.unwrap().number(), 0x0102_0304_0506_0708);
}

#[test]
fn a_stamp_takes_the_place_of_the_commit_in_the_etag() {
    let identity = identity();
    let shown = |header| item(r#"{"id":"1"}"#, header).etag(&identity).to_string();
    assert_eq!(shown(HEADER), "\"00000000-0000-002a-0003-5cb76553f100\"");
    assert_eq!(shown(stamped()), "\"81020304-0506-0708-0003-5cb76553f100\"");
    assert_eq!(shown(ItemHeader { lsn: 43, ..stamped() }), shown(stamped()));
}

#[test]
fn unknown_versions_and_stamps_are_refused() {
    let plain = item(r#"{"id":"1"}"#, HEADER).bytes().to_vec();
    let stamped = item(r#"{"id":"1"}"#, stamped()).bytes().to_vec();
    let with = |bytes: &[u8], at: usize, byte: u8| {
        let mut bytes = bytes.to_vec();
        bytes[at] = byte;
        Bytes::from(bytes)
    };
    for byte in [3, 0x80, 0xFF] {
        assert!(Item::open(with(&plain, 0, byte)).is_err(), "version {byte:02x}");
        assert!(Item::open(with(&plain, 1, byte)).is_err(), "second byte {byte:02x}");
        assert!(Item::from_raw(with(&stamped, 1, byte)).is_none(), "second byte {byte:02x}");
    }
    // One without a stamp is not taken for one with it.
    assert!(Item::open(with(&plain, 0, 2)).is_err());
    // A stamp without its bit could be a commit number.
    assert!(Item::open(with(&stamped, 28, 0x01)).is_err());
    assert!(Item::open(Bytes::copy_from_slice(&stamped[..35])).is_err());
}

#[test]
fn json_has_the_system_properties() {
    let identity = identity();
    let item = item(r#"{"id":"1", "_ts": 7, "a":[1.50]}"#, HEADER);
    let mut out = Vec::new();
    item.write_json(&identity, &mut out);
    let text = String::from_utf8(out).unwrap();
    expect_test::expect![[r#"{"id":"1","a":[1.50],"_rid":"P6fRAIC63A0BAAAAAAAAAA==","_self":"dbs/P6fRAA==/colls/P6fRAIC63A0=/docs/P6fRAIC63A0BAAAAAAAAAA==/","_etag":"\"00000000-0000-002a-0003-5cb76553f100\"","_attachments":"attachments/","_ts":1700000000}"#]]
    .assert_eq(&text);
    assert_eq!(item.json_bytes(&identity), text.len());
    let parsed = json::parse(text.as_bytes()).unwrap();
    assert_eq!(parsed.get("_etag").unwrap().as_str(), Some(item.etag(&identity).to_string().as_str()));
}

#[test]
fn sizes_are_exact_for_every_time_stamp() {
    let identity = identity();
    for ts in [0, 9, 10, 99, 1_700_000_000, u32::MAX] {
        let item = item(r#"{"id":"x"}"#, ItemHeader { ts, ..HEADER });
        let mut out = Vec::new();
        item.write_json(&identity, &mut out);
        assert_eq!(item.json_bytes(&identity), out.len(), "ts {ts}");
    }
}

#[test]
fn damaged_values_are_refused() {
    let whole = item(r#"{"id":"1"}"#, HEADER).bytes().clone();
    for whole in [whole.clone(), item(r#"{"id":"1"}"#, stamped()).bytes().clone()] {
        for length in 0..whole.len() {
            let damage = Item::open(whole.slice(..length)).is_err()
                || Item::open(whole.slice(..length)).unwrap().stored().verify().is_err();
            assert!(damage, "cut to {length} bytes");
        }
    }
    let mut unknown = whole.to_vec();
    unknown[0] = 9;
    assert!(Item::open(unknown.into()).is_err());
}

#[test]
fn etags() {
    let etag = ETag::new(0x0102_0304_0506_0708, 0x090A, 0x0B0C, 0x0D0E_0F10);
    assert_eq!(etag.to_string(), "\"01020304-0506-0708-090a-0b0c0d0e0f10\"");
    for text in [
        etag.to_string(),
        etag.to_string().replace('"', ""),
        format!(" {etag} "),
        etag.to_string().to_uppercase(),
    ] {
        assert_eq!(ETag::parse(&text), Some(etag), "{text}");
    }
    for text in [
        "",
        "\"\"",
        "*",
        "01020304",
        "\"01020304-0506-0708-090a-0b0c0d0e0f1\"",
        "0102030400506-0708-090a-0b0c0d0e0f10",
    ] {
        assert_eq!(ETag::parse(text), None, "{text}");
    }
}

#[test]
fn another_operation_number_leaves_the_etag_as_it_is() {
    let identity = identity();
    for stamp in [None, Some(Stamp::new(77))] {
        let header = ItemHeader {
            lsn: 42,
            operation: 3,
            number: 1,
            ts: 1_700_000_000,
            ttl: -1,
            stamp,
            shown_operation: None,
        };
        let item = item(r#"{"id":"a"}"#, header);
        let mut moved = item.clone();
        for operation in [4, 9, 9, u16::MAX] {
            moved = moved.renumbered(operation);
            let stored = Item::open(moved.bytes().clone()).unwrap();
            assert_eq!(stored.header(), moved.header());
            assert_eq!(stored.header().version(), (42, operation));
            assert_eq!(stored.header().lasting_version(), item.header().lasting_version());
            assert_eq!(stored.etag(&identity), item.etag(&identity));
            assert_eq!(stored.stored().text(), item.stored().text());
        }
        // Back where it was, it is what it was.
        assert_eq!(moved.renumbered(3).bytes(), item.bytes());
        // A header that is cut short is none.
        for length in 0..moved.header().bytes_len() {
            assert!(Item::open(moved.bytes().slice(..length)).is_err(), "{length}");
        }
    }
}

#[test]
fn an_item_lives_through_its_last_second() {
    let header = |ts, ttl| ItemHeader { ts, ttl, ..HEADER };
    // Since when, for how long, in a container with which default, and the last second in which it lives.
    for (ts, ttl, default_ttl, last_second) in [
        (100, 0, None, None),
        (100, 5, None, None),
        (100, 0, Some(-1), None),
        (100, -1, Some(7), None),
        (100, 5, Some(-1), Some(105)),
        (100, 0, Some(7), Some(107)),
        (100, 5, Some(7), Some(105)),
        (100, 9, Some(7), Some(109)),
        (0, 1, Some(7), Some(1)),
        (u32::MAX - 10, 9, Some(7), Some(u32::MAX - 1)),
        (u32::MAX - 10, 10, Some(7), None),
        (u32::MAX, i32::MAX, Some(7), None),
        (u32::MAX, 0, Some(i32::MAX), None),
    ] {
        let header = header(ts, ttl);
        let row = format!("{ts}, {ttl}, {default_ttl:?}");
        assert!(!header.is_expired(default_ttl, ts), "{row}");
        match last_second {
            Some(last) => {
                assert!(!header.is_expired(default_ttl, last), "{row}");
                assert!(header.is_expired(default_ttl, last + 1), "{row}");
                assert!(header.is_expired(default_ttl, u32::MAX), "{row}");
            }
            None => assert!(!header.is_expired(default_ttl, u32::MAX), "{row}"),
        }
        let own = (ttl > 0).then(|| ts.saturating_add(ttl as u32));
        assert_eq!(header.own_expiry(), own, "{row}");
    }
}
