//! Writers beside followers: upserts of random items, as many as are answered or at a rate.
//!
//! With a rate, each connection sends at its moments, and a write that has to wait because the one before it is not
//! answered counts from the moment at which it should have been sent.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::Composer;
use armilla_env::Random;

use super::board::Board;
use crate::measure::Latencies;
use crate::server::{Ask, write_request};

/// What writers do.
pub(super) struct Stream {
    pub(super) address: SocketAddr,
    pub(super) connections: usize,
    /// Writes a second of all connections, or 0 for as many as are answered.
    pub(super) per_second: f64,
    pub(super) seconds: f64,
}

/// Writes for some time, and then once more for the followers to see the end; returns how long it took without that.
pub(super) fn run(board: &Arc<Board>, stream: &Stream) -> Result<(Latencies, Duration)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let clock = board.env.clock.clone();
        let interval = (stream.per_second > 0.0)
            .then(|| Duration::from_secs_f64(stream.connections as f64 / stream.per_second));
        let mut writers = Vec::new();
        for number in 0..stream.connections {
            writers.push(Writer::open(board, stream, number).await?);
        }
        let begin = clock.elapsed();
        let end = begin + Duration::from_secs_f64(stream.seconds);
        let running: Vec<_> =
            writers.into_iter().map(|writer| tokio::spawn(writer.run(interval, begin, end))).collect();
        let mut all = Latencies::new();
        for writer in running {
            all.add(&writer.await??);
        }
        let took = clock.elapsed() - begin;
        Writer::open(board, stream, 0).await?.write(board.last_write(0), 0).await?;
        Ok((all, took))
    })
}

struct Writer {
    board: Arc<Board>,
    connection: Connection,
    composer: Composer,
    request: Vec<u8>,
    random: Random,
    /// Which of how many writers it is.
    number: usize,
    count: usize,
}

impl Writer {
    async fn open(board: &Arc<Board>, stream: &Stream, number: usize) -> Result<Writer> {
        Ok(Writer {
            board: board.clone(),
            connection: Connection::open(stream.address).await.context("cannot connect")?,
            composer: Composer::new(&board.env),
            request: Vec::with_capacity(2_048),
            random: Random::of_part(9, number as u64),
            number,
            count: stream.connections,
        })
    }

    async fn run(mut self, interval: Option<Duration>, begin: Duration, end: Duration) -> Result<Latencies> {
        let clock = self.board.env.clock.clone();
        let mut latencies = Latencies::new();
        // Connections take turns.
        let share = self.number as f64 / self.count as f64;
        let mut due = begin + interval.unwrap_or_default().mul_f64(share);
        loop {
            let mut sent = clock.elapsed();
            if let Some(interval) = interval {
                if sent < due {
                    clock.sleep(due - sent).await;
                    sent = clock.elapsed();
                } else {
                    sent = due;
                }
                due += interval;
            }
            if sent >= end {
                return Ok(latencies);
            }
            let Some(number) = self.board.next_write() else { return Ok(latencies) };
            let index = self.own_item();
            self.write(number, index).await?;
            latencies.record(clock.elapsed() - sent);
        }
    }

    /// Draws an item that no other writer has, so that the order of its versions is known.
    fn own_item(&mut self) -> usize {
        let own = (self.board.items.count - self.number).div_ceil(self.count);
        self.number + self.count * self.random.index(own)
    }

    async fn write(&mut self, number: usize, index: usize) -> Result<()> {
        self.request.clear();
        let (items, version) = (self.board.items, number as u64);
        write_request(&mut self.composer, &mut self.request, Ask::Upsert, items, index, version);
        let reply = self.connection.exchange(&self.request).await.context("the server does not answer")?;
        let now = self.board.env.clock.elapsed();
        if !matches!(reply.status, 200 | 201) {
            bail!("an upsert got {}: {}", reply.status, reply.excerpt());
        }
        self.board.acknowledge(number, index, now);
        Ok(())
    }
}
