//! The workers of a process: started when they are needed, kept for a while, used by one owner each.
//!
//! A worker is this same program, started again with one word on its command line ([`WORKER_COMMAND`]), an empty
//! environment and two pipes. Tests of other crates, whose programs know no such word, may have threads instead.

use std::io::{PipeReader, PipeWriter, pipe};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak, mpsc};

use parking_lot::{Mutex, MutexGuard};

use crate::error::ScriptError;
use crate::limits::{IDLE_WORKER_PERIOD, IDLE_WORKERS_MAX, WORKERS_MAX};
use crate::worker::{Owner, Worker};

/// What a program is started with to become a worker.
pub const WORKER_COMMAND: &str = "script-worker";

/// How a worker is started.
#[derive(Debug, Clone)]
pub enum WorkerStart {
    /// As a process of this same program.
    ThisProgram,
    /// As a process of another one.
    Program(PathBuf),
    /// As a thread that is given its two pipes. It cannot be killed, and takes this process along if it dies: for tests
    /// of what scripts do, not of what they must not do.
    Thread(fn(PipeReader, PipeWriter)),
}

/// Workers. Cheap to clone.
#[derive(Clone)]
pub struct Workers {
    inner: Arc<Inner>,
}

struct Inner {
    start: WorkerStart,
    /// Those without work, the longest waiting first.
    idle: Mutex<Vec<Worker>>,
    spawner: Mutex<Option<Spawner>>,
    started: AtomicU64,
    /// A share of this is held by every worker there is.
    places: Arc<()>,
}

impl Inner {
    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock()
    }

    /// Ends those that have had no work for a period and more.
    fn end_stale(&self) {
        let _ended: Vec<Worker> = self.idle().extract_if(.., |worker| worker.grow_stale()).collect();
    }
}

/// How many workers there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkerFigures {
    /// Started so far.
    pub started: u64,
    /// Those that wait for the next script.
    pub idle: usize,
}

impl Workers {
    /// Makes workers that are started in some way, none yet.
    pub fn new(start: WorkerStart) -> Workers {
        let (idle, spawner) = (Mutex::default(), Mutex::default());
        Workers {
            inner: Arc::new(Inner { start, idle, spawner, started: AtomicU64::new(0), places: Arc::new(()) }),
        }
    }

    /// Returns how many there were and are.
    pub fn figures(&self) -> WorkerFigures {
        WorkerFigures { started: self.inner.started.load(Ordering::Relaxed), idle: self.idle().len() }
    }

    /// Takes a worker that has run nothing but scripts of an owner.
    pub(crate) fn take(&self, owner: Owner) -> Result<Worker, ScriptError> {
        let found = {
            let mut idle = self.idle();
            idle.retain(|worker| worker.owner() != Some(owner) || !worker.is_gone());
            let place = idle
                .iter()
                .rposition(|worker| worker.owner() == Some(owner))
                .or_else(|| idle.iter().rposition(|worker| worker.owner().is_none()));
            place.map(|place| idle.remove(place))
        };
        let mut worker = match found {
            Some(worker) => worker,
            None => self.start()?,
        };
        worker.set_owner(owner);
        worker.refresh();
        Ok(worker)
    }

    /// Keeps a worker for the next script, unless it is spent.
    pub(crate) fn give_back(&self, worker: Worker) {
        if worker.is_spent() {
            return;
        }
        let _longest_waiting = {
            let mut idle = self.idle();
            idle.push(worker);
            (idle.len() > IDLE_WORKERS_MAX).then(|| idle.remove(0))
        };
    }

    /// Ends the workers without work.
    pub fn rest(&self) {
        let _ended = std::mem::take(&mut *self.idle());
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.inner.idle()
    }

    fn start(&self) -> Result<Worker, ScriptError> {
        let failed = |error: std::io::Error| ScriptError::Sandbox(error.to_string());
        let place = self.inner.places.clone();
        if Arc::strong_count(&place) > WORKERS_MAX + 1 {
            return Err(ScriptError::Sandbox(format!("there are {WORKERS_MAX} workers, the most")));
        }
        let (their_input, our_output) = pipe().map_err(failed)?;
        let (our_input, their_output) = pipe().map_err(failed)?;
        let process = match &self.inner.start {
            WorkerStart::Thread(serve) => {
                let serve = *serve;
                let thread = std::thread::Builder::new().name("script-worker".to_owned());
                thread.spawn(move || serve(their_input, their_output)).map_err(failed)?;
                None
            }
            WorkerStart::ThisProgram => {
                // Not by its name: the file may have been replaced by a newer one.
                let path = match cfg!(target_os = "linux") {
                    true => PathBuf::from("/proc/self/exe"),
                    false => std::env::current_exe().map_err(failed)?,
                };
                Some(self.spawn(path, their_input, their_output)?)
            }
            WorkerStart::Program(path) => Some(self.spawn(path.clone(), their_input, their_output)?),
        };
        self.inner.started.fetch_add(1, Ordering::Relaxed);
        Worker::begin(our_output, our_input, process, place)
    }

    fn spawn(
        &self,
        path: PathBuf,
        input: PipeReader,
        output: PipeWriter,
    ) -> Result<std::process::Child, ScriptError> {
        let mut command = Command::new(path);
        command
            .arg(WORKER_COMMAND)
            // Keys may be in the environment. The one thing that is said to it: there are no time zones.
            .env_clear()
            .env("TZ", "UTC0")
            .current_dir("/")
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(output))
            .stderr(Stdio::null());
        let mut spawner = self.inner.spawner.lock();
        let spawned = match spawner.as_ref() {
            Some(spawner) => spawner.spawn(command),
            None => {
                let begun = Spawner::begin(Arc::downgrade(&self.inner))
                    .map_err(|error| ScriptError::Sandbox(error.to_string()))?;
                spawner.insert(begun).spawn(command)
            }
        };
        spawned.map_err(|error| ScriptError::Sandbox(format!("no worker can be started: {error}")))
    }
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").field("start", &self.inner.start).finish_non_exhaustive()
    }
}

/// The thread that starts processes, and ends those that have nothing to do.
///
/// Workers ask the system to be killed when their parent dies, and for the system the parent is the thread that started
/// them. So it is one that lives as long as its workers may.
struct Spawner {
    orders: mpsc::Sender<(Command, mpsc::Sender<std::io::Result<std::process::Child>>)>,
}

impl Spawner {
    fn begin(workers: Weak<Inner>) -> std::io::Result<Spawner> {
        let (orders, ordered) =
            mpsc::channel::<(Command, mpsc::Sender<std::io::Result<std::process::Child>>)>();
        std::thread::Builder::new().name("script-spawner".to_owned()).spawn(move || {
            loop {
                match ordered.recv_timeout(IDLE_WORKER_PERIOD) {
                    Ok((mut command, answer)) => {
                        let spawned = command.spawn();
                        // The pipes' other ends go with the command, so that a worker that dies is noticed.
                        drop(command);
                        if let Err(mpsc::SendError(Ok(mut unwanted))) = answer.send(spawned) {
                            let _ = unwanted.kill();
                            let _ = unwanted.wait();
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        if let Some(workers) = workers.upgrade() {
                            workers.end_stale();
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => return,
                }
            }
        })?;
        Ok(Spawner { orders })
    }

    fn spawn(&self, command: Command) -> std::io::Result<std::process::Child> {
        let gone = || std::io::Error::other("the thread that starts workers is gone");
        let (answer, answered) = mpsc::channel();
        self.orders.send((command, answer)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

#[cfg(test)]
mod tests;
