//! Every bound and threshold of the advisor, by name. Thresholds are where findings begin; `docs/modelling` has them.

/// Items of a container that are looked at, at most.
pub const SAMPLE_ITEMS_MAX: usize = 20_000;

/// Bytes of them, at most.
pub const SAMPLE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes of the samples of all containers, at most.
pub const SAMPLES_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Places on the ring from which a sample is taken where a container is larger than that.
pub const SAMPLE_PLACES: usize = 64;

/// Physical partitions of a container on a copy, at most.
pub const PARTITIONS_MAX: u32 = 256;

/// Requests of a shape by which it is measured, at most.
pub const REQUESTS_MEASURED: usize = 8;

/// Pages of a query that are read, at most.
pub const PAGES_MAX: usize = 64;

/// Of first requests, the part that others have to follow before they are taken to belong together.
pub const FOLLOWED_PART_MIN: f64 = 0.5;

/// Of requests of a shape, the part that follows from no other before they are operations of their own.
pub const ALONE_PART_MIN: f64 = 0.05;

/// Items that a sample has at least before it is believed to show what is usual.
pub const SAMPLE_ITEMS_MIN: u64 = 1_000;

/// Seconds for which requests are watched at least before what is not asked is believed not to be needed.
pub const WATCHED_SECONDS_MIN: f64 = 24.0 * 3_600.0;

/// Of all that an account is charged, the part below which a container is left alone.
pub const CHARGE_PART_MIN: f64 = 0.01;

/// Findings, at most; the least are left out.
pub const FINDINGS_MAX: usize = 200;

/// Characters of a line of evidence, at most.
pub const LINE_CHARACTERS_MAX: usize = 240;

/// Alterations that are tried for one piece of advice, at most.
pub const TRIALS_MAX: usize = 12;
