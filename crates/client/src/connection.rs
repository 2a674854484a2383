//! A connection to a server, for one request after the other.
//!
//! Whoever waits for an answer moves the bytes, too: nothing is handed from one task to another, which would cost more
//! than a small request itself. So nothing happens on a connection between two requests; that the server hung up
//! shows with the next one.

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::task::{Context as Waking, Poll, Waker};

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{Connection as Driver, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::endpoint::Endpoint;
use crate::limits::ANSWER_BYTES_MAX;
use crate::stream::Stream;
use crate::trust::Trust;

/// What the server said.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// All headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// An open connection.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// Moves the bytes; none once it has come to its end.
    driver: Option<Driver<TokioIo<Stream>, Full<Bytes>>>,
}

/// Why there is no answer.
pub(crate) enum Broken {
    /// Nothing was sent: the request can be sent over another connection.
    Unsent,
    /// The server may have got it.
    Sent(anyhow::Error),
}

impl Connection {
    /// Opens a connection.
    pub(crate) async fn open(endpoint: &Endpoint, trust: &Trust) -> Result<Connection> {
        let socket = TcpStream::connect((endpoint.host(), endpoint.port())).await.map_err(|error| {
            anyhow!(
                "no server answers at {endpoint} ({error}): start one with `armilla`, or say where it is with \
                 --endpoint"
            )
        })?;
        // Requests are written whole; waiting for more to send along would only add latency.
        socket.set_nodelay(true).context("cannot prepare the connection")?;
        let stream = if endpoint.is_secure() {
            let peer: IpAddr = socket.peer_addr().context("cannot ask for the server's address")?.ip();
            let secure = trust
                .connector(peer)?
                .connect(endpoint.tls_name()?, socket)
                .await
                .with_context(|| format!("no TLS with the server at {endpoint}"))?;
            Stream::Secure(Box::new(secure))
        } else {
            Stream::Plain(socket)
        };
        let (sender, driver) = handshake(TokioIo::new(stream)).await.with_context(|| broken(endpoint))?;
        Ok(Connection { sender, driver: Some(driver) })
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
        endpoint: &Endpoint,
    ) -> Result<Answer, Broken> {
        let Connection { sender, driver } = self;
        let mut asking = pin!(async move {
            let sent = |error| Broken::Sent(anyhow::Error::new(error).context(broken(endpoint)));
            if sender.ready().await.is_err() {
                return Err(Broken::Unsent);
            }
            let response = match sender.try_send_request(request).await {
                Ok(response) => response,
                Err(mut error) => {
                    let is_unsent = error.take_message().is_some();
                    return Err(if is_unsent { Broken::Unsent } else { sent(error.into_error()) });
                }
            };
            let (head, body) = response.into_parts();
            let body = Limited::new(body, ANSWER_BYTES_MAX)
                .collect()
                .await
                .map_err(|error| Broken::Sent(anyhow!("{}: {error}", broken(endpoint))))?
                .to_bytes();
            Ok(Answer { status: head.status, headers: head.headers, body })
        });
        poll_fn(|waking| {
            // The request goes from the first to the second; the answer comes back.
            if let Poll::Ready(answer) = asking.as_mut().poll(waking) {
                return Poll::Ready(answer);
            }
            drive(driver, waking);
            asking.as_mut().poll(waking)
        })
        .await
    }

    /// Whether the server has not hung up yet, as far as can be seen.
    pub(crate) fn is_open(&mut self) -> bool {
        drive(&mut self.driver, &mut Waking::from_waker(Waker::noop()));
        self.driver.is_some() && !self.sender.is_closed()
    }
}

/// Moves what bytes can be moved.
fn drive(driver: &mut Option<Driver<TokioIo<Stream>, Full<Bytes>>>, waking: &mut Waking<'_>) {
    if let Some(running) = driver
        && Pin::new(running).poll(waking).is_ready()
    {
        // Why it ended is also told to the request.
        *driver = None;
    }
}

fn broken(endpoint: &Endpoint) -> String {
    format!("no answer from the server at {endpoint}")
}
