//! Nodes that end while others call them.

use std::time::{Duration, Instant};

use armilla_peer::{CallError, ENDING_TIME};
use bytes::Bytes;

use crate::node::{Node, PATIENCE, a_while, begin, eventually};

#[tokio::test]
async fn calls_under_way_finish_and_no_others_begin() {
    let mut node = Node::start().await;
    let (doing, link) = (node.doing.clone(), node.link());
    let pending: Vec<_> = (0..10).map(|_| begin(&link, b"g")).collect();
    eventually(|| doing.under_way() == 10).await;
    node.end();
    a_while().await;
    let late = link.call(Bytes::from_static(b"e"), PATIENCE).await;
    assert!(matches!(late, Err(CallError::NotSent(_))), "{late:?}");
    assert!(pending.iter().all(|call| !call.is_finished()));
    doing.let_through(10);
    for call in pending {
        assert_eq!(call.await.unwrap().unwrap(), "g");
    }
    let begun = Instant::now();
    node.ended().await;
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!((doing.begun(), doing.sessions()), (10, 0));
    let after = link.call(Bytes::from_static(b"e"), PATIENCE).await;
    assert!(matches!(after, Err(CallError::NotSent(_))), "{after:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_every_call_is_answered_or_was_not_sent() {
    let node = Node::start().await;
    let (doing, link) = (node.doing.clone(), node.link());
    let callers: Vec<_> = (0..50)
        .map(|_| {
            let link = link.clone();
            tokio::spawn(async move {
                let mut answered = 0;
                loop {
                    match link.call(Bytes::from_static(b"e"), PATIENCE).await {
                        Ok(_) => answered += 1,
                        Err(CallError::NotSent(_)) => return answered,
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    eventually(|| doing.begun() > 1_000).await;
    node.ended().await;
    let mut answered = 0;
    for caller in callers {
        answered += caller.await.unwrap();
    }
    assert_eq!(answered, doing.begun());
}

#[tokio::test]
async fn idle_connections_hold_up_no_end() {
    let node = Node::start().await;
    let links: Vec<_> = (0..10).map(|_| node.link()).collect();
    for link in &links {
        link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap();
    }
    let stranger = tokio::net::TcpStream::connect(node.address).await.unwrap();
    let begun = Instant::now();
    node.ended().await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    drop(stranger);
}

#[tokio::test]
async fn calls_that_do_not_end_are_dropped() {
    let node = Node::start().await;
    let (doing, link) = (node.doing.clone(), node.link());
    let call = begin(&link, b"n");
    eventually(|| doing.under_way() == 1).await;
    let begun = Instant::now();
    node.ended().await;
    assert!(begun.elapsed() >= ENDING_TIME && begun.elapsed() < ENDING_TIME + Duration::from_secs(2));
    let result = call.await.unwrap();
    assert!(matches!(result, Err(CallError::Unknown(_))), "{result:?}");
    eventually(|| doing.under_way() == 0 && doing.sessions() == 0).await;
}
