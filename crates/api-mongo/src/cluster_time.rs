//! The clock that every reply tells: seconds, and the part of the second, of the last write that was seen.
//!
//! It is the moment that the written item itself has, so that a change stream that begins with what a reply told begins
//! exactly with that write.

use std::sync::Arc;

use armilla_engine::Moment;
use armilla_env::Env;
use armilla_value::{Object, Value};
use parking_lot::Mutex;

/// How far a client may push the clock, in seconds.
const AHEAD_SECONDS_MAX: u32 = 365 * 24 * 60 * 60;

/// Ticks of a moment in a second.
const TICKS_PER_SECOND: u64 = 10_000_000;

/// A moment of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct ClusterTime {
    pub(crate) seconds: u32,
    pub(crate) increment: u32,
}

impl From<ClusterTime> for Value {
    fn from(time: ClusterTime) -> Value {
        Value::Timestamp { seconds: time.seconds, increment: time.increment }
    }
}

/// The clock. It begins with the time of day, which is past whatever was told before the program was last ended.
pub(crate) struct ClusterClock {
    env: Env,
    last: Arc<Mutex<ClusterTime>>,
}

impl From<Moment> for ClusterTime {
    fn from(moment: Moment) -> ClusterTime {
        let seconds = moment.second();
        // Less than a second, and never nothing: drivers take zero for no time.
        let increment = u32::try_from(moment.ticks() % TICKS_PER_SECOND).unwrap_or(u32::MAX).max(1);
        ClusterTime { seconds, increment }
    }
}

impl ClusterClock {
    pub(crate) fn new(env: Env) -> ClusterClock {
        let clock = ClusterClock { env, last: Arc::default() };
        clock.tick();
        clock
    }

    /// Returns the moment that a write would have now, on its own.
    pub(crate) fn of_day(&self) -> ClusterTime {
        let ticks = self.env.clock.now_ticks();
        let seconds = u32::try_from(ticks / TICKS_PER_SECOND).unwrap_or(u32::MAX);
        let increment = u32::try_from(ticks % TICKS_PER_SECOND).unwrap_or(0);
        ClusterTime { seconds, increment: increment.max(1) }
    }

    fn seconds(&self) -> u32 {
        self.of_day().seconds
    }

    /// Returns the moment of the last write that was seen.
    pub(crate) fn now(&self) -> ClusterTime {
        *self.last.lock()
    }

    /// Notes the moment of a write.
    pub(crate) fn observe(&self, moment: Moment) {
        let mut last = self.last.lock();
        *last = (*last).max(moment.into());
    }

    /// Returns a moment after all that were told, for what is written without one.
    pub(crate) fn tick(&self) -> ClusterTime {
        let of_day = self.of_day();
        let mut last = self.last.lock();
        let next = ClusterTime { seconds: last.seconds, increment: last.increment.saturating_add(1) };
        *last = next.max(of_day);
        *last
    }

    /// Takes over what a client has seen elsewhere, unless it is absurd.
    pub(crate) fn advance(&self, seen: &Value) {
        let Some(Value::Timestamp { seconds, increment }) = seen.get("clusterTime").or(Some(seen)) else {
            return;
        };
        let seen = ClusterTime { seconds: *seconds, increment: *increment };
        if seen.seconds <= self.seconds().saturating_add(AHEAD_SECONDS_MAX) {
            let mut last = self.last.lock();
            *last = (*last).max(seen);
        }
    }

    /// Puts the clock at the end of a reply.
    pub(crate) fn stamp(&self, reply: &mut Object) {
        let now = self.now();
        reply.insert("operationTime", now);
        let signature = Object::from([
            ("hash", Value::Binary { subtype: 0, bytes: vec![0; 20] }),
            ("keyId", Value::Int64(0)),
        ]);
        reply.insert(
            "$clusterTime",
            Object::from([("clusterTime", Value::from(now)), ("signature", Value::Object(signature))]),
        );
    }
}
