//! Single commits and single reads.

use bytes::Bytes;

use super::{Fixture, block_on, commit, put};
use crate::{
    BATCH_BYTES_MAX, BATCH_OPS_MAX, Batch, Error, ErrorKind, Family, KEY_BYTES_MAX, Space, VALUE_BYTES_MAX,
};

pub(super) fn batch_is_atomic(fixture: &mut Fixture) {
    let space = fixture.space(1);
    let mut batch = Batch::new();
    for family in Family::ALL {
        batch.put(family, "key", format!("in {family:?}"));
    }
    commit(&*space, batch).expect("a healthy store commits");
    for family in Family::ALL {
        let value = space.get(family, b"key").expect("a healthy store reads");
        assert_eq!(value, Some(Bytes::from(format!("in {family:?}"))));
    }
}

pub(super) fn refused_batch_changes_nothing(fixture: &mut Fixture) {
    let space = fixture.space(1);
    let mut batch = Batch::new();
    batch.put(Family::Item, "first", "value");
    batch.put(Family::Item, vec![0; KEY_BYTES_MAX + 1], "value");
    assert_eq!(kind(commit(&*space, batch)), Some(ErrorKind::TooLarge));
    assert_eq!(get(&*space, "first"), None);
}

pub(super) fn later_operation_wins(fixture: &mut Fixture) {
    let space = fixture.space(1);
    put(&*space, Family::Item, "old", "old");
    let mut batch = Batch::new();
    batch.put(Family::Item, "twice", "first");
    batch.put(Family::Item, "twice", "second");
    batch.put(Family::Item, "gone", "value");
    batch.delete(Family::Item, "gone");
    batch.delete(Family::Item, "back");
    batch.put(Family::Item, "back", "value");
    batch.delete(Family::Item, "old");
    batch.delete(Family::Item, "never there");
    commit(&*space, batch).expect("a healthy store commits");
    assert_eq!(get(&*space, "twice"), Some(Bytes::from("second")));
    assert_eq!(get(&*space, "gone"), None);
    assert_eq!(get(&*space, "back"), Some(Bytes::from("value")));
    assert_eq!(get(&*space, "old"), None);
}

pub(super) fn empty_batch_succeeds(fixture: &mut Fixture) {
    let space = fixture.space(1);
    assert!(commit(&*space, Batch::new()).is_ok());
    let _newer = fixture.space(1);
    assert_eq!(kind(commit(&*space, Batch::new())), Some(ErrorKind::Fenced));
}

pub(super) fn lengths_are_kept(fixture: &mut Fixture) {
    let space = fixture.space(1);
    let lengths =
        [(0, 0), (1, 0), (0, 1), (255, 65_535), (256, 65_536), (4_096, 3), (KEY_BYTES_MAX, 2_500_000)];
    for (key_bytes, value_bytes) in lengths {
        let key = vec![0xFF; key_bytes];
        put(&*space, Family::Item, key.clone(), vec![value_bytes as u8; value_bytes]);
        let value = space.get(Family::Item, &key).expect("a healthy store reads");
        assert_eq!(value.map(|value| value.len()), Some(value_bytes), "key of {key_bytes} bytes");
    }
}

pub(super) fn bounds_hold(fixture: &mut Fixture) {
    let with_key = |bytes: usize| {
        let mut batch = Batch::new();
        batch.put(Family::Meta, vec![1; bytes], "");
        batch
    };
    let with_value = |bytes: usize| {
        let mut batch = Batch::new();
        batch.put(Family::Item, "large", vec![2; bytes]);
        batch
    };
    let with_deleted_key = |bytes: usize| {
        let mut batch = Batch::new();
        batch.delete(Family::Meta, vec![1; bytes]);
        batch
    };
    let with_ops = |count: usize| {
        let mut batch = Batch::new();
        for _ in 0..count {
            batch.delete(Family::Index, "same");
        }
        batch
    };
    let with_bytes = |bytes: usize| {
        let mut batch = Batch::new();
        let value = Bytes::from(vec![3; bytes / 4]);
        for number in 0..4_u8 {
            let value =
                if number == 3 { Bytes::from(vec![3; bytes - 3 * (bytes / 4) - 4]) } else { value.clone() };
            batch.put(Family::Item, vec![number], value);
        }
        assert_eq!(batch.bytes(), bytes);
        batch
    };
    let cases: [(&str, Batch, Batch); 5] = [
        ("key", with_key(KEY_BYTES_MAX), with_key(KEY_BYTES_MAX + 1)),
        ("deleted key", with_deleted_key(KEY_BYTES_MAX), with_deleted_key(KEY_BYTES_MAX + 1)),
        ("value", with_value(VALUE_BYTES_MAX), with_value(VALUE_BYTES_MAX + 1)),
        ("operations", with_ops(BATCH_OPS_MAX), with_ops(BATCH_OPS_MAX + 1)),
        ("batch", with_bytes(BATCH_BYTES_MAX), with_bytes(BATCH_BYTES_MAX + 1)),
    ];
    for (what, at, past) in cases {
        let space = fixture.space(1);
        assert_eq!(kind(commit(&*space, at)), None, "{what} at the bound");
        assert_eq!(kind(commit(&*space, past)), Some(ErrorKind::TooLarge), "{what} one past the bound");
    }
}

pub(super) fn multi_get_is_aligned(fixture: &mut Fixture) {
    let space = fixture.space(1);
    for number in 0..50_u32 {
        put(&*space, Family::Item, format!("{number:03}"), format!("value {number}"));
    }
    let wanted = [49, 7, 100, 7, 0, 200, 48];
    let keys: Vec<Bytes> = wanted.iter().map(|number| Bytes::from(format!("{number:03}"))).collect();
    let expected: Vec<Option<Bytes>> =
        wanted.iter().map(|number| (*number < 50).then(|| Bytes::from(format!("value {number}")))).collect();
    let snapshot = space.snapshot().expect("a healthy store makes snapshots");
    for _ in 0..2 {
        // Twice: a cache in front may have been filled by the first.
        assert_eq!(space.multi_get(Family::Item, &keys).expect("a healthy store reads"), expected);
        assert_eq!(snapshot.multi_get(Family::Item, &keys).expect("a healthy store reads"), expected);
    }
    assert!(space.multi_get(Family::Item, &[]).expect("a healthy store reads").is_empty());
}

pub(super) fn families_and_spaces_are_apart(fixture: &mut Fixture) {
    let ids = [0, 1, 2, 255, 256, 65_536, u64::MAX - 1, u64::MAX];
    for id in ids {
        for family in Family::ALL {
            put(&*fixture.space(id), family, "same key", format!("{id} {family:?}"));
        }
    }
    for id in ids {
        for family in Family::ALL {
            let value = fixture.space(id).get(family, b"same key").expect("a healthy store reads");
            assert_eq!(value, Some(Bytes::from(format!("{id} {family:?}"))));
        }
    }
}

pub(super) fn dropped_future_commits(fixture: &mut Fixture) {
    let space = fixture.space(1);
    let mut batch = Batch::new();
    batch.put(Family::Item, "key", "value");
    drop(space.commit(batch));
    // A later commit of the same space is behind it.
    put(&*space, Family::Meta, "later", "");
    assert_eq!(get(&*space, "key"), Some(Bytes::from("value")));
}

pub(super) fn order_of_calls(fixture: &mut Fixture) {
    let space = fixture.space(1);
    let futures: Vec<_> = (0..200_u32)
        .map(|number| {
            let mut batch = Batch::new();
            batch.put(Family::Meta, "counter", number.to_string());
            batch.put(Family::Feed, number.to_be_bytes().to_vec(), "");
            space.commit(batch)
        })
        .collect();
    // Waited for in the wrong order on purpose.
    for future in futures.into_iter().rev() {
        block_on(future).expect("a healthy store commits");
    }
    assert_eq!(space.get(Family::Meta, b"counter").expect("a healthy store reads"), Some(Bytes::from("199")));
}

fn get(space: &dyn Space, key: &str) -> Option<Bytes> {
    space.get(Family::Item, key.as_bytes()).expect("a healthy store reads")
}

fn kind(result: Result<(), Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}
