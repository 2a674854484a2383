//! Calls whose callers do not wait for the answer.

use std::time::{Duration, Instant};

use armilla_peer::CallError;
use bytes::Bytes;

use crate::node::{Node, PATIENCE, Proxy, Way, a_while, begin, eventually};

#[tokio::test]
async fn a_dropped_call_is_dropped_at_the_other_node() {
    let node = Node::start().await;
    let link = node.link();
    let (first, second) = (begin(&link, b"n"), begin(&link, b"n"));
    eventually(|| node.doing.under_way() == 2).await;
    first.abort();
    eventually(|| node.doing.under_way() == 1).await;
    assert!(!second.is_finished());
    second.abort();
    eventually(|| node.doing.under_way() == 0).await;
    assert_eq!(link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap(), "e");
    assert_eq!(node.doing.sessions(), 1);
}

#[tokio::test]
async fn calls_dropped_in_crowds_leave_nothing_behind() {
    let node = Node::start().await;
    let link = node.link();
    for round in 0..20 {
        let calls: Vec<_> =
            (0..1_000).map(|_| begin(&link, if round % 2 == 0 { b"n" } else { b"e" })).collect();
        tokio::task::yield_now().await;
        calls.iter().for_each(tokio::task::JoinHandle::abort);
    }
    eventually(|| node.doing.under_way() == 0).await;
    assert_eq!(link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap(), "e");
    assert_eq!(node.doing.sessions(), 1);
}

#[tokio::test]
async fn more_calls_than_are_sent_at_once_can_all_be_given_up() {
    let node = Node::start().await;
    let link = node.link();
    let calls: Vec<_> = (0..6_000).map(|_| begin(&link, b"n")).collect();
    eventually(|| node.doing.under_way() == armilla_peer::CALLS_MAX).await;
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    eventually(|| node.doing.under_way() == 0).await;
    assert_eq!(link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap(), "e");
}

#[tokio::test]
async fn patience_ends_when_it_should() {
    let node = Node::start().await;
    let link = node.link();
    link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap();
    for patience in [1, 20, 450, 700, 1_600].map(Duration::from_millis) {
        let begun = Instant::now();
        let long = begin(&link, b"n");
        let result = link.call(Bytes::from_static(b"n"), patience).await;
        assert!(matches!(result, Err(CallError::Unknown(_))), "{result:?}");
        let took = begun.elapsed();
        assert!(took >= patience && took < patience + Duration::from_millis(250), "{patience:?} {took:?}");
        long.abort();
        eventually(|| node.doing.under_way() == 0).await;
    }
    assert_eq!(node.doing.sessions(), 1);
}

#[tokio::test]
async fn patience_ends_while_connecting_and_nothing_is_sent() {
    let node = Node::start().await;
    let proxy = Proxy::to(node.address).await;
    proxy.set(Way::Stopped);
    let link = crate::node::link(proxy.address);
    let begun = Instant::now();
    let result = link.call(Bytes::from_static(b"e"), Duration::from_millis(200)).await;
    assert!(matches!(result, Err(CallError::NotSent(_))), "{result:?}");
    assert!(begun.elapsed() < Duration::from_millis(600));
    proxy.set(Way::Open);
    assert_eq!(link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap(), "e");
    a_while().await;
    assert_eq!(node.doing.begun(), 1, "the first call was never sent");
}

#[tokio::test]
async fn endless_patience_is_a_long_one() {
    let node = Node::start().await;
    assert_eq!(node.link().call(Bytes::from_static(b"e"), Duration::MAX).await.unwrap(), "e");
}
