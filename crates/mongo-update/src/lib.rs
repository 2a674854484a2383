//! The MongoDB update language: replacements, operators, pipelines, upserts.
//!
//! An update is read once and applied to each document that was found. Operators are read into a tree of their paths,
//! so that two which touch the same place are refused at reading and new members come in the order of their paths.
//!
//! Invariants:
//! * a document is never changed halfway: a failure leaves the caller with the old one;
//! * modified means that the stored bytes differ: 1 to 1.0 is, setting what is there already is not;
//! * `_id` of a document that was found stays equal.
//!
//! Not here: finding documents (`mongo-filter`), storing them, making the `_id` of an upsert that has none.

pub mod limits;

mod apply;
mod array_filter;
mod context;
mod depth;
mod describe;
mod identical;
mod modifiers;
mod operator;
mod path;
mod pipeline;
mod render;
mod replacement;
mod tree;
mod upsert;
mod wrapped;

use armilla_mongo_expression::{Environment, Error, Result, Scope, codes};
use armilla_mongo_filter::{Filter, Matched};
use armilla_value::{Object, Value};

use identical::identical_objects;
use modifiers::Modifiers;
use pipeline::Pipeline;

pub use describe::{describe, describe_expanded};
pub use replacement::check_depth;

/// An update that was read.
#[derive(Debug, Clone)]
pub struct Update(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Replacement(Object),
    Modifiers(Box<Modifiers>),
    Pipeline(Pipeline),
}

/// What an update made of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Updated {
    /// The document as it is now.
    pub document: Object,
    /// Whether it is another than before.
    pub is_modified: bool,
}

impl Update {
    /// Reads an update: a replacement, operators, or a pipeline. `constants` are the `c` of a pipeline.
    pub fn parse(
        update: &Value,
        array_filters: Option<&[Value]>,
        constants: Option<&Object>,
        scope: &Scope,
    ) -> Result<Update> {
        Update::read(update, array_filters, constants, scope).map_err(shortened)
    }

    fn read(
        update: &Value,
        array_filters: Option<&[Value]>,
        constants: Option<&Object>,
        scope: &Scope,
    ) -> Result<Update> {
        let failed = |message: &str| Err(Error::new(codes::FAILED_TO_PARSE, message));
        if constants.is_some() && !matches!(update, Value::Array(_)) {
            return Err(Error::new(51198, "Constant values may only be specified for pipeline updates"));
        }
        match update {
            Value::Array(_) if array_filters.is_some() => {
                failed("arrayFilters may not be specified for pipeline-syle updates")
            }
            Value::Array(stages) => Ok(Update(Kind::Pipeline(Pipeline::parse(stages, constants, scope)?))),
            Value::Object(object) if object.iter().next().is_some_and(|(name, _)| name.starts_with('$')) => {
                let modifiers = Modifiers::parse(object, array_filters, scope)?;
                Ok(Update(Kind::Modifiers(Box::new(modifiers))))
            }
            Value::Object(_) if array_filters.is_some_and(|filters| !filters.is_empty()) => {
                failed("arrayFilters may not be specified for replacement-style updates")
            }
            Value::Object(replacement) => Ok(Update(Kind::Replacement(replacement.clone()))),
            _ => failed("Update argument must be either an object or an array"),
        }
    }

    /// Says whether it replaces the document as a whole.
    pub fn is_replacement(&self) -> bool {
        matches!(self.0, Kind::Replacement(_))
    }

    /// Says whether it is a pipeline.
    pub fn is_pipeline(&self) -> bool {
        matches!(self.0, Kind::Pipeline(_))
    }

    /// Says whether it has the positional `$`, so that the filter must say which element it found.
    pub fn needs_position(&self) -> bool {
        matches!(&self.0, Kind::Modifiers(modifiers) if modifiers.needs_position())
    }

    /// Applies it to a document that was found.
    pub fn apply(&self, document: Object, matched: &Matched, environment: &Environment) -> Result<Updated> {
        self.change(document, matched, environment).map_err(shortened)
    }

    fn change(&self, document: Object, matched: &Matched, environment: &Environment) -> Result<Updated> {
        let new = match &self.0 {
            Kind::Modifiers(modifiers) => {
                let (document, is_modified) =
                    modifiers.apply(document, matched.position, false, environment)?;
                return Ok(Updated { document, is_modified });
            }
            Kind::Replacement(replacement) => {
                let mut new = replacement::replace(&document, replacement.clone())?;
                replacement::check(&new)?;
                replacement::fill_timestamps(&mut new, environment);
                new
            }
            Kind::Pipeline(pipeline) => {
                let new = replacement::replace(&document, pipeline.apply(&document, environment)?)?;
                replacement::check_depth(&new)?;
                new
            }
        };
        Ok(Updated { is_modified: !identical_objects(&document, &new), document: new })
    }

    /// Makes the document of an upsert that found none; without `_id` where nothing says what it is.
    pub fn insert(&self, filter: &Filter, environment: &Environment) -> Result<Object> {
        self.begin(filter, environment).map_err(shortened)
    }

    fn begin(&self, filter: &Filter, environment: &Environment) -> Result<Object> {
        let mut document = match &self.0 {
            Kind::Replacement(replacement) => {
                let begun = upsert::begin_replacement(filter)?;
                let new = replacement::replace(&begun, replacement.clone())?;
                replacement::check(&new)?;
                new
            }
            Kind::Modifiers(modifiers) => modifiers.apply(upsert::begin(filter)?, None, true, environment)?.0,
            Kind::Pipeline(pipeline) => {
                let begun = upsert::begin(filter)?;
                replacement::replace(&begun, pipeline.apply(&begun, environment)?)?
            }
        };
        replacement::check_depth(&document)?;
        replacement::fill_timestamps(&mut document, environment);
        upsert::finish(document)
    }
}

fn shortened(mut error: Error) -> Error {
    render::shorten(&mut error.message, limits::MESSAGE_BYTES_MAX);
    error
}

#[cfg(test)]
mod tests;
