//! Results for people: the table, and sentences about what it does not show.

use std::time::Duration;

use armilla_report::{Cell, Column, Table, Tone, number};

use crate::armilla;
use crate::result::Row;

/// Returns the table of a run.
pub(crate) fn table(rows: &[Row]) -> Table {
    let peers = peers(rows);
    let mut columns = vec![Column::left("workload")];
    if !peers.is_empty() {
        columns.push(Column::left("side"));
    }
    columns.extend([Column::right("connections"), Column::left("state")]);
    columns.extend(["operations/s", "p50", "p90", "p99", "p99.9", "max"].map(Column::right));
    let has_cpu = has_cpu(rows);
    if has_cpu {
        columns.push(Column::right("CPU us/op"));
    }
    columns.extend(["RU/operation", "items/op", "refused"].map(Column::right));
    let has_background = rows.iter().any(|row| row.background.is_some());
    if has_background {
        columns.push(Column::right("others' writes/s"));
    }
    for peer in &peers {
        columns.push(Column::right(format!("rate of {peer}")));
        if has_cpu {
            columns.push(Column::right(format!("CPU of {peer}")));
        }
    }
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = cells(row, !peers.is_empty(), has_cpu);
        if has_background {
            cells.push(writes(row));
        }
        for peer in &peers {
            let theirs = counterpart(row, peer, rows);
            let rate = theirs.map(|theirs| row.per_second() / theirs.per_second());
            cells.push(ratio(rate));
            if has_cpu {
                let cpu = theirs.and_then(|theirs| {
                    let theirs = theirs.cpu_us_per_operation().filter(|us| *us > 0.0)?;
                    Some(row.cpu_us_per_operation()? / theirs)
                });
                cells.push(ratio(cpu));
            }
        }
        table.row(cells);
    }
    table
}

/// Whether some side has told how much processor time it used.
pub(crate) fn has_cpu(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.cpu_us_per_operation().is_some())
}

/// Returns the sides besides the server, in the order of their rows.
fn peers(rows: &[Row]) -> Vec<&str> {
    let mut peers: Vec<&str> = Vec::new();
    for row in rows {
        if row.side != armilla::NAME && !peers.contains(&row.side.as_str()) {
            peers.push(&row.side);
        }
    }
    peers
}

/// Returns what a peer did of the same, for a row of the server.
fn counterpart<'r>(row: &Row, peer: &str, rows: &'r [Row]) -> Option<&'r Row> {
    let is_own = row.side == armilla::NAME;
    rows.iter().find(|other| is_own && other.side == peer && other.operations > 0 && other.is_same_work(row))
}

fn writes(row: &Row) -> Cell {
    let Some(background) = row.background else { return Cell::from("") };
    let cell = Cell::from(number::short(background.per_second));
    if background.has_kept_rate() { cell } else { cell.tone(Tone::Bad) }
}

fn ratio(ratio: Option<f64>) -> Cell {
    Cell::from(ratio.map_or(String::new(), |ratio| number::fixed(ratio, 2)))
}

fn cells(row: &Row, has_peers: bool, has_cpu: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::from(row.name())];
    if has_peers {
        cells.push(Cell::from(row.side.as_str()));
    }
    cells.push(Cell::from(row.circumstances.connections.to_string()));
    cells.push(Cell::from(row.circumstances.state.name()));
    let per_second = Cell::from(number::short(row.per_second()));
    let has_fallen_behind = row.open_loop.is_some_and(|open_loop| !open_loop.has_kept_rate());
    cells.push(match has_fallen_behind {
        true => per_second.tone(Tone::Bad).title("the rate that was asked for was not kept"),
        false => per_second,
    });
    let latency = &row.latency;
    let quantiles = [latency.p50_us, latency.p90_us, latency.p99_us, latency.p999_us, latency.max_us];
    cells.extend(quantiles.map(|us| {
        Cell::from(match row.operations {
            0 => String::new(),
            _ => number::duration(Duration::from_secs_f64(us.max(0.0) / 1e6)),
        })
    }));
    if has_cpu {
        let us = row.cpu_us_per_operation();
        cells.push(Cell::from(us.map_or(String::new(), number::short)));
    }
    let charge = row.charge_per_operation().filter(|_| row.operations > 0);
    cells.push(Cell::from(charge.map_or(String::new(), |charge| number::fixed(charge, 2))));
    cells.push(Cell::from(number::short(row.items_per_operation())));
    let refused = Cell::from(number::count(row.refused));
    cells.push(if row.refused > 0 { refused.tone(Tone::Bad) } else { refused });
    cells
}

/// Returns a line for each index that a side has of the items.
pub(crate) fn index_lines(indexes: &[(String, Vec<String>)]) -> Vec<String> {
    indexes
        .iter()
        .flat_map(|(side, own)| own.iter().map(move |index| format!("index of {side}: {index}")))
        .collect()
}

/// Returns a sentence for each thing about a row that must not be overlooked.
pub(crate) fn warnings(row: &Row, first_failure: Option<&str>) -> Vec<String> {
    let mut warnings = Vec::new();
    let name = row.title();
    if let Some(open_loop) = row.open_loop.filter(|open_loop| !open_loop.has_kept_rate()) {
        let late = Duration::from_secs_f64(open_loop.late_max_us.max(0.0) / 1e6);
        warnings.push(format!(
            "{name} could not keep the rate: {} a second were asked for, {} were done, {} of {} operations were never \
             sent, and the latest was sent {} after it was due; latencies are those of what was sent, so ask for less, or \
             for more --connections",
            number::short(open_loop.rate),
            number::short(row.per_second()),
            number::count(open_loop.unsent),
            number::count(open_loop.due),
            number::duration(late),
        ));
    }
    if row.refused > 0 {
        warnings.push(format!(
            "{name}: {} operations were refused for want of throughput (429) and are not in the figures",
            number::count(row.refused)
        ));
    }
    if row.failed > 0 {
        warnings.push(format!(
            "{name}: {} operations failed and are not in the figures, the first with: {}",
            number::count(row.failed),
            first_failure.unwrap_or("no message")
        ));
    }
    if row.operations == 0 {
        warnings.push(format!("{name}: no operation was done"));
    }
    warnings
}

/// Returns a sentence about measurements beside which others did not write as much as they should have.
pub(crate) fn spared(rows: &[Row]) -> Option<String> {
    let beside: Vec<_> = rows.iter().filter_map(|row| row.background).collect();
    let spared = beside.iter().filter(|background| !background.has_kept_rate()).count();
    (spared > 0).then(|| {
        format!(
            "in {spared} of {} measurements in the state written, others wrote less than they should have: the table \
             says how much",
            beside.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::background::BackgroundWrites;
    use crate::circumstances::{Circumstances, State};
    use crate::drive::OpenLoop;
    use crate::tally::Quantiles;

    fn row(workload: &str, operation: Option<&str>, side: &str, operations: u64) -> Row {
        Row {
            workload: workload.to_owned(),
            operation: operation.map(str::to_owned),
            side: side.to_owned(),
            circumstances: Circumstances { connections: 16, state: State::Loaded },
            operations,
            seconds: 2.0,
            items: operations,
            charge: (side == armilla::NAME).then_some(operations as f64),
            latency: Quantiles {
                mean_us: 1.0,
                p50_us: 100.0,
                p90_us: 200.0,
                p99_us: 1_500.0,
                p999_us: 20_000.0,
                max_us: 1_200_000.0,
            },
            ..Row::default()
        }
    }

    #[test]
    fn the_table_of_one_side_and_of_two() {
        let rows = [row("mixed", None, "armilla", 2_000), row("mixed", Some("read"), "armilla", 1_500)];
        expect![[r#"
            workload    connections  state   operations/s     p50     p90      p99    p99.9     max  RU/operation  items/op  refused
            ----------  -----------  ------  ------------  ------  ------  -------  -------  ------  ------------  --------  -------
            mixed                16  loaded         1,000  100 us  200 us  1.50 ms  20.0 ms  1.20 s          1.00         1        0
            mixed read           16  loaded           750  100 us  200 us  1.50 ms  20.0 ms  1.20 s          1.00         1        0
        "#]].assert_eq(&table(&rows).to_text());
        let rows = [rows[0].clone(), row("mixed", None, "postgresql", 1_000)];
        expect![[r#"
            workload  side        connections  state   operations/s     p50     p90      p99    p99.9     max  RU/operation  items/op  refused  rate of postgresql
            --------  ----------  -----------  ------  ------------  ------  ------  -------  -------  ------  ------------  --------  -------  ------------------
            mixed     armilla              16  loaded         1,000  100 us  200 us  1.50 ms  20.0 ms  1.20 s          1.00         1        0                2.00
            mixed     postgresql           16  loaded           500  100 us  200 us  1.50 ms  20.0 ms  1.20 s                       1        0
        "#]].assert_eq(&table(&rows).to_text());
    }

    #[test]
    fn the_table_of_sides_that_tell_their_processor_time() {
        let mut rows = [
            row("write", None, "armilla", 2_000),
            row("write", None, "postgresql", 1_000),
            row("write", None, "postgresql-gin", 500),
        ];
        rows[0].cpu_seconds = Some(0.2469);
        rows[2].cpu_seconds = Some(0.4938);
        expect![[r#"
            workload  side            connections  state   operations/s     p50     p90      p99    p99.9     max  CPU us/op  RU/operation  items/op  refused  rate of postgresql  CPU of postgresql  rate of postgresql-gin  CPU of postgresql-gin
            --------  --------------  -----------  ------  ------------  ------  ------  -------  -------  ------  ---------  ------------  --------  -------  ------------------  -----------------  ----------------------  ---------------------
            write     armilla                  16  loaded         1,000  100 us  200 us  1.50 ms  20.0 ms  1.20 s        123          1.00         1        0                2.00                                       4.00                   0.12
            write     postgresql               16  loaded           500  100 us  200 us  1.50 ms  20.0 ms  1.20 s                                  1        0
            write     postgresql-gin           16  loaded           250  100 us  200 us  1.50 ms  20.0 ms  1.20 s        988                       1        0
        "#]].assert_eq(&table(&rows).to_text());
    }

    #[test]
    fn sides_are_compared_under_the_same_circumstances() {
        let with = |side: &str, operations, connections, state| Row {
            circumstances: Circumstances { connections, state },
            ..row("write", None, side, operations)
        };
        let mut rows = [
            with("armilla", 2_000, 1, State::Loaded),
            with("postgresql", 1_000, 1, State::Loaded),
            with("armilla", 8_000, 16, State::Written),
            with("postgresql", 2_000, 16, State::Written),
            with("armilla", 9_000, 16, State::Rested),
        ];
        rows[2].background = Some(BackgroundWrites { rate: 2_000.0, per_second: 1_000.0 });
        rows[3].background = Some(BackgroundWrites { rate: 2_000.0, per_second: 1_999.0 });
        let said = spared(&rows).unwrap();
        assert!(said.starts_with("in 1 of 2 measurements in the state written"), "{said}");
        assert_eq!(spared(&rows[3..]), None);
        expect![[r#"
            workload  side        connections  state    operations/s     p50     p90      p99    p99.9     max  RU/operation  items/op  refused  others' writes/s  rate of postgresql
            --------  ----------  -----------  -------  ------------  ------  ------  -------  -------  ------  ------------  --------  -------  ----------------  ------------------
            write     armilla               1  loaded          1,000  100 us  200 us  1.50 ms  20.0 ms  1.20 s          1.00         1        0                                  2.00
            write     postgresql            1  loaded            500  100 us  200 us  1.50 ms  20.0 ms  1.20 s                       1        0
            write     armilla              16  written         4,000  100 us  200 us  1.50 ms  20.0 ms  1.20 s          1.00         1        0           1,000 !                4.00
            write     postgresql           16  written         1,000  100 us  200 us  1.50 ms  20.0 ms  1.20 s                       1        0           1,999
            write     armilla              16  rested          4,500  100 us  200 us  1.50 ms  20.0 ms  1.20 s          1.00         1        0
        "#]].assert_eq(&table(&rows).to_text());
    }

    #[test]
    fn indexes_are_named() {
        let indexes = [
            ("armilla".to_owned(), vec!["every path".to_owned()]),
            ("postgresql".to_owned(), vec!["a".to_owned(), "b".to_owned()]),
        ];
        assert_eq!(
            index_lines(&indexes),
            ["index of armilla: every path", "index of postgresql: a", "index of postgresql: b"]
        );
    }

    #[test]
    fn what_must_not_be_overlooked() {
        let fine = row("write", None, "armilla", 10);
        assert_eq!(warnings(&fine, None), Vec::<String>::new());
        let mut bad = row("write", None, "armilla", 10);
        bad.open_loop = Some(OpenLoop { rate: 100.0, due: 200, unsent: 190, late_max_us: 1_500_000.0 });
        (bad.refused, bad.failed) = (3, 1);
        expect![[r#"
            write (armilla, 16 connections, loaded) could not keep the rate: 100 a second were asked for, 5 were done, 190 of 200 operations were never sent, and the latest was sent 1.50 s after it was due; latencies are those of what was sent, so ask for less, or for more --connections
            write (armilla, 16 connections, loaded): 3 operations were refused for want of throughput (429) and are not in the figures
            write (armilla, 16 connections, loaded): 1 operations failed and are not in the figures, the first with: no"#]].assert_eq(&warnings(&bad, Some("no")).join("\n"));
        assert_eq!(warnings(&row("write", None, "armilla", 0), None).len(), 1);
    }
}
