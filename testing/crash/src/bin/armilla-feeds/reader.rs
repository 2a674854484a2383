//! A reader of a change feed: what it has been shown, and whether that was right.
//!
//! What holds for every page:
//! * each change is something that was done to an item of the reader's scope, as it was done;
//! * the changes of one item come in their order, none of them twice; those of one key never go back in commits;
//! * what one transaction changed is on one page;
//! * a page has no more changes than it may, but for those of its last commit.
//!
//! And when the feed says that there is nothing more: nothing is missing. For the latest versions, that is the newest
//! version of every item that is there; for all versions, everything since the reader's start.

use crate::model::{Event, EventKind, Life, Model, Put};
use crate::page::{Done, Mode, Shown, sequence};
use crate::scope::Part;

/// Where a reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Beginning,
    Now,
    /// A second since 1970.
    Time(i64),
}

/// What a reader knows of one item.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    /// The first event that it may be shown.
    next: usize,
    /// Whether it was shown that the version before that expired.
    is_expiry_shown: bool,
    /// Whether it was shown anything.
    is_begun: bool,
}

/// A page that was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// How many events each item had when it was sent.
    pub(crate) before: Vec<usize>,
    /// The seconds between which it was answered.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// Most changes.
    pub(crate) items_max: usize,
}

/// A reader.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pub(crate) number: usize,
    pub(crate) mode: Mode,
    pub(crate) start: Start,
    pub(crate) parts: Vec<Part>,
    cursors: Vec<Cursor>,
    /// The newest commit that was shown of each key.
    commits: Vec<u64>,
}

impl Reader {
    /// Returns a reader that begins now.
    pub(crate) fn new(number: usize, mode: Mode, start: Start, parts: Vec<Part>, model: &Model) -> Reader {
        let mut cursors = vec![Cursor::default(); model.slots.len()];
        if start == Start::Now {
            for (cursor, slot) in cursors.iter_mut().zip(&model.slots) {
                cursor.next = slot.events.len();
            }
        }
        Reader { number, mode, start, parts, cursors, commits: vec![0; model.spec.keys.len()] }
    }

    /// Returns how it is called in messages.
    pub(crate) fn describe(&self, part: usize) -> String {
        let Reader { number, mode, start, parts, .. } = self;
        let Part { token, .. } = &parts[part];
        let token = token.as_deref().unwrap_or("none");
        format!("reader {number} ({mode:?}, from {start:?}) of {} at {token}", parts[part].describe())
    }

    /// Takes in a page of a part.
    pub(crate) fn shown(
        &mut self,
        model: &mut Model,
        part: usize,
        page: &[Shown],
        asked: &Asked,
    ) -> Result<(), String> {
        if page.is_empty() {
            return Err("a page without changes says that there is more".to_owned());
        }
        let last = page.iter().rev().take_while(|own| own.lsn == page[page.len() - 1].lsn).count();
        if page.len() - last >= asked.items_max {
            return Err(format!(
                "a page has {} changes, {last} of them of its last commit, of at most {}",
                page.len(),
                asked.items_max
            ));
        }
        let first_cursors = self.cursors.clone();
        let mut events = Vec::with_capacity(page.len());
        for own in page {
            let event = self.shown_one(model, part, own, asked).map_err(|wrong| {
                let done = own.done.map_or(String::new(), |done| format!("{done:?} "));
                let sequence = own.sequence();
                format!(
                    "{done}sequence {sequence:?} commit {} at {}: {wrong}; {}",
                    own.lsn,
                    own.ts,
                    model.describe(own.slot)
                )
            })?;
            events.push((own.slot, event));
        }
        for (slot, event) in &events {
            let transaction = event.and_then(|event| model.slots[*slot].events[event].transaction);
            if let Some(transaction) = transaction {
                self.whole_transaction(model, transaction, &events, &first_cursors, asked)?;
            }
        }
        Ok(())
    }

    /// Takes in that there is nothing more in a part.
    pub(crate) fn ended(&self, model: &Model, part: usize, asked: &Asked) -> Result<(), String> {
        for (slot, cursor) in self.cursors.iter().enumerate() {
            if !self.parts[part].covers(&model.spec.keys[model.slots[slot].key]) {
                continue;
            }
            let known = &model.slots[slot].events[..asked.before[slot]];
            let missing = match self.mode {
                Mode::AllVersions => {
                    known.iter().skip(cursor.next).any(|event| event.is_certain).then_some("a change")
                }
                Mode::Latest => {
                    let is_due = self.is_due(model, slot, asked) && known.len() > cursor.next;
                    is_due.then_some("the newest version")
                }
            };
            if let Some(missing) = missing {
                return Err(format!(
                    "the feed ends without {missing} of {} (shown is what was before event {})",
                    model.describe(slot),
                    cursor.next
                ));
            }
        }
        Ok(())
    }

    /// Says whether the newest version of an item is there for this reader, and nobody changed it meanwhile.
    fn is_due(&self, model: &Model, slot: usize, asked: &Asked) -> bool {
        let events = &model.slots[slot].events;
        let Some(put) = model.newest(slot).filter(|_| events.len() == asked.before[slot]) else {
            return false;
        };
        model.life_of(put, asked.from, asked.to) == Life::Live
            && put.ts.is_some_and(|ts| self.is_late_enough(ts))
    }

    fn is_late_enough(&self, ts: i64) -> bool {
        match self.start {
            Start::Time(start) => ts >= start,
            _ => true,
        }
    }

    /// Takes in one change; returns which event it is, if it is one.
    fn shown_one(
        &mut self,
        model: &mut Model,
        part: usize,
        own: &Shown,
        asked: &Asked,
    ) -> Result<Option<usize>, String> {
        let key = model.slots[own.slot].key;
        if !self.parts[part].covers(&model.spec.keys[key]) {
            return Err("it is of another part of the container".to_owned());
        }
        if own.lsn < self.commits[key] {
            return Err(format!("commit {} of the same key was shown before", self.commits[key]));
        }
        self.commits[key] = own.lsn;
        if !self.is_late_enough(own.ts) {
            return Err("it is from before the reader's time".to_owned());
        }
        if own.done == Some(Done::Expire) {
            return self.expired(model, own).map(|()| None);
        }
        let found = match own.done {
            Some(Done::Delete) => self.find_delete(model, own),
            _ => find_put(model, own),
        };
        let index = found.ok_or("nobody did that")?;
        let cursor = self.cursors[own.slot];
        if index < cursor.next {
            return Err(format!("it is older than what was shown before (up to event {})", cursor.next));
        }
        match self.mode {
            Mode::Latest => newest_enough(model, own, index, asked)?,
            Mode::AllVersions => self.next_in_order(model, own, index)?,
        }
        learn(model, own, index)?;
        self.cursors[own.slot] = Cursor { next: index + 1, is_expiry_shown: false, is_begun: true };
        Ok(Some(index))
    }

    fn find_delete(&self, model: &Model, own: &Shown) -> Option<usize> {
        let events = &model.slots[own.slot].events;
        let next = self.cursors[own.slot].next;
        (next..events.len()).find(|index| events[*index].put().is_none())
    }

    /// Takes in that an item's time was up.
    fn expired(&mut self, model: &Model, own: &Shown) -> Result<(), String> {
        let cursor = &mut self.cursors[own.slot];
        let (known, later) = model.slots[own.slot].events.split_at(cursor.next);
        // It was the last version, or what may have come after it.
        let last_certain = known.iter().rposition(|event| event.is_certain).unwrap_or(0);
        let mut puts = known[last_certain..].iter().filter_map(Event::put).peekable();
        if puts.peek().is_none() {
            return Err("the item was not there".to_owned());
        }
        if cursor.is_expiry_shown {
            return Err("it was shown before".to_owned());
        }
        let image = own.previous.as_ref().map(sequence);
        let is_it = |put: &Put| {
            model.last_second(put).is_some_and(|last| own.ts > last)
                && image.is_none_or(|image| image == Some(put.content.sequence))
        };
        if !puts.any(is_it) {
            return Err(format!("no such item's time was up, {image:?} was there before"));
        }
        let next = later.iter().find(|event| event.is_certain);
        if next.is_some_and(|next| next.put().is_none_or(|put| put.is_create == Some(false))) {
            return Err("it was there later on".to_owned());
        }
        cursor.is_expiry_shown = true;
        cursor.is_begun = true;
        Ok(())
    }

    /// Compares a change with those before it, where all of them are shown.
    fn next_in_order(&self, model: &Model, own: &Shown, index: usize) -> Result<(), String> {
        let cursor = self.cursors[own.slot];
        let events = &model.slots[own.slot].events;
        if let Some(skipped) = (cursor.next..index).find(|skipped| events[*skipped].is_certain) {
            return Err(format!("event {skipped} was left out before event {index}"));
        }
        // What was there before: the last version, unless one in doubt came after it.
        let before = index.checked_sub(1).map(|before| &events[before]);
        let previous = before.filter(|before| before.is_certain).and_then(Event::put);
        let is_create = match &events[index].put() {
            None => false,
            Some(put) => {
                let is_create = own.done == Some(Done::Create);
                if put.is_create.is_some_and(|known| known != is_create) {
                    return Err("it is called what it was not".to_owned());
                }
                is_create
            }
        };
        if is_create && previous.is_some() && !cursor.is_expiry_shown && cursor.is_begun {
            return Err("the item was there, and it was not shown that it expired".to_owned());
        }
        if cursor.is_expiry_shown && !is_create {
            return Err("the item had expired".to_owned());
        }
        let is_wanted = !is_create && (own.done == Some(Done::Delete) || model.spec.has_previous_images);
        let Some(previous) = previous.filter(|_| !is_create) else { return Ok(()) };
        match &own.previous {
            None if is_wanted => return Err("it does not show what was before".to_owned()),
            Some(_) if !is_wanted => return Err("it shows what was before, which nobody wants".to_owned()),
            None => {}
            Some(image) => {
                let (id, key) = (&model.slots[own.slot].id, model.key_name(own.slot));
                if !previous.content.is_that_of(id, key, image) {
                    return Err(format!(
                        "before it was sequence {}, shown is {:?}",
                        previous.content.sequence,
                        sequence(image)
                    ));
                }
            }
        }
        let known = before.and_then(|before| before.lsn);
        if let (Some(known), Some(shown)) = (known, own.previous_lsn)
            && known != shown
        {
            return Err(format!("the commit before was {known}, shown is {shown}"));
        }
        Ok(())
    }

    /// Checks that everything that a transaction did is on the page on which a part of it is.
    fn whole_transaction(
        &self,
        model: &Model,
        transaction: u64,
        shown: &[(usize, Option<usize>)],
        first_cursors: &[Cursor],
        asked: &Asked,
    ) -> Result<(), String> {
        for (slot, own) in model.slots.iter().enumerate() {
            for (index, event) in own.events.iter().enumerate() {
                if event.transaction != Some(transaction) || !event.is_certain {
                    continue;
                }
                let is_due = match self.mode {
                    Mode::AllVersions => true,
                    Mode::Latest => index + 1 == own.events.len() && self.is_due(model, slot, asked),
                };
                if is_due && !shown.contains(&(slot, Some(index))) {
                    let was_shown = index < first_cursors[slot].next;
                    let place = if was_shown { "was on an earlier page" } else { "is not on this page" };
                    return Err(format!(
                        "a page has a part of transaction {transaction}, of which event {index} {place}: {}",
                        model.describe(slot)
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Finds the version that a change shows.
fn find_put(model: &Model, own: &Shown) -> Option<usize> {
    let (item, sequence) = (own.item.as_ref()?, own.sequence()?);
    let slot = &model.slots[own.slot];
    let is_it = |event: &Event| event.put().is_some_and(|put| put.content.sequence == sequence);
    let index = slot.events.iter().position(is_it)?;
    let put = slot.events[index].put()?;
    let is_same = put.content.is_that_of(&slot.id, model.key_name(own.slot), item)
        && put.ts.is_none_or(|ts| ts == own.ts);
    is_same.then_some(index)
}

/// Takes in what a change tells of an event that nobody knew: that it happened, when, and with which commit.
fn learn(model: &mut Model, own: &Shown, index: usize) -> Result<(), String> {
    let event = &mut model.slots[own.slot].events[index];
    if let Some(lsn) = event.lsn.filter(|lsn| *lsn != own.lsn) {
        return Err(format!("its commit was {lsn}"));
    }
    event.lsn = Some(own.lsn);
    if let EventKind::Put(put) = &mut event.kind {
        put.ts = Some(own.ts);
    }
    if event.is_certain {
        return Ok(());
    }
    event.is_certain = true;
    if let Some(transaction) = event.transaction {
        let all = model.slots.iter_mut().flat_map(|slot| &mut slot.events);
        all.filter(|event| event.transaction == Some(transaction)).for_each(|event| event.is_certain = true);
    }
    Ok(())
}

/// Checks that a version is the newest, or one that was being replaced while the page was read, and that its time is
/// not up.
fn newest_enough(model: &Model, own: &Shown, index: usize, asked: &Asked) -> Result<(), String> {
    let events = &model.slots[own.slot].events;
    let newest = events[..asked.before[own.slot]].iter().rposition(|event| event.is_certain);
    if newest.is_some_and(|newest| index < newest) {
        return Err("the item had changed since".to_owned());
    }
    let put = events[index].put().ok_or("nothing can be shown of what is gone")?;
    let put = Put { ts: Some(own.ts), ..put.clone() };
    if model.life_of(&put, asked.from, asked.to) == Life::Gone {
        return Err(format!("its time was up when the page was asked for at {}", asked.from));
    }
    Ok(())
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
