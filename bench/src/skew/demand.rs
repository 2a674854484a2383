//! Clients that always want more than a container's throughput: what they were given, second by second.
//!
//! A client that is refused asks for something else soon after, as the users of an application do who know nothing of each
//! other; so no partition has budget left because its clients wait for another one.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_env::{Env, Random};

use crate::items::{CONTAINER, DATABASE};

/// Longest time that a refused client rests.
const BACKOFF_MAX: Duration = Duration::from_millis(20);

/// Of what a client asks for, how many percent are reads, as soon as it has something to read.
const READ_PERCENT: u64 = 50;

/// Bytes of text in an item.
const FILLING_BYTES: usize = 300;

/// How partition keys are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Every item has its own.
    Even,
    /// All items have the same.
    Hot,
}

/// What clients were given.
#[derive(Debug, Clone, Default)]
pub(super) struct Given {
    /// Request units of each second.
    pub(super) seconds: Vec<f64>,
    pub(super) accepted: u64,
    pub(super) refused: u64,
    /// The longest time that a refused client was told to wait.
    pub(super) longest_wait_ms: u64,
}

impl Given {
    fn new(seconds: usize) -> Given {
        Given { seconds: vec![0.0; seconds], ..Given::default() }
    }

    fn add(&mut self, other: &Given) {
        for (sum, own) in self.seconds.iter_mut().zip(&other.seconds) {
            *sum += own;
        }
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.longest_wait_ms = self.longest_wait_ms.max(other.longest_wait_ms);
    }
}

/// Demands for some whole seconds of the clock, the first of which is the next but one.
pub(super) async fn demand(
    env: &Env,
    address: SocketAddr,
    key: Key,
    connections: usize,
    seconds: usize,
) -> Result<Given> {
    // The second that has begun is left to whatever came before.
    let start_ms = (env.clock.now_ms() / 1_000 + 2) * 1_000;
    let mut clients = Vec::new();
    for number in 0..connections {
        let connection = Connection::open(address).await.context("cannot connect")?;
        let client = Client { env: env.clone(), connection, key, number, start_ms, own: Vec::new() };
        clients.push(tokio::spawn(client.run(seconds)));
    }
    let mut given = Given::new(seconds);
    for client in clients {
        given.add(&client.await??);
    }
    Ok(given)
}

struct Client {
    env: Env,
    connection: Connection,
    key: Key,
    number: usize,
    start_ms: i64,
    /// Items that it has made: their keys and ids.
    own: Vec<(String, String)>,
}

impl Client {
    async fn run(mut self, seconds: usize) -> Result<Given> {
        let mut given = Given::new(seconds);
        let mut random = Random::of_part(9, self.number as u64);
        let mut composer = Composer::new(&self.env);
        let early_ms = self.start_ms - self.env.clock.now_ms();
        self.env.clock.sleep(Duration::from_millis(early_ms.max(0).unsigned_abs())).await;
        while self.second().is_none_or(|second| second < seconds) {
            let is_read = !self.own.is_empty() && random.percent(READ_PERCENT);
            let name = match is_read {
                true => self.own[random.index(self.own.len())].clone(),
                false => self.new_name(&mut random),
            };
            let request = compose(&mut composer, is_read, &name, &mut random);
            let reply = self.connection.exchange(&request).await.context("the server does not answer")?;
            let number = |header: &str| reply.header(header).and_then(|value| value.parse::<f64>().ok());
            match reply.status {
                200 | 201 => {
                    let charge = number("x-ms-request-charge").context("an answer has no charge")?;
                    if !is_read {
                        self.own.push(name);
                    }
                    if let Some(sum) = self.second().and_then(|second| given.seconds.get_mut(second)) {
                        *sum += charge;
                        given.accepted += 1;
                    }
                }
                429 => {
                    let wait_ms = number("x-ms-retry-after-ms").context("a refusal does not say how long")?;
                    given.refused += 1;
                    given.longest_wait_ms = given.longest_wait_ms.max(wait_ms as u64);
                    self.env.clock.sleep(Duration::from_secs_f64(wait_ms / 1e3).min(BACKOFF_MAX)).await;
                }
                status => bail!("a request got {status}: {}", reply.excerpt()),
            }
        }
        Ok(given)
    }

    /// Returns the second that it is, counted from the start.
    fn second(&self) -> Option<usize> {
        usize::try_from((self.env.clock.now_ms() - self.start_ms).div_euclid(1_000)).ok()
    }

    fn new_name(&self, random: &mut Random) -> (String, String) {
        let id = format!("{}-{}-{:016x}", self.number, self.own.len(), random.next_u64());
        let key = match self.key {
            Key::Even => format!("even-{id}"),
            Key::Hot => "hot".to_owned(),
        };
        (key, id)
    }
}

fn compose(
    composer: &mut Composer,
    is_read: bool,
    (key, id): &(String, String),
    random: &mut Random,
) -> Vec<u8> {
    let header = partition_key(key);
    let mut headers = vec![("x-ms-documentdb-partitionkey", header.as_str())];
    if is_read {
        return composer.compose("GET", Target::Item(DATABASE, CONTAINER, id), &headers, b"");
    }
    headers.push(("x-ms-documentdb-is-upsert", "True"));
    let mut body = format!(r#"{{"id":"{id}","customer":"{key}","count":{},"note":""#, random.below(1_000));
    random.push_text(FILLING_BYTES, &mut body);
    body.push_str("\"}");
    composer.compose("POST", Target::Items(DATABASE, CONTAINER), &headers, body.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_were_given_adds_up() {
        let mut sum = Given::new(2);
        let one = Given { seconds: vec![1.0, 2.5], accepted: 3, refused: 1, longest_wait_ms: 700 };
        sum.add(&one);
        sum.add(&Given { longest_wait_ms: 5, ..one });
        assert_eq!(sum.seconds, [2.0, 5.0]);
        assert_eq!((sum.accepted, sum.refused, sum.longest_wait_ms), (6, 2, 700));
    }
}
