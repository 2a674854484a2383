//! The database and containers that live through all rounds, and asking for things that must succeed.

use anyhow::{Context, Result, anyhow, bail};
use armilla_crash::http_client::{Connection, Reply};
use armilla_crash::map::Map;
use armilla_crash::requests::{Composer, Target};
use armilla_value::{Value, json};

use crate::content::Area;

/// The database that lives through all rounds.
pub(crate) const DATABASE: &str = "crash";

/// Most items that a page of a feed is asked for.
const PAGE_ITEMS: &str = "200";

/// Makes the database and its containers.
pub(crate) async fn create(connection: &mut Connection, composer: &mut Composer) -> Result<()> {
    let body = format!("{{\"id\":\"{DATABASE}\"}}");
    ask(connection, &composer.compose("POST", Target::Databases, &[], body.as_bytes()), 201).await?;
    for (area, throughput, constraint) in [
        // Two physical partitions each.
        (Area::Items, "12000", ""),
        (Area::Banks, "12000", ""),
        (Area::Unique, "400", ",\"uniqueKeyPolicy\":{\"uniqueKeys\":[{\"paths\":[\"/email\"]}]}"),
    ] {
        let body = format!(
            "{{\"id\":\"{}\",\"partitionKey\":{{\"paths\":[\"/pk\"],\"kind\":\"Hash\",\"version\":2}}{constraint}}}",
            area.container()
        );
        let headers = [("x-ms-offer-throughput", throughput)];
        let request = composer.compose("POST", Target::Containers(DATABASE), &headers, body.as_bytes());
        ask(connection, &request, 201).await?;
    }
    let map = map(connection, composer, Area::Items, None).await?.context("there is no partition map")?;
    if map.ranges.len() != 2 {
        bail!(
            "a container with 12000 request units a second has {} partitions, expected 2",
            map.ranges.len()
        );
    }
    Ok(())
}

/// Sends a request that must get one answer alone.
pub(crate) async fn ask<'c>(
    connection: &'c mut Connection,
    request: &[u8],
    status: u16,
) -> Result<Reply<'c>> {
    let reply = connection.exchange(request).await.context("the server does not answer")?;
    if reply.status != status {
        return Err(unexpected(request, &reply, &status.to_string()));
    }
    Ok(reply)
}

/// Says what was asked and what came.
pub(crate) fn unexpected(request: &[u8], reply: &Reply<'_>, expected: &str) -> anyhow::Error {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    anyhow!(
        "'{}' got {} (sub-status {}), expected {expected}: {}",
        String::from_utf8_lossy(line),
        reply.status,
        reply.header("x-ms-substatus").unwrap_or("none"),
        reply.excerpt()
    )
}

/// Returns all elements of a feed; `member` names the array that holds them.
pub(crate) async fn list(
    connection: &mut Connection,
    composer: &mut Composer,
    target: Target<'_>,
    member: &str,
    headers: &[(&str, &str)],
) -> Result<Vec<Value>> {
    let mut elements = Vec::new();
    let mut continuation: Option<String> = None;
    loop {
        let mut headers = headers.to_vec();
        headers.push(("x-ms-max-item-count", PAGE_ITEMS));
        if let Some(continuation) = &continuation {
            headers.push(("x-ms-continuation", continuation));
        }
        let request = composer.compose("GET", target, &headers, b"");
        let reply = ask(connection, &request, 200).await?;
        let page = json::parse(reply.body).map_err(|error| anyhow!("a page of {target:?}: {error}"))?;
        let Some(Value::Array(page)) = page.get(member) else {
            bail!("a page of {target:?} has no {member}")
        };
        elements.extend_from_slice(page);
        match reply.header("x-ms-continuation") {
            Some(next) if !next.is_empty() => continuation = Some(next.to_owned()),
            _ => return Ok(elements),
        }
    }
}

/// Returns the partition map of a container; with an older one, only what came since, or nothing.
pub(crate) async fn map(
    connection: &mut Connection,
    composer: &mut Composer,
    area: Area,
    known: Option<&Map>,
) -> Result<Option<Map>> {
    let mut headers = Vec::new();
    if let Some(known) = known {
        headers.extend([("a-im", "Incremental feed"), ("if-none-match", known.etag.as_str())]);
    }
    let request = composer.compose("GET", Target::Ranges(DATABASE, area.container()), &headers, b"");
    let reply = connection.exchange(&request).await.context("the server does not answer")?;
    match (reply.status, known) {
        (304, Some(_)) => Ok(None),
        (200, _) => {
            let etag = reply.header("etag").context("a partition map has no etag")?;
            Map::parse(etag, reply.body).map(Some).map_err(anyhow::Error::msg)
        }
        _ => Err(unexpected(&request, &reply, "200")),
    }
}
