//! The behaviour that every store shows, as tests that every store crate runs.
//!
//! A store crate calls [`run_all`] with a function that makes an empty store. What the tests check is what
//! the crate's documentation promises; each has the name of its promise.
//!
//! The suite panics where a promise is broken. It needs no runtime: [`block_on`] drives commits.

mod basics;
mod concurrency;
mod lifecycle;
mod model;
mod scans;
mod snapshots;

use std::sync::Arc;

use bytes::Bytes;

use crate::{Batch, Family, Page, Result, Scan, Snapshot, Space, SpaceId, Store, block_on};

type OpenStore = Box<dyn Fn() -> Arc<dyn Store>>;

/// An empty store, and whether it can be opened again with what it holds.
pub struct Fixture {
    store: Option<Arc<dyn Store>>,
    open: Option<OpenStore>,
}

impl Fixture {
    /// Returns a fixture for a store that forgets everything when it is closed.
    pub fn volatile(store: Arc<dyn Store>) -> Fixture {
        Fixture { store: Some(store), open: None }
    }

    /// Returns a fixture for a store that `open` opens again and again with what it holds.
    pub fn durable(open: impl Fn() -> Arc<dyn Store> + 'static) -> Fixture {
        Fixture { store: Some(open()), open: Some(Box::new(open)) }
    }

    /// Returns the store.
    fn store(&self) -> &dyn Store {
        self.store.as_deref().expect("a fixture has a store between reopenings")
    }

    /// Returns whether the store can be opened again.
    fn is_durable(&self) -> bool {
        self.open.is_some()
    }

    /// Closes the store and opens it again. All handles must be gone. Does nothing for a volatile store.
    fn reopen(&mut self) {
        if let Some(open) = &self.open {
            if let Some(store) = self.store.take() {
                store.close().expect("a healthy store closes");
            }
            self.store = Some(open());
        }
    }

    /// Opens the store again without closing it first, as far as that can be done in one process.
    fn reopen_without_closing(&mut self) {
        if let Some(open) = &self.open {
            drop(self.store.take());
            self.store = Some(open());
        }
    }

    fn space(&self, id: u64) -> Arc<dyn Space> {
        self.store().open_space(SpaceId(id)).expect("a space that was not dropped opens")
    }
}

/// A test of the suite: its name and what it does.
type Test = (&'static str, fn(&mut Fixture));

const TESTS: &[Test] = &[
    ("a batch is visible as a whole, in all families", basics::batch_is_atomic),
    ("a refused batch changes nothing", basics::refused_batch_changes_nothing),
    ("the later operation on a key wins", basics::later_operation_wins),
    ("an empty batch succeeds", basics::empty_batch_succeeds),
    ("keys and values of every length are kept", basics::lengths_are_kept),
    ("bounds hold at the bound and one past it", basics::bounds_hold),
    ("multi_get is aligned with its keys", basics::multi_get_is_aligned),
    ("families and spaces are apart", basics::families_and_spaces_are_apart),
    ("dropping the future does not withdraw the commit", basics::dropped_future_commits),
    ("commits follow the order of the calls", basics::order_of_calls),
    ("scans and visits honour every kind of bound", scans::every_kind_of_bound),
    ("pages end where they should and go on", scans::pages_go_on),
    ("a page with a tiny byte bound holds one entry", scans::one_entry_always_fits),
    ("prefix scans stop at the prefix", scans::prefixes_stop),
    ("scans do not leave their space", scans::scans_stay_in_their_space),
    ("snapshots never change", snapshots::snapshots_never_change),
    ("snapshots see whole batches", snapshots::snapshots_see_whole_batches),
    ("a snapshot outlives its handle", snapshots::snapshot_outlives_its_handle),
    ("a snapshot of the store sees all spaces and keeps dropped ones", snapshots::store_snapshot_keeps_all),
    ("a snapshot of the store sees one moment of all spaces", snapshots::store_snapshot_is_one_moment),
    ("opening a space fences older handles", lifecycle::opening_fences),
    ("a failed commit closes its handle", lifecycle::a_failed_commit_closes_its_handle),
    ("a fenced batch changes nothing", lifecycle::fenced_batch_changes_nothing),
    ("a dropped space is unreachable for ever", lifecycle::dropped_is_unreachable),
    ("dropping is idempotent and leaves others alone", lifecycle::dropping_is_idempotent),
    ("a dropped space gives its bytes back", lifecycle::dropped_gives_bytes_back),
    ("an unknown space can be dropped", lifecycle::unknown_space_can_be_dropped),
    ("a space made of a range of another holds what that held", lifecycle::ranges_are_cloned),
    ("a closed store refuses commits", lifecycle::closed_refuses),
    ("what was committed is there after reopening", lifecycle::survives_reopening),
    ("figures are counted", lifecycle::figures_are_counted),
    ("concurrent writers lose nothing", concurrency::writers_lose_nothing),
    ("readers see whole batches while others write", concurrency::readers_see_whole_batches),
    ("single reads never go back", concurrency::reads_never_go_back),
    ("handles taken over under load lose nothing", concurrency::take_over_under_load),
    ("agrees with the model", model::agrees_with_the_model),
];

/// Runs every test of the suite, each with a store of its own.
pub fn run_all(make: &dyn Fn() -> Fixture) {
    for (name, test) in TESTS {
        tracing::info!(name, "store suite");
        let mut fixture = make();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(&mut fixture)));
        if let Err(panic) = outcome {
            let why = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_default();
            panic!("broken promise: {name}: {why}");
        }
    }
}

/// Commits a batch and waits for it.
fn commit(space: &dyn Space, batch: Batch) -> Result<()> {
    block_on(space.commit(batch))
}

/// Commits one value and waits for it.
fn put(space: &dyn Space, family: Family, key: impl Into<Bytes>, value: impl Into<Bytes>) {
    let mut batch = Batch::new();
    batch.put(family, key, value);
    commit(space, batch).expect("a healthy store commits");
}

/// Returns all entries of a scan, page by page.
fn scan_all(snapshot: &dyn Snapshot, mut scan: Scan) -> Vec<(Bytes, Bytes)> {
    let mut entries = Vec::new();
    loop {
        let Page { entries: page, more } = snapshot.scan(&scan).expect("a healthy store scans");
        assert!(page.len() <= scan.entries_max, "a page holds at most as many entries as asked for");
        assert!(!more || !page.is_empty(), "a page that is not the last is not empty");
        let last = page.last().map(|(key, _)| key.clone());
        entries.extend(page);
        match last {
            Some(last) if more => scan = scan.after(&last),
            _ => return entries,
        }
    }
}
