//! The behaviour suite on the embedded store.

use std::sync::Arc;

use armilla_kv::cache::CachedStore;
use armilla_kv::suite::{Fixture, run_all};
use armilla_kv::{Durability, Store};
use armilla_kv_embedded::{EmbeddedStore, Options};

fn fixture(options: Options) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    Fixture::durable(move || {
        let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(folder.path(), options.clone()).unwrap());
        store
    })
}

#[test]
fn strict() {
    run_all(&|| fixture(Options::default()));
}

#[test]
fn relaxed() {
    run_all(&|| fixture(Options { durability: Durability::Relaxed, ..Options::default() }));
}

#[test]
fn tiny_buffers() {
    // Flushes and compactions all the time, so that every read goes through several files.
    run_all(&|| fixture(Options { write_buffer_bytes: 0, block_cache_bytes: 100_000, ..Options::default() }));
}

#[test]
fn cached() {
    run_all(&|| {
        let folder = tempfile::tempdir().unwrap();
        Fixture::durable(move || {
            let store = EmbeddedStore::open(folder.path(), Options::default()).unwrap();
            Arc::new(CachedStore::new(Arc::new(store), 1024 * 1024))
        })
    });
}
