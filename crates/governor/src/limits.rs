//! Every bound of this crate, with the reason for its size.

use std::time::Duration;

/// Length of a window.
pub const WINDOW_MS: i64 = 1_000;

/// How far the clock may step back and be taken for the running window: threads read the clock and then
/// queue for a lock, and time servers adjust by little. A longer step back is a clock that was set.
pub const STEP_BACK_WINDOWS_MAX: i64 = 5;

/// Highest rate of a budget, in hundredths of a request unit a second: a million times what a physical
/// partition has, and small enough that no sum of windows overflows.
pub const RATE_HUNDREDTHS_MAX: u64 = 1_000_000_000_000;

/// Most that a budget can owe, in hundredths of a request unit; what is beyond is forgiven.
pub const DEBT_HUNDREDTHS_MAX: u64 = i64::MAX as u64 / 4;

/// How much idle time a budget banks for bursts. Service limit.
pub const BURST_BANK_WINDOWS: u64 = 300;

/// Rate up to which banked budget may be spent, in hundredths of a request unit a second; budgets with this
/// rate or more bank nothing. Service limit.
pub const BURST_RATE_HUNDREDTHS: u64 = 300_000;

/// What a request is told to wait that meets a budget without any rate: nothing is known of when it gets one.
pub const NO_RATE_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Throughput buckets of a container. Service limit.
pub const BUCKETS_MAX: usize = 5;

/// Windows that make the last minute.
pub const MINUTE_WINDOWS: usize = 60;

/// Minutes of the last hour, which are shown one by one.
pub const HOUR_MINUTES: usize = 60;

/// Windows of a stretch over which autoscale judges the rate. Service rule.
pub const STRETCH_WINDOWS: usize = 5;

/// Windows of an hour, in which autoscale reports the highest rate.
pub const HOUR_WINDOWS: i64 = 3_600;

/// Keys that figures name as the hottest.
pub const HOT_KEYS_MAX: usize = 16;

/// Keys that are counted to find the hottest; a key with more than one part in this many of the charge of a
/// minute is certain to be among them.
pub const HOT_KEYS_COUNTED: usize = 64;

/// Longest key that is counted; longer ones are left out of the hottest.
pub const HOT_KEY_BYTES_MAX: usize = 16 * 1024;
