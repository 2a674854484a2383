//! The list of scenarios that do not pass, each with its reason.
//!
//! A line is `file | scenario | reason`; `*` as the scenario means whatever of the file does not pass.

use std::path::Path;

/// The list.
#[derive(Default)]
pub(crate) struct Expected {
    lines: Vec<Line>,
}

/// A line of the list.
pub(crate) struct Line {
    feature: String,
    scenario: String,
    /// Whether it speaks of a whole file.
    pub(crate) whole_feature: bool,
}

/// Reads the list.
pub(crate) fn read(path: &Path) -> Expected {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let parts: Vec<&str> = line.splitn(3, '|').map(str::trim).collect();
        let [feature, scenario, reason] = parts.as_slice() else { panic!("no line of the list: {line}") };
        assert!(!reason.is_empty(), "a reason is missing: {line}");
        let (feature, scenario) = ((*feature).to_owned(), (*scenario).to_owned());
        lines.push(Line { whole_feature: scenario == "*", feature, scenario });
    }
    Expected { lines }
}

impl Expected {
    /// Finds the line about a scenario.
    pub(crate) fn reason(&self, feature: &str, scenario: &str) -> Option<&Line> {
        self.lines
            .iter()
            .find(|line| line.feature == feature && (line.whole_feature || line.scenario == scenario))
    }
}
