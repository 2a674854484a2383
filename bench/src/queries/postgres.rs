//! The same documents and queries in PostgreSQL: a table of one `jsonb` column, with the index that each query needs.
//!
//! An index on an expression never answers alone: PostgreSQL then reads the row as well, also to count it.

use std::pin::pin;

use anyhow::{Context, Result, bail};
use armilla_env::Env;
use armilla_workload::postgres_server::{PostgresServer, Purpose};
use bytes::{Bytes, BytesMut};
use futures_util::SinkExt as _;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage, Statement};

use super::QueryOptions;
use super::cases::Case;
use super::explained::Explained;
use super::orders::Orders;
use super::repeat::{median_us, timed_us};
use super::table::{Answer, Line, PostgresFigures, Table};
use crate::server::{Setup, folder};

/// Bytes of documents that go to the server at once.
const COPY_BYTES: usize = 256 * 1024;

/// Loads the documents into a server of our own and measures all queries there.
pub(super) fn measure(
    options: &QueryOptions,
    setup: &Setup,
    env: &Env,
    orders: Orders,
    cases: &[Case],
    lines: &mut [Line],
    table: &mut Table,
) -> Result<()> {
    let programs = options.postgres_bin.as_deref();
    let purpose = Purpose::Queries { items: orders.count, workers: options.postgres_workers };
    let Some(server) = PostgresServer::start(programs, folder(setup)?, env, purpose)? else {
        eprintln!("PostgreSQL is not installed: it is left out");
        return Ok(());
    };
    let session = Session::open(&server, env)?;
    session.load(orders)?;
    session.make_indexes(cases)?;
    table.postgres = Some(session.settings()?);
    eprintln!("queries of PostgreSQL");
    for (case, line) in cases.iter().zip(lines) {
        let figures = session.query(case, setup.seconds).with_context(|| format!("query {}", case.name))?;
        eprintln!(
            "  {}: {} rows, {:.0} us: {}",
            case.name,
            figures.0.rows,
            figures.1.executor_us,
            figures.1.explained.nodes.join(" <- ")
        );
        line.answers.push(("PostgreSQL", figures.0));
        line.postgres = Some(figures.1);
    }
    Ok(())
}

/// One connection.
struct Session<'a> {
    env: &'a Env,
    runtime: Runtime,
    client: Client,
}

impl<'a> Session<'a> {
    fn open(server: &PostgresServer, env: &'a Env) -> Result<Session<'a>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (client, connection) =
            runtime.block_on(server.config().connect(NoTls)).context("cannot connect to PostgreSQL")?;
        // It ends with the client; what goes wrong shows in the queries.
        runtime.spawn(connection);
        Ok(Session { env, runtime, client })
    }

    fn execute(&self, text: &str) -> Result<()> {
        self.runtime.block_on(self.client.batch_execute(text)).with_context(|| format!("'{text}' failed"))
    }

    fn load(&self, orders: Orders) -> Result<()> {
        eprintln!("loading {} documents into PostgreSQL", orders.count);
        self.execute("CREATE TABLE items (doc jsonb NOT NULL)")?;
        self.runtime.block_on(async {
            let mut sink = pin!(self.client.copy_in::<_, Bytes>("COPY items FROM STDIN").await?);
            let mut buffer = BytesMut::with_capacity(2 * COPY_BYTES);
            for index in 0..orders.count {
                copy_line(&orders.body(index), &mut buffer);
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
        self.execute("VACUUM (ANALYZE, FREEZE) items")?;
        self.execute("CHECKPOINT")?;
        // Without the extension, what a scan reads lies in the system's cache instead.
        let warm = "CREATE EXTENSION pg_prewarm; SELECT pg_prewarm(oid) FROM pg_class \
                    WHERE relname LIKE 'items%' AND relkind IN ('r', 'i')";
        if let Err(error) = self.execute(warm) {
            eprintln!("  tables are not read ahead: {error:#}");
        }
        Ok(())
    }

    /// Returns version and settings in a line.
    fn settings(&self) -> Result<String> {
        let mut parts = Vec::new();
        for name in ["server_version", "shared_buffers", "max_parallel_workers_per_gather", "jit"] {
            parts.push(format!("{name} {}", self.text(&format!("SHOW {name}"))?));
        }
        let size = self.text("SELECT pg_size_pretty(pg_total_relation_size('items'))")?;
        parts.push(format!("table and indexes {size}"));
        Ok(format!("PostgreSQL: {}", parts.join(", ")))
    }

    /// Returns the first column of the first row as text.
    fn text(&self, query: &str) -> Result<String> {
        let messages = self.runtime.block_on(self.client.simple_query(query))?;
        for message in messages {
            if let SimpleQueryMessage::Row(row) = message {
                return Ok(row.get(0).unwrap_or_default().to_owned());
            }
        }
        bail!("'{query}' gave no row")
    }

    fn query(&self, case: &Case, seconds: f64) -> Result<(Answer, PostgresFigures)> {
        let statement = self.runtime.block_on(self.client.prepare(&case.postgres))?;
        let mut answer = Answer::default();
        let round_trip_us = median_us(self.env, seconds, || {
            let (us, own) = timed_us(self.env, || self.ask(&statement, case))?;
            answer = own;
            Ok(us)
        })?;
        let (executor_us, explained) = self.explain(&case.postgres, seconds)?;
        let (executor_as_text_us, _) = self.explain(&case.postgres_as_text(), seconds)?;
        Ok((answer, PostgresFigures { executor_us, executor_as_text_us, round_trip_us, explained }))
    }

    /// Returns how long the executor takes for a query, and the plan.
    fn explain(&self, query: &str, seconds: f64) -> Result<(f64, Explained)> {
        let explain = format!("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query}");
        let mut explained = None;
        let executor_us = median_us(self.env, seconds, || {
            let own = Explained::parse(&self.text(&explain)?)?;
            let us = own.executor_us;
            explained = Some(own);
            Ok(us)
        })?;
        Ok((executor_us, explained.context("a query was never explained")?))
    }

    fn ask(&self, statement: &Statement, case: &Case) -> Result<Answer> {
        let rows = self.runtime.block_on(self.client.query(statement, &[]))?;
        let number = match (case.is_number, rows.first()) {
            (true, Some(row)) => Some(row.try_get(0).context("the answer is no number")?),
            _ => None,
        };
        Ok(Answer { rows: rows.len(), number })
    }
}

/// Writes a document as a line for COPY.
fn copy_line(document: &str, out: &mut BytesMut) {
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
        for (document, expected) in
            [("{}", "{}\n"), (r#"{"a":"\n"}"#, "{\"a\":\"\\\\n\"}\n"), ("a\tb\r\nc", "a\\tb\\r\\nc\n")]
        {
            let mut out = BytesMut::new();
            copy_line(document, &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
