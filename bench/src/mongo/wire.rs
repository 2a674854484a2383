//! A server of MongoDB's protocol, whosever it is: loading it, and asking it.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use armilla_env::Env;
use armilla_value::{Object, Value};
use armilla_workload::{Answer, Effort, Future, Worker};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::cases::{Case, Task};
use super::connection::{MongoConnection, User, batch_documents, command, good_document, number, request};
use super::documents::{
    ARRIVALS, CATEGORIES, DATABASE, Documents, Drawn, INDEXED, LOADED, PER_CUSTOMER, Which,
};

/// Documents of one insert while loading.
const LOAD_BATCH: usize = 500;

/// How a server is spoken to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Who logs in, where anyone must.
    pub(super) user: Option<User>,
    /// Whether writes carry a number by which they may be repeated, as drivers send it to a replica set.
    pub(super) retryable: bool,
    /// Connections that load.
    pub(super) loaders: usize,
}

/// Makes the collections with their indexes and puts the documents in.
pub(super) fn load(
    env: &Env,
    runtime: &Runtime,
    address: SocketAddr,
    manner: Manner,
    documents: Documents,
) -> Result<()> {
    runtime.block_on(async {
        let mut connection = MongoConnection::open(env, address, manner.user).await?;
        for collection in [LOADED, ARRIVALS] {
            connection.run(&create_indexes(collection)).await?;
        }
        let mut loading = JoinSet::new();
        for loader in 0..manner.loaders {
            let mut connection = MongoConnection::open(env, address, manner.user).await?;
            loading.spawn(async move {
                let mut begin = loader * LOAD_BATCH;
                while begin < documents.count {
                    let end = documents.count.min(begin + LOAD_BATCH);
                    let all = (begin..end).map(|index| documents.bson(Which::Loaded { index, version: 0 }));
                    let insert = insert(LOADED, all.collect());
                    connection.run(&insert).await?;
                    begin += manner.loaders * LOAD_BATCH;
                }
                anyhow::Ok(())
            });
        }
        while let Some(loaded) = loading.join_next().await {
            loaded??;
        }
        Ok(())
    })
}

/// Opens a connection that does something over and over.
pub(super) fn worker(
    env: &Env,
    runtime: &Runtime,
    address: SocketAddr,
    manner: Manner,
    task: Task,
    drawn: Drawn,
) -> Result<Box<dyn Worker>> {
    let connection = runtime.block_on(MongoConnection::open(env, address, manner.user))?;
    let mut session = [0; 16];
    env.entropy.fill(&mut session);
    let retryable = manner.retryable;
    let request = Vec::new();
    Ok(Box::new(Asker { connection, task, drawn, session, retryable, transaction: 0, request }))
}

struct Asker {
    connection: MongoConnection,
    task: Task,
    drawn: Drawn,
    session: [u8; 16],
    retryable: bool,
    transaction: i64,
    request: Vec<u8>,
}

impl Asker {
    fn command(&mut self) -> Object {
        let mut command = match self.task {
            Task::Measured(Case::Find) => {
                let which = self.drawn.loaded();
                let mut find = find("_id", Value::ObjectId(self.drawn.documents.id(which)));
                // As `findOne` of drivers asks.
                find.insert("limit", Value::Int32(1));
                find.insert("singleBatch", true);
                find
            }
            Task::Measured(Case::Insert) => {
                let which = self.drawn.arrival();
                insert(ARRIVALS, vec![self.drawn.documents.bson(which)])
            }
            Task::Measured(Case::Increment) => {
                let which = self.drawn.loaded();
                let increment = member("$inc", member("count", Value::Int32(1)));
                update(self.drawn.documents.id(which), increment)
            }
            Task::Measured(Case::Equal) => match self.drawn.loaded() {
                Which::Loaded { index, .. } => {
                    find("customer", Value::String(self.drawn.documents.customer(index)))
                }
                Which::New { .. } => Object::new(),
            },
            Task::Measured(Case::Group) => group(),
            Task::Replace => {
                let which = self.drawn.loaded();
                let documents = self.drawn.documents;
                update(documents.id(which), Value::Object(documents.bson(which)))
            }
        };
        let session = Value::Binary { subtype: 4, bytes: self.session.to_vec() };
        command.insert("lsid", member("id", session));
        let is_write = match self.task {
            Task::Measured(case) => case.is_write(),
            Task::Replace => true,
        };
        if self.retryable && is_write {
            self.transaction += 1;
            command.insert("txnNumber", Value::Int64(self.transaction));
        }
        command
    }
}

impl Worker for Asker {
    fn prepare(&mut self) -> usize {
        let command = self.command();
        // What cannot be written is refused by the server, which shows.
        self.request = request(&command).unwrap_or_default();
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            let answer = good_document(self.connection.exchange(&self.request).await?)?;
            let (found, expected) = match self.task {
                Task::Measured(Case::Find) => (batch_documents(answer)?, 1),
                Task::Measured(Case::Equal) => (batch_documents(answer)?, PER_CUSTOMER),
                Task::Measured(Case::Group) => (batch_documents(answer)?, CATEGORIES),
                Task::Measured(Case::Insert) | Task::Replace => (written(number(answer, "n")?), 1),
                Task::Measured(Case::Increment) => (written(number(answer, "nModified")?), 1),
            };
            ensure!(found == expected, "the server gives {found} documents instead of {expected}");
            Ok(Answer::Done(Effort { charge: None, requests: 1, items: found as u64 }))
        })
    }
}

fn written(number: Option<i64>) -> usize {
    number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}

fn member(name: &str, value: impl Into<Value>) -> Value {
    let mut object = Object::new();
    object.insert(name, value);
    Value::Object(object)
}

fn find(name: &str, value: Value) -> Object {
    let mut find = command("find", LOADED, DATABASE);
    find.insert("filter", member(name, value));
    find
}

fn insert(collection: &str, documents: Vec<Object>) -> Object {
    let mut insert = command("insert", collection, DATABASE);
    insert.insert("documents", documents);
    insert.insert("ordered", true);
    insert
}

fn update(id: [u8; 12], change: Value) -> Object {
    let mut statement = Object::new();
    statement.insert("q", member("_id", Value::ObjectId(id)));
    statement.insert("u", change);
    let mut update = command("update", LOADED, DATABASE);
    update.insert("updates", vec![statement]);
    update.insert("ordered", true);
    update
}

fn group() -> Object {
    let mut group = Object::new();
    group.insert("_id", "$category");
    group.insert("n", member("$sum", Value::Int32(1)));
    group.insert("total", member("$sum", "$price"));
    let mut aggregate = command("aggregate", LOADED, DATABASE);
    aggregate.insert("pipeline", Value::Array(vec![member("$group", Value::Object(group))]));
    aggregate.insert("cursor", Value::Object(Object::new()));
    aggregate
}

fn create_indexes(collection: &str) -> Object {
    let index = |name: &&str| {
        let mut index = Object::new();
        index.insert("key", member(name, Value::Int32(1)));
        index.insert("name", format!("{name}_1"));
        index
    };
    let mut create = command("createIndexes", collection, DATABASE);
    create.insert("indexes", INDEXED.iter().map(index).collect::<Vec<_>>());
    create
}
