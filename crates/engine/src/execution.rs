//! Running scripts, and what goes with them, as one transaction of a logical partition.
//!
//! An attempt begins a transaction, runs its work on a thread that may block, and commits. If another writer came
//! between, the work is run again on a newer snapshot; after a few attempts the logical partition is held, so that
//! nobody can. Work must therefore do nothing that cannot be undone but through its [`Execution`].
//!
//! Only the last attempt is charged, and only once, when it is over: how often work had to be repeated depends on the
//! neighbours, and a charge does not.
//!
//! Not here: what scripts can reach (`collection`), and what the work is (`procedures`, `triggers`).

mod collection;
mod turns;

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use armilla_container::{Position, ReadCost, RequestUnits, Transaction, Work, price};
use armilla_env::Env;
use armilla_governor::Priority;
use armilla_script::{Finished, Outcome, Program, Role, Run, ScriptError};
use armilla_value::PartitionKey;

use crate::blocking;
use crate::containers::ContainerHandle;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{SCRIPT_ATTEMPTS_MAX, SCRIPT_CHARGE_MAX, SCRIPT_CLOSING_PERCENT, SCRIPT_SPRINT};
use crate::open::Engine;
use turns::Turn;

pub(crate) use turns::ScriptTurns;

/// What a transaction gave, once it is stored.
pub(crate) struct Transacted<T> {
    pub(crate) value: T,
    pub(crate) charge: RequestUnits,
    pub(crate) position: Position,
}

impl Engine {
    /// Runs work as one transaction of a logical partition.
    pub(crate) async fn transact<T, W>(
        &self,
        handle: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
        cost: ReadCost,
        priority: Priority,
        work: W,
    ) -> Result<Transacted<T>>
    where
        T: Send + 'static,
        W: Fn(&mut Execution) -> Result<T> + Send + Sync + 'static,
    {
        let work = Arc::new(work);
        let mut attempt = 0;
        loop {
            let began = self.env().clock.elapsed();
            let begun = handle.container().begin(partition_key, attempt, cost, priority).await;
            let transaction = begun.map_err(|error| handle.translate(error))?;
            // The turn comes after the transaction, which may wait for one that holds the logical partition and has no
            // turn yet.
            let turns = (handle.script_turns().next().await, self.script_turns().next().await);
            let (handle, engine, work) = (handle.clone(), self.clone(), work.clone());
            let (execution, outcome) = blocking::run("script", move || {
                let mut execution = Execution::new(handle, transaction, cost, &engine, turns);
                let outcome = work(&mut execution);
                // They end with the run, also where nobody waits for it any more.
                execution.turns = None;
                (execution, outcome)
            })
            .await?;
            let meter = execution.transaction.meter();
            let finished = execution.finish(outcome).await;
            let charge = match &finished {
                Err(error) if error.kind == ErrorKind::Conflict && attempt + 1 < SCRIPT_ATTEMPTS_MAX => {
                    attempt += 1;
                    continue;
                }
                Err(error) => error.charge,
                Ok(transacted) => transacted.charge,
            };
            meter.spend(charge, self.env().clock.elapsed().saturating_sub(began));
            return finished;
        }
    }
}

/// One attempt at a transaction: what its scripts can reach, and what they have spent.
pub(crate) struct Execution {
    handle: Arc<ContainerHandle>,
    transaction: Transaction,
    env: Env,
    cost: ReadCost,
    /// When further operations are refused, on the clock of elapsed time.
    closing: Duration,
    /// When a script is stopped.
    end: Duration,
    /// Its turns, while scripts may run: the container's and the account's.
    turns: Option<(Turn, Turn)>,
    /// How much the logical partition may hold; all of the container if it has no key.
    bytes_max: u64,
    /// How much it held at about the beginning, once it was asked for.
    bytes_before: OnceCell<u64>,
    /// What scripts and their queries cost; the transaction knows the rest.
    charge: RequestUnits,
    /// A failure that is not for a script to decide about, met while one ran.
    broken: Option<Error>,
}

impl Execution {
    fn new(
        handle: Arc<ContainerHandle>,
        transaction: Transaction,
        cost: ReadCost,
        engine: &Engine,
        turns: (Turn, Turn),
    ) -> Execution {
        let (now, script_time) = (engine.env().clock.elapsed(), engine.script_time());
        Execution {
            transaction,
            env: engine.env().clone(),
            cost,
            closing: now + script_time * SCRIPT_CLOSING_PERCENT / 100,
            end: now + script_time,
            turns: Some(turns),
            bytes_max: match handle.is_fixed() {
                true => engine.limits().fixed_container_bytes,
                false => engine.limits().logical_partition_bytes_max,
            },
            handle,
            bytes_before: OnceCell::new(),
            charge: RequestUnits::ZERO,
            broken: None,
        }
    }

    /// Returns the transaction itself, for what is done beside scripts.
    pub(crate) fn transaction(&mut self) -> &mut Transaction {
        &mut self.transaction
    }

    pub(crate) fn handle(&self) -> &ContainerHandle {
        &self.handle
    }

    /// Runs a script. Also returns what it logged, if that is kept.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        role: Role<'_>,
        keeps_log: bool,
    ) -> (Result<Finished>, Option<String>) {
        let (clock, end, began) = (self.env.clock.clone(), self.end, self.env.clock.elapsed());
        let mut turns = self.turns.take();
        let expired = || {
            let now = clock.elapsed();
            // It leaves its turn to those that will be done soon.
            if now.saturating_sub(began) >= SCRIPT_SPRINT
                && let Some((of_container, of_account)) = &mut turns
            {
                of_container.become_long();
                of_account.become_long();
            }
            now >= end
        };
        let workers = self.handle.script_workers().clone();
        let owner = self.handle.script_owner();
        let run = Run { owner, program, role, keeps_log, expired: Box::new(expired) };
        let Outcome { result, log, steps } = armilla_script::run(&workers, run, self);
        self.turns = turns;
        self.charge += price(&Work::Script { steps }, self.cost);
        let result = match self.broken.take() {
            Some(error) => Err(error),
            None => result.map_err(failed),
        };
        (result, keeps_log.then_some(log))
    }

    fn charge(&self) -> RequestUnits {
        self.charge + self.transaction.charge()
    }

    /// Returns whether a script should come to its end: time, request units or room are running out.
    fn is_closing(&self) -> bool {
        self.transaction.is_full()
            || self.charge() >= SCRIPT_CHARGE_MAX
            || self.env.clock.elapsed() >= self.closing
    }

    /// Stores what was done if it went well. A script that ended late is stored all the same.
    async fn finish<T>(self, outcome: Result<T>) -> Result<Transacted<T>> {
        let charge = self.charge();
        let position = self.transaction.position();
        let charged =
            |error: Error| Error { charge, position: Some(error.position.unwrap_or(position)), ..error };
        let value = outcome.map_err(charged)?;
        let committed = self.transaction.commit().await;
        let position = committed.map_err(|error| charged(self.handle.translate(error)))?;
        Ok(Transacted { value, charge, position })
    }
}

/// Says how a script failed in the words that clients know.
fn failed(error: ScriptError) -> Error {
    let message = match &error {
        ScriptError::Thrown { message, .. } => message.clone(),
        other => other.to_string(),
    };
    let kind = match error {
        ScriptError::Thrown { number, .. } => ErrorKind::ScriptFailed(number),
        ScriptError::OutOfMemory | ScriptError::Ended => ErrorKind::ScriptFailed(None),
        ScriptError::OutOfTime => ErrorKind::ScriptTimeout,
        ScriptError::ResponseTooLong | ScriptError::ResultTooLong => ErrorKind::ScriptResultTooLarge,
        ScriptError::NotAFunction(_) | ScriptError::TooLong => ErrorKind::ScriptInvalid,
        ScriptError::Arguments(_) => return Error::invalid(message),
        ScriptError::Sandbox(_) => return Error::new(ErrorKind::Unavailable, message),
        ScriptError::Result(_) | ScriptError::Unknown => return Error::new(ErrorKind::Internal, message),
    };
    Error::new(kind, format!("Encountered exception while executing Javascript. Exception = {message}"))
}
