//! The figures of a run: as a table for people, as JSON, and as a page of Markdown.

use std::fmt::Write as _;

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
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) vertices: usize,
    pub(super) edges: usize,
    pub(super) write_rate: f64,
    pub(super) seconds: f64,
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
}

const HEADINGS: [&str; 9] =
    ["", "state", "connections", "", "a second", "p50", "p99", "CPU/op", "writes meanwhile"];

impl Report {
    /// Returns the rows by case, state and connections, those to be compared below each other.
    fn sorted(&self) -> Vec<Row> {
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
    fn find(&self, who: Who, case: Case, state: State, connections: usize) -> Option<Figures> {
        let is_meant =
            |row: &&Row| (row.who, row.case, row.state, row.connections) == (who, case, state, connections);
        self.rows.iter().find(is_meant).map(|row| row.figures)
    }

    pub(super) fn text(&self) -> String {
        let rows: Vec<_> = self.sorted().into_iter().map(cells).collect();
        let mut text = layout(&HEADINGS.map(str::to_owned), &rows);
        for note in &self.notes {
            text.push_str(&format!("{note}\n"));
        }
        text
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
        all.insert("vertices", self.vertices as i64);
        all.insert("edges", self.edges as i64);
        all.insert("seconds", self.seconds);
        all.insert("writeRate", self.write_rate);
        all.insert("measurements", self.sorted().into_iter().map(row).collect::<Vec<_>>());
        all.insert("notes", self.notes.clone());
        Value::Object(all)
    }

    /// Returns a page of Markdown: processor time of the sides beside each other, then everything.
    pub(super) fn page(&self) -> String {
        let mut text = String::from(
            "# Figures of the Gremlin API\n\nMade by `cargo xtask bench gremlin`; see [the page about it](../performance-gremlin.md) for what they mean.\n",
        );
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} vertices and {} edges, {} s for each figure, {} writes a second by others in the state `written`.",
            self.vertices, self.edges, self.seconds, self.write_rate
        );
        text.push_str(
            "Client and servers share the machine with whatever else runs there: processor time of an operation is what counts, rates and latencies are what the machine left.\n",
        );
        let mut circumstances: Vec<(State, usize)> = Vec::new();
        let rows = self.sorted();
        for row in &rows {
            if !circumstances.contains(&(row.state, row.connections)) {
                circumstances.push((row.state, row.connections));
            }
        }
        text.push_str("\n## Processor time of an operation\n\n| | state | connections | armilla | gremlin-server | ratio |\n|---|---|---|---|---|---|\n");
        for case in Case::ALL {
            for (state, connections) in &circumstances {
                self.compare(&mut text, case, *state, *connections);
            }
        }
        let rule = "---|".repeat(HEADINGS.len());
        let _ = write!(text, "\n## Everything\n\n| {} |\n|{rule}\n", HEADINGS.join(" | "));
        for row in rows {
            let _ = writeln!(text, "| {} |", cells(row).join(" | "));
        }
        if !self.notes.is_empty() {
            text.push_str("\n## Notes\n\n");
            for line in &self.notes {
                let _ = writeln!(text, "* {}", line.replace('$', "\\$"));
            }
        }
        text
    }

    fn compare(&self, text: &mut String, case: Case, state: State, connections: usize) {
        let [own, other] = Who::ALL.map(|who| self.find(who, case, state, connections));
        if own.is_none() && other.is_none() {
            return;
        }
        let shown = |figures: Option<Figures>| figures.map_or("-".to_owned(), |figures| time(figures.cpu_us));
        let ratio = match (own, other) {
            (Some(own), Some(other)) if other.cpu_us > 0.0 => format!("{:.2}", own.cpu_us / other.cpu_us),
            _ => "-".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {connections} | {} | {} | {ratio} |",
            case.name(),
            state.name(),
            shown(own),
            shown(other)
        );
    }
}

fn cells(row: Row) -> [String; 9] {
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
}

/// Slow ones with a digit behind the point.
fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_beside_each_other() {
        let mut report = Report { vertices: 100, edges: 500, ..Report::default() };
        for (who, cpu_us) in [(Who::GremlinServer, 80.0), (Who::Armilla, 20.0)] {
            let figures = Figures { per_second: 12.34, cpu_us, ..Figures::default() };
            report.rows.push(Row { who, case: Case::Id, connections: 1, state: State::Loaded, figures });
        }
        report.notes.push("without x".to_owned());
        let text = report.page();
        for line in [
            "| `V(id)` | loaded | 1 | 20 us | 80 us | 0.25 |\n",
            "| V(id) | loaded | 1 | armilla | 12.3 | 0 us | 0 us | 20 us | - |\n",
            "* without x\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(report.text().contains("V(id)  loaded            1         armilla"), "{}", report.text());
    }
}
