//! A client of HTTP/2 without TLS, many requests at once on one connection.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_env::Env;
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::request::{Caller, Request};

/// How long an answer's head may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection of HTTP/2. It is closed when this is dropped.
pub struct Http2Connection {
    sender: SendRequest<BoxBody<Bytes, Infallible>>,
    driver: JoinHandle<()>,
    address: SocketAddr,
    env: Env,
}

impl Http2Connection {
    /// Connects. `window_bytes` is how much of an answer the server may send before it is read.
    pub async fn open(address: SocketAddr, env: &Env, window_bytes: u32) -> Result<Http2Connection> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        let mut builder = Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(window_bytes).initial_connection_window_size(window_bytes);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.context("no HTTP/2")?;
        let driver = tokio::spawn(async move {
            // Its end is seen by whoever waits for an answer.
            let _ = connection.await;
        });
        Ok(Http2Connection { sender, driver, address, env: env.clone() })
    }

    /// Sends a request and returns its answer with the body unread: what is not read stays with the server.
    pub async fn ask(&self, caller: &Caller, request: &Request) -> Result<http::Response<Incoming>> {
        let (.., body) = request.parts();
        let body = Full::new(Bytes::copy_from_slice(body)).boxed();
        timeout(HEAD_TIMEOUT, self.send(caller, request, body)).await.context("no head of an answer")?
    }

    /// Sends a request whose body has so many frames of one byte, and no end; waits for an answer.
    pub async fn ask_endlessly(
        &self,
        caller: &Caller,
        request: &Request,
        frames: usize,
    ) -> Result<http::Response<Incoming>> {
        self.send(caller, request, OneByteFrames { left: frames }.boxed()).await
    }

    async fn send(
        &self,
        caller: &Caller,
        request: &Request,
        body: BoxBody<Bytes, Infallible>,
    ) -> Result<http::Response<Incoming>> {
        let (method, path, headers, _) = request.parts();
        let uri = format!("http://localhost:{}{path}", self.address.port());
        let mut builder = http::Request::builder().method(method).uri(uri);
        for (name, value) in request.credentials(caller, &self.env).iter().chain(headers) {
            builder = builder.header(name, value);
        }
        let request = builder.body(body).context("no such request")?;
        let mut sender = self.sender.clone();
        sender.ready().await.context("the connection takes no request")?;
        sender.send_request(request).await.context("no answer")
    }
}

/// A body in pieces of one byte, each a frame of its own, that does not end.
struct OneByteFrames {
    left: usize,
}

impl Body for OneByteFrames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(left) = self.left.checked_sub(1) else { return Poll::Pending };
        self.left = left;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b" ")))))
    }
}

impl Drop for Http2Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
