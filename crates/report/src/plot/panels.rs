//! Small plots of lines side by side, on the same axes, so that shapes can be compared at a glance.

use super::axis::{Axis, Ends, Scale, Span};
use super::drawing::{Drawing, Swatch, text_width};
use super::lines::{Line, draw_line, figures, position, thinned};
use super::look::Look;
use super::{Svg, WIDTH, figure};
use crate::limits::{LABEL_CHARACTERS_MAX, PANELS_MAX, SERIES_MAX};
use crate::number;
use crate::table::{Cell, Column, Table};
use crate::text::clip;

const PANEL_HEIGHT: f64 = 128.0;
const GAP: f64 = 18.0;

/// How far from a plot's side its first and last points stay, so that ticks have room for their numbers.
const INSET: f64 = 12.0;
const TITLE_HEIGHT: f64 = 28.0;
const TICKS_HEIGHT: f64 = 22.0;

/// With more places than these along the way, the table has a row for each of them rather than a column.
const TABLE_COLUMNS_MAX: usize = 16;

/// What small plots side by side show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panels {
    /// What it is about, in a few words.
    pub title: String,
    /// What there is to see, for those who cannot see it.
    pub description: String,
    /// The axis of each from left to right.
    pub x: Axis,
    /// The axis of each from bottom to top.
    pub y: Axis,
    /// The plots. Lines of the same name look the same in all of them.
    pub panels: Vec<Panel>,
}

/// One of the small plots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// What it is of, in a word or two.
    pub title: String,
    /// Its lines.
    pub series: Vec<Line>,
}

/// Draws small plots side by side.
pub fn panels(plot: &Panels) -> Svg {
    let (mut drawing, mut y) = Drawing::begin(&plot.title);
    let panels = &plot.panels[..plot.panels.len().min(PANELS_MAX)];
    let all_names = names(&plot.panels);
    let shown_names = &all_names[..all_names.len().min(SERIES_MAX)];
    let entries = shown_names.iter().enumerate();
    y = drawing.legend(
        y,
        entries
            .map(|(number, name)| (Swatch::Line(Look::of(number)), clip(name, LABEL_CHARACTERS_MAX)))
            .collect(),
    );
    drawing.text("label", 0.0, y + 12.0, &clip(&plot.y.label, LABEL_CHARACTERS_MAX * 2));
    y += 24.0;

    // Strong letters are a little wider.
    let title_width = |panel: &Panel| 1.1 * text_width(&clip(&panel.title, LABEL_CHARACTERS_MAX));
    let columns = column_count(panels.len(), panels.iter().map(title_width).fold(0.0, f64::max));
    let points = || panels.iter().flat_map(|panel| &panel.series).flat_map(|line| line.points.iter());
    let y_span = Span::fit(plot.y.scale, points().map(|point| point.1), Ends::Round);
    let ticks_width = y_span.ticks().iter().map(|tick| text_width(&tick.label)).fold(20.0, f64::max) + 8.0;
    let panel_width = (WIDTH - ticks_width + GAP) / columns as f64 - GAP;
    let mut x_span = Span::fit(plot.x.scale, points().map(|point| point.0), Ends::Close);
    if plot.x.scale != Scale::Nines {
        x_span = x_span.with_ticks_at(points().map(|point| point.0), 30.0 / panel_width, 5);
    }
    let row_height = TITLE_HEIGHT + PANEL_HEIGHT + TICKS_HEIGHT;
    for (number, panel) in panels.iter().enumerate() {
        let left = ticks_width + (number % columns) as f64 * (panel_width + GAP);
        let top = y + (number / columns) as f64 * row_height + TITLE_HEIGHT;
        let (right, bottom) = (left + panel_width, top + PANEL_HEIGHT);
        let x_of = |place: f64| left + INSET + place * (panel_width - 2.0 * INSET);
        drawing.text("name strong", left, top - 8.0, &clip(&panel.title, LABEL_CHARACTERS_MAX));
        for tick in y_span.ticks() {
            let tick_y = bottom - tick.at * PANEL_HEIGHT;
            drawing.line("grid", (left, tick_y), (right, tick_y));
            if number % columns == 0 {
                drawing.text("tick end", left - 6.0, tick_y + 4.0, &tick.label);
            }
        }
        drawing.line("base", (left, bottom), (right, bottom));
        let mut free_from = f64::NEG_INFINITY;
        for tick in x_span.ticks() {
            let tick_x = x_of(tick.at);
            drawing.line("base", (tick_x, bottom), (tick_x, bottom + 4.0));
            // In so little room not every tick can say its number.
            let label = number::compact(&tick.label);
            let half = text_width(&label) / 2.0;
            if tick_x - half >= free_from {
                drawing.text("tick middle", tick_x, bottom + 17.0, &label);
                free_from = tick_x + half + 4.0;
            }
        }
        for line in &panel.series {
            let Some(look) = shown_names.iter().position(|name| *name == line.name).map(Look::of) else {
                continue;
            };
            let places = thinned(&line.points).into_iter().filter_map(|(x, y)| {
                let (at_x, at_y) = (x_span.place(x)?, y_span.place(y)?);
                Some((x_of(at_x), bottom - at_y * PANEL_HEIGHT))
            });
            draw_line(&mut drawing, look, &places.collect::<Vec<_>>());
        }
    }
    y += panels.len().div_ceil(columns) as f64 * row_height;
    drawing.text("label middle", WIDTH / 2.0, y + 12.0, &clip(&plot.x.label, LABEL_CHARACTERS_MAX * 2));
    y += 24.0;
    y = drawing.left_out(y, plot.panels.len() - panels.len(), "plots");
    y = drawing.left_out(y, all_names.len() - shown_names.len(), "lines");
    drawing.finish(&plot.title, &plot.description, y, data(plot))
}

/// Returns the names of all lines, each once, in the order in which they come.
fn names(panels: &[Panel]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for line in panels.iter().flat_map(|panel| &panel.series) {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    names
}

/// Returns how many stand side by side: up to five, so that few places stay empty.
fn column_count(panels: usize, title_width: f64) -> usize {
    if panels <= 3 {
        return panels.max(1);
    }
    let fits = |columns: &usize| WIDTH / *columns as f64 - 2.0 * GAP >= title_width;
    let empty = |columns: &usize| panels.div_ceil(*columns) * columns - panels;
    [4, 5, 3].into_iter().filter(fits).min_by_key(empty).unwrap_or(3)
}

fn data(plot: &Panels) -> Table {
    let lines = || plot.panels.iter().flat_map(|panel| panel.series.iter().map(move |line| (panel, line)));
    let mut places: Vec<f64> = lines().flat_map(|(_, line)| line.points.iter().map(|(x, _)| *x)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut table = if places.len() <= TABLE_COLUMNS_MAX {
        let columns = places.iter().map(|x| Column::right(position(*x)));
        Table::new(std::iter::once(Column::left(&plot.x.label)).chain(columns))
    } else {
        let lines = lines().map(|(panel, line)| Line::new(full_name(panel, line), line.points.clone()));
        figures(&plot.x.label, &lines.collect::<Vec<_>>())
    };
    table.caption(format!("{}: {}", plot.title, plot.y.label));
    if places.len() <= TABLE_COLUMNS_MAX {
        for (panel, line) in lines() {
            let value = |x: &f64| line.points.iter().find(|(own, _)| own == x).map(|(_, y)| *y);
            let cells = places.iter().map(|x| figure(value(x)));
            table.row(std::iter::once(Cell::from(full_name(panel, line))).chain(cells));
        }
    }
    table
}

fn full_name(panel: &Panel, line: &Line) -> String {
    format!("{}, {}", panel.title, line.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_room() {
        for (panels, title_width, expected) in
            [(1, 0.0, 1), (4, 60.0, 4), (10, 60.0, 5), (10, 150.0, 4), (10, 200.0, 3), (10, 9_999.0, 3)]
        {
            assert_eq!(column_count(panels, title_width), expected, "{panels} panels, {title_width} wide");
        }
    }
}
