//! Tells from what a server says of a container how far a split or merge is.

use armilla_client::{ContainerRow, PartitionRow};

use crate::limits::{POLLS_GIVEN_UP_MAX, POLLS_SILENT_MAX};

/// Where a split or merge stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Under way, so many percent.
    Running(u8),
    /// The new ranges serve.
    Done {
        /// Ranges that went.
        parents: Vec<String>,
        /// Ranges that came.
        children: Vec<String>,
    },
    /// The server gave it up, and why.
    GivenUp(String),
    /// Nobody needs it any more.
    ContainerGone,
}

/// Watches one split or merge.
pub(super) struct Watch {
    /// Ranges that there were before.
    before: Vec<String>,
    /// Ranges that go; none until the server is seen to have chosen.
    parents: Vec<String>,
    percent: u8,
    /// How often in a row it was neither under way nor done.
    idle_polls: u32,
}

impl Watch {
    /// Starts with what there was before the request.
    pub(super) fn new(before: &ContainerRow, parents: Vec<String>) -> Watch {
        let before = before.partitions.iter().map(|partition| partition.id.clone()).collect();
        Watch { before, parents, percent: 0, idle_polls: 0 }
    }

    /// Looks at what the server says now.
    pub(super) fn look(&mut self, container: Option<&ContainerRow>) -> Step {
        let Some(container) = container else { return Step::ContainerGone };
        let find = |id: &String| container.partitions.iter().find(|partition| partition.id == *id);
        if self.parents.is_empty() {
            // Which range the server chose shows in what it does to it.
            let chosen = self.before.iter().find(|id| find(id).is_none_or(is_splitting));
            self.parents = chosen.cloned().into_iter().collect();
        }
        let present: Vec<&PartitionRow> = self.parents.iter().filter_map(find).collect();
        if present.is_empty() && !self.parents.is_empty() {
            let descends = |partition: &&PartitionRow| {
                self.parents.iter().all(|parent| partition.parents.contains(parent))
            };
            let children =
                container.partitions.iter().filter(descends).map(|child| child.id.clone()).collect();
            return Step::Done { parents: self.parents.clone(), children };
        }
        if present.iter().any(|partition| is_splitting(partition)) {
            self.idle_polls = 0;
            let percent =
                present.iter().filter_map(|partition| partition.progress_percent).min().unwrap_or(0);
            self.percent = percent.clamp(self.percent, 99);
            return Step::Running(self.percent);
        }
        self.idle_polls += 1;
        match &container.failed {
            Some(why) if self.idle_polls > POLLS_GIVEN_UP_MAX => Step::GivenUp(why.clone()),
            None if self.idle_polls > POLLS_SILENT_MAX => {
                Step::GivenUp("the server does not say why".to_owned())
            }
            _ => Step::Running(self.percent),
        }
    }
}

fn is_splitting(partition: &PartitionRow) -> bool {
    partition.status != "online"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Partitions as id, status, progress, parents.
    fn container(partitions: &[(&str, &str, Option<u8>, &[&str])], failed: Option<&str>) -> ContainerRow {
        let partitions = partitions.iter().map(|(id, status, percent, parents)| PartitionRow {
            id: (*id).to_owned(),
            status: (*status).to_owned(),
            progress_percent: *percent,
            parents: parents.iter().map(ToString::to_string).collect(),
            ..PartitionRow::default()
        });
        ContainerRow {
            partitions: partitions.collect(),
            failed: failed.map(str::to_owned),
            ..ContainerRow::default()
        }
    }

    fn ids(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_split_runs_and_is_done() {
        let before = container(&[("0", "online", None, &[]), ("1", "online", None, &[])], None);
        for parents in [ids(&["1"]), ids(&[])] {
            let mut watch = Watch::new(&before, parents);
            assert_eq!(watch.look(Some(&before)), Step::Running(0));
            for (percent, shown) in
                [(Some(7), 7), (Some(40), 40), (Some(30), 40), (None, 40), (Some(100), 99)]
            {
                let now = container(&[("0", "online", None, &[]), ("1", "splitting", percent, &[])], None);
                assert_eq!(watch.look(Some(&now)), Step::Running(shown));
            }
            let after = [
                ("0", "online", None, &[][..]),
                ("2", "online", None, &["1"]),
                ("3", "online", None, &["1"]),
            ];
            let done = Step::Done { parents: ids(&["1"]), children: ids(&["2", "3"]) };
            assert_eq!(watch.look(Some(&container(&after, None))), done);
        }
    }

    #[test]
    fn a_split_that_was_too_fast_to_be_seen_is_done() {
        let before = container(&[("4", "online", None, &["0"])], None);
        let after =
            container(&[("5", "online", None, &["0", "4"]), ("6", "online", None, &["0", "4"])], None);
        let mut watch = Watch::new(&before, Vec::new());
        let done = Step::Done { parents: ids(&["4"]), children: ids(&["5", "6"]) };
        assert_eq!(watch.look(Some(&after)), done);
    }

    #[test]
    fn a_merge_is_done_when_both_are_gone() {
        let before = container(&[("1", "online", None, &["0"]), ("2", "online", None, &["0"])], None);
        let mut watch = Watch::new(&before, ids(&["1", "2"]));
        let now =
            container(&[("1", "splitting", Some(60), &["0"]), ("2", "splitting", Some(20), &["0"])], None);
        assert_eq!(watch.look(Some(&now)), Step::Running(20));
        let after = container(&[("3", "online", None, &["0", "1", "2"])], None);
        let done = Step::Done { parents: ids(&["1", "2"]), children: ids(&["3"]) };
        assert_eq!(watch.look(Some(&after)), done);
        assert_eq!(watch.look(None), Step::ContainerGone);
    }

    #[test]
    fn what_does_not_run_is_given_up_after_a_while() {
        for (failed, polls_max, why) in [
            (Some("disk full"), POLLS_GIVEN_UP_MAX, "disk full"),
            (None, POLLS_SILENT_MAX, "the server does not say why"),
        ] {
            let still = container(&[("0", "online", None, &[])], failed);
            let running = container(&[("0", "splitting", Some(5), &[])], failed);
            let mut watch = Watch::new(&still, ids(&["0"]));
            for round in 0..2 {
                for _ in 0..polls_max {
                    assert_eq!(watch.look(Some(&still)), Step::Running(5 * round));
                }
                if round == 0 {
                    assert_eq!(
                        watch.look(Some(&running)),
                        Step::Running(5),
                        "running starts the count again"
                    );
                }
            }
            assert_eq!(watch.look(Some(&still)), Step::GivenUp(why.to_owned()));
        }
    }
}
