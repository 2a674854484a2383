//! The behaviour suite on the stores of this crate.

use std::sync::Arc;

use armilla_kv::memory::MemoryStore;
use armilla_kv::suite::{Fixture, run_all};

#[test]
fn memory() {
    run_all(&|| Fixture::volatile(Arc::new(MemoryStore::new())));
}
