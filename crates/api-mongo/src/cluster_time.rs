//! The clock that every reply tells: seconds, and a counter inside of the second, never twice the same for two writes.

use std::sync::Arc;

use armilla_env::Env;
use armilla_value::{Object, Value};
use parking_lot::Mutex;

/// How far a client may push the clock, in seconds.
const AHEAD_SECONDS_MAX: u32 = 365 * 24 * 60 * 60;

/// A moment of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
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

impl ClusterClock {
    pub(crate) fn new(env: Env) -> ClusterClock {
        ClusterClock { env, last: Arc::default() }
    }

    fn seconds(&self) -> u32 {
        u32::try_from(self.env.clock.now_ms() / 1000).unwrap_or(u32::MAX)
    }

    /// Returns the moment that it is, without moving on inside of the second.
    pub(crate) fn now(&self) -> ClusterTime {
        let seconds = self.seconds();
        let mut last = self.last.lock();
        if seconds > last.seconds {
            *last = ClusterTime { seconds, increment: 1 };
        }
        *last
    }

    /// Returns a moment after all that were told.
    pub(crate) fn tick(&self) -> ClusterTime {
        let seconds = self.seconds();
        let mut last = self.last.lock();
        *last = if seconds > last.seconds {
            ClusterTime { seconds, increment: 1 }
        } else {
            ClusterTime { seconds: last.seconds, increment: last.increment.saturating_add(1) }
        };
        *last
    }

    /// Takes over what a client has seen elsewhere, unless it is absurd.
    pub(crate) fn advance(&self, seen: &Value) {
        let Some(Value::Timestamp { seconds, increment }) = seen.get("clusterTime").or(Some(seen)) else { return };
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
