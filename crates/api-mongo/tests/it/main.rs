//! The API as clients see it, message by message, over an engine in memory: what it finds, counts, sorts and changes is
//! what the crates of the language say of the same documents held in the test.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod aggregation;
mod client;
mod commands;
mod doubt;
mod features;
mod finding;
mod made_up;
mod mismatches;
mod nodes;
mod odd_values;
mod sorting;
mod transactions;
mod unique;
mod updating;
mod values;

use std::collections::BTreeSet;

/// A file that no module names would never run.
#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let files =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = files
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name != "main")
        .collect();
    let source = include_str!("main.rs");
    let named = source.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    assert_eq!(files, named.map(str::to_owned).collect());
}
