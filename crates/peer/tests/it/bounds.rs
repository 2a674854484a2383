//! What is queued is bounded, and what waits for room gets it.

use std::time::{Duration, Instant};

use armilla_peer::{CallError, FRAME_BYTES_MAX};
use bytes::Bytes;
use futures_util::future::join_all;

use crate::node::{Node, PATIENCE, Proxy, Way, link};

#[tokio::test]
async fn what_is_told_is_dropped_when_the_queue_is_full() {
    let node = Node::start().await;
    let proxy = Proxy::to(node.address).await;
    proxy.set(Way::Stopped);
    let link = link(proxy.address);
    let payload = Bytes::from(vec![b't'; 1024 * 1024]);
    let queued = (0..100).take_while(|_| link.tell(payload.clone())).count();
    assert_eq!(queued, 8, "as many as the queue has room for");
    // A caller waits for room, as long as its patience lasts.
    let begun = Instant::now();
    let result = link.call(Bytes::from_static(b"e"), Duration::from_millis(200)).await;
    assert!(matches!(result, Err(CallError::NotSent(_))), "{result:?}");
    assert!(begun.elapsed() >= Duration::from_millis(200));
    proxy.set(Way::Open);
    assert_eq!(link.call(Bytes::from_static(b"e"), PATIENCE).await.unwrap(), "e");
    assert_eq!(node.doing.told(), queued);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_the_queue_holds_goes_through() {
    let node = Node::start().await;
    let link = node.link();
    let mut request = vec![3; FRAME_BYTES_MAX / 8];
    request[0] = b'e';
    let request = Bytes::from(request);
    let calls = (0..20).map(|_| link.call(request.clone(), PATIENCE));
    for answer in join_all(calls).await {
        assert!(answer.unwrap() == request);
    }
}
