//! What a page of a query did, for those who ask.

use std::time::Duration;

use armilla_query::Page;

/// What a page of a query did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueryMetrics {
    /// How long it took, in milliseconds.
    pub total_ms: f64,
    /// How long of it the query was parsed, bound and planned.
    pub compile_ms: f64,
    /// How long of it index entries were read.
    pub index_ms: f64,
    /// How long of it items were loaded.
    pub load_ms: f64,
    /// Items that were loaded.
    pub retrieved_count: u64,
    /// Their bytes.
    pub retrieved_bytes: u64,
    /// Rows that were given.
    pub output_count: u64,
    /// Their bytes.
    pub output_bytes: u64,
    /// Rows given per item loaded, at most 1.
    pub index_hit_ratio: f64,
}

/// How long the parts of a page took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) compile: Duration,
    pub(super) index: Duration,
    pub(super) load: Duration,
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

impl QueryMetrics {
    pub(super) fn new(page: &Page, took: Duration, times: Times) -> QueryMetrics {
        let (rows, retrieved) = (page.row_count() as u64, page.retrieved.items);
        QueryMetrics {
            total_ms: milliseconds(took),
            compile_ms: milliseconds(times.compile),
            index_ms: milliseconds(times.index),
            load_ms: milliseconds(times.load),
            retrieved_count: retrieved,
            retrieved_bytes: page.retrieved.bytes,
            output_count: rows,
            output_bytes: page.rows.len() as u64,
            index_hit_ratio: if retrieved == 0 { 1.0 } else { (rows as f64 / retrieved as f64).min(1.0) },
        }
    }
}
