//! A copy of the resource tree: catching up with the keeper, and having it store changes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;

use super::messages::{COMMIT, FOLLOW, LOCK, News, UNLOCK, write_records};
use super::{Among, request};
use crate::engine::{Engine, WeakEngine};
use crate::error::{ErrorKind, Result};
use crate::neighbours::{TreeLock, Written};
use crate::record::{self, TreeCounters, tag};

/// How long the keeper may take to answer.
const PATIENCE: Duration = Duration::from_secs(90);

/// How long one who asks what is new waits for the answer, which is kept back for a moment where nothing is.
const FOLLOW_PATIENCE: Duration = Duration::from_secs(2);

/// How long after a failure the keeper is asked again.
const RETRY_PERIOD: Duration = Duration::from_millis(50);

/// How long one who is told of its own change waits before it asks for more.
const OWN_CHANGE_PERIOD: Duration = Duration::from_millis(1);

/// How long a change waits for a keeper that can be asked.
const KEEPER_PATIENCE: Duration = Duration::from_secs(20);

impl Among {
    /// Returns the tree as it is, for a process that begins.
    pub(crate) async fn first_copy(self: &Arc<Self>) -> Result<BTreeMap<Bytes, Bytes>> {
        let sent = self.env.clock.elapsed();
        let news = self.ask_for_news(0, 0).await?;
        let mut copy = self.copy.lock();
        copy.take(news);
        self.trust(sent);
        Ok(copy.records.clone())
    }

    async fn ask_for_news(self: &Arc<Self>, epoch: u64, number: u64) -> Result<News> {
        let mut out = request(FOLLOW);
        out.text(&self.nodes.name());
        out.u64(epoch);
        out.u64(number);
        let mut answer = self.ask_keeper(out.finish(), FOLLOW_PATIENCE).await?;
        let news = News::read(&mut answer)?;
        answer.end()?;
        Ok(news)
    }

    /// Waits until no other process changes the tree, and catches up with what they have changed.
    pub(super) async fn take_lock(self: &Arc<Self>, engine: &Engine) -> Result<TreeLock> {
        let began = self.env.clock.elapsed();
        loop {
            let (epoch, number) = self.copy_state();
            // From here on it is let go of, whatever becomes of this: who asks may go away at any moment.
            let (among, own) = (self.clone(), self.next_lock());
            let lock = TreeLock::new(own, move || {
                let mut out = request(UNLOCK);
                out.u64(own);
                among.tell_keeper(out.finish());
            });
            let mut out = request(LOCK);
            out.u64(lock.number);
            out.text(&self.nodes.name());
            out.u64(epoch);
            out.u64(number);
            let mut answer = match self.ask_keeper(out.finish(), PATIENCE).await {
                Ok(answer) => answer,
                Err(error) => {
                    let tried = self.env.clock.elapsed().saturating_sub(began);
                    let is_transient =
                        matches!(error.kind, ErrorKind::Unavailable | ErrorKind::OutcomeUnknown);
                    if !is_transient || tried > KEEPER_PATIENCE {
                        return Err(crate::error::Error { kind: ErrorKind::Unavailable, ..error });
                    }
                    self.env.clock.sleep(RETRY_PERIOD).await;
                    continue;
                }
            };
            let news = News::read(&mut answer)?;
            answer.end()?;
            // Nothing is changed by another from here on; this process may have caught up meanwhile.
            if engine.take_news(self, news, (epoch, number)).await? {
                return Ok(lock);
            }
        }
    }

    fn copy_state(&self) -> (u64, u64) {
        let copy = self.copy.lock();
        (copy.epoch, copy.number)
    }

    /// Returns a record as the keeper has it now.
    pub(super) async fn read_stored(self: &Arc<Self>, key: &Bytes) -> Result<Option<Bytes>> {
        let news = self.ask_for_news(0, 0).await?;
        Ok(news.records.into_iter().find(|(of, _)| of == key).and_then(|(_, value)| value))
    }

    /// Has a change stored. Returns its number.
    pub(super) async fn have_stored(self: &Arc<Self>, lock: u64, records: Vec<Written>) -> Result<u64> {
        let mut out = request(COMMIT);
        out.u64(lock);
        out.text(&self.nodes.name());
        write_records(&records, &mut out);
        *self.pending.lock() = Some(records.clone());
        // Who asked may go away in the middle: then the change is shown like that of another process.
        let _pending = Pending(&self.pending);
        let answer = self.ask_keeper(out.finish(), PATIENCE).await;
        let stored = answer.and_then(|mut answer| Ok(answer.u64()?));
        if let Ok(number) = &stored {
            self.copy.lock().note(*number, records);
        }
        stored
    }

    /// Keeps the copy of an engine up, as long as there is one.
    pub(crate) async fn follow(self: Arc<Self>, engine: WeakEngine) {
        loop {
            let (epoch, number) = self.copy_state();
            let sent = self.env.clock.elapsed();
            let followed = match self.ask_for_news(epoch, number).await {
                Ok(news) => match engine.upgrade() {
                    Some(engine) => {
                        let is_own = !news.records.is_empty() && self.pending.lock().is_some();
                        let taken = engine.take_news(&self, news, (epoch, number)).await;
                        if is_own {
                            // The answer comes by itself.
                            self.env.clock.sleep(OWN_CHANGE_PERIOD).await;
                        }
                        taken
                    }
                    None => return,
                },
                Err(error) => Err(error),
            };
            match followed {
                // What it was asked for is what it has: so it had all that there was when it asked.
                Ok(true) => self.trust(sent),
                Ok(false) => {}
                Err(error) => {
                    tracing::debug!(%error, "the resource tree could not be followed");
                    self.env.clock.sleep(RETRY_PERIOD).await;
                }
            }
        }
    }
}

/// A change that its process shows by itself, until this is dropped.
struct Pending<'p>(&'p Mutex<Option<Vec<Written>>>);

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

impl Engine {
    /// Takes news over that were asked for by one who had this state. Returns false where the copy is another by now.
    async fn take_news(&self, among: &Among, news: News, asked_by: (u64, u64)) -> Result<bool> {
        if (news.epoch, news.number) == asked_by {
            return Ok(true);
        }
        // What this process changes itself it shows itself, once it is answered.
        if !news.is_whole && among.pending.lock().as_ref() == Some(&news.records) {
            return Ok(true);
        }
        let mut writer = self.own_writer().await;
        let (changed, counters) = {
            let mut copy = among.copy.lock();
            if (copy.epoch, copy.number) != asked_by {
                return Ok(false);
            }
            let changed = copy.take(news);
            (changed, copy.records.get(&record::key(tag::COUNTERS, b"")).cloned())
        };
        if let Some(counters) = counters {
            writer.counters = TreeCounters::decode(&counters)?;
        }
        self.apply(&changed)?;
        among.note_spaces(self);
        Ok(true)
    }
}
