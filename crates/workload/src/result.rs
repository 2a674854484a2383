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

use crate::background::BackgroundWrites;
use crate::circumstances::{Circumstances, State};
use crate::drive::{Measured, OpenLoop};
use crate::limits::RESULT_BYTES_MAX;
use crate::tally::{Quantiles, Tally};

/// What the member `format` of every file says.
pub(crate) const FORMAT: &str = "armilla-bench";

/// The version of the format: since the second, rows say their circumstances, and a workload may have several rows.
pub(crate) const VERSION: i64 = 2;

/// Everything that one run measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RunResult {
    /// When it was started, as RFC 3339 in UTC.
    pub(crate) started_at: String,
    /// The program that measured, with its version.
    pub(crate) program: String,
    /// What was set, and facts about the machine and the sides, as names and values.
    pub(crate) settings: Vec<(String, String)>,
    /// Which indexes each side has of the items, by its name.
    pub(crate) indexes: Vec<(String, Vec<String>)>,
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
    /// With how many connections, in which state of the data.
    pub(crate) circumstances: Circumstances,
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
    /// What others wrote meanwhile, if they did; of a whole workload alone.
    pub(crate) background: Option<BackgroundWrites>,
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

    /// Returns the name with who did it and under which circumstances.
    pub(crate) fn title(&self) -> String {
        format!("{} ({}, {})", self.name(), self.side, self.circumstances)
    }

    /// Whether it is the same thing as another row.
    pub(crate) fn is_same(&self, other: &Row) -> bool {
        self.is_same_work(other) && self.side == other.side
    }

    /// Whether it is the same thing as another row, whoever did it.
    pub(crate) fn is_same_work(&self, other: &Row) -> bool {
        self.workload == other.workload
            && self.operation == other.operation
            && self.circumstances == other.circumstances
    }

    fn of_tally(subject: Subject<'_>, operation: Option<&str>, tally: &Tally, seconds: f64) -> Row {
        Row {
            workload: subject.workload.to_owned(),
            operation: operation.map(str::to_owned),
            side: subject.side.to_owned(),
            circumstances: subject.circumstances,
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
            background: None,
        }
    }
}

/// What rows are about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'s> {
    /// The workload.
    pub(crate) workload: &'s str,
    /// Who did it.
    pub(crate) side: &'s str,
    /// With how many connections, in which state of the data.
    pub(crate) circumstances: Circumstances,
}

/// Returns the rows of a measurement: all operations, then each kind where there are several.
pub(crate) fn rows(subject: Subject<'_>, kinds: &[&str], measured: &Measured) -> Vec<Row> {
    let seconds = measured.took.as_secs_f64();
    let mut all = Tally::new();
    for tally in &measured.kinds {
        all.add(tally);
    }
    let mut row = Row::of_tally(subject, None, &all, seconds);
    row.open_loop = measured.open_loop;
    row.cpu_seconds = measured.cpu.map(|cpu| cpu.as_secs_f64());
    row.by_second.clone_from(&measured.by_second);
    let mut rows = vec![row];
    if kinds.len() > 1 {
        let each = kinds.iter().zip(&measured.kinds);
        rows.extend(each.map(|(kind, tally)| Row::of_tally(subject, Some(kind), tally, seconds)));
    }
    rows
}

/// Puts rows of the same workload together, whichever side and state was measured first.
pub(crate) fn put_in_order(rows: &mut [Row]) {
    let mut workloads: Vec<String> = Vec::new();
    let mut connections: Vec<u16> = Vec::new();
    for row in rows.iter() {
        if !workloads.contains(&row.workload) {
            workloads.push(row.workload.clone());
        }
        if !connections.contains(&row.circumstances.connections) {
            connections.push(row.circumstances.connections);
        }
    }
    // Sides, and the kinds of operations behind the whole, stay as they are: sorting keeps their order.
    rows.sort_by_key(|row| {
        (
            workloads.iter().position(|workload| *workload == row.workload),
            connections.iter().position(|connections| *connections == row.circumstances.connections),
            State::ALL.iter().position(|state| *state == row.circumstances.state),
        )
    });
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
