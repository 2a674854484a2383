//! User-defined functions of queries.

use armilla_value::{Value, json};
use parking_lot::Mutex;

use crate::error::ScriptError;
use crate::limits::RESULT_BYTES_MAX;
use crate::program::Program;
use crate::wire::{Argument, Notice, Order};
use crate::worker::{Owner, Worker};
use crate::workers::Workers;

/// A place where functions run. They share its global variables, and nothing with any other sandbox.
pub struct Sandbox {
    workers: Workers,
    state: Mutex<State>,
}

struct State {
    /// None once it is gone, with what became of it.
    worker: Result<Worker, ScriptError>,
    expired: Box<dyn FnMut() -> bool + Send>,
}

impl Sandbox {
    /// Makes a sandbox without functions. It asks now and then whether the time of its scripts is over.
    pub fn new(
        workers: &Workers,
        owner: Owner,
        expired: impl FnMut() -> bool + Send + 'static,
    ) -> Result<Sandbox, ScriptError> {
        let mut worker = workers.take(owner)?;
        worker.send(&Order::Functions)?;
        let state = State { worker: Ok(worker), expired: Box::new(expired) };
        Ok(Sandbox { workers: workers.clone(), state: Mutex::new(state) })
    }

    /// Adds a function under a name that none has yet.
    pub fn add(&mut self, name: &str, program: &Program) -> Result<(), ScriptError> {
        let state = self.state.get_mut();
        state.with(|worker, expired| {
            worker.send(&Order::Add { name, program: program.number() })?;
            let added = worker.hear(expired, |notice| match notice {
                Notice::NeedBody => Some(None),
                Notice::Checked(added) => Some(Some(added)),
                _ => None,
            })?;
            match added {
                Some(added) => Ok(added),
                None => worker.ask(&Order::Body(program.body()), expired, |notice| match notice {
                    Notice::Checked(added) => Some(added),
                    _ => None,
                }),
            }
        })?
    }

    /// Calls a function. `Ok(None)` is an undefined result.
    pub fn call(&self, name: &str, arguments: &[Value]) -> Result<Option<Value>, ScriptError> {
        let texts: Vec<String> = arguments.iter().map(json::to_string).collect();
        let arguments = arguments.iter().zip(&texts).map(|(value, text)| match value {
            // JSON has no word for these, and JavaScript has.
            Value::Double(number) if !number.is_finite() => Argument::Number(*number),
            _ => Argument::Json(text),
        });
        let order = Order::Call { name, arguments: arguments.collect() };
        let mut state = self.state.lock();
        state.with(|worker, expired| {
            worker.ask(&order, expired, |notice| match notice {
                Notice::Returned(Ok(Some(text))) if text.len() > RESULT_BYTES_MAX => {
                    Some(Err(ScriptError::ResultTooLong))
                }
                Notice::Returned(Ok(Some(text))) => Some(match json::parse(text.as_bytes()) {
                    Ok(value) => Ok(Some(value)),
                    Err(error) => Err(ScriptError::Result(error.to_string())),
                }),
                Notice::Returned(Ok(None)) => Some(Ok(None)),
                Notice::Returned(Err(error)) => Some(Err(error)),
                _ => None,
            })
        })?
    }
}

impl State {
    /// Lets the worker do something, as long as there is one. What ended it is said again and again.
    fn with<R>(
        &mut self,
        work: impl FnOnce(&mut Worker, &mut dyn FnMut() -> bool) -> Result<R, ScriptError>,
    ) -> Result<R, ScriptError> {
        let worker = self.worker.as_mut().map_err(|ended| ended.clone())?;
        let done = work(worker, &mut *self.expired);
        if let Err(error) = &done {
            self.worker = Err(error.clone());
        }
        done
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if let Ok(mut worker) = std::mem::replace(&mut state.worker, Err(ScriptError::Ended))
            && worker.send(&Order::Close).is_ok()
        {
            self.workers.give_back(worker);
        }
    }
}
