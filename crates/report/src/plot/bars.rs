//! Bars in groups, lying down: names get the room they need, and figures stand at the bars' ends.

use super::axis::{Axis, Ends, Span};
use super::drawing::{Drawing, Swatch, text_width};
use super::look::Look;
use super::{Series, Svg, WIDTH, figure};
use crate::limits::{GROUPS_MAX, LABEL_CHARACTERS_MAX, SERIES_MAX};
use crate::number;
use crate::table::{Cell, Column, Table};
use crate::text::clip;

const GROUP_GAP: f64 = 13.0;
const BAR_GAP: f64 = 3.0;
/// What names beside the bars take at most.
const NAME_WIDTH_MAX: f64 = 272.0;
const LINE_HEIGHT: f64 = 15.0;

/// What a plot of bars shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// What it is about, in a few words.
    pub title: String,
    /// What there is to see, for those who cannot see it.
    pub description: String,
    /// The axis along which bars grow.
    pub axis: Axis,
    /// Names of the groups, from top to bottom.
    pub groups: Vec<String>,
    /// One bar of each series in every group.
    pub series: Vec<Series>,
    /// Marks to hold the bars against, such as published figures: none, or one series of them for each of `series`.
    pub references: Vec<Series>,
}

/// Draws bars in groups.
pub fn bars(plot: &Bars) -> Svg {
    let (mut drawing, mut y) = Drawing::begin(&plot.title);
    let series = &plot.series[..plot.series.len().min(SERIES_MAX)];
    let thickness = if series.len() <= 3 { 13.0 } else { 10.0 };
    let group_height = series.len().max(1) as f64 * (thickness + BAR_GAP) - BAR_GAP;
    let lines_max = ((group_height + GROUP_GAP) / LINE_HEIGHT) as usize;
    let groups: Vec<Vec<String>> =
        plot.groups.iter().take(GROUPS_MAX).map(|name| lines_of(name, lines_max.clamp(1, 2))).collect();
    let value_of = |series: &[Series], number: usize, group: usize| {
        series.get(number).and_then(|series| series.values.get(group).copied().flatten())
    };
    let shown = (0..groups.len()).flat_map(|group| (0..series.len()).map(move |number| (number, group)));
    let values = shown.flat_map(|(number, group)| {
        [value_of(series, number, group), value_of(&plot.references, number, group)]
    });
    let span = Span::fit(plot.axis.scale, values.flatten(), Ends::Round);

    y = drawing.legend(y, legend(series, &plot.references)) + 4.0;
    let left = groups.iter().flatten().map(|line| text_width(line)).fold(24.0, f64::max) + 14.0;
    // Room for the figure at the end of the longest bar.
    let right = WIDTH - 62.0;
    let x_of = |place: f64| left + place * (right - left);
    let bottom = y + groups.len() as f64 * (group_height + GROUP_GAP);

    for tick in span.ticks() {
        drawing.line("grid", (x_of(tick.at), y), (x_of(tick.at), bottom));
        drawing.text("tick middle", x_of(tick.at), bottom + 16.0, &tick.label);
    }
    drawing.line("base", (x_of(span.base()), y), (x_of(span.base()), bottom));
    let mut top = y + GROUP_GAP / 2.0;
    for (group, lines) in groups.iter().enumerate() {
        let first = top + group_height / 2.0 + 4.0 - (lines.len() - 1) as f64 * LINE_HEIGHT / 2.0;
        for (number, line) in lines.iter().enumerate() {
            drawing.text("name end", left - 12.0, first + number as f64 * LINE_HEIGHT, line);
        }
        for number in 0..series.len() {
            let bar_top = top + number as f64 * (thickness + BAR_GAP);
            let value = value_of(series, number, group);
            let place = value.and_then(|value| span.place(value));
            if let Some(place) = place {
                let (from, to) = (x_of(place.min(span.base())), x_of(place.max(span.base())));
                drawing.bar(Look::of(number), from, bar_top, to - from, thickness);
            }
            let end = x_of(place.unwrap_or(0.0).max(span.base()));
            let mark =
                value_of(&plot.references, number, group).and_then(|value| span.place(value)).map(x_of);
            if let Some(mark) = mark {
                drawing.mark(mark, bar_top - 1.5, bar_top + thickness + 1.5);
            }
            let Some(value) = value else { continue };
            let label = if place.is_some() { number::short(value) } else { "n/a".to_string() };
            // The figure stands at the end of its bar, or behind the mark where that is in the way.
            let room = text_width(&label) + 12.0;
            let at = match mark {
                Some(mark) if mark > end - 4.0 && mark < end + room => mark,
                _ => end,
            };
            drawing.text("value", at + 6.0, bar_top + thickness / 2.0 + 4.0, &label);
        }
        top += group_height + GROUP_GAP;
    }
    drawing.text("label middle", x_of(0.5), bottom + 36.0, &clip(&plot.axis.label, LABEL_CHARACTERS_MAX * 2));
    y = bottom + 46.0;
    y = drawing.left_out(y, plot.groups.len() - groups.len(), "groups");
    y = drawing.left_out(y, plot.series.len() - series.len(), "series");
    drawing.finish(&plot.title, &plot.description, y, data(plot))
}

/// Returns a name in lines that fit beside the bars, broken between words where that can be.
fn lines_of(name: &str, lines_max: usize) -> Vec<String> {
    let mut rest = clip(name, LABEL_CHARACTERS_MAX * lines_max);
    let mut lines = Vec::new();
    while text_width(&rest) > NAME_WIDTH_MAX && lines.len() + 1 < lines_max {
        let fits = |end: &usize| text_width(&rest[..*end]) <= NAME_WIDTH_MAX;
        let ends = rest.char_indices().map(|(at, _)| at).take_while(fits);
        let end = ends.last().unwrap_or(0);
        let end = rest[..end].rfind(' ').filter(|space| space * 2 > end).unwrap_or(end);
        let after = rest.split_off(end);
        lines.push(rest);
        rest = after.trim_start().to_owned();
    }
    while text_width(&rest) > NAME_WIDTH_MAX {
        rest = clip(&rest, rest.chars().count() - 1);
    }
    lines.push(rest);
    lines
}

fn legend(series: &[Series], references: &[Series]) -> Vec<(Swatch, String)> {
    let is_needed = series.len() > 1 || !references.is_empty();
    let bars = series.iter().enumerate().filter(|_| is_needed);
    let mut entries: Vec<_> = bars
        .map(|(number, series)| (Swatch::Bar(Look::of(number)), clip(&series.name, LABEL_CHARACTERS_MAX)))
        .collect();
    // All marks look alike, so one name stands for all of them.
    entries.extend(references.first().map(|first| (Swatch::Mark, clip(&first.name, LABEL_CHARACTERS_MAX))));
    entries
}

fn data(plot: &Bars) -> Table {
    let mut columns = vec![Column::left("")];
    for (number, series) in plot.series.iter().enumerate() {
        columns.push(Column::right(&series.name));
        if let Some(reference) = plot.references.get(number) {
            columns.push(Column::right(&reference.name));
        }
    }
    let mut table = Table::new(columns);
    table.caption(format!("{}: {}", plot.title, plot.axis.label));
    for (group, name) in plot.groups.iter().enumerate() {
        let mut cells = vec![Cell::from(name.as_str())];
        for (number, series) in plot.series.iter().enumerate() {
            cells.push(figure(series.values.get(group).copied().flatten()));
            if let Some(reference) = plot.references.get(number) {
                cells.push(figure(reference.values.get(group).copied().flatten()));
            }
        }
        table.row(cells);
    }
    table
}
