//! Projections of a find and of the stages `$project`, `$addFields` and `$unset`.
//!
//! A projection is read into a tree of names. Applied, it keeps the order of the document for what was there, and adds
//! what it computes in the order in which it names it.

mod add_fields;
mod apply;
mod parse;
mod tree;

use armilla_mongo_expression::{Environment, Error, Result, Scope};
use armilla_value::{Object, Value};

pub use add_fields::AddFields;

use crate::filter::{Filter, Matched};
use crate::sort::SortKey;
use parse::{Parser, Rules};
use tree::{Child, Mode, Node, Source};

const NO_POSITION: i32 = 51246;
const POSITION_BEYOND: i32 = 51247;

/// A projection that was read.
#[derive(Debug, Clone)]
pub struct Projection {
    mode: Mode,
    root: Node,
    /// What is computed for each document before anything is placed.
    sources: Vec<Source>,
    /// The path of the positional `$`.
    positional: Option<String>,
}

/// What is known of a document besides it, for `$meta`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Metadata<'a> {
    /// Its key in the order of the find.
    pub sort_key: Option<&'a SortKey>,
    /// How far it is from the centre of `$near`.
    pub distance: Option<f64>,
}

impl Projection {
    /// Reads the projection of a find. Its filter decides with each document where the positional `$` is, not here.
    pub fn parse(specification: &Object, _filter: Option<&Filter>, scope: &Scope) -> Result<Projection> {
        Parser::new(Rules::Find, scope).parse(specification)
    }

    /// Reads the specification of `$project`.
    pub fn parse_aggregation(specification: &Object, scope: &Scope) -> Result<Projection> {
        Parser::new(Rules::Aggregation, scope).parse(specification)
    }

    /// Reads the operand of `$unset`: a path or a list of paths.
    pub fn parse_unset(operand: &Value) -> Result<Projection> {
        parse::unset(operand)
    }

    /// Says whether it names what stays rather than what goes.
    pub fn is_inclusion(&self) -> bool {
        self.mode == Mode::Include
    }

    /// Says whether it leaves every document as it is.
    pub fn is_identity(&self) -> bool {
        self.mode == Mode::Keep && self.root.is_empty()
    }

    /// Says whether it needs to be told where in an array the filter matched.
    pub fn needs_position(&self) -> bool {
        self.positional.is_some()
    }

    /// Says whether it asks for the sort key.
    pub fn needs_sort_key(&self) -> bool {
        self.sources.iter().any(|source| matches!(source, Source::SortKey))
    }

    /// Returns the names of the members of a document that it looks at, if it is known not to look at others.
    pub fn needed_fields(&self) -> Option<Vec<&str>> {
        if !self.is_inclusion() || self.sources.iter().any(|source| matches!(source, Source::Expression(_))) {
            return None;
        }
        let is_needed = |child: &Child| !matches!(child, Child::Exclude);
        Some(
            self.root
                .children()
                .iter()
                .filter(|(_, child)| is_needed(child))
                .map(|(name, _)| name.as_str())
                .collect(),
        )
    }

    /// Makes of a document what is asked for. `matched` is what the filter said of it.
    pub fn apply(&self, document: &Object, matched: &Matched, environment: &Environment) -> Result<Object> {
        self.apply_with(document, matched, Metadata::default(), environment)
    }

    /// Does the same where more is known of the document.
    pub fn apply_with(
        &self,
        document: &Object,
        matched: &Matched,
        metadata: Metadata<'_>,
        environment: &Environment,
    ) -> Result<Object> {
        if self.is_identity() {
            return Ok(document.clone());
        }
        let mut computed = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            computed.push(source.compute(document, metadata, environment)?);
        }
        match &self.positional {
            None => Ok(apply::object(&self.root, self.mode, document, &computed)),
            Some(path) => {
                let narrowed = narrowed(document, path, matched)?;
                Ok(apply::object(&self.root, self.mode, narrowed.as_ref().unwrap_or(document), &computed))
            }
        }
    }
}

/// Returns the document with only the matched element in the first array along a path; nothing if there is no array.
fn narrowed(document: &Object, path: &str, matched: &Matched) -> Result<Option<Object>> {
    let names: Vec<&str> = path.split('.').collect();
    let mut object = document;
    let mut length = None;
    let mut depth = 0;
    for name in &names {
        depth += 1;
        match object.get(name) {
            Some(Value::Object(inner)) => object = inner,
            Some(Value::Array(elements)) => {
                length = Some(elements.len());
                break;
            }
            _ => break,
        }
    }
    let Some(length) = length else { return Ok(None) };
    let Some(position) = matched.position else {
        return Err(Error::new(
            NO_POSITION,
            "Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array",
        ));
    };
    if position >= length {
        return Err(Error::new(
            POSITION_BEYOND,
            "Executor error during find command :: caused by :: positional operator '.$' element mismatch",
        ));
    }
    let mut copy = document.clone();
    let mut value = copy.get_mut(names[0]);
    for name in &names[1..depth] {
        value = value.and_then(Value::as_object_mut).and_then(|object| object.get_mut(name));
    }
    if let Some(elements) = value.and_then(Value::as_array_mut) {
        let element = elements.swap_remove(position);
        elements.clear();
        elements.push(element);
    }
    Ok(Some(copy))
}

#[cfg(test)]
#[path = "projection_tests.rs"]
mod tests;
