//! What happens to collections besides writes, for change streams that want to know (`showExpandedEvents`): they are made,
//! get and lose indexes, are modified, get a shard key.
//!
//! The last of them are remembered in memory with their moments, and streams put them between the changes of documents.
//!
//! Invariant: a moment is given and noted under one lock, so that who has read the clock before the list has all up to
//! that moment.
//!
//! Not here: drops and renames, which end streams (`changes`). Nothing of this outlives the process: a stream that is
//! resumed after a restart has the changes of documents alone.

use std::collections::VecDeque;

use armilla_value::{Object, Value};
use parking_lot::Mutex;

use crate::cluster_time::{ClusterClock, ClusterTime};
use crate::limits::SCHEMA_CHANGES_MAX;
use crate::namespace::Namespace;

/// The event of a collection that was made.
pub(crate) const CREATE: &str = "create";

/// Something that happened to a collection.
#[derive(Debug, Clone)]
pub(crate) struct SchemaChange {
    pub(crate) at: ClusterTime,
    pub(crate) namespace: Namespace,
    /// The name of the event.
    pub(crate) operation: &'static str,
    /// What is told of it.
    pub(crate) description: Object,
}

/// The last of them, in the order of their moments.
#[derive(Default)]
pub(crate) struct SchemaChanges {
    last: Mutex<VecDeque<SchemaChange>>,
}

impl SchemaChanges {
    /// Notes that something happened.
    pub(crate) fn note(
        &self,
        clock: &ClusterClock,
        namespace: &Namespace,
        operation: &'static str,
        description: Object,
    ) {
        let mut last = self.last.lock();
        if last.len() >= SCHEMA_CHANGES_MAX {
            last.pop_front();
        }
        let at = clock.tick();
        last.push_back(SchemaChange { at, namespace: namespace.clone(), operation, description });
    }

    /// Returns the first one after a moment that a test is true for.
    pub(crate) fn after(
        &self,
        moment: ClusterTime,
        test: impl Fn(&Namespace) -> bool,
    ) -> Option<SchemaChange> {
        let last = self.last.lock();
        let begin = last.partition_point(|change| change.at <= moment);
        last.range(begin..).find(|change| test(&change.namespace)).cloned()
    }
}

impl SchemaChanges {
    /// Says whether a collection was made after a moment.
    pub(crate) fn is_made_after(&self, moment: ClusterTime, namespace: &Namespace) -> bool {
        let last = self.last.lock();
        let begin = last.partition_point(|change| change.at <= moment);
        last.range(begin..).any(|change| change.operation == CREATE && change.namespace == *namespace)
    }
}

/// Returns what a command that was done has changed besides documents: the name of the event and what it tells.
pub(crate) fn of_command(name: &str, command: &Object, reply: &Object) -> Option<(&'static str, Object)> {
    let member = |name: &str| command.get(name).cloned();
    match name {
        "createIndexes" if !reply.contains("note") => {
            Some(("createIndexes", Object::from([("indexes", member("indexes")?)])))
        }
        "dropIndexes" | "deleteIndexes" => {
            let dropped = match member("index")? {
                Value::Array(names) => names,
                one => vec![one],
            };
            let dropped = dropped.into_iter().map(|index| match index {
                Value::Object(key) => Value::Object(Object::from([("key", Value::Object(key))])),
                name => Value::Object(Object::from([("name", name)])),
            });
            Some(("dropIndexes", Object::from([("indexes", Value::Array(dropped.collect()))])))
        }
        "collMod" => {
            let changed = ["index", "validator", "validationLevel", "validationAction", "viewOn", "pipeline"];
            let changed = changed.into_iter().filter_map(|name| Some((name.to_owned(), member(name)?)));
            Some(("modify", changed.collect()))
        }
        "shardCollection" => Some(("shardCollection", Object::from([("shardKey", member("key")?)]))),
        _ => None,
    }
}

#[cfg(test)]
#[path = "schema_changes_tests.rs"]
mod tests;
