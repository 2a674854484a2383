//! Commit numbers: each is given once, they never go back, and there are as many as there were writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::content::Area;

/// An acknowledged commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Commit {
    pub(crate) area: Area,
    pub(crate) range_id: u32,
    pub(crate) lsn: u64,
}

impl Commit {
    /// Reads the session token of an answer that one partition gave.
    pub(crate) fn parse(area: Area, token: &str) -> Option<Commit> {
        let (range_id, progress) = token.split_once(':')?;
        let lsn = progress.split('#').nth(1)?;
        Some(Commit { area, range_id: range_id.parse().ok()?, lsn: lsn.parse().ok()? })
    }
}

/// What is known of the commits of every partition.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The newest commit that any client saw.
    highest: BTreeMap<(Area, u32), u64>,
    /// Commits of a container up to the last restart.
    counted: BTreeMap<Area, u64>,
    /// Acknowledged commits since then.
    acknowledged: BTreeMap<Area, u64>,
}

impl Ledger {
    /// Takes in what a round's writers were told.
    pub(crate) fn acknowledge(&mut self, commits: &[Commit]) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut given = BTreeSet::new();
        for commit in commits {
            let Commit { area, range_id, lsn } = *commit;
            let container = area.container();
            if !given.insert(*commit) {
                wrong
                    .push(format!("commit {lsn} of range {range_id} of {container} was given to two writes"));
            }
            if self.highest.get(&(area, range_id)).is_some_and(|highest| lsn <= *highest) {
                wrong.push(format!(
                    "commit {lsn} of range {range_id} of {container} is one of an earlier round"
                ));
            }
            *self.acknowledged.entry(area).or_default() += 1;
        }
        for Commit { area, range_id, lsn } in given {
            let highest = self.highest.entry((area, range_id)).or_default();
            *highest = lsn.max(*highest);
        }
        wrong
    }

    /// Compares the partitions of a container after a restart with what was acknowledged. `in_flight` is the
    /// number of unanswered writes that turned out to have happened.
    pub(crate) fn restarted(&mut self, area: Area, ranges: &[(u32, u64)], in_flight: u64) -> Vec<String> {
        let mut wrong = Vec::new();
        let container = area.container();
        for (range_id, lsn) in ranges {
            let highest = self.highest.entry((area, *range_id)).or_default();
            if lsn < highest {
                wrong.push(format!(
                    "range {range_id} of {container} went back from commit {highest} to commit {lsn}"
                ));
            }
            *highest = *lsn;
        }
        for ((_, range_id), _) in self.highest.iter().filter(|((known, _), _)| *known == area) {
            if !ranges.iter().any(|(id, _)| id == range_id) {
                wrong.push(format!("range {range_id} of {container} is gone"));
            }
        }
        let before = self.counted.get(&area).copied().unwrap_or_default();
        let acknowledged = self.acknowledged.remove(&area).unwrap_or_default();
        let after: u64 = ranges.iter().map(|(_, lsn)| lsn).sum();
        if after != before + acknowledged + in_flight {
            wrong.push(format!(
                "{container} has {after} commits, expected were {before} from before, {acknowledged} \
                 acknowledged and {in_flight} unanswered ones"
            ));
        }
        self.counted.insert(area, after);
        wrong
    }

    /// Returns the session token of a client that has seen everything.
    pub(crate) fn session_token(&self, area: Area) -> String {
        let positions: Vec<String> = self
            .highest
            .iter()
            .filter(|((own, _), _)| *own == area)
            .map(|((_, range_id), lsn)| format!("{range_id}:-1#{lsn}"))
            .collect();
        positions.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(range_id: u32, lsn: u64) -> Commit {
        Commit { area: Area::Items, range_id, lsn }
    }

    #[test]
    fn tokens() {
        for (token, expected) in [
            ("1:-1#42", Some(commit(1, 42))),
            ("0:7#3#1=2", Some(commit(0, 3))),
            ("0:42", None),
            ("x:-1#1", None),
            ("", None),
        ] {
            assert_eq!(Commit::parse(Area::Items, token), expected, "{token}");
        }
    }

    #[test]
    fn commits_are_given_once_and_never_go_back() {
        let mut ledger = Ledger::default();
        assert!(ledger.acknowledge(&[commit(0, 2), commit(1, 1), commit(0, 1)]).is_empty());
        assert_eq!(ledger.session_token(Area::Items), "0:-1#2,1:-1#1");
        // One more write happened than was acknowledged.
        assert!(ledger.restarted(Area::Items, &[(0, 3), (1, 1)], 1).is_empty());
        assert!(ledger.restarted(Area::Items, &[(0, 3), (1, 1)], 0).is_empty());
        assert_eq!(ledger.acknowledge(&[commit(0, 3)]).len(), 1);
        assert_eq!(ledger.acknowledge(&[commit(1, 2), commit(1, 2)]).len(), 1);
    }

    #[test]
    fn lost_and_extra_commits_are_noticed() {
        for (ranges, in_flight) in [
            (vec![(0, 1), (1, 1)], 0), // One acknowledged commit is missing.
            (vec![(0, 2), (1, 2)], 0), // One has no write.
            (vec![(0, 2), (1, 1)], 1), // A write without a commit.
            (vec![(0, 3)], 0),         // A partition is gone.
        ] {
            let mut ledger = Ledger::default();
            assert!(ledger.acknowledge(&[commit(0, 1), commit(0, 2), commit(1, 1)]).is_empty());
            assert!(!ledger.restarted(Area::Items, &ranges, in_flight).is_empty(), "{ranges:?}");
        }
    }
}
