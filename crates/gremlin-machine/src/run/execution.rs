//! A traversal that runs: results in batches, and the end of it told to the graph once.

use std::sync::Arc;

use armilla_gremlin_value::{Key, Map, Path, Value};

use super::context::Context;
use super::pipeline::Pipeline;
use super::profile::{self, Watch};
use super::traverser::{FastSet, Traverser};
use crate::compile::{Plan, Terminal};
use crate::error::{MachineError, Result};
use crate::graph::{Begin, Graph, Outcome};
use crate::options::Options;
use crate::step::Argument;

/// A result, and how many of it there are.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The result.
    pub value: Value,
    /// How many of it there are.
    pub bulk: u64,
}

/// A traversal that runs.
pub struct Execution<'p> {
    plan: &'p Plan,
    cx: Context<'p>,
    pipeline: Pipeline<'p>,
    watch: Option<Watch>,
    state: State,
    left: Option<u64>,
    seen: FastSet<Key>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Running,
    Ended,
}

impl<'p> Execution<'p> {
    /// Prepares a plan to run over a graph; nothing is asked of the graph yet.
    pub fn new(plan: &'p Plan, graph: &'p dyn Graph, options: &'p Options) -> Execution<'p> {
        let watched = matches!(plan.terminal, Terminal::ExecutionProfile | Terminal::Profile);
        let watch = watched.then(Watch::default);
        let pipeline = match &watch {
            Some(watch) => Pipeline::watched(&plan.root, watch.clone()),
            None => Pipeline::new(&plan.root, 1),
        };
        let left = match plan.terminal {
            Terminal::Next(amount) => Some(amount),
            Terminal::HasNext => Some(1),
            _ => None,
        };
        Execution {
            plan,
            cx: Context::new(plan, graph, options),
            pipeline,
            watch,
            state: State::New,
            left,
            seen: FastSet::default(),
        }
    }

    /// Returns the next results; none at the end, which the graph has then been told.
    pub fn next_batch(&mut self) -> std::result::Result<Option<Vec<Answer>>, MachineError> {
        if self.state == State::Ended {
            return Ok(None);
        }
        match self.advance() {
            Ok(Some(answers)) => Ok(Some(answers)),
            Ok(None) => {
                self.state = State::Ended;
                self.cx.graph.finish(Outcome::Done)?;
                Ok(None)
            }
            Err(error) => {
                self.state = State::Ended;
                // What it failed with counts; that it could not be ended well either, adds nothing.
                let _ = self.cx.graph.finish(Outcome::Failed);
                Err(error)
            }
        }
    }

    /// Ends it before its end, as a reader does that wants no more.
    pub fn stop(&mut self) -> std::result::Result<(), MachineError> {
        if self.state == State::Ended {
            return Ok(());
        }
        self.state = State::Ended;
        Ok(self.cx.graph.finish(Outcome::Done)?)
    }

    /// Returns the estimated bytes that it holds.
    pub fn memory_bytes(&self) -> u64 {
        self.cx.memory
    }

    fn advance(&mut self) -> Result<Option<Vec<Answer>>> {
        if self.state == State::New {
            self.state = State::Running;
            let begin = Begin {
                writes: self.plan.writes,
                system_properties: self.plan.settings.system_properties.clone(),
            };
            self.cx.graph.begin(&begin)?;
            if self.plan.terminal == Terminal::Explain {
                self.left = Some(0);
                return Ok(Some(vec![Answer { value: Value::text(self.plan.explain()), bulk: 1 }]));
            }
            self.start()?;
        }
        match self.plan.terminal {
            Terminal::ExecutionProfile | Terminal::Profile => self.profile(),
            Terminal::Iterate => {
                while self.pipeline.next(&mut self.cx)?.is_some() {}
                Ok(None)
            }
            Terminal::HasNext => {
                if self.left.take().is_none() {
                    return Ok(None);
                }
                let mut found = false;
                while let Some(batch) = self.pipeline.next(&mut self.cx)? {
                    if !batch.is_empty() {
                        found = true;
                        break;
                    }
                }
                Ok(Some(vec![Answer { value: Value::Bool(found), bulk: 1 }]))
            }
            Terminal::Explain => Ok(None),
            Terminal::All | Terminal::Next(_) | Terminal::Set => self.results(),
        }
    }

    /// Puts in the traverser that all others come from.
    fn start(&mut self) -> Result<()> {
        let mut seed = Traverser::new(Value::Null);
        if let Some(sack) = &self.plan.settings.sack {
            seed.sack = Some(match &sack.initial {
                Argument::Value(value) => value.clone(),
                Argument::Child(child) => {
                    let first = self.cx.firsts(child, std::slice::from_ref(&seed))?.pop().flatten();
                    first.map_or(Value::Null, |first| first.value)
                }
            });
        }
        if !self.plan.root.steps.is_empty() {
            self.pipeline.push(vec![seed]);
        }
        Ok(())
    }

    fn results(&mut self) -> Result<Option<Vec<Answer>>> {
        loop {
            if self.left == Some(0) {
                return Ok(None);
            }
            let Some(batch) = self.pipeline.next(&mut self.cx)? else { return Ok(None) };
            let mut answers: Vec<Answer> = batch
                .into_iter()
                .map(|traverser| Answer { value: traverser.value, bulk: traverser.bulk })
                .collect();
            if self.plan.terminal == Terminal::Set {
                let before = self.seen.len();
                for answer in &answers {
                    self.cx.look_at(&answer.value)?;
                }
                answers.retain(|answer| self.seen.insert(Key(answer.value.clone())));
                self.cx.hold(96 * (self.seen.len() - before) as u64)?;
                answers.iter_mut().for_each(|answer| answer.bulk = 1);
            }
            if let Some(left) = &mut self.left {
                for answer in &mut answers {
                    answer.bulk = answer.bulk.min(*left);
                    *left -= answer.bulk;
                }
                answers.retain(|answer| answer.bulk > 0);
            }
            if answers.is_empty() {
                continue;
            }
            if self.cx.options.whole_elements {
                self.load(&mut answers)?;
            }
            return Ok(Some(answers));
        }
    }

    /// Gives the elements in results their properties.
    fn load(&mut self, answers: &mut [Answer]) -> Result<()> {
        let mut values: Vec<&mut Value> = answers.iter_mut().map(|answer| &mut answer.value).collect();
        let mut nested = Vec::new();
        for value in &values {
            lacking(value, &mut nested);
        }
        if nested.is_empty() && self.cx.vertices.is_empty() && self.cx.edges.is_empty() {
            return Ok(());
        }
        self.cx.hydrate_values(&mut values)?;
        nested.clear();
        for value in &values {
            if !matches!(&**value, Value::Vertex(_) | Value::Edge(_)) {
                lacking(value, &mut nested);
            }
        }
        if nested.is_empty() {
            return Ok(());
        }
        let mut places: Vec<&mut Value> = nested.iter_mut().collect();
        self.cx.hydrate_values(&mut places)?;
        let mut whole = nested.into_iter();
        for value in values {
            if !matches!(value, Value::Vertex(_) | Value::Edge(_)) {
                replace(value, &mut whole);
            }
        }
        Ok(())
    }

    fn profile(&mut self) -> Result<Option<Vec<Answer>>> {
        let Some(watch) = self.watch.take() else { return Ok(None) };
        while self.pipeline.next(&mut self.cx)?.is_some() {}
        let total = self.cx.graph.elapsed();
        let value = match self.plan.terminal {
            Terminal::Profile => profile::profile(&self.plan.root, &watch, total),
            _ => {
                let script = self.cx.options.script.clone().unwrap_or_else(|| Arc::from(""));
                profile::execution_profile(&self.plan.root, &watch, &script, total)
            }
        };
        Ok(Some(vec![Answer { value, bulk: 1 }]))
    }
}

/// Collects the elements in a value that have no properties, in the order that [`replace`] meets them.
fn lacking(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Vertex(vertex) if vertex.properties.is_none() => found.push(value.clone()),
        Value::Edge(edge) if edge.properties.is_none() => found.push(value.clone()),
        Value::List(values) | Value::Set(values) => values.iter().for_each(|value| lacking(value, found)),
        Value::BulkSet(values) => values.iter().for_each(|(value, _)| lacking(value, found)),
        Value::Map(map) => {
            for (key, value) in &map.entries {
                lacking(key, found);
                lacking(value, found);
            }
        }
        Value::Entry(entry) => {
            lacking(&entry.0, found);
            lacking(&entry.1, found);
        }
        Value::Path(path) => path.objects.iter().for_each(|value| lacking(value, found)),
        _ => {}
    }
}

/// Puts whole elements in the place of those without properties.
fn replace(value: &mut Value, whole: &mut std::vec::IntoIter<Value>) {
    let mut found = Vec::new();
    lacking(value, &mut found);
    if found.is_empty() {
        return;
    }
    match value {
        Value::Vertex(_) | Value::Edge(_) => {
            if let Some(whole) = whole.next() {
                *value = whole;
            }
        }
        Value::List(values) | Value::Set(values) => {
            Arc::make_mut(values).iter_mut().for_each(|value| replace(value, whole));
        }
        Value::BulkSet(values) => {
            Arc::make_mut(values).iter_mut().for_each(|(value, _)| replace(value, whole))
        }
        Value::Map(map) => {
            let map: &mut Map = Arc::make_mut(map);
            for (key, value) in &mut map.entries {
                replace(key, whole);
                replace(value, whole);
            }
        }
        Value::Entry(entry) => {
            let entry = Arc::make_mut(entry);
            replace(&mut entry.0, whole);
            replace(&mut entry.1, whole);
        }
        Value::Path(path) => {
            let path: &mut Path = Arc::make_mut(path);
            path.objects.iter_mut().for_each(|value| replace(value, whole));
        }
        _ => {}
    }
}

impl Plan {
    /// Returns the steps as a text, as `explain()` shows them.
    pub fn explain(&self) -> String {
        let mut lines = vec![format!("path: {:?}, writes: {}", self.path, self.writes)];
        for step in &self.root.steps {
            lines.push(format!("{}: {:?}", step.name, step.kind));
        }
        lines.join("\n")
    }
}
