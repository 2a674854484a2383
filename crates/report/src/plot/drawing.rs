//! Elements of SVG, written one after another. All text goes through here, and is escaped here.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::look::Look;
use super::{Svg, WIDTH};
use crate::limits::TITLE_CHARACTERS_MAX;
use crate::table::Table;
use crate::text::{clip, escape};

/// Stands for what the ids of a plot begin with, until it is known where the plot stands. Text never holds it: control
/// characters are replaced where text is escaped.
pub(super) const ID_PREFIX: char = '\u{1}';

/// Mean width of a character in text of 12 pixels: an estimate, since the font is the reader's.
const CHARACTER_WIDTH: f64 = 6.7;

/// How far below the top the title ends.
const TITLE_HEIGHT: f64 = 30.0;

/// Height of one row of the legend.
const LEGEND_HEIGHT: f64 = 20.0;

/// What a legend shows before a name.
pub(super) enum Swatch {
    /// A bar of a series.
    Bar(Look),
    /// A line with a marker.
    Line(Look),
    /// The mark of a reference.
    Mark,
}

/// A plot in the making.
pub(super) struct Drawing {
    body: String,
    patterns: BTreeSet<Look>,
}

impl Drawing {
    /// Begins with the title; returns where it ends, too.
    pub(super) fn begin(title: &str) -> (Drawing, f64) {
        let mut drawing = Drawing { body: String::new(), patterns: BTreeSet::new() };
        if title.is_empty() {
            return (drawing, 8.0);
        }
        drawing.text("title", 0.0, 16.0, &clip(title, TITLE_CHARACTERS_MAX));
        (drawing, TITLE_HEIGHT)
    }

    /// Ends the plot.
    pub(super) fn finish(self, title: &str, description: &str, height: f64, data: Table) -> Svg {
        let mut body = String::new();
        if !self.patterns.is_empty() {
            body.push_str("<defs>\n");
            for look in &self.patterns {
                body.push_str(&look.pattern());
            }
            body.push_str("</defs>\n");
        }
        body.push_str(&self.body);
        let height = (height * 10.0).round() / 10.0;
        Svg { title: title.to_string(), description: description.to_string(), height, body, data }
    }

    /// Writes text with its base line at `y`; the class says at which side of `x` it stands.
    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let (x, y) = (Coordinate(x), Coordinate(y));
        self.push(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escape(text)));
    }

    /// Draws a straight line.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(Coordinate);
        self.push(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    /// Draws a line through the points.
    pub(super) fn curve(&mut self, look: Look, points: &[(f64, f64)]) {
        let mut places = String::new();
        for (x, y) in points {
            let separator = if places.is_empty() { "" } else { " " };
            write!(places, "{separator}{},{}", Coordinate(*x), Coordinate(*y))
                .expect("a string takes all text");
        }
        self.push(format_args!("<polyline class=\"curve {}\" points=\"{places}\"/>", look.colour()));
    }

    /// Draws a bar of a series.
    pub(super) fn bar(&mut self, look: Look, x: f64, y: f64, width: f64, height: f64) {
        let fill = match look.fill() {
            None => String::new(),
            Some(id) => {
                self.patterns.insert(look);
                format!(" fill=\"url(#{ID_PREFIX}{id})\"")
            }
        };
        let [x, y, width, height] = [x, y, width.max(0.0), height].map(Coordinate);
        let colour = look.colour();
        self.push(format_args!(
            "<rect class=\"bar {colour}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{fill}/>"
        ));
    }

    /// Draws a bar without a pattern.
    pub(super) fn block(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let [x, y, width, height] = [x, y, width.max(0.0), height].map(Coordinate);
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    /// Draws the marker of a series.
    pub(super) fn marker(&mut self, look: Look, x: f64, y: f64) {
        let colour = look.colour();
        let (x, y) = (Coordinate(x), Coordinate(y));
        self.push(format_args!(
            "<path class=\"marker {colour}\" transform=\"translate({x} {y})\" d=\"{}\"/>",
            look.marker()
        ));
    }

    /// Draws a circle.
    pub(super) fn circle(&mut self, class: &str, x: f64, y: f64, radius: f64) {
        let [x, y, radius] = [x, y, radius].map(Coordinate);
        self.push(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
    }

    /// Draws the mark of a reference across a bar.
    pub(super) fn mark(&mut self, x: f64, top: f64, bottom: f64) {
        self.line("mark-halo", (x, top), (x, bottom));
        self.line("mark", (x, top), (x, bottom));
    }

    /// Draws names with their swatches from `y` downwards, in as many rows as they need; returns where it ends.
    pub(super) fn legend(&mut self, y: f64, entries: Vec<(Swatch, String)>) -> f64 {
        if entries.is_empty() {
            return y;
        }
        let (mut x, mut middle) = (0.0, y + 8.0);
        for (swatch, name) in entries {
            let width = 28.0 + text_width(&name) + 22.0;
            if x > 0.0 && x + width > WIDTH {
                x = 0.0;
                middle += LEGEND_HEIGHT;
            }
            match swatch {
                Swatch::Bar(look) => self.bar(look, x, middle - 6.0, 20.0, 12.0),
                Swatch::Line(look) => {
                    self.curve(look, &[(x, middle), (x + 20.0, middle)]);
                    self.marker(look, x + 10.0, middle);
                }
                Swatch::Mark => self.mark(x + 10.0, middle - 8.0, middle + 8.0),
            }
            self.text("name", x + 28.0, middle + 4.0, &name);
            x += width;
        }
        middle + LEGEND_HEIGHT
    }

    /// Says below everything else that something was left out; returns where it ends.
    pub(super) fn left_out(&mut self, y: f64, count: usize, what: &str) -> f64 {
        if count == 0 {
            return y;
        }
        self.text("label", 0.0, y + 14.0, &format!("{count} more {what} among the figures"));
        y + 22.0
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        self.body.write_fmt(element).expect("a string takes all text");
        self.body.push('\n');
    }
}

/// Estimates how wide a text of 12 pixels is.
pub(super) fn text_width(text: &str) -> f64 {
    // Characters beyond Latin are often twice as wide.
    text.chars().map(|c| if c < '\u{1100}' { CHARACTER_WIDTH } else { 2.0 * CHARACTER_WIDTH }).sum()
}

/// A coordinate with one decimal at most.
struct Coordinate(f64);

impl std::fmt::Display for Coordinate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Adding zero makes a negative zero positive.
        write!(formatter, "{}", (self.0 * 10.0).round() / 10.0 + 0.0)
    }
}
