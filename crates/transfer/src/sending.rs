//! A connection of an import: takes requests one after the other, and does not leave one before each of its items is
//! written or rejected.
//!
//! What may be over soon is waited for: a rate that is too high for as long as the server says so, a server that is
//! away or in trouble for [`SERVER_PATIENCE`]. A request whose answer was lost is sent again; an upsert does no harm the
//! second time, and an item that is to be created and is there already is compared.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use armilla_client::{Failure, Operation, OperationResult, Operations, Session, results};
use armilla_env::Env;
use armilla_value::{Value, json};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc::Receiver;

use crate::groups::{Entry, Request};
use crate::limits::{RETRY_LEAST, RETRY_MOST, SERVER_PATIENCE, THROTTLE_WAIT_MAX};
use crate::options::Mode;
use crate::rejects::{Reject, Rejects};
use crate::tracker::Tracker;

/// What the server adds to items.
pub(crate) const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// What became of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) created: u64,
    pub(crate) replaced: u64,
    /// Items that were to be created and were there already, the same.
    pub(crate) there_already: u64,
    pub(crate) rejected: u64,
    /// Operations that were refused for their rate, and repeated.
    pub(crate) throttled: u64,
}

impl Counts {
    /// Records that are items now.
    pub(crate) fn imported(&self) -> u64 {
        self.created + self.replaced + self.there_already
    }
}

/// Where all connections tell what they did.
pub(crate) struct Board {
    pub(crate) tracker: Tracker,
    pub(crate) rejects: Rejects,
    pub(crate) counts: Counts,
}

impl Board {
    /// Rejects a record.
    pub(crate) fn reject(&mut self, reject: &Reject<'_>) -> Result<()> {
        self.rejects.push(reject)?;
        self.counts.rejected += 1;
        self.tracker.end(reject.record);
        Ok(())
    }
}

/// The board, for whoever has something to tell.
#[derive(Clone)]
pub(crate) struct SharedBoard(Arc<Mutex<Board>>);

impl SharedBoard {
    /// Puts a board up.
    pub(crate) fn new(board: Board) -> SharedBoard {
        SharedBoard(Arc::new(Mutex::new(board)))
    }

    /// Takes the board.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.lock()
    }
}

/// A connection of an import.
pub(crate) struct Sending {
    pub(crate) session: Session,
    pub(crate) env: Env,
    pub(crate) database: String,
    pub(crate) container: String,
    pub(crate) mode: Mode,
    pub(crate) board: SharedBoard,
}

/// What is to be done about an operation.
#[derive(Debug, PartialEq)]
enum Verdict {
    Created,
    Replaced,
    /// There is an item of this id; it may be the same.
    Compare,
    /// To be repeated, because of the rate or for another reason that passes.
    Again {
        is_rate: bool,
    },
    Rejected,
}

impl Sending {
    /// Sends requests until there are no more.
    pub(crate) async fn run(mut self, mut requests: Receiver<Request>) -> Result<()> {
        while let Some(request) = requests.recv().await {
            self.send(request.entries).await?;
        }
        Ok(())
    }

    async fn send(&mut self, entries: Vec<Entry>) -> Result<()> {
        let mut groups = vec![entries];
        while let Some(mut pending) = groups.pop() {
            let mut backoff = Backoff::new(&self.env);
            while !pending.is_empty() {
                let body = body(&pending, self.mode);
                match self.session.bulk(&self.database, &self.container, None, body).await {
                    Ok(done) => {
                        let outcomes = results(&done.body).context("cannot read what became of a request")?;
                        let before = pending.len();
                        let wait = self.settle(&mut pending, outcomes).await?;
                        if pending.len() < before {
                            backoff = Backoff::new(&self.env);
                        }
                        match wait {
                            Some(wait) => self.env.clock.sleep(wait).await,
                            None if pending.is_empty() => {}
                            None => backoff.wait("it does not take some items").await?,
                        }
                    }
                    // The request as a whole; which of its items it was shows when each goes alone.
                    Err(failure) if is_about_items(&failure) && pending.len() > 1 => {
                        groups.extend(pending.drain(..).rev().map(|entry| vec![entry]));
                    }
                    Err(failure) if is_about_items(&failure) => {
                        if let (Some(entry), Some(refusal)) = (pending.pop(), failure.refusal()) {
                            let status = (refusal.status.as_u16(), refusal.sub_status);
                            self.reject(&entry, Some(status), &refusal.message)?;
                        }
                    }
                    Err(failure) if failure.is_passing() => backoff.wait(&failure.to_string()).await?,
                    Err(failure) => return Err(failure.into()),
                }
            }
        }
        Ok(())
    }

    /// Takes out of `pending` what is done or rejected; returns how long to wait for the rest, if the rate is the
    /// reason.
    async fn settle(
        &mut self,
        pending: &mut Vec<Entry>,
        outcomes: Vec<OperationResult>,
    ) -> Result<Option<Duration>> {
        if outcomes.len() != pending.len() {
            bail!("the server answered {} of {} operations", outcomes.len(), pending.len());
        }
        let mut wait = None;
        let mut again = Vec::new();
        let mut compare = Vec::new();
        {
            let mut board = self.board.lock();
            for (entry, outcome) in pending.drain(..).zip(outcomes) {
                match verdict(&outcome, self.mode) {
                    Verdict::Created => {
                        board.counts.created += 1;
                        board.tracker.end(entry.number);
                    }
                    Verdict::Replaced => {
                        board.counts.replaced += 1;
                        board.tracker.end(entry.number);
                    }
                    Verdict::Compare => compare.push((entry, outcome)),
                    Verdict::Again { is_rate } => {
                        if is_rate {
                            board.counts.throttled += 1;
                            let asked = Duration::from_millis(outcome.retry_after_ms.unwrap_or(1));
                            let asked = asked.clamp(Duration::from_millis(1), THROTTLE_WAIT_MAX);
                            wait = wait.max(Some(asked));
                        }
                        again.push(entry);
                    }
                    Verdict::Rejected => {
                        let why = outcome.message.as_deref().unwrap_or("the server refused it");
                        board.reject(&reject(&entry, Some((outcome.status, outcome.sub_status)), why))?;
                    }
                }
            }
        }
        *pending = again;
        for (entry, outcome) in compare {
            if self.is_there(&entry).await? {
                let mut board = self.board.lock();
                board.counts.there_already += 1;
                board.tracker.end(entry.number);
            } else {
                let why = outcome.message.as_deref().unwrap_or("there is another item of this id");
                self.reject(&entry, Some((outcome.status, outcome.sub_status)), why)?;
            }
        }
        Ok(wait)
    }

    fn reject(&self, entry: &Entry, status: Option<(u16, u32)>, why: &str) -> Result<()> {
        self.board.lock().reject(&reject(entry, status, why))
    }

    /// Whether the very item of an entry is in the container.
    async fn is_there(&mut self, entry: &Entry) -> Result<bool> {
        let Some(id) = &entry.item.id else { return Ok(false) };
        let mut backoff = Backoff::new(&self.env);
        loop {
            let read =
                self.session.read_item(&self.database, &self.container, &entry.item.key_json, id).await;
            match read {
                Ok(done) => {
                    let there = json::parse(&done.body).context("cannot read an item of the server")?;
                    return Ok(json::parse(&entry.item.text).is_ok_and(|ours| is_same_item(ours, there)));
                }
                Err(failure) if failure.is(404) => return Ok(false),
                Err(failure) if failure.is_passing() => backoff.wait(&failure.to_string()).await?,
                Err(failure) => return Err(failure.into()),
            }
        }
    }
}

fn reject<'e>(entry: &'e Entry, status: Option<(u16, u32)>, why: &'e str) -> Reject<'e> {
    Reject { record: entry.number, line: entry.line, why, status, text: &entry.item.text }
}

fn body(entries: &[Entry], mode: Mode) -> bytes::Bytes {
    let mut operations = Operations::new();
    for entry in entries {
        let text = &entry.item.text;
        let operation = match mode {
            Mode::Upsert => Operation::Upsert(text),
            Mode::Create => Operation::Create(text),
        };
        let has_room = operations.push(operation, Some(&entry.item.key_json));
        debug_assert!(has_room, "requests are no larger than their groups");
    }
    operations.take()
}

/// Whether a refusal is about what the items of a request are, and not about the request or the server.
fn is_about_items(failure: &Failure) -> bool {
    failure.is(400) || failure.is(413)
}

fn verdict(outcome: &OperationResult, mode: Mode) -> Verdict {
    match outcome.status {
        201 => Verdict::Created,
        200..=299 => Verdict::Replaced,
        409 if mode == Mode::Create => Verdict::Compare,
        429 => Verdict::Again { is_rate: true },
        408 | 410 | 424 | 449 | 500 | 502..=599 => Verdict::Again { is_rate: false },
        _ => Verdict::Rejected,
    }
}

/// Whether two items say the same, whatever the server added and however they are written.
fn is_same_item(mut one: Value, mut other: Value) -> bool {
    for item in [&mut one, &mut other] {
        if let Some(members) = item.as_object_mut() {
            for name in SYSTEM_PROPERTIES {
                members.remove(name);
            }
        }
    }
    is_same(&one, &other)
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|there| is_same(value, there)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        _ => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        },
    }
}

/// How long to wait for something that passes, and how long in all.
pub(crate) struct Backoff {
    env: Env,
    next: Duration,
    waited: Duration,
}

impl Backoff {
    /// Starts with the shortest wait.
    pub(crate) fn new(env: &Env) -> Backoff {
        Backoff { env: env.clone(), next: RETRY_LEAST, waited: Duration::ZERO }
    }

    /// Waits, unless that was long enough.
    pub(crate) async fn wait(&mut self, why: &str) -> Result<()> {
        if self.waited >= SERVER_PATIENCE {
            bail!("gave up after {} s: {why}", SERVER_PATIENCE.as_secs());
        }
        self.env.clock.sleep(self.next).await;
        self.waited += self.next;
        self.next = (self.next * 2).min(RETRY_MOST);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let outcome = |status| OperationResult {
            status,
            sub_status: 0,
            charge: 1.0,
            retry_after_ms: None,
            message: None,
            item: None,
        };
        let rate = Verdict::Again { is_rate: true };
        let again = Verdict::Again { is_rate: false };
        for (status, upsert, create) in [
            (201, Verdict::Created, Verdict::Created),
            (200, Verdict::Replaced, Verdict::Replaced),
            (409, Verdict::Rejected, Verdict::Compare),
            (400, Verdict::Rejected, Verdict::Rejected),
            (403, Verdict::Rejected, Verdict::Rejected),
            (413, Verdict::Rejected, Verdict::Rejected),
        ] {
            assert_eq!(verdict(&outcome(status), Mode::Upsert), upsert, "{status}");
            assert_eq!(verdict(&outcome(status), Mode::Create), create, "{status}");
        }
        assert_eq!(verdict(&outcome(429), Mode::Upsert), rate);
        for status in [408, 410, 449, 500, 503] {
            assert_eq!(verdict(&outcome(status), Mode::Upsert), again, "{status}");
        }
        assert_eq!(verdict(&outcome(501), Mode::Upsert), Verdict::Rejected);
    }

    #[test]
    fn the_same_item() {
        for (one, other, expected) in [
            (
                r#"{"id":"a","n":1.0}"#,
                r#"{"n":1,"id":"a","_ts":5,"_rid":"x","_self":"s","_etag":"e","_attachments":"a"}"#,
                true,
            ),
            (r#"{"id":"a","n":1}"#, r#"{"id":"a","n":2}"#, false),
            (r#"{"id":"a"}"#, r#"{"id":"a","n":null}"#, false),
            (r#"{"id":"a","l":[1,{"b":2}]}"#, r#"{"id":"a","l":[1,{"b":2.0}]}"#, true),
            (r#"{"id":"a","l":[1,2]}"#, r#"{"id":"a","l":[2,1]}"#, false),
            (r#"{"id":"a","n":1}"#, r#"{"id":"a","n":"1"}"#, false),
        ] {
            let parse = |text: &str| json::parse(text.as_bytes()).unwrap();
            assert_eq!(is_same_item(parse(one), parse(other)), expected, "{one} {other}");
        }
    }

    #[tokio::test]
    async fn waiting_has_an_end() {
        let (env, clock) = Env::simulated(1);
        let waiting = tokio::spawn(async move {
            let mut backoff = Backoff::new(&env);
            let mut waits = 0;
            while backoff.wait("away").await.is_ok() {
                waits += 1;
            }
            (waits, backoff.waited)
        });
        while !waiting.is_finished() {
            clock.advance(RETRY_MOST);
            tokio::task::yield_now().await;
        }
        let (waits, waited) = waiting.await.unwrap();
        assert!(waits > 100 && waited >= SERVER_PATIENCE && waited < SERVER_PATIENCE + RETRY_MOST);
    }
}
