//! The other side: the same operation as a PL/pgSQL function of PostgreSQL, one transaction for each call.
//!
//! A row is a document with its key beside it, so that counting leaves the primary key as it is and PostgreSQL can
//! keep a counter's versions on one page. The second table has an index of everything in the documents besides.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use armilla_crash::process_figures;
use armilla_env::Env;
use armilla_workload::postgres_server::{PostgresServer, Purpose};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use super::workload::{COUNTER, Case, Entries, Table, Workload, counter};
use crate::measure::{Latencies, Measurement, measure_with};
use crate::server::{Setup, folder};

/// Rows that one statement puts in while counters are made.
const ROWS_AT_ONCE: usize = 500;

/// A PostgreSQL with the counters and the functions.
pub(super) struct Postgres {
    env: Env,
    runtime: Runtime,
    client: Client,
    workload: Workload,
    seconds: f64,
    pid: u32,
    server: PostgresServer,
}

impl Postgres {
    /// Starts a server and makes what the operations need; `None` where PostgreSQL is not installed.
    pub(super) fn start(
        programs: Option<&std::path::Path>,
        setup: &Setup,
        env: &Env,
        workload: Workload,
    ) -> Result<Option<Postgres>> {
        let purpose = Purpose::DurableWrites { items: 0, connections: None };
        let Some(server) = PostgresServer::start(programs, folder(setup)?, env, purpose)? else {
            eprintln!("PostgreSQL is not installed: it is left out");
            return Ok(None);
        };
        // One thread for all connections, as on the other side.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = runtime.block_on(connect(&server))?;
        let (env, pid, seconds) = (env.clone(), server.pid()?, setup.seconds);
        let own = Postgres { env, runtime, client, workload, seconds, pid, server };
        for table in [Table::Plain, Table::Indexed].map(name) {
            own.execute(&definition(table))?;
            own.make_counters(table)?;
        }
        own.execute(&format!("CREATE INDEX ON {} USING gin (doc jsonb_path_ops)", name(Table::Indexed)))?;
        own.execute("VACUUM ANALYZE")?;
        Ok(Some(own))
    }

    fn make_counters(&self, table: &str) -> Result<()> {
        let keys: Vec<String> = self.workload.keys().collect();
        for keys in keys.chunks(ROWS_AT_ONCE) {
            let rows: Vec<_> =
                keys.iter().map(|key| format!("('{key}', '{COUNTER}', '{}')", counter(key))).collect();
            self.execute(&format!("INSERT INTO {table} VALUES {}", rows.join(",")))?;
        }
        Ok(())
    }

    /// Returns version and settings in a line.
    pub(super) fn settings(&self) -> Result<String> {
        let mut parts = Vec::new();
        for name in ["server_version", "fsync", "synchronous_commit", "wal_sync_method", "shared_buffers"] {
            parts.push(format!("{name} {}", self.text(&format!("SHOW {name}"))?));
        }
        Ok(format!("PostgreSQL: {}", parts.join(", ")))
    }

    /// Measures the function of one table.
    pub(super) fn measure(&self, case: Case, table: Table, round: usize) -> Result<Measurement> {
        // Each connection has a process of its own, so all of them count.
        let cpu_time = || process_figures::family_cpu_time(self.pid);
        measure_with(&self.env, case.name(), cpu_time, || self.drive(case, round, name(table)))
    }

    fn drive(&self, case: Case, round: usize, table: &'static str) -> Result<Latencies> {
        let end = self.env.clock.elapsed() + Duration::from_secs_f64(self.seconds);
        self.runtime.block_on(async {
            let mut tasks = Vec::new();
            for number in 0..self.workload.connections {
                let client = connect(&self.server).await?;
                let entries = self.workload.entries(case, number, round);
                tasks.push(tokio::spawn(call(self.env.clone(), client, table, entries, end)));
            }
            let mut all = Latencies::new();
            for task in tasks {
                all.add(&task.await??);
            }
            Ok(all)
        })
    }

    /// Checks that as many entries are there as were acknowledged, and that the counters agree.
    pub(super) fn verify(&self, table: Table, operations: u64) -> Result<()> {
        let table = name(table);
        for (what, query) in [
            ("entries", format!("SELECT count(*) FROM {table} WHERE doc->>'kind' = 'entry'")),
            (
                "counts",
                format!("SELECT sum((doc->>'count')::bigint) FROM {table} WHERE doc->>'kind' = 'counter'"),
            ),
        ] {
            let found = self.text(&query)?;
            ensure!(
                found == operations.to_string(),
                "{operations} operations of PostgreSQL made {found} {what}"
            );
        }
        Ok(())
    }

    fn execute(&self, text: &str) -> Result<()> {
        self.runtime.block_on(self.client.batch_execute(text)).with_context(|| format!("'{text}' failed"))
    }

    /// Returns the first column of the first row as text.
    fn text(&self, query: &str) -> Result<String> {
        for message in self.runtime.block_on(self.client.simple_query(query))? {
            if let SimpleQueryMessage::Row(row) = message {
                return Ok(row.get(0).unwrap_or_default().to_owned());
            }
        }
        bail!("'{query}' gave no row")
    }
}

fn name(table: Table) -> &'static str {
    match table {
        Table::Plain => "items",
        Table::Indexed => "indexed_items",
    }
}

/// Returns the statements that make a table and its function.
fn definition(table: &str) -> String {
    format!(
        "CREATE TABLE {table} (customer text, id text, doc jsonb NOT NULL, PRIMARY KEY (customer, id));
         CREATE FUNCTION add_to_{table}(entry jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
         DECLARE
             total bigint;
         BEGIN
             INSERT INTO {table} VALUES (entry->>'customer', entry->>'id', entry);
             UPDATE {table} SET doc = jsonb_set(doc, '{{count}}', to_jsonb((doc->>'count')::bigint + 1))
                 WHERE customer = entry->>'customer' AND id = '{COUNTER}'
                 RETURNING (doc->>'count')::bigint INTO STRICT total;
             RETURN total;
         END $$;"
    )
}

async fn connect(server: &PostgresServer) -> Result<Client> {
    let (client, connection) =
        server.config().connect(NoTls).await.context("cannot connect to PostgreSQL")?;
    // It ends with the client; what goes wrong shows in the calls.
    tokio::spawn(connection);
    Ok(client)
}

/// Calls the function over one connection until the time is up.
async fn call(
    env: Env,
    client: Client,
    table: &'static str,
    mut entries: Entries,
    end: Duration,
) -> Result<Latencies> {
    let statement = client.prepare(&format!("SELECT add_to_{table}($1::text::jsonb)")).await?;
    let mut latencies = Latencies::new();
    loop {
        let Some(entry) = entries.next_entries(1).pop() else { continue };
        let begin = env.clock.elapsed();
        if begin >= end {
            return Ok(latencies);
        }
        let row = client.query_one(&statement, &[&entry.json]).await?;
        latencies.record(env.clock.elapsed() - begin);
        let total: i64 = row.try_get(0).context("the function returned no number")?;
        ensure!(total > 0, "the function counted {total}");
    }
}
