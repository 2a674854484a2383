//! A node to be called, and a way to it that can be stopped and cut.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use armilla_peer::{Link, Secret, Service, serve};
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinHandle;

/// More patience than any test needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Does what the first byte of a request says.
#[derive(Default)]
pub(crate) struct Doing {
    pub(crate) sessions: AtomicUsize,
    pub(crate) begun: AtomicUsize,
    pub(crate) under_way: AtomicUsize,
    pub(crate) told: AtomicUsize,
    pub(crate) gate: Gate,
}

pub(crate) struct Gate(Semaphore);

impl Default for Gate {
    fn default() -> Gate {
        Gate(Semaphore::new(0))
    }
}

/// Counts one less when it is dropped.
pub(crate) struct Counted(Arc<Doing>, fn(&Doing) -> &AtomicUsize);

impl Counted {
    fn new(doing: &Arc<Doing>, of: fn(&Doing) -> &AtomicUsize) -> Counted {
        of(doing).fetch_add(1, Ordering::SeqCst);
        Counted(doing.clone(), of)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.1)(&self.0).fetch_sub(1, Ordering::SeqCst);
    }
}

/// A [`Doing`] as it is served.
pub(crate) struct Served(pub(crate) Arc<Doing>);

impl Service for Served {
    type Session = Counted;

    fn open(&self) -> Counted {
        Counted::new(&self.0, |doing| &doing.sessions)
    }

    fn call(self: Arc<Self>, _session: Arc<Counted>, request: Bytes) -> BoxFuture<'static, Bytes> {
        let doing = self.0.clone();
        doing.begun.fetch_add(1, Ordering::SeqCst);
        let counted = Counted::new(&doing, |doing| &doing.under_way);
        async move {
            let _counted = counted;
            match request.first() {
                Some(b'e') => request,
                Some(b'g') => {
                    doing.gate.0.acquire().await.unwrap().forget();
                    request
                }
                Some(b'n') => std::future::pending().await,
                Some(b'p') => panic!("this call panics"),
                Some(b'b') => {
                    let length = u32::from_le_bytes(request[1..5].try_into().unwrap());
                    vec![7; length as usize].into()
                }
                Some(b't') => {
                    doing.told.fetch_add(1, Ordering::SeqCst);
                    Bytes::new()
                }
                _ => panic!("no such thing to do"),
            }
        }
        .boxed()
    }
}

/// A node that is served.
pub(crate) struct Node {
    pub(crate) address: SocketAddr,
    pub(crate) doing: Arc<Doing>,
    end: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl Node {
    pub(crate) async fn start() -> Node {
        Node::start_with("the key").await
    }

    pub(crate) async fn start_with(key: &str) -> Node {
        Node::start_at(TcpListener::bind("127.0.0.1:0").await.unwrap(), key)
    }

    pub(crate) fn start_at(listener: TcpListener, key: &str) -> Node {
        let address = listener.local_addr().unwrap();
        let doing = Arc::new(Doing::default());
        let (end, ended) = oneshot::channel();
        let service = Arc::new(Served(doing.clone()));
        let serving = tokio::spawn(serve(listener, service, Secret::derive(key), async {
            let _ = ended.await;
        }));
        Node { address, doing, end: Some(end), serving }
    }

    pub(crate) fn link(&self) -> Link {
        link(self.address)
    }

    /// Begins to end.
    pub(crate) fn end(&mut self) {
        self.end.take();
    }

    /// Returns when it has ended.
    pub(crate) async fn ended(mut self) {
        self.end.take();
        self.serving.await.unwrap();
    }

    /// Stops as a process does that is killed.
    pub(crate) async fn kill(self) {
        self.serving.abort();
        let _ = self.serving.await;
    }
}

impl Doing {
    pub(crate) fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    pub(crate) fn under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    pub(crate) fn sessions(&self) -> usize {
        self.sessions.load(Ordering::SeqCst)
    }

    pub(crate) fn told(&self) -> usize {
        self.told.load(Ordering::SeqCst)
    }

    /// Lets so many calls through that wait for it.
    pub(crate) fn let_through(&self, count: usize) {
        self.gate.0.add_permits(count);
    }
}

pub(crate) fn link(address: SocketAddr) -> Link {
    Link::new(&address.to_string(), Secret::derive("the key"), Handle::current())
}

/// Starts a call that goes on by itself.
pub(crate) fn begin(
    link: &Link,
    request: &'static [u8],
) -> JoinHandle<Result<Bytes, armilla_peer::CallError>> {
    let link = link.clone();
    tokio::spawn(async move { link.call(Bytes::from_static(request), PATIENCE).await })
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn eventually(what: impl Fn() -> bool) -> impl Future<Output = ()> {
    let place = std::panic::Location::caller();
    async move {
        for _ in 0..4_000 {
            if what() {
                return;
            }
            // Sockets and tasks take real time.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("what is waited for at {place} does not come about");
    }
}

/// Waits for as long as it takes to be sure that something does not happen.
pub(crate) async fn a_while() {
    // Sockets and tasks take real time.
    tokio::time::sleep(Duration::from_millis(300)).await;
}

/// What is done to the connections of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Open,
    /// Nothing comes through, as if the process at its end were stopped.
    Stopped,
    /// Connections break.
    Cut,
}

/// A way to a node that forwards bytes.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    way: watch::Sender<Way>,
}

impl Proxy {
    pub(crate) async fn to(target: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (way, watched) = watch::channel(Way::Open);
        tokio::spawn(async move {
            while let Ok((caller, _)) = listener.accept().await {
                let server = TcpStream::connect(target).await.unwrap();
                tokio::spawn(forward(caller, server, watched.clone()));
            }
        });
        Proxy { address, way }
    }

    pub(crate) fn set(&self, way: Way) {
        self.way.send_replace(way);
    }
}

async fn forward(caller: TcpStream, server: TcpStream, mut way: watch::Receiver<Way>) {
    let ((caller_from, caller_to), (server_from, server_to)) = (caller.into_split(), server.into_split());
    let mut cut = way.clone();
    let one = copy(caller_from, server_to, way.clone());
    let other = copy(server_from, caller_to, way.clone());
    let _ = way.borrow_and_update();
    tokio::select! {
        () = one => {}
        () = other => {}
        _ = cut.wait_for(|way| *way == Way::Cut) => {}
    }
}

async fn copy(
    mut from: impl tokio::io::AsyncRead + Unpin,
    mut to: impl tokio::io::AsyncWrite + Unpin,
    mut way: watch::Receiver<Way>,
) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let Ok(count) = from.read(&mut bytes).await else { return };
        if way.wait_for(|way| *way != Way::Stopped).await.is_err() {
            return;
        }
        if count == 0 || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
