//! What a stage reads of the documents before it, by top-level field, so that stores need not read the rest.
//!
//! Told from the text of the stage: fields in expressions are strings that begin with a dollar. Where in doubt,
//! everything is needed.

use std::collections::BTreeSet;

use armilla_value::{Object, Value};

use crate::limits::DEPTH_MAX;

/// What a stage needs of the documents before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needs {
    /// Top-level fields; `None` is the whole document.
    pub(crate) fields: Option<BTreeSet<String>>,
    /// Whether the stages after it see only what this one made of these fields.
    pub(crate) is_closed: bool,
    /// Of a filter: whether it says the same whoever evaluates it and whenever, without variables.
    pub(crate) is_fixed: bool,
}

impl Needs {
    /// The whole document.
    pub(crate) fn everything() -> Needs {
        Needs::default()
    }

    /// These fields; documents then go on as they are, with what the stage adds.
    pub(crate) fn open(fields: Fields) -> Needs {
        Needs { fields: fields.0, is_closed: false, is_fixed: false }
    }

    /// These fields, of which the stage makes other documents.
    pub(crate) fn closed(fields: Fields) -> Needs {
        Needs { fields: fields.0, is_closed: true, is_fixed: false }
    }
}

/// Returns the top-level fields that a run of stages needs, if it can be told.
pub(crate) fn needed_fields(stages: &[Needs]) -> Option<Vec<String>> {
    let mut fields = BTreeSet::new();
    for needs in stages {
        fields.extend(needs.fields.as_ref()?.iter().cloned());
        if needs.is_closed {
            return Some(fields.into_iter().collect());
        }
    }
    None
}

/// Gathers fields.
#[derive(Debug, Clone)]
pub(crate) struct Fields(Option<BTreeSet<String>>);

impl Fields {
    /// Returns no fields.
    pub(crate) fn none() -> Fields {
        Fields(Some(BTreeSet::new()))
    }

    /// Adds what a path without dollars begins with.
    pub(crate) fn path(mut self, path: &str) -> Fields {
        self.add_path(path);
        self
    }

    /// Adds what an expression reads.
    pub(crate) fn expression(mut self, expression: &Value) -> Fields {
        self.add_expression(expression, 0);
        self
    }

    /// Adds what all values of an object read.
    pub(crate) fn expressions(mut self, members: &Object) -> Fields {
        members.iter().for_each(|(_, value)| self.add_expression(value, 0));
        self
    }

    /// Adds what a filter reads.
    pub(crate) fn filter(mut self, filter: &Object) -> Fields {
        self.add_filter(filter, 0);
        self
    }

    fn add_path(&mut self, path: &str) {
        if let Some(fields) = &mut self.0 {
            fields.insert(path.split('.').next().unwrap_or(path).to_owned());
        }
    }

    fn add_expression(&mut self, expression: &Value, depth: usize) {
        if depth > DEPTH_MAX {
            self.0 = None;
            return;
        }
        match expression {
            Value::String(text) => self.add_reference(text),
            Value::Array(elements) => {
                elements.iter().for_each(|element| self.add_expression(element, depth + 1));
            }
            Value::Object(object) => {
                for (name, value) in object.iter() {
                    match (name, value) {
                        ("$literal", _) => continue,
                        // Fields named without a dollar: of the document, where no input is given.
                        ("$getField", Value::String(field)) if !field.starts_with('$') => {
                            self.add_path(field)
                        }
                        ("$getField", Value::Object(arguments)) if arguments.contains("input") => {}
                        ("$getField" | "$meta" | "$function" | "$accumulator", _) => self.0 = None,
                        ("sortBy", Value::Object(keys)) => {
                            keys.iter().for_each(|(path, _)| self.add_path(path));
                        }
                        _ => {}
                    }
                    self.add_expression(value, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn add_reference(&mut self, text: &str) {
        if let Some(variable) = text.strip_prefix("$$") {
            let (name, path) = variable.split_once('.').unwrap_or((variable, ""));
            if name == "ROOT" || name == "CURRENT" {
                if path.is_empty() { self.0 = None } else { self.add_path(path) }
            }
        } else if let Some(path) = text.strip_prefix('$') {
            self.add_path(path);
        }
    }

    fn add_filter(&mut self, filter: &Object, depth: usize) {
        if depth > DEPTH_MAX {
            self.0 = None;
            return;
        }
        for (name, value) in filter.iter() {
            match (name, value) {
                ("$and" | "$or" | "$nor", Value::Array(branches)) => {
                    for branch in branches {
                        match branch {
                            Value::Object(branch) => self.add_filter(branch, depth + 1),
                            _ => self.0 = None,
                        }
                    }
                }
                ("$expr", expression) => self.add_expression(expression, depth),
                ("$comment" | "$alwaysTrue" | "$alwaysFalse" | "$sampleRate", _) => {}
                (name, _) if name.starts_with('$') => self.0 = None,
                (path, _) => self.add_path(path),
            }
        }
    }
}

/// Says whether a value mentions one of these variables, so that it differs from document to document.
pub(crate) fn mentions(value: &Value, variables: &[String], depth: usize) -> bool {
    if depth > DEPTH_MAX {
        return true;
    }
    match value {
        Value::String(text) => text.strip_prefix("$$").is_some_and(|variable| {
            let name = variable.split('.').next().unwrap_or(variable);
            variables.iter().any(|own| own == name)
        }),
        Value::Array(elements) => elements.iter().any(|element| mentions(element, variables, depth + 1)),
        Value::Object(object) => object.iter().any(|(_, value)| mentions(value, variables, depth + 1)),
        _ => false,
    }
}

/// Says whether a value draws random numbers, so that it differs from one run to the next.
pub(crate) fn is_random(value: &Value, depth: usize) -> bool {
    if depth > DEPTH_MAX {
        return true;
    }
    match value {
        Value::Array(elements) => elements.iter().any(|element| is_random(element, depth + 1)),
        Value::Object(object) => object.iter().any(|(name, value)| {
            matches!(name, "$rand" | "$sample" | "$sampleRate") || is_random(value, depth + 1)
        }),
        _ => false,
    }
}
