//! What a round and the whole run came to.

use std::fmt;
use std::time::Duration;

use crate::aim::Tally;
use crate::splitting::Splits;

/// What became of one round.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) round: u64,
    pub(crate) ended: &'static str,
    pub(crate) write_ms: u64,
    pub(crate) acknowledged: u64,
    pub(crate) in_flight: u64,
    /// Unanswered writes that had happened.
    pub(crate) kept: u64,
    /// Acknowledged transactions, which are among the acknowledged writes.
    pub(crate) transactions: u64,
    /// Transactions that failed, as they were made to.
    pub(crate) refused: u64,
    pub(crate) tree_changes: u64,
    /// What the round had of splits and merges, if there were to be any.
    pub(crate) splits: Option<Splits>,
    pub(crate) killed_while_starting: bool,
    pub(crate) check: Duration,
    pub(crate) ready: Duration,
    pub(crate) items: usize,
    pub(crate) verify: Duration,
    pub(crate) differences: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { round, ended, write_ms, acknowledged, in_flight, kept, tree_changes, items, .. } = self;
        let Report { transactions, refused, .. } = self;
        write!(
            f,
            "round {round:>4}: {ended} after {write_ms:>4} ms, {acknowledged:>5} acknowledged \
             ({transactions} transactions), {refused} refused, {in_flight:>2} in flight ({kept} kept), \
             {tree_changes:>2} tree changes, check {:>4} ms, ready {:>4} ms, {items} items \
             verified in {} ms",
            self.check.as_millis(),
            self.ready.as_millis(),
            self.verify.as_millis()
        )?;
        if let Some(Splits { met, finished, refused, walks, has_gone_on }) = &self.splits {
            let gone_on = if *has_gone_on { " and one that went on" } else { "" };
            write!(f, ", {finished} reshaped, {refused} refused, {walks} walks{gone_on}, met: {met}")?;
        }
        if self.killed_while_starting {
            f.write_str(", killed while starting")?;
        }
        if !self.differences.is_empty() {
            write!(f, ": {} DIFFERENCES", self.differences.len())?;
        }
        Ok(())
    }
}

/// What became of the run.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    passed: u64,
    differences: Vec<String>,
    failed: u64,
    acknowledged: u64,
    in_flight: u64,
    kept: u64,
    transactions: u64,
    refused: u64,
    tree_changes: u64,
    met: Option<Tally>,
    reshaped: u64,
    walks: u64,
    walks_gone_on: u64,
    ready: Vec<Duration>,
    check: Vec<Duration>,
}

/// Differences that are printed; a folder that is broken through has thousands.
const DIFFERENCES_SHOWN_MAX: usize = 20;

impl Summary {
    pub(crate) fn add(&mut self, report: &Report) {
        self.passed += u64::from(report.differences.is_empty());
        self.acknowledged += report.acknowledged;
        self.in_flight += report.in_flight;
        self.kept += report.kept;
        self.transactions += report.transactions;
        self.refused += report.refused;
        self.tree_changes += report.tree_changes;
        if let Some(splits) = &report.splits {
            self.met.get_or_insert_default().add(splits.met);
            self.reshaped += splits.finished;
            self.walks += splits.walks;
            self.walks_gone_on += u64::from(splits.has_gone_on);
        }
        self.ready.push(report.ready);
        self.check.push(report.check);
    }

    pub(crate) fn failed(&mut self, differences: &[String]) {
        self.failed += 1;
        self.differences.extend_from_slice(differences);
    }

    /// Says whether nothing has failed.
    pub(crate) fn is_passed(&self) -> bool {
        self.failed == 0
    }

    /// Prints the summary; returns whether nothing failed.
    pub(crate) fn print(&mut self, seed: u64) -> bool {
        for difference in self.differences.iter().take(DIFFERENCES_SHOWN_MAX) {
            println!("DIFFERENCE: {difference}");
        }
        if self.differences.len() > DIFFERENCES_SHOWN_MAX {
            println!("and {} more", self.differences.len() - DIFFERENCES_SHOWN_MAX);
        }
        println!(
            "{} writes acknowledged, {} of them transactions; {} transactions refused; {} writes unanswered of which \
             {} had happened; {} changes of databases and containers",
            self.acknowledged, self.transactions, self.refused, self.in_flight, self.kept, self.tree_changes
        );
        if let Some(met) = &self.met {
            println!("{met}");
            println!(
                "{} splits and merges completed while serving; {} walks through all items, {} of them over a restart",
                self.reshaped,
                self.walks + self.walks_gone_on,
                self.walks_gone_on
            );
        }
        println!("start to ready: {}; check: {}", spread(&mut self.ready), spread(&mut self.check));
        if self.failed > 0 {
            println!("failed with --seed {seed}");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0
    }
}

fn spread(durations: &mut [Duration]) -> String {
    durations.sort_unstable();
    match (durations.get(durations.len() / 2), durations.last()) {
        (Some(median), Some(max)) => format!("median {} ms, max {} ms", median.as_millis(), max.as_millis()),
        _ => "never".to_owned(),
    }
}
