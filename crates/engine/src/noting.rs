//! Noting requests in the ledger: what was asked, what came of it, and what it took.
//!
//! Operations ask [`Engine::noting`] first, which says no to most requests where there are many of them; what is not
//! noted costs a look at the clock. Nothing that goes wrong here changes an answer.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use armilla_container::{Item, ItemBody, ListScope, ReadItem, RequestUnits};
use armilla_index::paths::PathSegment;
use armilla_ledger::{Act, Ledger, Note, Outcome, Took, Weight};
use armilla_query::expr::{Expr, PathStep};
use armilla_value::{PartitionKey, Value, json};

use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::lookups::{ItemLookup, LookedUp};
use crate::queries::{Query, QueryPage, QueryRequest};

/// A request that is going to be noted.
pub(crate) struct Noting<'e> {
    engine: &'e Engine,
    now_ms: i64,
    began: Duration,
    weight: Weight,
}

impl Engine {
    /// Returns the record of what was asked of the account.
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.shared.ledger
    }

    /// Begins to note a request, if it is one that is noted.
    pub(crate) fn noting(&self) -> Option<Noting<'_>> {
        let ledger = &self.shared.ledger;
        if !ledger.is_on() {
            return None;
        }
        let clock = &self.env().clock;
        let now_ms = clock.now_ms();
        let weight = ledger.wants(now_ms)?;
        Some(Noting { engine: self, now_ms, began: clock.elapsed(), weight })
    }
}

impl Noting<'_> {
    fn took(&self, charge: RequestUnits) -> Took {
        let took = self.engine.env().clock.elapsed().saturating_sub(self.began);
        Took {
            charge: charge.hundredths(),
            micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            ..Took::default()
        }
    }

    fn write_down(
        &self,
        container: &ContainerHandle,
        act: Act<'_>,
        key: Option<&PartitionKey>,
        took: Took,
        outcome: Outcome,
    ) {
        let note = Note { container: container.number(), act, key, took, outcome };
        self.engine.ledger().note(self.now_ms, self.weight, &note);
    }

    /// Notes a point read.
    pub(crate) fn read(
        self,
        container: &ContainerHandle,
        key: Option<&PartitionKey>,
        id: &str,
        outcome: &Result<ReadItem>,
    ) {
        let (charge, end) = ended(outcome, |read| read.charge);
        let mut took = self.took(charge);
        took.partitions = 1;
        let act = Act::Read { id };
        let Ok(read) = outcome else { return self.write_down(container, act, key, took, end) };
        (took.items, took.rows) = (1, 1);
        let stored = read.item.stored();
        let text = stored.text_bytes();
        took.bytes = text.len() as u64;
        // First: it follows answers before its own, not its own.
        self.write_down(container, act, key, took, end);
        let ledger = self.engine.ledger();
        if ledger.wants_answer(self.now_ms) {
            let note = Note { container: container.number(), act, key, took, outcome: end };
            ledger.watch_answer(self.now_ms, &note, std::iter::once(text));
        }
    }

    /// Notes a page of a query.
    pub(crate) fn query(
        self,
        container: &ContainerHandle,
        request: &QueryRequest,
        outcome: &Result<QueryPage>,
    ) {
        let (charge, end) = ended(outcome, |page| page.charge);
        let mut took = self.took(charge);
        took.is_continued = request.continuation.is_some();
        took.is_ranged = matches!(request.scope, ListScope::Range { .. });
        let (text, parameters) = match &request.query {
            Query::Text { text, parameters } => (Cow::Borrowed(text.as_str()), &parameters[..]),
            Query::Plan(bound) => {
                let mut paths = Vec::new();
                bound.visit(&mut |expr| paths.extend(path_text(expr)));
                paths.sort();
                paths.dedup();
                (Cow::Owned(format!("a query without a text, over {}", paths.join(", "))), &[][..])
            }
        };
        let key = request.partition_key();
        let act = Act::Query { text: &text, parameters };
        if let Ok(page) = outcome {
            took.partitions = u32::try_from(page.positions.len()).unwrap_or(u32::MAX);
            (took.items, took.entries) = page.read_counts();
            took.rows = page.row_count() as u64;
            took.bytes = page.rows.len() as u64;
        }
        self.write_down(container, act, key, took, end);
        let ledger = self.engine.ledger();
        if let Ok(page) = outcome
            // Other forms than JSON are not read.
            && request.form.is_none()
            && !took.is_continued
            && ledger.wants_answer(self.now_ms)
        {
            let note = Note { container: container.number(), act, key, took, outcome: end };
            ledger.watch_answer(self.now_ms, &note, page.json_rows());
        }
    }

    /// Notes a part of a look-up, which stands for a query.
    pub(crate) fn look_up(
        self,
        container: &ContainerHandle,
        lookup: &ItemLookup<'_>,
        key: Option<&PartitionKey>,
        partitions: usize,
        is_first: bool,
        done: &LookedUp,
    ) {
        let mut took = self.took(done.charge);
        took.partitions = u32::try_from(partitions).unwrap_or(u32::MAX);
        took.is_continued = !is_first;
        (took.items, took.rows) = (done.taken.items, done.taken.items);
        (took.entries, took.bytes) = (done.taken.rejected, done.taken.bytes);
        let path = |steps: &Vec<PathSegment>| {
            let step = |step: &PathSegment| match step {
                PathSegment::Property(name) => format!("[{}]", json::to_string(&name.as_str().into())),
                PathSegment::Elements => "[0]".to_owned(),
            };
            format!("c{} = @value", steps.iter().map(step).collect::<String>())
        };
        // The query that it stands for, so that it is read like one.
        let paths: Vec<String> = lookup.paths.iter().map(path).collect();
        let text = format!("SELECT * FROM c WHERE {}", paths.join(" OR "));
        let value = lookup.values.first().cloned().unwrap_or(Value::Null);
        let parameters = [("@value".to_owned(), value)];
        let act = Act::Query { text: &text, parameters: &parameters };
        self.write_down(container, act, key, took, Outcome::Done);
    }

    /// Notes a write of one item, or of several.
    pub(crate) fn write<T>(
        self,
        container: &ContainerHandle,
        act: Act<'_>,
        key: Option<&PartitionKey>,
        outcome: &Result<T>,
        done: impl Fn(&T) -> (RequestUnits, u64),
    ) {
        let (charge, end) = ended(outcome, |written| done(written).0);
        let mut took = self.took(charge);
        took.partitions = 1;
        took.bytes = outcome.as_ref().map_or(0, |written| done(written).1);
        self.write_down(container, act, key, took, end);
    }

    /// Notes a page of a list or of the change feed.
    pub(crate) fn page<T>(
        self,
        container: &ContainerHandle,
        act: Act<'_>,
        key: Option<&PartitionKey>,
        outcome: &Result<T>,
        done: impl Fn(&T) -> (RequestUnits, u64),
    ) {
        let (charge, end) = ended(outcome, |page| done(page).0);
        let mut took = self.took(charge);
        took.partitions = 1;
        took.rows = outcome.as_ref().map_or(0, |page| done(page).1);
        self.write_down(container, act, key, took, end);
    }
}

/// An item as it was, and what becomes of it.
pub(crate) struct Changing {
    before: Item,
}

impl Engine {
    /// Looks at an item that is about to be written again, if its change is noted.
    pub(crate) fn changing(
        &self,
        container: &ContainerHandle,
        key: &PartitionKey,
        id: &str,
    ) -> Option<Changing> {
        self.notes_changes().then(|| container.container().peek(key, id))?.map(|before| Changing { before })
    }

    /// The same by what is about to be written, with its id.
    pub(crate) fn changing_by(
        &self,
        container: &ContainerHandle,
        key: &PartitionKey,
        body: &ItemBody,
    ) -> Option<(String, Changing)> {
        let id = self.notes_changes().then(|| body.id())??;
        let before = container.container().peek(key, &id)?;
        Some((id, Changing { before }))
    }

    fn notes_changes(&self) -> bool {
        let ledger = self.ledger();
        ledger.is_on() && ledger.wants_change(self.env().clock.now_ms())
    }
}

impl Changing {
    /// Notes how an item changed.
    pub(crate) fn done(
        self,
        engine: &Engine,
        container: &ContainerHandle,
        key: &PartitionKey,
        id: &str,
        after: &Item,
    ) {
        let (before, after) = (self.before.stored(), after.stored());
        let now_ms = engine.env().clock.now_ms();
        let (before, after) = (before.text_bytes(), after.text_bytes());
        engine.ledger().changed(now_ms, container.number(), key, id, before, after);
    }
}

/// Returns the text of a body, as far as it is at hand.
pub(crate) fn text_of(body: &ItemBody) -> &[u8] {
    match body {
        ItemBody::Json(text) => text,
        ItemBody::Value(_) => b"{}",
    }
}

fn ended<T>(outcome: &Result<T>, charge: impl Fn(&T) -> RequestUnits) -> (RequestUnits, Outcome) {
    match outcome {
        Ok(done) => (charge(done), Outcome::Done),
        Err(Error { kind: ErrorKind::Throttled, charge, .. }) => (*charge, Outcome::Throttled),
        Err(error) => (error.charge, Outcome::Refused),
    }
}

/// Writes a path as indexing policies do.
fn path_text(expr: &Expr) -> Option<String> {
    let Expr::Path { steps, .. } = expr else { return None };
    let mut text = String::new();
    for step in steps {
        match step {
            PathStep::Name(name) => {
                text.push('/');
                text.push_str(name);
            }
            PathStep::Element(_) => text.push_str("/[]"),
        }
    }
    (!text.is_empty()).then_some(text)
}
