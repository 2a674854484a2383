//! One history: a container of its own, written to and read by readers with saved positions, step by step.
//!
//! Every step is drawn from the seed and its number. In a step several things may happen at once: writes of different
//! items, and pages for different readers. What the answers mean is judged when all of them are there, and what became
//! of the unanswered ones is known.
//!
//! In the end every reader reads on until there is nothing more, and then must have been shown everything.

use std::collections::BTreeSet;
use std::time::Duration;

use armilla_crash::requests::Target;
use armilla_env::Random;

use crate::client::{Answer, Client, DATABASE, Halt};
use crate::feed_request::PageRequest;
use crate::model::Model;
use crate::outcome::Tally;
use crate::page::{self, Done, Mode};
use crate::reader::{Asked, Reader, Start};
use crate::reshapes;
use crate::scope::{self, Naming, ScopeKind};
use crate::spec::Spec;
use crate::writes::{Fate, Operation, Write, draw_change, judge_read, read};

/// Most things that are done at once, and steps of a transaction.
const BURST_MAX: u64 = 5;
const TRANSACTION_STEPS_MAX: u64 = 5;

/// Pages after which a feed that has not ended never will.
const PAGES_MAX: usize = 2_000;

/// How many of a hundred splits and merges are merges, where both can be.
const MERGES_PERCENT: u64 = 55;

/// The part of a history's seed from which its first splits are drawn, beyond all its steps.
const FIRST_SPLIT_PART: u64 = 1 << 32;

/// How often it is looked whether a split or merge is done.
const LOOKS_MAX: u64 = 60;

/// Seconds that a reader waits for changes, and how long after a write it must have been woken.
const WAIT_SECONDS: u32 = 3;
const WAKE_TIMEOUT: Duration = Duration::from_millis(1_500);

/// What became of a history.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) spec: Spec,
    pub(crate) tally: Tally,
    /// What was wrong, if anything.
    pub(crate) wrong: Option<String>,
    /// Whether it came to its end.
    pub(crate) is_whole: bool,
    /// What was done.
    pub(crate) trace: Vec<String>,
}

/// Something that is done.
enum Action {
    Write(Write),
    Page(PageRequest),
}

/// A history that is being made.
pub(crate) struct History {
    model: Model,
    client: Client,
    readers: Vec<Reader>,
    readers_max: usize,
    /// Whether all versions are kept.
    has_versions: bool,
    readers_made: usize,
    tally: Tally,
    trace: Vec<String>,
}

impl History {
    /// Makes a history.
    pub(crate) async fn run(spec: Spec, readers_max: usize, client: Client) -> End {
        let model = Model::new(spec);
        let mut own = History {
            model,
            client,
            readers: Vec::new(),
            readers_max,
            has_versions: false,
            readers_made: 0,
            tally: Tally::default(),
            trace: Vec::new(),
        };
        let ended = own.play().await;
        let wrong = match &ended {
            Err(Halt::Wrong(wrong)) => Some(wrong.clone()),
            _ => None,
        };
        let History { model, tally, trace, .. } = own;
        End { spec: model.spec, tally, wrong, is_whole: ended.is_ok(), trace }
    }

    async fn play(&mut self) -> Result<(), Halt> {
        self.note(format!("{:?}", self.model.spec));
        let definition = self.model.spec.definition(0);
        let headers = [("x-ms-offer-throughput", "400")];
        let request = self.client.compose("POST", Target::Containers(DATABASE), &headers, &definition);
        let answer = self.client.ask(request).await?;
        if !matches!(answer.status, 201 | 409) {
            return Err(Halt::Wrong(answer.unexpected("a container", "201, or 409 after a kill")));
        }
        for part in 0..self.model.spec.first_splits {
            let mut random = self.model.spec.random(FIRST_SPLIT_PART + part);
            self.reshape(true, &mut random).await?;
        }
        for step in 0..self.model.spec.steps {
            let spec = &self.model.spec;
            let mut random = spec.random(step);
            self.has_versions = spec.has_versions(step);
            let is_changed = self.has_versions && step > 0 && step == spec.versions_from;
            self.note(format!("step {step}"));
            if is_changed {
                self.keep_versions(step).await?;
            }
            self.step(&mut random).await?;
        }
        self.note("the end".to_owned());
        self.drain().await?;
        let map = reshapes::map(&mut self.client, &self.model.spec).await?;
        (self.tally.splits, self.tally.merges) = reshapes::count(&map);
        let target = Target::Container(DATABASE, &self.model.spec.container);
        let request = self.client.compose("DELETE", target, &[], "");
        let answer = self.client.ask(request).await?;
        match answer.status {
            204 | 404 => Ok(()),
            _ => Err(Halt::Wrong(answer.unexpected("the container's end", "204, or 404 after a kill"))),
        }
    }

    /// Changes the container to one that keeps all versions.
    async fn keep_versions(&mut self, step: u64) -> Result<(), Halt> {
        let definition = self.model.spec.definition(step);
        let target = Target::Container(DATABASE, &self.model.spec.container);
        let request = self.client.compose("PUT", target, &[], &definition);
        let answer = self.client.ask(request).await?;
        self.note("  all versions are kept from now on".to_owned());
        match answer.status {
            200 => Ok(()),
            _ => Err(Halt::Wrong(answer.unexpected("the container's change", "200"))),
        }
    }

    async fn step(&mut self, random: &mut Random) -> Result<(), Halt> {
        if self.readers.is_empty() && random.percent(60) {
            return self.start_reader(random).await;
        }
        match random.below(100) {
            0..56 => {
                let count = if random.percent(45) { 1 } else { 2 + random.below(BURST_MAX - 1) };
                let actions = self.draw_actions(count, 70, random);
                self.burst(actions).await
            }
            56..68 => {
                let actions = self.draw_actions(1 + random.below(3), 0, random);
                self.burst(actions).await
            }
            68..70 => self.follow(random).await,
            70..79 => self.start_reader(random).await,
            79..85 => self.fork_reader(random).await,
            85..93 if self.model.spec.has_reshapes => self.reshape(false, random).await,
            85..97 => {
                let slot = random.index(self.model.slots.len());
                let answer = read(&mut self.client, &self.model, slot).await?;
                Ok(judge_read(&self.model, slot, &answer)?)
            }
            _ => {
                let longest_ms = if self.model.spec.default_ttl.is_some() { 1_500 } else { 40 };
                let pause = Duration::from_millis(random.below(longest_ms));
                self.note(format!("pause of {pause:?}"));
                self.client.env.clock.sleep(pause).await;
                Ok(())
            }
        }
    }

    /// Draws what is done at once: no item twice, no reader twice.
    fn draw_actions(&mut self, count: u64, writes_percent: u64, random: &mut Random) -> Vec<Action> {
        let mut actions = Vec::new();
        let (mut slots, mut readers) = (BTreeSet::new(), BTreeSet::new());
        for _ in 0..count {
            if random.percent(writes_percent) {
                let write =
                    if random.percent(20) { self.draw_transaction(random) } else { self.draw_write(random) };
                if write.slots().iter().all(|slot| !slots.contains(slot)) {
                    slots.extend(write.slots());
                    actions.push(Action::Write(write));
                }
            } else if !self.readers.is_empty() {
                let reader = random.index(self.readers.len());
                let part = random.index(self.readers[reader].parts.len());
                let request = PageRequest::draw(reader, part, random);
                if readers.insert(reader) {
                    actions.push(Action::Page(request));
                }
            }
        }
        actions
    }

    fn draw_write(&mut self, random: &mut Random) -> Write {
        let slot = random.index(self.model.slots.len());
        let operation = Operation::draw(random);
        let base = self.model.newest(slot).map(|put| put.content.clone());
        let change = draw_change(&mut self.model, slot, base.as_ref(), operation, random);
        Write { changes: vec![change], is_transaction: false }
    }

    /// Draws a transaction, most of which succeed.
    fn draw_transaction(&mut self, random: &mut Random) -> Write {
        let key = random.index(self.model.spec.keys.len());
        let slots: Vec<_> =
            (0..self.model.slots.len()).filter(|slot| self.model.slots[*slot].key == key).collect();
        let mut contents: Vec<_> =
            slots.iter().map(|slot| self.model.newest(*slot).map(|put| put.content.clone())).collect();
        let mut changes = Vec::new();
        for _ in 0..1 + random.below(TRANSACTION_STEPS_MAX) {
            let index = random.index(slots.len());
            let drawn = Operation::draw(random);
            let operation = match (drawn, &contents[index]) {
                _ if random.percent(4) => drawn,
                (Operation::Create, Some(_)) => Operation::Replace,
                (Operation::Replace | Operation::Patch | Operation::Delete, None) => Operation::Create,
                _ => drawn,
            };
            let base = contents[index].clone();
            let change = draw_change(&mut self.model, slots[index], base.as_ref(), operation, random);
            contents[index] = (operation != Operation::Delete).then(|| change.content.clone());
            changes.push(change);
        }
        Write { changes, is_transaction: true }
    }

    /// Does several things at once, and judges all of them.
    async fn burst(&mut self, actions: Vec<Action>) -> Result<(), Halt> {
        let before = self.model.lengths();
        let sent = self.client.env.clock.now_seconds();
        let mut requests = Vec::with_capacity(actions.len());
        for action in &actions {
            requests.push(match action {
                Action::Write(write) => write.compose(&mut self.client, &self.model),
                Action::Page(page) => {
                    let reader = &self.readers[page.reader];
                    page.compose(&mut self.client, &self.model.spec.container, reader)
                }
            });
        }
        let answers = self.client.send(requests).await?;
        let mut written = Vec::new();
        for (action, answer) in actions.iter().zip(&answers) {
            let Action::Write(write) = action else { continue };
            let what = write.describe(&self.model);
            let fate = match answer {
                Some(answer) => write.answered(&mut self.model, answer)?,
                None => write.look_up(&mut self.client, &mut self.model, sent).await?,
            };
            self.note(format!("  {what}: {fate:?}, status {:?}", answer.as_ref().map(|own| own.status)));
            self.count_write(write, fate, answer.is_some());
            if let Some(answer) = answer.as_ref().filter(|_| fate == Fate::Happened) {
                written.push((write, answer.came_after));
            }
        }
        for (action, answer) in actions.iter().zip(&answers) {
            let Action::Page(page) = action else { continue };
            let Some(answer) = answer else {
                self.note(format!("  {}: unanswered", self.readers[page.reader].describe(page.part)));
                continue;
            };
            self.page_came(page, answer, before.clone()).await?;
            if page.wait.is_some() && answer.status == 304 {
                self.woken_in_time(page, answer, &written)?;
            }
        }
        Ok(())
    }

    /// Takes in a page.
    async fn page_came(
        &mut self,
        page: &PageRequest,
        answer: &Answer,
        before: Vec<usize>,
    ) -> Result<(), Halt> {
        let PageRequest { reader, part, items_max, is_forgotten, .. } = *page;
        let name = self.readers[reader].describe(part);
        let asked = Asked { before, from: answer.from, to: answer.to, items_max };
        let wrong = |wrong: String| Halt::Wrong(format!("{name}: {wrong}"));
        if matches!(answer.status, 200 | 304) && (answer.session.is_none() || answer.etag.is_none()) {
            return Err(wrong(answer.unexpected("a page", "a session token and an etag")));
        }
        let naming = &self.readers[reader].parts[part].naming;
        let is_range = matches!(naming, Naming::Range { .. });
        let mut judged = self.readers[reader].clone();
        match answer.status {
            200 => {
                let shown = page::parse(&self.model, judged.mode, &answer.body).map_err(wrong)?;
                let changes: Vec<_> = shown
                    .iter()
                    .map(|own| format!("{:?} {} at {}", own.done, self.model.name(own.slot), own.lsn))
                    .collect();
                let etag = answer.etag.as_deref().unwrap_or_default();
                self.note(format!("  {name}: {} then {etag}", changes.join(", ")));
                if answer.item_count != Some(shown.len()) {
                    return Err(wrong(format!(
                        "{} changes, item count {:?}",
                        shown.len(),
                        answer.item_count
                    )));
                }
                judged.shown(&mut self.model, part, &shown, &asked).map_err(wrong)?;
                self.tally.pages += 1;
                self.tally.changes += shown.len() as u64;
                let count = |done| shown.iter().filter(|own| own.done == Some(done)).count() as u64;
                self.tally.deletes += count(Done::Delete);
                self.tally.expiries += count(Done::Expire);
                self.tally.woken += u64::from(page.wait.is_some());
            }
            304 => {
                self.note(format!("  {name}: the end, then {}", answer.etag.as_deref().unwrap_or_default()));
                judged.ended(&self.model, part, &asked).map_err(wrong)?;
                self.tally.ends += 1;
            }
            410 if is_range && answer.sub_status.as_deref() == Some("1002") => {
                self.note(format!("  {name}: the range is gone"));
                self.tally.gone_ranges += 1;
                return self.replace_range(reader, part).await;
            }
            // A server that ends lets nobody wait.
            503 if page.wait.is_some() => return Ok(()),
            _ => return Err(wrong(answer.unexpected("a page", "200, 304 or, of a range, 410"))),
        }
        if is_forgotten {
            self.note("  and it was forgotten".to_owned());
            return Ok(());
        }
        judged.parts[part].token = answer.etag.clone();
        self.readers[reader] = judged;
        Ok(())
    }

    /// Replaces a range that is gone by those that came of it.
    async fn replace_range(&mut self, reader: usize, part: usize) -> Result<(), Halt> {
        let map = reshapes::map(&mut self.client, &self.model.spec).await?;
        let parts = &mut self.readers[reader].parts;
        let instead = parts[part].among(&map);
        parts.splice(part..=part, instead);
        Ok(())
    }

    /// Lets a reader that is at the end wait while something is written that it must be shown.
    async fn follow(&mut self, random: &mut Random) -> Result<(), Halt> {
        if self.readers.is_empty() {
            return Ok(());
        }
        let reader = random.index(self.readers.len());
        let part = random.index(self.readers[reader].parts.len());
        let slot = random.index(self.model.slots.len());
        let mut change = draw_change(&mut self.model, slot, None, Operation::Upsert, random);
        // It must not expire before it is shown.
        change.content.ttl = Some(3_600);
        let write = Write { changes: vec![change], is_transaction: false };
        let mut page = PageRequest::draw(reader, part, random);
        page.wait = self.reaches(&page, slot).then_some(WAIT_SECONDS);
        self.burst(vec![Action::Page(page), Action::Write(write)]).await
    }

    /// Says whether a reader is shown what is written to an item now.
    fn reaches(&self, page: &PageRequest, slot: usize) -> bool {
        let reader = &self.readers[page.reader];
        let key = &self.model.spec.keys[self.model.slots[slot].key];
        reader.parts[page.part].covers(key) && !matches!(reader.start, Start::Time(_))
    }

    /// Checks that nobody waited on after something was written.
    fn woken_in_time(
        &self,
        page: &PageRequest,
        answer: &Answer,
        written: &[(&Write, Duration)],
    ) -> Result<(), Halt> {
        for (write, written_after) in written {
            if answer.came_after.saturating_sub(*written_after) > WAKE_TIMEOUT {
                let name = self.readers[page.reader].describe(page.part);
                let late = answer.came_after - *written_after;
                let what = write.describe(&self.model);
                return Err(Halt::Wrong(format!(
                    "{name} waited for {late:?} after {what} and was told nothing"
                )));
            }
        }
        Ok(())
    }

    /// Starts a reader; from now on means when this returns.
    async fn start_reader(&mut self, random: &mut Random) -> Result<(), Halt> {
        let mode = match self.has_versions && random.percent(60) {
            true => Mode::AllVersions,
            false => Mode::Latest,
        };
        let now = self.client.env.clock.now_seconds();
        let start = match (mode, random.below(10)) {
            (Mode::AllVersions, _) | (_, 0..3) => Start::Now,
            (_, 3..7) => Start::Beginning,
            _ => Start::Time(now + random.below(5) as i64 - 3),
        };
        let kind = ScopeKind::draw(random);
        if self.readers.len() >= self.readers_max {
            return Ok(());
        }
        let map = reshapes::map(&mut self.client, &self.model.spec).await?;
        let parts = scope::draw(kind, &self.model.spec, &map, random);
        self.readers_made += 1;
        let reader = Reader::new(self.readers_made, mode, start, parts, &self.model);
        match mode {
            Mode::Latest => self.tally.latest_readers += 1,
            Mode::AllVersions => self.tally.version_readers += 1,
        }
        self.readers.push(reader);
        if start == Start::Now {
            let index = self.readers.len() - 1;
            while let Some(part) = self.readers[index].parts.iter().position(|part| part.token.is_none()) {
                let page =
                    PageRequest { wait: None, is_forgotten: false, ..PageRequest::draw(index, part, random) };
                self.read_page(&page).await?;
            }
        }
        Ok(())
    }

    /// Starts a reader where another one stands, in a part of what that one reads.
    async fn fork_reader(&mut self, random: &mut Random) -> Result<(), Halt> {
        if self.readers.is_empty() || self.readers.len() >= self.readers_max {
            return Ok(());
        }
        let origin = &self.readers[random.index(self.readers.len())];
        let part = origin.parts[random.index(origin.parts.len())].clone();
        let mut reader = origin.clone();
        let Some(token) = &part.token else { return Ok(()) };
        let kind = ScopeKind::draw(random);
        let map = reshapes::map(&mut self.client, &self.model.spec).await?;
        let mut parts = scope::draw(kind, &self.model.spec, &map, random);
        parts.retain(|own| part.contains(own));
        if parts.is_empty() {
            return Ok(());
        }
        parts.iter_mut().for_each(|own| own.token = Some(token.clone()));
        self.readers_made += 1;
        reader.number = self.readers_made;
        reader.parts = parts;
        match reader.mode {
            Mode::Latest => self.tally.latest_readers += 1,
            Mode::AllVersions => self.tally.version_readers += 1,
        }
        self.note(format!("  {} begins as {}", reader.describe(0), part.describe()));
        self.readers.push(reader);
        Ok(())
    }

    /// Asks for a split or merge, and waits for it or not; only for a split where nothing is written yet.
    async fn reshape(&mut self, is_first: bool, random: &mut Random) -> Result<(), Halt> {
        const PERIOD: Duration = Duration::from_millis(15);
        let map = reshapes::map(&mut self.client, &self.model.spec).await?;
        let merges_percent = if is_first { 0 } else { MERGES_PERCENT };
        let (request, what) =
            reshapes::draw(&mut self.client, &self.model.spec, &map, merges_percent, random);
        let looks = if is_first || random.percent(65) { random.below(LOOKS_MAX) } else { 0 };
        let answer = self.client.send(vec![request]).await?.pop().flatten();
        self.note(format!("  {what}: status {:?}", answer.as_ref().map(|own| own.status)));
        let Some(answer) = answer else { return Ok(()) };
        match answer.status {
            202 => {}
            // Not to be cut, changed since we looked, or busy.
            400 | 409 | 410 | 423 => return Ok(()),
            _ => return Err(Halt::Wrong(answer.unexpected(&what, "202"))),
        }
        for _ in 0..looks {
            self.client.env.clock.sleep(PERIOD).await;
            if reshapes::map(&mut self.client, &self.model.spec).await?.etag != map.etag {
                self.note("  it is done".to_owned());
                break;
            }
        }
        Ok(())
    }

    /// Reads all feeds to their end.
    async fn drain(&mut self) -> Result<(), Halt> {
        let mut random = self.model.spec.random(self.model.spec.steps);
        for reader in 0..self.readers.len() {
            let mut part = 0;
            let mut pages = 0;
            while part < self.readers[reader].parts.len() {
                let page = PageRequest {
                    wait: None,
                    is_forgotten: false,
                    ..PageRequest::draw(reader, part, &mut random)
                };
                part += usize::from(self.read_page(&page).await? == 304);
                pages += 1;
                if pages > PAGES_MAX {
                    let name = self.readers[reader].describe(part);
                    return Err(Halt::Wrong(format!("{name}: the feed does not end")));
                }
            }
        }
        Ok(())
    }

    /// Reads one page while nothing else is done.
    async fn read_page(&mut self, page: &PageRequest) -> Result<u16, Halt> {
        let reader = &self.readers[page.reader];
        let request = page.compose(&mut self.client, &self.model.spec.container, reader);
        let answer = self.client.ask(request).await?;
        let before = self.model.lengths();
        self.page_came(page, &answer, before).await?;
        Ok(answer.status)
    }

    fn count_write(&mut self, write: &Write, fate: Fate, is_answered: bool) {
        let happened = u64::from(fate == Fate::Happened);
        if is_answered {
            self.tally.acknowledged += happened;
            self.tally.transactions += happened * u64::from(write.is_transaction);
            self.tally.refused += u64::from(fate == Fate::Refused);
        } else {
            self.tally.unanswered += 1;
            self.tally.kept += happened;
        }
    }

    fn note(&mut self, line: String) {
        let ms = self.client.env.clock.now_ms();
        self.trace.push(format!("{}.{:03} {line}", ms / 1_000, ms % 1_000));
    }
}
