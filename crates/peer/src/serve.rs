//! Accepting the connections of other nodes.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::connection::{Answers, Connection};
use crate::frame::{Frame, Kind};
use crate::limits::{ACCEPT_PAUSE, ENDING_TIME, GREETING_TIME, READ_BYTES, STRANGERS_MAX};
use crate::outbox::Outbox;
use crate::secret::Secret;
use crate::service::Service;
use crate::state::wake;
use crate::wire::Wire;
use crate::{hello, tls};

/// Accepts other nodes until `ended`; then it lets calls under way finish, for [`ENDING_TIME`] at most, and closes.
pub async fn serve<S: Service>(
    listener: TcpListener,
    service: Arc<S>,
    secret: Secret,
    ended: impl Future<Output = ()> + Send,
) {
    let acceptor = match tls::server() {
        Ok(config) => TlsAcceptor::from(Arc::new(config)),
        Err(error) => {
            tracing::error!(%error, "other nodes cannot be served");
            return;
        }
    };
    let strangers = Arc::new(Semaphore::new(STRANGERS_MAX));
    let (ending, has_ended) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut ended = pin!(ended);
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = async {
            let permit = strangers.clone().acquire_owned().await;
            (listener.accept().await, permit)
        };
        let (accepted, permit) = tokio::select! {
            biased;
            () = &mut ended => break,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((socket, address)) => {
                let (acceptor, secret, service) = (acceptor.clone(), secret.clone(), service.clone());
                let mut has_ended = has_ended.clone();
                connections.spawn(async move {
                    let greeted = tokio::select! {
                        greeted = timeout(GREETING_TIME, receive(socket, &acceptor, &secret)) => greeted,
                        _ = has_ended.wait_for(|has_ended| *has_ended) => return,
                    };
                    drop(permit);
                    match greeted {
                        Ok(Ok(Ok(stream))) => connected(stream, service, has_ended).await,
                        Ok(Ok(Err(reason))) => {
                            tracing::warn!(%address, reason, "a connection to this node was refused");
                        }
                        Ok(Err(error)) => tracing::debug!(%address, %error, "one who connected is no node"),
                        Err(_) => tracing::debug!(%address, "one who connected said nothing"),
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "no connection of another node can be accepted");
                pause(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    ending.send_replace(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    if timeout(ENDING_TIME, finished).await.is_err() {
        tracing::warn!("calls of other nodes did not finish in time");
    }
    connections.shutdown().await;
}

/// Receives one who has connected: a node, or the reason why not.
async fn receive(
    socket: TcpStream,
    acceptor: &TlsAcceptor,
    secret: &Secret,
) -> io::Result<Result<TlsStream<BufReader<TcpStream>>, &'static str>> {
    socket.set_nodelay(true)?;
    // TLS reads little at a time.
    let buffered = BufReader::with_capacity(READ_BYTES, socket);
    let mut stream = acceptor.accept(buffered).await?;
    let session = hello::session_of_server(stream.get_ref().1).map_err(io::Error::other)?;
    Ok(hello::receive(&mut stream, &session, secret).await?.map(|()| stream))
}

/// Serves a node that has proved to be one.
async fn connected<S: Service>(
    stream: TlsStream<BufReader<TcpStream>>,
    service: Arc<S>,
    mut has_ended: watch::Receiver<bool>,
) {
    let answers: Answers = Arc::new(Mutex::new(Outbox::default()));
    let to_end = answers.clone();
    let _ending = Dropped(tokio::spawn(async move {
        if has_ended.wait_for(|has_ended| *has_ended).await.is_ok() {
            let writer = to_end.lock().push_urgent(Frame::bare(Kind::Ending, 0));
            wake(writer);
        }
    }));
    let mut wire = Wire::new(stream);
    let mut connection = Connection::new(service, answers);
    let result = connection.run(&mut wire).await;
    // What is under way is dropped with it.
    drop(connection);
    if let Err(broken) = result {
        tracing::debug!(%broken, "the connection of another node ended");
    }
    wire.close().await;
}

/// A task that ends with what it was started for.
struct Dropped(JoinHandle<()>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[expect(clippy::disallowed_methods, reason = "what the operating system lacks takes real time to come back")]
async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}
