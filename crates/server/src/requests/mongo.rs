//! The MongoDB API behind frames; and behind HTTP, for the explorer's page.

use std::fmt::Display;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::ops::ControlFlow;

use armilla_api_mongo::{Connection, MESSAGE_BYTES_MAX, MongoApi, Peer};
use armilla_rest_wire::authorization::{KeyAccess, SignedIn};
use armilla_rest_wire::body::{self, BodyError, BodyLimits};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::Full;
use tokio::sync::Semaphore;

use crate::listening::protocol::Session;
use crate::listening::protocol::framed::{Answers, End, FrameService, Measure};
use crate::requests::api::Front;

/// A message that is longer may take long to be read and done: hundreds of thousands of numbers in one update.
const LONG_MESSAGE_BYTES: usize = 64 * 1024;

/// Compressed messages that become long ones and are done at a time.
const UNPACKING_MAX: usize = 2;

/// Says whether a message is compressed and becomes a long one, by its kind and the size that it tells.
fn becomes_long(frame: &[u8]) -> bool {
    let number = |at: usize| frame.get(at..at + 4)?.try_into().ok().map(i32::from_le_bytes);
    number(12) == Some(2012)
        && number(20).and_then(|bytes| usize::try_from(bytes).ok()) > Some(LONG_MESSAGE_BYTES)
}

/// Expressions that go round and round.
const LOOPS: [&[u8]; 4] = [b"$map\0", b"$reduce\0", b"$range\0", b"$filter\0"];

/// Says whether a message may take long: a long one, and one with expressions that do something many times.
fn may_take_long(frame: &[u8]) -> bool {
    frame.len() > LONG_MESSAGE_BYTES
        || LOOPS.iter().any(|name| frame.windows(name.len()).any(|part| part == *name))
}

/// Does something whose single parts may take long: another thread takes over from this one for the time of each, so
/// that other connections are answered meanwhile.
async fn aside<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|context| tokio::task::block_in_place(|| work.as_mut().poll(context))).await
}

const BODY_LIMITS: BodyLimits =
    BodyLimits { bytes_max: MESSAGE_BYTES_MAX, drain_bytes_max: 2 * MESSAGE_BYTES_MAX };

/// Answers one message that is the body of a request, from a page that has signed in.
pub(crate) async fn over_http<B>(
    api: &MongoApi,
    request: Request<B>,
    address: IpAddr,
) -> Response<Full<Bytes>>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Display,
{
    let (head, sent) = request.into_parts();
    let Some(SignedIn(access)) = head.extensions.get() else {
        return plain(StatusCode::UNAUTHORIZED, "sign in first");
    };
    let frame = match body::read(sent, BODY_LIMITS).await {
        Ok(frame) => frame,
        Err(BodyError::TooLarge) => return plain(StatusCode::PAYLOAD_TOO_LARGE, "the message is too long"),
        Err(BodyError::Broken(_)) => {
            return plain(StatusCode::BAD_REQUEST, "the message broke off: send it again");
        }
    };
    // Frames are measured by those who read them from a connection.
    if armilla_api_mongo::measure(&frame) != armilla_api_mongo::Measure::Bytes(frame.len()) {
        return plain(StatusCode::BAD_REQUEST, "the body has to be one message of MongoDB's protocol");
    }
    let host = head.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let peer = Peer { address: SocketAddr::new(address, 0), local: host.to_owned() };
    let mut connection = api.connect_as_account(&peer, *access == KeyAccess::ReadOnly);
    let answer = aside(api.answer(&mut connection, &frame)).await;
    let Some(reply) = answer.reply else {
        return plain(StatusCode::BAD_REQUEST, "the message wants no answer: it has to be a command");
    };
    let mut response = Response::new(Full::new(reply));
    let kind = HeaderValue::from_static("application/octet-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Answers messages of MongoDB's protocol.
pub(crate) struct MongoService {
    api: MongoApi,
    /// Turns of compressed messages that become long ones.
    unpacking: Semaphore,
}

impl MongoService {
    pub(crate) fn new(api: MongoApi) -> MongoService {
        MongoService { api, unpacking: Semaphore::new(UNPACKING_MAX) }
    }
}

impl FrameService for MongoService {
    type Conversation = Connection;

    fn front(&self) -> Front {
        Front::Mongo
    }

    fn frame_bytes_max(&self) -> usize {
        MESSAGE_BYTES_MAX
    }

    fn begin(&self, session: &Session) -> Connection {
        let mut connection =
            self.api.connect(&Peer { address: session.peer, local: session.came_to.clone() });
        connection.ends_with(session.shutdown.clone());
        connection
    }

    fn measure(&self, begun: &[u8]) -> Measure {
        match armilla_api_mongo::measure(begun) {
            armilla_api_mongo::Measure::More => Measure::More,
            armilla_api_mongo::Measure::Bytes(length) => Measure::Bytes(length),
            armilla_api_mongo::Measure::Malformed => Measure::Malformed,
        }
    }

    fn ends_with_client(&self, frame: &[u8]) -> bool {
        armilla_api_mongo::ends_with_client(frame)
    }

    async fn answer(
        &self,
        conversation: &mut Connection,
        frame: Bytes,
        answers: &mut Answers<'_>,
    ) -> ControlFlow<()> {
        let answering = self.api.answer(conversation, &frame);
        let mut answer = if becomes_long(&frame) {
            // Little can become much: a few at a time. The semaphore is never closed.
            let _turn = self.unpacking.acquire().await;
            aside(answering).await
        } else if may_take_long(&frame) {
            aside(answering).await
        } else {
            answering.await
        };
        drop(frame);
        loop {
            if let Some(reply) = answer.reply
                && answers.send(reply).await.is_err()
            {
                return ControlFlow::Break(());
            }
            if answer.closes {
                return ControlFlow::Break(());
            }
            if !answer.goes_on {
                return ControlFlow::Continue(());
            }
            answer = self.api.go_on(conversation).await;
        }
    }

    /// Nothing is said without being asked: drivers take a closed connection for what it is.
    fn farewell(&self, _: End) -> Option<Bytes> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_take_long() {
        assert!(!may_take_long(b"\x02find\0\x02\0\0\0c\0"));
        assert!(may_take_long(b"\x03$expr\0\x03$map\0"));
        assert!(may_take_long(&vec![0; LONG_MESSAGE_BYTES + 1]));
    }
}
