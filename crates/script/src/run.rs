//! One execution of a stored procedure or a trigger: what is asked for, and what became of it.
//!
//! The script runs in a worker. What it wants of its collection comes back here as calls, which are answered in their
//! order (`answer`) until the worker says that it is done, or is stopped, or is gone.

use crate::answer;
use crate::collection::Collection;
use crate::error::ScriptError;
use crate::limits::{
    GATHERED_REPLIES_BYTES_MAX, KILLED_STEPS, LOG_BYTES_MAX, RESPONSE_BYTES_MAX, WINDOW_MAX,
};
use crate::program::Program;
use crate::role::{Finished, Role};
use crate::wire::{Call, Notice, Order};
use crate::worker::{Owner, Worker};
use crate::workers::Workers;

/// What is to be run, and how.
pub struct Run<'a> {
    /// Whose script it is.
    pub owner: Owner,
    /// The script.
    pub program: &'a Program,
    /// Its place.
    pub role: Role<'a>,
    /// Whether `console.log` is kept.
    pub keeps_log: bool,
    /// Says whether the time is over. Asked at every call of the script, and now and then in between.
    pub expired: Box<dyn FnMut() -> bool + Send + 'a>,
}

/// What became of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What it gave, or why it failed. All that it wrote is void then.
    pub result: Result<Finished, ScriptError>,
    /// What it logged, also if it failed.
    pub log: String,
    /// How much it computed; the same for the same script on the same documents.
    pub steps: u64,
}

/// Runs a script on a collection.
pub fn run(workers: &Workers, run: Run<'_>, collection: &mut dyn Collection) -> Outcome {
    let mut log = String::new();
    let mut worker = match workers.take(run.owner) {
        Ok(worker) => worker,
        Err(error) => return Outcome { result: Err(error), log, steps: 0 },
    };
    match execute(&mut worker, run, collection, &mut log) {
        Ok((result, steps)) => {
            workers.give_back(worker);
            Outcome { result, log, steps }
        }
        Err(Broken { error, steps }) => Outcome { result: Err(error), log, steps },
    }
}

/// An execution that left no worker behind.
struct Broken {
    error: ScriptError,
    steps: u64,
}

impl From<ScriptError> for Broken {
    fn from(error: ScriptError) -> Broken {
        let steps = match error {
            ScriptError::Sandbox(_) => 0,
            _ => KILLED_STEPS,
        };
        Broken { error, steps }
    }
}

fn execute(
    worker: &mut Worker,
    run: Run<'_>,
    collection: &mut dyn Collection,
    log: &mut String,
) -> Result<(Result<Finished, ScriptError>, u64), Broken> {
    let Run { owner: _, program, role, keeps_log, mut expired } = run;
    let (self_link, alt_link) = (collection.self_link(), collection.alt_link());
    let (self_link, alt_link) = (self_link.as_str(), alt_link.as_str());
    let mut window = collection.window().min(WINDOW_MAX);
    worker.send(&Order::Run { program: program.number(), role, keeps_log, window, self_link, alt_link })?;
    loop {
        worker.receive(&mut *expired)?;
        // Lent, because answers are sent while the rest of the calls is still read from it.
        let frames = worker.lend_frames();
        let mut done = None;
        match Notice::decode(frames.frame()) {
            Ok(Notice::Calls { accepted, .. }) if accepted > window => {
                return Err(ScriptError::Ended.into());
            }
            Ok(Notice::Calls { accepted, calls }) => {
                window = reply(worker, collection, accepted, calls, &mut *expired)?;
            }
            Ok(Notice::NeedBody) => worker.send(&Order::Body(program.body()))?,
            Ok(Notice::Log(text)) => append(log, text, keeps_log)?,
            Ok(Notice::Done { result, steps }) => {
                let longest =
                    result.as_ref().map_or(0, |done| done.response_body.as_ref().map_or(0, String::len));
                if longest > RESPONSE_BYTES_MAX {
                    return Err(ScriptError::Ended.into());
                }
                done = Some((result, steps));
            }
            Ok(Notice::OutOfMemory { steps }) => {
                return Err(Broken { error: ScriptError::OutOfMemory, steps });
            }
            Ok(Notice::Ready | Notice::Checked(_) | Notice::Returned(_)) | Err(_) => {
                return Err(ScriptError::Ended.into());
            }
        }
        worker.return_frames(frames);
        if let Some(done) = done {
            return Ok(done);
        }
    }
}

/// Answers calls, and returns how many more are accepted without being asked for.
fn reply(
    worker: &mut Worker,
    collection: &mut dyn Collection,
    accepted: u64,
    calls: Vec<Call<'_>>,
    expired: &mut dyn FnMut() -> bool,
) -> Result<u64, ScriptError> {
    let mut replies = Vec::new();
    for (position, call) in (0..).zip(calls) {
        // A script that does nothing but call is looked at here.
        if expired() {
            worker.stop()?;
            return Ok(0);
        }
        answer::answer(call, position < accepted, collection, &mut replies);
        if replies.len() >= GATHERED_REPLIES_BYTES_MAX {
            worker.send_frame(&replies)?;
            replies.clear();
        }
    }
    let window = collection.window().min(WINDOW_MAX);
    Order::Replied { window }.encode(&mut replies);
    worker.send_frame(&replies)?;
    Ok(window)
}

/// Adds a line to the log. The worker knows the bound; one that does not keep it is not to be trusted.
fn append(log: &mut String, text: &str, keeps_log: bool) -> Result<(), Broken> {
    let separator = if log.is_empty() { "" } else { "\n" };
    if !keeps_log || log.len() + separator.len() + text.len() > LOG_BYTES_MAX {
        return Err(ScriptError::Ended.into());
    }
    log.push_str(separator);
    log.push_str(text);
    Ok(())
}

#[cfg(test)]
mod tests;
