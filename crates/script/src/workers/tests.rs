use std::io::{Read as _, Write as _};

use super::*;
use crate::wire::Notice;

/// Says that it is ready, and waits for the end.
fn idle(mut input: PipeReader, mut output: PipeWriter) {
    let mut frame = Vec::new();
    Notice::Ready.encode(&mut frame);
    let _ = output.write_all(&frame);
    let _ = input.read_to_end(&mut Vec::new());
}

#[test]
fn workers_are_kept_for_their_owner_alone() {
    let workers = Workers::new(WorkerStart::Thread(idle));
    let first = workers.take(Owner(1)).unwrap();
    workers.give_back(first);
    assert_eq!(workers.figures(), WorkerFigures { started: 1, idle: 1 });
    let second = workers.take(Owner(2)).unwrap();
    assert_eq!(workers.figures(), WorkerFigures { started: 2, idle: 1 });
    let first = workers.take(Owner(1)).unwrap();
    assert_eq!(first.owner(), Some(Owner(1)));
    assert_eq!(workers.figures(), WorkerFigures { started: 2, idle: 0 });
    workers.give_back(first);
    workers.give_back(second);
    workers.rest();
    assert_eq!(workers.figures(), WorkerFigures { started: 2, idle: 0 });
}

#[test]
fn idle_workers_are_bounded() {
    let workers = Workers::new(WorkerStart::Thread(idle));
    let taken: Vec<Worker> =
        (0..=IDLE_WORKERS_MAX as u64).map(|owner| workers.take(Owner(owner)).unwrap()).collect();
    for worker in taken {
        workers.give_back(worker);
    }
    assert_eq!(workers.figures().idle, IDLE_WORKERS_MAX);
    // The one that waited longest went.
    let started = workers.figures().started;
    drop(workers.take(Owner(IDLE_WORKERS_MAX as u64)).unwrap());
    assert_eq!(workers.figures().started, started);
    drop(workers.take(Owner(0)).unwrap());
    assert_eq!(workers.figures().started, started + 1);
}

#[test]
fn workers_are_bounded() {
    let workers = Workers::new(WorkerStart::Thread(idle));
    let mut taken: Vec<Worker> = (0..WORKERS_MAX).map(|_| workers.take(Owner(1)).unwrap()).collect();
    assert!(matches!(workers.take(Owner(1)), Err(ScriptError::Sandbox(_))));
    taken.pop();
    assert!(workers.take(Owner(1)).is_ok());
}

#[test]
fn workers_without_work_end() {
    let workers = Workers::new(WorkerStart::Thread(idle));
    let (first, second) = (workers.take(Owner(1)).unwrap(), workers.take(Owner(2)).unwrap());
    workers.give_back(first);
    workers.give_back(second);
    workers.inner.end_stale();
    assert_eq!(workers.figures().idle, 2, "a period may have begun just before they came");
    workers.give_back(workers.take(Owner(1)).unwrap());
    workers.inner.end_stale();
    assert_eq!(workers.figures(), WorkerFigures { started: 2, idle: 1 }, "one had work meanwhile");
    workers.inner.end_stale();
    assert_eq!(workers.figures().idle, 0);
}

/// Says that it is ready, and ends.
fn brief(_input: PipeReader, mut output: PipeWriter) {
    let mut frame = Vec::new();
    Notice::Ready.encode(&mut frame);
    let _ = output.write_all(&frame);
}

/// An idle worker was killed from outside, and the next script of its container failed for it.
#[test]
fn a_worker_that_ended_without_work_is_replaced() {
    let workers = Workers::new(WorkerStart::Thread(brief));
    let worker = workers.take(Owner(1)).unwrap();
    // Its end takes a moment.
    while !worker.is_gone() {
        std::thread::yield_now();
    }
    workers.give_back(worker);
    workers.take(Owner(1)).unwrap();
    assert_eq!(workers.figures(), WorkerFigures { started: 2, idle: 0 });
}
