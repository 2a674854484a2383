//! Connections that break, and nodes that fall silent.

use std::time::{Duration, Instant};

use armilla_peer::{CallError, SILENCE_MAX};
use bytes::Bytes;
use tokio::net::TcpListener;

use crate::node::{Node, PATIENCE, Proxy, Way, a_while, begin, eventually, link};

#[tokio::test]
async fn calls_of_a_broken_connection_fail_and_the_next_one_connects() {
    let node = Node::start().await;
    let proxy = Proxy::to(node.address).await;
    let link = link(proxy.address);
    let pending: Vec<_> = (0..10).map(|_| begin(&link, b"n")).collect();
    eventually(|| node.doing.under_way() == 10).await;
    proxy.set(Way::Cut);
    for call in pending {
        let result = call.await.unwrap();
        assert!(matches!(result, Err(CallError::Unknown(_))), "{result:?}");
    }
    // Both what was under way and the session end with the connection.
    eventually(|| node.doing.under_way() == 0 && node.doing.sessions() == 0).await;
    proxy.set(Way::Open);
    assert_eq!(link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap(), "e");
    assert_eq!(node.doing.sessions(), 1);
}

#[tokio::test]
async fn a_connection_that_broke_while_idle_is_made_again() {
    let node = Node::start().await;
    let (address, link) = (node.address, node.link());
    for _ in 0..3 {
        link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap();
    }
    a_while().await;
    node.kill().await;
    // The node comes back at the same address. What is called now has not been sent to the old one.
    let listener = TcpListener::bind(address).await.unwrap();
    let node = Node::start_at(listener, "the key");
    let answer = link.call(Bytes::from_static(b"e"), PATIENCE).await;
    assert_eq!(answer.unwrap(), "e");
    assert_eq!(node.doing.sessions(), 1);
}

#[tokio::test]
async fn a_node_that_is_stopped_is_noticed() {
    let node = Node::start().await;
    let proxy = Proxy::to(node.address).await;
    let link = link(proxy.address);
    link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap();
    proxy.set(Way::Stopped);
    let begun = Instant::now();
    let result = link.call(Bytes::from_static(b"e"), PATIENCE).await;
    let Err(CallError::Unknown(message)) = &result else { panic!("{result:?}") };
    assert!(message.contains("silent"), "{message}");
    let took = begun.elapsed();
    assert!(took > SILENCE_MAX - Duration::from_millis(600), "{took:?}");
    assert!(took < SILENCE_MAX + Duration::from_millis(1_000), "{took:?}");
}

#[tokio::test]
async fn a_node_that_takes_long_but_lives_is_waited_for() {
    let node = Node::start().await;
    let link = node.link();
    let call = begin(&link, b"g");
    // Longer than a silent node would have been waited for.
    tokio::time::sleep(SILENCE_MAX + Duration::from_secs(2)).await;
    assert!(!call.is_finished());
    node.doing.let_through(1);
    assert_eq!(call.await.unwrap().unwrap(), "g");
    assert_eq!(node.doing.sessions(), 1);
}

#[tokio::test]
async fn a_link_without_callers_closes_its_connection() {
    let node = Node::start().await;
    let link = node.link();
    let other = link.clone();
    link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap();
    drop(link);
    assert_eq!(node.doing.sessions(), 1);
    other.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap();
    drop(other);
    eventually(|| node.doing.sessions() == 0).await;
}

#[test]
fn a_link_survives_the_runtimes_of_its_callers() {
    let runtime =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (serving, first, second) = (runtime(), runtime(), runtime());
    let node = serving.block_on(Node::start());
    let link = {
        let _within = serving.enter();
        node.link()
    };
    first.block_on(link.call(Bytes::from_static(b"e"), PATIENCE)).unwrap();
    let pending = {
        let link = link.clone();
        second.spawn(async move { link.call(Bytes::from_static(b"n"), PATIENCE).await })
    };
    second.block_on(eventually(|| node.doing.under_way() == 1));
    drop(first);
    assert_eq!(second.block_on(link.call(Bytes::from_static(b"e"), PATIENCE)).unwrap(), "e");
    assert!(!pending.is_finished(), "the connection is not that of the first caller");
    assert_eq!(node.doing.sessions(), 1);
}
