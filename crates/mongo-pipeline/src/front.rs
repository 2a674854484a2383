//! The front of a pipeline: what a store can do itself, with its indexes and without reading more than it must.

use std::sync::Arc;

use armilla_mongo_filter::{Condition, Filter, Sort};
use armilla_value::{Object, Value};

use crate::dependencies::needed_fields;
use crate::{Pipeline, Stage};

/// A pipeline in two: what a store does, in this order, and the rest.
#[derive(Debug, Clone, Default)]
pub struct Front {
    /// What the documents must satisfy.
    pub filter: Option<Arc<Filter>>,
    /// In which order they come.
    pub sort: Option<Sort>,
    /// How many of the first are left out.
    pub skip: u64,
    /// How many there are at most, after those left out; zero is none at all.
    pub limit: Option<u64>,
    /// Whether only the number of them matters; the rest then runs over the one document that says it.
    pub count_as: Option<CountAs>,
    /// The stages after that.
    pub rest: Pipeline,
    /// The top-level fields of documents that the rest looks at, if it can be told that it looks at no others. Those
    /// of the filter and of the order are not among them.
    pub needed_fields: Option<Vec<String>>,
}

impl Pipeline {
    /// Takes off the front what a store can do itself.
    pub fn split_front(&self) -> Front {
        let mut front = Front::default();
        let mut taken = 0;
        // An order does not change which documents match, so filters after it go before it.
        while let Some(stage) = self.stages.get(taken) {
            match stage {
                Stage::Match(filter) => {
                    front.filter = Some(match front.filter.take() {
                        None => Arc::clone(filter),
                        Some(first) => Arc::new(both(&first, filter)),
                    });
                }
                Stage::Sort(sort) if front.sort.is_none() => front.sort = Some(sort.clone()),
                _ => break,
            }
            taken += 1;
        }
        while let Some(stage) = self.stages.get(taken) {
            // What is skipped is skipped of what the limit left, so the limit shrinks by it.
            match stage {
                Stage::Skip(count) => {
                    let Some(skip) = front.skip.checked_add(*count) else { break };
                    front.skip = skip;
                    front.limit = front.limit.map(|limit| limit.saturating_sub(*count));
                }
                Stage::Limit(count) => {
                    front.limit = Some(front.limit.map_or(*count, |limit| limit.min(*count)));
                }
                _ => break,
            }
            taken += 1;
        }
        front.count_as = match self.stages.get(taken) {
            Some(Stage::Count(field)) => Some(CountAs::field(field.clone())),
            Some(Stage::Group(group)) => group.count_as.clone(),
            _ => None,
        };
        if front.count_as.is_some() {
            taken += 1;
            // Their order does not change how many there are.
            front.sort = None;
            front.needed_fields = Some(Vec::new());
        } else {
            front.needed_fields = needed_fields(&self.needs[taken.min(self.needs.len())..]);
        }
        front.rest = self.from_stage(taken);
        front
    }

    /// Takes off the end the stage that writes, if there is one.
    pub fn split_output(&self) -> (Pipeline, Option<Stage>) {
        match self.stages.last() {
            Some(stage) if stage.writes() => {
                let count = self.stages.len() - 1;
                let before = Pipeline {
                    stages: self.stages[..count].to_vec(),
                    needs: self.needs[..count.min(self.needs.len())].to_vec(),
                };
                (before, Some(stage.clone()))
            }
            _ => (self.clone(), None),
        }
    }

    /// Returns the stages from one on.
    pub fn from_stage(&self, index: usize) -> Pipeline {
        Pipeline {
            stages: self.stages[index.min(self.stages.len())..].to_vec(),
            needs: self.needs[index.min(self.needs.len())..].to_vec(),
        }
    }

    /// Returns the collections that the pipeline reads besides its own, those of its inner pipelines too: databases
    /// where they are named, and collections.
    pub fn collections(&self) -> Vec<(Option<&str>, &str)> {
        let mut found = Vec::new();
        self.gather_collections(&mut found);
        found
    }

    fn gather_collections<'a>(&'a self, found: &mut Vec<(Option<&'a str>, &'a str)>) {
        for stage in &self.stages {
            match stage {
                Stage::Lookup(lookup) => {
                    if let Some(collection) = &lookup.collection {
                        found.push((lookup.database.as_deref(), collection));
                    }
                    if let Some(pipeline) = lookup.pipeline() {
                        pipeline.gather_collections(found);
                    }
                }
                Stage::GraphLookup(lookup) => found.push((None, &lookup.collection)),
                Stage::UnionWith(union) => {
                    if let Some(collection) = &union.collection {
                        found.push((None, collection));
                    }
                    union.pipeline.gather_collections(found);
                }
                Stage::Facet(facets) => {
                    facets.iter().for_each(|(_, pipeline)| pipeline.gather_collections(found));
                }
                _ => {}
            }
        }
    }
}

/// Joins two filters.
fn both(left: &Filter, right: &Filter) -> Filter {
    let mut conditions = Vec::new();
    for filter in [left, right] {
        match &filter.root {
            Condition::And(inner) => conditions.extend(inner.iter().cloned()),
            other => conditions.push(other.clone()),
        }
    }
    Filter { root: Condition::And(conditions) }
}

/// The document that tells a count.
#[derive(Debug, Clone, PartialEq)]
pub struct CountAs {
    /// The `_id` of the document, if it has one.
    pub id: Option<Value>,
    /// The field of the count.
    pub field: String,
    /// The number that was summed, which says the type of the count.
    unit: Value,
}

impl CountAs {
    /// The document of `$count`.
    pub(crate) fn field(field: String) -> CountAs {
        CountAs { id: None, field, unit: Value::Int32(1) }
    }

    /// The document of a `$group` whose key is a constant, if the one accumulator it has counts.
    pub(crate) fn group(id: &Value, field: &str, accumulator: &Value) -> Option<CountAs> {
        let (name, argument) = accumulator.as_object()?.iter().next()?;
        let unit = match (name, argument) {
            ("$sum", Value::Int32(1) | Value::Int64(1)) => argument.clone(),
            ("$sum", Value::Double(1.0)) => argument.clone(),
            ("$count", Value::Object(none)) if none.is_empty() => Value::Int32(1),
            _ => return None,
        };
        Some(CountAs { id: Some(id.clone()), field: field.to_owned(), unit })
    }

    /// Returns the document of a count; of nothing there is none.
    pub fn document(&self, count: u64) -> Option<Object> {
        if count == 0 {
            return None;
        }
        let count = match (&self.unit, i32::try_from(count)) {
            (Value::Double(_), _) => Value::Double(count as f64),
            (Value::Int32(_), Ok(count)) => Value::Int32(count),
            _ => Value::Int64(i64::try_from(count).unwrap_or(i64::MAX)),
        };
        let id = self.id.iter().map(|id| ("_id".to_owned(), id.clone()));
        Some(id.chain([(self.field.clone(), count)]).collect())
    }
}
