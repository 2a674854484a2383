//! Plots of series: a small one for each workload, on the same axes.

use armilla_report::plot::{Axis, Line, Panel, Panels, Svg, panels};

use super::results::{Point, Series, workloads};

/// Draws operations a second over items.
pub(super) fn rate(series: &[Series], state: &str) -> Svg {
    draw(
        series,
        state,
        &format!("Operations a second, {state}"),
        "A plot for each workload; a line that stays level does not depend on how many items there are.",
        "operations a second",
        |point| Some(point.per_second),
    )
}

/// Draws processor time of an operation over items.
pub(super) fn cpu(series: &[Series], state: &str) -> Svg {
    draw(
        series,
        state,
        &format!("Processor time of an operation, {state}"),
        "A plot for each workload; a line that stays level does not depend on how many items there are; lower is better.",
        "microseconds of processor time",
        |point| point.cpu_us,
    )
}

fn draw(
    series: &[Series],
    state: &str,
    title: &str,
    description: &str,
    label: &str,
    value: impl Fn(&Point) -> Option<f64>,
) -> Svg {
    let of_workload = |workload: &String| {
        let own = series.iter().filter(|one| one.key.state == state && one.key.workload == *workload);
        let line = |one: &Series| {
            let points = one.points.iter().filter_map(|point| Some((point.items as f64, value(point)?)));
            Line::new(name(one), points)
        };
        Panel { title: workload.trim_start_matches("query:").to_owned(), series: own.map(line).collect() }
    };
    panels(&Panels {
        title: title.to_owned(),
        description: description.to_owned(),
        x: Axis::log("items"),
        y: Axis::log(label),
        panels: workloads(series).iter().map(of_workload).collect(),
    })
}

fn name(series: &Series) -> String {
    let plural = if series.key.connections == 1 { "" } else { "s" };
    format!("{}, {} connection{plural}", series.key.side, series.key.connections)
}

#[cfg(test)]
mod tests {
    use super::super::results::series;
    use super::super::results::tests::sample;
    use super::*;

    #[test]
    fn plots_have_a_panel_for_each_workload_and_a_line_for_each_side() {
        let rows = |cpu_us| {
            [
                ("point-read", "armilla", 1, "loaded", 500.0, cpu_us),
                ("point-read", "postgresql", 16, "loaded", 700.0, 30.0),
                ("query:range", "armilla", 1, "loaded", 50.0, 300.0),
                ("query:range", "armilla", 1, "rested", 51.0, 301.0),
            ]
        };
        let all = series(&[sample(10_000, &rows(40.0)), sample(100_000, &rows(44.0))]);
        for svg in [rate(&all, "loaded"), cpu(&all, "loaded")] {
            let text = svg.standalone();
            for expected in
                ["point-read", ">range<", "armilla, 1 connection", "postgresql, 16 connections", "loaded"]
            {
                assert!(text.contains(expected), "{expected}: {text}");
            }
        }
        let figures = cpu(&all, "loaded").data().to_text();
        assert!(figures.contains("44") && !figures.contains("301"), "{figures}");
    }
}
