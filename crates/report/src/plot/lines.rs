//! Lines with markers, each with its name at its end.

use std::collections::BTreeMap;

use super::axis::{Axis, Ends, Scale, Span};
use super::drawing::{Drawing, text_width};
use super::look::Look;
use super::{Svg, WIDTH, figure};
use crate::limits::{LABEL_CHARACTERS_MAX, LINE_POINTS_MAX, MARKERS_MAX, SERIES_MAX};
use crate::number;
use crate::table::{Cell, Column, Table};
use crate::text::clip;

const HEIGHT: f64 = 320.0;
const NAME_HEIGHT: f64 = 16.0;

/// What a plot of lines shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// What it is about, in a few words.
    pub title: String,
    /// What there is to see, for those who cannot see it.
    pub description: String,
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from bottom to top.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Line>,
    /// Whether each point says its value.
    pub label_points: bool,
}

/// A line through points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// What the line is of.
    pub name: String,
    /// The points, in the order in which the line goes through them.
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// A line of this name.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
        Line { name: name.into(), points: points.into_iter().collect() }
    }
}

/// Draws lines.
pub fn lines(plot: &Lines) -> Svg {
    let (mut drawing, mut top) = Drawing::begin(&plot.title);
    let series = &plot.series[..plot.series.len().min(SERIES_MAX)];
    let frame = frame(series, plot, top);
    top = frame.top;

    for tick in frame.y_span.ticks() {
        let y = frame.y_of(tick.at);
        drawing.line("grid", (frame.left, y), (frame.right, y));
        drawing.text("tick end", frame.left - 8.0, y + 4.0, &tick.label);
    }
    for tick in frame.x_span.ticks() {
        let x = frame.x_of(tick.at);
        drawing.line("grid", (x, top), (x, frame.bottom));
        drawing.text("tick middle", x, frame.bottom + 17.0, &tick.label);
    }
    drawing.line("base", (frame.left, frame.bottom), (frame.right, frame.bottom));

    let mut ends = Vec::new();
    let mut labels = Vec::new();
    for (number, line) in series.iter().enumerate() {
        let look = Look::of(number);
        let places = frame.places(line);
        draw_line(&mut drawing, look, &places.iter().map(|(x, y, _)| (*x, *y)).collect::<Vec<_>>());
        if let Some((x, y, _)) = places.last() {
            ends.push((*x, *y, look, clip(&line.name, LABEL_CHARACTERS_MAX)));
        }
        if plot.label_points && places.len() <= MARKERS_MAX {
            labels.extend(places);
        }
    }
    draw_values(&mut drawing, labels, frame.bottom);
    draw_names(&mut drawing, &frame, ends);
    if series.iter().all(|line| frame.places(line).is_empty()) {
        drawing.text("label middle", frame.x_of(0.5), frame.y_of(0.5), "nothing to show");
    }
    drawing.text("label", 0.0, frame.top - 12.0, &clip(&plot.y.label, LABEL_CHARACTERS_MAX * 2));
    drawing.text(
        "label middle",
        frame.x_of(0.5),
        frame.bottom + 38.0,
        &clip(&plot.x.label, LABEL_CHARACTERS_MAX * 2),
    );
    let end = drawing.left_out(frame.bottom + 48.0, plot.series.len() - series.len(), "lines");
    drawing.finish(&plot.title, &plot.description, end, data(plot))
}

/// Where the lines lie.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x_span: Span,
    y_span: Span,
}

impl Frame {
    fn x_of(&self, place: f64) -> f64 {
        self.left + place * (self.right - self.left)
    }

    fn y_of(&self, place: f64) -> f64 {
        self.bottom - place * (self.bottom - self.top)
    }

    /// Returns the points that have a place, with their values.
    fn places(&self, line: &Line) -> Vec<(f64, f64, f64)> {
        let places = thinned(&line.points).into_iter().filter_map(|(x, y)| {
            let (at_x, at_y) = (self.x_span.place(x)?, self.y_span.place(y)?);
            Some((self.x_of(at_x), self.y_of(at_y), y))
        });
        places.collect()
    }
}

fn frame(series: &[Line], plot: &Lines, top: f64) -> Frame {
    let points = || series.iter().flat_map(|line| line.points.iter());
    let mut x_span = Span::fit(plot.x.scale, points().map(|point| point.0), Ends::Close);
    if plot.x.scale != Scale::Nines {
        x_span = x_span.with_ticks_at(points().map(|point| point.0), 0.09, 8);
    }
    let y_span = Span::fit(plot.y.scale, points().map(|point| point.1), Ends::Round);
    let tick_width = y_span.ticks().iter().map(|tick| text_width(&tick.label)).fold(20.0, f64::max);
    let names = series.iter().map(|line| text_width(&clip(&line.name, LABEL_CHARACTERS_MAX)));
    let name_width = names.fold(20.0, f64::max).min(260.0);
    let top = top + 22.0;
    let height = HEIGHT.max(series.len() as f64 * NAME_HEIGHT);
    Frame {
        left: tick_width + 10.0,
        right: WIDTH - name_width - 24.0,
        top,
        bottom: top + height,
        x_span,
        y_span,
    }
}

/// Draws a line and its markers: all of them where points are few, some where they are many.
pub(super) fn draw_line(drawing: &mut Drawing, look: Look, places: &[(f64, f64)]) {
    if places.len() > 1 {
        drawing.curve(look, places);
    }
    let every = places.len().div_ceil(MARKERS_MAX).max(1);
    for (number, (x, y)) in places.iter().enumerate() {
        if number % every == 0 || number + 1 == places.len() {
            drawing.marker(look, *x, *y);
        }
    }
}

/// Writes values above their points, or below where another is in the way, or not at all: they are among the figures.
fn draw_values(drawing: &mut Drawing, points: Vec<(f64, f64, f64)>, bottom: f64) {
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for (x, y, value) in points {
        let text = number::short(value);
        let half = text_width(&text) / 2.0;
        let is_free = |base: &f64| {
            let overlaps = |other: &(f64, f64, f64)| {
                (other.0 - x).abs() < other.2 + half && (other.1 - base).abs() < 12.0
            };
            *base < bottom && !taken.iter().any(overlaps)
        };
        if let Some(base) = [y - 9.0, y + 18.0].into_iter().find(is_free) {
            drawing.text("value middle halo", x, base, &text);
            taken.push((x, base, half));
        }
    }
}

/// Writes the lines' names at the right, pushed apart where they would overlap.
fn draw_names(drawing: &mut Drawing, frame: &Frame, mut ends: Vec<(f64, f64, Look, String)>) {
    ends.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut places: Vec<f64> = ends.iter().map(|end| end.1).collect();
    for number in 1..places.len() {
        places[number] = places[number].max(places[number - 1] + NAME_HEIGHT);
    }
    // What was pushed out at the bottom pushes back upwards.
    let mut limit = frame.bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - NAME_HEIGHT;
    }
    for ((x, y, look, name), place) in ends.into_iter().zip(places) {
        if (place - y).abs() > 3.0 || frame.right - x > 12.0 {
            drawing.line(&format!("leader {}", look.colour()), (x + 7.0, y), (frame.right + 14.0, place));
        }
        drawing.text(&format!("name series {}", look.colour()), frame.right + 18.0, place + 4.0, &name);
    }
}

/// Returns the points, or as many of them, evenly, as can be drawn; always the first and the last.
pub(super) fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= LINE_POINTS_MAX {
        return points.to_vec();
    }
    let last = points.len() - 1;
    (0..LINE_POINTS_MAX).map(|number| points[number * last / (LINE_POINTS_MAX - 1)]).collect()
}

fn data(plot: &Lines) -> Table {
    let mut table = figures(&plot.x.label, &plot.series);
    table.caption(format!("{}: {}", plot.title, plot.y.label));
    table
}

/// Returns a row for each place along the way, a column for each line.
pub(super) fn figures(x_label: &str, series: &[Line]) -> Table {
    let columns = series.iter().map(|line| Column::right(&line.name));
    let mut table = Table::new(std::iter::once(Column::right(x_label)).chain(columns));
    // Positions are told apart by their bits: equal ones are equal numbers, and any number can be a key.
    let mut rows: BTreeMap<u64, (f64, Vec<Option<f64>>)> = BTreeMap::new();
    for (number, line) in series.iter().enumerate() {
        for (x, y) in thinned(&line.points) {
            let row = rows.entry(x.to_bits()).or_insert_with(|| (x, vec![None; series.len()]));
            row.1[number] = Some(y);
        }
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    rows.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (x, values) in rows {
        let cells = values.into_iter().map(figure);
        table.row(std::iter::once(Cell::from(position(x))).chain(cells));
    }
    table
}

/// Positions such as 99.99 keep their digits.
pub(super) fn position(x: f64) -> String {
    let exact = format!("{x}");
    if x.is_finite() && x.abs() < 1_000.0 && exact.len() <= 8 { exact } else { number::short(x) }
}
