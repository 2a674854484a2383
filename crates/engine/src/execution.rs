//! Running scripts, and what goes with them, in a transaction of a logical partition.
//!
//! Each attempt runs on a thread that may block, when it is its turn. A script reaches its items through its
//! [`Execution`] alone, so it can be run again if another writer came between.
//!
//! Not here: transactions themselves (`transactions`), what scripts can reach (`collection`), and what the work is
//! (`procedures`, `triggers`).

mod collection;
mod footprint;
mod turns;

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use armilla_container::{self as container, Work};
use armilla_script::{Finished, Outcome, Program, Role, Run, ScriptError};
use armilla_value::PartitionKey;

use crate::access::Caller;
use crate::blocking;
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{SCRIPT_CHARGE_MAX, SCRIPT_CLOSING_PERCENT, SCRIPT_SPRINT, SCRIPT_WINDOW_SHARE};
use crate::transactions::{Ending, Transacted, Transaction};
use turns::Turn;

pub use footprint::{Footprint, Touch};
pub(crate) use turns::ScriptTurns;

impl Engine {
    /// Runs work with scripts as one transaction of a logical partition.
    pub(crate) async fn run_scripts<T, W>(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
        ending: Ending,
        work: W,
    ) -> Result<Transacted<T>>
    where
        T: Send + 'static,
        W: Fn(&mut Execution) -> Result<T> + Send + Sync + 'static,
    {
        let work = Arc::new(work);
        let run = |transaction: Transaction| {
            let (engine, work) = (self.clone(), work.clone());
            async move {
                // The turn comes after the transaction, which may wait for one that holds the logical partition and has
                // no turn yet.
                let turns =
                    (transaction.handle().script_turns().next().await, engine.script_turns().next().await);
                blocking::run("script", move || {
                    let mut execution = Execution::new(transaction, &engine, turns);
                    let outcome = work(&mut execution);
                    // Its turns end with the run, also if the caller does not wait for it any more.
                    (execution.transaction, outcome)
                })
                .await
            }
        };
        self.transact_with(caller, container, partition_key, ending, run).await
    }
}

/// What the scripts of one attempt at a transaction can reach, and what bounds them.
pub(crate) struct Execution {
    transaction: Transaction,
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
    /// A failure that is not for a script to decide about, met while one ran.
    broken: Option<Error>,
    footprint: Footprint,
}

impl Execution {
    fn new(transaction: Transaction, engine: &Engine, turns: (Turn, Turn)) -> Execution {
        let (now, script_time) = (engine.env().clock.elapsed(), engine.script_time());
        Execution {
            closing: now + script_time * SCRIPT_CLOSING_PERCENT / 100,
            end: now + script_time,
            turns: Some(turns),
            bytes_max: match transaction.handle().is_fixed() {
                true => engine.limits().fixed_container_bytes,
                false => engine.limits().logical_partition_bytes_max,
            },
            transaction,
            bytes_before: OnceCell::new(),
            broken: None,
            footprint: Footprint::default(),
        }
    }

    /// Returns the transaction itself, for what is done beside scripts.
    pub(crate) fn transaction(&mut self) -> &mut container::Transaction {
        self.transaction.inner()
    }

    pub(crate) fn handle(&self) -> &ContainerHandle {
        self.transaction.handle()
    }

    /// Returns what scripts have done so far.
    pub(crate) fn take_footprint(&mut self) -> Footprint {
        std::mem::take(&mut self.footprint)
    }

    /// Runs a script. Also returns what it logged, if that is kept.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        role: Role<'_>,
        keeps_log: bool,
    ) -> (Result<Finished>, Option<String>) {
        let clock = self.transaction.env().clock.clone();
        let (end, began) = (self.end, clock.elapsed());
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
        let handle = self.transaction.handle();
        let (workers, owner) = (handle.script_workers().clone(), handle.script_owner());
        let run = Run { owner, program, role, keeps_log, expired: Box::new(expired) };
        let Outcome { result, log, steps } = armilla_script::run(&workers, run, self);
        self.turns = turns;
        self.transaction.spend(&Work::Script { steps });
        let result = match self.broken.take() {
            Some(error) => Err(error),
            None => result.map_err(failed),
        };
        (result, keeps_log.then_some(log))
    }

    /// Returns whether a script should come to its end: time, request units or room are running out.
    fn is_closing(&self) -> bool {
        self.transaction.inner_ref().is_full()
            || self.transaction.charge() >= SCRIPT_CHARGE_MAX
            || self.transaction.env().clock.elapsed() >= self.closing
    }

    /// Returns how many operations can be begun without asking before each whether it should come to its end: none once a
    /// good part of the request units is spent, since the next reads may be of large items.
    fn window(&self) -> u64 {
        let is_asked = self.is_closing()
            || self.transaction.charge().hundredths() >= SCRIPT_CHARGE_MAX.hundredths() / SCRIPT_WINDOW_SHARE;
        if is_asked { 0 } else { self.transaction.inner_ref().writes_left() as u64 }
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
    let doing = if kind == ErrorKind::ScriptInvalid { "compiling" } else { "executing" };
    Error::new(kind, format!("Encountered exception while {doing} Javascript. Exception = {message}"))
}
