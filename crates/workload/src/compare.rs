//! Compares two results: the same workloads before and after something.
//!
//! What counts as slower depends on the loop. In a closed loop the connections are always busy, so it is operations a
//! second that change; in an open loop that is given, and it is the latency. Kinds of operations inside a workload
//! share its connections, so of them only the latency says anything.

use armilla_report::{Cell, Column, Table, Tone, number};

use crate::result::{Row, RunResult};

/// Settings without which figures mean something else.
const TELLING_SETTINGS: [&str; 10] = [
    "seconds",
    "rate",
    "writeRate",
    "readPercent",
    "items",
    "itemBytes",
    "partitions",
    "throughput",
    "cores",
    "blogUsers",
];

/// Rows that are named where only one result has them.
const NAMED_MAX: usize = 8;

/// How two results differ.
#[derive(Debug)]
pub(crate) struct Comparison<'r> {
    /// What both have.
    pub(crate) lines: Vec<Line<'r>>,
    /// What only the first has.
    pub(crate) only_before: Vec<&'r Row>,
    /// What only the second has.
    pub(crate) only_after: Vec<&'r Row>,
    /// Settings that differ: name, before, after.
    pub(crate) settings: Vec<(&'static str, &'r str, &'r str)>,
}

/// The same thing before and after.
#[derive(Debug)]
pub(crate) struct Line<'r> {
    /// Before.
    pub(crate) before: &'r Row,
    /// After.
    pub(crate) after: &'r Row,
}

/// Compares two results.
pub(crate) fn compare<'r>(before: &'r RunResult, after: &'r RunResult) -> Comparison<'r> {
    let other = |rows: &'r [Row], row: &Row| rows.iter().find(|one| one.is_same(row));
    let lines = before
        .rows
        .iter()
        .filter_map(|row| other(&after.rows, row).map(|after| Line { before: row, after }))
        .collect();
    let only = |own: &'r [Row], others: &'r [Row]| {
        own.iter().filter(|row| other(others, row).is_none()).collect::<Vec<_>>()
    };
    let setting = |result: &'r RunResult, name: &str| {
        let found = result.settings.iter().find(|(own, _)| own == name);
        found.map_or("", |(_, value)| value.as_str())
    };
    let settings = TELLING_SETTINGS
        .into_iter()
        .map(|name| (name, setting(before, name), setting(after, name)))
        .filter(|(_, before, after)| before != after)
        .collect();
    Comparison {
        lines,
        only_before: only(&before.rows, &after.rows),
        only_after: only(&after.rows, &before.rows),
        settings,
    }
}

impl Line<'_> {
    /// Returns what is slower by more than so many percent, if anything is.
    pub(crate) fn slower(&self, percent: f64) -> Option<String> {
        let share = percent / 100.0;
        let name = self.after.title();
        let (before, after) = (self.before, self.after);
        if let (Some(was), Some(is)) = (&before.open_loop, &after.open_loop)
            && was.has_kept_rate()
            && !is.has_kept_rate()
        {
            return Some(format!("{name} no longer keeps {} operations a second", number::short(is.rate)));
        }
        let is_rate_given = before.open_loop.is_some() || after.open_loop.is_some();
        if before.operation.is_none() && !is_rate_given {
            let (was, is) = (before.per_second(), after.per_second());
            return (is < was * (1.0 - share)).then(|| {
                format!(
                    "{name} does {} operations a second, {} before",
                    number::short(is),
                    number::short(was)
                )
            });
        }
        let (was, is) = (before.latency.p50_us, after.latency.p50_us);
        (is > was * (1.0 + share)).then(|| {
            format!(
                "{name} has a median latency of {} us, {} us before",
                number::short(is),
                number::short(was)
            )
        })
    }
}

impl Comparison<'_> {
    /// Returns a sentence for each thing that is slower by more than so many percent.
    pub(crate) fn slower(&self, percent: f64) -> Vec<String> {
        self.lines.iter().filter_map(|line| line.slower(percent)).collect()
    }

    /// Returns a table of all that both have: figures after, and each as a multiple of what it was.
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new([
            Column::left("workload"),
            Column::left("side"),
            Column::right("connections"),
            Column::left("state"),
            Column::right("operations/s"),
            Column::right("of before"),
            Column::right("CPU us/op"),
            Column::right("of before"),
            Column::right("p50 us"),
            Column::right("of before"),
            Column::right("p99 us"),
            Column::right("of before"),
            Column::right("RU/operation"),
            Column::right("of before"),
        ]);
        for Line { before, after } in &self.lines {
            let (charge, cpu_us) = (after.charge_per_operation(), after.cpu_us_per_operation());
            table.row([
                Cell::from(after.name()),
                Cell::from(after.side.as_str()),
                Cell::from(after.circumstances.connections.to_string()),
                Cell::from(after.circumstances.state.name()),
                Cell::from(number::short(after.per_second())),
                ratio(before.per_second(), after.per_second(), Better::More),
                Cell::from(cpu_us.map_or(String::new(), number::short)),
                match (before.cpu_us_per_operation(), cpu_us) {
                    (Some(before), Some(after)) => ratio(before, after, Better::Less),
                    _ => Cell::from(""),
                },
                Cell::from(number::short(after.latency.p50_us)),
                ratio(before.latency.p50_us, after.latency.p50_us, Better::Less),
                Cell::from(number::short(after.latency.p99_us)),
                ratio(before.latency.p99_us, after.latency.p99_us, Better::Less),
                Cell::from(charge.map_or(String::new(), |charge| number::fixed(charge, 2))),
                match (before.charge_per_operation(), charge) {
                    (Some(before), Some(after)) => ratio(before, after, Better::Less),
                    _ => Cell::from(""),
                },
            ]);
        }
        table
    }

    /// Returns sentences about what cannot be compared or may not be meant.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (name, before, after) in &self.settings {
            let or_none = |text: &str| if text.is_empty() { "not set".to_owned() } else { text.to_owned() };
            notes.push(format!("{name} differs: {} before, {} after", or_none(before), or_none(after)));
        }
        for (rows, when) in [(&self.only_before, "before"), (&self.only_after, "after")] {
            let mut names: Vec<_> = rows.iter().take(NAMED_MAX).map(|row| row.title()).collect();
            if rows.len() > NAMED_MAX {
                names.push(format!("and {} more", rows.len() - NAMED_MAX));
            }
            if !names.is_empty() {
                notes.push(format!("only {when}: {}", names.join(", ")));
            }
        }
        notes
    }
}

/// Which way a figure should go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    More,
    Less,
}

/// Differences of less are shown without a tone: runs differ by as much.
const NOISE: f64 = 0.05;

fn ratio(before: f64, after: f64, better: Better) -> Cell {
    if before <= 0.0 || !before.is_finite() || !after.is_finite() {
        return Cell::from("");
    }
    let ratio = after / before;
    let cell = Cell::from(number::fixed(ratio, 2));
    let tone = match (ratio > 1.0 + NOISE, ratio < 1.0 - NOISE, better) {
        (true, _, Better::More) | (_, true, Better::Less) => Tone::Good,
        (true, _, Better::Less) | (_, true, Better::More) => Tone::Bad,
        _ => Tone::Plain,
    };
    cell.tone(tone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circumstances::{Circumstances, State};
    use crate::drive::OpenLoop;
    use crate::tally::Quantiles;

    fn row(workload: &str, operation: Option<&str>, per_second: u64, p50_us: f64) -> Row {
        Row {
            workload: workload.to_owned(),
            operation: operation.map(str::to_owned),
            side: "armilla".to_owned(),
            circumstances: Circumstances { connections: 16, state: State::Loaded },
            operations: per_second,
            seconds: 1.0,
            latency: Quantiles { p50_us, p99_us: p50_us, ..Quantiles::default() },
            ..Row::default()
        }
    }

    fn open(mut row: Row, unsent: u64) -> Row {
        row.open_loop = Some(OpenLoop { rate: 1_000.0, due: 1_000, unsent, late_max_us: 0.0 });
        row
    }

    fn result(rows: Vec<Row>) -> RunResult {
        let settings = vec![("writeRate".to_owned(), rows.len().to_string())];
        RunResult { rows, settings, ..RunResult::default() }
    }

    #[test]
    fn what_counts_as_slower() {
        let closed = |per_second, p50_us| row("write", None, per_second, p50_us);
        let kind = |per_second, p50_us| row("mixed", Some("read"), per_second, p50_us);
        for (before, after, expected) in [
            // At the bound, and past it.
            (closed(1_000, 100.0), closed(900, 500.0), None),
            (closed(1_000, 100.0), closed(899, 100.0), Some("does 899 operations a second, 1,000 before")),
            (closed(1_000, 100.0), closed(5_000, 100.0), None),
            (open(closed(1_000, 100.0), 0), open(closed(1_000, 110.0), 10), None),
            (
                open(closed(1_000, 100.0), 0),
                open(closed(1_000, 111.0), 0),
                Some("has a median latency of 111 us, 100 us before"),
            ),
            (
                open(closed(1_000, 100.0), 0),
                open(closed(980, 100.0), 20),
                Some("no longer keeps 1,000 operations a second"),
            ),
            (open(closed(1_000, 100.0), 20), open(closed(980, 100.0), 20), None),
            (kind(1_000, 100.0), kind(1, 110.0), None),
            (
                kind(1_000, 100.0),
                kind(1_000, 111.0),
                Some("mixed read (armilla, 16 connections, loaded) has a median latency"),
            ),
        ] {
            let (before, after) = (result(vec![before]), result(vec![after]));
            let found = compare(&before, &after).slower(10.0);
            match expected {
                None => assert!(found.is_empty(), "{found:?}"),
                Some(expected) => assert!(found.len() == 1 && found[0].contains(expected), "{found:?}"),
            }
        }
    }

    #[test]
    fn processor_time_is_compared_where_both_have_it() {
        let with_cpu = |cpu_seconds| Row { cpu_seconds, ..row("write", None, 1_000, 100.0) };
        for (before, after, expected) in [
            (Some(0.25), Some(0.125), "125       0.50"),
            (None, Some(0.125), "125  "),
            (Some(0.25), None, "     100       1.00"),
        ] {
            let (before, after) = (result(vec![with_cpu(before)]), result(vec![with_cpu(after)]));
            let text = compare(&before, &after).table().to_text();
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn what_only_one_has_is_said() {
        let before = result(vec![row("write", None, 1, 1.0), row("feed", None, 1, 1.0)]);
        let after = result(vec![row("write", None, 1, 1.0)]);
        let comparison = compare(&before, &after);
        assert_eq!(comparison.lines.len(), 1);
        assert_eq!(
            comparison.notes(),
            ["writeRate differs: 2 before, 1 after", "only before: feed (armilla, 16 connections, loaded)"]
        );
        let notes = compare(&after, &before).notes();
        assert_eq!(notes[1], "only after: feed (armilla, 16 connections, loaded)");
        assert!(comparison.table().to_text().contains("1.00"));
    }

    #[test]
    fn rows_are_the_same_in_the_same_circumstances() {
        let with = |connections, state, per_second| Row {
            circumstances: Circumstances { connections, state },
            ..row("write", None, per_second, 100.0)
        };
        let before = result(vec![
            with(1, State::Loaded, 100),
            with(16, State::Loaded, 1_000),
            with(16, State::Rested, 2_000),
        ]);
        let after = result(vec![
            with(16, State::Rested, 1_000),
            with(16, State::Loaded, 1_000),
            with(16, State::Written, 5),
        ]);
        let comparison = compare(&before, &after);
        let pairs: Vec<_> =
            comparison.lines.iter().map(|line| (line.before.operations, line.after.operations)).collect();
        assert_eq!(pairs, [(1_000, 1_000), (2_000, 1_000)]);
        assert_eq!(
            comparison.slower(10.0),
            ["write (armilla, 16 connections, rested) does 1,000 operations a second, 2,000 before"]
        );
        assert_eq!(
            comparison.notes(),
            [
                "only before: write (armilla, 1 connection, loaded)",
                "only after: write (armilla, 16 connections, written)"
            ]
        );
    }
}
