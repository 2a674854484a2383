//! A request that runs: in the task that asks for it where that is short, on a thread of its own where it is not, while its
//! answers are sent.
//!
//! Invariants:
//! * traversals that have a thread are bounded, and so is what they have ready to be sent;
//! * a traversal in the task neither waits nor writes; what it is to write is written when it has ended (`trials`);
//! * a request whose client is gone ends at its next step;
//! * every request is answered, whatever happens to it.

use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_gremlin_wire::{BytecodeRequest, Eval, Format, RequestOptions};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, mpsc};

use crate::Shared;
use crate::connection::{Hold, MessageKind, Session};
use crate::execution::{Answered, Ended, Execution, Target};
use crate::failure::{Costs, Failure, FailureKind, written};
use crate::limits::{
    ANSWERS_AHEAD_MAX, TRAVERSAL_TIME_MAX, TRIAL_ANSWER_BYTES_MAX, TRIAL_MESSAGE_BYTES_MAX, TRIAL_TIME,
};
use crate::store::Deadline;
use crate::trials::Trial;

/// What a request asks to be run.
#[derive(Debug)]
pub(crate) enum Traversal {
    Script(Box<Eval>),
    Bytecode(Box<BytecodeRequest>),
}

impl Traversal {
    pub(crate) fn options(&self) -> &RequestOptions {
        match self {
            Traversal::Script(eval) => &eval.options,
            Traversal::Bytecode(request) => &request.options,
        }
    }

    /// Returns what traversals have in common that differ in their values alone.
    fn shape(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self {
            Traversal::Script(eval) => eval.script.hash(&mut hasher),
            Traversal::Bytecode(request) => {
                request.bytecode.steps.iter().for_each(|step| step.name.hash(&mut hasher));
            }
        }
        hasher.finish()
    }
}

/// A request that is to be run.
pub struct Job {
    pub(crate) shared: Arc<Shared>,
    /// The places of its connection, where it has one.
    pub(crate) places: Option<Arc<Semaphore>>,
    pub(crate) session: Session,
    pub(crate) kind: MessageKind,
    pub(crate) format: Format,
    pub(crate) id: u128,
    pub(crate) traversal: Traversal,
    /// The length of its message.
    pub(crate) bytes: usize,
    /// What is kept until it is done.
    pub(crate) _hold: Option<Hold>,
}

/// What came of beginning a request.
pub enum Begun {
    /// It is answered with these.
    Answered(MessageKind, Vec<Vec<u8>>),
    /// It goes on.
    Runs(Running),
}

/// A request that has begun, or is to begin on a thread.
pub struct Running {
    job: Job,
    /// What a trial came to, but for its writes: answers, and what makes the last one.
    tried: Option<(Vec<Vec<u8>>, Box<Ended>)>,
}

/// Where answers go.
pub trait Answers: Send + Sync {
    /// Sends an answer; false if no more can be sent.
    fn send(&self, kind: MessageKind, answer: Vec<u8>) -> impl Future<Output = bool> + Send;
}

/// Tells a traversal that its client is gone, when it is dropped.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Job {
    /// Runs it, and sends the answers. Dropping this gives it up.
    pub async fn run(self, answers: &impl Answers) {
        match self.begin() {
            Begun::Answered(kind, made) => send_all(answers, kind, made).await,
            Begun::Runs(running) => running.run(answers).await,
        }
    }

    /// Tries to do it right here, which takes a moment at most.
    pub fn begin(self) -> Begun {
        let on_thread = |job: Job| Begun::Runs(Running { job, tried: None });
        let shape = self.traversal.shape();
        let Ok(runtime) = Handle::try_current() else { return on_thread(self) };
        if self.bytes > TRIAL_MESSAGE_BYTES_MAX
            // The engine does short queries at once on such runtimes alone.
            || runtime.runtime_flavor() != RuntimeFlavor::MultiThread
            || !self.shared.trials.is_worth_it(shape)
        {
            return on_thread(self);
        }
        let trial = Trial::until(self.shared.env.clock.elapsed() + TRIAL_TIME);
        let (made, bytes) = (RefCell::new(Vec::new()), Cell::new(0));
        let take = |answer: Vec<u8>| {
            bytes.set(bytes.get() + answer.len());
            if bytes.get() > TRIAL_ANSWER_BYTES_MAX {
                trial.give_up();
                return false;
            }
            made.borrow_mut().push(answer);
            true
        };
        let ran = self.traverse(runtime, Arc::default(), Some(trial.clone()), &Target::Frames(&take));
        if trial.is_given_up() {
            self.shared.trials.failed(shape);
            return on_thread(self);
        }
        self.shared.trials.passed(shape);
        let mut made = made.into_inner();
        match ran {
            Ok(ended) if ended.has_writes() => {
                Begun::Runs(Running { job: self, tried: Some((made, Box::new(ended))) })
            }
            Ok(ended) => {
                made.push(ended.answered().answer);
                Begun::Answered(self.kind, made)
            }
            Err(failed) => {
                made.push(failed.answer);
                Begun::Answered(self.kind, made)
            }
        }
    }

    /// Runs it, and returns its one answer with the status of it.
    pub(crate) async fn run_whole(self) -> (u16, i32, Vec<u8>) {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let _waiting = Waiting(is_cancelled.clone());
        let Ok(place) = self.place().await else {
            return (500, 500, Vec::new());
        };
        let runtime = Handle::current();
        let running = tokio::task::spawn_blocking(move || {
            let _place = place;
            let ran = self.traverse(runtime, is_cancelled, None, &Target::Whole);
            let Answered { code, inner, answer } = ran.map_or_else(|failed| failed, Ended::answered);
            (code, inner, answer)
        });
        running.await.unwrap_or_else(|error| {
            tracing::error!("a traversal ended without an answer: {error}");
            (500, 500, Vec::new())
        })
    }

    /// Waits for a place on a thread: first among those of its connection, so that one client does not take them all.
    async fn place(&self) -> Result<(Option<OwnedSemaphorePermit>, OwnedSemaphorePermit), AcquireError> {
        let own = match &self.places {
            Some(places) => Some(places.clone().acquire_owned().await?),
            None => None,
        };
        Ok((own, self.shared.traversals.clone().acquire_owned().await?))
    }

    /// Runs it on this thread; returns what makes its last answer, or the answer that says why there is none.
    fn traverse(
        &self,
        runtime: Handle,
        is_cancelled: Arc<AtomicBool>,
        trial: Option<Trial>,
        target: &Target<'_>,
    ) -> Result<Ended, Answered> {
        let Job { shared, session, format, id, traversal, .. } = self;
        let clock = shared.env.clock.clone();
        let began = clock.elapsed();
        let end = began + time_of(shared, traversal.options());
        let deadline = Deadline { began, end, clock, is_cancelled, trial };
        let activity_id = shared.new_uuid();
        let execution =
            Execution { shared, session, format: *format, id: *id, activity_id, deadline, runtime };
        let ran = catch_unwind(AssertUnwindSafe(|| execution.run(traversal, target)));
        ran.unwrap_or_else(|panicked| {
            let text = panicked.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panicked.downcast_ref::<&str>().copied()).unwrap_or("no message");
            tracing::error!("a traversal panicked: {text}");
            let failure =
                Failure::new(500, 500, FailureKind::Internal, "the server made a mistake: its log says more");
            let costs = Costs { activity_id, ..Costs::default() };
            let answer = written(&failure.response(Some(*id), &costs), *format);
            Err(Answered { code: 500, inner: 500, answer })
        })
    }
}

impl Running {
    /// Runs it to its end, and sends the answers. Dropping this gives it up.
    pub async fn run(self, answers: &impl Answers) {
        let Running { job, tried } = self;
        if let Some((mut made, ended)) = tried {
            made.push(ended.write().await.answer);
            return send_all(answers, job.kind, made).await;
        }
        let kind = job.kind;
        let (send, mut made) = mpsc::channel::<Vec<u8>>(ANSWERS_AHEAD_MAX);
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let _waiting = Waiting(is_cancelled.clone());
        let Ok(place) = job.place().await else { return };
        let runtime = Handle::current();
        let running = tokio::task::spawn_blocking(move || {
            let _place = place;
            let send = |answer| send.blocking_send(answer).is_ok();
            let ran = job.traverse(runtime, is_cancelled, None, &Target::Frames(&send));
            send(ran.map_or_else(|failed| failed, Ended::answered).answer);
        });
        while let Some(answer) = made.recv().await {
            if !answers.send(kind, answer).await {
                return;
            }
        }
        if let Err(error) = running.await {
            tracing::error!("a traversal ended without an answer: {error}");
        }
    }
}

async fn send_all(answers: &impl Answers, kind: MessageKind, made: Vec<Vec<u8>>) {
    for answer in made {
        if !answers.send(kind, answer).await {
            return;
        }
    }
}

/// Returns how long a traversal may take.
fn time_of(shared: &Shared, options: &RequestOptions) -> Duration {
    let default = shared.options.timeout;
    match options.evaluation_timeout {
        None => default,
        Some(milliseconds) => Duration::from_millis(milliseconds).min(TRAVERSAL_TIME_MAX.max(default)),
    }
}
