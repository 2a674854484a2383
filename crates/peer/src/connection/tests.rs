use std::time::Duration;

use futures_util::future::BoxFuture;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use super::*;

struct Forever;

impl Service for Forever {
    type Session = ();

    fn open(&self) {}

    fn call(self: Arc<Self>, _session: Arc<()>, _request: Bytes) -> BoxFuture<'static, Bytes> {
        std::future::pending().boxed()
    }
}

fn connection() -> (Connection<Forever>, Wire<BufReader<DuplexStream>>, DuplexStream) {
    let (caller, server) = tokio::io::duplex(1024 * 1024);
    (Connection::new(Arc::new(Forever), Answers::default()), Wire::new(BufReader::new(server)), caller)
}

/// Returns how a connection ends over which this comes, and which the caller then closes.
async fn ends(bytes: &[u8]) -> Broken {
    let (mut connection, mut wire, mut caller) = connection();
    caller.write_all(bytes).await.unwrap();
    caller.shutdown().await.unwrap();
    connection.run(&mut wire).await.unwrap_err()
}

#[track_caller]
fn check(broken: &Broken, expected: Option<Malformed>) {
    match (broken, expected) {
        (Broken::Malformed(malformed), Some(expected)) => assert_eq!(*malformed, expected),
        (Broken::Closed, None) => {}
        (broken, expected) => panic!("{broken}, expected {expected:?}"),
    }
}

fn header(kind: Kind, id: u64) -> [u8; 13] {
    Frame::bare(kind, id).header()
}

#[tokio::test]
async fn what_a_caller_may_not_send_ends_the_connection() {
    for kind in [Kind::Call, Kind::Tell, Kind::Cancel, Kind::Alive] {
        check(&ends(&header(kind, 7)).await, None);
    }
    for kind in [Kind::Answer, Kind::Failed, Kind::NotBegun, Kind::Ending] {
        check(&ends(&header(kind, 7)).await, Some(Malformed::Unexpected(kind)));
    }
    let twice = [header(Kind::Call, 7), header(Kind::Call, 7)].concat();
    check(&ends(&twice).await, Some(Malformed::Unexpected(Kind::Call)));
    check(&ends(&header(Kind::Call, TOLD)).await, Some(Malformed::Unexpected(Kind::Call)));
}

#[tokio::test]
async fn as_many_calls_as_may_be_and_one_more() {
    let calls =
        |count: usize| -> Vec<u8> { (0..count as u64).flat_map(|id| header(Kind::Call, id)).collect() };
    check(&ends(&calls(CALLS_MAX)).await, None);
    check(&ends(&calls(CALLS_MAX + 1)).await, Some(Malformed::Unexpected(Kind::Call)));
    // What is given up makes room again.
    let mut bytes = calls(CALLS_MAX);
    bytes.extend_from_slice(&header(Kind::Cancel, 7));
    bytes.extend_from_slice(&header(Kind::Call, 7));
    check(&ends(&bytes).await, None);
    // More than may be told at once is dropped, and what is small is not: something may be let go of by it.
    let tells = |count: usize, bytes: usize| -> Vec<u8> {
        let payload = Bytes::from(vec![0; bytes]);
        let frame = Frame { kind: Kind::Tell, id: 0, payload };
        let one = [&frame.header()[..], &frame.payload].concat();
        one.repeat(count)
    };
    check(&ends(&tells(TELLS_MAX + 10, SMALL_TELL_BYTES + 1)).await, None);
    check(&ends(&tells(SMALL_TELLS_MAX, 0)).await, None);
    check(&ends(&tells(SMALL_TELLS_MAX + 1, 0)).await, Some(Malformed::Unexpected(Kind::Tell)));
}

#[tokio::test]
async fn one_that_waits_hears_that_this_side_is_alive() {
    let (mut connection, mut wire, mut caller) = connection();
    caller.write_all(&header(Kind::Call, 7)).await.unwrap();
    let heard = async {
        let mut bytes = [0; 26];
        caller.read_exact(&mut bytes).await.unwrap();
        bytes
    };
    let begun = Instant::now();
    let bytes = tokio::select! {
        bytes = heard => bytes,
        _ = connection.run(&mut wire) => panic!("the connection ended"),
    };
    assert_eq!(bytes, [header(Kind::Alive, 0), header(Kind::Alive, 0)].concat()[..]);
    assert!(begun.elapsed() < KEEPALIVE * 3 + Duration::from_millis(900), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn one_that_is_silent_for_long_is_gone() {
    let (mut connection, wire, _caller) = connection();
    assert!(matches!(connection.look(&wire), Ok(Some(_))));
    connection.last_heard = Instant::now() - IDLE_SILENCE_MAX;
    assert!(matches!(connection.look(&wire), Err(Broken::Silent)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_panic(
        frames in prop::collection::vec((1..=8_u8, 0..4_u64, prop::collection::vec(any::<u8>(), 0..40)), 0..60),
        garbage in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut bytes = Vec::new();
        for (kind, id, payload) in frames {
            let mut header = header(Kind::Call, id);
            header[0] = payload.len() as u8;
            header[4] = kind;
            bytes.extend_from_slice(&header);
            bytes.extend_from_slice(&payload);
        }
        bytes.extend_from_slice(&garbage);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _ = runtime.block_on(ends(&bytes));
    }
}
