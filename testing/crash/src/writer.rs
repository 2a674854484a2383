//! One writer: a connection, the items it owns, and one write after the other until the server is gone.
//!
//! Every answer is checked at once against what the model says it must be.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use armilla_crash::http_client::{Connection, Reply};
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_env::{Env, Random};

use crate::content::{Area, Content, Shown};
use crate::ledger::Commit;
use crate::model::{InFlight, Slot, Version};
use crate::setup::{DATABASE, unexpected};
use crate::stop::{Stop, go_on};

/// Items that a writer owns in the container without constraints.
const ITEMS_PER_WRITER: usize = 36;

/// Items that a writer owns in the container with a unique key, and values of that key: few, so that they meet.
const UNIQUE_ITEMS_PER_WRITER: usize = 12;
const EMAILS_PER_WRITER: u64 = 9;

/// The partition key that all writers share most.
pub(crate) const HOT_KEY: &str = "hot";

/// A version that no item ever has.
const STALE_ETAG: &str = "\"00000000-0000-0000-0000-000000000000\"";

/// What all writers of a round share.
pub(crate) struct Round {
    pub(crate) address: SocketAddr,
    /// Set just before the server is killed or asked to end; until then it must answer.
    pub(crate) ending: AtomicBool,
    /// The item of this round that all writers increment.
    pub(crate) counter_id: String,
    pub(crate) env: Env,
}

/// A writer and what it knows, over all rounds.
pub(crate) struct Writer {
    number: usize,
    sequence: u64,
    pub(crate) slots: Vec<Slot>,
    composer: Composer,
    pub(crate) done: Done,
}

/// What a writer did in one round.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) commits: Vec<Commit>,
    pub(crate) counter_acknowledged: i64,
    pub(crate) counter_in_flight: bool,
    pub(crate) wrong: Option<String>,
}

/// What to do to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Read,
    Create,
    Upsert,
    Replace,
    Patch,
    Delete,
}

/// Which version the item must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    None,
    Current,
    Stale,
}

/// Returns the status that an operation must get.
fn expected_status(action: Action, condition: Condition, exists: bool, email_taken: bool) -> u16 {
    match (action, exists) {
        (Action::Create, true) => 409,
        (Action::Read | Action::Replace | Action::Patch | Action::Delete, false) => 404,
        (Action::Replace | Action::Patch | Action::Delete, true) if condition == Condition::Stale => 412,
        (Action::Create | Action::Upsert | Action::Replace | Action::Patch, _) if email_taken => 409,
        (Action::Read | Action::Replace | Action::Patch, true) | (Action::Upsert, true) => 200,
        (Action::Create | Action::Upsert, false) => 201,
        (Action::Delete, true) => 204,
    }
}

impl Writer {
    pub(crate) fn new(number: usize, env: &Env) -> Writer {
        let own_key = format!("writer-{number}");
        let mut slots = Vec::new();
        for index in 0..ITEMS_PER_WRITER {
            let partition_key = match index % 6 {
                0 | 1 => HOT_KEY,
                2 => "warm-0",
                3 => "warm-1",
                4 => &format!("single-{number}-{index}"),
                _ => &own_key,
            };
            slots.push(Slot::new(Area::Items, format!("w{number}-i{index}"), partition_key));
        }
        for index in 0..UNIQUE_ITEMS_PER_WRITER {
            let partition_key = if index % 2 == 0 { HOT_KEY } else { "warm-0" };
            slots.push(Slot::new(Area::Unique, format!("w{number}-u{index}"), partition_key));
        }
        Writer { number, sequence: 0, slots, composer: Composer::new(env), done: Done::default() }
    }

    /// Writes until the server is gone.
    pub(crate) async fn run(mut self, round: Arc<Round>, mut random: Random) -> Writer {
        self.done = Done::default();
        let stop = match Connection::open(round.address).await {
            Ok(mut connection) => loop {
                let step = if random.percent(7) {
                    self.increment(&mut connection, &round).await
                } else {
                    self.step(&mut connection, &round, &mut random).await
                };
                if let Err(stop) = step {
                    break stop;
                }
            },
            Err(error) => Stop::Broken(error),
        };
        self.done.wrong = stop.wrong(&round);
        self
    }

    async fn step(
        &mut self,
        connection: &mut Connection,
        round: &Round,
        random: &mut Random,
    ) -> Result<(), Stop> {
        let index = random.index(self.slots.len());
        let action = match random.below(100) {
            0..10 => Action::Read,
            10..26 => Action::Create,
            26..48 => Action::Upsert,
            48..70 => Action::Replace,
            70..90 => Action::Patch,
            _ => Action::Delete,
        };
        let condition = match random.below(10) {
            0..5 => Condition::None,
            5..9 => Condition::Current,
            _ => Condition::Stale,
        };
        let minimal = random.percent(15);
        let content = self.next_content(index, action, random);
        let email_taken = self.is_email_taken(index, content.email.as_deref());
        let slot = &mut self.slots[index];
        let expected = expected_status(action, condition, slot.state.is_some(), email_taken);
        let request = compose(&mut self.composer, slot, action, condition, minimal, &content);
        slot.touched = true;
        if expected < 300 {
            slot.in_flight = match action {
                Action::Read => None,
                Action::Delete => Some(InFlight::Delete),
                _ => Some(InFlight::Write(content.clone())),
            };
        }
        let reply = connection.exchange(&request).await?;
        let is_last = reply.is_last();
        // From here on the write is answered: what happened is known, or the answer is wrong.
        slot.in_flight = None;
        if reply.status == 429 {
            let wait = reply.header("x-ms-retry-after-ms").and_then(|wait| wait.parse().ok()).unwrap_or(10);
            round.env.clock.sleep(Duration::from_millis(wait)).await;
            return Ok(());
        }
        if reply.status != expected {
            let error = unexpected(&request, &reply, &expected.to_string());
            return Err(Stop::Wrong(format!(
                "{}: {action:?} with condition {condition:?}: {error}",
                slot.name()
            )));
        }
        if expected >= 300 {
            return go_on(is_last);
        }
        let applied = match action {
            Action::Read => slot.judge(Some(reply.body)).map(|_| None),
            Action::Delete => {
                slot.state = None;
                commit(slot.area, &reply).map(Some)
            }
            _ => acknowledge(slot, content, &reply, minimal).map(Some),
        };
        let applied = applied.map_err(|wrong| Stop::Wrong(format!("answer to {action:?}: {wrong}")))?;
        self.done.commits.extend(applied);
        go_on(is_last)
    }

    /// Increments the item that all writers share.
    async fn increment(&mut self, connection: &mut Connection, round: &Round) -> Result<(), Stop> {
        const PATCH: &[u8] =
            br#"{"operations":[{"op":"incr","path":"/a","value":1},{"op":"incr","path":"/b","value":1}]}"#;
        let target = Target::Item(DATABASE, Area::Items.container(), &round.counter_id);
        let key = partition_key(HOT_KEY);
        let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
        let request = self.composer.compose("PATCH", target, &headers, PATCH);
        self.done.counter_in_flight = true;
        let reply = connection.exchange(&request).await?;
        self.done.counter_in_flight = false;
        if reply.status == 429 {
            return Ok(());
        }
        if reply.status != 200 {
            return Err(Stop::Wrong(format!("{}", unexpected(&request, &reply, "200"))));
        }
        let shown = Shown::parse(reply.body).map_err(Stop::Wrong)?;
        let (a, b) = (shown.integer("a"), shown.integer("b"));
        self.done.counter_acknowledged += 1;
        if a != b || a.is_none_or(|value| value < self.done.counter_acknowledged) {
            return Err(Stop::Wrong(format!(
                "the shared item shows {a:?} and {b:?} after an increment of both"
            )));
        }
        self.done.commits.push(commit(Area::Items, &reply).map_err(Stop::Wrong)?);
        go_on(reply.is_last())
    }

    /// Returns content that no write of this item had before.
    fn next_content(&mut self, index: usize, action: Action, random: &mut Random) -> Content {
        self.sequence += 1;
        let slot = &self.slots[index];
        let email = (slot.area == Area::Unique)
            .then(|| format!("{}-{}@example.org", self.number, random.below(EMAILS_PER_WRITER)));
        let filling_bytes = match random.below(100) {
            0..80 => random.below(600) as usize,
            80..97 => random.below(4_000) as usize,
            // Long ones fill the store's buffers, so that rounds see it flush and compact.
            _ => random.below(60_000) as usize,
        };
        let filling_seed = random.next_u64();
        match (&slot.state, action) {
            (Some(version), Action::Patch) => Content {
                sequence: self.sequence,
                count: version.content.count + random.below(9) as i64 - 4,
                email: if random.percent(50) { email } else { version.content.email.clone() },
                ..version.content.clone()
            },
            _ => Content { sequence: self.sequence, count: 0, email, filling_bytes, filling_seed },
        }
    }

    /// Says whether another item of the same logical partition has the value of the unique key.
    fn is_email_taken(&self, index: usize, email: Option<&str>) -> bool {
        let own = &self.slots[index];
        email.is_some()
            && self.slots.iter().enumerate().any(|(other_index, other)| {
                other_index != index
                    && other.area == own.area
                    && other.partition_key == own.partition_key
                    && other.state.as_ref().is_some_and(|version| version.content.email.as_deref() == email)
            })
    }
}

fn compose(
    composer: &mut Composer,
    slot: &Slot,
    action: Action,
    condition: Condition,
    minimal: bool,
    content: &Content,
) -> Vec<u8> {
    let key = partition_key(&slot.partition_key);
    let mut headers = vec![("x-ms-documentdb-partitionkey", key.as_str())];
    let current = slot.state.as_ref().map_or(STALE_ETAG, |version| version.etag.as_str());
    if matches!(action, Action::Replace | Action::Patch | Action::Delete) {
        match condition {
            Condition::None => {}
            Condition::Current => headers.push(("if-match", current)),
            Condition::Stale => headers.push(("if-match", STALE_ETAG)),
        }
    }
    if minimal && !matches!(action, Action::Read | Action::Delete) {
        headers.push(("prefer", "return=minimal"));
    }
    let container = slot.area.container();
    let items = Target::Items(DATABASE, container);
    let item = Target::Item(DATABASE, container, &slot.id);
    let json = || content.json(&slot.id, &slot.partition_key).into_bytes();
    let (method, target, body) = match action {
        Action::Read => ("GET", item, Vec::new()),
        Action::Create => ("POST", items, json()),
        Action::Upsert => {
            headers.push(("x-ms-documentdb-is-upsert", "True"));
            ("POST", items, json())
        }
        Action::Replace => ("PUT", item, json()),
        Action::Patch => {
            let old = slot.state.as_ref().map_or(content, |version| &version.content);
            ("PATCH", item, content.patch_from(old).into_bytes())
        }
        Action::Delete => ("DELETE", item, Vec::new()),
    };
    composer.compose(method, target, &headers, &body)
}

/// Takes in the answer to a write that succeeded.
fn acknowledge(
    slot: &mut Slot,
    content: Content,
    reply: &Reply<'_>,
    minimal: bool,
) -> Result<Commit, String> {
    let etag = reply.header("etag").ok_or_else(|| format!("{}: the answer has no etag", slot.name()))?;
    if slot.state.as_ref().is_some_and(|version| version.etag == etag) {
        return Err(format!("{}: a new version has the etag {etag} of the old one", slot.name()));
    }
    if minimal != reply.body.is_empty() {
        return Err(format!("{}: the answer has {} bytes of body", slot.name(), reply.body.len()));
    }
    let version = Version { content, etag: etag.to_owned(), body: (!minimal).then(|| reply.body.to_vec()) };
    slot.state = Some(version);
    if !minimal {
        slot.judge(Some(reply.body))?;
    }
    commit(slot.area, reply)
}

/// Reads the commit number of a write.
pub(crate) fn commit(area: Area, reply: &Reply<'_>) -> Result<Commit, String> {
    let token = reply.header("x-ms-session-token").ok_or("the answer to a write has no session token")?;
    Commit::parse(area, token).ok_or_else(|| format!("the session token {token} is not of the known form"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        use Action::{Create, Delete, Patch, Read, Replace, Upsert};
        use Condition::{Current, None, Stale};
        for (action, condition, exists, email_taken, expected) in [
            (Read, None, true, false, 200),
            (Read, Stale, false, true, 404),
            (Create, None, false, false, 201),
            (Create, None, false, true, 409),
            (Create, Stale, true, false, 409),
            (Upsert, Stale, true, false, 200),
            (Upsert, None, false, false, 201),
            (Upsert, None, true, true, 409),
            (Replace, Current, true, false, 200),
            (Replace, Stale, true, true, 412),
            (Replace, Current, false, true, 404),
            (Patch, None, true, true, 409),
            (Patch, Stale, true, false, 412),
            (Delete, None, true, true, 204),
            (Delete, Stale, true, false, 412),
            (Delete, Current, false, false, 404),
        ] {
            assert_eq!(
                expected_status(action, condition, exists, email_taken),
                expected,
                "{action:?} {condition:?} {exists} {email_taken}"
            );
        }
    }

    #[test]
    fn values_of_the_unique_key_are_taken_inside_one_logical_partition() {
        let mut writer = Writer::new(0, &Env::system());
        let unique: Vec<usize> =
            (0..writer.slots.len()).filter(|index| writer.slots[*index].area == Area::Unique).collect();
        let content =
            Content { sequence: 1, count: 0, email: Some("a".into()), filling_bytes: 0, filling_seed: 0 };
        let (first, other_key, same_key) = (unique[0], unique[1], unique[2]);
        writer.slots[first].state = Some(Version { content, etag: String::new(), body: None });
        assert!(writer.is_email_taken(same_key, Some("a")));
        assert!(!writer.is_email_taken(same_key, Some("b")));
        assert!(!writer.is_email_taken(first, Some("a")));
        assert!(!writer.is_email_taken(other_key, Some("a")));
        assert!(!writer.is_email_taken(0, None));
    }
}
