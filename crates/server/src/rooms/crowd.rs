//! All open connections, and which of them gives way when something is short.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};

use crate::limits::{GIVES_WAY_AFTER, IDLE_GIVES_WAY_AFTER};
use crate::listening::activity::Activity;
use crate::rooms::clients::Client;
use crate::rooms::flow::Flow;

/// All open connections.
#[derive(Default)]
pub(crate) struct Crowd {
    connections: Mutex<HashMap<u64, Arc<Activity>>>,
    next_number: AtomicU64,
}

/// What a connection holds that is short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Short {
    /// Room for request bodies.
    Bodies,
    /// Room for answers.
    Answers,
}

impl Crowd {
    /// Takes a connection in, until the guard is dropped.
    pub(crate) fn enter(self: &Arc<Self>, activity: Arc<Activity>) -> Guest {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        self.connections().insert(number, activity);
        Guest { crowd: self.clone(), number }
    }

    /// Closes the connection on which nothing has been going on for the longest; returns whether there was one.
    pub(crate) fn close_idlest(&self) -> bool {
        self.close_longest(IDLE_GIVES_WAY_AFTER.as_millis() as u64, Activity::idle_ms)
    }

    /// Closes the connection whose client has let others wait for the longest, of all or of one client; returns whether
    /// there was one.
    pub(crate) fn close_slowest(&self, short: Short, client: Option<&Arc<Client>>) -> bool {
        let flow = |activity: &Activity| -> Option<u64> {
            let flow: &Flow = match short {
                Short::Bodies => &activity.bodies,
                Short::Answers => &activity.answers,
            };
            let is_meant = client.is_none_or(|client| Arc::ptr_eq(client, &activity.client));
            if is_meant { flow.still_ms(activity.now_ms()) } else { None }
        };
        self.close_longest(GIVES_WAY_AFTER.as_millis() as u64, flow)
    }

    fn close_longest(&self, least_ms: u64, waited_ms: impl Fn(&Activity) -> Option<u64>) -> bool {
        let connections = self.connections();
        let candidates = connections.values().filter(|activity| !activity.is_to_close());
        let waited = candidates.filter_map(|activity| Some((waited_ms(activity)?, activity)));
        let longest =
            waited.filter(|(waited_ms, _)| *waited_ms >= least_ms).max_by_key(|(waited_ms, _)| *waited_ms);
        longest.is_some_and(|(_, activity)| activity.ask_to_close())
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u64, Arc<Activity>>> {
        self.connections.lock()
    }
}

/// A connection that is open.
pub(crate) struct Guest {
    crowd: Arc<Crowd>,
    number: u64,
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.crowd.connections().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use armilla_env::Env;

    use super::*;

    #[test]
    fn the_one_that_waited_longest_gives_way() {
        let (env, clock) = Env::simulated(1);
        let crowd = Arc::new(Crowd::default());
        let (one, other) = (Arc::new(Client::default()), Arc::new(Client::default()));
        let open = |client: &Arc<Client>| Arc::new(Activity::new(env.clock.clone(), client.clone()));
        let (first, second, busy) = (open(&one), open(&other), open(&one));
        let guests: Vec<Guest> = [&first, &second, &busy].map(|each| crowd.enter(each.clone())).into();
        let _request = busy.request();

        assert!(!crowd.close_idlest(), "all were busy a moment ago");
        clock.advance(IDLE_GIVES_WAY_AFTER);
        second.received();
        assert!(crowd.close_idlest());
        assert!(first.is_to_close() && !second.is_to_close() && !busy.is_to_close());
        assert!(!crowd.close_idlest(), "the second was busy a moment ago");
        clock.advance(IDLE_GIVES_WAY_AFTER);
        assert!(crowd.close_idlest() && second.is_to_close());
        assert!(!crowd.close_idlest(), "one with a request is not idle");

        busy.bodies.hold(1, busy.now_ms());
        clock.advance(GIVES_WAY_AFTER);
        assert!(!crowd.close_slowest(Short::Answers, None));
        assert!(!crowd.close_slowest(Short::Bodies, Some(&other)));
        assert!(crowd.close_slowest(Short::Bodies, Some(&one)) && busy.is_to_close());
        drop(guests);
        assert!(crowd.connections().is_empty());
    }
}
