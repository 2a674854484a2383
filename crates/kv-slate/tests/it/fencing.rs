//! Two stores at one place, as two processes would have them: the one that opened a space last has it.

use armilla_kv::{Batch, ErrorKind, Family, Result, Scan, Space, SpaceId, Store, block_on};
use armilla_kv_slate::{Place, SlateOptions, SlateStore};
use bytes::Bytes;

fn open(place: &Place) -> SlateStore {
    SlateStore::open(place.clone(), &SlateOptions::default()).unwrap()
}

fn put(space: &dyn Space, key: impl Into<Bytes>, value: impl Into<Bytes>) -> Result<()> {
    let mut batch = Batch::new();
    batch.put(Family::Item, key, value);
    block_on(space.commit(batch))
}

fn keys(space: &dyn Space) -> Vec<Bytes> {
    let page = space.snapshot().unwrap().scan(&Scan::prefix(Family::Item, b"")).unwrap();
    page.entries.into_iter().map(|(key, _)| key).collect()
}

#[test]
fn the_store_that_opened_last_writes_and_the_other_never_again() {
    let place = Place::memory();
    let (first, second) = (open(&place), open(&place));
    let old = first.open_space(SpaceId(1)).unwrap();
    put(&*old, "a", "old").unwrap();
    let new = second.open_space(SpaceId(1)).unwrap();
    assert_eq!(new.get(Family::Item, b"a").unwrap(), Some(Bytes::from("old")));
    put(&*new, "b", "new").unwrap();
    // It does not know yet, and says that it does not.
    assert_eq!(put(&*old, "c", "late").unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    assert_eq!(put(&*old, "d", "later").unwrap_err().kind(), ErrorKind::HandleClosed);
    assert_eq!(keys(&*new), ["a", "b"]);
    put(&*new, "e", "new").unwrap();
    // Opening it again takes it back.
    let again = first.open_space(SpaceId(1)).unwrap();
    assert_eq!(keys(&*again), ["a", "b", "e"]);
    put(&*again, "f", "again").unwrap();
    assert!(put(&*new, "g", "late").is_err());
    assert_eq!(keys(&*again), ["a", "b", "e", "f"]);
}

#[test]
fn a_space_that_another_store_has_dropped_does_not_open() {
    let place = Place::memory();
    let (first, second) = (open(&place), open(&place));
    put(&*first.open_space(SpaceId(1)).unwrap(), "a", "value").unwrap();
    first.drop_space(SpaceId(1)).unwrap();
    let opened = second.open_space(SpaceId(1));
    assert_eq!(opened.err().map(|error| error.kind()), Some(ErrorKind::SpaceDropped));
}

/// Stores take a space from each other while one key is counted up: every number that was acknowledged is there, and none
/// was written twice.
#[test]
fn taking_over_in_turns_loses_nothing_and_doubles_nothing() {
    let place = Place::memory();
    let stores = [open(&place), open(&place), open(&place)];
    let mut acknowledged = Vec::new();
    for round in 0..12_usize {
        let space = stores[round % stores.len()].open_space(SpaceId(1)).unwrap();
        let found = keys(&*space).len();
        assert!(found >= acknowledged.len(), "{found} of {}", acknowledged.len());
        for number in 0..5_u32 {
            let key = format!("{round:02}-{number}");
            put(&*space, key.clone(), "value").unwrap();
            acknowledged.push(Bytes::from(key));
        }
    }
    let last = stores[0].open_space(SpaceId(1)).unwrap();
    assert_eq!(keys(&*last), acknowledged);
}

#[test]
fn a_store_of_another_form_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("format"), "armilla 2").unwrap();
    let opened = SlateStore::open(Place::folder(folder.path()).unwrap(), &SlateOptions::default());
    let error = opened.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NewerFormat);
    assert!(error.to_string().contains("'armilla 2'"), "{error}");
}
