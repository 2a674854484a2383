use proptest::prelude::*;

use super::*;

const KINDS: [ChangeKind; 4] =
    [ChangeKind::Create, ChangeKind::Replace, ChangeKind::Delete, ChangeKind::Expire];

fn change(kind: ChangeKind) -> Change {
    Change {
        kind,
        ts: 1_700_000_000,
        number: 7 << 40 | 9,
        previous_lsn: 41,
        previous_operation: 3,
        item_key: Bytes::from_static(b"key"),
        carried: None,
    }
}

/// An entry as older programs wrote it, with the image of the version before where all versions were kept.
fn first_version(change: &Change, image: &[u8]) -> Bytes {
    let encoded = change.encode();
    [&[1], &encoded[1..22], &encoded[24..], image].concat().into()
}

proptest! {
    #[test]
    fn entries_come_back_as_they_were(
        kind in 0..4_usize, ts: u32, number: u64, previous_lsn: u64, previous_operation: u16,
        item_key in proptest::collection::vec(any::<u8>(), 0..40),
        carried in proptest::option::of(proptest::collection::vec(any::<u8>(), 1..40)),
    ) {
        let (item_key, carried) = (item_key.into(), carried.map(Bytes::from));
        let change =
            Change { kind: KINDS[kind], ts, number, previous_lsn, previous_operation, item_key, carried };
        prop_assert_eq!(Change::decode(&change.encode()).unwrap(), change);
    }
}

#[test]
fn entries_of_the_first_version_are_read() {
    for kind in KINDS {
        for image in ["", "the version before"] {
            let old = first_version(&change(kind), image.as_bytes());
            if kind == ChangeKind::Expire {
                assert!(Change::decode(&old).is_err(), "nothing expired then");
                continue;
            }
            let expected = Change { previous_operation: 0, ..change(kind) };
            assert_eq!(Change::decode(&old).unwrap(), expected);
        }
    }
}

#[test]
fn damaged_entries_are_refused() {
    let whole = change(ChangeKind::Create).encode();
    for length in 0..whole.len() {
        assert!(Change::decode(&whole.slice(..length)).is_err(), "cut to {length} bytes");
    }
    for (position, byte) in [(0, 0), (0, 3), (1, 0), (1, 6), (24, 0xFF), (27, 2)] {
        let mut damaged = whole.to_vec();
        damaged[position] = byte;
        assert!(Change::decode(&damaged.into()).is_err(), "byte {position} set to {byte}");
    }
    let longer = [&whole[..], b"x"].concat();
    assert!(Change::decode(&longer.into()).is_err());
}
