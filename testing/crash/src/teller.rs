//! One teller: a connection that changes banks by transactions, one after the other until the server is gone.
//!
//! Accounts belong to all tellers; entries and notes to the one that made them, which alone removes them again, so that
//! there are never many. Every answer is checked at once, also those of transactions that are made to fail.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use armilla_crash::http_client::Connection;
use armilla_crash::requests::Composer;
use armilla_env::{Env, Random};
use armilla_value::{Value, json};

use crate::bank::{ACCOUNTS, Act, BANKS, BY, Bank, OPENING_BALANCE, Transfer};
use crate::bank_requests::{Asking, REFUSAL, entry, note};
use crate::content::{Area, Shown};
use crate::ledger::Commit;
use crate::setup::unexpected;
use crate::stop::{Stop, go_on};
use crate::writer::{Round, commit};

/// Entries that a teller leaves in a bank before it settles them, and most that it settles at once.
const ENTRIES_MIN: usize = 12;
const SETTLED_MAX: usize = 30;

/// Notes that a teller has in a bank.
const NOTES_MAX: u64 = 6;

/// A transaction met others too often: nothing of it happened.
const TRY_AGAIN: u16 = 449;

/// A teller and what it knows, over all rounds.
pub(crate) struct Teller {
    number: usize,
    sequence: u64,
    composer: Composer,
    /// What it has in each bank.
    own: [Own; BANKS],
    pub(crate) done: TellerDone,
}

/// What a teller has in a bank.
#[derive(Debug, Clone, Default)]
struct Own {
    entries: BTreeMap<String, Transfer>,
    notes: BTreeSet<String>,
}

/// What a teller did in one round.
#[derive(Debug, Default)]
pub(crate) struct TellerDone {
    pub(crate) commits: Vec<Commit>,
    /// Acknowledged acts, in order, with their banks.
    pub(crate) acts: Vec<(usize, Act)>,
    /// An act that was sent and not answered.
    pub(crate) in_flight: Option<(usize, Act)>,
    /// Transactions that failed, as they were made to.
    pub(crate) refused: u64,
    pub(crate) wrong: Option<String>,
}

/// What an answer must be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// The document that was made.
    Document,
    /// The results of so many steps, of which that of the last one has the document that was made, if it made one.
    Steps { count: usize, has_document: bool },
    /// A number.
    Number(i64),
    /// Nothing.
    Empty,
    /// The number of a script's own error.
    ScriptFailed,
    /// The results of so many steps, of which the last one failed and undid the others.
    LastStepFailed { count: usize },
}

/// A transaction before it is sent.
struct Asked {
    act: Act,
    request: Vec<u8>,
    status: u16,
    answer: Answer,
}

impl Teller {
    pub(crate) fn new(number: usize, env: &Env) -> Teller {
        Teller {
            number,
            sequence: 0,
            composer: Composer::new(env),
            own: Default::default(),
            done: TellerDone::default(),
        }
    }

    /// Works until the server is gone.
    pub(crate) async fn run(mut self, round: Arc<Round>, mut random: Random) -> Teller {
        self.done = TellerDone::default();
        let stop = match Connection::open(round.address).await {
            Ok(mut connection) => loop {
                let step = if random.percent(8) {
                    self.look(&mut connection, &mut random).await
                } else {
                    self.step(&mut connection, &round, &mut random).await
                };
                if let Err(stop) = step {
                    break stop;
                }
            },
            Err(error) => Stop::Broken(error),
        };
        self.done.wrong = stop.wrong(&round).map(|wrong| format!("teller {}: {wrong}", self.number));
        self
    }

    /// Takes in what became of the act that was under way.
    pub(crate) fn resolve(&mut self, bank: usize, act: &Act, happened: bool) {
        if happened {
            self.note(bank, act);
        }
    }

    async fn step(
        &mut self,
        connection: &mut Connection,
        round: &Round,
        random: &mut Random,
    ) -> Result<(), Stop> {
        let bank = random.index(BANKS);
        let key = Bank::key(bank);
        let Asked { mut act, request, status, answer } = self.choose(bank, &key, random);
        self.done.in_flight = Some((bank, act.clone()));
        let reply = connection.exchange(&request).await?;
        let is_last = reply.is_last();
        // From here on the act is answered: what happened is known, or the answer is wrong.
        self.done.in_flight = None;
        if reply.status == 429 || reply.status == TRY_AGAIN {
            let wait = reply.header("x-ms-retry-after-ms").and_then(|wait| wait.parse().ok()).unwrap_or(10);
            round.env.clock.sleep(Duration::from_millis(wait)).await;
            return go_on(is_last);
        }
        if reply.status != status {
            return Err(Stop::Wrong(format!(
                "{act:?}: {}",
                unexpected(&request, &reply, &status.to_string())
            )));
        }
        let wrong = |wrong: String| Stop::Wrong(format!("answer to {act:?}: {wrong}"));
        let document = read_answer(answer, reply.header("x-ms-substatus"), reply.body).map_err(wrong)?;
        if let Act::Refused { .. } = act {
            self.done.refused += 1;
            return go_on(is_last);
        }
        self.done.commits.push(commit(Area::Banks, &reply).map_err(wrong)?);
        if let Some(document) = document {
            check_document(&act, &key, &document).map_err(wrong)?;
            if let Act::Transfer { shown, .. } | Act::CreateNote { shown, .. } = &mut act {
                *shown = Some(document);
            }
        }
        self.note(bank, &act);
        self.done.acts.push((bank, act));
        go_on(is_last)
    }

    /// Asks for all balances of a bank: at every moment they come to the same sum.
    async fn look(&mut self, connection: &mut Connection, random: &mut Random) -> Result<(), Stop> {
        let key = Bank::key(random.index(BANKS));
        let request = Asking::new(&mut self.composer, &key).balances();
        let reply = connection.exchange(&request).await?;
        if reply.status != 200 {
            return Err(Stop::Wrong(format!("{}", unexpected(&request, &reply, "200"))));
        }
        let page =
            json::parse(reply.body).map_err(|error| Stop::Wrong(format!("a page of balances: {error}")))?;
        let rows = page.get("Documents").and_then(Value::as_array).unwrap_or_default();
        let balances: Vec<i64> = rows.iter().filter_map(Value::as_i64).collect();
        if balances.len() != ACCOUNTS || balances.iter().sum::<i64>() != ACCOUNTS as i64 * OPENING_BALANCE {
            return Err(Stop::Wrong(format!("the accounts of {key} show {balances:?} at one moment")));
        }
        go_on(reply.is_last())
    }

    fn choose(&mut self, bank: usize, key: &str, random: &mut Random) -> Asked {
        self.sequence += 1;
        let own = &self.own[bank];
        if own.entries.len() >= ENTRIES_MIN && random.percent(25) {
            return self.settle(bank, key, random);
        }
        if random.percent(60) { self.transfer(key, random) } else { self.change_note(bank, key, random) }
    }

    fn transfer(&mut self, key: &str, random: &mut Random) -> Asked {
        let from = random.index(ACCOUNTS);
        let to = (from + 1 + random.index(ACCOUNTS - 1)) % ACCOUNTS;
        let by = BY[random.index(BY.len())];
        let transfer = Transfer { from, to, amount: 1 + random.below(50) as i64, by };
        let id = format!("entry-{}-{}", self.number, self.sequence);
        let is_refused = random.percent(10);
        let mut asking = Asking::new(&mut self.composer, key);
        let is_batch = by == "batch";
        let request = match is_batch {
            true => asking.transfer_by_batch(&id, &transfer, is_refused),
            false => asking.transfer_by_procedure(&id, &transfer, is_refused),
        };
        let (status, answer) = match (is_batch, is_refused) {
            (true, false) => (200, Answer::Steps { count: 3, has_document: true }),
            (true, true) => (207, Answer::LastStepFailed { count: 4 }),
            (false, false) => (200, Answer::Document),
            (false, true) => (400, Answer::ScriptFailed),
        };
        let act = match is_refused {
            true => Act::Refused { id },
            false => Act::Transfer { id, transfer, shown: None },
        };
        Asked { act, request, status, answer }
    }

    fn settle(&mut self, bank: usize, key: &str, random: &mut Random) -> Asked {
        let own = &self.own[bank].entries;
        let entries: BTreeMap<String, Transfer> =
            own.iter().take(SETTLED_MAX).map(|(id, transfer)| (id.clone(), transfer.clone())).collect();
        let mut asking = Asking::new(&mut self.composer, key);
        let (request, answer) = match random.percent(50) {
            true => (asking.settle_by_procedure(&entries), Answer::Number(entries.len() as i64)),
            false => {
                let count = entries.len() + ACCOUNTS;
                (asking.settle_by_batch(&entries), Answer::Steps { count, has_document: false })
            }
        };
        Asked { act: Act::Settle { entries }, request, status: 200, answer }
    }

    fn change_note(&mut self, bank: usize, key: &str, random: &mut Random) -> Asked {
        let id = format!("note-{}-{}", self.number, random.below(NOTES_MAX));
        let mut asking = Asking::new(&mut self.composer, key);
        if self.own[bank].notes.contains(&id) {
            let request = asking.delete_note(&id);
            return Asked { act: Act::DeleteNote { id }, request, status: 204, answer: Answer::Empty };
        }
        let text = format!("note {} of teller {}", self.sequence, self.number);
        if random.percent(10) {
            let request = asking.create_note(&id, &text, true);
            return Asked { act: Act::Refused { id }, request, status: 400, answer: Answer::ScriptFailed };
        }
        let request = asking.create_note(&id, &text, false);
        let act = Act::CreateNote { id, text, shown: None };
        Asked { act, request, status: 201, answer: Answer::Document }
    }

    /// Keeps what is the teller's own up to date.
    fn note(&mut self, bank: usize, act: &Act) {
        let own = &mut self.own[bank];
        match act {
            Act::Transfer { id, transfer, .. } => {
                own.entries.insert(id.clone(), transfer.clone());
            }
            Act::Settle { entries } => own.entries.retain(|id, _| !entries.contains_key(id)),
            Act::CreateNote { id, .. } => {
                own.notes.insert(id.clone());
            }
            Act::DeleteNote { id } => {
                own.notes.remove(id);
            }
            Act::Refused { .. } => {}
        }
    }
}

/// Checks the form of an answer; returns the document that it shows, if it must show one.
fn read_answer(answer: Answer, sub_status: Option<&str>, body: &[u8]) -> Result<Option<Value>, String> {
    let text = || String::from_utf8_lossy(body);
    let value = || json::parse(body).map_err(|error| format!("the body is not JSON: {error}"));
    match answer {
        Answer::Document => value().map(Some),
        Answer::Steps { count, has_document } => {
            let results = value()?;
            let statuses = statuses(&results);
            if statuses.len() != count || statuses.iter().any(|status| !(200..300).contains(status)) {
                return Err(format!("the steps got {statuses:?}"));
            }
            let last = results.as_array().and_then(<[Value]>::last);
            match has_document {
                true => {
                    let document = last.and_then(|last| last.get("resourceBody"));
                    Ok(Some(document.ok_or("the last step shows no document")?.clone()))
                }
                false => Ok(None),
            }
        }
        Answer::Number(number) if value()?.as_i64() == Some(number) => Ok(None),
        Answer::Number(number) => Err(format!("it says {}, expected is {number}", text())),
        Answer::Empty if body.is_empty() => Ok(None),
        Answer::Empty => Err(format!("it has a body: {}", text())),
        Answer::ScriptFailed => match sub_status {
            Some(REFUSAL) => Ok(None),
            other => Err(format!("the sub-status is {other:?}, expected is {REFUSAL}: {}", text())),
        },
        Answer::LastStepFailed { count } => {
            let statuses = statuses(&value()?);
            match statuses.split_last() {
                Some((409, others))
                    if others.len() + 1 == count && others.iter().all(|status| *status == 424) =>
                {
                    Ok(None)
                }
                _ => Err(format!("the steps got {statuses:?}")),
            }
        }
    }
}

fn statuses(results: &Value) -> Vec<i64> {
    let results = results.as_array().unwrap_or_default();
    results.iter().map(|result| result.get("statusCode").and_then(Value::as_i64).unwrap_or(0)).collect()
}

/// Compares the document that an answer shows with the one that was sent.
fn check_document(act: &Act, key: &str, document: &Value) -> Result<(), String> {
    let sent = match act {
        Act::Transfer { id, transfer, .. } => entry(key, id, transfer),
        Act::CreateNote { id, text, .. } => note(key, id, text, false),
        Act::Settle { .. } | Act::DeleteNote { .. } | Act::Refused { .. } => return Ok(()),
    };
    let sent = json::parse(sent.as_bytes()).map_err(|error| error.to_string())?;
    let shown = Shown::of(document.clone())?;
    match sent.as_object() == Some(&shown.content) {
        true => Ok(()),
        false => Err(format!("it shows {document:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_the_form_that_they_must_have() {
        let steps = |count, has_document| Answer::Steps { count, has_document };
        let last = Answer::LastStepFailed { count: 2 };
        for (answer, sub_status, body, expected) in [
            (Answer::Document, None, r#"{"id":"a"}"#, Some(true)),
            (Answer::Document, None, "", None),
            (Answer::Number(3), None, "3", Some(false)),
            (Answer::Number(3), None, "4", None),
            (Answer::Empty, None, "", Some(false)),
            (Answer::Empty, None, "{}", None),
            (Answer::ScriptFailed, Some(REFUSAL), "{}", Some(false)),
            (Answer::ScriptFailed, Some("0"), "{}", None),
            (Answer::ScriptFailed, None, "{}", None),
            (
                steps(2, true),
                None,
                r#"[{"statusCode":200},{"statusCode":201,"resourceBody":{}}]"#,
                Some(true),
            ),
            (steps(2, false), None, r#"[{"statusCode":204},{"statusCode":200}]"#, Some(false)),
            (steps(2, true), None, r#"[{"statusCode":200},{"statusCode":201}]"#, None),
            (steps(2, false), None, r#"[{"statusCode":200},{"statusCode":412}]"#, None),
            (steps(2, false), None, r#"[{"statusCode":200}]"#, None),
            (last, None, r#"[{"statusCode":424},{"statusCode":409}]"#, Some(false)),
            (last, None, r#"[{"statusCode":200},{"statusCode":409}]"#, None),
            (last, None, r#"[{"statusCode":409},{"statusCode":424}]"#, None),
            (last, None, r#"[{"statusCode":409}]"#, None),
        ] {
            let found = read_answer(answer, sub_status, body.as_bytes());
            assert_eq!(found.ok().map(|document| document.is_some()), expected, "{answer:?} {body}");
        }
    }

    #[test]
    fn a_teller_knows_what_is_its_own() {
        let mut teller = Teller::new(1, &Env::system());
        let mut random = Random::new(3);
        for _ in 0..500 {
            let bank = random.index(BANKS);
            let asked = teller.choose(bank, "b", &mut random);
            let own = &teller.own[bank];
            match &asked.act {
                Act::Transfer { id, .. } => assert!(!own.entries.contains_key(id)),
                Act::Settle { entries } => {
                    assert!((ENTRIES_MIN..=SETTLED_MAX).contains(&entries.len()));
                    assert!(entries.iter().all(|(id, transfer)| own.entries.get(id) == Some(transfer)));
                }
                Act::CreateNote { id, .. } => assert!(!own.notes.contains(id)),
                Act::DeleteNote { id } => assert!(own.notes.contains(id)),
                Act::Refused { id } => assert!(!own.entries.contains_key(id) && !own.notes.contains(id)),
            }
            teller.resolve(bank, &asked.act, random.percent(90));
        }
    }
}
