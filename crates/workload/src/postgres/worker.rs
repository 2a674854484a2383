//! One connection to PostgreSQL that does the operations of a plan, each a prepared statement.

use anyhow::{Result, ensure};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Statement};

use crate::drive::{Answer, Effort, Future, Worker};
use crate::items::Items;
use crate::plan::{Draws, Operation, Plan};
use crate::queries::{Parameter, PostgresIndexes};

const READ: &str = "SELECT doc::text FROM items WHERE customer = $1 AND id = $2";
const WRITE: &str = "INSERT INTO items VALUES ($1, $2, $3::text::jsonb) \
                     ON CONFLICT (customer, id) DO UPDATE SET doc = excluded.doc RETURNING doc::text";
const EXECUTE: &str = "SELECT add_entry($1::text::jsonb)";

/// One connection.
pub(super) struct PostgresWorker {
    client: Client,
    items: Items,
    draws: Draws,
    /// One for each kind of operation of the plan.
    statements: Vec<Statement>,
    prepared: Prepared,
}

/// A statement of the plan, with its values.
struct Prepared {
    kind: usize,
    values: Vec<Parameter>,
}

impl PostgresWorker {
    pub(super) async fn open(
        client: Client,
        plan: Plan,
        indexes: PostgresIndexes,
        items: &Items,
        draws: Draws,
    ) -> Result<PostgresWorker> {
        let texts = match plan {
            Plan::PointRead => vec![READ],
            Plan::Write => vec![WRITE],
            Plan::Mixed { .. } => vec![READ, WRITE],
            Plan::Query(query) => vec![query.postgres(indexes)],
            Plan::Script => vec![EXECUTE],
        };
        let mut statements = Vec::new();
        for text in texts {
            statements.push(client.prepare(text).await?);
        }
        let prepared = Prepared { kind: 0, values: Vec::new() };
        Ok(PostgresWorker { client, items: items.clone(), draws, statements, prepared })
    }
}

impl Worker for PostgresWorker {
    fn prepare(&mut self) -> usize {
        let (kind, operation) = self.draws.next();
        let items = &self.items;
        let text = Parameter::Text;
        let values = match operation {
            Operation::Read { index } => vec![text(items.customer(index)), text(items.id(index))],
            Operation::Write { index, version } => {
                vec![text(items.customer(index)), text(items.id(index)), text(items.body(index, version))]
            }
            Operation::Query { query, index } => {
                query.parameters(items, index).into_iter().map(|(_, parameter)| parameter).collect()
            }
            Operation::AddEntry(entry) => vec![text(entry.json)],
        };
        self.prepared = Prepared { kind, values };
        kind
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            let Prepared { kind, values } = &self.prepared;
            let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(value).collect();
            let rows = self.client.query(&self.statements[*kind], &values).await?;
            ensure!(!rows.is_empty(), "PostgreSQL found nothing");
            Ok(Answer::Done(Effort { charge: None, requests: 1, items: rows.len() as u64 }))
        })
    }
}

fn value(parameter: &Parameter) -> &(dyn ToSql + Sync) {
    match parameter {
        Parameter::Text(text) => text,
        Parameter::Number(number) => number,
    }
}
