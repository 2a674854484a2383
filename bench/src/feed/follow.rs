//! Durable upserts beside followers that wait for changes: what followers cost writers, and how soon they hear of a write.
//!
//! A follower has a connection of its own, begins at the present end of the feed, and asks for the next page with a wait.
//! Each must see the newest version of every item that was written, or the measurement fails.

mod board;
mod follower;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use armilla_crash::process_figures;
use armilla_env::Env;

use super::FeedOptions;
use super::folder::{DataFolder, SERVER};
use crate::items::Items;
use crate::measure::Latencies;
use crate::server::Setup;
use board::Board;

/// How long the machine rests before a measurement, so that work in the background of the last one ends.
const REST: Duration = Duration::from_millis(500);

/// Writers and followers at work: what is asked, and what came of it.
pub(super) struct Following {
    pub(super) followers: usize,
    /// Writes a second of all writers, or 0 for as many as are answered.
    pub(super) writes_per_second: f64,
    /// Of the best round by writes a second, or of all rounds where there is a rate.
    pub(super) outcome: Outcome,
}

/// What came of it.
pub(super) struct Outcome {
    pub(super) writes: Latencies,
    pub(super) took: Duration,
    /// Processor time of the server.
    pub(super) cpu: Duration,
    /// From the acknowledgement of a write to its delivery, for every write and follower.
    pub(super) delays: Latencies,
    /// Pages with changes that followers got.
    pub(super) pages: u64,
}

impl Following {
    pub(super) fn new(followers: usize, writes_per_second: f64) -> Following {
        Following { followers, writes_per_second, outcome: Outcome::new() }
    }

    fn add(&mut self, outcome: Outcome) {
        if self.writes_per_second > 0.0 {
            self.outcome.add(&outcome);
        } else if self.outcome.per_second() < outcome.per_second() {
            self.outcome = outcome;
        }
    }
}

impl Outcome {
    fn new() -> Outcome {
        Outcome {
            writes: Latencies::new(),
            took: Duration::ZERO,
            cpu: Duration::ZERO,
            delays: Latencies::new(),
            pages: 0,
        }
    }

    fn add(&mut self, other: &Outcome) {
        self.writes.add(&other.writes);
        self.took += other.took;
        self.cpu += other.cpu;
        self.delays.add(&other.delays);
        self.pages += other.pages;
    }

    /// Returns writes a second.
    pub(super) fn per_second(&self) -> f64 {
        if self.took.is_zero() { 0.0 } else { self.writes.operations() as f64 / self.took.as_secs_f64() }
    }

    /// Returns deliveries a second, of all followers together.
    pub(super) fn deliveries_per_second(&self) -> f64 {
        if self.took.is_zero() { 0.0 } else { self.delays.operations() as f64 / self.took.as_secs_f64() }
    }

    /// Returns how many changes a page had.
    pub(super) fn page_changes(&self) -> f64 {
        self.delays.operations() as f64 / self.pages.max(1) as f64
    }

    pub(super) fn cpu_us_per_write(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.writes.operations().max(1) as f64
    }
}

/// Returns what is left of the writes a second without followers, where writers go as fast as they can.
pub(super) fn ratio(followings: &[Following], following: &Following) -> Option<f64> {
    let is_alone =
        |own: &&Following| own.followers == 0 && own.writes_per_second == following.writes_per_second;
    let alone = followings.iter().find(is_alone)?;
    (following.followers > 0).then(|| following.outcome.per_second() / alone.outcome.per_second())
}

/// Measures all of them, in turn, on one server.
pub(super) fn measure(
    options: &FeedOptions,
    setup: &Setup,
    env: &Env,
    data: &DataFolder,
    items: Items,
    followings: &mut [Following],
) -> Result<()> {
    let servers = data.servers(setup, env)?;
    let server = servers.start(SERVER)?;
    let rounds = options.rounds.max(1);
    for round in 0..rounds {
        eprintln!("follow, round {} of {rounds}", round + 1);
        for following in followings.iter_mut() {
            std::thread::sleep(REST);
            let Following { followers, writes_per_second, .. } = *following;
            let board = Arc::new(Board::new(env, items));
            let stream = writer::Stream {
                address: server.address,
                connections: options.connections,
                per_second: writes_per_second,
                seconds: options.seconds,
            };
            let cpu_before = process_figures::cpu_time(server.pid())?;
            let mut outcome = follow(&board, &stream, followers)?;
            outcome.cpu = process_figures::cpu_time(server.pid())?.saturating_sub(cpu_before);
            eprintln!(
                "  {followers} followers: {:.0} writes a second, delay p50 {:.0} us, p99 {:.0} us",
                outcome.per_second(),
                outcome.delays.quantile_us(0.5),
                outcome.delays.quantile_us(0.99)
            );
            following.add(outcome);
        }
    }
    servers.stop(server)
}

fn follow(board: &Arc<Board>, stream: &writer::Stream, followers: usize) -> Result<Outcome> {
    let following = follower::begin(board, stream.address, followers);
    let written = board.wait_for_followers(followers, &following).and_then(|()| writer::run(board, stream));
    if written.is_err() {
        board.give_up();
    }
    let followed = following.join().map_err(|_| anyhow!("the followers panicked"))?;
    // What went wrong with the followers explains why nobody could write beside them.
    let followed = followed?;
    let (writes, took) = written?;
    Ok(Outcome { writes, took, cpu: Duration::ZERO, delays: followed.delays, pages: followed.pages })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(writes: u64, seconds: u64) -> Outcome {
        let mut outcome = Outcome::new();
        (0..writes).for_each(|_| outcome.writes.record(Duration::from_micros(10)));
        outcome.took = Duration::from_secs(seconds);
        outcome
    }

    #[test]
    fn the_best_round_counts_or_all_do() {
        let mut at_will = Following::new(1, 0.0);
        let mut paced = Following::new(1, 10.0);
        for writes in [20, 40, 30] {
            at_will.add(outcome(writes, 2));
            paced.add(outcome(writes, 2));
        }
        assert!((at_will.outcome.per_second() - 20.0).abs() < 1e-9);
        assert_eq!(at_will.outcome.writes.operations(), 40);
        assert!((paced.outcome.per_second() - 15.0).abs() < 1e-9);
        assert_eq!(paced.outcome.writes.operations(), 90);
    }

    #[test]
    fn ratios_are_of_those_without_followers() {
        let mut followings = [Following::new(0, 0.0), Following::new(8, 0.0), Following::new(8, 5.0)];
        for (following, writes) in followings.iter_mut().zip([40, 30, 5]) {
            following.add(outcome(writes, 1));
        }
        assert_eq!(ratio(&followings, &followings[0]), None);
        assert_eq!(ratio(&followings, &followings[1]), Some(0.75));
        assert_eq!(ratio(&followings, &followings[2]), None);
    }
}
