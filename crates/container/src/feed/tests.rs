use super::*;

#[test]
fn entries_come_back_as_they_were() {
    for kind in [ChangeKind::Create, ChangeKind::Replace, ChangeKind::Delete] {
        for previous in [None, Some(Bytes::from_static(b"old image"))] {
            let change = Change {
                kind,
                ts: 1_700_000_000,
                number: 7 << 40 | 9,
                previous_lsn: 41,
                item_key: Bytes::from_static(b"key"),
                previous,
            };
            assert_eq!(Change::decode(&change.encode()).unwrap(), change);
        }
    }
}

#[test]
fn damaged_entries_are_refused() {
    let change = Change {
        kind: ChangeKind::Create,
        ts: 1,
        number: 2,
        previous_lsn: 0,
        item_key: Bytes::from_static(b"key"),
        previous: None,
    };
    let whole = change.encode();
    for length in 0..whole.len() {
        assert!(Change::decode(&whole.slice(..length)).is_err(), "cut to {length} bytes");
    }
    for (position, byte) in [(0, 9u8), (1, 0), (1, 4), (22, 0xFF)] {
        let mut damaged = whole.to_vec();
        damaged[position] = byte;
        assert!(Change::decode(&damaged.into()).is_err(), "byte {position} set to {byte}");
    }
}
