//! A port with a protocol behind it, as `serve` opens them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use armilla_env::{Env, SimulatedClock};
use armilla_kv::StoreStats;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::listening::connection::{Common, Connections};
use crate::listening::listener::{self, Entrance};
use crate::listening::protocol::Protocol;
use crate::listening::tls;
use crate::metrics::Metrics;
use crate::rooms::Rooms;
use crate::settings::{Certificate, Settings};

/// How long anything may take that is to happen.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// An open port. Its clock stands still unless a test moves it.
pub(super) struct Port {
    pub(super) address: SocketAddr,
    pub(super) common: Arc<Common>,
    pub(super) clock: Arc<SimulatedClock>,
    shutdown: watch::Sender<bool>,
    accepting: JoinHandle<JoinSet<()>>,
}

/// The settings of a server in memory.
pub(super) fn settings() -> Settings {
    Settings::new(toml::from_str("memory = true").unwrap()).unwrap()
}

/// Lets the sockets move, which are real.
#[expect(clippy::disallowed_methods, reason = "what the operating system does takes real time")]
async fn moment() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

impl Port {
    /// Opens a port for so many connections.
    pub(super) async fn open<P: Protocol>(
        connections_max: u32,
        protocol: impl AsyncFnOnce(&Env, &Arc<Common>) -> P,
    ) -> Port {
        let (env, clock) = Env::simulated(3);
        let common = Arc::new(Common {
            metrics: Arc::new(Metrics::new()),
            rooms: Rooms::new(&env),
            clock: env.clock.clone(),
            settings: settings().connections,
        });
        let certificate = Certificate::SelfSigned { names: Vec::new() };
        let config = tls::server_config(&certificate, None, &Env::system()).unwrap();
        let protocol = protocol(&env, &common).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(Connections::new(protocol, &config, common.clone()));
        let (shutdown, asked) = watch::channel(false);
        let accepting = tokio::spawn(listener::accept(
            vec![Entrance { listener, connections }],
            connections_max,
            common.rooms.crowd.clone(),
            env.clock.clone(),
            asked,
        ));
        Port { address, common, clock, shutdown, accepting }
    }

    /// Returns a figure as `/metrics` shows it.
    pub(super) fn figure(&self, name: &str) -> f64 {
        let text = self.common.metrics.render(
            &StoreStats::default(),
            &[],
            None,
            self.common.rooms.held(),
            Duration::ZERO,
        );
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().unwrap()
    }

    /// Waits until a figure has a value.
    pub(super) async fn until(&self, name: &str, value: f64) {
        for _ in 0..PATIENCE.as_millis() {
            if self.figure(name) == value {
                return;
            }
            moment().await;
        }
        panic!("{name} is {} and not {value}", self.figure(name));
    }

    /// Does something while time flies: a second of it in a millisecond or two.
    pub(super) async fn while_time_flies<T>(&self, action: impl Future<Output = T>) -> T {
        let time = async {
            for _ in 0..PATIENCE.as_millis() {
                self.clock.advance(Duration::from_secs(1));
                moment().await;
            }
        };
        tokio::select! {
            done = action => done,
            () = time => panic!("it never came"),
        }
    }

    /// Asks for the end.
    pub(super) fn shut_down(&self) {
        self.shutdown.send(true).unwrap();
    }

    /// Waits until nothing is accepted and no connection is open any more.
    pub(super) async fn ended(self) {
        let all = async {
            let mut open = self.accepting.await.unwrap();
            while let Some(ended) = open.join_next().await {
                ended.unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, all).await.expect("a connection is still open");
        assert_eq!(self.common.rooms.held(), (0, 0));
    }
}
