//! What is known of the banks: logical partitions in which several clients move money by transactions.
//!
//! A bank has a few accounts, which everybody writes; entries, each the record of one transfer; notes; and an item that a
//! trigger keeps, which counts the notes. Acts of different clients commute, so what a bank must hold follows from
//! which of them happened, in whatever order: every act as a whole, or not at all.
//!
//! Not here: the scripts and requests (`bank_requests`), who sends them (`teller`).

use std::collections::{BTreeMap, BTreeSet};

use armilla_value::Value;

use crate::content::Shown;

/// How many banks there are, and accounts in each.
pub(crate) const BANKS: usize = 4;
pub(crate) const ACCOUNTS: usize = 4;

/// What an account has in the beginning.
pub(crate) const OPENING_BALANCE: i64 = 1_000;

/// The id of the item that counts notes.
pub(crate) const NOTE_COUNT: &str = "note-count";

/// Money that goes from one account to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) amount: i64,
    /// How it was asked for, which the entry names for whoever reads it.
    pub(crate) by: &'static str,
}

/// A document that one client put in and alone removes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document<T> {
    pub(crate) content: T,
    /// As the server showed it, once it has.
    pub(crate) shown: Option<Value>,
}

/// What a client does to a bank in one transaction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    /// Moves money and leaves an entry.
    Transfer { id: String, transfer: Transfer, shown: Option<Value> },
    /// Removes entries and adds them up in their accounts instead.
    Settle { entries: BTreeMap<String, Transfer> },
    /// Puts in a note, which a trigger counts.
    CreateNote { id: String, text: String, shown: Option<Value> },
    /// Removes a note, which the trigger counts as well.
    DeleteNote { id: String },
    /// Fails at its end, so that nothing of it may be seen.
    Refused { id: String },
}

/// An account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) balance: i64,
    /// What transfers without an entry any more came to.
    pub(crate) settled: i64,
    /// How many transfers there were, whether they have an entry or not.
    pub(crate) transfers: i64,
}

/// Everything in a bank.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bank {
    pub(crate) accounts: [Account; ACCOUNTS],
    pub(crate) entries: BTreeMap<String, Document<Transfer>>,
    pub(crate) notes: BTreeMap<String, Document<String>>,
    /// Notes that are there, as the trigger counted them.
    pub(crate) note_count: i64,
    /// Changes that the trigger saw.
    pub(crate) note_changes: i64,
}

impl Bank {
    /// Returns a bank as it is made.
    pub(crate) fn new() -> Bank {
        Bank {
            accounts: std::array::from_fn(|_| Account { balance: OPENING_BALANCE, ..Account::default() }),
            entries: BTreeMap::new(),
            notes: BTreeMap::new(),
            note_count: 0,
            note_changes: 0,
        }
    }

    /// Returns the partition key of a bank.
    pub(crate) fn key(number: usize) -> String {
        format!("bank-{number}")
    }

    /// Does what an act does.
    pub(crate) fn apply(&mut self, act: &Act) {
        match act {
            Act::Transfer { id, transfer, shown } => {
                let Transfer { from, to, amount, .. } = *transfer;
                for (account, amount) in [(from, -amount), (to, amount)] {
                    self.accounts[account].balance += amount;
                    self.accounts[account].transfers += 1;
                }
                let document = Document { content: transfer.clone(), shown: shown.clone() };
                self.entries.insert(id.clone(), document);
            }
            Act::Settle { entries } => {
                for (id, Transfer { from, to, amount, .. }) in entries {
                    self.accounts[*from].settled -= amount;
                    self.accounts[*to].settled += amount;
                    self.entries.remove(id);
                }
            }
            Act::CreateNote { id, text, shown } => {
                let document = Document { content: text.clone(), shown: shown.clone() };
                self.notes.insert(id.clone(), document);
                self.note_count += 1;
                self.note_changes += 1;
            }
            Act::DeleteNote { id } => {
                self.notes.remove(id);
                self.note_count -= 1;
                self.note_changes += 1;
            }
            Act::Refused { .. } => {}
        }
    }

    /// Tells from the documents that an act makes or removes whether it happened.
    pub(crate) fn has_happened(&self, act: &Act) -> Result<bool, String> {
        match act {
            Act::Transfer { id, .. } => Ok(self.entries.contains_key(id)),
            Act::Settle { entries } => {
                let left = entries.keys().filter(|id| self.entries.contains_key(*id)).count();
                match left {
                    0 => Ok(true),
                    left if left == entries.len() => Ok(false),
                    left => Err(format!("of {} entries that go together, {left} are left", entries.len())),
                }
            }
            Act::CreateNote { id, .. } => Ok(self.notes.contains_key(id)),
            Act::DeleteNote { id } => Ok(!self.notes.contains_key(id)),
            Act::Refused { id } if self.entries.contains_key(id) || self.notes.contains_key(id) => {
                Err(format!("{id} is there, though its transaction was to fail"))
            }
            Act::Refused { .. } => Ok(false),
        }
    }

    /// Lists where a bank as it is shown differs from this one, which is what it must be.
    pub(crate) fn differences(&self, shown: &Bank) -> Vec<String> {
        let mut differences = Vec::new();
        let money: i64 = shown.accounts.iter().map(|account| account.balance).sum();
        if money != ACCOUNTS as i64 * OPENING_BALANCE {
            differences.push(format!("the accounts hold {money} together, money came or went"));
        }
        for (number, (own, shown)) in self.accounts.iter().zip(&shown.accounts).enumerate() {
            if own != shown {
                differences.push(format!("account {number} is {shown:?}, expected is {own:?}"));
            }
        }
        for (number, account) in shown.accounts.iter().enumerate() {
            let moved: i64 = shown.entries.values().map(|entry| entry.content.change_of(number)).sum();
            let expected = OPENING_BALANCE + account.settled + moved;
            if account.balance != expected {
                let balance = account.balance;
                differences.push(format!("account {number} holds {balance}, its entries say {expected}"));
            }
        }
        documents_differ("entry", &self.entries, &shown.entries, &mut differences);
        documents_differ("note", &self.notes, &shown.notes, &mut differences);
        if shown.note_count != shown.notes.len() as i64 {
            let (count, notes) = (shown.note_count, shown.notes.len());
            differences.push(format!("{count} notes are counted, {notes} are there"));
        }
        let (own, shown) = ((self.note_count, self.note_changes), (shown.note_count, shown.note_changes));
        if own != shown {
            differences
                .push(format!("the count of notes and of their changes is {shown:?}, expected is {own:?}"));
        }
        differences
    }

    /// Reads a bank from the items of its logical partition.
    pub(crate) fn of_items(items: Vec<Value>) -> Result<Bank, String> {
        let mut bank = Bank::new();
        let mut missing: BTreeSet<String> = (0..ACCOUNTS).map(account_id).collect();
        missing.insert(NOTE_COUNT.to_owned());
        for item in items {
            let shown = Shown::of(item.clone())?;
            let id = shown.text("id").ok_or("an item has no id")?.to_owned();
            missing.remove(&id);
            let integer = |name: &str| {
                shown.integer(name).ok_or_else(|| format!("item {id} has no whole number {name}"))
            };
            let text = |name: &str| shown.text(name).ok_or_else(|| format!("item {id} has no text {name}"));
            match text("kind")? {
                "account" => {
                    let account =
                        bank.accounts.get_mut(account_number(&id)?).ok_or("there is an account too many")?;
                    account.balance = integer("balance")?;
                    account.settled = integer("settled")?;
                    account.transfers = integer("transfers")?;
                }
                "entry" => {
                    let by = BY.into_iter().find(|by| shown.text("by") == Some(by));
                    let transfer = Transfer {
                        from: account_number(text("from")?)?,
                        to: account_number(text("to")?)?,
                        amount: integer("amount")?,
                        by: by.ok_or_else(|| format!("entry {id} does not say who made it"))?,
                    };
                    bank.entries.insert(id, Document { content: transfer, shown: Some(item) });
                }
                "note" => {
                    let content = text("text")?.to_owned();
                    bank.notes.insert(id, Document { content, shown: Some(item) });
                }
                "note count" => {
                    (bank.note_count, bank.note_changes) = (integer("count")?, integer("changes")?);
                }
                other => return Err(format!("item {id} is of the unknown kind {other}")),
            }
        }
        match missing.first() {
            None => Ok(bank),
            Some(id) => Err(format!("item {id} is gone")),
        }
    }
}

/// Who makes transfers.
pub(crate) const BY: [&str; 2] = ["procedure", "batch"];

impl Transfer {
    /// Returns what the transfer adds to an account.
    fn change_of(&self, account: usize) -> i64 {
        match account {
            account if account == self.from => -self.amount,
            account if account == self.to => self.amount,
            _ => 0,
        }
    }
}

/// Returns the id of an account.
pub(crate) fn account_id(number: usize) -> String {
    format!("account-{number}")
}

fn account_number(id: &str) -> Result<usize, String> {
    let number = id.strip_prefix("account-").and_then(|number| number.parse().ok());
    number.filter(|number| *number < ACCOUNTS).ok_or_else(|| format!("{id} names no account"))
}

fn documents_differ<T: PartialEq + std::fmt::Debug>(
    kind: &str,
    own: &BTreeMap<String, Document<T>>,
    shown: &BTreeMap<String, Document<T>>,
    differences: &mut Vec<String>,
) {
    for (id, document) in own {
        match shown.get(id) {
            None => differences.push(format!("{kind} {id} is gone: {:?}", document.content)),
            Some(found) if found.content != document.content => {
                differences
                    .push(format!("{kind} {id} is {:?}, expected is {:?}", found.content, document.content));
            }
            Some(found) if document.shown.is_some() && document.shown != found.shown => {
                differences.push(format!(
                    "{kind} {id} is {:?}, the answer to its transaction showed {:?}",
                    found.shown, document.shown
                ));
            }
            Some(_) => {}
        }
    }
    for (id, document) in shown.iter().filter(|(id, _)| !own.contains_key(*id)) {
        differences.push(format!("there is a {kind} {id} that nobody made: {:?}", document.content));
    }
}

#[cfg(test)]
#[path = "bank_tests.rs"]
mod tests;
