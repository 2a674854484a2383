//! An echo over WebSocket (RFC 6455).

use std::ops::ControlFlow;
use std::sync::Arc;

use armilla_rest_wire::regions::Regions;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::client::{BOTH, Client, Security};
use super::port::{Port, settings};
use crate::listening::protocol::upgrade::Upgrading;
use crate::listening::protocol::web_socket::{Message, MessageService, Outbox, WebSocket};
use crate::listening::protocol::{Http, Session};
use crate::metrics::FigureKeys;
use crate::requests::api::{Door, Front};
use crate::requests::handler::Handler;
use crate::requests::hosts::Hosts;
use crate::requests::origins::Origins;
use crate::storage::Storage;

const MESSAGE_BYTES_MAX: usize = 70_000;
const FINAL: u8 = 0x80;
const MASKED: u8 = 0x80;
const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The key and the answer to it that the standard has as an example.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// Sends back what it gets, to `wait` only when it is let.
struct Echo {
    let_go: Arc<Notify>,
}

/// A connection, and what is being answered on it.
struct Conversation {
    outbox: Outbox,
    jobs: JoinSet<()>,
}

impl MessageService for Echo {
    type Conversation = Conversation;

    fn message_bytes_max(&self) -> usize {
        MESSAGE_BYTES_MAX
    }

    fn begin(&self, _: &Session, outbox: Outbox) -> Conversation {
        Conversation { outbox, jobs: JoinSet::new() }
    }

    async fn take(&self, conversation: &mut Conversation, message: Message) -> ControlFlow<()> {
        let (outbox, let_go) = (conversation.outbox.clone(), self.let_go.clone());
        conversation.jobs.spawn(async move {
            let metrics = outbox.metrics();
            let _request = metrics.request();
            if &*message.bytes == b"wait" {
                let_go.notified().await;
            }
            metrics.served(Front::Sql);
            // Whether it was sent shows on the other side.
            let _ = outbox.send(message.kind, &message.bytes).await;
        });
        ControlFlow::Continue(())
    }

    async fn finish(&self, conversation: &mut Conversation) {
        while conversation.jobs.join_next().await.is_some() {}
    }
}

fn written(opcode: u8, mask: Option<[u8; 4]>, text: &[u8]) -> Vec<u8> {
    let masked = if mask.is_some() { MASKED } else { 0 };
    let mut frame = vec![FINAL | opcode];
    match text.len() {
        short @ 0..=125 => frame.push(masked | short as u8),
        medium @ 126..=0xFFFF => {
            frame.push(masked | 126);
            frame.extend((medium as u16).to_be_bytes());
        }
        long => {
            frame.push(masked | 127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    let mask = mask.inspect(|mask| frame.extend(mask)).unwrap_or_default();
    frame.extend(text.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// A message as a client sends it.
fn sent(opcode: u8, text: &[u8]) -> Vec<u8> {
    written(opcode, Some([7, 0xFF, 0, 0x55]), text)
}

/// A message as the server sends it.
fn received(opcode: u8, text: &[u8]) -> Vec<u8> {
    written(opcode, None, text)
}

async fn open(connections_max: u32) -> (Port, Arc<Notify>) {
    let let_go = Arc::new(Notify::new());
    let echo = Echo { let_go: let_go.clone() };
    let port = Port::open(connections_max, async |env, common| {
        let settings = settings();
        let storage = Storage::open(&settings, env, std::future::pending()).await.unwrap();
        let regions = Arc::new(Regions::new("One", Vec::new(), false));
        let handler = Handler {
            front: Front::Sql,
            api: storage.api(Door::of(Front::Sql), &settings, &regions, env).unwrap(),
            engine: storage.engine(),
            store: storage.store(),
            metrics: common.metrics.clone(),
            figure_keys: Arc::new(FigureKeys::new([])),
            hosts: Arc::new(Hosts::new(&settings)),
            origins: Arc::new(Origins::new(&settings)),
            rooms: common.rooms.clone(),
            env: env.clone(),
            body_timeout: settings.connections.body_timeout,
            slow_request: None,
        };
        Upgrading::new(Http::new(handler, &settings.connections), WebSocket::new(echo), common.clone())
    });
    (port.await, let_go)
}

fn upgrade(more: &str) -> String {
    format!(
        "GET /socket HTTP/1.1\r\nhost: localhost\r\nconnection: keep-alive, Upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\n{more}\r\n"
    )
}

/// Connects and changes the protocol.
async fn talk(port: &Port, security: Security) -> Client {
    let mut client = Client::connect(port, security).await;
    change(&mut client, &[]).await;
    client
}

/// Changes the protocol; some bytes of the next one may come along.
async fn change(client: &mut Client, along: &[u8]) {
    let request = upgrade(&format!("sec-websocket-key: {KEY}\r\n"));
    client.write(&[request.as_bytes(), along].concat()).await;
    let head = String::from_utf8(client.read_to(b"\r\n\r\n").await).unwrap();
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert!(head.contains(&format!("sec-websocket-accept: {ACCEPT}\r\n")), "{head}");
}

async fn exchange(client: &mut Client, text: &[u8]) {
    client.write(&sent(TEXT, text)).await;
    let expected = received(TEXT, text);
    assert_eq!(client.read(expected.len()).await, expected);
}

#[tokio::test]
async fn with_tls_and_without_after_requests_on_one_port() {
    let (port, _) = open(10).await;
    for security in BOTH {
        let mut client = Client::connect(&port, security).await;
        client.write(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        let answer = client.read_to(br#"{"status":"ok"}"#).await;
        assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&answer));
        change(&mut client, &sent(PING, b"early")).await;
        assert_eq!(client.read(7).await, received(PONG, b"early"));
        for length in [0, 125, 126, 0xFFFF, 0x1_0000, MESSAGE_BYTES_MAX] {
            exchange(&mut client, &vec![b'x'; length]).await;
        }
        client.write(&sent(CLOSE, &1000_u16.to_be_bytes())).await;
        assert_eq!(client.read_to_end().await, received(CLOSE, &1000_u16.to_be_bytes()));
    }
    // Both health checks, both changes of the protocol, and six messages each.
    assert_eq!(port.figure("armilla_api_requests_total{api=\"sql\"}"), 16.0);
    assert_eq!(port.figure("armilla_connections_accepted_total"), 2.0);
    port.shut_down();
    port.ended().await;
}

/// A page of somebody else's may not open a connection by way of its visitor's browser, nor under another name.
#[tokio::test]
async fn changes_are_refused_like_any_request() {
    let (port, _) = open(10).await;
    let key = format!("sec-websocket-key: {KEY}\r\n");
    let foreign = upgrade(&format!("{key}origin: https://evil.example\r\n"));
    let elsewhere = upgrade(&key).replace("host: localhost", "host: evil.example");
    for (request, status) in [(foreign, "403"), (elsewhere, "403"), (upgrade(""), "400")] {
        let mut client = Client::connect(&port, Security::Plain).await;
        client.write(request.as_bytes()).await;
        let head = String::from_utf8(client.read_to(b"\r\n\r\n").await).unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
    }
    // One that only looks like it is a request like any other.
    let mut client = Client::connect(&port, Security::Plain).await;
    client.write(upgrade("").replace("Upgrade", "close").as_bytes()).await;
    assert!(client.read_to_end().await.starts_with(b"HTTP/1.1 401 "));
}

#[tokio::test]
async fn messages_are_bounded() {
    let (port, _) = open(10).await;
    let mut client = talk(&port, Security::Plain).await;
    client.write(&sent(TEXT, &vec![b'x'; MESSAGE_BYTES_MAX + 1])[..14]).await;
    assert_eq!(client.read_to_end().await, received(CLOSE, &1009_u16.to_be_bytes()));
    let mut client = talk(&port, Security::Plain).await;
    client.write(&received(TEXT, b"not masked")).await;
    assert_eq!(client.read_to_end().await, received(CLOSE, &1002_u16.to_be_bytes()));
}

/// Frames that are none end the connection, each with its reason.
#[tokio::test]
async fn frames_that_are_none_are_refused() {
    let (port, _) = open(10).await;
    let mut reserved = sent(TEXT, b"x");
    reserved[0] |= 0x40;
    let mut open_ping = sent(PING, b"x");
    open_ping[0] &= !FINAL;
    let mut many = sent(TEXT, b"");
    many[0] &= !FINAL;
    let twice = [many.clone(), sent(TEXT, b"x")].concat();
    let table: [(Vec<u8>, u16); 7] = [
        (reserved, 1002),
        (open_ping, 1002),
        (sent(3, b"x"), 1002),
        (sent(PING, &[0; 126]), 1002),
        (sent(CONTINUATION, b"x"), 1002),
        (twice, 1002),
        (sent(TEXT, b"\xFF"), 1007),
    ];
    for (bytes, status) in table {
        let mut client = talk(&port, Security::Plain).await;
        client.write(&bytes).await;
        assert_eq!(client.read_to_end().await, received(CLOSE, &status.to_be_bytes()), "{bytes:?}");
    }
}

#[tokio::test]
async fn messages_come_in_pieces_with_pings_between() {
    let (port, _) = open(10).await;
    let mut client = talk(&port, Security::Tls).await;
    let mut first = sent(BINARY, b"one ");
    first[0] &= !FINAL;
    let mut second = sent(CONTINUATION, b"two ");
    second[0] &= !FINAL;
    client.write(&[first, sent(PING, b"?"), second, sent(CONTINUATION, b"three")].concat()).await;
    let pong = received(PONG, b"?");
    assert_eq!(client.read(pong.len()).await, pong);
    let whole = received(BINARY, b"one two three");
    assert_eq!(client.read(whole.len()).await, whole);
}

/// A message that takes long does not hold up those behind it.
#[tokio::test]
async fn answers_overtake_each_other() {
    let (port, let_go) = open(10).await;
    let mut client = talk(&port, Security::Plain).await;
    client.write(&sent(TEXT, b"wait")).await;
    exchange(&mut client, b"quick").await;
    let_go.notify_one();
    let late = received(TEXT, b"wait");
    assert_eq!(client.read(late.len()).await, late);
}

#[tokio::test]
async fn connections_are_bounded() {
    let (port, _) = open(1).await;
    let mut first = talk(&port, Security::Tls).await;
    exchange(&mut first, b"x").await;
    let mut second = Client::connect(&port, Security::Plain).await;
    second.write(upgrade(&format!("sec-websocket-key: {KEY}\r\n")).as_bytes()).await;
    assert!(!second.has_more().await, "there was a place for a second");
    drop(first);
    assert!(second.read_to(b"\r\n\r\n").await.starts_with(b"HTTP/1.1 101 "));
    exchange(&mut second, b"y").await;
}

/// Also when nothing was ever said, and when something was begun.
#[tokio::test]
async fn those_that_do_nothing_are_closed() {
    let (port, _) = open(10).await;
    let mut client = talk(&port, Security::Tls).await;
    assert_eq!(port.while_time_flies(client.read_to_end()).await, b"");
    let mut client = talk(&port, Security::Plain).await;
    exchange(&mut client, b"x").await;
    assert_eq!(port.while_time_flies(client.read_to_end()).await, b"");
    assert_eq!(port.figure("armilla_timeouts_total"), 0.0);
    let mut client = talk(&port, Security::Plain).await;
    client.write(&sent(TEXT, b"half")[..1]).await;
    assert_eq!(port.while_time_flies(client.read_to_end()).await, b"");
    assert_eq!(port.figure("armilla_timeouts_total"), 1.0);
}

#[tokio::test]
async fn the_end_waits_for_messages_in_progress() {
    let (port, let_go) = open(10).await;
    let mut idle = talk(&port, Security::Plain).await;
    let mut waits = talk(&port, Security::Tls).await;
    waits.write(&sent(TEXT, b"wait")).await;
    port.until("armilla_http_requests_in_flight", 1.0).await;
    port.shut_down();
    let away = received(CLOSE, &1001_u16.to_be_bytes());
    assert_eq!(idle.read_to_end().await, away);
    port.until("armilla_connections", 1.0).await;
    let_go.notify_one();
    assert_eq!(waits.read_to_end().await, [received(TEXT, b"wait"), away].concat());
    port.ended().await;
}
