//! The same documents and queries in PostgreSQL: a key and a `jsonb` column, with the index that each query needs.
//!
//! An index on an expression never answers alone: PostgreSQL then reads the row as well, also to count it.

use std::pin::pin;

use anyhow::{Context as _, Result, ensure};
use armilla_env::Env;
use armilla_workload::postgres_server::{PostgresServer, Purpose};
use armilla_workload::{Answer as Performed, CpuClock, Effort, FamilyCpu, Future, Worker};
use bytes::{Bytes, BytesMut};
use futures_util::SinkExt as _;
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage, Statement};

use super::QueryOptions;
use super::cases::{Case, Parameter};
use super::explained::Explained;
use super::orders::Orders;
use super::repeat::median_us;
use super::side::{Course, Drawn, Side};
use super::table::{Answer, PostgresFigures, Work};
use crate::server::{Setup, folder};

/// Bytes of documents that go to the server at once.
const COPY_BYTES: usize = 256 * 1024;

/// The stream of choices for what is explained, which no measurement draws.
const EXPLAINED_STREAM: usize = usize::MAX / 2;

/// A PostgreSQL with the orders.
pub(super) struct Postgres {
    env: Env,
    orders: Orders,
    server: PostgresServer,
    runtime: Runtime,
    client: Client,
}

impl Postgres {
    /// Loads the documents into a server of our own and makes the indexes; `None` where none is installed.
    pub(super) fn load(
        options: &QueryOptions,
        setup: &Setup,
        env: &Env,
        course: &Course,
    ) -> Result<Option<Postgres>> {
        let programs = options.postgres_bin.as_deref();
        let purpose = Purpose::Queries { items: course.orders.count, workers: options.postgres_workers };
        let Some(server) = PostgresServer::start(programs, folder(setup)?, env, purpose)? else {
            return Ok(None);
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = connect(&runtime, &server)?;
        let loaded = Postgres { env: env.clone(), orders: course.orders, server, runtime, client };
        loaded.load_documents()?;
        loaded.make_indexes(&course.cases)?;
        Ok(Some(loaded))
    }

    fn execute(&self, text: &str) -> Result<()> {
        self.runtime.block_on(self.client.batch_execute(text)).with_context(|| format!("'{text}' failed"))
    }

    fn load_documents(&self) -> Result<()> {
        let orders = self.orders;
        eprintln!("loading {} documents into PostgreSQL", orders.count);
        self.execute("CREATE TABLE items (id text PRIMARY KEY, doc jsonb NOT NULL)")?;
        self.runtime.block_on(async {
            let mut sink = pin!(self.client.copy_in::<_, Bytes>("COPY items FROM STDIN").await?);
            let mut buffer = BytesMut::with_capacity(2 * COPY_BYTES);
            for index in 0..orders.count {
                copy_line(&orders.id(index), &orders.body(index, 0), &mut buffer);
                if buffer.len() >= COPY_BYTES || index + 1 == orders.count {
                    sink.send(buffer.split().freeze()).await?;
                }
            }
            sink.finish().await
        })?;
        Ok(())
    }

    fn make_indexes(&self, cases: &[Case]) -> Result<()> {
        let mut made = Vec::new();
        for index in cases.iter().filter_map(|case| case.postgres_index) {
            if !made.contains(&index) {
                eprintln!("  CREATE INDEX ON items {index}");
                self.execute(&format!("CREATE INDEX ON items {index}"))?;
                made.push(index);
            }
        }
        self.rest()?;
        // Without the extension, what a scan reads lies in the system's cache instead.
        let warm = "CREATE EXTENSION pg_prewarm; SELECT pg_prewarm(oid) FROM pg_class \
                    WHERE relname LIKE 'items%' AND relkind IN ('r', 'i')";
        if let Err(error) = self.execute(warm) {
            eprintln!("  tables are not read ahead: {error:#}");
        }
        Ok(())
    }

    /// Returns version and settings in a line.
    pub(super) fn settings(&self) -> Result<String> {
        let mut parts = Vec::new();
        let names = [
            "server_version",
            "shared_buffers",
            "max_parallel_workers_per_gather",
            "jit",
            "fsync",
            "autovacuum",
        ];
        for name in names {
            parts.push(format!("{name} {}", self.text(&format!("SHOW {name}"))?));
        }
        let size = self.text("SELECT pg_size_pretty(pg_total_relation_size('items'))")?;
        parts.push(format!("table and indexes {size}"));
        Ok(format!("PostgreSQL: {}", parts.join(", ")))
    }

    /// Returns its indexes as it names them.
    pub(super) fn indexes(&self) -> Result<Vec<String>> {
        self.texts("SELECT indexdef FROM pg_indexes WHERE tablename = 'items' ORDER BY indexname")
    }

    /// Returns the first column of the first row as text.
    fn text(&self, query: &str) -> Result<String> {
        self.texts(query)?.into_iter().next().with_context(|| format!("'{query}' gave no row"))
    }

    /// Returns the first column of all rows as text.
    fn texts(&self, query: &str) -> Result<Vec<String>> {
        let messages = self.runtime.block_on(self.client.simple_query(query))?;
        let row = |message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        };
        Ok(messages.into_iter().filter_map(row).collect())
    }

    /// Measures what the executor alone takes for a query, with values that are drawn each time.
    pub(super) fn explain(&self, case: &Case, course: &Course) -> Result<PostgresFigures> {
        let (executor_us, explained) = self.explain_as(case, course, false)?;
        let (executor_as_text_us, _) = self.explain_as(case, course, true)?;
        Ok(PostgresFigures { executor_us, executor_as_text_us, explained })
    }

    fn explain_as(&self, case: &Case, course: &Course, as_text: bool) -> Result<(f64, Explained)> {
        let mut drawn = Drawn::new(self.orders, course.seed, EXPLAINED_STREAM);
        let mut explained = None;
        let executor_us = median_us(&self.env, course.seconds, || {
            let asked = case.parameters(self.orders, drawn.next().0);
            let query = case.postgres_with(&asked, as_text);
            let explain = format!("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query}");
            let own = Explained::parse(&self.text(&explain)?)?;
            let us = own.executor_us;
            explained = Some(own);
            Ok(us)
        })?;
        Ok((executor_us, explained.context("a query was never explained")?))
    }
}

impl Side for Postgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn asker(&self, case: &Case, drawn: Drawn) -> Result<Box<dyn Worker>> {
        let client = connect(&self.runtime, &self.server)?;
        let statement = self.runtime.block_on(client.prepare(case.postgres))?;
        Ok(Box::new(Asker { client, statement, case: *case, drawn, asked: Vec::new() }))
    }

    fn writer(&self, drawn: Drawn) -> Result<Box<dyn Worker>> {
        let client = connect(&self.runtime, &self.server)?;
        let update = "UPDATE items SET doc = $2::text::jsonb WHERE id = $1";
        let statement = self.runtime.block_on(client.prepare(update))?;
        Ok(Box::new(Writer { client, statement, drawn, prepared: (String::new(), String::new()) }))
    }

    fn cpu_clock(&self) -> Box<dyn CpuClock> {
        // A server that does not say which process it is has no figure.
        Box::new(FamilyCpu::of(self.server.pid().unwrap_or_default()))
    }

    fn answer(&self, case: &Case, index: usize) -> Result<(Answer, Option<Work>)> {
        let asked = case.parameters(self.orders, index);
        let statement = self.runtime.block_on(self.client.prepare(case.postgres))?;
        let rows = self.runtime.block_on(self.client.query(&statement, &values(&asked)))?;
        let number = match (case.is_number, rows.first()) {
            (true, Some(row)) => Some(row.try_get(0).context("the answer is no number")?),
            _ => None,
        };
        Ok((Answer { rows: rows.len(), number }, None))
    }

    /// Does now what is else done in the background, which has no end that could be waited for.
    fn rest(&self) -> Result<()> {
        self.execute("VACUUM (ANALYZE) items")?;
        self.execute("CHECKPOINT")
    }
}

fn connect(runtime: &Runtime, server: &PostgresServer) -> Result<Client> {
    let (client, connection) =
        runtime.block_on(server.config().connect(NoTls)).context("cannot connect to PostgreSQL")?;
    // It ends with the client; what goes wrong shows in the queries.
    runtime.spawn(connection);
    Ok(client)
}

fn values(parameters: &[Parameter]) -> Vec<&(dyn ToSql + Sync)> {
    parameters.iter().map(value).collect()
}

fn value(parameter: &Parameter) -> &(dyn ToSql + Sync) {
    match parameter {
        Parameter::Text(text) => text,
        Parameter::Number(number) => number,
    }
}

/// Asks a query.
struct Asker {
    client: Client,
    statement: Statement,
    case: Case,
    drawn: Drawn,
    asked: Vec<Parameter>,
}

impl Worker for Asker {
    fn prepare(&mut self) -> usize {
        let (index, _) = self.drawn.next();
        self.asked = self.case.parameters(self.drawn.orders, index);
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Performed>> {
        Box::pin(async {
            let rows = self.client.query(&self.statement, &values(&self.asked)).await?;
            Ok(Performed::Done(Effort { charge: None, requests: 1, items: rows.len() as u64 }))
        })
    }
}

/// Writes new versions of orders.
struct Writer {
    client: Client,
    statement: Statement,
    drawn: Drawn,
    prepared: (String, String),
}

impl Worker for Writer {
    fn prepare(&mut self) -> usize {
        let (index, version) = self.drawn.next();
        self.prepared = (self.drawn.orders.id(index), self.drawn.orders.body(index, version));
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Performed>> {
        Box::pin(async {
            let (id, body) = &self.prepared;
            let updated = self.client.execute(&self.statement, &[id, body]).await?;
            ensure!(updated == 1, "PostgreSQL has no {id}");
            Ok(Performed::Done(Effort { charge: None, requests: 1, items: 1 }))
        })
    }
}

/// Writes an id and a document as a line for COPY.
fn copy_line(id: &str, document: &str, out: &mut BytesMut) {
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b"\t");
    for byte in document.bytes() {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            plain => out.extend_from_slice(&[plain]),
        }
    }
    out.extend_from_slice(b"\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_for_copy_are_escaped() {
        for (document, expected) in [
            ("{}", "i\t{}\n"),
            (r#"{"a":"\n"}"#, "i\t{\"a\":\"\\\\n\"}\n"),
            ("a\tb\r\nc", "i\ta\\tb\\r\\nc\n"),
        ] {
            let mut out = BytesMut::new();
            copy_line("i", document, &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
