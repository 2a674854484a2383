//! What a run measured, and its JSON.
//!
//! The file says which format it is and in which version: members may be added under one version, which readers pass
//! over, and what a reader needs is never taken away or given another meaning.
//!
//! Not here: comparing two results (`compare`), tables and pages (`table`, `page`).

mod json_form;

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::drive::{Measured, OpenLoop};
use crate::limits::RESULT_BYTES_MAX;
use crate::tally::{Quantiles, Tally};

/// What the member `format` of every file says.
pub(crate) const FORMAT: &str = "armilla-bench";

/// The version of the format.
pub(crate) const VERSION: i64 = 1;

/// Everything that one run measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RunResult {
    /// When it was started, as RFC 3339 in UTC.
    pub(crate) started_at: String,
    /// The program that measured, with its version.
    pub(crate) program: String,
    /// What was set, and facts about the machine and the sides, as names and values.
    pub(crate) settings: Vec<(String, String)>,
    /// What was measured.
    pub(crate) rows: Vec<Row>,
    /// Sentences for people about what was left out or went wrong.
    pub(crate) notes: Vec<String>,
}

/// One line: operations of one kind, or all of a workload, on one side.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Row {
    /// The workload, such as `query:range`.
    pub(crate) workload: String,
    /// The kind of operation, where the workload has several.
    pub(crate) operation: Option<String>,
    /// Who did it.
    pub(crate) side: String,
    /// Operations that were done.
    pub(crate) operations: u64,
    /// How long that took.
    pub(crate) seconds: f64,
    /// Operations that were refused for want of throughput.
    pub(crate) refused: u64,
    /// Operations that failed.
    pub(crate) failed: u64,
    /// Requests that the operations took.
    pub(crate) requests: u64,
    /// Items that they read, wrote or were given.
    pub(crate) items: u64,
    /// Request units that they were charged.
    pub(crate) charge: Option<f64>,
    /// Seconds of processor time that the side used meanwhile, where it tells; of a whole workload alone.
    pub(crate) cpu_seconds: Option<f64>,
    /// From when they were due, or sent in a closed loop, to the answer.
    pub(crate) latency: Quantiles,
    /// From when they were sent to the answer.
    pub(crate) service: Quantiles,
    /// Percentiles of the latency, in microseconds.
    pub(crate) curve: Vec<(f64, f64)>,
    /// How the open loop went, if it was one.
    pub(crate) open_loop: Option<OpenLoop>,
    /// Operations done in each second; of a whole workload alone.
    pub(crate) by_second: Vec<u64>,
}

impl Row {
    /// Returns operations a second.
    pub(crate) fn per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.operations as f64 / self.seconds } else { 0.0 }
    }

    /// Returns request units of one operation.
    pub(crate) fn charge_per_operation(&self) -> Option<f64> {
        self.charge.map(|charge| charge / self.operations.max(1) as f64)
    }

    /// Returns microseconds of processor time of one operation.
    pub(crate) fn cpu_us_per_operation(&self) -> Option<f64> {
        self.cpu_seconds.filter(|_| self.operations > 0).map(|seconds| seconds * 1e6 / self.operations as f64)
    }

    /// Returns items of one operation.
    pub(crate) fn items_per_operation(&self) -> f64 {
        self.items as f64 / self.operations.max(1) as f64
    }

    /// Returns the name under which people know it.
    pub(crate) fn name(&self) -> String {
        match &self.operation {
            Some(operation) => format!("{} {operation}", self.workload),
            None => self.workload.clone(),
        }
    }

    /// Whether it is the same thing as another row.
    pub(crate) fn is_same(&self, other: &Row) -> bool {
        self.workload == other.workload && self.operation == other.operation && self.side == other.side
    }

    fn of_tally(workload: &str, operation: Option<&str>, side: &str, tally: &Tally, seconds: f64) -> Row {
        Row {
            workload: workload.to_owned(),
            operation: operation.map(str::to_owned),
            side: side.to_owned(),
            operations: tally.latencies.count(),
            seconds,
            refused: tally.refused,
            failed: tally.failed,
            requests: tally.requests,
            items: tally.items,
            charge: tally.charge,
            cpu_seconds: None,
            latency: tally.latencies.quantiles(),
            service: tally.services.quantiles(),
            curve: tally.latencies.curve(),
            open_loop: None,
            by_second: Vec::new(),
        }
    }
}

/// Returns the rows of a measurement: all operations, then each kind where there are several.
pub(crate) fn rows(workload: &str, side: &str, kinds: &[&str], measured: &Measured) -> Vec<Row> {
    let seconds = measured.took.as_secs_f64();
    let mut all = Tally::new();
    for tally in &measured.kinds {
        all.add(tally);
    }
    let mut row = Row::of_tally(workload, None, side, &all, seconds);
    row.open_loop = measured.open_loop;
    row.cpu_seconds = measured.cpu.map(|cpu| cpu.as_secs_f64());
    row.by_second.clone_from(&measured.by_second);
    let mut rows = vec![row];
    if kinds.len() > 1 {
        let each = kinds.iter().zip(&measured.kinds);
        rows.extend(each.map(|(kind, tally)| Row::of_tally(workload, Some(kind), side, tally, seconds)));
    }
    rows
}

/// Writes a result to a file.
pub(crate) fn write(path: &Path, result: &RunResult) -> Result<()> {
    std::fs::write(path, json_form::write(result)).with_context(|| format!("cannot write {}", path.display()))
}

/// Reads a result from a file.
pub(crate) fn read(path: &Path) -> Result<RunResult> {
    let display = path.display();
    let file = std::fs::File::open(path).with_context(|| format!("cannot read {display}"))?;
    let mut bytes = Vec::new();
    file.take(RESULT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {display}"))?;
    ensure!(bytes.len() as u64 <= RESULT_BYTES_MAX, "{display} is longer than any result");
    json_form::parse(&bytes).with_context(|| format!("{display} is no result of `armilla bench`"))
}

#[cfg(test)]
mod tests;
