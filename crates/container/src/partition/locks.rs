//! Locks of logical partitions: keeping writers out while a transaction has one, first come, first served.
//!
//! A logical partition that is not locked and not waited for has no line, and its writers notice nothing. Where there
//! is a line, every newcomer joins it: writers, who pass in company, and transactions that want the lock, who wait until
//! all before them have passed. A writer has passed once its write is queued.
//!
//! Invariants:
//! * a holder was told so only after every writer that passed before it had queued its write, and until it lets go
//!   no other writer of its logical partition queues one;
//! * a place in the line, taken or not, is given up by dropping it, so a task that went away is not waited for.
//!
//! Not here: waiting until what was queued before a hold has landed (`committer`).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::item::keys::LogicalKey;

/// The held logical partitions of a physical one.
#[derive(Default)]
pub(crate) struct LogicalLocks {
    lines: Mutex<HashMap<LogicalKey, Line>>,
    /// How many lines there are, so that writers mostly need not lock them to learn that there are none.
    count: AtomicUsize,
}

/// Who is at one logical partition, and who waits.
#[derive(Default)]
struct Line {
    is_locked: bool,
    /// Writers that may queue their writes and have not yet.
    passing: usize,
    waiting: VecDeque<Waiter>,
}

struct Waiter {
    kind: PassKind,
    tell: oneshot::Sender<Pass>,
}

/// What a task in a line wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassKind {
    /// To queue one write.
    Write,
    /// To keep all others out.
    Lock,
}

/// Leave to write to a logical partition. Dropping it lets the next ones in.
pub(crate) struct Pass {
    kind: PassKind,
    logical: LogicalKey,
    /// `None` once it was given back.
    locks: Option<Arc<LogicalLocks>>,
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some(locks) = self.locks.take() {
            locks.leave(&self.logical, self.kind);
        }
    }
}

impl LogicalLocks {
    /// Returns whether a writer would have to wait.
    pub(crate) fn is_locked(&self, logical: &LogicalKey) -> bool {
        // A task that must be seen here has locked the queue after it came, and the caller before it asks.
        self.count.load(Ordering::Acquire) > 0
            && self.lock().get(logical).is_some_and(|line| line.is_locked || !line.waiting.is_empty())
    }

    /// Waits for leave to write.
    pub(crate) async fn join(self: &Arc<Self>, logical: &LogicalKey, kind: PassKind) -> Pass {
        let (tell, told) = oneshot::channel();
        {
            let mut lines = self.lock();
            let line = lines.entry(logical.clone()).or_default();
            line.waiting.push_back(Waiter { kind, tell });
            self.advance(&mut lines, logical);
        }
        told.await.expect("a waiter is told before it leaves the line")
    }

    fn leave(self: &Arc<Self>, logical: &LogicalKey, kind: PassKind) {
        let mut lines = self.lock();
        let line = lines.get_mut(logical).expect("a task that has leave is in a line");
        match kind {
            PassKind::Write => line.passing -= 1,
            PassKind::Lock => line.is_locked = false,
        }
        self.advance(&mut lines, logical);
    }

    /// Lets in the tasks that may go in now.
    fn advance(self: &Arc<Self>, lines: &mut HashMap<LogicalKey, Line>, logical: &LogicalKey) {
        let Some(line) = lines.get_mut(logical) else { return };
        while let Some(next) = line.waiting.front() {
            let may_pass = match next.kind {
                PassKind::Write => !line.is_locked,
                PassKind::Lock => !line.is_locked && line.passing == 0,
            };
            if !may_pass && !next.tell.is_closed() {
                break;
            }
            let Some(Waiter { kind, tell }) = line.waiting.pop_front() else { break };
            let pass = Pass { kind, logical: logical.clone(), locks: Some(self.clone()) };
            match tell.send(pass) {
                Ok(()) => match kind {
                    PassKind::Write => line.passing += 1,
                    PassKind::Lock => line.is_locked = true,
                },
                // It went away. Its leave must not be given back, because it was never counted.
                Err(mut pass) => pass.locks = None,
            }
        }
        if !line.is_locked && line.passing == 0 && line.waiting.is_empty() {
            lines.remove(logical);
        }
        self.count.store(lines.len(), Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LogicalKey, Line>> {
        self.lines.lock()
    }
}

#[cfg(test)]
mod tests;
