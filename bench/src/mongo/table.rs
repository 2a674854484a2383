//! The figures of a run, as a table for people and as JSON.

use std::time::Duration;

use armilla_value::{Object, Value};
use armilla_workload::State;

use super::Who;
use super::cases::Case;
use crate::columns::{layout, time};

/// What was measured of one case.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) operations: u64,
    pub(super) per_second: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    /// Processor time of the side for each operation.
    pub(super) cpu_us: f64,
    /// What others wrote meanwhile, where they should.
    pub(super) writes_per_second: Option<f64>,
}

/// One line of the report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub(super) who: Who,
    pub(super) case: Case,
    pub(super) connections: usize,
    pub(super) state: State,
    pub(super) figures: Figures,
}

/// Everything that a run found.
pub(super) struct Report {
    pub(super) items: usize,
    pub(super) write_rate: f64,
    pub(super) seconds: f64,
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
    pub(super) memory: Vec<(Who, u64)>,
    /// What a sync of the disk took before a side was loaded, and after it was measured.
    pub(super) syncs: Vec<(Who, Duration, Duration)>,
}

const HEADINGS: [&str; 9] =
    ["", "state", "connections", "", "a second", "p50", "p99", "CPU/op", "writes meanwhile"];

impl Report {
    pub(super) fn new(items: usize, write_rate: f64, seconds: f64) -> Report {
        let (rows, notes, memory, syncs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Report { items, write_rate, seconds, rows, notes, memory, syncs }
    }

    /// Returns the rows by case, state and connections, those to be compared below each other.
    pub(super) fn sorted(&self) -> Vec<Row> {
        let mut rows = self.rows.clone();
        let place = |row: &Row| {
            let case = Case::ALL.iter().position(|case| *case == row.case);
            let state = State::ALL.iter().position(|state| *state == row.state);
            let who = Who::ALL.iter().position(|who| *who == row.who);
            (case, state, row.connections, who)
        };
        rows.sort_by_key(place);
        rows
    }

    /// Returns the figures of a side.
    pub(super) fn find(&self, who: Who, case: Case, state: State, connections: usize) -> Option<Figures> {
        let is_meant =
            |row: &&Row| (row.who, row.case, row.state, row.connections) == (who, case, state, connections);
        self.rows.iter().find(is_meant).map(|row| row.figures)
    }

    pub(super) fn text(&self) -> String {
        let cells = |row: Row| {
            let figures = row.figures;
            [
                row.case.name().to_owned(),
                row.state.name().to_owned(),
                row.connections.to_string(),
                row.who.name().to_owned(),
                rate(figures.per_second),
                time(figures.p50_us),
                time(figures.p99_us),
                time(figures.cpu_us),
                figures.writes_per_second.map_or_else(|| "-".to_owned(), rate),
            ]
        };
        let rows: Vec<_> = self.sorted().into_iter().map(cells).collect();
        let mut text = layout(&HEADINGS.map(str::to_owned), &rows);
        for (who, bytes) in &self.memory {
            text.push_str(&format!("memory at the end, {}: {} MB\n", who.name(), bytes >> 20));
        }
        for line in self.sync_lines() {
            text.push_str(&format!("{line}\n"));
        }
        for note in &self.notes {
            text.push_str(&format!("{note}\n"));
        }
        text
    }

    /// Says what the disk took, by which durable writes are to be judged.
    pub(super) fn sync_lines(&self) -> Vec<String> {
        let us = |took: Duration| time(took.as_secs_f64() * 1e6);
        let line = |(who, before, after): &(Who, Duration, Duration)| {
            format!("a sync of the disk took {} before {}, {} after it", us(*before), who.name(), us(*after))
        };
        self.syncs.iter().map(line).collect()
    }

    /// Returns everything as JSON.
    pub(super) fn figures(&self) -> Value {
        let row = |row: Row| {
            let mut object = Object::new();
            object.insert("case", row.case.key());
            object.insert("side", row.who.name());
            object.insert("state", row.state.name());
            object.insert("connections", row.connections as i64);
            object.insert("operations", row.figures.operations as i64);
            object.insert("perSecond", row.figures.per_second);
            object.insert("p50Us", row.figures.p50_us);
            object.insert("p99Us", row.figures.p99_us);
            object.insert("cpuUsPerOperation", row.figures.cpu_us);
            object.insert("writesPerSecond", row.figures.writes_per_second);
            object
        };
        let mut all = Object::new();
        all.insert("cores", std::thread::available_parallelism().map_or(0, usize::from) as i64);
        all.insert("items", self.items as i64);
        all.insert("seconds", self.seconds);
        all.insert("writeRate", self.write_rate);
        all.insert("measurements", self.sorted().into_iter().map(row).collect::<Vec<_>>());
        all.insert("notes", self.notes.clone());
        let mut memory = Object::new();
        for (who, bytes) in &self.memory {
            memory.insert(who.name(), (bytes >> 20) as i64);
        }
        all.insert("memoryMb", Value::Object(memory));
        all.insert("syncs", self.sync_lines());
        Value::Object(all)
    }
}

/// Slow ones with a digit behind the point.
pub(super) fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}
