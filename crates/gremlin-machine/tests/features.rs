//! Runs features: scenarios in Gherkin that say what a traversal answers on a small graph.
//!
//! Without anything set it runs our own (`features/own`), so that the runner itself is tested. With
//! `ARMILLA_GREMLIN_FEATURES=<folder>` it runs TinkerPop's, which are not kept here, and compares with
//! `features/expected.txt`: a scenario that fails without being listed there, or that is listed and passes, fails
//! the run. `ARMILLA_GREMLIN_FEATURES_SHOW=<part of a name>` prints what such scenarios answered.
//!
//! How to get them, and the figures: `docs/gremlin-features.md`.

#[path = "features/compare.rs"]
mod compare;
#[path = "features/expected.rs"]
mod expected;
#[path = "features/gherkin.rs"]
mod gherkin;
#[path = "features/graphs.rs"]
mod graphs;
#[path = "features/json.rs"]
mod json;
#[path = "features/notation.rs"]
mod notation;
#[path = "features/report.rs"]
mod report;
#[path = "features/scenario.rs"]
mod scenario;
#[path = "features/subset.rs"]
mod subset;

use std::path::{Path, PathBuf};

use gherkin::Feature;
use scenario::Outcome;

/// Returns the folder of this test.
fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/features")
}

/// Reads all features below a folder, in the order of their names.
fn features_below(folder: &Path) -> Vec<Feature> {
    let mut features = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display()));
        for entry in entries {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "feature") {
                let text = std::fs::read_to_string(&path).expect("the feature can be read");
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                features.push(gherkin::parse(&name, &text));
            }
        }
    }
    features.sort_by(|left, right| left.name.cmp(&right.name));
    features
}

#[test]
fn features() {
    let outside = std::env::var_os("ARMILLA_GREMLIN_FEATURES").map(PathBuf::from);
    let show = std::env::var("ARMILLA_GREMLIN_FEATURES_SHOW").ok();
    let folder = outside.clone().unwrap_or_else(|| home().join("own"));
    let expected = match &outside {
        Some(_) => expected::read(&home().join("expected.txt")),
        None => expected::Expected::default(),
    };
    let graphs = graphs::Graphs::of(&folder);
    let mut report = report::Report::default();
    let mut surprises = Vec::new();
    for feature in features_below(&folder) {
        for scenario in &feature.scenarios {
            let outcome = scenario::run(scenario, &graphs);
            if show.as_ref().is_some_and(|show| scenario.name.contains(show) || feature.name.contains(show)) {
                println!("{} {}: {outcome:?}\n{}", feature.name, scenario.name, scenario.text);
            }
            report.add(&feature.name, scenario, &outcome);
            let name = format!("{} | {}", feature.name, scenario.name);
            match (&outcome, expected.reason(&feature.name, &scenario.name)) {
                (Outcome::Passed | Outcome::Left, None) => {}
                (Outcome::Passed, Some(found)) if found.whole_feature => {}
                (Outcome::Passed, Some(_)) => {
                    surprises.push(format!("{name}\n  passes: take it off the list"))
                }
                (Outcome::Left, Some(_)) => {}
                (Outcome::Failed(_) | Outcome::Refused(_), Some(_)) => {}
                (Outcome::Failed(what), None) => surprises.push(format!("{name}\n  FAILED {what}")),
                (Outcome::Refused(what), None) => surprises.push(format!("{name}\n  REFUSED {what}")),
            }
        }
    }
    println!("{}", report.table());
    assert!(report.count() > 0, "no scenarios below {}", folder.display());
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}
