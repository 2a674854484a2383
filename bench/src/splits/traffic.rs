//! Point reads and writes that go on while something happens to the server, told apart by when they began.
//!
//! With a rate, each connection sends at its moments, and a request that has to wait because the one before it is not
//! answered counts from the moment at which it should have been sent: a pause of the server is seen by all the requests
//! that would have met it, not by one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::Composer;
use armilla_env::{Env, Random};

use crate::items::Items;
use crate::measure::Latencies;
use crate::server::{Ask, write_request};

/// What one kind of client does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) ask: Ask,
    pub(crate) connections: usize,
    /// Requests a second of all its connections, or 0 for as many as are answered.
    pub(crate) per_second: f64,
}

/// Clients at work.
pub(crate) struct Traffic {
    phase: Arc<AtomicUsize>,
    client: JoinHandle<Result<Vec<Vec<Latencies>>>>,
}

/// The phase in which clients stop.
const ENDED: usize = usize::MAX;

impl Traffic {
    /// Begins, in phase 0 of so many.
    pub(crate) fn begin(
        env: &Env,
        address: SocketAddr,
        items: Items,
        streams: &[Stream],
        phases: usize,
    ) -> Traffic {
        let phase = Arc::new(AtomicUsize::new(0));
        let (env, own_phase, streams) = (env.clone(), phase.clone(), streams.to_vec());
        let client = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut running = Vec::new();
                for (stream_number, stream) in streams.iter().enumerate() {
                    for number in 0..stream.connections {
                        let connection = Connection::open(address).await.context("cannot connect")?;
                        let client = Client {
                            env: env.clone(),
                            connection,
                            items,
                            stream: *stream,
                            random: Random::of_part(8, (stream_number * 1_000 + number) as u64),
                            phase: own_phase.clone(),
                            latencies: (0..phases).map(|_| Latencies::new()).collect(),
                        };
                        running.push((stream_number, tokio::spawn(client.run(number))));
                    }
                }
                let mut all: Vec<Vec<Latencies>> =
                    streams.iter().map(|_| (0..phases).map(|_| Latencies::new()).collect()).collect();
                for (stream_number, client) in running {
                    for (sum, own) in all[stream_number].iter_mut().zip(client.await??) {
                        sum.add(&own);
                    }
                }
                Ok(all)
            })
        });
        Traffic { phase, client }
    }

    /// Counts what begins from now on into another phase.
    pub(crate) fn enter(&self, phase: usize) {
        self.phase.store(phase, Ordering::Release);
    }

    /// Says whether the clients have given up.
    pub(crate) fn has_failed(&self) -> bool {
        self.client.is_finished()
    }

    /// Ends; returns the latencies of each stream, phase by phase.
    pub(crate) fn end(self) -> Result<Vec<Vec<Latencies>>> {
        self.enter(ENDED);
        self.client.join().map_err(|_| anyhow!("the client panicked"))?
    }
}

struct Client {
    env: Env,
    connection: Connection,
    items: Items,
    stream: Stream,
    random: Random,
    phase: Arc<AtomicUsize>,
    latencies: Vec<Latencies>,
}

impl Client {
    async fn run(mut self, number: usize) -> Result<Vec<Latencies>> {
        let clock = self.env.clock.clone();
        let mut composer = Composer::new(&self.env);
        let mut request = Vec::with_capacity(2_048);
        let interval = (self.stream.per_second > 0.0)
            .then(|| Duration::from_secs_f64(self.stream.connections as f64 / self.stream.per_second));
        // Connections take turns.
        let share = number as f64 / self.stream.connections as f64;
        let mut due = clock.elapsed() + interval.unwrap_or_default().mul_f64(share);
        loop {
            request.clear();
            let (index, version) = (self.random.index(self.items.count), self.random.next_u64());
            write_request(&mut composer, &mut request, self.stream.ask, self.items, index, version);
            let mut begin = clock.elapsed();
            if let Some(interval) = interval {
                if begin < due {
                    clock.sleep(due - begin).await;
                    begin = clock.elapsed();
                } else {
                    begin = due;
                }
                due += interval;
            }
            let phase = self.phase.load(Ordering::Acquire);
            if phase == ENDED {
                return Ok(self.latencies);
            }
            let reply = self.connection.exchange(&request).await.context("the server does not answer")?;
            if !matches!(reply.status, 200..=204) {
                bail!("{:?} got {}: {}", self.stream.ask, reply.status, reply.excerpt());
            }
            self.latencies[phase].record(clock.elapsed() - begin);
        }
    }
}
