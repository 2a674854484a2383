//! A store that fails on demand, in front of any store.
//!
//! Faults are either asked for one by one, or drawn from a seed; the same seed and the same order of calls
//! give the same faults. What a fault leaves behind is what the contract says for the error it reports.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use armilla_env::Random;
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    Batch, CommitFuture, CommitLatch, Error, ErrorKind, Family, Page, RangeClone, Result, Scan, Snapshot,
    Space, SpaceId, Store, StoreSnapshot, StoreStats,
};

/// What goes wrong with one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written, and the commit fails with [`ErrorKind::Io`].
    FailBefore,
    /// The batch is written, and the commit fails with [`ErrorKind::OutcomeUnknown`].
    UnknownApplied,
    /// Nothing is written, and the commit fails with [`ErrorKind::OutcomeUnknown`].
    UnknownNotApplied,
    /// The batch is written in its order, but the future is ready only after this many more polls.
    ReportLate {
        /// Polls that are answered with "pending", each with a wake-up.
        polls: u32,
    },
}

/// How often faults happen: each once in so many operations on average, or never for 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rates {
    /// [`Fault::FailBefore`].
    pub fail_before: u64,
    /// [`Fault::UnknownApplied`].
    pub unknown_applied: u64,
    /// [`Fault::UnknownNotApplied`].
    pub unknown_not_applied: u64,
    /// [`Fault::ReportLate`], by 1 to 8 polls.
    pub report_late: u64,
    /// Reads that fail with [`ErrorKind::Io`].
    pub fail_read: u64,
}

/// A store that fails on demand.
pub struct FaultStore {
    inner: Arc<dyn Store>,
    plan: Arc<Plan>,
}

#[derive(Default)]
struct Plan(Mutex<PlanState>);

#[derive(Default)]
struct PlanState {
    next_commits: VecDeque<Fault>,
    next_failing_reads: u64,
    seeded: Option<(Random, Rates)>,
    /// Commits until the disk dies.
    commits_left: Option<u64>,
    dead: bool,
    faults: u64,
}

struct FaultSpace {
    inner: Arc<dyn Space>,
    plan: Arc<Plan>,
    latch: CommitLatch,
}

struct FaultSnapshot {
    inner: Box<dyn Snapshot>,
    plan: Arc<Plan>,
}

struct FaultStoreSnapshot {
    inner: Box<dyn StoreSnapshot>,
    plan: Arc<Plan>,
}

struct Late {
    inner: CommitFuture,
    polls: u32,
}

impl FaultStore {
    /// Returns a store that fails only when asked to.
    pub fn new(inner: Arc<dyn Store>) -> FaultStore {
        FaultStore { inner, plan: Arc::default() }
    }

    /// Returns a store that fails at random, the same way for the same seed and order of calls.
    pub fn seeded(inner: Arc<dyn Store>, seed: u64, rates: Rates) -> FaultStore {
        let store = FaultStore::new(inner);
        store.plan.lock().seeded = Some((Random::new(seed), rates));
        store
    }

    /// Lets the next commit without a fault have this one.
    pub fn fail_next_commit(&self, fault: Fault) {
        self.plan.lock().next_commits.push_back(fault);
    }

    /// Lets the next reads fail.
    pub fn fail_next_reads(&self, count: u64) {
        self.plan.lock().next_failing_reads += count;
    }

    /// Lets the disk die after this many more commits: from then on everything fails with [`ErrorKind::Io`].
    pub fn kill_after_commits(&self, commits: u64) {
        self.plan.lock().commits_left = Some(commits);
    }

    /// Lets the disk die now.
    pub fn kill(&self) {
        self.plan.lock().dead = true;
    }

    /// Brings a dead disk back, with what it held.
    pub fn revive(&self) {
        let mut plan = self.plan.lock();
        plan.dead = false;
        plan.commits_left = None;
    }

    /// Stops drawing faults at random and forgets those that were asked for.
    pub fn calm(&self) {
        let mut plan = self.plan.lock();
        plan.seeded = None;
        plan.next_commits.clear();
        plan.next_failing_reads = 0;
    }

    /// Returns how many faults there were.
    pub fn faults(&self) -> u64 {
        self.plan.lock().faults
    }
}

impl Plan {
    fn lock(&self) -> MutexGuard<'_, PlanState> {
        self.0.lock()
    }

    fn check_alive(&self) -> Result<()> {
        let mut plan = self.lock();
        if plan.dead {
            plan.faults += 1;
            return Err(injected(ErrorKind::Io, "the disk is dead"));
        }
        Ok(())
    }

    fn check_read(&self) -> Result<()> {
        self.check_alive()?;
        let mut plan = self.lock();
        let mut fails = plan.next_failing_reads > 0;
        plan.next_failing_reads = plan.next_failing_reads.saturating_sub(1);
        if let Some((random, rates)) = &mut plan.seeded {
            fails |= happens(random, rates.fail_read);
        }
        if !fails {
            return Ok(());
        }
        plan.faults += 1;
        Err(injected(ErrorKind::Io, "the read failed"))
    }

    fn next_commit(&self) -> Result<Option<Fault>> {
        self.check_alive()?;
        let mut plan = self.lock();
        match &mut plan.commits_left {
            Some(0) => {
                plan.dead = true;
                plan.faults += 1;
                return Err(injected(ErrorKind::Io, "the disk is dead"));
            }
            Some(left) => *left -= 1,
            None => {}
        }
        let asked_for = plan.next_commits.pop_front();
        let fault = asked_for.or_else(|| {
            let (random, rates) = plan.seeded.as_mut()?;
            // Every rate draws its number, so that changing one leaves the others where they were.
            let draws = [
                (happens(random, rates.fail_before), Fault::FailBefore),
                (happens(random, rates.unknown_applied), Fault::UnknownApplied),
                (happens(random, rates.unknown_not_applied), Fault::UnknownNotApplied),
                (happens(random, rates.report_late), Fault::ReportLate { polls: 1 + random.below(8) as u32 }),
            ];
            draws.into_iter().find(|(happens, _)| *happens).map(|(_, fault)| fault)
        });
        plan.faults += u64::from(fault.is_some());
        Ok(fault)
    }
}

fn happens(random: &mut Random, once_in: u64) -> bool {
    random.next_u64().checked_rem(once_in) == Some(0)
}

fn injected(kind: ErrorKind, message: &str) -> Error {
    Error::new(kind, format!("{message} (injected)"))
}

impl Store for FaultStore {
    fn open_space(&self, space: SpaceId) -> Result<Arc<dyn Space>> {
        self.plan.check_alive()?;
        let inner = self.inner.open_space(space)?;
        Ok(Arc::new(FaultSpace { inner, plan: self.plan.clone(), latch: CommitLatch::default() }))
    }

    fn drop_space(&self, space: SpaceId) -> Result<()> {
        self.plan.check_alive()?;
        self.inner.drop_space(space)
    }

    fn clone_ranges(&self, from: SpaceId, clones: &[RangeClone]) -> Result<Option<Box<dyn Snapshot>>> {
        self.plan.check_alive()?;
        self.plan.check_read()?;
        self.inner.clone_ranges(from, clones)
    }

    fn snapshot_all(&self) -> Result<Box<dyn StoreSnapshot>> {
        self.plan.check_read()?;
        let inner = self.inner.snapshot_all()?;
        Ok(Box::new(FaultStoreSnapshot { inner, plan: self.plan.clone() }))
    }

    fn pressure_percent(&self) -> u32 {
        self.inner.pressure_percent()
    }

    fn is_current(&self) -> bool {
        self.inner.is_current()
    }

    fn trouble(&self) -> Option<String> {
        self.inner.trouble()
    }

    fn stats(&self) -> StoreStats {
        self.inner.stats()
    }

    fn close(&self) -> Result<()> {
        self.inner.close()
    }
}

impl Space for FaultSpace {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        self.plan.check_read()?;
        self.inner.get(family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.plan.check_read()?;
        self.inner.multi_get(family, keys)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.plan.check_read()?;
        let inner = self.inner.snapshot()?;
        Ok(Box::new(FaultSnapshot { inner, plan: self.plan.clone() }))
    }

    fn commit(&self, batch: Batch) -> CommitFuture {
        let unknown = || injected(ErrorKind::OutcomeUnknown, "the outcome is unknown");
        let fail =
            |error: Error| -> CommitFuture { Box::pin(std::future::ready(self.latch.pass(Err(error)))) };
        if let Err(error) = self.latch.check() {
            return fail(error);
        }
        match self.plan.next_commit() {
            Err(error) => fail(error),
            Ok(None) => self.inner.commit(batch),
            Ok(Some(Fault::FailBefore)) => fail(injected(ErrorKind::Io, "nothing was written")),
            Ok(Some(Fault::UnknownNotApplied)) => fail(unknown()),
            Ok(Some(Fault::UnknownApplied)) => {
                let inner = self.inner.commit(batch);
                let _ = self.latch.pass::<()>(Err(unknown()));
                Box::pin(async move { inner.await.and(Err(unknown())) })
            }
            Ok(Some(Fault::ReportLate { polls })) => {
                Box::pin(Late { inner: self.inner.commit(batch), polls })
            }
        }
    }
}

impl Snapshot for FaultSnapshot {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        self.plan.check_read()?;
        self.inner.get(family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.plan.check_read()?;
        self.inner.multi_get(family, keys)
    }

    fn scan(&self, scan: &Scan) -> Result<Page> {
        self.plan.check_read()?;
        self.inner.scan(scan)
    }
}

impl StoreSnapshot for FaultStoreSnapshot {
    fn spaces(&self) -> Result<Vec<SpaceId>> {
        self.plan.check_read()?;
        self.inner.spaces()
    }

    fn space(&self, space: SpaceId) -> Result<Box<dyn Snapshot>> {
        self.plan.check_read()?;
        let inner = self.inner.space(space)?;
        Ok(Box::new(FaultSnapshot { inner, plan: self.plan.clone() }))
    }
}

impl Future for Late {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if self.polls > 0 {
            self.polls -= 1;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.inner.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_on;
    use crate::memory::MemoryStore;

    fn batch(number: u32) -> Batch {
        let mut batch = Batch::new();
        batch.put(Family::Item, number.to_be_bytes().to_vec(), "value");
        batch
    }

    #[test]
    fn each_fault_leaves_what_it_says() {
        let cases = [
            (Fault::FailBefore, Some(ErrorKind::Io), false),
            (Fault::UnknownApplied, Some(ErrorKind::OutcomeUnknown), true),
            (Fault::UnknownNotApplied, Some(ErrorKind::OutcomeUnknown), false),
            (Fault::ReportLate { polls: 5 }, None, true),
        ];
        let store = FaultStore::new(Arc::new(MemoryStore::new()));
        for (number, (fault, kind, applied)) in cases.into_iter().enumerate() {
            // A failed commit closes its handle.
            let space = store.open_space(SpaceId(1)).unwrap();
            let number = number as u32;
            store.fail_next_commit(fault);
            assert_eq!(
                block_on(space.commit(batch(number))).err().map(|error| error.kind()),
                kind,
                "{fault:?}"
            );
            assert_eq!(
                space.get(Family::Item, &number.to_be_bytes()).unwrap().is_some(),
                applied,
                "{fault:?}"
            );
        }
        assert_eq!(store.faults(), 4);
        let space = store.open_space(SpaceId(1)).unwrap();
        block_on(space.commit(batch(9))).unwrap();
    }

    #[test]
    fn a_dead_disk_fails_everything_until_it_is_revived() {
        let store = FaultStore::new(Arc::new(MemoryStore::new()));
        let space = store.open_space(SpaceId(1)).unwrap();
        let snapshot = space.snapshot().unwrap();
        store.kill_after_commits(2);
        block_on(space.commit(batch(0))).unwrap();
        block_on(space.commit(batch(1))).unwrap();
        assert_eq!(block_on(space.commit(batch(2))).unwrap_err().kind(), ErrorKind::Io);
        assert!(space.get(Family::Item, b"").is_err() && space.snapshot().is_err());
        assert!(snapshot.scan(&Scan::prefix(Family::Item, b"")).is_err());
        assert!(store.open_space(SpaceId(2)).is_err() && store.drop_space(SpaceId(1)).is_err());
        store.revive();
        assert!(space.get(Family::Item, &1_u32.to_be_bytes()).unwrap().is_some());
        assert!(space.get(Family::Item, &2_u32.to_be_bytes()).unwrap().is_none());
        store.fail_next_reads(1);
        assert!(snapshot.get(Family::Item, b"").is_err());
        assert!(snapshot.get(Family::Item, b"").is_ok());
    }

    #[test]
    fn a_seed_repeats_its_faults() {
        let rates = Rates {
            fail_before: 5,
            unknown_applied: 5,
            unknown_not_applied: 5,
            report_late: 5,
            fail_read: 5,
        };
        let run = |seed| {
            let store = FaultStore::seeded(Arc::new(MemoryStore::new()), seed, rates);
            (0..200)
                .map(|number| {
                    let space = store.open_space(SpaceId(1)).unwrap();
                    let committed = block_on(space.commit(batch(number))).err().map(|error| error.kind());
                    (committed, space.get(Family::Item, b"").is_ok())
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        let kinds: Vec<_> = run(7).into_iter().map(|(kind, _)| kind).collect();
        for kind in [None, Some(ErrorKind::Io), Some(ErrorKind::OutcomeUnknown)] {
            assert!(kinds.contains(&kind), "{kind:?}");
        }
    }
}
