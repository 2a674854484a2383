//! What a history does to its items: the requests, what their answers mean, and finding out what became of those that
//! were not answered.

use armilla_crash::requests::{Target, partition_key};
use armilla_env::Random;
use armilla_value::{Value, json};

use crate::client::{Answer, Client, DATABASE, Halt};
use crate::model::{Content, Event, EventKind, Life, Model, Put};

/// What is done to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Upsert,
    Replace,
    Patch,
    Delete,
}

/// One change of one item.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) slot: usize,
    pub(crate) operation: Operation,
    /// What the item then is; nothing after a delete.
    pub(crate) content: Content,
}

/// Changes that are asked for together: one alone, or all of a transaction.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) changes: Vec<Change>,
    pub(crate) is_transaction: bool,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Happened,
    Refused,
    /// Nobody can know: what it made may have expired.
    Unknown,
}

impl Operation {
    /// Draws one.
    pub(crate) fn draw(random: &mut Random) -> Operation {
        match random.below(100) {
            0..20 => Operation::Create,
            20..50 => Operation::Upsert,
            50..68 => Operation::Replace,
            68..80 => Operation::Patch,
            _ => Operation::Delete,
        }
    }

    /// Returns the statuses that may come, by whether the item is there.
    fn statuses(self, life: Life) -> &'static [u16] {
        match (self, life) {
            (Operation::Create, Life::Live) => &[409],
            (Operation::Create, Life::Gone) => &[201],
            (Operation::Create, Life::Unsure) => &[201, 409],
            (Operation::Upsert, Life::Live) => &[200],
            (Operation::Upsert, Life::Gone) => &[201],
            (Operation::Upsert, Life::Unsure) => &[200, 201],
            (Operation::Replace | Operation::Patch, Life::Live) => &[200],
            (Operation::Delete, Life::Live) => &[204],
            (Operation::Replace | Operation::Patch | Operation::Delete, Life::Gone) => &[404],
            (Operation::Replace | Operation::Patch, Life::Unsure) => &[200, 404],
            (Operation::Delete, Life::Unsure) => &[204, 404],
        }
    }

    /// Says whether it cannot succeed.
    fn must_fail(self, life: Life) -> bool {
        self.statuses(life).iter().all(|status| *status >= 300)
    }
}

/// Draws the change of an item; `base` is what the item is before it, as far as is known.
pub(crate) fn draw_change(
    model: &mut Model,
    slot: usize,
    base: Option<&Content>,
    operation: Operation,
    random: &mut Random,
) -> Change {
    let sequence = model.next_sequence();
    let filling_bytes = if random.percent(95) { random.below(300) } else { random.below(20_000) } as usize;
    let ttl = match random.below(20) {
        0..14 => None,
        14..16 => Some(1),
        16 => Some(2),
        17 => Some(-1),
        _ => Some(3_600),
    };
    let drawn = Content { sequence, ttl, filling_bytes, filling_seed: random.next_u64() };
    // A patch keeps what it does not name. Of an item that is not there nothing can be patched.
    let content = match (operation, base) {
        (Operation::Patch, Some(base)) => Content { sequence, ..base.clone() },
        _ => drawn,
    };
    Change { slot, operation, content }
}

impl Write {
    /// Returns the request.
    pub(crate) fn compose(&self, client: &mut Client, model: &Model) -> Vec<u8> {
        let first = &self.changes[0];
        let container = model.spec.container.as_str();
        let key = partition_key(model.key_name(first.slot));
        let mut headers = vec![("x-ms-documentdb-partitionkey", key.as_str())];
        let (items, item) = (
            Target::Items(DATABASE, container),
            Target::Item(DATABASE, container, &model.slots[first.slot].id),
        );
        if self.is_transaction {
            headers.extend([("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True")]);
            let steps: Vec<_> = self.changes.iter().map(|change| batch_step(change, model)).collect();
            return client.compose("POST", items, &headers, &format!("[{}]", steps.join(",")));
        }
        let body = body(first, model);
        match first.operation {
            Operation::Create => client.compose("POST", items, &headers, &body),
            Operation::Upsert => {
                headers.push(("x-ms-documentdb-is-upsert", "True"));
                client.compose("POST", items, &headers, &body)
            }
            Operation::Replace => client.compose("PUT", item, &headers, &body),
            Operation::Patch => client.compose("PATCH", item, &headers, &body),
            Operation::Delete => client.compose("DELETE", item, &headers, ""),
        }
    }

    /// Returns the items that it changes, each once.
    pub(crate) fn slots(&self) -> Vec<usize> {
        let mut slots: Vec<_> = self.changes.iter().map(|change| change.slot).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Returns how it is called in a trace.
    pub(crate) fn describe(&self, model: &Model) -> String {
        let change = |change: &Change| {
            let Change { slot, operation, content } = change;
            format!("{operation:?} {} sequence {} ttl {:?}", model.name(*slot), content.sequence, content.ttl)
        };
        let changes: Vec<_> = self.changes.iter().map(change).collect();
        match self.is_transaction {
            true => format!("transaction of {}", changes.join(", ")),
            false => changes.join(", "),
        }
    }

    /// Takes in the answer.
    pub(crate) fn answered(&self, model: &mut Model, answer: &Answer) -> Result<Fate, String> {
        let what = self.describe(model);
        let lives = self.lives(model, answer.from, answer.to);
        let expected = |index: usize| self.changes[index].operation.statuses(lives[index]);
        if !self.is_transaction {
            if !expected(0).contains(&answer.status) {
                return Err(answer.unexpected(&what, &format!("{:?}", expected(0))));
            }
            if answer.status >= 300 {
                return Ok(Fate::Refused);
            }
            let ts = match self.changes[0].operation {
                Operation::Delete => None,
                _ => Some(stamp(&answer.body).ok_or_else(|| answer.unexpected(&what, "an item"))?),
            };
            self.push(model, &[(answer.status, ts)], Some(answer.commit()?));
            return Ok(Fate::Happened);
        }
        let must_fail = (0..lives.len()).any(|index| self.changes[index].operation.must_fail(lives[index]));
        let may_fail = (0..lives.len()).any(|index| expected(index).iter().any(|status| *status >= 300));
        match answer.status {
            207 if may_fail => Ok(Fate::Refused),
            200 if !must_fail => {
                let results = batch_results(&answer.body).filter(|own| own.len() == self.changes.len());
                let results = results.ok_or_else(|| answer.unexpected(&what, "a result of each step"))?;
                for (index, (status, ts)) in results.iter().enumerate() {
                    let is_delete = self.changes[index].operation == Operation::Delete;
                    if !expected(index).contains(status) || ts.is_some() == is_delete {
                        return Err(
                            answer.unexpected(&what, &format!("{:?} for step {index}", expected(index)))
                        );
                    }
                }
                self.push(model, &results, Some(answer.commit()?));
                Ok(Fate::Happened)
            }
            _ => Err(answer.unexpected(&what, if must_fail { "207" } else { "200" })),
        }
    }

    /// Finds out what became of the write, which was sent at a second and not answered.
    pub(crate) async fn look_up(
        &self,
        client: &mut Client,
        model: &mut Model,
        sent: i64,
    ) -> Result<Fate, Halt> {
        let mut fates = Vec::new();
        let mut stamps = Vec::new();
        let mut seen = (i64::MAX, i64::MIN);
        for slot in self.slots() {
            let answer = read(client, model, slot).await?;
            seen = (seen.0.min(answer.from), seen.1.max(answer.to));
            let last = self.changes.iter().rfind(|change| change.slot == slot).expect("it changes the item");
            let fate = judge(model, last, &answer, sent)?;
            fates.push(fate);
            let is_shown = answer.status == 200 && fate == Fate::Happened;
            stamps.push((slot, is_shown.then(|| stamp(&answer.body)).flatten()));
        }
        let lives = self.lives(model, sent, seen.1);
        let must_fail =
            self.changes.iter().zip(&lives).any(|(change, life)| change.operation.must_fail(*life));
        let has = |fate| fates.contains(&fate);
        let fate = match (has(Fate::Happened), has(Fate::Refused)) {
            (true, true) => {
                let what = self.describe(model);
                return Err(Halt::Wrong(format!("of a {what} a part happened: {fates:?}")));
            }
            (true, false) if must_fail => {
                return Err(Halt::Wrong(format!("{} happened, which cannot be", self.describe(model))));
            }
            (true, false) => Fate::Happened,
            (false, false) if !must_fail => Fate::Unknown,
            (false, _) => return Ok(Fate::Refused),
        };
        let results: Vec<_> = self
            .changes
            .iter()
            .zip(lives)
            .map(|(change, life)| {
                let ts = stamps.iter().find(|(slot, _)| *slot == change.slot).and_then(|(_, ts)| *ts);
                (status_of_doubt(change.operation, life), ts)
            })
            .collect();
        let before = model.lengths();
        self.push(model, &results, None);
        if fate == Fate::Unknown {
            for (slot, length) in before.into_iter().enumerate() {
                model.slots[slot].events[length..].iter_mut().for_each(|event| event.is_certain = false);
            }
        }
        Ok(fate)
    }

    /// Returns whether the item of each change is there when it is its turn.
    fn lives(&self, model: &Model, from: i64, to: i64) -> Vec<Life> {
        let life = |(index, change): (usize, &Change)| match self.changes[..index]
            .iter()
            .rfind(|earlier| earlier.slot == change.slot)
        {
            None => model.life(change.slot, from, to),
            Some(Change { operation: Operation::Delete, .. }) => Life::Gone,
            Some(_) => Life::Live,
        };
        self.changes.iter().enumerate().map(life).collect()
    }

    /// Adds what happened; each result is the status (0 where it is not known) and the time.
    fn push(&self, model: &mut Model, results: &[(u16, Option<i64>)], lsn: Option<u64>) {
        let transaction = self.is_transaction.then(|| model.next_transaction());
        for (change, (status, ts)) in self.changes.iter().zip(results) {
            let kind = match change.operation {
                Operation::Delete => EventKind::Delete,
                _ => {
                    let is_create = (*status != 0).then_some(*status == 201);
                    EventKind::Put(Put { content: change.content.clone(), ts: *ts, is_create })
                }
            };
            model.slots[change.slot].events.push(Event { kind, lsn, transaction, is_certain: true });
        }
    }
}

/// Reads an item.
pub(crate) async fn read(client: &mut Client, model: &Model, slot: usize) -> Result<Answer, Halt> {
    let key = partition_key(model.key_name(slot));
    let target = Target::Item(DATABASE, &model.spec.container, &model.slots[slot].id);
    let request = client.compose("GET", target, &[("x-ms-documentdb-partitionkey", &key)], "");
    let answer = client.ask(request).await?;
    match answer.status {
        200 | 404 => Ok(answer),
        _ => Err(Halt::Wrong(answer.unexpected(&format!("a read of {}", model.name(slot)), "200 or 404"))),
    }
}

/// Compares the answer to a read of an item that nobody is changing with what is known.
pub(crate) fn judge_read(model: &Model, slot: usize, answer: &Answer) -> Result<(), String> {
    let life = model.life(slot, answer.from, answer.to);
    let is_right = match (answer.status, life) {
        (404, Life::Gone | Life::Unsure) => true,
        (200, Life::Live | Life::Unsure) => {
            model.newest(slot).is_some_and(|put| is_shown(model, slot, &put.content, &answer.body))
        }
        _ => false,
    };
    match is_right {
        true => Ok(()),
        false => {
            let expected = format!("what is known ({life:?}) of {}", model.describe(slot));
            Err(answer.unexpected("a read", &expected))
        }
    }
}

/// Says what became of the last change that a write made to an item, going by a read of it.
fn judge(model: &Model, change: &Change, answer: &Answer, sent: i64) -> Result<Fate, String> {
    let Change { slot, operation, content } = change;
    if answer.status == 200 {
        if *operation != Operation::Delete && is_shown(model, *slot, content, &answer.body) {
            return Ok(Fate::Happened);
        }
        judge_read(model, *slot, answer)?;
        return Ok(Fate::Refused);
    }
    let may_be_gone = model.life(*slot, answer.from, answer.to) != Life::Live;
    if *operation == Operation::Delete {
        // What is gone after its time may have been deleted before, and what was never there may have come and gone in
        // the same transaction.
        return Ok(if may_be_gone { Fate::Unknown } else { Fate::Happened });
    }
    let put = Put { content: content.clone(), ts: Some(sent), is_create: None };
    let may_have_expired = model.life_of(&put, answer.from, answer.to) != Life::Live;
    match (may_have_expired, may_be_gone) {
        (true, _) => Ok(Fate::Unknown),
        (false, true) => Ok(Fate::Refused),
        (false, false) => Err(format!(
            "an item is lost by {operation:?} sequence {}: {}",
            content.sequence,
            model.describe(*slot)
        )),
    }
}

/// Returns the status that an unanswered change must have had if it happened; 0 where there are two.
fn status_of_doubt(operation: Operation, life: Life) -> u16 {
    let mut good = operation.statuses(life).iter().filter(|status| **status < 300);
    match (good.next(), good.next()) {
        (Some(status), None) => *status,
        _ => 0,
    }
}

fn is_shown(model: &Model, slot: usize, content: &Content, body: &[u8]) -> bool {
    json::parse(body)
        .is_ok_and(|shown| content.is_that_of(&model.slots[slot].id, model.key_name(slot), &shown))
}

fn stamp(body: &[u8]) -> Option<i64> {
    json::parse(body).ok()?.get("_ts").and_then(Value::as_i64)
}

fn body(change: &Change, model: &Model) -> String {
    match change.operation {
        Operation::Patch => format!(
            "{{\"operations\":[{{\"op\":\"set\",\"path\":\"/sequence\",\"value\":{}}}]}}",
            change.content.sequence
        ),
        _ => change.content.json(&model.slots[change.slot].id, model.key_name(change.slot)),
    }
}

fn batch_step(change: &Change, model: &Model) -> String {
    let id = &model.slots[change.slot].id;
    match change.operation {
        Operation::Create | Operation::Upsert => format!(
            "{{\"operationType\":\"{:?}\",\"resourceBody\":{}}}",
            change.operation,
            body(change, model)
        ),
        Operation::Replace | Operation::Patch => format!(
            "{{\"operationType\":\"{:?}\",\"id\":\"{id}\",\"resourceBody\":{}}}",
            change.operation,
            body(change, model)
        ),
        Operation::Delete => format!("{{\"operationType\":\"Delete\",\"id\":\"{id}\"}}"),
    }
}

/// Returns the status and time of each step of a batch.
fn batch_results(body: &[u8]) -> Option<Vec<(u16, Option<i64>)>> {
    let answer = json::parse(body).ok()?;
    let result = |value: &Value| {
        let status = u16::try_from(value.get("statusCode")?.as_i64()?).ok()?;
        let item = value.get("resourceBody").filter(|item| !item.is_null());
        Some((status, item.and_then(|item| item.get("_ts")).and_then(Value::as_i64)))
    };
    answer.as_array()?.iter().map(result).collect()
}

#[cfg(test)]
#[path = "writes_tests.rs"]
mod tests;
