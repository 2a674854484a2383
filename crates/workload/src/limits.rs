//! Every bound of a benchmark.

use std::time::Duration;

/// Connections of one workload.
pub(crate) const CONNECTIONS_MAX: u16 = 1_024;

/// Connections of those who write in the background of a measurement: enough for 2,000 durable writes a second of a side
/// that takes 16 ms for each. A slow side must not be spared what a fast one bears.
pub(crate) const WRITE_CONNECTIONS: usize = 32;

/// Streams of operations that one measurement may draw, so that no two measurements draw the same.
pub(crate) const STREAMS_MAX: usize = 1 << 12;

const _: () = assert!(CONNECTIONS_MAX as usize + WRITE_CONNECTIONS <= STREAMS_MAX);

/// How long a side may take until its work in the background is done.
pub(crate) const REST_MAX: Duration = Duration::from_secs(120);

/// How often a side is asked whether it still works in the background.
pub(crate) const REST_STEP: Duration = Duration::from_millis(100);

/// How often in a row a side has to say that it does not.
pub(crate) const REST_READINGS: u32 = 10;

/// Items that are loaded.
pub(crate) const ITEMS_MAX: u64 = 100_000_000;

/// Bytes of an item's JSON: what the service takes, without its own properties.
pub(crate) const ITEM_BYTES_MAX: u32 = 2_000_000;

/// Physical partitions of the container that is loaded.
pub(crate) const PARTITIONS_MAX: u32 = 1_000;

/// Seconds of one measurement, and of its warm-up.
pub(crate) const SECONDS_MAX: f64 = 86_400.0;

/// The shortest measurement.
pub(crate) const SECONDS_MIN: f64 = 0.1;

/// Operations a second that an open loop is asked for.
pub(crate) const RATE_MAX: f64 = 1_000_000.0;

/// The slowest open loop.
pub(crate) const RATE_MIN: f64 = 0.1;

/// Operations of one measurement that may fail before it is given up.
pub(crate) const FAILURES_MAX: u64 = 100;

/// The longest wait that a refusing server is granted before the next operation.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(10);

/// The longest latency that histograms tell apart; longer ones count as this.
pub(crate) const LATENCY_MAX: Duration = Duration::from_secs(600);

/// Longest sleep of what releases the operations of an open loop, so that it notices when nobody waits for them.
pub(crate) const METRONOME_SLEEP_MAX: Duration = Duration::from_millis(10);

/// How long after its end an open loop still sends what was due before, so that the last ones have the chance of the
/// others.
pub(crate) const OPEN_LOOP_GRACE: Duration = Duration::from_millis(100);

/// Changes in a page of a feed.
pub(crate) const FEED_PAGE_ITEMS: u32 = 1_000;

/// How long changes may take to show up in the feed after the last write.
pub(crate) const FEED_PATIENCE: Duration = Duration::from_secs(20);

/// Items in a page of a query.
pub(crate) const QUERY_PAGE_ITEMS: u32 = 1_000;

/// Pages of one query.
pub(crate) const QUERY_PAGES_MAX: u32 = 10_000;

/// Users and posts of a loaded blog among which operations choose.
pub(crate) const BLOG_SAMPLE_MAX: usize = 1_000;

/// Bytes of a file with results.
pub(crate) const RESULT_BYTES_MAX: u64 = 64 << 20;

/// Rows of a file with results.
pub(crate) const RESULT_ROWS_MAX: usize = 10_000;
