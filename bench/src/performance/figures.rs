//! The plots and the figures of all series as a page of Markdown.

use armilla_report::{Cell, Column, Table, number};

use super::results::{Results, Series, states};

/// Settings that say what was measured, with what they are called here.
const SETTINGS: [(&str, &str); 5] = [
    ("cores", "cores, for server and client together"),
    ("itemBytes", "bytes of an item"),
    ("seconds", "seconds of a measurement"),
    ("writeRate", "writes a second in the state written"),
    ("postgresql", "postgresql"),
];

/// Writes the page, beside which the plots lie.
pub(super) fn markdown(series: &[Series], results: &[Results]) -> String {
    let mut text = "# Figures over the number of items\n\n\
        Written by `armilla-bench performance`: what is measured and how is in [performance.md](../performance.md).\n\n"
        .to_owned();
    for (name, label) in SETTINGS {
        if let Some(value) = results.last().and_then(|last| last.setting(name)) {
            text.push_str(&format!("* {label}: {value}\n"));
        }
    }
    for state in states(series) {
        text.push_str(&format!(
            "\n![Processor time of an operation over the number of items, {state}](cpu-{state}.svg)\n\n\
             ![Operations a second over the number of items, {state}](rate-{state}.svg)\n"
        ));
    }
    let counts: Vec<u64> = results.iter().map(|results| results.items).collect();
    text.push_str("\n## Processor time of an operation, in microseconds\n\n");
    text.push_str("The last column is that of the most items as a multiple of that of the fewest.\n\n");
    text.push_str(&table(series, &counts, true).to_markdown());
    text.push_str("\n## Operations a second\n\n");
    text.push_str(&table(series, &counts, false).to_markdown());
    text
}

fn table(series: &[Series], counts: &[u64], is_cpu: bool) -> Table {
    let mut columns = vec![Column::left("workload"), Column::left("side"), Column::right("connections")];
    columns.push(Column::left("state"));
    columns.extend(counts.iter().map(|items| Column::right(number::count(*items))));
    if is_cpu {
        columns.push(Column::right("growth"));
    }
    let mut table = Table::new(columns);
    for one in series {
        let mut cells = vec![
            Cell::from(one.key.workload.as_str()),
            Cell::from(one.key.side.as_str()),
            Cell::from(one.key.connections.to_string()),
            Cell::from(one.key.state.as_str()),
        ];
        let value = |items: &u64| {
            let point = one.points.iter().find(|point| point.items == *items)?;
            if is_cpu { point.cpu_us } else { Some(point.per_second) }
        };
        cells
            .extend(counts.iter().map(|items| Cell::from(value(items).map_or(String::new(), number::short))));
        if is_cpu {
            cells.push(Cell::from(one.growth().map_or(String::new(), |growth| number::fixed(growth, 2))));
        }
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::results::series;
    use super::super::results::tests::sample;
    use super::*;

    #[test]
    fn figures_as_markdown() {
        let all = [
            sample(10_000, &[("point-read", "armilla", 1, "loaded", 500.0, 40.0)]),
            sample(100_000, &[("point-read", "armilla", 1, "loaded", 450.0, 44.0)]),
        ];
        let text = markdown(&series(&all), &all);
        for expected in [
            "* cores, for server and client together: 2\n",
            "| point-read | armilla | 1 | loaded | 40 | 44 | 1.10 |",
            "| point-read | armilla | 1 | loaded | 500 | 450 |",
            "10,000",
            "(cpu-loaded.svg)",
            "(rate-loaded.svg)",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}
