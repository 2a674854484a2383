//! Commit numbers: each is given once, they never go back, and there are as many as there were writes.
//!
//! A range that came of others goes on above the highest number of theirs, which it counts on by one. Which number that
//! was is known only as far as writes were answered; so where ranges came and went, the count is exact but for the
//! writes that were not answered.

use std::collections::{BTreeMap, BTreeSet};

use armilla_crash::map::MapRange;

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
    /// The newest commit that any client saw, of the ranges of the last restart and those that came since.
    highest: BTreeMap<(Area, u32), u64>,
    /// The commits of ranges at the last restart.
    counted: BTreeMap<(Area, u32), u64>,
    /// Acknowledged commits since then.
    acknowledged: BTreeMap<(Area, u32), u64>,
    /// Ranges that are no more.
    retired: BTreeSet<(Area, u32)>,
}

impl Ledger {
    /// Takes in what a round's writers were told.
    pub(crate) fn acknowledge(&mut self, commits: &[Commit]) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut given = BTreeSet::new();
        for commit in commits {
            let Commit { area, range_id, lsn } = *commit;
            let place = format!("commit {lsn} of range {range_id} of {}", area.container());
            if !given.insert(*commit) {
                wrong.push(format!("{place} was given to two writes"));
            }
            if self.highest.get(&(area, range_id)).is_some_and(|highest| lsn <= *highest) {
                wrong.push(format!("{place} is one of an earlier round"));
            }
            if self.retired.contains(&(area, range_id)) {
                wrong.push(format!("{place} was given, though the range is no more"));
            }
            *self.acknowledged.entry((area, range_id)).or_default() += 1;
        }
        for Commit { area, range_id, lsn } in given {
            let highest = self.highest.entry((area, range_id)).or_default();
            *highest = lsn.max(*highest);
        }
        wrong
    }

    /// Compares the partitions of a container after a restart with what was acknowledged. `in_flight` is the
    /// number of unanswered writes that turned out to have happened.
    pub(crate) fn restarted(&mut self, area: Area, ranges: &[MapRange], in_flight: u64) -> Vec<String> {
        let mut wrong = self.not_gone_back(area, ranges);
        wrong.extend(self.not_counted(area, ranges, in_flight));
        let live = |id: &u32| ranges.iter().any(|range| range.id == *id);
        let known = self.highest.keys().chain(self.counted.keys());
        let parents = ranges.iter().flat_map(|range| &range.parents).map(|parent| (area, *parent));
        let retired: Vec<_> =
            known.filter(|(own, id)| *own == area && !live(id)).copied().chain(parents).collect();
        self.retired.extend(retired);
        self.highest.retain(|(own, _), _| *own != area);
        self.counted.retain(|(own, _), _| *own != area);
        self.acknowledged.retain(|(own, _), _| *own != area);
        for range in ranges {
            self.highest.insert((area, range.id), range.lsn);
            self.counted.insert((area, range.id), range.lsn);
        }
        wrong
    }

    /// Lists ranges that came back, went back, or went without leaving a child.
    fn not_gone_back(&self, area: Area, ranges: &[MapRange]) -> Vec<String> {
        let mut wrong = Vec::new();
        let container = area.container();
        for MapRange { id, lsn, parents, .. } in ranges {
            if self.retired.contains(&(area, *id)) {
                wrong.push(format!("range {id} of {container} is there again"));
            }
            for known in [*id].iter().chain(parents) {
                let highest = self.highest.get(&(area, *known)).copied().unwrap_or_default();
                if *lsn < highest + u64::from(known != id) {
                    wrong.push(format!(
                        "range {id} of {container} is at commit {lsn}, though range {known} had commit {highest}"
                    ));
                }
            }
        }
        for (_, id) in self.highest.keys().filter(|(known, _)| *known == area) {
            if !ranges.iter().any(|range| range.id == *id || range.parents.contains(id)) {
                wrong.push(format!("range {id} of {container} is gone and has no child"));
            }
        }
        wrong
    }

    /// Compares the number of commits with that of writes.
    fn not_counted(&self, area: Area, ranges: &[MapRange], in_flight: u64) -> Vec<String> {
        let mut wrong = Vec::new();
        let container = area.container();
        let (mut sum, mut is_exact) = (0, true);
        for range in ranges {
            let (before, slack) = self.least_before(area, range);
            let acknowledged = self.acknowledged.get(&(area, range.id)).copied().unwrap_or_default();
            let unanswered = range.lsn.checked_sub(before + acknowledged);
            if unanswered.is_none_or(|unanswered| unanswered > in_flight + slack) {
                wrong.push(format!(
                    "range {} of {container} has {} commits, expected were {before} from before, {acknowledged} \
                     acknowledged and up to {in_flight} unanswered ones",
                    range.id, range.lsn
                ));
            }
            sum += unanswered.unwrap_or_default();
            is_exact &= self.counted.contains_key(&(area, range.id));
        }
        let is_same = self.counted.keys().filter(|(own, _)| *own == area).count() == ranges.len();
        if is_exact && is_same && sum != in_flight && wrong.is_empty() {
            wrong.push(format!(
                "{container} has {sum} commits of no answered write, expected were {in_flight}"
            ));
        }
        wrong
    }

    /// Returns the least number of commits that a range can have begun with since the last restart, and how many more
    /// it may have begun with besides one for each unanswered write.
    fn least_before(&self, area: Area, range: &MapRange) -> (u64, u64) {
        if let Some(counted) = self.counted.get(&(area, range.id)) {
            return (*counted, 0);
        }
        let known = |parent: &u32| self.highest.get(&(area, *parent)).copied();
        let least = range.parents.iter().filter_map(known).max().map_or(0, |highest| highest + 1);
        // Each generation that came and went since the last restart counts on by one.
        let is_new = |parent: &&u32| !self.counted.contains_key(&(area, **parent));
        let is_old = |parent: &&u32| self.retired.contains(&(area, **parent));
        let generations = range.parents.iter().filter(is_new).filter(|parent| !is_old(parent)).count();
        (least, generations as u64)
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

    /// Ids, commits and parents.
    type Shown = &'static [(u32, u64, &'static [u32])];

    fn ranges(ranges: Shown) -> Vec<MapRange> {
        let range = |(id, lsn, parents): &(u32, u64, &'static [u32])| MapRange {
            id: *id,
            min: String::new(),
            max: String::new(),
            parents: parents.to_vec(),
            lsn: *lsn,
        };
        ranges.iter().map(range).collect()
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
        let both = ranges(&[(0, 0, &[]), (1, 0, &[])]);
        assert!(ledger.restarted(Area::Items, &both, 0).is_empty());
        assert!(ledger.acknowledge(&[commit(0, 2), commit(1, 1), commit(0, 1)]).is_empty());
        assert_eq!(ledger.session_token(Area::Items), "0:-1#2,1:-1#1");
        // One more write happened than was acknowledged.
        let both = ranges(&[(0, 3, &[]), (1, 1, &[])]);
        assert!(ledger.restarted(Area::Items, &both, 1).is_empty());
        assert!(ledger.restarted(Area::Items, &both, 0).is_empty());
        assert_eq!(ledger.acknowledge(&[commit(0, 3)]).len(), 1);
        assert_eq!(ledger.acknowledge(&[commit(1, 2), commit(1, 2)]).len(), 1);
    }

    #[test]
    fn lost_and_extra_commits_are_noticed() {
        let cases: [(Shown, u64); 4] = [
            (&[(0, 1, &[]), (1, 1, &[])], 0), // One acknowledged commit is missing.
            (&[(0, 2, &[]), (1, 2, &[])], 0), // One has no write.
            (&[(0, 2, &[]), (1, 1, &[])], 1), // A write without a commit.
            (&[(0, 3, &[])], 0),              // A partition is gone.
        ];
        for (shown, in_flight) in cases {
            let mut ledger = Ledger::default();
            assert!(ledger.restarted(Area::Items, &ranges(&[(0, 0, &[]), (1, 0, &[])]), 0).is_empty());
            assert!(ledger.acknowledge(&[commit(0, 1), commit(0, 2), commit(1, 1)]).is_empty());
            assert!(!ledger.restarted(Area::Items, &ranges(shown), in_flight).is_empty(), "{shown:?}");
        }
    }

    #[test]
    fn children_go_on_where_their_parents_ended() {
        let cases: [(&str, Shown, u64, bool); 9] = [
            ("nothing written since", &[(1, 3, &[0]), (2, 3, &[0])], 0, true),
            ("as if nothing had happened", &[(0, 2, &[])], 0, true),
            ("unanswered by the parent", &[(1, 4, &[0]), (2, 4, &[0])], 1, true),
            ("unanswered by a child", &[(1, 4, &[0]), (2, 3, &[0])], 1, true),
            ("split again", &[(1, 3, &[0]), (3, 4, &[0, 2]), (4, 4, &[0, 2])], 0, true),
            ("split and merged", &[(3, 4, &[0, 1, 2])], 0, true),
            ("below the parent", &[(1, 2, &[0]), (2, 3, &[0])], 0, false),
            ("far above it", &[(1, 9, &[0]), (2, 3, &[0])], 1, false),
            ("no child", &[(5, 3, &[])], 0, false),
        ];
        for (case, shown, in_flight, expected) in cases {
            let mut ledger = Ledger::default();
            assert!(ledger.restarted(Area::Items, &ranges(&[(0, 0, &[])]), 0).is_empty());
            assert!(ledger.acknowledge(&[commit(0, 1), commit(0, 2)]).is_empty());
            let wrong = ledger.restarted(Area::Items, &ranges(shown), in_flight);
            assert_eq!(wrong.is_empty(), expected, "{case}: {wrong:?}");
        }
    }

    #[test]
    fn ranges_that_are_gone_stay_so() {
        let mut ledger = Ledger::default();
        assert!(ledger.restarted(Area::Items, &ranges(&[(0, 0, &[])]), 0).is_empty());
        // Writes go to the parent, then to its children.
        assert!(ledger.acknowledge(&[commit(0, 1), commit(1, 3), commit(2, 3), commit(2, 4)]).is_empty());
        assert_eq!(ledger.session_token(Area::Items), "0:-1#1,1:-1#3,2:-1#4");
        assert!(ledger.restarted(Area::Items, &ranges(&[(1, 3, &[0]), (2, 4, &[0])]), 0).is_empty());
        assert_eq!(ledger.session_token(Area::Items), "1:-1#3,2:-1#4");
        assert_eq!(ledger.acknowledge(&[commit(0, 9)]).len(), 1);
        let mut ledger = Ledger { acknowledged: BTreeMap::new(), ..ledger };
        assert!(
            !ledger.restarted(Area::Items, &ranges(&[(0, 9, &[]), (1, 3, &[0]), (2, 4, &[0])]), 0).is_empty()
        );
    }
}
