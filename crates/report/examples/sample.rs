//! Writes a page and plots with everything in them, to look at after a change of styles:
//! `cargo run -p armilla-report --example sample -- FOLDER`. The figures are made up.

use std::path::PathBuf;
use std::time::Duration;

use armilla_report::plot::{self, Axis, Bars, Line, Lines, Panel, Panels, Series, Svg, Whisker, Whiskers};
use armilla_report::{Cell, Column, Page, Table, Tone, number};

const OPERATIONS: [&str; 10] = ["C1", "C2", "C3", "C4", "Q1", "Q2", "Q3", "Q4", "Q5", "Q6"];
const UNITS: [[f64; 10]; 3] = [
    [5.71, 8.76, 8.57, 7.05, 1.0, 19.54, 130.92, 23.72, 11.2, 2063.54],
    [7.24, 8.76, 15.27, 14.67, 1.0, 3.19, 28.35, 4.31, 2.76, 532.33],
    [7.24, 16.0, 15.27, 14.67, 2.0, 3.19, 6.46, 4.31, 2.76, 16.97],
];
const PUBLISHED: [[f64; 10]; 3] = [
    [5.71, 8.76, 8.57, 7.05, 1.0, 19.54, 619.41, 27.72, 58.92, 2063.54],
    [7.24, 8.76, 15.27, 14.67, 1.0, 3.19, 30.35, 4.31, 2.8, 532.33],
    [7.24, 16.0, 15.27, 14.67, 2.0, 3.19, 6.46, 4.31, 2.8, 16.97],
];

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_string()));
    std::fs::write(folder.join("sample.html"), page().render())?;
    for (name, svg) in [
        ("bars", units()),
        ("panels", scaling()),
        ("lines", curve()),
        ("whiskers", tails()),
        ("growth", growth()),
    ] {
        std::fs::write(folder.join(format!("{name}.svg")), svg.standalone())?;
    }
    Ok(())
}

fn page() -> Page {
    let mut page = Page::new("What a data model costs");
    page.lead("A blog platform in three versions of its data model, loaded and measured over HTTP. The figures on this page are made up.")
        .facts(&[
            ("users", "1,000"),
            ("items, all versions", "5,210,000"),
            ("physical partitions", "67"),
            ("seed", "20260101"),
            ("loading took", "2 min 5 s"),
            ("machine", "2 cores, 24 GB"),
        ])
        .heading("Request units")
        .paragraph("What an operation costs does not depend on the machine. Bars are what `armilla demo blog` was charged, marks are the published figures.")
        .plot("Request units of each operation in each version. A shorter bar is cheaper; the axis is logarithmic.", &units())
        .note("In V1, `COUNT` is answered by the index here, so Q2, Q3 and Q6 may be cheaper than published.")
        .heading("Every operation")
        .table(&operations())
        .heading("Latency")
        .plot("Half of all requests are done where the ring is, all but one in a thousand where the line ends.", &tails())
        .plot("The same as a curve: each nine is as wide as the one before.", &curve())
        .heading("Does it stay flat?")
        .plot("p50 of each operation at 1,000, 10,000 and 50,000 users.", &scaling())
        .heading("How to repeat it")
        .code("armilla demo blog --users 1000 --seed 20260101 --report blog.html\narmilla bench compare before.json after.json")
        .footer("Made by `armilla demo blog`, version 0.1.0.");
    page
}

fn operations() -> Table {
    let mut table = Table::new([
        Column::left("version"),
        Column::right("p50"),
        Column::right("p99"),
        Column::right("published"),
        Column::right("RU"),
        Column::right("published"),
        Column::right("difference"),
    ]);
    table.caption("Latency and request units of ten operations, beside the published figures");
    for (place, operation) in OPERATIONS.iter().enumerate() {
        table.section(format!("{operation}: one of ten operations"));
        for version in 0..3 {
            let (units, published) = (UNITS[version][place], PUBLISHED[version][place]);
            let difference = units / published - 1.0;
            let tone = if difference.abs() <= 0.04 { Tone::Good } else { Tone::Bad };
            let micros = 180.0 + units * 9.0;
            table.row([
                Cell::new(format!("V{}", version + 1)),
                Cell::new(number::duration(Duration::from_micros(micros as u64))),
                Cell::new(number::duration(Duration::from_micros((micros * 3.4) as u64))),
                Cell::new(number::duration(Duration::from_millis(9 + place as u64 * 3))).tone(Tone::Muted),
                Cell::new(number::fixed(units, 2)),
                Cell::new(number::fixed(published, 2)).tone(Tone::Muted),
                Cell::new(number::percent(difference)).tone(tone).title("the bar is 4 %"),
            ]);
        }
    }
    table
}

fn units() -> Svg {
    let series = |name: Option<&str>, figures: &[[f64; 10]; 3]| {
        let named = figures.iter().enumerate();
        let named = named.map(|(place, figures)| {
            let name = name.map_or_else(|| format!("V{}", place + 1), str::to_string);
            Series::new(name, figures.iter().map(|figure| Some(*figure)))
        });
        named.collect()
    };
    plot::bars(&Bars {
        title: "Request units by operation and version".into(),
        description: "Reads become cheaper from version to version, writes somewhat dearer.".into(),
        axis: Axis::log("request units, logarithmic"),
        groups: OPERATIONS.map(String::from).to_vec(),
        series: series(None, &UNITS),
        references: series(Some("published"), &PUBLISHED),
    })
}

fn scaling() -> Svg {
    let users = [1_000.0, 10_000.0, 50_000.0];
    let panel = |(place, operation): (usize, &&str)| {
        let line = |version: usize| {
            let growth = if *operation == "Q6" && version == 0 { 0.5 } else { 0.01 * version as f64 };
            let base = 0.18 + UNITS[version][place] / 110.0;
            Line::new(
                format!("V{}", version + 1),
                users.map(|count: f64| (count, base * (count / 1e3).powf(growth))),
            )
        };
        Panel { title: operation.to_string(), series: (0..3).map(line).collect() }
    };
    plot::panels(&Panels {
        title: "Latency as the number of users grows".into(),
        description: "All lines but that of Q6 in V1 are flat.".into(),
        x: Axis::log("users, logarithmic"),
        y: Axis::log("p50, ms, logarithmic"),
        panels: OPERATIONS.iter().enumerate().map(panel).collect(),
    })
}

fn curve() -> Svg {
    let line = |name: &str, base: f64, tail: f64| {
        let percentiles = (0..=60).map(|step| 100.0 - 100.0 * 10_f64.powf(-f64::from(step) / 15.0));
        Line::new(name, percentiles.map(|p| (p, base * (1.0 + tail * (100.0 / (100.0 - p)).log10().powi(2)))))
    };
    plot::lines(&Lines {
        title: "Latency by percentile".into(),
        description: "Durable writes have the longest tail.".into(),
        x: Axis::nines("percentile"),
        y: Axis::log("ms, logarithmic"),
        series: vec![
            line("point read", 0.2, 0.4),
            line("durable write", 0.6, 1.8),
            line("query", 0.9, 0.5),
            line("procedure", 2.2, 0.3),
        ],
        label_points: false,
    })
}

fn growth() -> Svg {
    let line =
        |name: &str, milliseconds: [f64; 3]| Line::new(name, [1e3, 1e4, 5e4].into_iter().zip(milliseconds));
    plot::lines(&Lines {
        title: "The front page as the number of users grows".into(),
        description: "Only V1 grows with the data.".into(),
        x: Axis::log("users, logarithmic"),
        y: Axis::linear("p50, ms"),
        series: vec![
            line("V1", [19.0, 58.0, 131.0]),
            line("V2", [5.0, 5.2, 5.3]),
            line("V3", [0.33, 0.34, 0.34]),
            line("V2, another machine", [5.1, 5.3, 5.4]),
        ],
        label_points: true,
    })
}

fn tails() -> Svg {
    let row = |name: &str, base: f64, tail: f64| {
        Whisker::new(
            name,
            [
                (50.0, base),
                (90.0, base * (1.0 + tail)),
                (99.0, base * (1.0 + 4.0 * tail)),
                (99.9, base * (1.0 + 14.0 * tail)),
            ],
        )
    };
    plot::whiskers(&Whiskers {
        title: "Latency".into(),
        description: "Point reads are fastest and have a short tail.".into(),
        axis: Axis::log("ms, logarithmic"),
        rows: vec![
            row("point read", 0.21, 0.4),
            row("durable write", 0.64, 0.9),
            row("query within a partition", 0.9, 0.5),
            row("query across partitions", 7.4, 0.2),
            row("stored procedure", 2.9, 0.6),
        ],
    })
}
