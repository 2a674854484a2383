//! The keeper of the resource tree: stores changes one at a time, and tells all others.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use armilla_container::Whereabouts;
use armilla_env::Env;
use armilla_kv::{Batch, Family, Space, Store};
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use super::messages::News;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{TREE_LEASE, TREE_LEASE_GRACE};
use crate::neighbours::{Nodes, Written};
use crate::record::{self, ROOT_SPACE, tag};

/// Changes that are kept for those who do not have them yet; who lacks more is sent everything.
const CHANGES_KEPT_MAX: usize = 1_024;

/// How long a process may keep others from changing the tree.
const LOCK_MAX: Duration = Duration::from_secs(60);

/// One who has not asked for so long is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// How often it is looked whether those who lack a change serve still.
const LOOK_PERIOD: Duration = Duration::from_millis(250);

/// What the process has to have that keeps the tree. It opens the root space when it is first asked.
pub(super) struct Keeper {
    store: Arc<dyn Store>,
    env: Env,
    /// Who changes the tree.
    turn: Mutex<Option<Turn>>,
    /// Told when no process does any more, and when it is known whether a change is stored.
    turn_over: Notify,
    /// Held while it is opened.
    opening: tokio::sync::Mutex<()>,
    kept: Mutex<Option<Kept>>,
    /// Told of the epoch and the number of the last change, and of those who ask.
    pub(super) told: watch::Sender<u64>,
}

/// The tree as it is stored.
struct Kept {
    space: Arc<dyn Space>,
    /// Since which assignment this process has the space. What is kept of a time before is of no use: another process may
    /// have changed the tree in between.
    since: u64,
    epoch: u64,
    number: u64,
    records: BTreeMap<Bytes, Bytes>,
    changes: VecDeque<(u64, Vec<Written>)>,
    began: Duration,
    followers: HashMap<String, Follower>,
}

/// What is known of a process that has a copy.
#[derive(Clone, Copy)]
struct Follower {
    /// Up to which change it has everything.
    number: u64,
    /// When it said so.
    heard: Duration,
    /// Whether it was among those that serve. One that is not any more has ended, and shows nothing.
    was_living: bool,
}

/// The right to change the tree, which one process has at a time.
struct Turn {
    /// What that process calls it.
    lock: u64,
    node: String,
    since: Duration,
    /// The connection by which it was asked for.
    life: Weak<()>,
    stage: Stage,
    /// Whether that process has given it back. It is over when nothing is being stored any more.
    is_given_back: bool,
}

/// How far the process is whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing is being stored.
    Idle,
    /// It is not known yet whether its change is stored.
    Landing,
    /// It is known, and the others are waited for that may show what was before.
    Landed,
}

/// As long as a change is being stored, no other process changes the tree.
struct Storing {
    keeper: Arc<Keeper>,
    lock: u64,
    life: Arc<()>,
}

impl Drop for Storing {
    fn drop(&mut self) {
        let mut turn = self.keeper.turn.lock();
        if let Some(own) = turn.as_mut().filter(|turn| turn.is(self.lock, &self.life)) {
            own.stage = Stage::Idle;
            if own.is_given_back {
                *turn = None;
            }
        }
        self.keeper.turn_over.notify_waiters();
    }
}

impl Keeper {
    pub(super) fn new(store: Arc<dyn Store>, env: Env) -> Keeper {
        Keeper {
            store,
            env,
            turn: Mutex::default(),
            turn_over: Notify::new(),
            opening: tokio::sync::Mutex::default(),
            kept: Mutex::new(None),
            told: watch::Sender::new(0),
        }
    }

    /// Lets go of the root space, which another process is about to have.
    pub(super) async fn release(&self) {
        let _opening = self.opening.lock().await;
        *self.kept.lock() = None;
        // Whose turn it was asks again where the tree is kept next; what it says of this turn may never come here.
        *self.turn.lock() = None;
        self.turn_over.notify_waiters();
        self.tell();
    }

    pub(super) fn tell(&self) {
        self.told.send_modify(|count| *count += 1);
    }

    /// Opens the root space, unless it is open. Fails where another process is to have it.
    pub(super) async fn open(&self, nodes: &dyn Nodes) -> Result<()> {
        let _opening = self.opening.lock().await;
        // Who lets go of it holds the same, so that it is seen here where it has gone.
        let since = held(nodes)?;
        {
            let mut kept = self.kept.lock();
            if kept.as_ref().is_some_and(|kept| kept.since == since) {
                return Ok(());
            }
            *kept = None;
        }
        let space = self.store.open_space(ROOT_SPACE)?;
        let mut records = record::read_all(&*space.snapshot()?)?;
        let secret_key = record::key(tag::SECRET, b"");
        let has_secret = records.contains_key(&secret_key);
        if !has_secret {
            let mut secret = [0u8; 32];
            self.env.entropy.fill(&mut secret);
            let secret = Bytes::copy_from_slice(&secret);
            let mut batch = Batch::new();
            batch.put(Family::Meta, secret_key.clone(), secret.clone());
            space.commit(batch).await?;
            records.insert(secret_key, secret);
        }
        let mut epoch = [0u8; 8];
        self.env.entropy.fill(&mut epoch);
        // It may have gone while it was read.
        if held(nodes).ok() != Some(since) {
            self.store.release_space(ROOT_SPACE)?;
            return Err(moved());
        }
        *self.kept.lock() = Some(Kept {
            space,
            since,
            epoch: u64::from_be_bytes(epoch),
            number: 0,
            records,
            changes: VecDeque::new(),
            began: self.env.clock.elapsed(),
            followers: HashMap::new(),
        });
        tracing::info!("this node keeps the resource tree");
        Ok(())
    }

    /// Returns what a copy lacks.
    pub(super) fn news(&self, epoch: u64, number: u64) -> Result<News> {
        let kept = self.kept.lock();
        let kept = kept.as_ref().ok_or_else(moved)?;
        let oldest = kept.changes.front().map_or(kept.number + 1, |(first, _)| *first);
        let is_whole = epoch != kept.epoch || number + 1 < oldest || number > kept.number;
        let records = match is_whole {
            true => kept.records.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect(),
            false => {
                let behind = kept.changes.iter().filter(|(of, _)| *of > number);
                behind.flat_map(|(_, records)| records.iter().cloned()).collect()
            }
        };
        Ok(News { epoch: kept.epoch, number: kept.number, is_whole, records })
    }

    /// Takes note of what a process has.
    pub(super) fn heard(&self, node: String, epoch: u64, number: u64) -> Result<()> {
        let now = self.env.clock.elapsed();
        let mut kept = self.kept.lock();
        let kept = kept.as_mut().ok_or_else(moved)?;
        // What it has of another keeper is nothing of this one's.
        let number = if epoch == kept.epoch { number } else { 0 };
        let was_living = kept.followers.get(&node).is_some_and(|known| known.was_living);
        kept.followers.insert(node, Follower { number, heard: now, was_living });
        Ok(())
    }

    /// Waits until no process changes the tree, and notes who does now. One that has ended, or takes too long, does not any more.
    pub(super) async fn take_turn(&self, nodes: &dyn Nodes, lock: u64, node: &str, life: &Arc<()>) {
        loop {
            {
                let now = self.env.clock.elapsed();
                let mut turn = self.turn.lock();
                let is_free = turn.as_ref().is_none_or(|turn| {
                    let is_over = turn.life.strong_count() == 0
                        || now.saturating_sub(turn.since) > LOCK_MAX
                        || self.has_ended(nodes, &turn.node);
                    is_over && turn.stage == Stage::Idle
                });
                if is_free {
                    let (node, life) = (node.to_owned(), Arc::downgrade(life));
                    let (stage, is_given_back) = (Stage::Idle, false);
                    *turn = Some(Turn { lock, node, since: now, life, stage, is_given_back });
                    return;
                }
            }
            tokio::select! {
                () = self.turn_over.notified() => {}
                () = self.env.clock.sleep(LOOK_PERIOD) => {}
            }
        }
    }

    /// Returns whether a process was among those that serve and is not any more.
    fn has_ended(&self, nodes: &dyn Nodes, node: &str) -> bool {
        let living = nodes.living();
        let is_living = living.iter().any(|living| living == node);
        let mut kept = self.kept.lock();
        let Some(known) = kept.as_mut().and_then(|kept| kept.followers.get_mut(node)) else { return false };
        known.was_living |= is_living;
        known.was_living && !is_living
    }

    /// Ends the turn of a process, or lets it end once what it has begun to store is stored.
    pub(super) fn end_turn(&self, lock: u64, life: &Arc<()>) {
        self.end_turn_of(|turn| turn.is(lock, life));
    }

    fn end_turn_of(&self, is_meant: impl Fn(&Turn) -> bool) {
        let mut turn = self.turn.lock();
        let Some(own) = turn.as_mut().filter(|turn| is_meant(turn)) else { return };
        own.is_given_back = true;
        if own.stage == Stage::Idle {
            *turn = None;
            self.turn_over.notify_waiters();
        }
    }

    /// Waits until it is known what became of the change of a process. One that is still on its way here is not stored any
    /// more.
    pub(super) async fn settle(&self, node: &str) {
        loop {
            self.end_turn_of(|turn| turn.node == node);
            if self.turn.lock().as_ref().is_none_or(|turn| turn.stage != Stage::Landing) {
                return;
            }
            tokio::select! {
                () = self.turn_over.notified() => {}
                () = self.env.clock.sleep(LOOK_PERIOD) => {}
            }
        }
    }

    /// Notes that a change is being stored. Fails where it is not the turn of who wants that.
    fn begin_storing(self: &Arc<Self>, lock: u64, life: &Arc<()>) -> Result<Storing> {
        let mut turn = self.turn.lock();
        let own = turn
            .as_mut()
            .filter(|turn| turn.is(lock, life) && turn.stage == Stage::Idle && !turn.is_given_back);
        let own = own.ok_or_else(|| {
            Error::new(
                ErrorKind::Unavailable,
                "the resource tree may have been changed by another node meanwhile: try again",
            )
        })?;
        own.stage = Stage::Landing;
        Ok(Storing { keeper: self.clone(), lock, life: life.clone() })
    }

    fn note_landed(&self, storing: &Storing) {
        if let Some(turn) = self.turn.lock().as_mut().filter(|turn| turn.is(storing.lock, &storing.life)) {
            turn.stage = Stage::Landed;
        }
        self.turn_over.notify_waiters();
    }

    /// Stores a change for the process whose turn it is. Returns its number once all have it that might show what was
    /// before.
    pub(super) async fn store(
        self: &Arc<Self>,
        nodes: Arc<dyn Nodes>,
        lock: u64,
        life: &Arc<()>,
        by: String,
        records: Vec<Written>,
    ) -> Result<u64> {
        // Looked up before the turn is: where it is another space by then, the turn is over.
        let (space, epoch) = {
            let kept = self.kept.lock();
            kept.as_ref().map(|kept| (kept.space.clone(), kept.epoch)).ok_or_else(moved)?
        };
        let storing = self.begin_storing(lock, life)?;
        let keeper = self.clone();
        // In a task of its own: who asks may go away in the middle, and what is stored has to be told to all the same.
        let stored = tokio::spawn(async move {
            let number = keeper.write(space.as_ref(), epoch, records).await;
            keeper.note_landed(&storing);
            let number = number?;
            keeper.told_to_all(nodes.as_ref(), &by, epoch, number).await?;
            Ok(number)
        });
        stored.await.unwrap_or_else(|failure| {
            Err(Error::new(
                ErrorKind::OutcomeUnknown,
                format!("a change of the resource tree was not finished: {failure}"),
            ))
        })
    }

    /// Stores a change, and has it told from then on. Returns its number.
    async fn write(&self, space: &dyn Space, epoch: u64, records: Vec<Written>) -> Result<u64> {
        let mut batch = Batch::new();
        for (key, value) in &records {
            match value {
                Some(value) => batch.put(Family::Meta, key.clone(), value.clone()),
                None => batch.delete(Family::Meta, key.clone()),
            }
        }
        if let Err(error) = space.commit(batch).await {
            // What was stored is found out by opening it again.
            self.kept.lock().take_if(|kept| kept.epoch == epoch);
            self.tell();
            return Err(error.into());
        }
        let number = {
            let mut kept = self.kept.lock();
            let kept = kept.as_mut().filter(|kept| kept.epoch == epoch).ok_or_else(moved_meanwhile)?;
            for (key, value) in &records {
                match value {
                    Some(value) => drop(kept.records.insert(key.clone(), value.clone())),
                    None => drop(kept.records.remove(key)),
                }
            }
            kept.number += 1;
            kept.changes.push_back((kept.number, records));
            if kept.changes.len() > CHANGES_KEPT_MAX {
                kept.changes.pop_front();
            }
            kept.number
        };
        self.tell();
        Ok(number)
    }

    /// Waits until no process may show what was before a change, but for the one that made it.
    async fn told_to_all(&self, nodes: &dyn Nodes, by: &str, epoch: u64, number: u64) -> Result<()> {
        let mut told = self.told.subscribe();
        loop {
            let Some(wait) = self.missing(nodes, by, epoch, number)? else { return Ok(()) };
            tokio::select! {
                biased;
                _ = told.changed() => {}
                () = self.env.clock.sleep(wait) => {}
            }
        }
    }

    /// Returns for how long a process may still show what was before a change, if one may.
    fn missing(&self, nodes: &dyn Nodes, by: &str, epoch: u64, number: u64) -> Result<Option<Duration>> {
        let now = self.env.clock.elapsed();
        let mut kept = self.kept.lock();
        let kept = kept.as_mut().filter(|kept| kept.epoch == epoch).ok_or_else(moved_meanwhile)?;
        let living = nodes.living();
        kept.followers.retain(|node, known| {
            let is_living = living.contains(node);
            let is_ended = known.was_living && !is_living;
            known.was_living |= is_living;
            !is_ended && now.saturating_sub(known.heard) < FORGOTTEN_AFTER
        });
        let left = |node: &str| {
            let known = kept.followers.get(node);
            let (has, heard) = known.map_or((0, kept.began), |known| (known.number, known.heard));
            // Its clock may be slower than this one.
            let left = (heard + TREE_LEASE + TREE_LEASE_GRACE).saturating_sub(now);
            (node != by && has < number && !left.is_zero()).then_some(left)
        };
        let of_living = living.iter().filter_map(|node| left(node));
        let longest = of_living.chain(kept.followers.keys().filter_map(|node| left(node))).max();
        // Who serves may change meanwhile.
        Ok(longest.map(|longest| longest.min(LOOK_PERIOD)))
    }
}

impl Turn {
    fn is(&self, lock: u64, life: &Arc<()>) -> bool {
        self.lock == lock && std::ptr::eq(self.life.as_ptr(), Arc::as_ptr(life))
    }
}

/// Returns since which assignment this process has the root space.
fn held(nodes: &dyn Nodes) -> Result<u64> {
    match nodes.find(ROOT_SPACE) {
        Whereabouts::Here { since } => Ok(since),
        Whereabouts::At(_) | Whereabouts::Nowhere => Err(moved()),
    }
}

pub(super) fn moved() -> Error {
    Error::new(ErrorKind::Unavailable, "another node keeps the resource tree by now")
}

/// What is said of a change that is stored, and that this process cannot tell the others of.
fn moved_meanwhile() -> Error {
    Error::new(
        ErrorKind::OutcomeUnknown,
        "another node has begun to keep the resource tree while a change was stored: look before it is tried again",
    )
}
