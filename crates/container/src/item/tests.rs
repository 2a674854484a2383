use armilla_value::rid::DatabaseRid;
use armilla_value::{json, stored};
use proptest::prelude::*;

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
    second_ticks: Some(1_234_567),
    ttl: -1,
    stamp: None,
    shown_operation: None,
};

/// As programs wrote it that knew of no moments.
const OLD: ItemHeader = ItemHeader { second_ticks: None, ..HEADER };

const STAMP: Stamp = Stamp(0x8102_0304_0506_0708);

/// Every form that a header can have: the header, its bytes, and its etag.
fn forms() -> Vec<(ItemHeader, &'static str, &'static str)> {
    let stamp = Some(STAMP);
    let shown_operation = Some(0x0A0B);
    vec![
        (
            OLD,
            "01 00 0003 6553F100 000000000000002A 0000000000000001 FFFFFFFF",
            "00000000-0000-002a-0003-5cb76553f100",
        ),
        (
            ItemHeader { stamp, ..OLD },
            "02 00 0003 6553F100 000000000000002A 0000000000000001 FFFFFFFF 8102030405060708",
            "81020304-0506-0708-0003-5cb76553f100",
        ),
        (
            ItemHeader { shown_operation, ..OLD },
            "03 00 0003 6553F100 000000000000002A 0000000000000001 FFFFFFFF 0000000000000000 0A0B",
            "00000000-0000-002a-0a0b-5cb76553f100",
        ),
        (
            ItemHeader { stamp, shown_operation, ..OLD },
            "03 00 0003 6553F100 000000000000002A 0000000000000001 FFFFFFFF 8102030405060708 0A0B",
            "81020304-0506-0708-0a0b-5cb76553f100",
        ),
        (
            HEADER,
            "04 00 0003 6553F100 000000000000002A 0000000000000001 FFFFFFFF 0012D687",
            "08dbe55e-e8f6-d687-0003-5cb70000002a",
        ),
        (
            ItemHeader { stamp, ..HEADER },
            "04 01 0003 6553F100 000000000000002A 0000000000000001 FFFFFFFF 0012D687 8102030405060708",
            "08dbe55e-e8f6-d687-0003-5cb705060708",
        ),
        (
            ItemHeader { shown_operation, ..HEADER },
            "04 02 0003 6553F100 000000000000002A 0000000000000001 FFFFFFFF 0012D687 0A0B",
            "08dbe55e-e8f6-d687-0a0b-5cb70000002a",
        ),
        (
            ItemHeader { stamp, shown_operation, ..HEADER },
            "04 03 0003 6553F100 000000000000002A 0000000000000001 FFFFFFFF 0012D687 8102030405060708 0A0B",
            "08dbe55e-e8f6-d687-0a0b-5cb705060708",
        ),
    ]
}

fn bytes_of(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hexadecimal.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn every_form_of_a_header_is_written_and_read() {
    for (header, expected, etag) in forms() {
        let written = item(r#"{"id":"1"}"#, header);
        let expected = bytes_of(expected);
        let (bytes, start) = written.raw();
        assert_eq!((&bytes[..start], start), (&expected[..], header.bytes_len()));
        assert_eq!(written.etag(&identity()).to_string(), format!("\"{etag}\""));
        // And from the bytes, as a program of the time wrote them.
        let content = stored::encode(br#"{"id":"1"}"#, &SYSTEM_PROPERTIES).unwrap();
        let read = Item::open([expected, content].concat().into()).unwrap();
        assert_eq!((*read.header(), read.stored().text()), (header, r#"{"id":"1"}"#));
        assert_eq!(*Item::from_raw(bytes.clone()).unwrap().header(), header);
    }
    assert_eq!(STAMP.number(), 0x0102_0304_0506_0708);
    assert_eq!(Stamp::new(STAMP.number()), STAMP);
    assert_eq!(new_header_bytes(false), HEADER.bytes_len());
    assert_eq!(new_header_bytes(true), ItemHeader { stamp: Some(STAMP), ..HEADER }.bytes_len());
}

#[test]
fn what_is_shown_before_the_commit_holds_after_it() {
    let shown = |header| item(r#"{"id":"1"}"#, header).etag(&identity());
    let drafted = ItemHeader { stamp: Some(STAMP), ..HEADER };
    assert_eq!(shown(ItemHeader { lsn: 43, ..drafted }), shown(drafted));
    assert_ne!(shown(ItemHeader { lsn: 43, ..HEADER }), shown(HEADER));
}

#[test]
fn unknown_forms_are_refused() {
    let with = |header: ItemHeader, at: usize, byte: u8| {
        let mut bytes = item(r#"{"id":"1"}"#, header).bytes().to_vec();
        bytes[at] = byte;
        Bytes::from(bytes)
    };
    let refused = |bytes: Bytes, what: String| {
        assert!(Item::open(bytes.clone()).is_err(), "{what}");
        assert!(Item::from_raw(bytes).is_none(), "{what}");
    };
    for (header, ..) in forms() {
        for version in [0, 5, 0x80, 0xFF] {
            refused(with(header, 0, version), format!("version {version:02x}, {header:?}"));
        }
        for flags in [4, 7, 0x80, 0xFF] {
            refused(with(header, 1, flags), format!("flags {flags:02x}, {header:?}"));
        }
        if header.second_ticks.is_none() {
            refused(with(header, 1, 1), format!("a flag in an old version, {header:?}"));
        }
    }
    // A stamp without its bit could be a commit number.
    for header in [OLD, HEADER] {
        let header = ItemHeader { stamp: Some(STAMP), ..header };
        let at = header.bytes_len() - STAMP_BYTES;
        refused(with(header, at, 0x01), format!("a stamp without its bit, {header:?}"));
    }
    // One without a stamp is not taken for one with it.
    assert!(Item::open(with(OLD, 0, 2)).is_err());
    assert!(Item::open(with(HEADER, 1, 1)).is_err());
    // A second has so many ticks, and no more.
    let last = ItemHeader { second_ticks: Some(TICKS_PER_SECOND - 1), ..HEADER };
    assert_eq!(*item(r#"{"id":"1"}"#, last).header(), last);
    let mut beyond = item(r#"{"id":"1"}"#, HEADER).bytes().to_vec();
    beyond[FIXED_BYTES..FIXED_BYTES + TICKS_BYTES].copy_from_slice(&TICKS_PER_SECOND.to_be_bytes());
    refused(beyond.into(), "a tick too many".to_owned());
}

#[test]
fn json_has_the_system_properties() {
    let identity = identity();
    let item = item(r#"{"id":"1", "_ts": 7, "a":[1.50]}"#, HEADER);
    let mut out = Vec::new();
    item.write_json(&identity, &mut out);
    let text = String::from_utf8(out).unwrap();
    expect_test::expect![[r#"{"id":"1","a":[1.50],"_rid":"P6fRAIC63A0BAAAAAAAAAA==","_self":"dbs/P6fRAA==/colls/P6fRAIC63A0=/docs/P6fRAIC63A0BAAAAAAAAAA==/","_etag":"\"08dbe55e-e8f6-d687-0003-5cb70000002a\"","_attachments":"attachments/","_ts":1700000000}"#]]
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
    for (header, ..) in forms() {
        let whole = item(r#"{"id":"1"}"#, header).bytes().clone();
        for length in 0..whole.len() {
            let damage = Item::open(whole.slice(..length)).is_err()
                || Item::open(whole.slice(..length)).unwrap().stored().verify().is_err();
            assert!(damage, "cut to {length} bytes");
        }
    }
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
fn an_etag_says_when_its_version_was_written() {
    let second = |second: u32, ticks: u32| Moment::in_second(second, ticks);
    for (first, operation, ts, moment) in [
        // Moments, as they are.
        (638_355_968_001_234_567, 3, 42, second(1_700_000_000, 1_234_567)),
        (0x0100_0000_0000_0000, 0, 0, Moment::from_ticks(0x0100_0000_0000_0000)),
        (0x7FFF_FFFF_FFFF_FFFF, u16::MAX, 7, Moment::from_ticks(0x7FFF_FFFF_FFFF_FFFF)),
        // Commits and stamps: a place in the second of the time stamp.
        (0, 0, 0, second(0, 0)),
        (1, 0, 1_700_000_000, second(1_700_000_000, 1_024)),
        (1, 1, 1_700_000_000, second(1_700_000_000, 1_025)),
        (42, 3, u32::MAX, second(u32::MAX, 43_011)),
        (9_765, 639, 5, second(5, 9_999_999)),
        (9_765, 640, 5, second(5, 0)),
        (9_766, 0, 5, second(5, 384)),
        (10_000_001, 0, 5, second(5, 1_024)),
        (
            0x00FF_FFFF_FFFF_FFFF,
            0,
            5,
            second(5, (0x00FF_FFFF_FFFF_FFFF_u64 % 10_000_000 * 1_024 % 10_000_000) as u32),
        ),
        (0x8000_0000_0000_0001, 2, 5, second(5, 1_026)),
        (u64::MAX, 0, 5, second(5, ((u64::MAX >> 1) % 10_000_000 * 1_024 % 10_000_000) as u32)),
    ] {
        for salt in [0, 0x5CB7] {
            assert_eq!(ETag::new(first, operation, salt, ts).moment(), moment, "{first:x} {operation}");
        }
    }
}

fn any_header() -> impl Strategy<Value = ItemHeader> {
    let names = (any::<u64>(), any::<u16>(), any::<u64>().prop_map(|number| number >> 4));
    let time = (any::<u32>(), prop::option::of(0..TICKS_PER_SECOND), any::<i32>());
    let shown = (prop::option::of(any::<u64>().prop_map(Stamp::new)), prop::option::of(any::<u16>()));
    (names, time, shown).prop_map(
        |((lsn, operation, number), (ts, second_ticks, ttl), (stamp, shown_operation))| ItemHeader {
            lsn,
            operation,
            number,
            ts,
            second_ticks,
            ttl,
            stamp,
            shown_operation,
        },
    )
}

proptest! {
    #[test]
    fn an_item_and_its_etag_agree(header in any_header(), operation in any::<u16>()) {
        let item = item(r#"{"id":"1"}"#, header);
        prop_assert_eq!(*item.header(), header);
        let etag = item.etag(&identity());
        prop_assert_eq!(item.moment(), etag.moment());
        prop_assert_eq!(ETag::parse(&etag.to_string()), Some(etag));
        // Commit numbers never have more bits.
        if header.second_ticks.is_some() || header.stamp.is_some() || header.lsn < 1 << 56 {
            prop_assert_eq!(item.moment().second(), header.ts);
        }
        if let Some(ticks) = header.second_ticks {
            prop_assert_eq!(item.moment(), Moment::in_second(header.ts, ticks));
        }
        let moved = item.renumbered(operation);
        prop_assert_eq!((moved.etag(&identity()), moved.moment()), (etag, item.moment()));
    }
}

#[test]
fn another_operation_number_leaves_the_etag_as_it_is() {
    let identity = identity();
    for (header, ..) in forms().into_iter().filter(|(header, ..)| header.shown_operation.is_none()) {
        let item = item(r#"{"id":"a"}"#, header);
        let mut moved = item.clone();
        for operation in [4, 9, 9, u16::MAX] {
            moved = moved.renumbered(operation);
            let stored = Item::open(moved.bytes().clone()).unwrap();
            assert_eq!(stored.header(), moved.header());
            assert_eq!(stored.header().version(), (42, operation));
            assert_eq!(stored.header().lasting_version(), item.header().lasting_version());
            assert_eq!((stored.etag(&identity), stored.moment()), (item.etag(&identity), item.moment()));
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
