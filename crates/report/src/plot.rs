//! Plots as SVG: described by plain data, drawn by one function each.
//!
//! A plot takes its colours from the page it stands in, or brings them along as a file of its own; either way it
//! follows light and dark. What cannot be shown (no number, infinite, not positive on a logarithmic axis) is left out
//! of the drawing and is `n/a` in the figures.
//!
//! Not here: how an axis is cut (`axis`), what a series looks like (`look`), elements of SVG (`drawing`).

mod axis;
mod bars;
mod drawing;
mod lines;
mod look;
mod panels;
mod whiskers;

pub use axis::{Axis, Scale};
pub use bars::{Bars, bars};
pub use lines::{Line, Lines, lines};
pub use panels::{Panel, Panels, panels};
pub use whiskers::{Whisker, Whiskers, whiskers};

use crate::table::{Cell, Table, Tone};
use crate::text::escape;
use crate::{number, page};
use drawing::ID_PREFIX;

/// Width of every plot in its own units, which are pixels where there is room.
const WIDTH: f64 = 760.0;

/// Margin of a plot that is a file of its own.
const MARGIN: f64 = 16.0;

/// Values by name, one for each group of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What the values are of.
    pub name: String,
    /// One value a group; none where there is nothing to show.
    pub values: Vec<Option<f64>>,
}

impl Series {
    /// Values of this name.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Series {
        Series { name: name.into(), values: values.into_iter().collect() }
    }
}

/// A plot that has been drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Svg {
    title: String,
    description: String,
    height: f64,
    body: String,
    data: Table,
}

impl Svg {
    /// Returns a whole SVG file, with colours and a background of its own.
    pub fn standalone(&self) -> String {
        let style = format!("<style>\n{}{}</style>\n", page::COLOURS, page::PLOT_STYLE);
        let ground = "<rect class=\"ground\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n";
        self.markup("", &format!("{style}{ground}"), MARGIN)
    }

    /// Returns the figures that are drawn.
    pub fn data(&self) -> &Table {
        &self.data
    }

    /// Returns the title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the element for a page, its ids beginning with the text given.
    pub(crate) fn inline(&self, prefix: &str) -> String {
        self.markup(prefix, "", 0.0)
    }

    fn markup(&self, prefix: &str, first: &str, margin: f64) -> String {
        let (width, height) = (WIDTH + 2.0 * margin, self.height + 2.0 * margin);
        let body = self.body.replace(ID_PREFIX, prefix);
        let (attributes, body) = if margin > 0.0 {
            let attributes =
                format!(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\"");
            (attributes, format!("<g transform=\"translate({margin} {margin})\">\n{body}</g>\n"))
        } else {
            (String::new(), body)
        };
        format!(
            "<svg{attributes} class=\"armilla\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{prefix}title {prefix}description\">\n\
             <title id=\"{prefix}title\">{}</title>\n<desc id=\"{prefix}description\">{}</desc>\n{first}{body}</svg>\n",
            escape(&self.title),
            escape(&self.description),
        )
    }
}

/// The figure as a cell of the table beside a plot.
fn figure(value: Option<f64>) -> Cell {
    match value {
        Some(value) if value.is_finite() => Cell::from(number::short(value)),
        Some(_) => Cell::from("n/a").tone(Tone::Muted),
        None => Cell::from(""),
    }
}

#[cfg(test)]
mod tests;
