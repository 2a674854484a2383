//! Calls that are answered.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};

use armilla_peer::{CallError, FRAME_BYTES_MAX, Link, Secret};
use bytes::Bytes;
use futures_util::future::join_all;
use tokio::runtime::Handle;

use crate::node::{Node, PATIENCE, begin, eventually};

#[tokio::test]
async fn an_answer_comes() {
    let node = Node::start().await;
    let link = node.link();
    for request in [&b"e"[..], b"e and more"] {
        assert_eq!(link.call(Bytes::from_static(request), PATIENCE).await.unwrap(), request);
    }
    assert_eq!(node.doing.sessions(), 1);
}

/// Waits for something on a thread that is on no runtime.
fn wait_alone<T>(work: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Unpark>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut work = pin!(work);
    loop {
        match work.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_may_be_on_no_runtime() {
    // The first call of a link came from such a thread: it panicked, and calls after it had no connection and no end.
    let node = Node::start().await;
    let link = node.link();
    let own = link.clone();
    let alone = std::thread::spawn(move || {
        let first = wait_alone(own.call(Bytes::from_static(b"e"), PATIENCE));
        assert!(own.tell(Bytes::from_static(b"t")));
        first
    });
    let first = tokio::task::spawn_blocking(move || alone.join().unwrap()).await.unwrap();
    assert_eq!(first.unwrap(), "e");
    assert_eq!(link.call(Bytes::from_static(b"e again"), PATIENCE).await.unwrap(), "e again");
}

#[tokio::test]
async fn the_name_of_a_host_is_resolved() {
    let node = Node::start().await;
    let link = Link::new(
        &format!("localhost:{}", node.address.port()),
        Secret::derive("the key"),
        Handle::current(),
    );
    assert_eq!(link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap(), "e");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_calls_at_once() {
    let node = Node::start().await;
    let link = node.link();
    let calls = (0..10_000_u32).map(|number| {
        let link = link.clone();
        tokio::spawn(async move {
            let request = Bytes::from(format!("e{number}"));
            assert_eq!(link.call(request.clone(), PATIENCE).await.unwrap(), request);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    assert_eq!((node.doing.begun(), node.doing.sessions()), (10_000, 1));
}

#[tokio::test]
async fn more_calls_wait_for_one_thing_than_are_sent_at_once() {
    let node = Node::start().await;
    let link = node.link();
    let calls: Vec<_> = (0..5_000).map(|_| begin(&link, b"g")).collect();
    eventually(|| node.doing.under_way() == armilla_peer::CALLS_MAX).await;
    node.doing.let_through(5_000);
    for call in calls {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn megabytes_both_ways() {
    let node = Node::start().await;
    let link = node.link();
    let calls = (0..40_u8).map(|number| {
        let mut request = vec![number; 1024 * 1024 + usize::from(number)];
        request[0] = b'e';
        let (request, link) = (Bytes::from(request), link.clone());
        async move { assert!(link.call(request.clone(), PATIENCE).await.unwrap() == request) }
    });
    join_all(calls).await;
}

#[tokio::test]
async fn the_largest_request_and_answer_and_one_past_them() {
    let node = Node::start().await;
    let link = node.link();
    let mut request = vec![1; FRAME_BYTES_MAX];
    request[0] = b'e';
    let request = Bytes::from(request);
    assert!(link.call(request.clone(), PATIENCE).await.unwrap() == request);
    let begun = node.doing.begun();
    let over = link.call(vec![b'e'; FRAME_BYTES_MAX + 1].into(), PATIENCE).await;
    assert!(matches!(over, Err(CallError::NotSent(_))), "{over:?}");
    assert!(!link.tell(vec![b't'; FRAME_BYTES_MAX + 1].into()));
    assert_eq!(node.doing.begun(), begun);
    for (length, fits) in [(FRAME_BYTES_MAX, true), (FRAME_BYTES_MAX + 1, false)] {
        let mut request = vec![b'b'];
        request.extend_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
        match link.call(request.into(), PATIENCE).await {
            Ok(answer) => assert!(fits && answer.len() == length),
            Err(CallError::Unknown(message)) => assert!(!fits && message.contains("too large"), "{message}"),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(node.doing.sessions(), 1);
}

#[tokio::test]
async fn slow_calls_do_not_hold_up_others() {
    let node = Node::start().await;
    let link = node.link();
    let slow: Vec<_> = (0..100).map(|_| begin(&link, b"g")).collect();
    eventually(|| node.doing.under_way() == 100).await;
    assert_eq!(link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap(), "e");
    node.doing.let_through(100);
    for call in slow {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_panic_fails_its_call_and_no_other() {
    let node = Node::start().await;
    let link = node.link();
    let other = begin(&link, b"g");
    let failed = link.call(Bytes::from_static(b"p"), PATIENCE).await;
    let Err(CallError::Unknown(message)) = failed else { panic!("{failed:?}") };
    assert_eq!(message, "the other node failed: this call panics");
    node.doing.let_through(1);
    other.await.unwrap().unwrap();
    assert_eq!(node.doing.sessions(), 1);
}

#[tokio::test]
async fn what_is_told_arrives_without_an_answer() {
    let node = Node::start().await;
    let link = node.link();
    for _ in 0..100 {
        assert!(link.tell(Bytes::from_static(b"t")));
    }
    eventually(|| node.doing.told() == 100).await;
    // A panic of one stays unnoticed.
    assert!(link.tell(Bytes::from_static(b"p")));
    assert_eq!(link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap(), "e");
    assert!(link.tell(Bytes::from_static(b"t")));
    drop(link);
    eventually(|| node.doing.told() == 101).await;
    eventually(|| node.doing.sessions() == 0).await;
}
