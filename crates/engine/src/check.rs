//! Verifying a whole account: every partition of every container, and that nothing else is stored.

mod spaces;

use std::collections::HashSet;

use armilla_container::{PartitionMap, check_partition, rebuild_partition};

use crate::engine::Engine;
use crate::error::Result;

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
    let mut report =
        CheckReport { databases: engine.tree().databases.iter().count() as u64, ..Default::default() };
    for handle in engine.all_containers() {
        report.containers += 1;
        let map = handle.container().map();
        let named = |problem: String| format!("{}/{}: {problem}", handle.database_id(), handle.id());
        report.problems.extend(check_map(&map).into_iter().map(named));
        for range in map.ranges {
            let place = format!("{}/{} range {}", handle.database_id(), handle.id(), range.id);
            report.partitions += 1;
            match check_partition(handle.container(), range.id, &mut |items| progress(&place, items)) {
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
    report.problems.extend(spaces::check(engine)?);
    Ok(report)
}

/// Makes every partition that does not agree with itself do so again, from the items that are left. Returns what is known to
/// be lost, each with where it was. For an account that nobody else uses and that is opened again afterwards.
pub fn rebuild(engine: &Engine, progress: &mut dyn FnMut(&str, u64)) -> Result<Vec<String>> {
    let mut lost = Vec::new();
    for handle in engine.all_containers() {
        for range in handle.container().map().ranges {
            let place = format!("{}/{} range {}", handle.database_id(), handle.id(), range.id);
            let checked = check_partition(handle.container(), range.id, &mut |items| progress(&place, items));
            if checked.is_ok_and(|summary| summary.problems.is_empty()) {
                continue;
            }
            let rebuilt = rebuild_partition(handle.container(), range.id)?;
            let container = format!("{}/{}", handle.database_id(), handle.id());
            lost.extend(rebuilt.lost.into_iter().map(|item| format!("{container}: {item}")));
        }
    }
    Ok(lost)
}

/// Verifies what opening a container does not: that ids are used once, and that nobody is their own ancestor's
/// contemporary.
fn check_map(map: &PartitionMap) -> Vec<String> {
    let mut problems = Vec::new();
    let mut ids = HashSet::new();
    for range in &map.ranges {
        if !ids.insert(range.id) {
            problems.push(format!("the partition map names range {} twice", range.id));
        }
        if range.map_version > map.version {
            problems.push(format!("range {} is of a later map than the one it is in", range.id));
        }
    }
    for range in &map.ranges {
        for parent in range.parents.iter().filter(|parent| ids.contains(parent)) {
            problems.push(format!("range {} came from range {parent}, which is still there", range.id));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use armilla_container::Range;
    use armilla_kv::SpaceId;
    use armilla_value::HashedKey;

    use super::*;

    #[test]
    fn maps() {
        let range = |id: u32, parents: &[u32], map_version: u64| Range {
            id,
            min: HashedKey::MIN,
            max: HashedKey::MAX,
            parents: parents.to_vec(),
            space: SpaceId(1),
            lsn_base: 0,
            map_version,
            ts: 0,
        };
        let problems = |ranges: Vec<Range>| check_map(&PartitionMap { version: 3, ranges }).len();
        assert_eq!(problems(vec![range(1, &[0], 2), range(3, &[0, 2], 3), range(4, &[0, 2], 3)]), 0);
        assert_eq!(problems(vec![range(1, &[0], 2), range(1, &[0], 2)]), 1);
        assert_eq!(problems(vec![range(0, &[], 1), range(2, &[0], 2)]), 1);
        assert_eq!(problems(vec![range(0, &[], 4)]), 1);
    }
}
