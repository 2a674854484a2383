//! WebSocket (RFC 6455): messages both ways on one connection, in any order.
//!
//! A front end takes messages one after the other and answers each when it can, so that several are on their way at the
//! same time; how many, it decides by not taking the next one. Frames are read as all others are (`framed`), with the
//! same bounds and times; a message that comes in several frames counts as one.
//!
//! Invariants:
//! * nothing is sent unasked: some clients fail on a ping;
//! * what is not sent yet is counted, and held back beyond a bound;
//! * when the client hangs up, all that is done for it is given up; when the server is to end, it is finished first.
//!
//! Extensions (compression) are not agreed on.

use std::ops::ControlFlow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use ring::digest;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::Session;
use super::framed::{End, Frame, FrameHold, Measure, Reader, Shape, hung_up};
use super::upgrade::UpgradeService;
use crate::limits::{ANSWER_BYTES_EXPECTED, MESSAGE_FRAMES_MAX, UNSENT_MESSAGES_MAX};
use crate::listening::activity::Activity;
use crate::listening::connection::Common;
use crate::listening::stream::Stream;
use crate::metrics::Metrics;
use crate::rooms::Expected;

const FINAL: u8 = 0x80;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0F;
const MASKED: u8 = 0x80;
const MASK_BYTES: usize = 4;

/// The longest head of a frame.
const HEAD_BYTES_MAX: usize = 14;
/// The longest text of a frame that is no message.
const CONTROL_BYTES_MAX: usize = 125;

/// What a key is hashed with.
const KEY_SUFFIX: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// What a frame is.
mod opcode {
    pub(super) const CONTINUATION: u8 = 0;
    pub(super) const TEXT: u8 = 1;
    pub(super) const BINARY: u8 = 2;
    pub(super) const CLOSE: u8 = 8;
    pub(super) const PING: u8 = 9;
    pub(super) const PONG: u8 = 10;
}

/// Why a connection is closed, as the other side is told.
mod status {
    pub(super) const NORMAL: u16 = 1000;
    pub(super) const GOING_AWAY: u16 = 1001;
    pub(super) const PROTOCOL_ERROR: u16 = 1002;
    pub(super) const NOT_TEXT: u16 = 1007;
    pub(super) const POLICY: u16 = 1008;
    pub(super) const TOO_BIG: u16 = 1009;
    pub(super) const DEFECT: u16 = 1011;
}

/// A front end that takes messages.
pub(crate) trait MessageService: Send + Sync + 'static {
    /// What is remembered of a connection from one message to the next. When it is dropped, all that is being done for
    /// the connection is given up.
    type Conversation: Send;

    /// Returns the longest message that is taken.
    fn message_bytes_max(&self) -> usize;

    /// Begins a conversation, whose answers go to an outbox.
    fn begin(&self, session: &Session, outbox: Outbox) -> Self::Conversation;

    /// Takes a message, as soon as there is a place for it; breaks off when the conversation is over.
    fn take(
        &self,
        conversation: &mut Self::Conversation,
        message: Message,
    ) -> impl Future<Output = ControlFlow<()>> + Send;

    /// Waits until all messages that were taken are answered.
    fn finish(&self, conversation: &mut Self::Conversation) -> impl Future<Output = ()> + Send;
}

/// What a message is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Text,
    Binary,
}

/// A message that came.
pub(crate) struct Message {
    pub(crate) kind: MessageKind,
    pub(crate) bytes: Bytes,
    /// Kept until the message is answered.
    pub(crate) hold: MessageHold,
}

/// What a message takes up until it is answered.
pub(crate) struct MessageHold {
    _frames: Vec<FrameHold>,
}

/// Where answers go. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct Outbox {
    common: Arc<Common>,
    activity: Arc<Activity>,
    frames: mpsc::Sender<Bytes>,
}

/// An answer was not sent: the client is gone, or there is no room for it.
#[derive(Debug)]
pub(crate) struct NotSent;

impl Outbox {
    /// Sends a message, and waits where too many are on their way already.
    pub(crate) async fn send(&self, kind: MessageKind, text: &[u8]) -> Result<(), NotSent> {
        let opcode = match kind {
            MessageKind::Text => opcode::TEXT,
            MessageKind::Binary => opcode::BINARY,
        };
        self.send_frame(opcode, text).await
    }

    async fn send_frame(&self, opcode: u8, text: &[u8]) -> Result<(), NotSent> {
        // A place first: what waits for one is not written yet, and is not held against the client.
        let place = self.frames.reserve().await.map_err(|_| NotSent)?;
        let frame = written(opcode, text);
        let held = self.common.rooms.hold_answer(&self.activity, frame, false).map_err(|_| NotSent)?;
        place.send(held);
        Ok(())
    }

    /// Waits until the connection has room for another answer.
    pub(crate) async fn expect(&self) -> Result<Expected, NotSent> {
        self.common.rooms.before_answer(&self.activity, ANSWER_BYTES_EXPECTED).await.map_err(|_| NotSent)
    }

    /// Returns where messages are counted.
    pub(crate) fn metrics(&self) -> Arc<Metrics> {
        self.common.metrics.clone()
    }
}

/// A front end behind WebSocket.
pub(crate) struct WebSocket<S> {
    service: S,
}

impl<S: MessageService> WebSocket<S> {
    /// Puts a front end behind WebSocket.
    pub(crate) fn new(service: S) -> WebSocket<S> {
        WebSocket { service }
    }
}

impl<S: MessageService> UpgradeService for WebSocket<S> {
    fn accept(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        accept(request.method(), request.headers())
    }

    async fn converse(&self, common: &Arc<Common>, stream: Stream, received: Bytes, session: Session) {
        let (read, mut write) = tokio::io::split(stream);
        let (frames, mut unsent) = mpsc::channel(UNSENT_MESSAGES_MAX);
        let outbox = Outbox { common: common.clone(), activity: session.activity.clone(), frames };
        let peer = session.peer;
        let mut conversation = self.service.begin(&session, outbox.clone());
        let shape = Shape { measure, frame_bytes_max: self.service.message_bytes_max() + HEAD_BYTES_MAX };
        let ahead = BytesMut::from(&received[..]);
        let mut reader = Reader { shape, common, stream: read, session, ahead };
        let end = {
            let taking = self.take_all(&mut reader, &mut conversation, &outbox);
            let sending = send_all(&mut unsent, &mut write);
            tokio::select! {
                end = taking => end,
                () = sending => Ended::Gone,
            }
        };
        tracing::debug!(%peer, ?end, "connection closed");
        if end == Ended::Told(End::Stalled) {
            common.metrics.timed_out();
        }
        if end == Ended::Told(End::Shutdown) {
            // What was asked for is still answered.
            tokio::select! {
                () = self.service.finish(&mut conversation) => {}
                () = send_all(&mut unsent, &mut write) => {}
            }
        }
        // All that is still being done is given up here; what is written already is sent.
        drop((conversation, outbox));
        unsent.close();
        if end != Ended::Gone {
            send_all(&mut unsent, &mut write).await;
            if let Some(status) = end.status() {
                // Whether it is heard is not known.
                let _ = write.write_all(&written(opcode::CLOSE, &status.to_be_bytes())).await;
            }
        }
        let _ = write.shutdown().await;
    }
}

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// There is no one to tell.
    Gone,
    /// The client said so.
    Closed,
    /// Text was none.
    NotText,
    /// For a reason of ours.
    Told(End),
}

impl Ended {
    fn status(self) -> Option<u16> {
        match self {
            Ended::Gone | Ended::Told(End::Over) => None,
            Ended::Closed => Some(status::NORMAL),
            Ended::NotText => Some(status::NOT_TEXT),
            Ended::Told(End::Shutdown) => Some(status::GOING_AWAY),
            Ended::Told(End::Malformed) => Some(status::PROTOCOL_ERROR),
            Ended::Told(End::TooLong) => Some(status::TOO_BIG),
            Ended::Told(End::Stalled | End::NoRoom) => Some(status::POLICY),
            Ended::Told(End::Defect) => Some(status::DEFECT),
        }
    }
}

impl<S: MessageService> WebSocket<S> {
    /// Takes messages until there are no more.
    async fn take_all<M, R>(
        &self,
        reader: &mut Reader<'_, M, R>,
        conversation: &mut S::Conversation,
        outbox: &Outbox,
    ) -> Ended
    where
        M: Fn(&[u8]) -> Measure,
        R: tokio::io::AsyncRead + Unpin,
    {
        let mut begun = Begun::default();
        loop {
            let frame = match reader.next().await {
                Ok(frame) => frame,
                Err(End::Over) => return Ended::Gone,
                Err(end) => return Ended::Told(end),
            };
            let Some((opcode, is_final, text, hold)) = opened(frame) else {
                return Ended::Told(End::Malformed);
            };
            match opcode {
                opcode::CLOSE => return Ended::Closed,
                opcode::PING => {
                    if outbox.send_frame(opcode::PONG, &text).await.is_err() {
                        return Ended::Gone;
                    }
                }
                opcode::PONG => {}
                _ => match begun.add(opcode, is_final, text, hold, self.service.message_bytes_max()) {
                    Err(end) => return end,
                    Ok(None) => {}
                    Ok(Some(message)) => {
                        // While a message waits to be taken no other is read: one who is gone must be noticed all the same.
                        let taken = tokio::select! {
                            taken = self.service.take(conversation, message) => taken,
                            () = hung_up(&mut reader.stream, &mut reader.ahead) => return Ended::Gone,
                        };
                        if taken.is_break() {
                            return Ended::Told(End::Over);
                        }
                    }
                },
            }
            // Also where more has come already: one who never stops to send must not keep the server from ending.
            if *reader.session.shutdown.borrow() {
                return Ended::Told(End::Shutdown);
            }
        }
    }
}

/// A message of which some frames have come.
#[derive(Default)]
struct Begun {
    kind: Option<MessageKind>,
    texts: Vec<Bytes>,
    bytes: usize,
    holds: Vec<FrameHold>,
}

impl Begun {
    /// Adds a frame; returns the message if it was the last.
    fn add(
        &mut self,
        opcode: u8,
        is_final: bool,
        text: Bytes,
        hold: FrameHold,
        bytes_max: usize,
    ) -> Result<Option<Message>, Ended> {
        let kind = match (opcode, self.kind) {
            (opcode::TEXT, None) => MessageKind::Text,
            (opcode::BINARY, None) => MessageKind::Binary,
            (opcode::CONTINUATION, Some(kind)) => kind,
            _ => return Err(Ended::Told(End::Malformed)),
        };
        self.kind = Some(kind);
        self.bytes += text.len();
        if self.bytes > bytes_max {
            return Err(Ended::Told(End::TooLong));
        }
        self.texts.push(text);
        self.holds.push(hold);
        if !is_final {
            return if self.texts.len() < MESSAGE_FRAMES_MAX {
                Ok(None)
            } else {
                Err(Ended::Told(End::Malformed))
            };
        }
        let Begun { texts, bytes, holds, .. } = std::mem::take(self);
        let bytes = match <[Bytes; 1]>::try_from(texts) {
            Ok([text]) => text,
            Err(texts) => {
                let mut whole = BytesMut::with_capacity(bytes);
                texts.iter().for_each(|text| whole.extend_from_slice(text));
                whole.freeze()
            }
        };
        if kind == MessageKind::Text && std::str::from_utf8(&bytes).is_err() {
            return Err(Ended::NotText);
        }
        Ok(Some(Message { kind, bytes, hold: MessageHold { _frames: holds } }))
    }
}

/// Sends what is written, until no more can come; ends early where the client is gone.
async fn send_all(unsent: &mut mpsc::Receiver<Bytes>, write: &mut (impl AsyncWrite + Unpin)) {
    while let Some(frame) = unsent.recv().await {
        if write.write_all(&frame).await.is_err() {
            return;
        }
        drop(frame);
        // Several answers that are there go out together.
        if unsent.is_empty() && write.flush().await.is_err() {
            return;
        }
    }
}

/// Answers a request for WebSocket.
fn accept(method: &Method, headers: &HeaderMap) -> Response<Full<Bytes>> {
    let refused = |status: StatusCode, why: &'static str| {
        let mut response = Response::new(Full::from(why));
        *response.status_mut() = status;
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        response
    };
    let is = |name: &header::HeaderName, word: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|text| text.trim().eq_ignore_ascii_case(word))
    };
    if method != Method::GET || !is(&header::UPGRADE, "websocket") {
        return refused(
            StatusCode::BAD_REQUEST,
            "this port speaks WebSocket and HTTP: ask for one of them\n",
        );
    }
    if !is(&header::SEC_WEBSOCKET_VERSION, "13") {
        let mut response =
            refused(StatusCode::UPGRADE_REQUIRED, "this port speaks version 13 of WebSocket\n");
        response.headers_mut().insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        return response;
    }
    let key = headers
        .get(header::SEC_WEBSOCKET_KEY)
        .filter(|key| STANDARD.decode(key).is_ok_and(|key| key.len() == 16));
    let Some(key) = key else {
        return refused(
            StatusCode::BAD_REQUEST,
            "a request for WebSocket has a Sec-WebSocket-Key of 16 bytes\n",
        );
    };
    let text = [key.as_bytes(), KEY_SUFFIX].concat();
    let accept = STANDARD.encode(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &text));
    let Ok(accept) = HeaderValue::from_str(&accept) else {
        return refused(StatusCode::BAD_REQUEST, "the Sec-WebSocket-Key cannot be answered\n");
    };
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let answer = response.headers_mut();
    answer.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    answer.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    answer.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    response
}

/// Tells from its first bytes how long a frame is.
fn measure(begun: &[u8]) -> Measure {
    let &[first, second, ..] = begun else { return Measure::More };
    let is_control = first & OPCODE >= opcode::CLOSE;
    let is_known =
        matches!(first & OPCODE, opcode::CONTINUATION..=opcode::BINARY | opcode::CLOSE..=opcode::PONG);
    let length = usize::from(second & !MASKED);
    let is_whole = !is_control || (first & FINAL != 0 && length <= CONTROL_BYTES_MAX);
    if first & RESERVED != 0 || second & MASKED == 0 || !is_known || !is_whole {
        return Measure::Malformed;
    }
    match head(begun) {
        Some((head, length)) => Measure::Bytes(head.saturating_add(length)),
        None => Measure::More,
    }
}

/// Returns the lengths of a masked frame's head and of its text, as soon as they can be told.
fn head(begun: &[u8]) -> Option<(usize, usize)> {
    let second = *begun.get(1)?;
    let rest = begun.get(2..)?;
    Some(match second & !MASKED {
        126 => (2 + 2 + MASK_BYTES, u16::from_be_bytes(*rest.first_chunk()?).into()),
        127 => {
            let length = u64::from_be_bytes(*rest.first_chunk()?);
            (2 + 8 + MASK_BYTES, usize::try_from(length).unwrap_or(usize::MAX))
        }
        short => (2 + MASK_BYTES, short.into()),
    })
}

/// Takes a frame apart: what it is, whether it is the last of its message, and its text.
fn opened(frame: Frame) -> Option<(u8, bool, Bytes, FrameHold)> {
    let Frame { bytes, hold } = frame;
    let first = *bytes.first()?;
    let (head, _) = head(&bytes)?;
    let mask: [u8; MASK_BYTES] = *bytes.get(head.checked_sub(MASK_BYTES)?..)?.first_chunk()?;
    let mut text = match bytes.try_into_mut() {
        Ok(bytes) => bytes,
        Err(bytes) => BytesMut::from(&bytes[..]),
    };
    let mut text = text.split_off(head.min(text.len()));
    for (byte, mask) in text.iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= mask;
    }
    Some((first & OPCODE, first & FINAL != 0, text.freeze(), hold))
}

/// Writes a frame that is a whole message.
fn written(opcode: u8, text: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(HEAD_BYTES_MAX + text.len());
    frame.put_u8(FINAL | opcode);
    match text.len() {
        short @ 0..=125 => frame.put_u8(short as u8),
        medium @ 126..=0xFFFF => {
            frame.put_u8(126);
            frame.put_u16(medium as u16);
        }
        long => {
            frame.put_u8(127);
            frame.put_u64(long as u64);
        }
    }
    frame.extend_from_slice(text);
    frame.freeze()
}
