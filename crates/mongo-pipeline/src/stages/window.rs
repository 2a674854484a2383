//! `$setWindowFields`: values over the documents around each.
//!
//! Documents come out in order of their partitions, and in them in the order asked for.

mod frame;
mod functions;
mod parse;
mod sliding;

use std::sync::Arc;

use armilla_mongo_expression::{Environment, Error, Expression, Result, codes};
use armilla_mongo_filter::{Sort, SortKey};
use armilla_value::{Object, Value, mongo_cmp};

use crate::memory::{Budget, check_depth, object_bytes, value_bytes};
use crate::path::FieldPath;
use crate::run::{Context, deferred};
use crate::{Documents, Outside};

use frame::Window;
use functions::Function;

/// `$setWindowFields` as it was read.
#[derive(Debug, Clone)]
pub struct SetWindowFields {
    partition_by: Option<Expression>,
    sort_by: Option<SortBy>,
    outputs: Vec<Output>,
}

/// The order of documents in a partition.
#[derive(Debug, Clone)]
struct SortBy {
    sort: Sort,
    /// The value by which documents are ordered, if it is one.
    value: Option<Expression>,
}

#[derive(Debug, Clone)]
struct Output {
    path: FieldPath,
    function: Function,
    window: Window,
}

/// The documents of one partition, in order.
struct Partition<'a> {
    documents: &'a [Entry],
    sort_by: Option<&'a SortBy>,
    environment: &'a Environment,
    outside: &'a dyn Outside,
}

struct Entry {
    partition: Value,
    key: Option<SortKey>,
    document: Object,
}

impl Partition<'_> {
    fn len(&self) -> usize {
        self.documents.len()
    }

    /// Evaluates an expression over the document at an index.
    fn evaluate(&self, expression: &Expression, index: usize) -> Result<Option<Value>> {
        expression.evaluate(&self.documents[index].document, self.environment)
    }

    /// Returns the value by which the document at an index is ordered.
    fn sort_value(&self, index: usize) -> Result<Option<Value>> {
        match self.sort_by.and_then(|sort_by| sort_by.value.as_ref()) {
            Some(expression) => self.evaluate(expression, index),
            None => Ok(None),
        }
    }

    /// Says whether the documents at two indexes are equal in their order.
    fn is_peer(&self, left: usize, right: usize) -> bool {
        match (self.sort_by, &self.documents[left].key, &self.documents[right].key) {
            (Some(sort_by), Some(left), Some(right)) => sort_by.sort.compare(left, right).is_eq(),
            _ => true,
        }
    }
}

/// Runs it.
pub(crate) fn run(stage: Arc<SetWindowFields>, input: Documents, context: &Context) -> Documents {
    let (environment, outside) = (Arc::clone(&context.environment), Arc::clone(&context.outside));
    deferred(move || {
        let mut budget = Budget::new("$setWindowFields");
        let mut entries = gather(&stage, input, &environment, &mut budget)?;
        entries.sort_by(|left, right| {
            mongo_cmp(&left.partition, &right.partition).then_with(|| {
                match (&stage.sort_by, &left.key, &right.key) {
                    (Some(sort_by), Some(left), Some(right)) => sort_by.sort.compare(left, right),
                    _ => std::cmp::Ordering::Equal,
                }
            })
        });
        let mut entries = entries.into_iter().peekable();
        let partitions = std::iter::from_fn(move || {
            let first = entries.next()?;
            let mut partition = vec![first];
            while let Some(entry) =
                entries.next_if(|entry| mongo_cmp(&entry.partition, &partition[0].partition).is_eq())
            {
                partition.push(entry);
            }
            Some(partition)
        });
        Ok(Box::new(partitions.flat_map(move |partition| {
            match with_outputs(&stage, partition, &environment, &*outside, budget.clone()) {
                Ok(documents) => documents,
                Err(error) => vec![Err(error)],
            }
        })) as Documents)
    })
}

/// Computes what is asked for over a partition, and sets it.
fn with_outputs(
    stage: &SetWindowFields,
    documents: Vec<Entry>,
    environment: &Environment,
    outside: &dyn Outside,
    mut budget: Budget,
) -> Result<Vec<Result<Object>>> {
    let mut columns = Vec::with_capacity(stage.outputs.len());
    for output in &stage.outputs {
        let sort_by = stage.sort_by.as_ref();
        let partition = Partition { documents: &documents, sort_by, environment, outside };
        let mut column = Column { values: Vec::with_capacity(documents.len()), budget: &mut budget };
        output.function.evaluate(&partition, &output.window, &mut column)?;
        columns.push(column.values.into_iter());
    }
    let set = |mut document: Object| {
        for (output, column) in stage.outputs.iter().zip(&mut columns) {
            if let Some(value) = column.next() {
                output.path.set(&mut document, value);
            }
        }
        Ok(document)
    };
    Ok(documents.into_iter().map(|entry| entry.document).map(set).collect())
}

/// The values of one function for the documents of a partition.
struct Column<'a> {
    values: Vec<Value>,
    budget: &'a mut Budget,
}

impl Column<'_> {
    fn push(&mut self, value: Value) -> Result<()> {
        check_depth(&value)?;
        self.budget.take(value_bytes(&value))?;
        self.values.push(value);
        Ok(())
    }
}

fn gather(
    stage: &SetWindowFields,
    input: Documents,
    environment: &Environment,
    budget: &mut Budget,
) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for document in input {
        let document = document?;
        let partition = match &stage.partition_by {
            None => Value::Null,
            Some(expression) => expression.evaluate(&document, environment)?.unwrap_or(Value::Null),
        };
        if let Value::Array(_) = partition {
            return Err(Error::new(
                codes::TYPE_MISMATCH,
                "An expression used to partition cannot evaluate to value of type array",
            ));
        }
        let key = stage.sort_by.as_ref().map(|sort_by| sort_by.sort.key(&document)).transpose()?;
        let key_bytes = key.as_ref().map_or(0, |key| key.0.iter().map(value_bytes).sum());
        budget.take(object_bytes(&document) + value_bytes(&partition) + key_bytes + size_of::<Entry>())?;
        entries.push(Entry { partition, key, document });
    }
    Ok(entries)
}
