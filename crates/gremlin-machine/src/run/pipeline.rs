//! Operators one behind the other; each asks the one before it for batches.
//!
//! An operator that is asked after its input ended answers none, and goes on if there is input again: so branches
//! are fed batch by batch. What waits for all of its input ends with the first none it sees, until `restart`.

use std::collections::VecDeque;

use super::context::Context;
use super::traverser::{Batch, FastSet};
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

    /// Says whether there is no operator before.
    pub(crate) fn is_fed_directly(&self) -> bool {
        self.operators.is_empty()
    }

    /// Returns all that is left of the input, and the bytes held for it, which the caller releases.
    pub(crate) fn all(&mut self, cx: &mut Context<'p>) -> Result<(Batch, u64)> {
        let mut all = Vec::new();
        let mut held = 0;
        while let Some(batch) = self.next(cx)? {
            held += cx.hold_batch(&batch)?;
            if all.is_empty() {
                all = batch;
            } else {
                all.extend(batch);
            }
        }
        Ok((all, held))
    }
}

pub(crate) struct Pipeline<'p> {
    operators: Vec<Box<dyn Operator<'p> + 'p>>,
    feed: VecDeque<Batch>,
    origins: u32,
    fed: bool,
    /// The origins that got input, where there are several.
    fed_origins: FastSet<u32>,
}

impl<'p> Pipeline<'p> {
    pub(crate) fn new(traversal: &'p Traversal, origins: u32) -> Pipeline<'p> {
        let mut operators: Vec<Box<dyn Operator<'p> + 'p>> = Vec::with_capacity(traversal.steps.len());
        let steps = traversal.steps.as_slice();
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            if traversal.singly == Some(at) {
                operators.push(Box::new(Singly::default()));
            }
            match super::operator(step) {
                Some(operator) => {
                    operators.push(operator);
                    at += 1;
                }
                None => {
                    let len =
                        steps.get(at..).unwrap_or_default().iter().take_while(|step| is_simple(step)).count();
                    // What goes on one by one does so from there on.
                    let end = traversal.singly.filter(|singly| *singly > at).unwrap_or(usize::MAX);
                    let len = len.max(1).min(end - at);
                    let run = steps.get(at..at + len).unwrap_or_default();
                    operators.push(Box::new(Simple { steps: run }));
                    at += len;
                }
            }
        }
        Pipeline { operators, feed: VecDeque::new(), origins, fed: false, fed_origins: FastSet::default() }
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
        Pipeline { operators, feed: VecDeque::new(), origins: 1, fed: false, fed_origins: FastSet::default() }
    }

    pub(crate) fn push(&mut self, batch: Batch) {
        self.fed = true;
        if self.origins > 1 {
            self.fed_origins.extend(batch.iter().map(|traverser| traverser.origin));
        }
        self.feed.push_back(batch);
    }

    /// Says whether an origin got any input.
    pub(crate) fn was_fed(&self, origin: u32) -> bool {
        self.fed && (self.origins <= 1 || self.fed_origins.contains(&origin))
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
        self.fed = false;
        self.fed_origins.clear();
        self.operators.iter_mut().for_each(|operator| operator.restart());
    }
}

fn is_simple(step: &Step) -> bool {
    super::operator(step).is_none() && !matches!(step.kind, Kind::Fail(_))
}

/// Gives traversers on one by one.
#[derive(Default)]
struct Singly {
    waiting: VecDeque<super::traverser::Traverser>,
}

impl<'p> Operator<'p> for Singly {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        while self.waiting.is_empty() {
            let Some(batch) = input.next(cx)? else { return Ok(None) };
            self.waiting.extend(batch);
        }
        Ok(self.waiting.pop_front().map(|mut first| {
            // Many that are one are given on as one each, too.
            if first.bulk > 1 {
                let mut rest = first.clone();
                rest.bulk -= 1;
                first.bulk = 1;
                self.waiting.push_front(rest);
            }
            vec![first]
        }))
    }

    fn restart(&mut self) {
        self.waiting.clear();
    }
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
