//! `union`, `choose` and `repeat`: steps whose children see all traversers, not one at a time.

use armilla_gremlin_value::Value;

use super::context::Context;
use super::pipeline::{Input, Operator, Pipeline};
use super::traverser::{Batch, Traverser};
use crate::error::{MachineError, Result};
use crate::limits;
use crate::options::Dialect;
use crate::step::{Pick, Repeat, Step, Traversal, Until};

/// Gives a batch to children; returns what goes past them.
type Distribute<'a, 'p> = dyn FnMut(Batch, &mut [Pipeline<'p>], &mut Context<'p>) -> Result<Batch> + 'a;

/// Children fed from one input, drained one after the other.
struct Branches<'p> {
    pipelines: Vec<Pipeline<'p>>,
    has_barrier: bool,
    ended: bool,
    fed: bool,
    at: usize,
}

impl<'p> Branches<'p> {
    fn new<'a>(children: impl Iterator<Item = &'p Traversal>, origins: u32) -> Branches<'p>
    where
        'p: 'a,
    {
        let mut has_barrier = false;
        let pipelines = children
            .map(|child| {
                has_barrier |= child.has_barrier;
                Pipeline::new(child, origins)
            })
            .collect();
        Branches { pipelines, has_barrier, ended: false, fed: false, at: 0 }
    }

    fn next(
        &mut self,
        step: &'p Step,
        input: &mut Input<'_, 'p>,
        cx: &mut Context<'p>,
        distribute: &mut Distribute<'_, 'p>,
    ) -> Result<Option<Batch>> {
        loop {
            // With a barrier inside, children must have seen everything before they are asked.
            if !self.has_barrier || self.ended {
                while let Some(pipeline) = self.pipelines.get_mut(self.at) {
                    if !self.fed {
                        break;
                    }
                    match pipeline.next(cx)? {
                        Some(mut batch) => {
                            // What reduces answers for nothing too, which only those who came here ask for.
                            batch.retain(|traverser| pipeline.was_fed(traverser.origin));
                            batch.iter_mut().for_each(|traverser| traverser.label(&step.labels, cx.path));
                            if !batch.is_empty() {
                                return Ok(Some(batch));
                            }
                        }
                        None => self.at += 1,
                    }
                }
                if self.ended {
                    return Ok(None);
                }
            }
            match input.next(cx)? {
                Some(batch) => {
                    if !batch.is_empty() {
                        self.fed = true;
                    }
                    self.at = 0;
                    let mut through = distribute(batch, &mut self.pipelines, cx)?;
                    if !through.is_empty() {
                        through.iter_mut().for_each(|traverser| traverser.label(&step.labels, cx.path));
                        return Ok(Some(through));
                    }
                }
                None if self.has_barrier && !self.ended => {
                    self.ended = true;
                    self.at = 0;
                }
                None => return Ok(None),
            }
        }
    }

    fn restart(&mut self) {
        self.pipelines.iter_mut().for_each(Pipeline::restart);
        self.ended = false;
        self.fed = false;
        self.at = 0;
    }
}

pub(crate) struct UnionOperator<'p> {
    step: &'p Step,
    children: &'p [Traversal],
    branches: Option<Branches<'p>>,
}

impl<'p> UnionOperator<'p> {
    pub(crate) fn new(step: &'p Step, children: &'p [Traversal]) -> UnionOperator<'p> {
        UnionOperator { step, children, branches: None }
    }
}

impl<'p> Operator<'p> for UnionOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        let origins = input.origins;
        let branches = self.branches.get_or_insert_with(|| Branches::new(self.children.iter(), origins));
        branches.next(self.step, input, cx, &mut |batch, pipelines, _| {
            for pipeline in pipelines {
                pipeline.push(batch.clone());
            }
            Ok(Vec::new())
        })
    }

    fn restart(&mut self) {
        self.branches.iter_mut().for_each(Branches::restart);
    }
}

pub(crate) struct ChooseOperator<'p> {
    step: &'p Step,
    test: &'p Traversal,
    is_predicate: bool,
    options: &'p [(Pick, Traversal)],
    branches: Option<Branches<'p>>,
}

impl<'p> ChooseOperator<'p> {
    pub(crate) fn new(
        step: &'p Step,
        test: &'p Traversal,
        is_predicate: bool,
        options: &'p [(Pick, Traversal)],
    ) -> ChooseOperator<'p> {
        ChooseOperator { step, test, is_predicate, options, branches: None }
    }
}

impl<'p> Operator<'p> for ChooseOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        let origins = input.origins;
        let options = self.options;
        let branches = self
            .branches
            .get_or_insert_with(|| Branches::new(options.iter().map(|(_, child)| child), origins));
        let (test, is_predicate) = (self.test, self.is_predicate);
        let is_branch = self.step.name.as_ref() == "branch";
        branches.next(self.step, input, cx, &mut |batch, pipelines, cx| {
            distribute(batch, pipelines, cx, test, is_predicate, options, is_branch)
        })
    }

    fn restart(&mut self) {
        self.branches.iter_mut().for_each(Branches::restart);
    }
}

/// Gives each traverser to the branches that its test picks; returns those that go through.
fn distribute<'p>(
    batch: Batch,
    pipelines: &mut [Pipeline<'p>],
    cx: &mut Context<'p>,
    test: &'p Traversal,
    is_predicate: bool,
    options: &'p [(Pick, Traversal)],
    is_branch: bool,
) -> Result<Batch> {
    let results: Vec<Option<Value>> = if is_predicate {
        cx.tests(test, &batch)?.into_iter().map(|found| Some(Value::Bool(found))).collect()
    } else {
        cx.firsts(test, &batch)?.into_iter().map(|first| first.map(|first| first.value)).collect()
    };
    // Options that are traversals hold where they yield something for the result of the test.
    let mut held: Vec<Option<Vec<bool>>> = Vec::with_capacity(options.len());
    for (pick, _) in options {
        held.push(match pick {
            Pick::Child(child) => {
                let inputs: Batch = batch
                    .iter()
                    .zip(&results)
                    .map(|(traverser, result)| Traverser {
                        value: result.clone().unwrap_or(Value::Null),
                        ..traverser.clone()
                    })
                    .collect();
                Some(cx.tests(child, &inputs)?)
            }
            _ => None,
        });
    }
    let mut parts: Vec<Batch> = vec![Vec::new(); pipelines.len()];
    let mut through = Vec::new();
    for (at, (traverser, result)) in batch.into_iter().zip(results).enumerate() {
        let mut picked = false;
        for (place, (pick, _)) in options.iter().enumerate() {
            let holds = match (pick, &result) {
                (Pick::Any, Some(_)) => {
                    if let Some(part) = parts.get_mut(place) {
                        part.push(traverser.clone());
                    }
                    continue;
                }
                (Pick::Value(value), Some(result)) => value.equals(result),
                (Pick::Predicate(predicate), Some(result)) => predicate.test(result),
                (Pick::Child(_), Some(_)) => {
                    held.get(place).and_then(|held| held.as_ref()).and_then(|held| held.get(at))
                        == Some(&true)
                }
                (Pick::Unproductive, None) => true,
                _ => false,
            };
            // `choose` takes the first option that holds, `branch` all of them.
            if holds && (is_branch || !picked) {
                picked = true;
                if let Some(part) = parts.get_mut(place) {
                    part.push(traverser.clone());
                }
            }
        }
        if picked || (is_branch && options.iter().any(|(pick, _)| matches!(pick, Pick::Any))) {
            continue;
        }
        let any = options.iter().any(|(pick, _)| matches!(pick, Pick::Any)) && result.is_some();
        let none = options.iter().position(|(pick, _)| matches!(pick, Pick::None));
        // Where the test yields nothing there is nothing that no option would be picked for.
        let none =
            if result.is_some() || is_branch || cx.options.dialect != Dialect::Open { none } else { None };
        match none.and_then(|place| parts.get_mut(place)) {
            Some(part) => part.push(traverser),
            None if !any && !is_branch && cx.options.dialect == Dialect::Open => through.push(traverser),
            None => {}
        }
    }
    for (pipeline, part) in pipelines.iter_mut().zip(parts) {
        if !part.is_empty() {
            pipeline.push(part);
        }
    }
    Ok(through)
}

pub(crate) struct RepeatOperator<'p> {
    step: &'p Step,
    repeat: &'p Repeat,
    /// The traversers of the next round; results of the rounds so far that were not given on.
    ready: Batch,
    frontier: Batch,
    round: u32,
    body: Option<Pipeline<'p>>,
    gather: usize,
}

impl<'p> RepeatOperator<'p> {
    pub(crate) fn new(step: &'p Step, repeat: &'p Repeat) -> RepeatOperator<'p> {
        RepeatOperator {
            step,
            repeat,
            ready: Vec::new(),
            frontier: Vec::new(),
            round: 0,
            body: None,
            gather: limits::GATHER_MIN,
        }
    }

    /// Says for each traverser whether the end holds after some rounds.
    fn ends(&self, batch: &[Traverser], cx: &mut Context<'p>) -> Result<Vec<bool>> {
        match &self.repeat.until {
            None => Ok(vec![false; batch.len()]),
            Some(Until::Times(times)) => {
                Ok(vec![cx.loops.last().is_some_and(|(_, round)| round >= times); batch.len()])
            }
            Some(Until::Child(child)) => cx.tests(child, batch),
        }
    }

    fn emits(&self, batch: &[Traverser], cx: &mut Context<'p>) -> Result<Vec<bool>> {
        match &self.repeat.emit {
            None => Ok(vec![false; batch.len()]),
            Some(None) => Ok(vec![true; batch.len()]),
            Some(Some(child)) => cx.tests(child, batch),
        }
    }

    /// Moves those that end to the results.
    fn take_ends(&mut self, batch: Batch, cx: &mut Context<'p>) -> Result<Batch> {
        let ends = self.ends(&batch, cx)?;
        let mut rest = Vec::with_capacity(batch.len());
        for (traverser, ends) in batch.into_iter().zip(ends) {
            if ends {
                self.ready.push(traverser);
            } else {
                rest.push(traverser);
            }
        }
        Ok(rest)
    }

    fn take_emits(&mut self, batch: &[Traverser], cx: &mut Context<'p>) -> Result<()> {
        let emits = self.emits(batch, cx)?;
        let emitted =
            batch.iter().zip(emits).filter(|(_, emits)| *emits).map(|(traverser, _)| traverser.clone());
        self.ready.extend(emitted);
        Ok(())
    }

    /// Runs one round over the frontier.
    fn run_round(&mut self, origins: u32, cx: &mut Context<'p>) -> Result<()> {
        let mut frontier = std::mem::take(&mut self.frontier);
        if self.repeat.until_first && self.repeat.until.is_some() {
            frontier = self.take_ends(frontier, cx)?;
        }
        if self.repeat.emit_first && self.repeat.emit.is_some() {
            self.take_emits(&frontier, cx)?;
        }
        if frontier.is_empty() {
            return Ok(());
        }
        let max = cx.options.repeat_rounds_max;
        if self.round >= max {
            return Err(MachineError::runtime(format!(
                "repeat() went through more than {max} rounds: end it with times() or until()"
            )));
        }
        let Some(child) = &self.repeat.body else { return Ok(()) };
        let body = self.body.get_or_insert_with(|| Pipeline::new(child, origins));
        body.restart();
        body.push(frontier);
        let results = body.drain(cx)?;
        let results = if cx.one_bulk { results } else { super::ordering::merged(results, cx)? };
        self.round += 1;
        if let Some((_, round)) = cx.loops.last_mut() {
            *round = self.round;
        }
        let mut results = results;
        if !self.repeat.until_first && self.repeat.until.is_some() {
            results = self.take_ends(results, cx)?;
        }
        if !self.repeat.emit_first && self.repeat.emit.is_some() {
            self.take_emits(&results, cx)?;
        }
        // Nothing ends and nothing is emitted any more, so that going on would only take time.
        self.frontier = results;
        Ok(())
    }

    fn step(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        loop {
            if !self.ready.is_empty() {
                let mut batch = std::mem::take(&mut self.ready);
                batch.iter_mut().for_each(|traverser| traverser.label(&self.step.labels, cx.path));
                return Ok(Some(batch));
            }
            if self.frontier.is_empty() {
                self.round = 0;
                while self.frontier.len() < self.gather {
                    let Some(batch) = input.next(cx)? else { break };
                    self.frontier.extend(batch);
                }
                if self.frontier.is_empty() {
                    return Ok(None);
                }
                self.gather = super::lookup::next_gather(self.gather);
            }
            cx.graph.check()?;
            let bytes = 128 * self.frontier.len() as u64;
            cx.hold(bytes)?;
            cx.loops.push((self.repeat.label.clone(), self.round));
            let result = self.run_round(input.origins, cx);
            cx.loops.pop();
            cx.release(bytes);
            result?;
        }
    }
}

impl<'p> Operator<'p> for RepeatOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        self.step(input, cx).map_err(|error| error.at(&self.step.name, self.step.position))
    }

    fn restart(&mut self) {
        self.ready.clear();
        self.frontier.clear();
        self.round = 0;
        self.body = None;
    }
}
