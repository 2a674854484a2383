//! Workers that take more leave than they were given.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};

use super::*;
use crate::collection::{
    CollectionUsage, DocumentName, ErrorCode, FeedPage, FeedRequest, ReadDocument, Refusal,
};
use crate::wire::Frames;
use crate::workers::WorkerStart;

/// A collection that accepts two operations without being asked, and then no more.
#[derive(Default)]
struct TwoDocuments {
    created: Vec<String>,
}

fn nothing() -> Refusal {
    Refusal::new(ErrorCode::NotFound, "there is nothing")
}

impl Collection for TwoDocuments {
    fn self_link(&self) -> String {
        String::new()
    }

    fn alt_link(&self) -> String {
        String::new()
    }

    fn is_closing(&self) -> bool {
        self.window() == 0
    }

    fn window(&self) -> u64 {
        2_u64.saturating_sub(self.created.len() as u64)
    }

    fn read(&mut self, _: DocumentName<'_>, _: Option<&str>) -> Result<ReadDocument, Refusal> {
        Err(nothing())
    }

    fn create(&mut self, body: &str) -> Result<String, Refusal> {
        self.created.push(body.to_owned());
        Ok(body.to_owned())
    }

    fn upsert(&mut self, _: &str, _: Option<&str>) -> Result<(String, bool), Refusal> {
        Err(nothing())
    }

    fn replace(&mut self, _: DocumentName<'_>, _: &str, _: Option<&str>) -> Result<String, Refusal> {
        Err(nothing())
    }

    fn delete(&mut self, _: DocumentName<'_>, _: Option<&str>) -> Result<(), Refusal> {
        Err(nothing())
    }

    fn query(&mut self, _: FeedRequest<'_>) -> Result<FeedPage, Refusal> {
        Err(nothing())
    }

    fn guid(&mut self) -> String {
        String::new()
    }

    fn random(&mut self) -> f64 {
        0.0
    }

    fn now_ms(&self) -> u64 {
        0
    }

    fn usage(&self) -> CollectionUsage {
        CollectionUsage::default()
    }
}

fn say(output: &mut PipeWriter, notice: Notice<'_>) {
    let mut frame = Vec::new();
    notice.encode(&mut frame);
    let _ = output.write_all(&frame);
}

/// Waits for a frame; false at the end.
fn hear(frames: &mut Frames, input: &mut PipeReader) -> bool {
    loop {
        match frames.take() {
            Ok(true) => return true,
            Ok(false) if matches!(frames.fill(|buffer| input.read(buffer)), Ok(1..)) => {}
            _ => return false,
        }
    }
}

/// A worker that finds every text right, and begins three operations in one message, of which so many as accepted.
fn serve(mut input: PipeReader, mut output: PipeWriter, accepted: u64) {
    let mut frames = Frames::default();
    say(&mut output, Notice::Ready);
    let mut replies = String::new();
    while hear(&mut frames, &mut input) {
        match Order::decode(frames.frame()) {
            Ok(Order::Run { window, .. }) => {
                assert_eq!(window, 2);
                let calls = vec![Call::Create { body: "{}", is_wanted: false }; 3];
                say(&mut output, Notice::Calls { accepted, calls });
            }
            Ok(Order::Reply(reply)) => replies.push_str(&format!("{reply:?} ")),
            Ok(Order::Replied { window }) => {
                let response_body = Some(format!("{replies}{window}"));
                let result = Ok(Finished { response_body, request_body: None });
                say(&mut output, Notice::Done { result, steps: 0 });
            }
            _ => return,
        }
    }
}

fn outcome(start: fn(PipeReader, PipeWriter)) -> (Outcome, usize) {
    let (workers, owner) = (Workers::new(WorkerStart::Thread(start)), Owner(1));
    let program = Program::new("() => 1".to_owned()).unwrap();
    let mut collection = TwoDocuments::default();
    let role = Role::Procedure { arguments: b"" };
    let asked = Run { owner, program: &program, role, keeps_log: false, expired: Box::new(|| false) };
    let outcome = run(&workers, asked, &mut collection);
    (outcome, collection.created.len())
}

#[test]
fn as_many_operations_are_accepted_as_were_allowed() {
    let (within, done) = outcome(|input, output| serve(input, output, 2));
    let body = within.result.unwrap().response_body.unwrap();
    assert_eq!((body.as_str(), done), ("Done Done Closing 0", 2));
    let (beyond, done) = outcome(|input, output| serve(input, output, 3));
    assert_eq!((beyond.result, done), (Err(ScriptError::Ended), 0));
}
