//! One measurement: of the server or of a peer, beside the writes of others where the state asks for them, with what is
//! checked of its answers.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use armilla_report::number;

use super::{Run, tell};
use crate::background::{BackgroundWrites, beside_writes};
use crate::catalogue::Work;
use crate::measurements::Measurement;
use crate::plan::Plan;
use crate::result::{self, Row, Subject};
use crate::side::Side;
use crate::{blog, drive, feed};

/// How long everything rests before a measurement, so that the connections of the last one are gone.
const REST: Duration = Duration::from_millis(200);

/// The stream of operations whose first query every side is asked to compare answers, and which is in no measurement.
const COMPARED_STREAM: usize = usize::MAX / 2;

/// What came of a measurement.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// What was measured.
    pub(super) rows: Vec<Row>,
    /// What went wrong first.
    pub(super) first_failure: Option<String>,
    /// A sentence for people.
    pub(super) note: Option<String>,
    /// How many rows the side has for a query about the same item as every other side.
    pub(super) answer: Option<u64>,
}

impl Outcome {
    fn new(mut rows: Vec<Row>, background: Option<BackgroundWrites>) -> Outcome {
        for row in rows.iter_mut().filter(|row| row.operation.is_none()) {
            row.background = background;
        }
        Outcome { rows, ..Outcome::default() }
    }
}

/// What sides answered to each query, which must be the same.
#[derive(Debug, Default)]
pub(super) struct Answers(BTreeMap<String, (String, u64)>);

impl Answers {
    /// Compares a side's answer with that of the first one that was asked.
    pub(super) fn compare(&mut self, workload: &str, side: &str, answer: u64) -> Result<()> {
        let (first, expected) =
            self.0.entry(workload.to_owned()).or_insert_with(|| (side.to_owned(), answer));
        ensure!(
            answer == *expected,
            "not all sides gave as many rows to {workload}: {first} {expected}, {side} {answer}"
        );
        Ok(())
    }
}

impl Run<'_> {
    /// Measures a workload of the server.
    pub(super) async fn measure_own(&self, measurement: &Measurement) -> Result<Outcome> {
        let (own, env, turn) = (&self.own, &self.env, &measurement.turn);
        let write_rate = self.options.write_rate;
        match measurement.workload.work {
            Work::Plan(plan) => self.measure_plan(own, plan, measurement).await,
            Work::FeedDrain => {
                self.begin(own, measurement).await;
                let draining = feed::drain(own, env, turn);
                let (rows, background) = beside_writes(env, own, turn, write_rate, draining).await?;
                let changes = rows[0].per_second() * rows[0].items_per_operation();
                let note = format!(
                    "{}: an operation is a page; {} changes a second",
                    rows[0].title(),
                    number::short(changes)
                );
                Ok(Outcome { note: Some(note), ..Outcome::new(rows, background) })
            }
            Work::FeedFollow => {
                self.begin(own, measurement).await;
                let following = feed::follow(own, env, turn);
                let (rows, background) = beside_writes(env, own, turn, write_rate, following).await?;
                Ok(Outcome::new(rows, background))
            }
            Work::Blog(version) => {
                self.begin(own, measurement).await;
                let (rows, measured) = blog::measure(&own.client, env, turn, version).await?;
                Ok(Outcome { first_failure: measured.first_failure, ..Outcome::new(rows, None) })
            }
        }
    }

    /// Measures a plan on any side.
    pub(super) async fn measure_plan(
        &self,
        side: &dyn Side,
        plan: Plan,
        measurement: &Measurement,
    ) -> Result<Outcome> {
        let Measurement { workload, turn } = measurement;
        self.begin(side, measurement).await;
        let answer = match plan {
            Plan::Query(_) => Some(answer(side, plan).await?),
            _ => None,
        };
        let entries_before = match plan {
            Plan::Script => side.count_entries().await?.entries,
            _ => 0,
        };
        let mut workers = Vec::new();
        for number in 0..turn.connections() {
            workers.push(side.worker(plan, turn.stream(number)).await?);
        }
        let driving = drive::drive(&self.env, turn.pace, plan.kinds().len(), workers, side.cpu_clock());
        let (measured, background) =
            beside_writes(&self.env, side, turn, self.options.write_rate, driving).await?;
        let circumstances = turn.circumstances;
        let subject = Subject { workload: &workload.name, side: side.name(), circumstances };
        let rows = result::rows(subject, plan.kinds(), &measured);
        if plan == Plan::Script {
            verify(side, &rows[0], entries_before).await?;
        }
        let first_failure = measured.first_failure;
        Ok(Outcome { first_failure, answer, ..Outcome::new(rows, background) })
    }

    async fn begin(&self, side: &dyn Side, measurement: &Measurement) {
        self.env.clock.sleep(REST).await;
        let Measurement { workload, turn } = measurement;
        tell(&format!("{} on {}, {} ...", workload.name, side.name(), turn.circumstances));
    }
}

/// Returns how many rows a side has for a query about the same item as every other side.
async fn answer(side: &dyn Side, plan: Plan) -> Result<u64> {
    let mut worker = side.worker(plan, COMPARED_STREAM).await?;
    worker.prepare();
    match worker.perform().await? {
        drive::Answer::Done(effort) => Ok(effort.items),
        drive::Answer::Refused { .. } => Err(anyhow!("{} has no throughput left for a query", side.name())),
    }
}

/// Checks that the counters of the workload `script` say what is there, and that nothing acknowledged is missing.
async fn verify(side: &dyn Side, row: &Row, entries_before: u64) -> Result<()> {
    let left = side.count_entries().await?;
    ensure!(
        left.entries == left.counted && left.entries >= entries_before + row.operations,
        "{} acknowledged {} transactions after {entries_before} and has {} entries, of which {} are counted",
        side.name(),
        row.operations,
        left.entries,
        left.counted
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_must_be_the_same() {
        let mut answers = Answers::default();
        answers.compare("query:range", "armilla", 100).unwrap();
        answers.compare("query:count", "armilla", 1).unwrap();
        answers.compare("query:range", "postgresql", 100).unwrap();
        let error = answers.compare("query:range", "postgresql-gin", 99).unwrap_err().to_string();
        assert_eq!(error, "not all sides gave as many rows to query:range: armilla 100, postgresql-gin 99");
    }

    #[test]
    fn what_others_wrote_is_said_of_the_whole() {
        let kind = Row { operation: Some("read".to_owned()), ..Row::default() };
        let background = Some(BackgroundWrites { rate: 2.0, per_second: 1.0 });
        let outcome = Outcome::new(vec![Row::default(), kind], background);
        let found: Vec<_> = outcome.rows.iter().map(|row| row.background).collect();
        assert_eq!(found, [background, None]);
    }
}
