//! The other side of a join: documents of another collection, found by the values at a path.
//!
//! Where the collection narrows by the path, documents are asked for by values, many at a time. Where it does not,
//! it is read once and kept as a whole, if that fits the memory of a join.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use armilla_mongo_expression::{Result, Scope};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use crate::canonical;
use crate::limits::FOREIGN_BYTES_MAX;
use crate::memory::object_bytes;
use crate::path::FieldPath;
use crate::run::Context;

/// A collection to be joined.
pub(crate) struct Foreign {
    context: Context,
    database: Option<String>,
    collection: String,
    path: FieldPath,
    /// Whether null finds documents in which nothing is at the path.
    null_finds_missing: bool,
    held: Held,
    state: State,
    bytes_max: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not asked for anything yet.
    New,
    /// All documents are held.
    Whole,
    /// The documents of some values are held.
    Partial,
}

/// Documents that are held, by their values at the path.
#[derive(Default)]
struct Held {
    documents: Vec<Arc<Object>>,
    by_value: HashMap<Vec<u8>, Vec<usize>>,
    bytes: usize,
}

impl Foreign {
    /// Names the collection and the path.
    pub(crate) fn new(
        context: &Context,
        database: Option<&str>,
        collection: &str,
        path: &FieldPath,
        null_finds_missing: bool,
    ) -> Foreign {
        Foreign {
            context: context.clone(),
            database: database.map(str::to_owned),
            collection: collection.to_owned(),
            path: path.clone(),
            null_finds_missing,
            held: Held::default(),
            state: State::New,
            bytes_max: FOREIGN_BYTES_MAX,
        }
    }

    /// Gets the documents that have one of these values. Says whether they fit; if not, ask for fewer.
    pub(crate) fn prepare(&mut self, values: &[Value]) -> Result<bool> {
        if self.state == State::Whole {
            return Ok(true);
        }
        if self.state == State::New {
            self.state = State::Partial;
            let narrows = self.context.outside.narrows_by(
                self.database.as_deref(),
                &self.collection,
                self.path.as_str(),
            );
            if !narrows && self.load(None, None)? {
                self.state = State::Whole;
                return Ok(true);
            }
        }
        let mut wanted = HashSet::with_capacity(values.len());
        let distinct: Vec<Value> =
            values.iter().filter(|value| wanted.insert(canonical::bytes(value))).cloned().collect();
        let filter = narrowing(&self.path, distinct)?;
        self.load(filter.as_ref(), Some(&wanted))
    }

    /// Returns the documents that have one of these values, for which it was prepared, in their order.
    pub(crate) fn find(&self, values: &[Value]) -> Vec<Arc<Object>> {
        let mut positions: Vec<usize> = Vec::new();
        let mut bytes = Vec::new();
        for value in values {
            bytes.clear();
            canonical::encode(value, &mut bytes);
            positions.extend(self.held.by_value.get(&bytes).into_iter().flatten());
        }
        if values.len() > 1 {
            positions.sort_unstable();
            positions.dedup();
        }
        positions.into_iter().map(|position| Arc::clone(&self.held.documents[position])).collect()
    }

    /// Reads documents, all or those with the values wanted; says whether they fit.
    fn load(&mut self, filter: Option<&Filter>, wanted: Option<&HashSet<Vec<u8>>>) -> Result<bool> {
        self.held = Held::default();
        let documents = self.context.outside.documents(self.database.as_deref(), &self.collection, filter)?;
        for document in documents {
            let document = document?;
            let mut keys: Vec<Vec<u8>> = Vec::new();
            self.path.matching_values(&document, &mut |value| {
                if value.is_none() && !self.null_finds_missing {
                    return;
                }
                let key = canonical::bytes(value.unwrap_or(&Value::Null));
                if wanted.is_none_or(|wanted| wanted.contains(&key)) && !keys.contains(&key) {
                    keys.push(key);
                }
            });
            if keys.is_empty() {
                continue;
            }
            self.held.bytes += object_bytes(&document) + keys.iter().map(|key| key.len() + 64).sum::<usize>();
            if self.held.bytes > self.bytes_max {
                self.held = Held::default();
                return Ok(false);
            }
            for key in keys {
                self.held.by_value.entry(key).or_default().push(self.held.documents.len());
            }
            self.held.documents.push(Arc::new(document));
        }
        Ok(true)
    }
}

/// Makes the filter that narrows to values, unless one of them would mean something else in a filter.
fn narrowing(path: &FieldPath, values: Vec<Value>) -> Result<Option<Filter>> {
    let is_plain = |value: &Value| match value {
        // Filters refuse to be asked for undefined.
        Value::Regex { .. } | Value::Legacy(_) => false,
        Value::Object(object) => !object.iter().any(|(name, _)| name.starts_with('$')),
        _ => true,
    };
    if !values.iter().all(is_plain) {
        return Ok(None);
    }
    let condition = Object::from([("$in", Value::Array(values))]);
    Filter::parse(&Object::from([(path.as_str(), condition)]), &Scope::default()).map(Some)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Foreign;
    use crate::path::FieldPath;
    use crate::run::Context;
    use crate::testing::{Memory, objects};
    use armilla_mongo_expression::Environment;
    use armilla_value::Value;

    #[test]
    fn what_does_not_fit_is_asked_for_in_parts() {
        for narrows in [false, true] {
            let documents =
                (0..100).map(|n| format!("{{'_id':{n},'a':{}}}", n % 10)).collect::<Vec<_>>().join(",");
            let collections = [("c".to_owned(), objects(&format!("[{documents}]")))].into();
            let context = Context {
                environment: Arc::new(Environment::default()),
                outside: Arc::new(Memory { collections, narrows }),
            };
            let mut foreign = Foreign::new(&context, None, "c", &FieldPath::parse("a").unwrap(), true);
            foreign.bytes_max = 4000;
            let all: Vec<Value> = (0..10).map(Value::Int64).collect();
            assert!(!foreign.prepare(&all).unwrap());
            for value in &all {
                let value = std::slice::from_ref(value);
                assert!(foreign.prepare(value).unwrap());
                assert_eq!(foreign.find(value).len(), 10);
            }
            assert!(foreign.find(&all[..3]).is_empty());
        }
    }
}
