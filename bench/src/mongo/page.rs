//! The figures of a run as a page of Markdown: processor time of each side as a multiple of ours, then everything.

use std::fmt::Write as _;

use armilla_workload::State;

use super::Who;
use super::cases::Case;
use super::documents::BSON_BYTES;
use super::table::{Report, Row, rate};
use crate::columns::time;

/// Returns the page.
pub(super) fn page(report: &Report) -> String {
    let mut text = String::from(
        "# Figures of the MongoDB API\n\nMade by `cargo xtask bench mongo`; see [the page about it](../performance-mongo.md) for what they mean.\n",
    );
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} documents of {BSON_BYTES} bytes, {} s for each figure, {} writes a second by others in the state `written`.",
        report.items, report.seconds, report.write_rate
    );
    text.push_str(
        "Client and servers share the machine with whatever else runs there: processor time of an operation is what counts, rates and latencies are what the machine left.\n",
    );
    let rows = report.sorted();
    let mut circumstances: Vec<(State, usize)> = Vec::new();
    for row in &rows {
        let own = (row.state, row.connections);
        if row.who == Who::Armilla && !circumstances.contains(&own) {
            circumstances.push(own);
        }
    }
    for (state, connections) in &circumstances {
        let _ = write!(text, "\n## {}, {connections} connection(s)\n\n", state.name());
        ratios(&mut text, report, *state, *connections);
        text.push('\n');
        let is_own = |row: &&Row| (row.state, row.connections) == (*state, *connections);
        everything(&mut text, rows.iter().filter(is_own));
    }
    let lines: Vec<_> = report.sync_lines().into_iter().chain(report.notes.iter().cloned()).collect();
    if !lines.is_empty() {
        text.push_str("\n## Notes\n\n");
        for line in lines {
            let _ = writeln!(text, "* {}", line.replace('$', "\\$"));
        }
    }
    text
}

/// Writes what the others take, as multiples of what the MongoDB API takes.
fn ratios(text: &mut String, report: &Report, state: State, connections: usize) {
    let others = Who::ALL.into_iter().filter(|who| *who != Who::Armilla);
    let others: Vec<_> = others.filter(|who| report.rows.iter().any(|row| row.who == *who)).collect();
    text.push_str("| CPU of an operation, as a multiple of armilla's | armilla |");
    for who in &others {
        let _ = write!(text, " {} |", who.name());
    }
    text.push_str("\n|---|---|");
    text.push_str(&"---|".repeat(others.len()));
    text.push('\n');
    for case in Case::ALL {
        let Some(own) = report.find(Who::Armilla, case, state, connections) else { continue };
        let _ = write!(text, "| `{}` | {} |", case.name(), time(own.cpu_us));
        for who in &others {
            let ratio = report.find(*who, case, state, connections).map(|other| other.cpu_us / own.cpu_us);
            let _ = match ratio {
                Some(ratio) => write!(text, " {ratio:.2} |"),
                None => write!(text, " - |"),
            };
        }
        text.push('\n');
    }
}

fn everything<'a>(text: &mut String, rows: impl Iterator<Item = &'a Row>) {
    text.push_str(
        "| | | a second | p50 | p99 | CPU of one | writes meanwhile |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let figures = row.figures;
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            row.case.name(),
            row.who.name(),
            rate(figures.per_second),
            time(figures.p50_us),
            time(figures.p99_us),
            time(figures.cpu_us),
            figures.writes_per_second.map_or_else(|| "-".to_owned(), rate),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Figures;
    use super::*;

    #[test]
    fn others_are_multiples_of_ours() {
        let mut report = Report::new(100, 500.0, 2.0);
        for (who, cpu_us) in [(Who::Postgres, 30.0), (Who::Armilla, 20.0)] {
            let figures = Figures { per_second: 12.34, cpu_us, ..Figures::default() };
            report.rows.push(Row { who, case: Case::Find, connections: 1, state: State::Loaded, figures });
        }
        report.notes.push("without x, $inc".to_owned());
        let text = page(&report);
        for line in [
            "| CPU of an operation, as a multiple of armilla's | armilla | PostgreSQL |\n|---|---|---|\n",
            "| `find by _id` | 20 us | 1.50 |\n",
            "| `find by _id` | armilla | 12.3 | 0 us | 0 us | 20 us | - |\n",
            "* without x, \\$inc\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(text.find("| armilla | 12.3").unwrap() < text.find("| PostgreSQL | 12.3").unwrap());
        assert!(report.text().contains("find by _id  loaded            1     armilla"), "{}", report.text());
    }
}
