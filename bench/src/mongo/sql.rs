//! The same through the server's own SQL API: a container with the same paths indexed, and its requests over HTTP.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_crash::server_process::ServerProcess;
use armilla_env::Env;
use armilla_workload::{Answer, Effort, Future, Worker};
use tokio::runtime::Runtime;

use super::cases::{Case, Task};
use super::documents::{ARRIVALS, CATEGORIES, DATABASE, Documents, Drawn, LOADED, PER_CUSTOMER, Which, hex};
use crate::load::{Source, drive};
use crate::server::Servers;

/// Connections that load.
const LOADERS: usize = 32;

/// Rows of a page: more than any answer here has.
const PAGE_ROWS: &str = "1000";

/// Makes the containers with their indexes and puts the documents in.
pub(super) fn load(servers: &Servers, server: &ServerProcess, documents: Documents) -> Result<()> {
    servers.ask(server, "POST", Target::Databases, &[], &format!("{{\"id\":\"{DATABASE}\"}}"))?;
    // Of one physical partition, as a collection of MongoDB's has it.
    let throughput = ("x-ms-offer-throughput", "400");
    for container in [LOADED, ARRIVALS] {
        servers.ask(server, "POST", Target::Containers(DATABASE), &[throughput], &definition(container))?;
    }
    let sources = (0..LOADERS).map(|loader| {
        let mut composer = Composer::new(&servers.env);
        let mut index = loader;
        Box::new(move |out: &mut Vec<u8>| {
            if index >= documents.count {
                return false;
            }
            write(&mut composer, out, documents, LOADED, Which::Loaded { index, version: 0 });
            index += LOADERS;
            true
        }) as Box<dyn Source>
    });
    drive(&servers.env, server.address, sources.collect())?;
    Ok(())
}

fn definition(container: &str) -> String {
    format!(
        r#"{{"id":"{container}","partitionKey":{{"paths":["/id"],"kind":"Hash","version":2}},
           "indexingPolicy":{{"indexingMode":"consistent","automatic":true,
           "includedPaths":[{{"path":"/customer/?"}},{{"path":"/sequence/?"}},{{"path":"/category/?"}}],
           "excludedPaths":[{{"path":"/*"}}]}}}}"#
    )
}

/// Writes the request that puts a whole document in, whether it is there or not.
fn write(composer: &mut Composer, out: &mut Vec<u8>, documents: Documents, container: &str, which: Which) {
    let key = partition_key(&hex(&documents.id(which)));
    let mut headers = vec![("x-ms-documentdb-partitionkey", key.as_str())];
    if matches!(which, Which::Loaded { .. }) {
        headers.push(("x-ms-documentdb-is-upsert", "True"));
    }
    // As MongoDB's protocol, which does not send back what was written.
    headers.push(("prefer", "return=minimal"));
    let target = Target::Items(DATABASE, container);
    composer.write(out, "POST", target, &headers, documents.json(which).as_bytes());
}

/// Opens a connection that does something over and over.
pub(super) fn worker(
    env: &Env,
    runtime: &Runtime,
    address: SocketAddr,
    task: Task,
    drawn: Drawn,
) -> Result<Box<dyn Worker>> {
    let connection = runtime.block_on(Connection::open(address)).context("cannot connect")?;
    Ok(Box::new(Asker { connection, composer: Composer::new(env), task, drawn, request: Vec::new() }))
}

struct Asker {
    connection: Connection,
    composer: Composer,
    task: Task,
    drawn: Drawn,
    request: Vec<u8>,
}

impl Asker {
    fn query(&mut self, body: &str) {
        let headers = [
            ("x-ms-documentdb-isquery", "True"),
            ("x-ms-documentdb-query-enablecrosspartition", "True"),
            ("x-ms-max-item-count", PAGE_ROWS),
        ];
        let target = Target::Items(DATABASE, LOADED);
        // The type of a body is a header of its own, which the server takes from the first.
        self.composer.write(&mut self.request, "POST", target, &headers, body.as_bytes());
    }
}

impl Worker for Asker {
    fn prepare(&mut self) -> usize {
        self.request.clear();
        let documents = self.drawn.documents;
        match self.task {
            Task::Measured(Case::Insert) => {
                let which = self.drawn.arrival();
                write(&mut self.composer, &mut self.request, documents, ARRIVALS, which);
            }
            Task::Replace => {
                let which = self.drawn.loaded();
                write(&mut self.composer, &mut self.request, documents, LOADED, which);
            }
            Task::Measured(Case::Group) => self.query(
                r#"{"query":"SELECT c.category, COUNT(1) AS n, SUM(c.price) AS total FROM c GROUP BY c.category"}"#,
            ),
            Task::Measured(Case::Equal) => {
                if let Which::Loaded { index, .. } = self.drawn.loaded() {
                    let customer = documents.customer(index);
                    self.query(&format!(
                        r#"{{"query":"SELECT * FROM c WHERE c.customer = @customer",
                           "parameters":[{{"name":"@customer","value":"{customer}"}}]}}"#
                    ));
                }
            }
            Task::Measured(case @ (Case::Find | Case::Increment)) => {
                let id = hex(&documents.id(self.drawn.loaded()));
                let key = partition_key(&id);
                let key = ("x-ms-documentdb-partitionkey", key.as_str());
                let target = Target::Item(DATABASE, LOADED, &id);
                if case == Case::Find {
                    self.composer.write(&mut self.request, "GET", target, &[key], b"");
                } else {
                    let body = br#"{"operations":[{"op":"incr","path":"/count","value":1}]}"#;
                    let headers = [key, ("prefer", "return=minimal")];
                    self.composer.write(&mut self.request, "PATCH", target, &headers, body);
                }
            }
        }
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            let reply =
                self.connection.exchange(&self.request).await.context("the server does not answer")?;
            ensure!(
                matches!(reply.status, 200..=204),
                "the server answered {}: {}",
                reply.status,
                reply.excerpt()
            );
            let rows = match self.task {
                Task::Measured(Case::Equal) => Some(PER_CUSTOMER),
                Task::Measured(Case::Group) => Some(CATEGORIES),
                _ => None,
            };
            if let Some(expected) = rows {
                let count = reply.header("x-ms-item-count").context("the answer does not count its rows")?;
                ensure!(
                    count.parse::<usize>().ok() == Some(expected)
                        && reply.header("x-ms-continuation").is_none(),
                    "the server gives {count} rows instead of {expected}"
                );
            }
            Ok(Answer::Done(Effort { charge: None, requests: 1, items: rows.unwrap_or(1) as u64 }))
        })
    }
}
