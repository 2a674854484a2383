//! The same in PostgreSQL: the id and a `jsonb` column, with an index on the same three members.

use std::pin::pin;

use anyhow::{Context as _, Result, ensure};
use armilla_env::Env;
use armilla_workload::postgres_server::{PostgresServer, Purpose};
use armilla_workload::{Answer, Effort, Future, Worker};
use bytes::{Bytes, BytesMut};
use futures_util::SinkExt as _;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, Statement};

use super::cases::{Case, Task};
use super::documents::{ARRIVALS, CATEGORIES, Documents, Drawn, INDEXED, LOADED, PER_CUSTOMER, Which, hex};

/// Bytes of documents that go to the server at once.
const COPY_BYTES: usize = 256 * 1024;

/// A PostgreSQL with the documents.
pub(super) struct Postgres {
    pub(super) server: PostgresServer,
    client: Client,
}

impl Postgres {
    /// Starts a server of our own; `None` where none is installed.
    pub(super) fn load(
        env: &Env,
        runtime: &Runtime,
        folder: TempDir,
        documents: Documents,
    ) -> Result<Option<Postgres>> {
        let purpose = Purpose::DurableWrites { items: documents.count, connections: None };
        let Some(server) = PostgresServer::start(None, folder, env, purpose)? else { return Ok(None) };
        let client = connect(runtime, &server)?;
        let own = Postgres { server, client };
        for table in [LOADED, ARRIVALS] {
            own.execute(runtime, &format!("CREATE TABLE {table} (id text PRIMARY KEY, doc jsonb NOT NULL)"))?;
            for name in INDEXED {
                // Text as text, and the number as a number.
                let expression = if name == "sequence" {
                    "((doc->>'sequence')::int)"
                } else {
                    &format!("(doc->>'{name}')")
                };
                own.execute(runtime, &format!("CREATE INDEX ON {table} ({expression})"))?;
            }
        }
        runtime.block_on(async {
            let copy = format!("COPY {LOADED} FROM STDIN");
            let mut sink = pin!(own.client.copy_in::<_, Bytes>(&copy).await?);
            let mut buffer = BytesMut::with_capacity(2 * COPY_BYTES);
            for index in 0..documents.count {
                let which = Which::Loaded { index, version: 0 };
                // Nothing in the documents has to be escaped.
                let line = format!("{}\t{}\n", hex(&documents.id(which)), documents.json(which));
                buffer.extend_from_slice(line.as_bytes());
                if buffer.len() >= COPY_BYTES || index + 1 == documents.count {
                    sink.send(buffer.split().freeze()).await?;
                }
            }
            sink.finish().await
        })?;
        own.rest(runtime)?;
        Ok(Some(own))
    }

    fn execute(&self, runtime: &Runtime, text: &str) -> Result<()> {
        runtime.block_on(self.client.batch_execute(text)).with_context(|| format!("'{text}' failed"))
    }

    /// Does now what is else done in the background.
    pub(super) fn rest(&self, runtime: &Runtime) -> Result<()> {
        for table in [LOADED, ARRIVALS] {
            self.execute(runtime, &format!("VACUUM (ANALYZE) {table}"))?;
        }
        self.execute(runtime, "CHECKPOINT")
    }

    /// Opens a connection that does something over and over.
    pub(super) fn worker(&self, runtime: &Runtime, task: Task, drawn: Drawn) -> Result<Box<dyn Worker>> {
        let client = connect(runtime, &self.server)?;
        let text = match task {
            Task::Measured(Case::Find) => format!("SELECT doc FROM {LOADED} WHERE id = $1"),
            Task::Measured(Case::Insert) => format!("INSERT INTO {ARRIVALS} VALUES ($1, $2::text::jsonb)"),
            Task::Measured(Case::Increment) => format!(
                "UPDATE {LOADED} SET doc = jsonb_set(doc, '{{count}}', to_jsonb((doc->>'count')::int + 1)) \
                 WHERE id = $1"
            ),
            Task::Measured(Case::Equal) => format!("SELECT doc FROM {LOADED} WHERE doc->>'customer' = $1"),
            Task::Measured(Case::Group) => format!(
                "SELECT doc->>'category', count(*), sum((doc->>'price')::float8) FROM {LOADED} GROUP BY 1"
            ),
            Task::Replace => format!("UPDATE {LOADED} SET doc = $2::text::jsonb WHERE id = $1"),
        };
        let statement =
            runtime.block_on(client.prepare(&text)).with_context(|| format!("'{text}' failed"))?;
        Ok(Box::new(Asker { client, statement, task, drawn, first: String::new(), document: String::new() }))
    }
}

fn connect(runtime: &Runtime, server: &PostgresServer) -> Result<Client> {
    let (client, connection) =
        runtime.block_on(server.config().connect(NoTls)).context("cannot connect to PostgreSQL")?;
    // It ends with the client; what goes wrong shows in the queries.
    runtime.spawn(connection);
    Ok(client)
}

struct Asker {
    client: Client,
    statement: Statement,
    task: Task,
    drawn: Drawn,
    first: String,
    document: String,
}

impl Worker for Asker {
    fn prepare(&mut self) -> usize {
        let documents = self.drawn.documents;
        let which = match self.task {
            Task::Measured(Case::Insert) => self.drawn.arrival(),
            _ => self.drawn.loaded(),
        };
        self.first = match (self.task, which) {
            (Task::Measured(Case::Equal), Which::Loaded { index, .. }) => documents.customer(index),
            _ => hex(&documents.id(which)),
        };
        if matches!(self.task, Task::Measured(Case::Insert) | Task::Replace) {
            self.document = documents.json(which);
        }
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            let (client, statement, first) = (&self.client, &self.statement, &self.first);
            let (found, expected) = match self.task {
                Task::Measured(Case::Find) => (client.query(statement, &[first]).await?.len(), 1),
                Task::Measured(Case::Equal) => (client.query(statement, &[first]).await?.len(), PER_CUSTOMER),
                Task::Measured(Case::Group) => (client.query(statement, &[]).await?.len(), CATEGORIES),
                Task::Measured(Case::Increment) => (client.execute(statement, &[first]).await? as usize, 1),
                Task::Measured(Case::Insert) | Task::Replace => {
                    (client.execute(statement, &[first, &self.document]).await? as usize, 1)
                }
            };
            ensure!(found == expected, "PostgreSQL gives {found} rows instead of {expected}");
            Ok(Answer::Done(Effort { charge: None, requests: 1, items: found as u64 }))
        })
    }
}
