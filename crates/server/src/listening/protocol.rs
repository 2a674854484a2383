//! What is spoken on a port, once a connection is open.
//!
//! ```text
//! http      requests and answers, HTTP/1.1 and HTTP/2
//! upgrade   the same, until a client asks for another protocol
//! web_socket   which that may be: messages both ways, in any order
//! framed    frames from the first byte on
//! ```
//!
//! A front end brings one of these, and no more. Everything about sockets is the same for all: TLS or none on the same
//! port, how many connections there may be and which of them gives way, timeouts, figures, the end (`listener`,
//! `connection`).

pub(crate) mod framed;
mod http;
mod http_stream;
#[cfg(test)]
mod tests;
pub(crate) mod upgrade;
pub(crate) mod web_socket;

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::watch;

use crate::listening::activity::Activity;
use crate::listening::stream::Stream;
use crate::requests::api::Scheme;

pub(crate) use self::framed::Framed;
pub(crate) use self::http::Http;

/// A protocol.
pub(crate) trait Protocol: Send + Sync + 'static {
    /// Returns the names by which a client may ask for it inside of TLS (ALPN); where there are none, it need not ask.
    fn tls_names(&self) -> &'static [&'static [u8]];

    /// Serves one connection until it ends; or, once the server is to end, until what has begun on it is done.
    ///
    /// Whoever calls this may drop it at any time: a client that is too slow, or has to give way, is not asked.
    fn serve(&self, stream: Stream, session: Session) -> Serving<'_>;
}

/// A connection that is being served. It is boxed, once for each connection.
pub(crate) type Serving<'p> = Pin<Box<dyn Future<Output = ()> + Send + 'p>>;

/// What a protocol knows of a connection besides its bytes.
pub(crate) struct Session {
    /// Whether TLS is spoken.
    pub(crate) scheme: Scheme,
    /// Who is at the other end.
    pub(crate) peer: SocketAddr,
    /// By which address the client came: the name that it asked TLS for, or our end of the socket.
    pub(crate) came_to: String,
    /// Where a protocol notes what is going on, and by which the connection is judged.
    pub(crate) activity: Arc<Activity>,
    /// Turns to true when the server is to end.
    pub(crate) shutdown: watch::Receiver<bool>,
}

impl Session {
    /// Waits until the server is to end.
    pub(crate) async fn ending(&mut self) {
        // A server that is gone does not say so any more.
        let _ = self.shutdown.wait_for(|is_asked| *is_asked).await;
    }
}
