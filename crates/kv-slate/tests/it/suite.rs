//! The behaviour that every store shows, in memory and in a folder.

use std::sync::Arc;

use armilla_kv::Store;
use armilla_kv::suite::{Fixture, run_all};
use armilla_kv_slate::{Place, SlateOptions, SlateStore};

fn open(place: &Place) -> Arc<dyn Store> {
    Arc::new(SlateStore::open(place.clone(), &SlateOptions::default()).unwrap())
}

#[test]
fn in_memory() {
    run_all(&|| {
        let place = Place::memory();
        Fixture::durable(move || open(&place))
    });
}

#[test]
fn in_a_folder() {
    run_all(&|| {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::folder(folder.path()).unwrap();
        Fixture::durable(move || {
            let _kept = &folder;
            open(&place)
        })
    });
}
