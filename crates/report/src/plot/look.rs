//! What a series looks like: a colour, and with it a pattern for bars and a marker for lines, so that nobody has to
//! tell colours apart.

use super::drawing::ID_PREFIX;
use crate::limits::SERIES_MAX;

/// Colours of the style sheet, `c1` to `c6`.
const COLOURS: usize = 6;

/// One pattern for each colour of a round; the first is plain.
const PATTERNS: [Pattern; COLOURS] = [
    Pattern { side: 0, turn: 0, strokes: "" },
    Pattern { side: 6, turn: 45, strokes: "M0 3H6" },
    Pattern { side: 6, turn: 45, strokes: "M3 2V4" },
    Pattern { side: 5, turn: -45, strokes: "M0 2.5H5" },
    Pattern { side: 4, turn: 0, strokes: "M2 0V4" },
    Pattern { side: 7, turn: 45, strokes: "M0 3.5H7M3.5 0V7" },
];

/// Circle, square, triangle, diamond, triangle upside down, cross: all of about the same weight.
const MARKERS: [&str; COLOURS] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
    "M-3.6-3.6H3.6V3.6H-3.6Z",
    "M0-4.8L4.6 3.4H-4.6Z",
    "M0-5.2L5.2 0L0 5.2L-5.2 0Z",
    "M0 4.8L4.6-3.4H-4.6Z",
    "M-1.5-4.6H1.5V-1.5H4.6V1.5H1.5V4.6H-1.5V1.5H-4.6V-1.5H-1.5Z",
];

struct Pattern {
    side: u32,
    turn: i32,
    strokes: &'static str,
}

/// The look of the series of this number, below [`SERIES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Look(usize);

impl Look {
    /// The look of a series by its place among them.
    pub(super) fn of(place: usize) -> Look {
        Look(place % SERIES_MAX)
    }

    /// Returns the class that sets the colour.
    pub(super) fn colour(self) -> &'static str {
        ["c1", "c2", "c3", "c4", "c5", "c6"][self.0 % COLOURS]
    }

    /// Returns the id of the pattern; none where the bar is plain.
    pub(super) fn fill(self) -> Option<String> {
        (self.variant() > 0).then(|| format!("pattern-{}", self.0 + 1))
    }

    /// Returns the element that defines the pattern.
    pub(super) fn pattern(self) -> String {
        let Pattern { side, turn, strokes } = PATTERNS[self.variant()];
        let Some(id) = self.fill() else { return String::new() };
        format!(
            "<pattern id=\"{ID_PREFIX}{id}\" width=\"{side}\" height=\"{side}\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate({turn})\"><rect class=\"tint {0}\" width=\"{side}\" height=\"{side}\"/>\
             <path class=\"strokes {0}\" d=\"{strokes}\"/></pattern>\n",
            self.colour()
        )
    }

    /// Returns the outline of the marker around the origin.
    pub(super) fn marker(self) -> &'static str {
        MARKERS[self.variant()]
    }

    /// In the second round the colours come with the next pattern and marker.
    fn variant(self) -> usize {
        (self.0 + self.0 / COLOURS) % COLOURS
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_series_look_alike() {
        let looks: BTreeSet<_> =
            (0..SERIES_MAX).map(|place| (Look::of(place).colour(), Look::of(place).marker())).collect();
        assert_eq!(looks.len(), SERIES_MAX);
        let fills: BTreeSet<_> =
            (0..SERIES_MAX).map(|place| (Look::of(place).colour(), Look::of(place).fill())).collect();
        assert_eq!(fills.len(), SERIES_MAX);
        assert_eq!(Look::of(SERIES_MAX), Look::of(0));
    }
}
