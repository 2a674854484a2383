//! Whether what was measured comes as close to what is published as it has to.

use super::Run;
use crate::figures::{self, Bar, FEED_SHAPE_POSTS_PER_PARTITION, LATENCY_SHARE, Operation, Published};
use crate::items::Version;
use crate::measure::Cell;

/// A cell, judged.
#[derive(Debug, Clone)]
pub(crate) struct Judged<'r> {
    pub(crate) cell: &'r Cell,
    pub(crate) published: Published,
    /// The request units that are compared: as they would be with the published number of partitions.
    pub(crate) charge: f64,
    /// Whether the charge keeps its bar; nothing where the data is not of the published shape.
    pub(crate) is_charge_kept: Option<bool>,
    /// Whether the median is below a tenth of the published latency.
    pub(crate) is_latency_kept: bool,
    /// What has to be said about it.
    pub(crate) note: Option<&'static str>,
}

impl Judged<'_> {
    /// Returns by how much the charge differs, as a share of the published one.
    pub(crate) fn charge_difference(&self) -> f64 {
        self.charge / self.published.charge - 1.0
    }

    /// Returns how many times the published latency is as long.
    pub(crate) fn speed_up(&self) -> f64 {
        self.published.latency_ms / self.p50_ms()
    }

    /// Returns the median in milliseconds.
    pub(crate) fn p50_ms(&self) -> f64 {
        self.cell.latencies.p50().as_secs_f64() * 1_000.0
    }

    /// Returns the 99th percentile in milliseconds.
    pub(crate) fn p99_ms(&self) -> f64 {
        self.cell.latencies.p99().as_secs_f64() * 1_000.0
    }
}

/// COUNT is answered by the index.
pub(crate) const COUNTED_BY_INDEX: &str =
    "counts comments and likes: COUNT is answered by the index here, so this may be cheaper than published";

/// The published figure is that of a smaller item.
pub(crate) const GROWN: &str = "the published table repeats the figure of V1; the item has more properties since, and costs what they cost";

/// There are too few posts.
pub(crate) const TOO_FEW_POSTS: &str =
    "not judged: there are fewer posts in each physical partition than in the published example";

/// The number of partitions is another.
pub(crate) const OTHER_PARTITIONS: &str =
    "computed for 67 physical partitions from what each partition was charged";

/// Judges all that was measured.
pub(crate) fn judge(run: &Run) -> Vec<Judged<'_>> {
    run.measured.cells.iter().map(|cell| judge_cell(run, cell)).collect()
}

fn judge_cell<'r>(run: &Run, cell: &'r Cell) -> Judged<'r> {
    let published = figures::of(cell.operation, cell.version);
    let bar = figures::bar(cell.operation, cell.version);
    let charge = cell.charge_at_published.unwrap_or(cell.charge);
    let partitions = u64::from(run.measured.partitions);
    let is_thin = cell.operation == Operation::Q6
        && cell.version != Version::V3
        && run.totals.posts < FEED_SHAPE_POSTS_PER_PARTITION * partitions;
    let is_charge_kept = (!is_thin).then(|| bar.is_kept(charge, published.charge));
    let note = match bar {
        _ if is_thin => Some(TOO_FEW_POSTS),
        Bar::Grown { .. } => Some(GROWN),
        Bar::AtMost(_) => Some(COUNTED_BY_INDEX),
        Bar::Within(_) if cell.charge_at_published.is_some() => Some(OTHER_PARTITIONS),
        Bar::Within(_) => None,
    };
    let p50_ms = cell.latencies.p50().as_secs_f64() * 1_000.0;
    let is_latency_kept = p50_ms < LATENCY_SHARE * published.latency_ms;
    Judged { cell, published, charge, is_charge_kept, is_latency_kept, note }
}
