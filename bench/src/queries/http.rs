//! Queries to the server, over connections that stay open.

use anyhow::{Context as _, Result, bail, ensure};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_crash::server_process::ServerProcess;
use armilla_value::json;
use armilla_workload::{Answer as Performed, CpuClock, Effort, FamilyCpu, Future, Worker};
use tokio::runtime::Runtime;

use super::cases::{Case, Parameter, body};
use super::in_process::PAGE_ROWS;
use super::orders::Orders;
use super::resting::{METRICS_REQUEST, jobs, wait_for_rest};
use super::side::{Drawn, Side};
use super::table::{Answer, Work};
use crate::items::{CONTAINER, DATABASE};
use crate::server::Servers;

/// A server with the orders.
pub(super) struct Http<'s> {
    pub(super) servers: &'s Servers,
    pub(super) server: ServerProcess,
    pub(super) orders: Orders,
}

impl Http<'_> {
    fn connect(&self) -> Result<(Connection, Composer)> {
        let connection = self.runtime().block_on(Connection::open(self.server.address));
        Ok((connection.context("cannot connect")?, Composer::new(&self.servers.env)))
    }
}

impl Side for Http<'_> {
    fn name(&self) -> &'static str {
        "HTTP"
    }

    fn runtime(&self) -> &Runtime {
        &self.servers.runtime
    }

    fn asker(&self, case: &Case, drawn: Drawn) -> Result<Box<dyn Worker>> {
        let (connection, composer) = self.connect()?;
        Ok(Box::new(Asker {
            connection,
            composer,
            case: *case,
            drawn,
            asked: Vec::new(),
            request: Vec::new(),
        }))
    }

    fn writer(&self, drawn: Drawn) -> Result<Box<dyn Worker>> {
        let (connection, composer) = self.connect()?;
        Ok(Box::new(Writer { connection, composer, drawn, request: Vec::new() }))
    }

    fn cpu_clock(&self) -> Box<dyn CpuClock> {
        Box::new(FamilyCpu::of(self.server.pid()))
    }

    fn answer(&self, case: &Case, index: usize) -> Result<(Answer, Option<Work>)> {
        let (mut connection, mut composer) = self.connect()?;
        let asked = case.parameters(self.orders, index);
        let first = request(&mut composer, case, &asked, None);
        let reading = read_all(&mut connection, &mut composer, &first, case, &asked);
        Ok((self.runtime().block_on(reading)?, None))
    }

    fn rest(&self) -> Result<()> {
        let (mut connection, _) = self.connect()?;
        wait_for_rest(&self.servers.env, || {
            let reply = self.runtime().block_on(connection.exchange(METRICS_REQUEST))?;
            jobs(&String::from_utf8_lossy(reply.body)).context("the server does not tell of its work")
        })
    }
}

/// Asks a query.
struct Asker {
    connection: Connection,
    composer: Composer,
    case: Case,
    drawn: Drawn,
    asked: Vec<Parameter>,
    request: Vec<u8>,
}

impl Worker for Asker {
    fn prepare(&mut self) -> usize {
        let (index, _) = self.drawn.next();
        self.asked = self.case.parameters(self.drawn.orders, index);
        // Signing a request belongs to the client.
        self.request = request(&mut self.composer, &self.case, &self.asked, None);
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Performed>> {
        Box::pin(async {
            let Asker { connection, composer, case, asked, request, .. } = self;
            let answer = read_all(connection, composer, request, case, asked).await?;
            Ok(Performed::Done(Effort { charge: None, requests: 1, items: answer.rows as u64 }))
        })
    }
}

/// Writes new versions of orders.
struct Writer {
    connection: Connection,
    composer: Composer,
    drawn: Drawn,
    request: Vec<u8>,
}

impl Worker for Writer {
    fn prepare(&mut self) -> usize {
        let (index, version) = self.drawn.next();
        let orders = self.drawn.orders;
        let key = partition_key(&orders.customer(index));
        let headers = [("x-ms-documentdb-partitionkey", key.as_str()), ("x-ms-documentdb-is-upsert", "True")];
        let body = orders.body(index, version);
        let target = Target::Items(DATABASE, CONTAINER);
        self.request = self.composer.compose("POST", target, &headers, body.as_bytes());
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Performed>> {
        Box::pin(async {
            let reply =
                self.connection.exchange(&self.request).await.context("the server does not answer")?;
            ensure!(reply.status == 200, "the server answered {}: {}", reply.status, reply.excerpt());
            Ok(Performed::Done(Effort { charge: None, requests: 1, items: 1 }))
        })
    }
}

/// Makes the request for a page.
fn request(
    composer: &mut Composer,
    case: &Case,
    parameters: &[Parameter],
    continuation: Option<&str>,
) -> Vec<u8> {
    let page_rows = PAGE_ROWS.to_string();
    let mut headers = vec![
        ("x-ms-documentdb-isquery", "True"),
        ("x-ms-documentdb-query-enablecrosspartition", "True"),
        ("x-ms-max-item-count", page_rows.as_str()),
    ];
    headers.extend(continuation.map(|token| ("x-ms-continuation", token)));
    let body = json::to_string(&body(case, parameters));
    composer.compose("POST", Target::Items(DATABASE, CONTAINER), &headers, body.as_bytes())
}

/// Reads a query's pages to the end.
async fn read_all(
    connection: &mut Connection,
    composer: &mut Composer,
    first: &[u8],
    case: &Case,
    parameters: &[Parameter],
) -> Result<Answer> {
    let mut answer = Answer::default();
    let mut next: Option<Vec<u8>> = None;
    loop {
        let asked = next.as_deref().unwrap_or(first);
        let reply = connection.exchange(asked).await.context("the server does not answer")?;
        if reply.status != 200 {
            bail!("the server answered {}: {}", reply.status, reply.excerpt());
        }
        let count =
            reply.header("x-ms-item-count").context("the answer does not say how many rows it has")?;
        answer.rows += count.parse::<usize>().context("the number of rows is none")?;
        if case.is_number {
            answer.number = number(reply.body).or(answer.number);
        }
        match reply.header("x-ms-continuation") {
            Some(token) => next = Some(request(composer, case, parameters, Some(token))),
            None => return Ok(answer),
        }
    }
}

/// Returns the one number in a page of rows.
fn number(body: &[u8]) -> Option<i64> {
    json::parse(body).ok()?.get("Documents")?.as_array()?.first()?.as_i64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_answers() {
        for (body, expected) in [
            (r#"{"_rid":"x","Documents":[17],"_count":1}"#, Some(17)),
            (r#"{"_rid":"x","Documents":[],"_count":0}"#, None),
            (r#"{"code":"BadRequest"}"#, None),
            ("", None),
        ] {
            assert_eq!(number(body.as_bytes()), expected, "{body}");
        }
    }
}
