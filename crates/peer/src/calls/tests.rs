use std::time::Duration;

use super::*;

fn poll(calls: &mut Calls, id: u64) -> Poll<Outcome> {
    calls.poll(id, &Context::from_waker(Waker::noop()))
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

#[test]
fn a_late_answer_finds_no_other_call() {
    let mut calls = Calls::default();
    let first = calls.add(later(), 1);
    assert!(calls.mark_sent(first));
    assert!(calls.abandon(first), "the other node has it and must be told");
    let second = calls.add(later(), 1);
    assert_ne!(first, second);
    assert_eq!(first as u32, second as u32, "the slot is used again");
    assert!(calls.finish(first, Ok(Bytes::new())).is_none());
    assert!(poll(&mut calls, second).is_pending());
    calls.finish(second, Ok(Bytes::from_static(b"x")));
    assert_eq!(poll(&mut calls, second), Poll::Ready(Ok(Bytes::from_static(b"x"))));
    assert_eq!((calls.waiting, calls.sent, calls.sent_bytes, calls.free.len()), (0, 0, 0, 1));
}

#[test]
fn what_was_not_sent_needs_no_cancelling_and_is_not_sent_afterwards() {
    let mut calls = Calls::default();
    let id = calls.add(later(), 1);
    assert!(!calls.abandon(id));
    assert!(!calls.mark_sent(id));
    assert_eq!((calls.waiting, calls.sent), (0, 0));
}

#[test]
fn patience_ends_differently_for_what_was_sent() {
    let mut calls = Calls::default();
    let now = Instant::now();
    let ids = [calls.add(now, 1), calls.add(now, 1), calls.add(later(), 1)];
    calls.mark_sent(ids[1]);
    let (mut given_up, mut callers) = (Vec::new(), Vec::new());
    let next = calls.expire(now, &mut given_up, &mut callers);
    assert!(next.is_some_and(|next| next > now));
    assert_eq!(given_up, [ids[1]]);
    assert!(matches!(poll(&mut calls, ids[0]), Poll::Ready(Err(CallError::NotSent(_)))));
    assert!(matches!(poll(&mut calls, ids[1]), Poll::Ready(Err(CallError::Unknown(_)))));
    assert!(poll(&mut calls, ids[2]).is_pending());
    assert_eq!((calls.waiting, calls.sent), (1, 0));
}

#[test]
fn a_broken_connection_fails_what_was_sent_and_what_was_not() {
    let mut calls = Calls::default();
    let ids = [calls.add(later(), 1), calls.add(later(), 1)];
    calls.mark_sent(ids[1]);
    calls.fail(&CallError::Refused("no".to_owned()), &mut Vec::new());
    assert_eq!(poll(&mut calls, ids[0]), Poll::Ready(Err(CallError::Refused("no".to_owned()))));
    assert_eq!(poll(&mut calls, ids[1]), Poll::Ready(Err(CallError::Unknown("no".to_owned()))));
    assert_eq!((calls.waiting, calls.sent, calls.free.len()), (0, 0, 2));
}

#[test]
fn as_many_are_sent_as_may_be_and_no_more() {
    let mut calls = Calls::default();
    let ids: Vec<u64> = (0..CALLS_MAX).map(|_| calls.add(later(), 1)).collect();
    for id in &ids {
        assert!(calls.may_send());
        calls.mark_sent(*id);
    }
    assert!(!calls.may_send());
    calls.abandon(ids[7]);
    assert!(calls.may_send());
    let large = calls.add(later(), REQUEST_BYTES_MAX);
    calls.mark_sent(large);
    assert!(!calls.may_send());
}
