//! The table of a run: by folder, for the service's part of Gremlin and for all.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::gherkin::Scenario;
use crate::scenario::Outcome;
use crate::subset;

#[derive(Default, Clone, Copy)]
struct Row {
    scenarios: usize,
    passed: usize,
    failed: usize,
    refused: usize,
}

impl Row {
    fn add(&mut self, outcome: &Outcome) {
        self.scenarios += 1;
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed(_) => self.failed += 1,
            Outcome::Refused(_) => self.refused += 1,
            Outcome::Left => self.scenarios -= 1,
        }
    }

    fn share(&self) -> f64 {
        100.0 * self.passed as f64 / self.scenarios.max(1) as f64
    }
}

/// What scenarios did.
#[derive(Default)]
pub(crate) struct Report {
    subset: BTreeMap<String, Row>,
    all: BTreeMap<String, Row>,
}

impl Report {
    /// Counts a scenario.
    pub(crate) fn add(&mut self, feature: &str, scenario: &Scenario, outcome: &Outcome) {
        let folder = feature.split_once('/').map_or("", |(folder, _)| folder);
        for name in [folder, "total"] {
            if subset::contains(scenario) {
                self.subset.entry(name.to_owned()).or_default().add(outcome);
            }
            self.all.entry(name.to_owned()).or_default().add(outcome);
        }
    }

    /// Returns how many scenarios were run.
    pub(crate) fn count(&self) -> usize {
        self.all.get("total").map_or(0, |row| row.scenarios)
    }

    /// Returns both tables.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        for (title, rows) in [("In the service's subset", &self.subset), ("All", &self.all)] {
            let _ = writeln!(text, "\n| {title} | scenarios | passed | failed | refused | passed % |");
            let _ = writeln!(text, "| --- | ---: | ---: | ---: | ---: | ---: |");
            for (name, row) in rows {
                let Row { scenarios, passed, failed, refused } = row;
                let _ = writeln!(
                    text,
                    "| {name} | {scenarios} | {passed} | {failed} | {refused} | {:.1} |",
                    row.share()
                );
            }
        }
        text
    }
}
