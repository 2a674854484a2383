//! Percentiles of times, a row each: thick where most of them are, thinner towards the rare ones.

use super::axis::{Axis, Ends, Span};
use super::drawing::{Drawing, text_width};
use super::{Svg, WIDTH, figure};
use crate::limits::{LABEL_CHARACTERS_MAX, WHISKERS_MAX};
use crate::number;
use crate::table::{Cell, Column, Table};
use crate::text::clip;

const ROW_HEIGHT: f64 = 27.0;

/// Thickness of the bar from each percentile to the next; the last holds for all that follow.
const THICKNESS: [f64; 4] = [9.0, 5.0, 2.5, 1.2];

/// What a plot of percentiles shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whiskers {
    /// What it is about, in a few words.
    pub title: String,
    /// What there is to see, for those who cannot see it.
    pub description: String,
    /// The axis of the values.
    pub axis: Axis,
    /// The rows, from top to bottom.
    pub rows: Vec<Whisker>,
}

/// One row of percentiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whisker {
    /// What was measured.
    pub name: String,
    /// Percentile (0 to 100) and value, in ascending order.
    pub percentiles: Vec<(f64, f64)>,
}

impl Whisker {
    /// A row of this name.
    pub fn new(name: impl Into<String>, percentiles: impl IntoIterator<Item = (f64, f64)>) -> Whisker {
        Whisker { name: name.into(), percentiles: percentiles.into_iter().collect() }
    }
}

/// Draws percentiles.
pub fn whiskers(plot: &Whiskers) -> Svg {
    let (mut drawing, mut y) = Drawing::begin(&plot.title);
    let rows = &plot.rows[..plot.rows.len().min(WHISKERS_MAX)];
    y = legend(&mut drawing, y, rows) + 4.0;
    let names: Vec<String> = rows.iter().map(|row| clip(&row.name, LABEL_CHARACTERS_MAX)).collect();
    let span = Span::fit(
        plot.axis.scale,
        rows.iter().flat_map(|row| row.percentiles.iter().map(|(_, value)| *value)),
        Ends::Round,
    );
    // Room for the figures at either end of a row.
    let left = names.iter().map(|name| text_width(name)).fold(24.0, f64::max).min(260.0) + 14.0;
    let (first, right) = (left + 44.0, WIDTH - 58.0);
    let x_of = |place: f64| first + place * (right - first);
    let bottom = y + rows.len() as f64 * ROW_HEIGHT + 4.0;
    for tick in span.ticks() {
        drawing.line("grid", (x_of(tick.at), y), (x_of(tick.at), bottom));
        drawing.text("tick middle", x_of(tick.at), bottom + 16.0, &tick.label);
    }
    for (number, row) in rows.iter().enumerate() {
        let middle = y + number as f64 * ROW_HEIGHT + ROW_HEIGHT / 2.0 + 2.0;
        drawing.text("name end", left - 12.0, middle + 4.0, &names[number]);
        let places =
            row.percentiles.iter().filter_map(|(_, value)| Some((x_of(span.place(*value)?), *value)));
        draw_row(&mut drawing, &places.collect::<Vec<_>>(), middle, first);
    }
    drawing.text("label middle", x_of(0.5), bottom + 36.0, &clip(&plot.axis.label, LABEL_CHARACTERS_MAX * 2));
    let end = drawing.left_out(bottom + 46.0, plot.rows.len() - rows.len(), "rows");
    drawing.finish(&plot.title, &plot.description, end, data(plot))
}

fn draw_row(drawing: &mut Drawing, places: &[(f64, f64)], middle: f64, start: f64) {
    let (Some((first_x, first)), Some((last_x, last))) = (places.first(), places.last()) else {
        drawing.text("value", start, middle + 4.0, "n/a");
        return;
    };
    for (number, pair) in places.windows(2).enumerate() {
        let thickness = THICKNESS[number.min(THICKNESS.len() - 1)];
        let (from, to) = (pair[0].0.min(pair[1].0), pair[0].0.max(pair[1].0));
        drawing.block("band c1", from, middle - thickness / 2.0, to - from, thickness);
    }
    if places.len() > 1 {
        drawing.line("cap c1", (*last_x, middle - 5.0), (*last_x, middle + 5.0));
        drawing.text("value", last_x + 7.0, middle + 4.0, &number::short(*last));
    }
    drawing.circle("median c1", *first_x, middle, 5.0);
    drawing.text("value end", first_x - 9.0, middle + 4.0, &number::short(*first));
}

/// Shows what the parts of a row stand for; returns where it ends.
fn legend(drawing: &mut Drawing, y: f64, rows: &[Whisker]) -> f64 {
    let Some(longest) = rows.iter().max_by_key(|row| row.percentiles.len()) else { return y };
    let middle = y + 8.0;
    let mut x = 8.0;
    let count = longest.percentiles.len();
    for (number, (percentile, _)) in longest.percentiles.iter().enumerate().take(8) {
        if number > 0 {
            let thickness = THICKNESS[(number - 1).min(THICKNESS.len() - 1)];
            drawing.block("band c1", x, middle - thickness / 2.0, 26.0, thickness);
            if number + 1 == count {
                drawing.line("cap c1", (x + 26.0, middle - 5.0), (x + 26.0, middle + 5.0));
            }
            x += 34.0;
        } else {
            drawing.circle("median c1", x, middle, 5.0);
            x += 11.0;
        }
        let name = percentile_name(*percentile);
        drawing.text("name", x, middle + 4.0, &name);
        x += text_width(&name) + 8.0;
    }
    y + 26.0
}

fn percentile_name(percentile: f64) -> String {
    if percentile >= 100.0 { "max".to_string() } else { clip(&format!("p{percentile}"), 10) }
}

fn data(plot: &Whiskers) -> Table {
    // Every percentile that some row has, in ascending order.
    let mut percentiles: Vec<f64> =
        plot.rows.iter().flat_map(|row| row.percentiles.iter().map(|(percentile, _)| *percentile)).collect();
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    let columns = percentiles.iter().map(|percentile| Column::right(percentile_name(*percentile)));
    let mut table = Table::new(std::iter::once(Column::left("")).chain(columns));
    table.caption(format!("{}: {}", plot.title, plot.axis.label));
    for row in &plot.rows {
        let cells = percentiles.iter().map(|percentile| {
            figure(row.percentiles.iter().find(|(own, _)| own == percentile).map(|(_, value)| *value))
        });
        table.row(std::iter::once(Cell::from(row.name.as_str())).chain(cells));
    }
    table
}
