//! Queries to the server, over one connection that stays open.

use anyhow::{Context, Result, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target};
use armilla_value::{Object, Value, json};

use super::cases::Case;
use super::in_process::PAGE_ROWS;
use super::load::SERVER;
use super::repeat::{median_us, timed_us};
use super::table::{Answer, Line};
use crate::items::{CONTAINER, DATABASE};
use crate::server::{Servers, Setup};

/// Measures all queries over HTTP.
pub(super) fn measure(servers: &Servers, setup: &Setup, cases: &[Case], lines: &mut [Line]) -> Result<()> {
    let env = &servers.env;
    let server = servers.start(SERVER)?;
    eprintln!("queries over HTTP");
    let mut connection =
        servers.runtime.block_on(Connection::open(server.address)).context("cannot connect")?;
    let mut composer = Composer::new(env);
    for (case, line) in cases.iter().zip(lines) {
        let mut last = None;
        let ask = || {
            // Signing a request belongs to the client.
            let first = request(&mut composer, case, None);
            let (us, answer) = timed_us(env, || {
                servers.runtime.block_on(read_all(&mut connection, &mut composer, first, case))
            })?;
            last = Some(answer);
            Ok(us)
        };
        let us = median_us(env, setup.seconds, ask).with_context(|| format!("query {}", case.name))?;
        let answer = last.context("a query was never run")?;
        eprintln!("  {}: {} rows, {us:.0} us", case.name, answer.rows);
        line.answers.push(("HTTP", answer));
        line.http_us = Some(us);
    }
    drop(connection);
    servers.stop(server)
}

/// Makes the request for a page.
fn request(composer: &mut Composer, case: &Case, continuation: Option<&str>) -> Vec<u8> {
    let page_rows = PAGE_ROWS.to_string();
    let mut headers = vec![
        ("x-ms-documentdb-isquery", "True"),
        ("x-ms-documentdb-query-enablecrosspartition", "True"),
        ("x-ms-max-item-count", page_rows.as_str()),
    ];
    headers.extend(continuation.map(|token| ("x-ms-continuation", token)));
    let body = Object::from([("query", Value::from(case.text.as_str()))]);
    let body = json::to_string(&Value::Object(body));
    composer.compose("POST", Target::Items(DATABASE, CONTAINER), &headers, body.as_bytes())
}

/// Reads a query's pages to the end.
async fn read_all(
    connection: &mut Connection,
    composer: &mut Composer,
    first: Vec<u8>,
    case: &Case,
) -> Result<Answer> {
    let mut answer = Answer::default();
    let mut next = first;
    loop {
        let reply = connection.exchange(&next).await.context("the server does not answer")?;
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
            Some(token) => next = request(composer, case, Some(token)),
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
