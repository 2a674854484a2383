//! What a server makes of a damaged folder, held against what was acknowledged.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_crash::server_process::{CheckOutcome, Launch, NotReady, ServerProcess};
use armilla_env::Env;
use armilla_value::json;

use crate::world::{CONTAINER, DATABASE, World, names};

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was as it must be, in this way.
    Fine(&'static str),
    /// It was not.
    Wrong(String),
}

/// What reading everything from a server showed.
enum Reading {
    /// All that was acknowledged.
    Everything,
    /// Requests failed, so that whoever asks knows that something is wrong.
    Failures,
    /// Less or other than was acknowledged, without a word.
    Silent(String),
}

/// Longest time that reading everything may take.
const READING_TIMEOUT: Duration = Duration::from_secs(60);

/// Starts a server on the folder and reads everything.
pub(crate) async fn judge(
    launch: &Launch,
    world: &World,
    check: &CheckOutcome,
    env: &Env,
) -> Result<Verdict> {
    if check.output.contains("panicked") {
        return Ok(Verdict::Wrong(format!("the check panicked: {}", check.output)));
    }
    let started = launch.start(env).await;
    let log = launch.log_since(0).unwrap_or_default();
    if log.contains("panicked") {
        return Ok(Verdict::Wrong(format!("the server panicked: {log}")));
    }
    let server = match started {
        Ok(server) => server,
        Err(error) if error.downcast_ref::<NotReady>().is_some_and(|why| why.status.is_some()) => {
            return Ok(if !log.contains("armilla: ") {
                Verdict::Wrong(format!("the server did not say why it does not start: {error:#}"))
            } else if check.status.success() {
                Verdict::Wrong(format!("the check says that all is well, and the server refuses: {log}"))
            } else {
                Verdict::Fine("refused")
            });
        }
        Err(error) => return Ok(Verdict::Wrong(format!("{error:#}"))),
    };
    let reading = tokio::time::timeout(READING_TIMEOUT, read(&server, world, env)).await;
    server.kill().await?;
    let reading = reading.context("reading everything takes too long")?;
    let log = launch.log_since(0).unwrap_or_default();
    if log.contains("panicked") {
        return Ok(Verdict::Wrong(format!("the server panicked: {log}")));
    }
    Ok(match reading? {
        Reading::Everything if check.status.success() => Verdict::Fine("harmless"),
        Reading::Everything => Verdict::Fine("served whole, and the check tells"),
        Reading::Failures if check.status.success() => {
            Verdict::Wrong("requests fail, and the check says that all is well".to_owned())
        }
        Reading::Failures => Verdict::Fine("requests fail"),
        Reading::Silent(what) => Verdict::Wrong(format!("{what}; the check ended with {}", check.status)),
    })
}

async fn read(server: &ServerProcess, world: &World, env: &Env) -> Result<Reading> {
    let mut composer = Composer::new(env);
    let mut connection = Connection::open(server.address).await?;
    let mut failed = false;
    for (item, known) in &world.items {
        let (id, key) = names(*item);
        let key_header = partition_key(&key);
        let headers = [("x-ms-documentdb-partitionkey", key_header.as_str())];
        let request = composer.compose("GET", Target::Item(DATABASE, CONTAINER, &id), &headers, b"");
        let reply = connection.exchange(&request).await.context("the server does not answer")?;
        let found = match reply.status {
            200 => Some(version(reply.body).context("an item without its version")?),
            404 => None,
            500.. => {
                failed = true;
                continue;
            }
            other => return Ok(Reading::Silent(format!("{id} got {other}: {}", reply.excerpt()))),
        };
        if !known.allows(found) {
            return Ok(Reading::Silent(format!("{id} is {found:?}, it must be {known:?}")));
        }
    }
    match query(&mut connection, &mut composer).await? {
        None => failed = true,
        Some(found) => {
            for (item, known) in &world.items {
                let (id, _) = names(*item);
                if !known.allows(found.get(&id).copied()) {
                    let found = found.get(&id);
                    return Ok(Reading::Silent(format!(
                        "a query finds {id} as {found:?}, it must be {known:?}"
                    )));
                }
            }
        }
    }
    Ok(if failed { Reading::Failures } else { Reading::Everything })
}

fn version(body: &[u8]) -> Option<u64> {
    let value = json::parse(body).ok()?;
    value.get("n").and_then(|number| number.as_f64()).map(|number| number as u64)
}

/// Returns what a query over the index finds, or nothing if it fails.
async fn query(
    connection: &mut Connection,
    composer: &mut Composer,
) -> Result<Option<BTreeMap<String, u64>>> {
    let body = br#"{"query":"SELECT c.id, c.n FROM c WHERE c.n >= 0"}"#;
    let mut found = BTreeMap::new();
    let mut continuation: Option<String> = None;
    loop {
        let mut headers = vec![
            ("x-ms-documentdb-isquery", "True"),
            ("x-ms-documentdb-query-enablecrosspartition", "True"),
            ("x-ms-max-item-count", "100"),
        ];
        if let Some(continuation) = &continuation {
            headers.push(("x-ms-continuation", continuation));
        }
        let request = composer.compose("POST", Target::Items(DATABASE, CONTAINER), &headers, body);
        let request = String::from_utf8(request)?
            .replace("content-type: application/json", "content-type: application/query+json");
        let reply = connection.exchange(request.as_bytes()).await.context("the server does not answer")?;
        match reply.status {
            200 => {}
            500.. => return Ok(None),
            other => anyhow::bail!("a query got {other}: {}", reply.excerpt()),
        }
        continuation = reply.header("x-ms-continuation").map(str::to_owned);
        let page = json::parse(reply.body).ok().context("a page of a query is not JSON")?;
        for row in page.get("Documents").and_then(|rows| rows.as_array()).unwrap_or_default() {
            let id = row.get("id").and_then(|id| id.as_str()).unwrap_or_default().to_owned();
            let version = row.get("n").and_then(|number| number.as_f64()).unwrap_or_default() as u64;
            found.insert(id, version);
        }
        if continuation.is_none() {
            return Ok(Some(found));
        }
    }
}
