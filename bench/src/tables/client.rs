//! The client: some connections, each with one request at a time, on one thread.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use armilla_env::{Env, Random};

use super::connection::{Connection, Reply};
use super::requests::{Composer, write_next};
use super::workload::{BATCH_ENTITIES, Case, Entities, NewKeys, PARTITION_ENTITIES, READ_TABLE, WRITE_TABLE};
use crate::measure::Latencies;
use crate::server::Answered;

/// Connections over which entities are loaded.
const LOADERS: usize = 4;

/// What is asked, of whom, and what a good answer looks like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drive {
    pub(super) address: SocketAddr,
    pub(super) case: Case,
    pub(super) entities: Entities,
    pub(super) connections: usize,
    pub(super) seconds: f64,
    /// Tells the new keys of this measurement from those of others.
    pub(super) number: u64,
    pub(super) status: u16,
    /// A shorter body is no good answer: a change set that failed says so in few words.
    pub(super) body_bytes_least: usize,
}

impl Drive {
    /// Asks until the time is up.
    pub(super) fn run(self, env: &Env) -> Result<Latencies> {
        let end = env.clock.elapsed() + Duration::from_secs_f64(self.seconds);
        block_on(async {
            let mut tasks = Vec::new();
            for index in 0..self.connections {
                let connection = Connection::open(self.address).await.context("cannot connect")?;
                tasks.push(tokio::spawn(self.ask(env.clone(), connection, index, end)));
            }
            let mut all = Latencies::new();
            for task in tasks {
                all.add(&task.await??);
            }
            Ok(all)
        })
    }

    async fn ask(
        self,
        env: Env,
        mut connection: Connection,
        index: usize,
        end: Duration,
    ) -> Result<Latencies> {
        let mut latencies = Latencies::new();
        let mut composer = Composer::new(&env, self.address);
        let mut random = Random::of_part(self.number, index as u64);
        let mut new_keys = NewKeys::new(self.number, index);
        let mut request = Vec::new();
        loop {
            request.clear();
            // Making and signing a request belongs to the client.
            write_next(&mut composer, &mut request, self.case, self.entities, &mut random, &mut new_keys);
            let begin = env.clock.elapsed();
            if begin >= end {
                return Ok(latencies);
            }
            let reply = connection.exchange(&request).await.context("the server does not answer")?;
            latencies.record(env.clock.elapsed() - begin);
            if reply.status != self.status || reply.body.len() < self.body_bytes_least {
                bail!("{} got {}: {}", self.case.name(), reply.status, reply.excerpt());
            }
        }
    }
}

fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start the client")?.block_on(future)
}

/// Makes both tables and loads the entities that are read.
pub(super) fn load(env: &Env, address: SocketAddr, entities: Entities) -> Result<()> {
    block_on(async {
        let mut composer = Composer::new(env, address);
        let mut connection = Connection::open(address).await.context("cannot connect")?;
        for table in [READ_TABLE, WRITE_TABLE] {
            let mut request = Vec::new();
            composer.write_create_table(&mut request, table);
            let reply = connection.exchange(&request).await?;
            ensure!(reply.status == 204, "a new table got {}: {}", reply.status, reply.excerpt());
        }
        let mut tasks = Vec::new();
        for loader in 0..LOADERS {
            let composer = composer.clone();
            let connection = Connection::open(address).await.context("cannot connect")?;
            tasks.push(tokio::spawn(load_part(composer, connection, entities, loader)));
        }
        for task in tasks {
            task.await??;
        }
        Ok(())
    })
}

/// Loads every partition whose turn it is.
async fn load_part(
    mut composer: Composer,
    mut connection: Connection,
    entities: Entities,
    loader: usize,
) -> Result<()> {
    for partition in (loader..entities.partitions).step_by(LOADERS) {
        let partition_key = entities.partition_key(partition);
        for start in (0..PARTITION_ENTITIES).step_by(BATCH_ENTITIES) {
            let number = |row| (partition * PARTITION_ENTITIES + row) as u64;
            let entity = |row| entities.body(&partition_key, &entities.row_key(row), number(row));
            let batch: Vec<_> = (start..start + BATCH_ENTITIES).map(entity).collect();
            let mut request = Vec::new();
            composer.write_batch(&mut request, READ_TABLE, &batch);
            let reply = connection.exchange(&request).await.context("the server does not answer")?;
            check(Case::Batch, &reply)?;
        }
    }
    Ok(())
}

/// Asks once, looks closely at the answer, and returns it.
pub(super) fn sample(env: &Env, address: SocketAddr, entities: Entities, case: Case) -> Result<Answered> {
    block_on(async {
        let mut composer = Composer::new(env, address);
        let mut request = Vec::new();
        // No measurement has this number.
        let (mut random, mut new_keys) = (Random::new(1), NewKeys::new(u64::MAX, case as usize));
        write_next(&mut composer, &mut request, case, entities, &mut random, &mut new_keys);
        let mut connection = Connection::open(address).await.context("cannot connect")?;
        let reply = connection.exchange(&request).await.context("the server does not answer")?;
        check(case, &reply)?;
        let headers = reply.headers().map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
        Ok(Answered { headers: headers.collect(), body: reply.body.to_vec() })
    })
}

/// Makes sure that an answer is a success and about as many entities as it should be.
fn check(case: Case, reply: &Reply<'_>) -> Result<()> {
    let word = match case {
        Case::Insert => None,
        Case::Get | Case::Page1000 | Case::Page100 => Some("\"PartitionKey\":\""),
        Case::Batch => Some("HTTP/1.1 204 No Content"),
    };
    let found = word.map(|word| String::from_utf8_lossy(reply.body).matches(word).count());
    let is_good = reply.status == case.status() && found.is_none_or(|found| found == case.entities());
    ensure!(
        is_good,
        "{} got {} with {} entities: {}",
        case.name(),
        reply.status,
        found.unwrap_or(0),
        reply.excerpt()
    );
    Ok(())
}
