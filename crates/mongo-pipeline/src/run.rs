//! Running stages: each is an iterator over the documents of the one before.

use std::sync::Arc;

use armilla_mongo_expression::{Environment, Result};
use armilla_mongo_filter::Matched;
use armilla_value::{Object, Value};

use crate::limits::CHECK_EVERY_DOCUMENTS;
use crate::stages::{
    bucket_auto, densify, documents, facet, geo_near, graph_lookup, group, lookup, redact, replace_root,
    sample, sort, union_with, unwind, window,
};
use crate::{Documents, Outside, Pipeline, Stage};

/// What all stages of a run see.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) environment: Arc<Environment>,
    pub(crate) outside: Arc<dyn Outside>,
}

impl Context {
    /// Returns the same with more variables.
    pub(crate) fn with_variables(&self, variables: Vec<(String, Option<Value>)>) -> Context {
        let mut environment = Environment::clone(&self.environment);
        for (name, value) in variables {
            match value {
                Some(value) => {
                    environment.variables.insert(name, value);
                }
                // A missing value hides a variable of the same name further out.
                None => {
                    environment.variables.remove(&name);
                }
            }
        }
        Context { environment: Arc::new(environment), outside: Arc::clone(&self.outside) }
    }
}

impl Pipeline {
    /// Runs the stages over documents.
    ///
    /// Stages that are the caller's pass documents through.
    pub fn run(
        &self,
        input: Documents,
        environment: Arc<Environment>,
        outside: Arc<dyn Outside>,
    ) -> Result<Documents> {
        run_stages(&self.stages, input, &Context { environment, outside })
    }
}

/// Runs stages over documents.
pub(crate) fn run_stages(stages: &[Stage], input: Documents, context: &Context) -> Result<Documents> {
    let mut documents = input;
    for (index, stage) in stages.iter().enumerate() {
        documents = checked(documents, context);
        documents = match stage {
            Stage::Sort(sort) => sort::run(sort.clone(), kept_after_sort(&stages[index + 1..]), documents),
            stage => run_stage(stage, documents, context)?,
        };
    }
    Ok(documents)
}

/// Asks now and then whether to go on, however many documents a stage takes before it gives one.
fn checked(input: Documents, context: &Context) -> Documents {
    let outside = Arc::clone(&context.outside);
    let mut count = 0_u32;
    Box::new(input.map(move |document| {
        count = count.wrapping_add(1);
        if count.is_multiple_of(CHECK_EVERY_DOCUMENTS) {
            outside.check()?;
        }
        document
    }))
}

/// Returns how many documents of an order the stages after it look at.
fn kept_after_sort(stages: &[Stage]) -> Option<u64> {
    let mut skipped = 0u64;
    for stage in stages {
        match stage {
            Stage::Skip(count) => skipped = skipped.checked_add(*count)?,
            Stage::Limit(count) => return skipped.checked_add(*count),
            _ => return None,
        }
    }
    None
}

fn run_stage(stage: &Stage, input: Documents, context: &Context) -> Result<Documents> {
    Ok(match stage {
        Stage::Match(filter) => {
            let (filter, environment) = (Arc::clone(filter), Arc::clone(&context.environment));
            Box::new(input.filter_map(move |document| match document {
                Ok(document) => match filter.matches(&document, &environment) {
                    Ok(true) => Some(Ok(document)),
                    Ok(false) => None,
                    Err(error) => Some(Err(error)),
                },
                Err(error) => Some(Err(error)),
            }))
        }
        Stage::Project(projection) => {
            let (projection, environment) = (Arc::clone(projection), Arc::clone(&context.environment));
            each(input, move |document| projection.apply(&document, &Matched::default(), &environment))
        }
        Stage::AddFields(fields) => {
            let (fields, environment) = (Arc::clone(fields), Arc::clone(&context.environment));
            each(input, move |document| fields.apply(&document, &environment))
        }
        Stage::Group(group) => group::run(Arc::clone(group), input, context),
        Stage::Sort(sort) => sort::run(sort.clone(), None, input),
        Stage::Limit(count) => Box::new(input.take(usize::try_from(*count).unwrap_or(usize::MAX))),
        Stage::Skip(count) => skip(*count, input),
        Stage::Count(field) => group::count(field.clone(), input),
        Stage::Unwind(unwind) => unwind::run(Arc::clone(unwind), input),
        Stage::Lookup(lookup) => lookup::run(Arc::clone(lookup), input, context),
        Stage::ReplaceRoot(root) => replace_root::run(Arc::clone(root), input, context),
        Stage::Facet(facets) => facet::run(Arc::clone(facets), input, context),
        Stage::Sample(count) => sample::run(*count, input, context),
        Stage::BucketAuto(buckets) => bucket_auto::run(Arc::clone(buckets), input, context),
        Stage::UnionWith(union) => union_with::run(Arc::clone(union), input, context),
        Stage::Redact(expression) => redact::run(Arc::clone(expression), input, context),
        Stage::Documents(expression) => documents::run(expression, context)?,
        Stage::GraphLookup(lookup) => graph_lookup::run(Arc::clone(lookup), input, context),
        Stage::SetWindowFields(windows) => window::run(Arc::clone(windows), input, context),
        Stage::Densify(densify) => densify::run(Arc::clone(densify), input),
        Stage::GeoNear(near) => geo_near::run(Arc::clone(near), input, context)?,
        Stage::Out(_)
        | Stage::Merge(_)
        | Stage::ChangeStream(_)
        | Stage::CollStats(_)
        | Stage::IndexStats
        | Stage::CurrentOp(_)
        | Stage::ListLocalSessions(_)
        | Stage::ListSessions(_)
        | Stage::PlanCacheStats
        | Stage::ChangeStreamSplitLargeEvent => input,
    })
}

/// Makes one document of each.
pub(crate) fn each(
    input: Documents,
    mut make: impl FnMut(Object) -> Result<Object> + Send + 'static,
) -> Documents {
    Box::new(input.map(move |document| make(document?)))
}

/// Begins only when the first document is asked for.
pub(crate) fn deferred(begin: impl FnOnce() -> Result<Documents> + Send + 'static) -> Documents {
    let mut begin = Some(begin);
    let mut begun: Option<Documents> = None;
    Box::new(std::iter::from_fn(move || {
        if let Some(begin) = begin.take() {
            match begin() {
                Ok(documents) => begun = Some(documents),
                Err(error) => return Some(Err(error)),
            }
        }
        begun.as_mut()?.next()
    }))
}

/// Leaves the first documents out, but not failures.
fn skip(count: u64, input: Documents) -> Documents {
    let mut left = count;
    Box::new(input.filter(move |document| {
        if left > 0 && document.is_ok() {
            left -= 1;
            return false;
        }
        true
    }))
}
