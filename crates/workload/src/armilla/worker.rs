//! One connection to the server that does the operations of a plan.

use anyhow::{Result, bail};
use armilla_client::{Done, Failure, Query as QueryRequest, Scope, Session};
use bytes::Bytes;

use super::{ENTRIES, ITEMS, PROCEDURE, count_of_page, partition_key, refusal};
use crate::drive::{Answer, Effort, Future, Worker};
use crate::items::Items;
use crate::limits::{QUERY_PAGE_ITEMS, QUERY_PAGES_MAX};
use crate::plan::{COUNTER, Draws, Operation};
use crate::queries::{self, Query};

/// One connection.
pub(super) struct ArmillaWorker {
    session: Session,
    database: String,
    items: Items,
    draws: Draws,
    prepared: Prepared,
}

/// An operation as the server understands it.
enum Prepared {
    Read { partition_key: String, id: String },
    Write { partition_key: String, body: Bytes },
    Query { query: Query, partition_key: Option<String>, parameters: String },
    Execute { partition_key: String, arguments: Bytes },
    Nothing,
}

impl ArmillaWorker {
    pub(super) fn new(session: Session, database: &str, items: &Items, draws: Draws) -> ArmillaWorker {
        let (database, items) = (database.to_owned(), items.clone());
        ArmillaWorker { session, database, items, draws, prepared: Prepared::Nothing }
    }

    async fn ask(&mut self) -> Result<Effort, Failure> {
        let (session, database) = (&mut self.session, self.database.as_str());
        let done = match &self.prepared {
            Prepared::Nothing => return Ok(Effort::default()),
            Prepared::Read { partition_key, id } => {
                session.read_item(database, ITEMS, partition_key, id).await?
            }
            Prepared::Write { partition_key, body } => {
                session.upsert_item(database, ITEMS, partition_key, body.clone()).await?
            }
            Prepared::Query { query, partition_key, parameters } => {
                return ask_query(session, database, *query, partition_key.as_deref(), parameters).await;
            }
            Prepared::Execute { partition_key, arguments } => {
                session.execute(database, ENTRIES, PROCEDURE, partition_key, arguments.clone()).await?
            }
        };
        Ok(effort(&done, 1))
    }
}

impl Worker for ArmillaWorker {
    fn prepare(&mut self) -> usize {
        let (kind, operation) = self.draws.next();
        let items = &self.items;
        self.prepared = match operation {
            Operation::Read { index } => {
                Prepared::Read { partition_key: partition_key(&items.customer(index)), id: items.id(index) }
            }
            Operation::Write { index, version } => Prepared::Write {
                partition_key: partition_key(&items.customer(index)),
                body: items.body(index, version).into(),
            },
            Operation::Query { query, index } => Prepared::Query {
                query,
                partition_key: query.customer(items, index).map(|customer| partition_key(&customer)),
                parameters: queries::parameters_json(&query.parameters(items, index)),
            },
            Operation::AddEntry(entry) => Prepared::Execute {
                partition_key: partition_key(&entry.customer),
                arguments: format!("[{},\"{COUNTER}\"]", entry.json).into(),
            },
        };
        kind
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            let is_query = matches!(self.prepared, Prepared::Query { .. });
            match self.ask().await {
                Ok(effort) if is_query && effort.items == 0 => bail!("a query found nothing"),
                Ok(effort) => Ok(Answer::Done(effort)),
                Err(failure) => refusal(failure),
            }
        })
    }
}

/// Asks a query to its end.
async fn ask_query(
    session: &mut Session,
    database: &str,
    query: Query,
    partition_key: Option<&str>,
    parameters: &str,
) -> Result<Effort, Failure> {
    let mut all = Effort::default();
    let mut continuation: Option<String> = None;
    for _ in 0..QUERY_PAGES_MAX {
        let request = QueryRequest {
            text: query.text(),
            parameters,
            scope: partition_key.map_or(Scope::All, Scope::Key),
            items_max: Some(QUERY_PAGE_ITEMS),
            continuation: continuation.as_deref(),
            explain: None,
        };
        let done = session.query(database, ITEMS, &request).await?;
        all.add(effort(&done, count_of_page(&done.body)));
        continuation = done.continuation;
        if continuation.is_none() {
            return Ok(all);
        }
    }
    Err(Failure::Malformed(anyhow::anyhow!("a query has more than {QUERY_PAGES_MAX} pages")))
}

/// Returns what an answer says it took.
pub(crate) fn effort(done: &Done, items: u64) -> Effort {
    Effort { charge: Some(done.charge), requests: 1, items }
}
