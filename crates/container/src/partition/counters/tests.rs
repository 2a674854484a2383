//! The records byte by byte, of this version and of those before.

use super::*;

const NUMBERS: [u64; 5] = [1, 2, 3, 0x0405, u64::MAX];

fn record(version: u8, numbers: &[u64]) -> Vec<u8> {
    let mut bytes = vec![version];
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_be_bytes()));
    bytes
}

#[test]
fn counters_are_read_as_they_were_written() {
    let [lsn, sequence, items, bytes, index_bytes] = NUMBERS;
    let counters = Counters { lsn, sequence, items, bytes, index_bytes };
    assert_eq!(counters.encode(), record(4, &NUMBERS));
    assert_eq!(Counters::decode_old(&record(3, &NUMBERS)), Some(counters.clone()));
    assert!(Counters::decode(&record(3, &NUMBERS)).is_err());
    assert_eq!(Counters::decode(&counters.encode()).unwrap(), counters);
    assert_eq!(Counters::decode_old(&counters.encode()), None);
    assert_eq!(counters.size(), LogicalSize { items, bytes, index_bytes });
    for version in [1, 2] {
        let old = record(version, &NUMBERS[..4]);
        assert_eq!(Counters::decode_old(&old), Some(Counters { index_bytes: 0, ..counters.clone() }));
        assert!(Counters::decode(&old).is_err());
    }
}

#[test]
fn sizes_are_read_as_they_were_written() {
    let size = LogicalSize { items: 3, bytes: 0x0405, index_bytes: u64::MAX };
    assert_eq!(size.encode(), record(2, &NUMBERS[2..]));
    assert_eq!(LogicalSize::decode(&size.encode()).unwrap(), size);
    assert_eq!(size.total_bytes(), u64::MAX);
    assert!(LogicalSize::is_current(&size.encode()));
    let old = record(1, &NUMBERS[2..4]);
    assert!(LogicalSize::decode(&old).is_err());
    assert!(!LogicalSize::is_current(&old));
}

#[test]
fn damaged_records_are_refused() {
    let counters: [Vec<u8>; 8] = [
        vec![],
        vec![3],
        vec![4],
        record(3, &NUMBERS[..4]),
        record(4, &NUMBERS[..4]),
        record(5, &NUMBERS),
        record(0, &NUMBERS[..4]),
        [record(4, &NUMBERS), vec![0]].concat(),
    ];
    for bytes in counters {
        assert!(Counters::decode(&bytes).is_err(), "{bytes:?}");
        assert_eq!(Counters::decode_old(&bytes), None, "{bytes:?}");
    }
    for bytes in
        [vec![], vec![2], record(2, &NUMBERS[..2]), record(3, &NUMBERS[..3]), record(2, &NUMBERS[..4])]
    {
        assert!(LogicalSize::decode(&bytes).is_err(), "{bytes:?}");
    }
    assert!(!LogicalSize::is_current(&[]));
}

#[test]
fn changes_add_up_and_never_go_below_nothing() {
    let key = b"123";
    let created = SizeChange::of_item(key, None, Some(10), 7);
    assert_eq!(created, SizeChange { items: 1, bytes: 13, index_bytes: 7 });
    let shrunk = SizeChange::of_item(key, Some(10), Some(4), 6);
    assert_eq!(shrunk, SizeChange { items: 0, bytes: -6, index_bytes: 6 });
    let deleted = SizeChange::of_item(key, Some(4), None, -13);
    assert_eq!(deleted, SizeChange { items: -1, bytes: -7, index_bytes: -13 });
    let sizes = [created, shrunk, deleted].into_iter().scan(LogicalSize::default(), |size, change| {
        *size = size.changed(&change)?;
        Some((size.items, size.bytes, size.index_bytes))
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [(1, 13, 7), (1, 7, 13), (0, 0, 0)]);
    assert_eq!(LogicalSize::default().changed(&deleted), None);
    assert_eq!(LogicalSize { items: 1, bytes: 7, index_bytes: 12 }.changed(&deleted), None);
    // Data and index count together.
    assert!(created.is_growth());
    assert!(!shrunk.is_growth());
    assert!(SizeChange::of_item(key, Some(10), Some(4), 7).is_growth());
    assert!(!SizeChange::of_index(0).is_growth());
    assert!(SizeChange::of_index(1).is_growth());
}
