//! Cursors: what is left of a result, until it is asked for.
//!
//! A cursor belongs to a user and a session, never to a connection: the next batch may be asked for through another.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use armilla_env::Env;
use armilla_mongo_expression::codes;
use parking_lot::Mutex;

use crate::failure::{Failure, Result};
use crate::limits::{CURSOR_BYTES_MAX, CURSOR_IDLE_MAX, CURSORS_MAX};
use crate::sessions::SessionId;
use crate::supply::Supply;

/// An open cursor.
pub(crate) struct Cursor {
    pub(crate) namespace: String,
    pub(crate) user: String,
    pub(crate) session: Option<SessionId>,
    /// The number of the transaction that it was opened in.
    pub(crate) transaction: Option<i64>,
    pub(crate) supply: Supply,
    pub(crate) has_timeout: bool,
    /// How long its batches may still take, all together.
    pub(crate) time_left: Option<Duration>,
    /// Whether it waits for more when it is at its end.
    pub(crate) awaits: bool,
}

enum Slot {
    /// Since when, and how many bytes of documents it holds.
    Idle(Duration, usize, Box<Cursor>),
    /// In use by a command; `true` when it was killed meanwhile.
    Busy { owner: Owner, is_killed: bool, awaits: bool },
}

#[derive(Clone)]
struct Owner {
    user: String,
    session: Option<SessionId>,
    namespace: String,
}

/// All cursors.
pub(crate) struct Cursors {
    env: Env,
    open: Arc<Mutex<HashMap<i64, Slot>>>,
}

/// What became of a cursor that was to be killed.
pub(crate) enum Killed {
    Done,
    NotFound,
    /// It is another user's.
    Alive,
}

impl Cursors {
    pub(crate) fn new(env: Env) -> Cursors {
        Cursors { env, open: Arc::default() }
    }

    /// Keeps a cursor and returns its number.
    pub(crate) fn open(&self, cursor: Cursor) -> Result<i64> {
        let now = self.env.clock.elapsed();
        let mut open = self.open.lock();
        sweep(&mut open, now);
        if open.len() >= CURSORS_MAX {
            return Err(Failure::new(
                codes::EXCEEDED_MEMORY_LIMIT,
                format!("{CURSORS_MAX} cursors are open: read them to their ends or kill some"),
            ));
        }
        let bytes = cursor.supply.bytes();
        let held: usize =
            open.values().map(|slot| if let Slot::Idle(_, bytes, _) = slot { *bytes } else { 0 }).sum();
        if bytes > 0 && held + bytes > CURSOR_BYTES_MAX {
            return Err(Failure::new(
                codes::EXCEEDED_MEMORY_LIMIT,
                format!(
                    "open cursors hold {CURSOR_BYTES_MAX} bytes of documents: read them to their ends or kill some"
                ),
            ));
        }
        let id = loop {
            let mut bytes = [0; 8];
            self.env.entropy.fill(&mut bytes);
            let id = i64::from_le_bytes(bytes) & i64::MAX;
            if id != 0 && !open.contains_key(&id) {
                break id;
            }
        };
        open.insert(id, Slot::Idle(now, bytes, Box::new(cursor)));
        Ok(id)
    }

    /// Takes a cursor for a command.
    pub(crate) fn take(
        &self,
        id: i64,
        namespace: &str,
        user: &str,
        session: Option<SessionId>,
        transaction: Option<i64>,
    ) -> Result<Box<Cursor>> {
        let mut open = self.open.lock();
        let slot = open.get_mut(&id).ok_or_else(|| not_found(id))?;
        let cursor = match slot {
            Slot::Busy { .. } => {
                return Err(Failure::new(codes::CURSOR_IN_USE, format!("cursor id {id} is already in use")));
            }
            Slot::Idle(_, _, cursor) => cursor,
        };
        if cursor.user != user {
            return Err(not_found(id));
        }
        if cursor.namespace != namespace {
            return Err(Failure::new(
                codes::UNAUTHORIZED,
                format!(
                    "Requested getMore on namespace '{namespace}', but cursor {id} belongs to a different namespace {}",
                    cursor.namespace
                ),
            ));
        }
        match (cursor.session, session) {
            (None, Some(_)) => {
                return Err(Failure::new(
                    50_736,
                    format!(
                        "Cannot run getMore on cursor {id}, which was not created in a session, in a session"
                    ),
                ));
            }
            (Some(_), None) => {
                return Err(Failure::new(
                    50_737,
                    format!(
                        "Cannot run getMore on cursor {id}, which was created in a session, without an lsid"
                    ),
                ));
            }
            (Some(own), Some(other)) if own != other => {
                return Err(Failure::new(
                    50_738,
                    format!("Cannot run getMore on cursor {id}, which was created in another session"),
                ));
            }
            _ => {}
        }
        match (cursor.transaction, transaction) {
            (None, Some(_)) => {
                return Err(Failure::new(
                    50_740,
                    format!(
                        "Cannot run getMore on cursor {id}, which was not created in a transaction, in a transaction"
                    ),
                ));
            }
            (Some(_), None) => {
                return Err(Failure::new(
                    50_741,
                    format!(
                        "Cannot run getMore on cursor {id}, which was created in a transaction, without a txnNumber"
                    ),
                ));
            }
            (Some(own), Some(other)) if own != other => {
                return Err(Failure::new(
                    50_739,
                    format!("Cannot run getMore on cursor {id}, which was created in another transaction"),
                ));
            }
            _ => {}
        }
        let owner =
            Owner { user: cursor.user.clone(), session: cursor.session, namespace: cursor.namespace.clone() };
        let awaits = cursor.awaits;
        match std::mem::replace(slot, Slot::Busy { owner, is_killed: false, awaits }) {
            Slot::Idle(_, _, cursor) => Ok(cursor),
            Slot::Busy { .. } => Err(not_found(id)),
        }
    }

    /// Puts a cursor back; one that was killed meanwhile is gone.
    pub(crate) fn put_back(&self, id: i64, cursor: Box<Cursor>) -> bool {
        let mut open = self.open.lock();
        match open.get(&id) {
            Some(Slot::Busy { is_killed: false, .. }) => {
                let bytes = cursor.supply.bytes();
                open.insert(id, Slot::Idle(self.env.clock.elapsed(), bytes, cursor));
                true
            }
            _ => {
                open.remove(&id);
                false
            }
        }
    }

    /// Forgets a cursor that is at its end.
    pub(crate) fn close(&self, id: i64) {
        self.open.lock().remove(&id);
    }

    /// Kills a cursor.
    pub(crate) fn kill(&self, id: i64, user: &str) -> Killed {
        let mut open = self.open.lock();
        match open.get_mut(&id) {
            None => Killed::NotFound,
            Some(Slot::Idle(_, _, cursor)) if cursor.user == user => {
                open.remove(&id);
                Killed::Done
            }
            Some(Slot::Busy { owner, is_killed, .. }) if owner.user == user => {
                *is_killed = true;
                Killed::Done
            }
            Some(_) => Killed::Alive,
        }
    }

    /// Kills the cursors that a test of their owners is true for.
    pub(crate) fn kill_where(&self, test: impl Fn(&str, Option<SessionId>, bool) -> bool) {
        let mut open = self.open.lock();
        open.retain(|_, slot| match slot {
            Slot::Idle(_, _, cursor) => !test(&cursor.namespace, cursor.session, cursor.awaits),
            Slot::Busy { owner, is_killed, awaits } => {
                *is_killed |= test(&owner.namespace, owner.session, *awaits);
                true
            }
        });
    }

    /// Takes the streams that no client reads just now; says whether others are being read.
    pub(crate) fn take_streams(&self) -> (Vec<(i64, Box<Cursor>)>, bool) {
        let mut open = self.open.lock();
        let is_stream = |slot: &Slot| matches!(slot, Slot::Idle(_, _, cursor) if matches!(cursor.supply, Supply::Stream(_)));
        let ids: Vec<i64> = open.iter().filter(|(_, slot)| is_stream(slot)).map(|(id, _)| *id).collect();
        let are_read = open.values().any(|slot| matches!(slot, Slot::Busy { awaits: true, .. }));
        let mut taken = Vec::new();
        for id in ids {
            let Some(slot) = open.get_mut(&id) else { continue };
            let Slot::Idle(_, _, cursor) = &*slot else { continue };
            let owner = Owner {
                user: cursor.user.clone(),
                session: cursor.session,
                namespace: cursor.namespace.clone(),
            };
            if let Slot::Idle(_, _, cursor) =
                std::mem::replace(slot, Slot::Busy { owner, is_killed: false, awaits: false })
            {
                taken.push((id, cursor));
            }
        }
        (taken, are_read)
    }

    /// Returns how many are open.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().len()
    }
}

fn sweep(open: &mut HashMap<i64, Slot>, now: Duration) {
    // Looking at all of them for each new one would cost more than it gives back.
    if !open.len().is_multiple_of(64) {
        return;
    }
    open.retain(|_, slot| match slot {
        Slot::Idle(used_at, _, cursor) => {
            !cursor.has_timeout || now.saturating_sub(*used_at) < CURSOR_IDLE_MAX
        }
        Slot::Busy { .. } => true,
    });
}

fn not_found(id: i64) -> Failure {
    Failure::new(codes::CURSOR_NOT_FOUND, format!("cursor id {id} not found"))
}
