//! An echo over WebSocket (RFC 6455), as far as a test needs it: messages in one frame each.

use std::ops::ControlFlow;
use std::sync::Arc;

use armilla_rest_wire::regions::Regions;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use ring::digest;
use tokio::sync::Notify;

use super::client::{BOTH, Client, Security};
use super::port::{Port, settings};
use crate::listening::protocol::framed::{Answers, End, FrameService, Measure};
use crate::listening::protocol::upgrade::{UpgradeService, Upgrading};
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
const TEXT: u8 = 1;
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

impl FrameService for Echo {
    type Conversation = ();

    fn front(&self) -> Front {
        Front::Sql
    }

    fn frame_bytes_max(&self) -> usize {
        MESSAGE_BYTES_MAX + 14
    }

    fn begin(&self, _: &Session) {}

    fn measure(&self, begun: &[u8]) -> Measure {
        match head(begun) {
            None => Measure::More,
            Some((head, _)) if begun[0] & FINAL == 0 || head == 0 => Measure::Malformed,
            Some((head, length)) => Measure::Bytes(head.saturating_add(length)),
        }
    }

    async fn answer(&self, (): &mut (), frame: Bytes, answers: &mut Answers<'_>) -> ControlFlow<()> {
        let (head, _) = head(&frame).unwrap();
        let mask = &frame[head - 4..head];
        let text: Vec<u8> =
            frame[head..].iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        let opcode = frame[0] & 0x0F;
        if text == b"wait" {
            self.let_go.notified().await;
        }
        let answer = written(if opcode == PING { PONG } else { opcode }, None, &text);
        match answers.send(answer.into()).await {
            Ok(()) if opcode != CLOSE => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }

    fn farewell(&self, end: End) -> Option<Bytes> {
        let status: u16 = match end {
            End::Over => return None,
            End::Shutdown => 1001,
            End::Malformed => 1002,
            End::TooLong => 1009,
            End::Stalled | End::NoRoom => 1008,
            End::Defect => 1011,
        };
        Some(written(CLOSE, None, &status.to_be_bytes()).into())
    }
}

impl UpgradeService for Echo {
    fn accept(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::default());
        let Some(key) = request.headers().get(header::SEC_WEBSOCKET_KEY) else {
            *response.status_mut() = StatusCode::BAD_REQUEST;
            return response;
        };
        let text = [key.as_bytes(), b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"].concat();
        let accept = STANDARD.encode(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &text));
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, HeaderValue::from_str(&accept).unwrap());
        response
    }
}

/// Returns the lengths of a frame's head and of its text, as soon as they can be told; a head of 0 is none of a client.
fn head(begun: &[u8]) -> Option<(usize, usize)> {
    let second = *begun.get(1)?;
    if second & MASKED == 0 {
        return Some((0, 0));
    }
    Some(match second & 0x7F {
        126 => (8, u16::from_be_bytes(*begun.get(2..)?.first_chunk()?).into()),
        127 => {
            (14, usize::try_from(u64::from_be_bytes(*begun.get(2..)?.first_chunk()?)).unwrap_or(usize::MAX))
        }
        short => (6, short.into()),
    })
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
        let storage = Storage::open(&settings, env).await.unwrap();
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
        Upgrading::new(Http::new(handler, &settings.connections), echo, common.clone())
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
    // Both health checks, both changes of the protocol, and eight messages each.
    assert_eq!(port.figure("armilla_api_requests_total{api=\"sql\"}"), 20.0);
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
