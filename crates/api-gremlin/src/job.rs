//! A request that runs: on a thread of its own, while its answers are sent.
//!
//! Invariants:
//! * traversals that run at once are bounded, and so is what they have ready to be sent;
//! * a request whose client is gone ends at its next step;
//! * every request is answered, whatever happens to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_gremlin_wire::{BytecodeRequest, Eval, Format, RequestOptions};
use tokio::sync::mpsc;

use crate::Shared;
use crate::connection::{MessageKind, Session};
use crate::execution::{Execution, Target};
use crate::failure::{Costs, Failure, FailureKind, written};
use crate::limits::{ANSWERS_AHEAD_MAX, TRAVERSAL_TIME_MAX};
use crate::store::Deadline;

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
}

/// A request that is to be run.
pub struct Job {
    shared: Arc<Shared>,
    session: Session,
    kind: MessageKind,
    format: Format,
    id: u128,
    traversal: Traversal,
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
    pub(crate) fn new(
        shared: Arc<Shared>,
        session: Session,
        kind: MessageKind,
        format: Format,
        id: u128,
        traversal: Traversal,
    ) -> Job {
        Job { shared, session, kind, format, id, traversal }
    }

    /// Runs it, and sends the answers. Dropping this gives it up.
    pub async fn run(self, answers: &impl Answers) {
        let kind = self.kind;
        let (send, mut made) = mpsc::channel::<Vec<u8>>(ANSWERS_AHEAD_MAX);
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let _waiting = Waiting(is_cancelled.clone());
        let Ok(place) = self.shared.traversals.clone().acquire_owned().await else { return };
        let runtime = tokio::runtime::Handle::current();
        let running = tokio::task::spawn_blocking(move || {
            let _place = place;
            self.traverse(
                runtime,
                is_cancelled,
                Target::Frames(&|answer| send.blocking_send(answer).is_ok()),
            );
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

    /// Runs it, and returns its one answer with the status of it.
    pub(crate) async fn run_whole(self) -> (u16, i32, Vec<u8>) {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let _waiting = Waiting(is_cancelled.clone());
        let Ok(place) = self.shared.traversals.clone().acquire_owned().await else {
            return (500, 500, Vec::new());
        };
        let runtime = tokio::runtime::Handle::current();
        let running = tokio::task::spawn_blocking(move || {
            let _place = place;
            let answer = parking_lot::Mutex::new(Vec::new());
            let status = self.traverse(runtime, is_cancelled, Target::Whole(&|whole| *answer.lock() = whole));
            (status.0, status.1, answer.into_inner())
        });
        running.await.unwrap_or_else(|error| {
            tracing::error!("a traversal ended without an answer: {error}");
            (500, 500, Vec::new())
        })
    }

    /// Runs it on this thread; returns its status.
    fn traverse(
        self,
        runtime: tokio::runtime::Handle,
        is_cancelled: Arc<AtomicBool>,
        target: Target<'_>,
    ) -> (u16, i32) {
        let Job { shared, session, format, id, traversal, .. } = self;
        let clock = shared.env.clock.clone();
        let began = clock.elapsed();
        let deadline =
            Deadline { began, end: began + time_of(&shared, traversal.options()), clock, is_cancelled };
        let activity_id = shared.new_uuid();
        let execution =
            Execution { shared: &shared, session: &session, format, id, activity_id, deadline, runtime };
        let ran = catch_unwind(AssertUnwindSafe(|| execution.run(&traversal, &target)));
        match ran {
            Ok(status) => status,
            Err(panicked) => {
                let text = panicked.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panicked.downcast_ref::<&str>().copied()).unwrap_or("no message");
                tracing::error!("a traversal panicked: {text}");
                let failure = Failure::new(
                    500,
                    500,
                    FailureKind::Internal,
                    "the server made a mistake: its log says more",
                );
                let costs = Costs { activity_id, ..Costs::default() };
                target.send(written(&failure.response(Some(id), &costs), format));
                (500, 500)
            }
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
