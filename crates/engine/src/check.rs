//! Verifying a whole account: every partition of every container.

use armilla_container::check_partition;

use crate::error::Result;
use crate::open::Engine;

/// What a check of an account saw.
#[derive(Debug, Clone, Default)]
pub struct CheckReport {
    /// Databases in the tree.
    pub databases: u64,
    /// Containers in the tree.
    pub containers: u64,
    /// Physical partitions that were read.
    pub partitions: u64,
    /// Items that were read.
    pub items: u64,
    /// Their bytes, keys and values.
    pub bytes: u64,
    /// What does not agree, each with where it is.
    pub problems: Vec<String>,
}

/// Verifies everything that an account stores. `progress` is told now and then where the check is and how many
/// items it has read there.
pub fn check(engine: &Engine, progress: &mut dyn FnMut(&str, u64)) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    let containers: Vec<_> = {
        let tree = engine.tree();
        report.databases = tree.databases.iter().count() as u64;
        tree.databases.iter().flat_map(|database| database.containers.iter().cloned()).collect()
    };
    for handle in containers {
        report.containers += 1;
        let ids: Vec<u32> = handle.container().ranges().map(|range| range.id).collect();
        for range_id in ids {
            let place = format!("{}/{} range {range_id}", handle.database_id(), handle.id());
            report.partitions += 1;
            match check_partition(handle.container(), range_id, &mut |items| progress(&place, items)) {
                Ok(summary) => {
                    report.items += summary.items;
                    report.bytes += summary.bytes;
                    let problems = summary.problems.into_iter();
                    report.problems.extend(problems.map(|problem| format!("{place}: {}", problem.message)));
                }
                Err(error) => report.problems.push(format!("{place}: cannot be read: {error}")),
            }
        }
    }
    Ok(report)
}
