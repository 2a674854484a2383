//! A result as a page with plots.

use armilla_report::plot::{self, Axis, Bars, Line, Lines, Series, Whisker, Whiskers};
use armilla_report::{Page, number};

use crate::result::{Row, RunResult};
use crate::table;

/// Lines of one plot; more could not be told apart.
const LINES_MAX: usize = 8;

/// Returns a result as HTML.
pub(crate) fn render(result: &RunResult) -> String {
    let mut page = Page::new("Benchmark");
    page.lead(format!("What `armilla bench` measured, started at {}.", result.started_at));
    page.facts(&result.settings);
    for note in &result.notes {
        page.note(note);
    }
    for line in table::index_lines(&result.indexes) {
        page.paragraph(line);
    }
    page.heading("Results").table(&table::table(&result.rows));
    page.paragraph(
        "Operations a second are those that were done. Latency counts from when an operation was due in an open loop, and \
         from when it was sent in a closed one. RU are request units as the server charged them.",
    );
    if table::has_cpu(&result.rows) {
        page.paragraph(
            "CPU us/op is the processor time of the side's processes for each operation, in microseconds: on a machine \
             that does other things too it stays the same where operations a second do not.",
        );
    }
    page.paragraph(
        "Loaded is right after the load, written while others write at a rate, rested after the work in the background \
         is done.",
    );
    let whole: Vec<&Row> =
        result.rows.iter().filter(|row| row.operation.is_none() && row.operations > 0).collect();
    if !whole.is_empty() {
        page.heading("Operations a second").plot("Operations a second, by workload", &throughput(&whole));
        let told: Vec<&Row> =
            whole.iter().copied().filter(|row| row.cpu_us_per_operation().is_some()).collect();
        if !told.is_empty() {
            page.heading("Processor time").plot("Processor time of an operation, by workload", &cpu(&told));
        }
        page.heading("Latency")
            .plot("The median, and what 90, 99 and 99.9 of a hundred stay below", &latency(&whole));
        for (index, some) in whole.chunks(LINES_MAX).enumerate() {
            let part = if whole.len() > LINES_MAX { format!(", part {}", index + 1) } else { String::new() };
            page.plot(format!("Latency by percentile{part}"), &percentiles(some));
        }
        let steady: Vec<&Row> = whole.iter().copied().filter(|row| row.by_second.len() > 1).collect();
        if !steady.is_empty() {
            page.heading("Over time");
            for some in steady.chunks(LINES_MAX) {
                page.plot("Operations done in each second", &over_time(some));
            }
        }
    }
    page.footer(format!("Made by {}.", result.program));
    page.render()
}

/// Sides in the order of their rows.
fn sides<'r>(rows: &[&'r Row]) -> Vec<&'r str> {
    let mut sides: Vec<&str> = Vec::new();
    for row in rows {
        if !sides.contains(&row.side.as_str()) {
            sides.push(&row.side);
        }
    }
    sides
}

/// The name of what a row is about, with what differs among the rows: connections and state.
fn group(row: &Row, rows: &[&Row]) -> String {
    let own = row.circumstances;
    let mut name = row.workload.clone();
    if rows.iter().any(|other| other.circumstances.connections != own.connections) {
        name.push_str(&format!(" x{}", own.connections));
    }
    if rows.iter().any(|other| other.circumstances.state != own.state) {
        name.push_str(&format!(" {}", own.state.name()));
    }
    name
}

fn label(row: &Row, rows: &[&Row]) -> String {
    let group = group(row, rows);
    if sides(rows).len() > 1 { format!("{group}, {}", row.side) } else { group }
}

fn throughput(rows: &[&Row]) -> plot::Svg {
    bars(
        rows,
        "Operations a second",
        "A bar for each workload; longer is more.",
        Axis::log("operations a second"),
        |row| Some(row.per_second()),
    )
}

fn cpu(rows: &[&Row]) -> plot::Svg {
    bars(
        rows,
        "Processor time of an operation",
        "A bar for each workload; shorter is better.",
        Axis::log("microseconds"),
        Row::cpu_us_per_operation,
    )
}

/// A bar of each side for each workload.
fn bars(
    rows: &[&Row],
    title: &str,
    description: &str,
    axis: Axis,
    value: impl Fn(&Row) -> Option<f64>,
) -> plot::Svg {
    let mut groups: Vec<String> = Vec::new();
    for row in rows {
        let group = group(row, rows);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let series = sides(rows).into_iter().map(|side| {
        let of_group = |name: &String| {
            rows.iter().find(|row| row.side == side && group(row, rows) == *name).and_then(|row| value(row))
        };
        Series::new(side, groups.iter().map(of_group).collect::<Vec<_>>())
    });
    plot::bars(&Bars {
        title: title.to_owned(),
        description: description.to_owned(),
        axis,
        series: series.collect(),
        references: Vec::new(),
        groups,
    })
}

fn latency(rows: &[&Row]) -> plot::Svg {
    let whisker = |row: &&Row| {
        let latency = &row.latency;
        let points =
            [(50.0, latency.p50_us), (90.0, latency.p90_us), (99.0, latency.p99_us), (99.9, latency.p999_us)];
        Whisker::new(label(row, rows), points.map(|(percentile, us)| (percentile, us / 1_000.0)))
    };
    plot::whiskers(&Whiskers {
        title: "Latency".to_owned(),
        description: "From the median to the slowest of a thousand, by workload; further left is better."
            .to_owned(),
        axis: Axis::log("milliseconds"),
        rows: rows.iter().map(whisker).collect(),
    })
}

fn percentiles(rows: &[&Row]) -> plot::Svg {
    let line = |row: &&Row| {
        let points = row.curve.iter().filter(|(percentile, _)| *percentile >= 50.0);
        Line::new(label(row, rows), points.map(|(percentile, us)| (*percentile, us / 1_000.0)))
    };
    plot::lines(&Lines {
        title: "Latency by percentile".to_owned(),
        description: "How latency grows towards the slowest operations; flat is better.".to_owned(),
        x: Axis::nines("percentile"),
        y: Axis::log("milliseconds"),
        series: rows.iter().map(line).collect(),
        label_points: false,
    })
}

fn over_time(rows: &[&Row]) -> plot::Svg {
    let line = |row: &&Row| {
        let points = row.by_second.iter().enumerate();
        Line::new(label(row, rows), points.map(|(second, count)| ((second + 1) as f64, *count as f64)))
    };
    plot::lines(&Lines {
        title: "Operations done in each second".to_owned(),
        description: format!("{} measurements, second by second.", number::count(rows.len() as u64)),
        x: Axis::linear("second"),
        y: Axis::linear("operations"),
        series: rows.iter().map(line).collect(),
        label_points: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circumstances::{Circumstances, State};

    #[test]
    fn pages_have_everything() {
        let row = |workload: &str, side: &str| Row {
            workload: workload.to_owned(),
            side: side.to_owned(),
            operations: 100,
            seconds: 1.0,
            curve: vec![(50.0, 10.0), (99.0, 100.0)],
            by_second: vec![50, 50],
            ..Row::default()
        };
        let mut rows = vec![row("a<b>", "armilla"), row("a<b>", "postgresql")];
        rows.extend((0..2 * LINES_MAX).map(|number| row(&format!("w{number}"), "armilla")));
        let indexes = vec![("postgresql".to_owned(), vec!["on a<b>".to_owned()])];
        let result = RunResult { rows, indexes, notes: vec!["a note".to_owned()], ..RunResult::default() };
        let html = render(&result);
        assert!(html.contains("index of postgresql: on a&lt;b&gt;"), "{html}");
        assert!(html.contains("a note") && html.contains("a&lt;b&gt;") && html.contains("<svg"));
        assert!(html.contains("part 3"));
        assert!(!html.contains("Processor time"));
        let mut told = row("write", "armilla");
        told.cpu_seconds = Some(0.0123);
        let html = render(&RunResult { rows: vec![told], ..RunResult::default() });
        assert!(html.contains("Processor time of an operation") && html.contains("123"), "{html}");
        assert!(render(&RunResult::default()).contains("Benchmark"));
    }

    #[test]
    fn circumstances_are_told_apart_where_they_differ() {
        let row = |connections, state| Row {
            workload: "write".to_owned(),
            circumstances: Circumstances { connections, state },
            ..Row::default()
        };
        for (rows, expected) in [
            (vec![row(16, State::Loaded)], vec!["write"]),
            (vec![row(1, State::Loaded), row(16, State::Loaded)], vec!["write x1", "write x16"]),
            (vec![row(1, State::Loaded), row(1, State::Rested)], vec!["write loaded", "write rested"]),
            (
                vec![row(1, State::Loaded), row(16, State::Written)],
                vec!["write x1 loaded", "write x16 written"],
            ),
        ] {
            let rows: Vec<&Row> = rows.iter().collect();
            let found: Vec<_> = rows.iter().map(|row| group(row, &rows)).collect();
            assert_eq!(found, expected);
        }
    }
}
