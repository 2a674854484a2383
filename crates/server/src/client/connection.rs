//! A connection to a server, for one request after the other.

use std::net::IpAddr;

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::endpoint::Endpoint;
use super::trust::Trust;
use crate::limits::COMMAND_ANSWER_BYTES_MAX;

/// What the server said.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// An open connection.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// Moves the bytes. Its failure is also that of the request.
    driving: JoinHandle<Result<(), hyper::Error>>,
}

impl Connection {
    /// Opens a connection.
    pub(super) async fn open(endpoint: &Endpoint, trust: &Trust) -> Result<Connection> {
        let socket = TcpStream::connect((endpoint.host(), endpoint.port())).await.map_err(|error| {
            anyhow!(
                "no server answers at {endpoint} ({error}): start one with `armilla`, or say where it is with \
                 --endpoint"
            )
        })?;
        // Requests are written whole; waiting for more to send along would only add latency.
        socket.set_nodelay(true).context("cannot prepare the connection")?;
        if !endpoint.is_secure() {
            return Connection::over(socket, endpoint).await;
        }
        let peer: IpAddr = socket.peer_addr().context("cannot ask for the server's address")?.ip();
        let stream = trust
            .connector(peer)?
            .connect(endpoint.tls_name()?, socket)
            .await
            .with_context(|| format!("no TLS with the server at {endpoint}"))?;
        Connection::over(stream, endpoint).await
    }

    async fn over<S>(stream: S, endpoint: &Endpoint) -> Result<Connection>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.with_context(|| broken(endpoint))?;
        Ok(Connection { sender, driving: tokio::spawn(connection) })
    }

    /// Sends a request and reads the whole answer.
    pub(super) async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
        endpoint: &Endpoint,
    ) -> Result<Answer> {
        self.sender.ready().await.with_context(|| broken(endpoint))?;
        let response = self.sender.send_request(request).await.with_context(|| broken(endpoint))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, COMMAND_ANSWER_BYTES_MAX)
            .collect()
            .await
            .map_err(|error| anyhow!("{}: {error}", broken(endpoint)))?
            .to_bytes();
        Ok(Answer { status: head.status, headers: head.headers, body })
    }

    /// Whether the server has not hung up yet, as far as we know.
    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driving.abort();
    }
}

fn broken(endpoint: &Endpoint) -> String {
    format!("no answer from the server at {endpoint}")
}
