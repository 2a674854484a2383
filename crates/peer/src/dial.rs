//! Connecting to another node.

use std::io;
use std::sync::Arc;

use rustls::ClientConfig;
use tokio::io::BufReader;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::CallError;
use crate::limits::{CONNECT_TIME, GREETING_GRACE, GREETING_TIME, READ_BYTES};
use crate::secret::Secret;
use crate::{hello, tls};

/// A stream to another node that has proved to be one. TLS reads little at a time, so what it reads from is buffered.
pub(crate) type Stream = TlsStream<BufReader<TcpStream>>;

/// Where a node is called, and how.
pub(crate) struct Target {
    address: String,
    secret: Secret,
}

impl Target {
    pub(crate) fn new(address: &str, secret: Secret) -> Target {
        Target { address: address.to_owned(), secret }
    }

    /// Connects, and has both sides prove what they are.
    pub(crate) async fn dial(&self) -> Result<Stream, CallError> {
        let address = &self.address;
        let not_sent = |message: String| CallError::NotSent(format!("{address}: {message}"));
        let socket = timeout(CONNECT_TIME, TcpStream::connect(address.as_str()))
            .await
            .map_err(|_| not_sent("connecting takes too long".to_owned()))?
            .map_err(|error| not_sent(format!("cannot connect: {error}")))?;
        socket.set_nodelay(true).map_err(|error| not_sent(error.to_string()))?;
        timeout(GREETING_TIME + GREETING_GRACE, self.greet(socket))
            .await
            .map_err(|_| not_sent("the greeting takes too long".to_owned()))?
            .map_err(|error| match error {
                CallError::Refused(message) => CallError::Refused(format!("{address}: {message}")),
                CallError::NotSent(message) | CallError::Unknown(message) => not_sent(message),
            })
    }

    async fn greet(&self, socket: TcpStream) -> Result<Stream, CallError> {
        let connector = TlsConnector::from(config()?);
        let buffered = BufReader::with_capacity(READ_BYTES, socket);
        let mut stream = connector.connect(tls::server_name(), buffered).await.map_err(of_tls)?;
        let session = hello::session_of_client(stream.get_ref().1).map_err(of_rustls)?;
        hello::greet(&mut stream, &session, &self.secret).await?;
        Ok(stream)
    }
}

/// Made for every connection: there are few.
fn config() -> Result<Arc<ClientConfig>, CallError> {
    tls::client().map(Arc::new).map_err(of_rustls)
}

fn of_rustls(error: rustls::Error) -> CallError {
    CallError::Refused(format!("no TLS: {error}"))
}

/// Tells one who speaks something else from a connection that broke.
fn of_tls(error: io::Error) -> CallError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(inner) => of_rustls(inner.clone()),
        None => CallError::NotSent(format!("no TLS: {error}")),
    }
}
