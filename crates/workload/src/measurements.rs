//! Which measurements a run makes: each workload with each number of connections in each state.
//!
//! Invariant: no two measurements draw the same operations, or the later one would find in caches what the earlier one
//! has asked for; and each side gets the same ones.

use std::time::Duration;

use crate::catalogue::{self, Work, Workload};
use crate::circumstances::{Circumstances, State};
use crate::drive::Pace;
use crate::limits::STREAMS_MAX;
use crate::options::RunOptions;

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measurement {
    /// What is measured.
    pub(crate) workload: Workload,
    /// How.
    pub(crate) turn: Turn,
}

/// How one measurement is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Turn {
    /// With how many connections, in which state.
    pub(crate) circumstances: Circumstances,
    /// How fast and for how long.
    pub(crate) pace: Pace,
    /// What data and operations are drawn from.
    pub(crate) seed: u64,
    /// Which of a run's measurements it is.
    number: usize,
}

impl Turn {
    /// Returns how the measurement of that number is made.
    pub(crate) fn new(circumstances: Circumstances, pace: Pace, seed: u64, number: usize) -> Turn {
        Turn { circumstances, pace, seed, number }
    }

    /// Returns how many connections there are.
    pub(crate) fn connections(&self) -> usize {
        usize::from(self.circumstances.connections)
    }

    /// Returns the stream of operations that a connection draws, which no other measurement does.
    pub(crate) fn stream(&self, connection: usize) -> usize {
        self.number * STREAMS_MAX + connection
    }
}

/// Returns everything that options ask for: state by state, in each workload by workload.
pub(crate) fn measurements(options: &RunOptions) -> Vec<Measurement> {
    let workloads = catalogue::workloads(options);
    let pace = Pace {
        warm_up: Duration::from_secs_f64(options.warm_up),
        window: Duration::from_secs_f64(options.seconds),
        rate: options.rate,
    };
    let mut all = Vec::new();
    for state in states(options) {
        for workload in &workloads {
            if is_left_out(workload.work, state) {
                continue;
            }
            for connections in connections(options) {
                let circumstances = Circumstances { connections, state };
                let turn = Turn::new(circumstances, pace, options.seed, all.len());
                all.push(Measurement { workload: workload.clone(), turn });
            }
        }
    }
    all
}

/// Returns the states that are asked for, each once, in the order in which they come about.
pub(crate) fn states(options: &RunOptions) -> Vec<State> {
    State::ALL.into_iter().filter(|state| options.states.contains(state)).collect()
}

/// Returns the numbers of connections that are asked for, each once.
pub(crate) fn connections(options: &RunOptions) -> Vec<u16> {
    let mut each = Vec::new();
    for connections in &options.connections {
        if !each.contains(connections) {
            each.push(*connections);
        }
    }
    each
}

/// Whether a workload cannot be measured in a state: others write into a database of our own, which a blog has not.
pub(crate) fn is_left_out(work: Work, state: State) -> bool {
    state == State::Written && !work.needs_database()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        run: RunOptions,
    }

    fn all(arguments: &[&str]) -> Vec<Measurement> {
        measurements(&Line::parse_from(["bench"].iter().chain(arguments)).run)
    }

    #[test]
    fn every_workload_in_all_circumstances() {
        for (arguments, expected) in [
            (vec!["write"], vec!["write: 16 connections, loaded"]),
            (
                vec!["write", "mixed", "--connections", "1,16,1"],
                vec![
                    "write: 1 connection, loaded",
                    "write: 16 connections, loaded",
                    "mixed: 1 connection, loaded",
                    "mixed: 16 connections, loaded",
                ],
            ),
            (
                vec!["write", "--connections", "2", "--states", "rested,written,loaded,rested"],
                vec![
                    "write: 2 connections, loaded",
                    "write: 2 connections, written",
                    "write: 2 connections, rested",
                ],
            ),
            (
                vec!["blog", "--blog-versions", "2", "--states", "written,rested"],
                vec!["blog-v2: 16 connections, rested"],
            ),
        ] {
            let found: Vec<_> = all(&arguments)
                .into_iter()
                .map(|one| format!("{}: {}", one.workload.name, one.turn.circumstances))
                .collect();
            assert_eq!(found, expected, "{arguments:?}");
        }
    }

    #[test]
    fn no_two_connections_draw_the_same() {
        let all = all(&["all", "--connections", "1,1024", "--states", "loaded,written,rested"]);
        let mut streams = BTreeSet::new();
        for measurement in &all {
            for connection in 0..STREAMS_MAX {
                assert!(streams.insert(measurement.turn.stream(connection)));
            }
        }
        assert_eq!(streams.len(), all.len() * STREAMS_MAX);
    }
}
