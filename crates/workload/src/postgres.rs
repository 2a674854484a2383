//! PostgreSQL as a side: the same items as `jsonb`, in a server of our own that is as durable as ours.
//!
//! Ours indexes every path of every item. This has the primary key and either the index on an expression that each query
//! needs and no others, or one GIN index of everything; both can be measured beside each other.

mod worker;

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use armilla_env::Env;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::cpu::{CpuClock, FamilyCpu};
use crate::drive::{Future, Worker};
use crate::items::Items;
use crate::plan::{COUNTER, Plan, SCRIPT_KEYS, counter_json, script_customer};
use crate::postgres_server::{PostgresServer, Purpose};
use crate::queries::PostgresIndexes;
use crate::side::{Entries, Needs, Side};
use worker::PostgresWorker;

/// Rows of one statement while loading.
const LOAD_ROWS: usize = 500;

/// A running PostgreSQL.
pub(crate) struct Postgres {
    server: PostgresServer,
    indexes: PostgresIndexes,
    items: Items,
    seed: u64,
}

impl Postgres {
    /// Starts a server; `None` when none is installed.
    pub(crate) fn start(
        programs: Option<&Path>,
        env: &Env,
        indexes: PostgresIndexes,
        items: &Items,
        seed: u64,
        connections: usize,
    ) -> Result<Option<Postgres>> {
        let folder = tempfile::Builder::new()
            .prefix("armilla-bench-postgresql-")
            .tempdir()
            .context("cannot make a folder for PostgreSQL")?;
        let purpose = Purpose::DurableWrites { items: items.count(), connections: Some(connections) };
        let server = PostgresServer::start(programs, folder, env, purpose)?;
        Ok(server.map(|server| Postgres { server, indexes, items: items.clone(), seed }))
    }

    async fn connect(&self) -> Result<Client> {
        let (client, connection) =
            self.server.config().connect(NoTls).await.context("cannot connect to PostgreSQL")?;
        // It ends with the client; what goes wrong shows in the calls.
        tokio::spawn(connection);
        Ok(client)
    }

    async fn load_items(&self, client: &Client) -> Result<()> {
        execute(
            client,
            "CREATE TABLE items (customer text, id text, doc jsonb NOT NULL, PRIMARY KEY (customer, id))",
        )
        .await?;
        let statement = client
            .prepare(
                "INSERT INTO items SELECT c, i, d::jsonb FROM unnest($1::text[], $2::text[], $3::text[]) AS t(c, i, d)",
            )
            .await?;
        let mut start = 0;
        while start < self.items.count() {
            let rows = start..(start + LOAD_ROWS).min(self.items.count());
            start = rows.end;
            let customers: Vec<_> = rows.clone().map(|index| self.items.customer(index)).collect();
            let ids: Vec<_> = rows.clone().map(|index| self.items.id(index)).collect();
            let bodies: Vec<_> = rows.map(|index| self.items.body(index, 0)).collect();
            client.execute(&statement, &[&customers, &ids, &bodies]).await?;
        }
        for definition in self.indexes.definitions() {
            execute(client, &format!("CREATE INDEX ON items {definition}")).await?;
        }
        Ok(())
    }

    async fn make_entries(&self, client: &Client) -> Result<()> {
        execute(client, &entries_definition()).await?;
        let rows: Vec<_> = (0..SCRIPT_KEYS)
            .map(|key| {
                let customer = script_customer(key);
                format!("('{customer}', '{COUNTER}', '{}')", counter_json(&customer))
            })
            .collect();
        execute(client, &format!("INSERT INTO entries VALUES {}", rows.join(","))).await
    }
}

impl Side for Postgres {
    fn name(&self) -> &'static str {
        match self.indexes {
            PostgresIndexes::Chosen => "postgresql",
            PostgresIndexes::Everything => "postgresql-gin",
        }
    }

    fn load(&self, needs: Needs) -> Future<'_, Result<()>> {
        Box::pin(async move {
            let client = self.connect().await?;
            if needs.items {
                self.load_items(&client).await.context("cannot load the items into PostgreSQL")?;
            }
            if needs.entries {
                self.make_entries(&client).await.context("cannot make the counters in PostgreSQL")?;
            }
            tidy_up(&client).await
        })
    }

    fn rest<'s>(&'s self, _: &'s Env) -> Future<'s, Result<Option<String>>> {
        // What PostgreSQL does in the background is done now instead: it has no end that could be waited for.
        Box::pin(async move {
            tidy_up(&self.connect().await?).await?;
            Ok(None)
        })
    }

    fn worker(&self, plan: Plan, stream: usize) -> Future<'_, Result<Box<dyn Worker>>> {
        Box::pin(async move {
            let client = self.connect().await?;
            let draws = plan.draws(&self.items, self.seed, stream);
            let worker = PostgresWorker::open(client, plan, self.indexes, &self.items, draws).await?;
            Ok(Box::new(worker) as Box<dyn Worker>)
        })
    }

    fn count_entries(&self) -> Future<'_, Result<Entries>> {
        Box::pin(async move {
            let client = self.connect().await?;
            let entries = "SELECT count(*) FROM entries WHERE doc->>'kind' = 'entry'";
            let counted = "SELECT sum((doc->>'count')::bigint) FROM entries WHERE doc->>'kind' = 'counter'";
            Ok(Entries {
                entries: text(&client, entries).await?.parse()?,
                counted: text(&client, counted).await?.parse()?,
            })
        })
    }

    fn describe(&self) -> Future<'_, Result<String>> {
        Box::pin(async move {
            let client = self.connect().await?;
            let mut parts = Vec::new();
            for name in ["server_version", "fsync", "synchronous_commit", "shared_buffers"] {
                parts.push(format!("{name} {}", text(&client, &format!("SHOW {name}")).await?));
            }
            Ok(parts.join(", "))
        })
    }

    fn indexes(&self) -> Future<'_, Result<Vec<String>>> {
        Box::pin(async move {
            let client = self.connect().await?;
            let all = "SELECT indexdef FROM pg_indexes WHERE tablename = 'items' ORDER BY indexname";
            texts(&client, all).await
        })
    }

    fn cpu_clock(&self) -> Option<Box<dyn CpuClock>> {
        // A server that does not say which process it is has no figure, which is no reason to measure nothing.
        let pid = self.server.pid().ok()?;
        Some(Box::new(FamilyCpu::of(pid)))
    }
}

/// Returns the statements that make the table of entries and the function that adds one and counts it.
fn entries_definition() -> String {
    format!(
        "CREATE TABLE entries (customer text, id text, doc jsonb NOT NULL, PRIMARY KEY (customer, id));
         CREATE FUNCTION add_entry(entry jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
         DECLARE
             total bigint;
         BEGIN
             INSERT INTO entries VALUES (entry->>'customer', entry->>'id', entry);
             UPDATE entries SET doc = jsonb_set(doc, '{{count}}', to_jsonb((doc->>'count')::bigint + 1))
                 WHERE customer = entry->>'customer' AND id = '{COUNTER}'
                 RETURNING (doc->>'count')::bigint INTO STRICT total;
             RETURN total;
         END $$;"
    )
}

/// Removes old versions of rows, counts what is there for the planner, and writes everything to its place.
async fn tidy_up(client: &Client) -> Result<()> {
    execute(client, "VACUUM ANALYZE").await?;
    execute(client, "CHECKPOINT").await
}

async fn execute(client: &Client, statements: &str) -> Result<()> {
    client.batch_execute(statements).await.with_context(|| format!("'{statements}' failed"))
}

/// Returns the first column of the first row as text.
async fn text(client: &Client, query: &str) -> Result<String> {
    let first = texts(client, query).await?.into_iter().next();
    let first = first.with_context(|| format!("'{query}' gave no row"))?;
    ensure!(!first.is_empty(), "'{query}' gave nothing");
    Ok(first)
}

/// Returns the first column of all rows as text.
async fn texts(client: &Client, query: &str) -> Result<Vec<String>> {
    let row = |message| match message {
        SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
        _ => None,
    };
    Ok(client.simple_query(query).await?.into_iter().filter_map(row).collect())
}
