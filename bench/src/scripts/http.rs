//! Our side: the server over HTTP, with one request at a time on each connection that stays open.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use armilla_crash::http_client::{Connection, Reply};
use armilla_crash::process_figures;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_crash::server_process::ServerProcess;
use armilla_env::Env;
use armilla_value::{Object, Value, json};

use super::workload::{
    COUNTER, Case, Entries, Entry, LOOP_PROCEDURE, LOOP_PROCEDURE_BODY, PROCEDURE, PROCEDURE_BODY, Requests,
    Workload, batch_body, counter, patch, place,
};
use crate::measure::{Latencies, Measurement, measure_with};
use crate::server::{Servers, Setup};

/// Connections that make the counters.
const LOADERS: usize = 64;

/// A server with the counters and the procedure.
pub(super) struct OverHttp {
    servers: Servers,
    server: ServerProcess,
    workload: Workload,
    seconds: f64,
}

impl OverHttp {
    /// Starts a server and makes what the operations need.
    pub(super) fn start(setup: &Setup, env: &Env, workload: Workload) -> Result<OverHttp> {
        let servers = Servers::new(setup, env)?;
        let server = servers.start("scripts")?;
        servers.create_container(&server)?;
        for (id, body) in [(PROCEDURE, PROCEDURE_BODY), (LOOP_PROCEDURE, LOOP_PROCEDURE_BODY)] {
            let mut procedure = Object::new();
            procedure.insert("id", id);
            procedure.insert("body", body);
            let (database, container) = place();
            let target = Target::Procedures(database, container);
            servers.ask(&server, "POST", target, &[], &json::to_string(&Value::Object(procedure)))?;
        }
        let own = OverHttp { servers, server, workload, seconds: setup.seconds };
        own.make_counters()?;
        Ok(own)
    }

    fn make_counters(&self) -> Result<()> {
        let (database, container) = place();
        let keys: Vec<String> = self.workload.keys().collect();
        self.servers.runtime.block_on(async {
            let mut tasks = Vec::new();
            for keys in keys.chunks(keys.len().div_ceil(LOADERS)) {
                let (keys, mut composer) = (keys.to_vec(), Composer::new(&self.servers.env));
                let mut connection = Connection::open(self.server.address).await.context("cannot connect")?;
                tasks.push(async move {
                    for key in keys {
                        let header = partition_key(&key);
                        let headers = [("x-ms-documentdb-partitionkey", header.as_str())];
                        let target = Target::Items(database, container);
                        let request = composer.compose("POST", target, &headers, counter(&key).as_bytes());
                        expect(&connection.exchange(&request).await?, 201)?;
                    }
                    Ok::<_, anyhow::Error>(())
                });
            }
            for task in tasks.into_iter().map(tokio::spawn).collect::<Vec<_>>() {
                task.await??;
            }
            Ok(())
        })
    }

    /// Measures one way; returns the request units of an operation as well.
    pub(super) fn measure(&self, case: Case, requests: Requests, round: usize) -> Result<(Measurement, f64)> {
        let pid = self.server.pid();
        let mut charge = 0.0;
        // Scripts compute in processes of their own.
        let cpu_time = || process_figures::family_cpu_time(pid);
        let measurement = measure_with(&self.servers.env, case.name(), cpu_time, || {
            let (latencies, sum) = self.drive(case, requests, round)?;
            charge = sum;
            Ok(latencies)
        })?;
        let operations = measurement.latencies.operations().max(1);
        Ok((measurement, charge / operations as f64))
    }

    fn drive(&self, case: Case, requests: Requests, round: usize) -> Result<(Latencies, f64)> {
        let env = &self.servers.env;
        let end = env.clock.elapsed() + Duration::from_secs_f64(self.seconds);
        self.servers.runtime.block_on(async {
            let mut tasks = Vec::new();
            for number in 0..self.workload.connections {
                let connection = Connection::open(self.server.address).await.context("cannot connect")?;
                let composer = Composer::new(env);
                let client = Client { env: env.clone(), connection, composer, charge: 0.0 };
                let entries = self.workload.entries(case, number, round);
                tasks.push(tokio::spawn(client.run(requests, entries, end)));
            }
            let (mut all, mut charge) = (Latencies::new(), 0.0);
            for task in tasks {
                let (latencies, own) = task.await??;
                all.add(&latencies);
                charge += own;
            }
            Ok((all, charge))
        })
    }

    /// Checks that as many entries are there as were acknowledged, and that the counters agree.
    pub(super) fn verify(&self, entries: u64) -> Result<()> {
        let expected = i64::try_from(entries).context("too many entries")?;
        for (what, query) in [
            ("entries", "SELECT VALUE COUNT(1) FROM c WHERE c.kind = 'entry'"),
            ("counts", "SELECT VALUE SUM(c.count) FROM c WHERE c.kind = 'counter'"),
        ] {
            let (database, container) = place();
            let headers =
                [("x-ms-documentdb-isquery", "True"), ("x-ms-documentdb-query-enablecrosspartition", "True")];
            let body = format!(r#"{{"query":"{query}"}}"#);
            let target = Target::Items(database, container);
            let answer = self.servers.ask(&self.server, "POST", target, &headers, &body)?;
            let page = json::parse(&answer.body).context("the answer to a query is not JSON")?;
            let first = page.get("Documents").and_then(Value::as_array).and_then(|rows| rows.first());
            let found = first.and_then(Value::as_i64);
            ensure!(found == Some(expected), "{expected} entries made {found:?} {what}");
        }
        Ok(())
    }

    /// Ends the server.
    pub(super) fn stop(self) -> Result<()> {
        self.servers.stop(self.server)
    }
}

/// One connection.
struct Client {
    env: Env,
    connection: Connection,
    composer: Composer,
    /// Request units so far.
    charge: f64,
}

impl Client {
    async fn run(mut self, ask: Requests, mut entries: Entries, end: Duration) -> Result<(Latencies, f64)> {
        let mut latencies = Latencies::new();
        loop {
            // Making and signing the requests belongs to the client.
            let requests = self.requests(ask, &entries.next_entries(ask.entries()));
            let begin = self.env.clock.elapsed();
            if begin >= end {
                return Ok((latencies, self.charge));
            }
            for (request, status) in requests {
                let reply = self.connection.exchange(&request).await.context("the server does not answer")?;
                expect(&reply, status)?;
                self.charge += charge(&reply)?;
            }
            latencies.record(self.env.clock.elapsed() - begin);
        }
    }

    /// Returns the requests of an operation, with the status that each must get.
    fn requests(&mut self, ask: Requests, entries: &[Entry]) -> Vec<(Vec<u8>, u16)> {
        let (database, container) = place();
        let Some(entry) = entries.first() else { return Vec::new() };
        let key = partition_key(&entry.key);
        let mut headers = vec![("x-ms-documentdb-partitionkey", key.as_str())];
        let items = Target::Items(database, container);
        match ask {
            Requests::Procedure => {
                let arguments = format!(r#"[{},"{COUNTER}"]"#, entry.json);
                let target = Target::Procedure(database, container, PROCEDURE);
                vec![(self.composer.compose("POST", target, &headers, arguments.as_bytes()), 200)]
            }
            Requests::LoopProcedure => {
                let list: Vec<&str> = entries.iter().map(|entry| entry.json.as_str()).collect();
                let arguments = format!(r#"[[{}],"{COUNTER}"]"#, list.join(","));
                let target = Target::Procedure(database, container, LOOP_PROCEDURE);
                vec![(self.composer.compose("POST", target, &headers, arguments.as_bytes()), 200)]
            }
            Requests::Batch | Requests::LargeBatch => {
                headers.push(("x-ms-cosmos-is-batch-request", "True"));
                headers.push(("x-ms-cosmos-batch-atomic", "True"));
                headers.push(("prefer", "return=minimal"));
                let body = batch_body(entries);
                vec![(self.composer.compose("POST", items, &headers, body.as_bytes()), 200)]
            }
            Requests::Separate => {
                headers.push(("prefer", "return=minimal"));
                let counter = Target::Item(database, container, COUNTER);
                vec![
                    (self.composer.compose("POST", items, &headers, entry.json.as_bytes()), 201),
                    (self.composer.compose("PATCH", counter, &headers, patch(1).as_bytes()), 200),
                ]
            }
        }
    }
}

fn charge(reply: &Reply<'_>) -> Result<f64> {
    let text = reply.header("x-ms-request-charge").context("an answer names no request units")?;
    text.parse().with_context(|| format!("the request units are {text}"))
}

fn expect(reply: &Reply<'_>, status: u16) -> Result<()> {
    if reply.status != status {
        bail!("the server answered {}, expected was {status}: {}", reply.status, reply.excerpt());
    }
    Ok(())
}
