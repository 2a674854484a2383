//! Workers that are threads with ideas of their own, and processes that are something else.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::path::PathBuf;

use super::*;
use crate::workers::{WorkerStart, Workers};

fn say(output: &mut PipeWriter, notice: Notice<'_>) {
    let mut frame = Vec::new();
    notice.encode(&mut frame);
    let _ = output.write_all(&frame);
}

/// Starts a worker that says it is ready, then does as it likes with the first order.
fn worker(serve: fn(PipeReader, PipeWriter)) -> Result<Worker, ScriptError> {
    Workers::new(WorkerStart::Thread(serve)).take(Owner(1))
}

fn after_ready(mut input: PipeReader, mut output: PipeWriter, then: impl FnOnce(PipeReader, PipeWriter)) {
    say(&mut output, Notice::Ready);
    let mut order = [0; 5];
    let _ = input.read_exact(&mut order);
    then(input, output);
}

fn ask(worker: &mut Worker) -> Result<bool, ScriptError> {
    let mut questions = 0;
    let mut expired = || {
        questions += 1;
        questions > 2
    };
    worker.ask(&Order::Functions, &mut expired, |notice| Some(matches!(notice, Notice::Checked(_))))
}

#[test]
fn what_makes_no_sense_ends_the_worker() {
    type Serve = fn(PipeReader, PipeWriter);
    let cases: [(Serve, Result<bool, ScriptError>); 6] = [
        (|i, o| after_ready(i, o, |_, mut o| say(&mut o, Notice::Checked(Ok(())))), Ok(true)),
        (|i, o| after_ready(i, o, |_, _| {}), Err(ScriptError::Ended)),
        (|i, o| after_ready(i, o, |_, mut o| o.write_all(&[255; 4]).unwrap()), Err(ScriptError::Ended)),
        (
            |i, o| after_ready(i, o, |_, mut o| o.write_all(&[1, 0, 0, 0, 99]).unwrap()),
            Err(ScriptError::Ended),
        ),
        (
            |i, o| after_ready(i, o, |_, mut o| say(&mut o, Notice::OutOfMemory { steps: 0 })),
            Err(ScriptError::OutOfMemory),
        ),
        // One that hears nothing and says nothing, until the pipe breaks.
        (
            |i, o| {
                after_ready(i, o, |mut i, _o| {
                    let mut rest = Vec::new();
                    let _ = i.read_to_end(&mut rest);
                });
            },
            Err(ScriptError::OutOfTime),
        ),
    ];
    for (number, (serve, expected)) in cases.into_iter().enumerate() {
        let mut worker = worker(serve).unwrap();
        assert_eq!(ask(&mut worker), expected, "{number}");
        assert_eq!(worker.is_spent(), expected != Ok(true), "{number}");
    }
}

#[test]
fn a_worker_that_does_not_listen_is_given_up() {
    let mut worker = worker(|i, o| {
        after_ready(i, o, |i, _o| {
            // Holds its end open and reads nothing.
            std::thread::park_timeout(std::time::Duration::from_secs(20));
            drop(i);
        });
    })
    .unwrap();
    let long = "x".repeat(4 << 20);
    assert_eq!(worker.send(&Order::Body(&long)), Err(ScriptError::Ended));
}

#[test]
fn what_is_no_worker_is_not_used() {
    assert!(matches!(worker(|_, _| {}), Err(ScriptError::Sandbox(_))));
    for program in ["/bin/true", "/bin/cat", "/there/is/no/such/program"] {
        let workers = Workers::new(WorkerStart::Program(PathBuf::from(program)));
        assert!(matches!(workers.take(Owner(1)), Err(ScriptError::Sandbox(_))), "{program}");
    }
}

#[test]
fn a_process_ends_with_its_worker() {
    let path = PathBuf::from("/bin/sleep");
    let child = std::process::Command::new(path).arg("100").spawn().unwrap();
    let (_theirs, input) = std::io::pipe().unwrap();
    let (output, mut their_output) = std::io::pipe().unwrap();
    say(&mut their_output, Notice::Ready);
    let worker = Worker::begin(input, output, Some(child), Arc::new(())).unwrap();
    let id = worker.process_id().unwrap();
    drop(worker);
    assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
}
