//! An echo over frames: four bytes with the length of the text, then the text.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;

use super::client::{BOTH, Client, Security};
use super::port::Port;
use crate::limits::IDLE_GIVES_WAY_AFTER;
use crate::listening::protocol::Session;
use crate::listening::protocol::framed::{Answers, End, FrameService, Framed, Measure};
use crate::requests::api::Front;

const HEAD_BYTES: usize = 4;
const FRAME_BYTES_MAX: usize = 200_000;

/// Sends back what it gets; to `wait` and `watch` only when it is let, and to `bye` nothing.
struct Echo {
    let_go: Arc<Notify>,
}

impl FrameService for Echo {
    /// How many frames there were.
    type Conversation = u32;

    fn front(&self) -> Front {
        Front::Sql
    }

    fn frame_bytes_max(&self) -> usize {
        FRAME_BYTES_MAX
    }

    fn begin(&self, _: &Session) -> u32 {
        0
    }

    fn measure(&self, begun: &[u8]) -> Measure {
        let Some(length) = begun.first_chunk::<HEAD_BYTES>() else { return Measure::More };
        let length = u32::from_be_bytes(*length) as usize;
        if length == 0 { Measure::Malformed } else { Measure::Bytes(HEAD_BYTES + length) }
    }

    fn ends_with_client(&self, frame: &[u8]) -> bool {
        &frame[HEAD_BYTES..] == b"watch"
    }

    async fn answer(&self, count: &mut u32, frame: Bytes, answers: &mut Answers<'_>) -> ControlFlow<()> {
        *count += 1;
        match &frame[HEAD_BYTES..] {
            b"wait" | b"watch" => self.let_go.notified().await,
            b"bye" => return ControlFlow::Break(()),
            b"panic" => panic!("as it was told"),
            b"count" => {
                let count = framed(format!("{count}").as_bytes());
                return sent(answers.send(count.into()).await);
            }
            _ => {}
        }
        sent(answers.send(frame).await)
    }

    fn farewell(&self, end: End) -> Option<Bytes> {
        Some(framed(format!("{end:?}").as_bytes()).into())
    }
}

fn sent(outcome: std::io::Result<()>) -> ControlFlow<()> {
    if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

fn framed(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes(), text].concat()
}

/// Opens a port for echoes; they wait until the notice is given.
async fn open(connections_max: u32) -> (Port, Arc<Notify>) {
    let let_go = Arc::new(Notify::new());
    let echo = Echo { let_go: let_go.clone() };
    (Port::open(connections_max, async |_, common| Framed::new(echo, common.clone())).await, let_go)
}

async fn exchange(client: &mut Client, text: &[u8]) {
    client.write(&framed(text)).await;
    assert_eq!(client.read(HEAD_BYTES + text.len()).await, framed(text));
}

/// Reads what is left and expects it to be a reason.
async fn expect_end(client: &mut Client, end: End) {
    let rest = client.read_to_end().await;
    assert_eq!(
        String::from_utf8_lossy(&rest),
        String::from_utf8_lossy(&framed(format!("{end:?}").as_bytes()))
    );
}

#[tokio::test]
async fn with_tls_and_without_on_one_port() {
    let (port, _) = open(10).await;
    for security in BOTH {
        let mut client = Client::connect(&port, security).await;
        exchange(&mut client, b"x").await;
        // As it would look in HTTP: nothing is made of it here.
        exchange(&mut client, b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
        // Several at once, and one in pieces.
        client.write(&[framed(b"one"), framed(b"two"), framed(b"count")[..3].to_vec()].concat()).await;
        assert_eq!(client.read(14).await, [framed(b"one"), framed(b"two")].concat());
        client.write(&framed(b"count")[3..]).await;
        assert_eq!(client.read(5).await, framed(b"5"));
        client.write(&framed(b"bye")).await;
        expect_end(&mut client, End::Over).await;
    }
    port.shut_down();
    port.ended().await;
}

#[tokio::test]
async fn frames_are_bounded() {
    let (port, _) = open(10).await;
    let mut client = Client::connect(&port, Security::Tls).await;
    for length in [FRAME_BYTES_MAX - HEAD_BYTES, 8_187, 8_188, 8_189, 70_000] {
        exchange(&mut client, &vec![b'x'; length]).await;
    }
    // Refused when it is announced: nothing of it is read.
    client.write(&((FRAME_BYTES_MAX - HEAD_BYTES + 1) as u32).to_be_bytes()).await;
    expect_end(&mut client, End::TooLong).await;
    let mut client = Client::connect(&port, Security::Plain).await;
    client.write(&[0; HEAD_BYTES]).await;
    expect_end(&mut client, End::Malformed).await;
}

/// What is announced and does not come takes no room; what came takes it until it is answered.
#[tokio::test]
async fn what_is_held_is_counted() {
    let (port, let_go) = open(10).await;
    let mut client = Client::connect(&port, Security::Plain).await;
    client.write(&framed(&vec![b'x'; 150_000])[..10_000]).await;
    port.until("armilla_request_bodies_bytes", 16.0 * 1024.0).await;
    drop(client);
    port.until("armilla_request_bodies_bytes", 0.0).await;
    let mut client = Client::connect(&port, Security::Plain).await;
    client.write(&framed(b"wait")).await;
    port.until("armilla_request_bodies_bytes", 8.0).await;
    port.until("armilla_http_requests_in_flight", 1.0).await;
    let_go.notify_one();
    assert_eq!(client.read(8).await, framed(b"wait"));
    port.until("armilla_request_bodies_bytes", 0.0).await;
    port.until("armilla_http_requests_in_flight", 0.0).await;
}

/// A pipeline went on for minutes after its client had hung up: nothing looked at the connection while it was computed.
#[tokio::test]
async fn one_who_hangs_up_is_answered_no_further() {
    let (port, let_go) = open(10).await;
    for security in BOTH {
        let mut client = Client::connect(&port, security).await;
        client.write(&framed(b"watch")).await;
        port.until("armilla_http_requests_in_flight", 1.0).await;
        drop(client);
        port.until("armilla_http_requests_in_flight", 0.0).await;
        port.until("armilla_connections", 0.0).await;
    }
    // What does something else than answer goes on.
    let mut client = Client::connect(&port, Security::Plain).await;
    client.write(&framed(b"wait")).await;
    port.until("armilla_http_requests_in_flight", 1.0).await;
    drop(client);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(port.figure("armilla_http_requests_in_flight"), 1.0);
    let_go.notify_one();
    port.until("armilla_connections", 0.0).await;
    // What is sent meanwhile is kept, however much it is.
    let mut client = Client::connect(&port, Security::Tls).await;
    let long = vec![b'x'; 50_000];
    client.write(&[framed(b"watch"), framed(b"one"), framed(&long), framed(b"two")].concat()).await;
    port.until("armilla_http_requests_in_flight", 1.0).await;
    let_go.notify_one();
    let answers = [framed(b"watch"), framed(b"one"), framed(&long), framed(b"two")].concat();
    assert_eq!(client.read(answers.len()).await, answers);
}

#[tokio::test]
async fn connections_are_bounded_and_the_idle_give_way() {
    let (port, _) = open(2).await;
    let mut first = Client::connect(&port, Security::Plain).await;
    let mut second = Client::connect(&port, Security::Tls).await;
    exchange(&mut first, b"x").await;
    exchange(&mut second, b"x").await;
    let mut third = Client::connect(&port, Security::Plain).await;
    third.write(&framed(b"x")).await;
    assert!(!third.has_more().await, "there was a place for a third");
    assert_eq!(port.figure("armilla_connections"), 2.0);
    drop(first);
    assert_eq!(third.read(5).await, framed(b"x"));
    // The second has done nothing for longer than the third, and so it goes.
    port.clock.advance(IDLE_GIVES_WAY_AFTER);
    exchange(&mut third, b"y").await;
    let mut fourth = Client::connect(&port, Security::Plain).await;
    fourth.write(&framed(b"z")).await;
    assert_eq!(fourth.read(5).await, framed(b"z"));
    assert_eq!(second.read_to_end().await, b"");
    assert_eq!(port.figure("armilla_connections_given_way_total"), 1.0);
    exchange(&mut third, b"still there").await;
}

#[tokio::test]
async fn those_that_do_nothing_are_closed() {
    let (port, _) = open(10).await;
    for security in BOTH {
        let mut client = Client::connect(&port, security).await;
        exchange(&mut client, b"x").await;
        port.clock.advance(port.common.settings.idle_timeout - Duration::from_secs(1));
        tokio::task::yield_now().await;
        exchange(&mut client, b"y").await;
        let rest = port.while_time_flies(client.read_to_end()).await;
        assert_eq!(rest, b"", "{security:?}");
    }
    assert_eq!(port.figure("armilla_timeouts_total"), 0.0);
}

/// A frame's first bytes have the time of headers, the rest that of a body.
#[tokio::test]
async fn those_that_stop_in_a_frame_are_closed() {
    let (port, _) = open(10).await;
    let mut client = Client::connect(&port, Security::Plain).await;
    client.write(&framed(b"x")[..3]).await;
    assert_eq!(port.while_time_flies(client.read_to_end()).await, b"");
    assert_eq!(port.figure("armilla_timeouts_total"), 1.0);
    for length in [1, 100_000] {
        let mut client = Client::connect(&port, Security::Plain).await;
        let frame = framed(&vec![b'x'; length]);
        client.write(&frame[..frame.len() - 1]).await;
        port.while_time_flies(expect_end(&mut client, End::Stalled)).await;
    }
    assert_eq!(port.figure("armilla_timeouts_total"), 3.0);
}

#[tokio::test]
async fn the_end_waits_for_frames_in_progress() {
    let (port, let_go) = open(10).await;
    let mut idle = Client::connect(&port, Security::Tls).await;
    exchange(&mut idle, b"x").await;
    let mut waits = Client::connect(&port, Security::Tls).await;
    waits.write(&[framed(b"wait"), framed(b"too late")].concat()).await;
    port.until("armilla_http_requests_in_flight", 1.0).await;
    let mut sends = Client::connect(&port, Security::Plain).await;
    sends.write(&framed(b"half")[..6]).await;
    port.until("armilla_request_bodies_bytes", 16.0).await;

    port.shut_down();
    expect_end(&mut idle, End::Shutdown).await;
    assert_eq!(port.figure("armilla_connections"), 2.0);
    sends.write(&framed(b"half")[6..]).await;
    assert_eq!(sends.read(8).await, framed(b"half"));
    expect_end(&mut sends, End::Shutdown).await;
    port.until("armilla_connections", 1.0).await;
    let_go.notify_one();
    assert_eq!(waits.read(8).await, framed(b"wait"));
    expect_end(&mut waits, End::Shutdown).await;
    port.ended().await;
}

#[tokio::test]
async fn everything_is_counted() {
    let (port, _) = open(10).await;
    for security in BOTH {
        let mut client = Client::connect(&port, security).await;
        exchange(&mut client, b"one").await;
        exchange(&mut client, b"two").await;
        port.until("armilla_connections", 1.0).await;
        drop(client);
        port.until("armilla_connections", 0.0).await;
    }
    assert_eq!(port.figure("armilla_connections_accepted_total"), 2.0);
    assert_eq!(port.figure("armilla_api_requests_total{api=\"sql\"}"), 4.0);
    // Two frames each way on both connections, not counting what TLS adds.
    assert_eq!(port.figure("armilla_received_bytes_total"), 28.0);
    assert!(port.figure("armilla_sent_bytes_total") >= 28.0);
}

/// One broken conversation is one broken conversation.
#[tokio::test]
async fn a_panic_ends_its_conversation_alone() {
    let (port, _) = open(10).await;
    let mut other = Client::connect(&port, Security::Plain).await;
    let mut client = Client::connect(&port, Security::Plain).await;
    client.write(&framed(b"panic")).await;
    expect_end(&mut client, End::Defect).await;
    exchange(&mut other, b"still there").await;
    assert_eq!(port.figure("armilla_http_panics_total"), 1.0);
    port.until("armilla_connections", 1.0).await;
}
