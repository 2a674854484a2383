//! Patterns of `match()`.

use std::sync::Arc;

use armilla_gremlin_value::{Bytecode, Value};

use crate::compile::Compiler;
use crate::error::{MachineError, Result};
use crate::step::{Kind, Traversal};

/// A pattern of `match()`.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    /// Goes from what one name stands for to what another one does.
    Walk {
        start: Arc<str>,
        child: Traversal,
        end: Option<Arc<str>>,
    },
    Not(Box<Pattern>),
    And(Vec<Pattern>),
    Or(Vec<Pattern>),
    /// A `where` on names that are bound; these are the names.
    Where {
        names: Vec<Arc<str>>,
        child: Traversal,
    },
}

impl Pattern {
    /// Visits the names that must stand for something before it can be tried.
    pub(crate) fn needs(&self, visit: &mut dyn FnMut(&Arc<str>)) {
        match self {
            Pattern::Walk { start, .. } => visit(start),
            // What is denied must be known on both sides.
            Pattern::Not(pattern) => pattern.names(visit),
            Pattern::And(patterns) | Pattern::Or(patterns) => {
                if let Some(first) = patterns.first() {
                    first.needs(visit);
                }
            }
            Pattern::Where { names, .. } => names.iter().for_each(visit),
        }
    }

    /// Visits all names in it.
    pub(crate) fn names(&self, visit: &mut dyn FnMut(&Arc<str>)) {
        match self {
            Pattern::Walk { start, end, .. } => {
                visit(start);
                end.iter().for_each(visit);
            }
            Pattern::Not(pattern) => pattern.names(visit),
            Pattern::And(patterns) | Pattern::Or(patterns) => {
                patterns.iter().for_each(|pattern| pattern.names(visit));
            }
            Pattern::Where { names, .. } => names.iter().for_each(visit),
        }
    }

    /// Visits the names that it binds.
    pub(crate) fn ends(&self, visit: &mut dyn FnMut(&Arc<str>)) {
        match self {
            Pattern::Walk { end, .. } => end.iter().for_each(visit),
            Pattern::And(patterns) | Pattern::Or(patterns) => {
                patterns.iter().for_each(|pattern| pattern.ends(visit))
            }
            Pattern::Not(_) | Pattern::Where { .. } => {}
        }
    }

    pub(crate) fn for_children(&mut self, visit: &mut dyn FnMut(&mut Traversal)) {
        match self {
            Pattern::Walk { child, .. } | Pattern::Where { child, .. } => visit(child),
            Pattern::Not(pattern) => pattern.for_children(visit),
            Pattern::And(patterns) | Pattern::Or(patterns) => {
                patterns.iter_mut().for_each(|pattern| pattern.for_children(visit));
            }
        }
    }
}

impl Compiler<'_> {
    /// Compiles a pattern.
    pub(crate) fn pattern(&mut self, bytecode: &Bytecode) -> Result<Pattern> {
        let Some(first) = bytecode.steps.first() else {
            return Err(MachineError::compile("match() takes no empty pattern"));
        };
        let nested = |compiler: &mut Self| {
            let mut patterns = Vec::with_capacity(first.arguments.len());
            for argument in &first.arguments {
                match argument {
                    Value::Traversal(bytecode) => patterns.push(compiler.pattern(bytecode)?),
                    _ => return Err(MachineError::compile("match() takes traversals as patterns")),
                }
            }
            Ok(patterns)
        };
        match first.name.as_ref() {
            "and" if !first.arguments.is_empty() => return Ok(Pattern::And(nested(self)?)),
            "or" if !first.arguments.is_empty() => return Ok(Pattern::Or(nested(self)?)),
            "not" => {
                let pattern = nested(self)?.pop();
                return pattern
                    .map(|pattern| Pattern::Not(Box::new(pattern)))
                    .ok_or_else(|| MachineError::compile("not() needs a pattern"));
            }
            "where" => {
                let child = self.child_at(bytecode, true)?;
                let names = where_names(&child);
                return Ok(Pattern::Where { names, child });
            }
            _ => {}
        }
        let (Some(Value::String(start)), "as") = (first.arguments.first(), first.name.as_ref()) else {
            return Err(MachineError::compile(
                "The match()-traversal must have a single start label (i.e. variable): begin each pattern with as()",
            ));
        };
        let (rest, end) = match bytecode.steps.split_last() {
            Some((last, rest)) if last.name.as_ref() == "as" && !rest.is_empty() => {
                match last.arguments.as_slice() {
                    [Value::String(end)] => (rest, Some(end.clone())),
                    _ => return Err(MachineError::compile("a pattern of match() ends with one label")),
                }
            }
            _ => (bytecode.steps.as_slice(), None),
        };
        let rest = Bytecode { sources: Vec::new(), steps: rest.get(1..).unwrap_or_default().to_vec() };
        Ok(Pattern::Walk { start: start.clone(), child: self.child_at(&rest, true)?, end })
    }
}

/// The names that a `where` looks up.
fn where_names(child: &Traversal) -> Vec<Arc<str>> {
    let mut names = Vec::new();
    let mut copy = child.clone();
    collect(&mut copy, &mut names);
    names
}

fn collect(traversal: &mut Traversal, names: &mut Vec<Arc<str>>) {
    for step in &mut traversal.steps {
        match &step.kind {
            Kind::WhereStart(name) => names.push(name.clone()),
            Kind::WhereEnd(labels) => names.extend(labels.iter().cloned()),
            Kind::WherePredicate { start, predicate, .. } => {
                names.extend(start.clone());
                names_of(predicate, names);
            }
            _ => {}
        }
        crate::compile::analysis::for_children(&mut step.kind, &mut |child, _| collect(child, names));
    }
}

/// Collects the names that a predicate of `where` compares with.
pub(crate) fn names_of(predicate: &armilla_gremlin_value::Predicate, names: &mut Vec<Arc<str>>) {
    for value in &predicate.values {
        match value {
            Value::String(name) => names.push(name.clone()),
            Value::List(values) | Value::Set(values) => {
                names.extend(values.iter().filter_map(|value| value.as_str().map(Into::into)));
            }
            Value::Predicate(predicate) => names_of(predicate, names),
            _ => {}
        }
    }
}
