//! Operators one behind the other; each asks the one before it for batches.
//!
//! An operator that is asked after its input ended answers none, and goes on if there is input again: so branches
//! are fed batch by batch. What waits for all of its input ends with the first none it sees, until `restart`.

use std::collections::VecDeque;

use super::context::Context;
use super::traverser::Batch;
use crate::error::Result;
use crate::step::{Kind, Step, Traversal};

pub(crate) trait Operator<'p> {
    /// Returns the next batch, which may be empty; none if there is no input now.
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>>;

    /// Begins again, as for the next round of a repeat.
    fn restart(&mut self) {}

    /// Says that it will give nothing on any more, whatever comes.
    fn is_done(&self) -> bool {
        false
    }
}

/// What is before an operator.
pub(crate) struct Input<'a, 'p> {
    operators: &'a mut [Box<dyn Operator<'p> + 'p>],
    feed: &'a mut VecDeque<Batch>,
    /// How many inputs a local child has; one in the traversal itself.
    pub(crate) origins: u32,
    /// Whether the pipeline got any input.
    pub(crate) fed: bool,
}

impl<'p> Input<'_, 'p> {
    pub(crate) fn next(&mut self, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        match self.operators.split_last_mut() {
            None => Ok(self.feed.pop_front()),
            Some((last, rest)) => {
                let mut input =
                    Input { operators: rest, feed: self.feed, origins: self.origins, fed: self.fed };
                let batch = last.next(&mut input, cx)?;
                if let Some(batch) = &batch {
                    cx.bound(batch)?;
                }
                Ok(batch)
            }
        }
    }

    /// Returns all that is left of the input.
    pub(crate) fn all(&mut self, cx: &mut Context<'p>) -> Result<Batch> {
        let mut all = Vec::new();
        while let Some(batch) = self.next(cx)? {
            cx.hold_batch(&batch)?;
            if all.is_empty() {
                all = batch;
            } else {
                all.extend(batch);
            }
        }
        Ok(all)
    }
}

pub(crate) struct Pipeline<'p> {
    operators: Vec<Box<dyn Operator<'p> + 'p>>,
    feed: VecDeque<Batch>,
    origins: u32,
    fed: bool,
}

impl<'p> Pipeline<'p> {
    pub(crate) fn new(traversal: &'p Traversal, origins: u32) -> Pipeline<'p> {
        let mut operators: Vec<Box<dyn Operator<'p> + 'p>> = Vec::with_capacity(traversal.steps.len());
        let steps = traversal.steps.as_slice();
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            match super::operator(step) {
                Some(operator) => {
                    operators.push(operator);
                    at += 1;
                }
                None => {
                    let len =
                        steps.get(at..).unwrap_or_default().iter().take_while(|step| is_simple(step)).count();
                    let len = len.max(1);
                    let run = steps.get(at..at + len).unwrap_or_default();
                    operators.push(Box::new(Simple { steps: run }));
                    at += len;
                }
            }
        }
        Pipeline { operators, feed: VecDeque::new(), origins, fed: false }
    }

    /// Makes a pipeline whose operators are watched one by one.
    pub(crate) fn watched(traversal: &'p Traversal, watch: super::profile::Watch) -> Pipeline<'p> {
        let mut operators: Vec<Box<dyn Operator<'p> + 'p>> = Vec::with_capacity(traversal.steps.len());
        for (at, step) in traversal.steps.iter().enumerate() {
            let operator: Box<dyn Operator<'p> + 'p> = match super::operator(step) {
                Some(operator) => operator,
                None => Box::new(Simple { steps: std::slice::from_ref(step) }),
            };
            operators.push(Box::new(super::profile::Watched::new(operator, at, watch.clone())));
        }
        Pipeline { operators, feed: VecDeque::new(), origins: 1, fed: false }
    }

    pub(crate) fn push(&mut self, batch: Batch) {
        self.fed = true;
        self.feed.push_back(batch);
    }

    pub(crate) fn next(&mut self, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        let mut input = Input {
            operators: &mut self.operators,
            feed: &mut self.feed,
            origins: self.origins,
            fed: self.fed,
        };
        input.next(cx)
    }

    /// Returns all batches as one.
    pub(crate) fn drain(&mut self, cx: &mut Context<'p>) -> Result<Batch> {
        let mut all = Vec::new();
        let mut held = 0;
        while let Some(batch) = self.next(cx)? {
            let bytes = 128 * batch.len() as u64;
            cx.hold(bytes)?;
            held += bytes;
            if all.is_empty() {
                all = batch;
            } else {
                all.extend(batch);
            }
        }
        cx.release(held);
        Ok(all)
    }

    pub(crate) fn restart(&mut self) {
        self.feed.clear();
        self.operators.iter_mut().for_each(|operator| operator.restart());
    }
}

fn is_simple(step: &Step) -> bool {
    super::operator(step).is_none() && !matches!(step.kind, Kind::Fail(_))
}

/// Steps that look at one batch at a time.
struct Simple<'p> {
    steps: &'p [Step],
}

impl<'p> Operator<'p> for Simple<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        loop {
            let Some(mut batch) = input.next(cx)? else { return Ok(None) };
            cx.graph.check()?;
            for step in self.steps {
                if batch.is_empty() {
                    break;
                }
                batch = super::simple::apply(step, batch, cx)
                    .and_then(|batch| cx.bound(&batch).map(|()| batch))
                    .map_err(|error| error.at(&step.name, step.position))?;
            }
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
    }
}
