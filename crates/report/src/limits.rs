//! Every bound of a report. What lies beyond one is left out of the drawing with a word that says so; the table of
//! figures beside the plot is always whole.

use std::time::Duration;

/// Series that can be told apart: two rounds through the colours, each with other patterns and markers.
pub(crate) const SERIES_MAX: usize = 12;

/// Groups of bars in one plot.
pub(crate) const GROUPS_MAX: usize = 80;

/// Rows of percentiles in one plot.
pub(crate) const WHISKERS_MAX: usize = 80;

/// Small plots in one plot.
pub(crate) const PANELS_MAX: usize = 40;

/// Points that are drawn of one line: more than the plot is pixels wide show nothing more, so they are thinned out.
pub(crate) const LINE_POINTS_MAX: usize = 1_000;

/// Markers on one line.
pub(crate) const MARKERS_MAX: usize = 12;

/// Characters of a name in a plot.
pub(crate) const LABEL_CHARACTERS_MAX: usize = 40;

/// Characters of a plot's title where it is drawn.
pub(crate) const TITLE_CHARACTERS_MAX: usize = 90;

/// Greatest magnitude that a plot shows; on a logarithmic axis its reciprocal is the smallest.
pub(crate) const MAGNITUDE_MAX: f64 = 1e15;

/// Nines that an axis of percentiles shows: 99.9999 %, and the maximum stands there too.
pub(crate) const NINES_MAX: f64 = 6.0;

/// Width of a column of a text table in characters; longer cells stick out.
pub(crate) const TEXT_COLUMN_CHARACTERS_MAX: usize = 120;

/// Decimals of a number.
pub(crate) const DECIMALS_MAX: usize = 12;

/// Time between two changes of the line that says how far something is, on a terminal.
pub(crate) const PROGRESS_TERMINAL_PERIOD: Duration = Duration::from_millis(100);

/// Parts that the bar of such a line is divided into.
pub(crate) const PROGRESS_BAR_STEPS: u64 = 1_000;
