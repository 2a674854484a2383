//! Reading everything back after a restart.

use std::collections::HashMap;

use anyhow::{Context, Result};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_env::Random;
use armilla_value::Value;

use crate::ballast::Ballast;
use crate::content::{Area, Shown};
use crate::ledger::Ledger;
use crate::model::{Found, Slot};
use crate::setup::{DATABASE, list, unexpected};
use crate::writer::HOT_KEY;

/// Of the items that a round did not touch, how many percent are read one by one as well.
const UNTOUCHED_READ_PERCENT: u64 = 10;

/// The item of a round that all writers incremented.
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) id: String,
    /// The least and the most that it may show.
    pub(crate) least: i64,
    pub(crate) most: i64,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) differences: Vec<String>,
    /// Items that are there.
    pub(crate) items: usize,
    /// Unanswered writes that had happened, by container.
    pub(crate) kept: HashMap<Area, u64>,
}

/// Reads items one by one: those the round touched, some others, and the counters.
pub(crate) async fn read_items<'s>(
    connection: &mut Connection,
    composer: &mut Composer,
    slots: impl Iterator<Item = &'s mut Slot>,
    counters: &mut [Counter],
    ledger: &Ledger,
    random: &mut Random,
) -> Result<Findings> {
    let mut findings = Findings::default();
    let tokens = Area::ALL.map(|area| ledger.session_token(area));
    for slot in slots {
        if !slot.touched && !random.percent(UNTOUCHED_READ_PERCENT) {
            continue;
        }
        slot.touched = false;
        let token = &tokens[slot.area as usize];
        let body = read(connection, composer, slot.area, &slot.id, &slot.partition_key, token).await?;
        match slot.judge(body.as_deref()) {
            Ok(Found::Acknowledged) => {}
            Ok(Found::InFlight) => *findings.kept.entry(slot.area).or_default() += 1,
            Err(difference) => findings.differences.push(difference),
        }
    }
    for counter in counters {
        let token = &tokens[Area::Items as usize];
        let body = read(connection, composer, Area::Items, &counter.id, HOT_KEY, token).await?;
        let shown = body.as_deref().map(Shown::parse).transpose().ok().flatten();
        let values = shown.as_ref().map(|shown| (shown.integer("a"), shown.integer("b")));
        match values {
            Some((Some(a), Some(b))) if a == b && (counter.least..=counter.most).contains(&a) => {
                *findings.kept.entry(Area::Items).or_default() += (a - counter.least).unsigned_abs();
                (counter.least, counter.most) = (a, a);
            }
            _ => findings
                .differences
                .push(format!("the shared item shows {values:?}, expected is {counter:?}")),
        }
    }
    Ok(findings)
}

/// Reads whole containers of the writers as feeds and compares them with what is now known.
pub(crate) async fn read_feeds(
    connection: &mut Connection,
    composer: &mut Composer,
    slots: &[&Slot],
    counters: &[Counter],
    ballast: &Ballast,
    findings: &mut Findings,
) -> Result<()> {
    let by_name: HashMap<(Area, &str), &Slot> =
        slots.iter().map(|slot| ((slot.area, slot.id.as_str()), *slot)).collect();
    for area in Area::OWNED {
        let target = Target::Items(DATABASE, area.container());
        let mut seen = 0;
        for item in list(connection, composer, target, "Documents", &[]).await? {
            let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
            if area == Area::Items && Ballast::is_own(id) {
                seen += 1;
                findings.differences.extend(ballast.difference(id, &item));
                continue;
            }
            let shown = match Shown::of(item) {
                Ok(shown) => shown,
                Err(difference) => {
                    findings.differences.push(difference);
                    continue;
                }
            };
            let id = shown.text("id").unwrap_or_default();
            seen += 1;
            match by_name.get(&(area, id)) {
                Some(slot) if slot.is_shown_as(&shown) => {}
                Some(slot) => {
                    findings.differences.push(format!(
                        "{}: the feed shows {}",
                        slot.name(),
                        shown.describe()
                    ));
                }
                None if area == Area::Items && counters.iter().any(|counter| counter.id == id) => {}
                None => findings.differences.push(format!("the feed shows an item {id} that nobody wrote")),
            }
        }
        let there = slots.iter().filter(|slot| slot.area == area && slot.state.is_some()).count()
            + if area == Area::Items { counters.len() + ballast.len() } else { 0 };
        if seen != there {
            findings
                .differences
                .push(format!("the feed of {} shows {seen} items, expected are {there}", area.container()));
        }
        findings.items += seen;
    }
    Ok(())
}

/// Reads one item; `None` if it is not there.
async fn read(
    connection: &mut Connection,
    composer: &mut Composer,
    area: Area,
    id: &str,
    key: &str,
    session_token: &str,
) -> Result<Option<Vec<u8>>> {
    let key = partition_key(key);
    let mut headers = vec![("x-ms-documentdb-partitionkey", key.as_str())];
    if !session_token.is_empty() {
        // A server that lost a commit that somebody saw must refuse this.
        headers.push(("x-ms-session-token", session_token));
    }
    let request = composer.compose("GET", Target::Item(DATABASE, area.container(), id), &headers, b"");
    let reply = connection.exchange(&request).await.context("the server does not answer")?;
    match (reply.status, reply.header("x-ms-substatus").unwrap_or("0")) {
        (200, _) => Ok(Some(reply.body.to_vec())),
        (404, "0") => Ok(None),
        _ => Err(unexpected(&request, &reply, "200 or 404")),
    }
}
