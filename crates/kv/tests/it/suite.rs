//! The behaviour suite on the stores of this crate.

use std::sync::Arc;

use armilla_kv::cache::CachedStore;
use armilla_kv::fault::{FaultStore, Rates};
use armilla_kv::memory::MemoryStore;
use armilla_kv::suite::{Fixture, run_all};

#[test]
fn memory() {
    run_all(&|| Fixture::volatile(Arc::new(MemoryStore::new())));
}

#[test]
fn cached() {
    for cache_bytes in [0, 64 * 1024, 64 * 1024 * 1024] {
        run_all(&|| Fixture::volatile(Arc::new(CachedStore::new(Arc::new(MemoryStore::new()), cache_bytes))));
    }
}

#[test]
fn late_reports_behind_a_cache() {
    // Late reports are no failures, so every promise holds with them.
    run_all(&|| {
        let rates = Rates { report_late: 3, ..Rates::default() };
        let faults = FaultStore::seeded(Arc::new(MemoryStore::new()), 1, rates);
        Fixture::volatile(Arc::new(CachedStore::new(Arc::new(faults), 1024 * 1024)))
    });
}
