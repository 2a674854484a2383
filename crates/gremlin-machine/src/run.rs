//! Runs compiled steps over a graph, in batches of traversers.

mod adjacent;
mod branch;
mod context;
mod elements;
mod execution;
mod group;
mod guard;
mod lists;
mod lookup;
mod matches;
mod merge;
mod mutate;
mod ordering;
mod pipeline;
mod profile;
mod reduce;
mod select;
mod side;
mod simple;
mod texts;
mod traverser;
mod values;

pub use execution::{Answer, Execution};

use crate::step::{Kind, Step};
use pipeline::Operator;

/// Makes the operator of a step that keeps something between batches; none if it does not.
fn operator<'p>(step: &'p Step) -> Option<Box<dyn Operator<'p> + 'p>> {
    Some(match &step.kind {
        Kind::Lookup(lookup) => Box::new(lookup::LookupOperator::new(step, lookup)),
        Kind::Adjacent(adjacent) => Box::new(adjacent::AdjacentOperator::new(step, adjacent)),
        Kind::Reduce(reduction) => Box::new(reduce::ReduceOperator::new(step, reduction)),
        Kind::Range { low, high } => Box::new(ordering::RangeOperator::new(step, *low, *high)),
        Kind::Tail(amount) => Box::new(ordering::TailOperator::new(step, *amount)),
        Kind::Sample { amount, by } => Box::new(ordering::SampleOperator::new(step, *amount, by.as_ref())),
        Kind::Dedup { labels, bys } => Box::new(ordering::DedupOperator::new(step, labels, bys)),
        Kind::Order(bys) => Box::new(ordering::OrderOperator::new(step, bys)),
        Kind::Barrier { normalise_sacks, size } => {
            Box::new(ordering::BarrierOperator::new(step, *normalise_sacks, *size))
        }
        Kind::Group { key: None, bys } => Box::new(group::GroupOperator::new(step, bys, false)),
        Kind::GroupCount { key: None, bys } => Box::new(group::GroupOperator::new(step, bys, true)),
        Kind::Tree { key: None, bys } => Box::new(side::TreeOperator::new(step, bys)),
        Kind::Group { .. } | Kind::GroupCount { .. } | Kind::Tree { .. } => {
            Box::new(side::CollectOperator::new(step))
        }
        Kind::Union { children } => Box::new(branch::UnionOperator::new(step, children)),
        Kind::Choose { test, is_predicate, options } => {
            Box::new(branch::ChooseOperator::new(step, test, *is_predicate, options))
        }
        Kind::Repeat(repeat) => Box::new(branch::RepeatOperator::new(step, repeat)),
        Kind::Aggregate { key, by, lazy: false, .. } => Box::new(side::AggregateOperator::new(step, key, by)),
        Kind::Cap(keys) => Box::new(side::CapOperator::new(step, keys)),
        Kind::Inject { values, start } => Box::new(side::InjectOperator::new(step, values, *start)),
        Kind::TimeLimit(milliseconds) => Box::new(side::TimeLimitOperator::new(*milliseconds)),
        Kind::Fail(message) => Box::new(side::FailOperator { message: message.as_ref() }),
        _ => return None,
    })
}
