//! Sessions: what drivers send with nearly every command, and what is remembered for them.
//!
//! A session is known from its first sight on, for half an hour after its last use. It remembers the outcome of writes
//! that a driver may send again, and what the last command cost.

use std::collections::HashMap;
use std::time::Duration;

use armilla_env::Env;
use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};
use parking_lot::Mutex;

use crate::failure::{Failure, Result};
use crate::limits::{REMEMBERED_STATEMENTS_MAX, SESSION_IDLE_MAX, SESSIONS_MAX};
use crate::statistics::Statistics;
use crate::transactions::Open;

/// The id of a session: its UUID.
pub(crate) type SessionId = [u8; 16];

/// All sessions.
pub(crate) struct Sessions {
    env: Env,
    known: Mutex<HashMap<SessionId, Session>>,
}

/// What is known of a session.
pub(crate) struct Session {
    used_at: Duration,
    user: String,
    /// The number of the last write that may be sent again, or of the last transaction.
    number: Option<i64>,
    /// The outcomes of its statements.
    outcomes: HashMap<i32, Object>,
    /// The transaction of that number, if it is one.
    pub(crate) transaction: Option<Open>,
    statistics: Option<Statistics>,
}

/// What is known of a statement that may have come before.
pub(crate) enum Before {
    /// It is new.
    New,
    /// It was done, with this outcome.
    Done(Object),
}

impl Sessions {
    pub(crate) fn new(env: Env) -> Sessions {
        Sessions { env, known: Mutex::default() }
    }

    /// Reads the id of a session out of a command.
    pub(crate) fn id_of(command: &Object) -> Result<Option<SessionId>> {
        let Some(lsid) = command.get("lsid") else { return Ok(None) };
        let Some(lsid) = lsid.as_object() else {
            return Err(Failure::new(
                codes::TYPE_MISMATCH,
                "BSON field 'lsid' is the wrong type, expected type 'object'",
            ));
        };
        read_id(lsid).map(Some)
    }

    /// Notes that a session is used.
    pub(crate) fn touch(&self, id: SessionId, user: &str) -> Result<()> {
        let now = self.env.clock.elapsed();
        let mut known = self.known.lock();
        if let Some(session) = known.get_mut(&id) {
            session.used_at = now;
            return Ok(());
        }
        if known.len() >= SESSIONS_MAX {
            known.retain(|_, session| now.saturating_sub(session.used_at) < SESSION_IDLE_MAX);
            if known.len() >= SESSIONS_MAX {
                return Err(Failure::new(
                    codes::TOO_MANY_LOGICAL_SESSIONS,
                    format!("{SESSIONS_MAX} sessions are open: end some, or wait until they expire"),
                ));
            }
        }
        known.insert(
            id,
            Session {
                used_at: now,
                user: user.to_owned(),
                number: None,
                outcomes: HashMap::new(),
                transaction: None,
                statistics: None,
            },
        );
        Ok(())
    }

    /// Does something with a session that was touched.
    pub(crate) fn with<T>(&self, id: SessionId, work: impl FnOnce(&mut Session) -> T) -> Option<T> {
        self.known.lock().get_mut(&id).map(work)
    }

    /// Says what is known of a statement of a write that may have been sent before.
    pub(crate) fn before(&self, id: SessionId, number: i64, statement: i32) -> Result<Before> {
        let mut known = self.known.lock();
        let Some(session) = known.get_mut(&id) else { return Ok(Before::New) };
        session.advance(number)?;
        Ok(session.outcomes.get(&statement).cloned().map_or(Before::New, Before::Done))
    }

    /// Remembers what became of a statement.
    pub(crate) fn remember(&self, id: SessionId, number: i64, statement: i32, outcome: Object) {
        if let Some(session) = self.known.lock().get_mut(&id)
            && session.number == Some(number)
            && session.outcomes.len() < REMEMBERED_STATEMENTS_MAX
        {
            session.outcomes.insert(statement, outcome);
        }
    }

    /// Remembers what the last command of a session cost.
    pub(crate) fn note(&self, id: SessionId, statistics: &Statistics) {
        self.with(id, |session| session.statistics = Some(statistics.clone()));
    }

    /// Returns what the last command of a session cost.
    pub(crate) fn statistics(&self, id: SessionId) -> Option<Statistics> {
        self.with(id, |session| session.statistics.clone()).flatten()
    }

    /// Forgets sessions; what is open in them ends.
    pub(crate) fn end(&self, ids: &[SessionId]) {
        let mut known = self.known.lock();
        for id in ids {
            known.remove(id);
        }
    }

    /// Forgets all sessions.
    pub(crate) fn end_all(&self) {
        self.known.lock().clear();
    }

    /// Lists ids, users and idle times.
    pub(crate) fn list(&self) -> Vec<(SessionId, String, Duration)> {
        let now = self.env.clock.elapsed();
        let known = self.known.lock();
        known
            .iter()
            .map(|(id, session)| (*id, session.user.clone(), now.saturating_sub(session.used_at)))
            .collect()
    }

    /// Returns how many there are, and how many have an open transaction.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let known = self.known.lock();
        (known.len(), known.values().filter(|session| session.transaction.is_some()).count())
    }
}

impl Session {
    /// Moves on to a number; one that is past is refused.
    pub(crate) fn advance(&mut self, number: i64) -> Result<()> {
        match self.number {
            Some(last) if number < last => Err(Failure::new(
                codes::TRANSACTION_TOO_OLD,
                format!(
                    "Cannot start transaction with transaction number {number} because a newer one, {last}, was used in this session"
                ),
            )),
            Some(last) if number == last => Ok(()),
            _ => {
                self.number = Some(number);
                self.outcomes.clear();
                self.transaction = None;
                Ok(())
            }
        }
    }

    /// Says whether the outcome of a statement of a number is remembered.
    pub(crate) fn has_outcomes(&self, number: i64) -> bool {
        self.number == Some(number) && !self.outcomes.is_empty()
    }

    /// Returns the number that the session is at.
    pub(crate) fn number(&self) -> Option<i64> {
        self.number
    }
}

/// Reads `{id: UUID}`.
pub(crate) fn read_id(lsid: &Object) -> Result<SessionId> {
    if let Some((name, _)) = lsid.iter().find(|(name, _)| !matches!(*name, "id" | "uid")) {
        return Err(Failure::new(40_415, format!("BSON field 'lsid.{name}' is an unknown field.")));
    }
    match lsid.get("id") {
        Some(Value::Binary { subtype: 4, bytes }) => <[u8; 16]>::try_from(bytes.as_slice())
            .map_err(|_| Failure::new(codes::INVALID_OPTIONS, "the id of a session has 16 bytes")),
        _ => Err(Failure::new(codes::TYPE_MISMATCH, "BSON field 'lsid.id' must be a UUID")),
    }
}

/// Returns the value that stands for a session.
pub(crate) fn id_value(id: SessionId) -> Value {
    Value::Binary { subtype: 4, bytes: id.to_vec() }
}
