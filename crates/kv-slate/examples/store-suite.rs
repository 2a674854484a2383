//! Runs the suite of the storage contract against an object store: `store-suite s3://bucket/prefix`.
//!
//! Every promise gets a prefix of its own below the one that is given, which should be empty. Exits with an error if one is
//! broken.

#![expect(clippy::print_stdout, reason = "it says that all passed")]
#![expect(clippy::print_stderr, reason = "it says how it is called")]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use armilla_kv::Store;
use armilla_kv::suite::{Fixture, run_all};
use armilla_kv_slate::{Place, SlateOptions, SlateStore};

#[expect(clippy::expect_used, reason = "it is a test")]
fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        eprintln!("usage: store-suite URL");
        return ExitCode::FAILURE;
    };
    let count = AtomicUsize::new(0);
    run_all(&|| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let url = format!("{url}/{number}");
        Fixture::durable(move || -> Arc<dyn Store> {
            // Anew for each store, as processes would have it: connections end with the threads of a store.
            let place = Place::of_url(&url).expect("the URL names a place");
            Arc::new(SlateStore::open(place, &SlateOptions::default()).expect("the store opens"))
        })
    });
    println!("{} fixtures passed at {url}", count.into_inner());
    ExitCode::SUCCESS
}
