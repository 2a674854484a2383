//! `$addFields` and `$set`: adds members to documents, or replaces them.

use armilla_mongo_expression::{Environment, Error, Expression, Result, Scope, codes};
use armilla_value::{Object, Value};

use super::apply;
use super::tree::{Child, Mode, Node};
use crate::field_path;
use crate::limits::DEPTH_MAX;
use crate::text::show;

const CONFLICT: i32 = 40176;
const EMPTY: i32 = 40177;
const EMPTY_OBJECT: i32 = 40180;
const SEVERAL_OPERATORS: i32 = 40181;
const DOTTED_INSIDE: i32 = 40183;

/// The specification of `$addFields`, read.
#[derive(Debug, Clone)]
pub struct AddFields {
    root: Node,
    expressions: Vec<Expression>,
}

impl AddFields {
    /// Reads a specification.
    pub fn parse(specification: &Object, scope: &Scope) -> Result<AddFields> {
        if specification.is_empty() {
            return Err(Error::new(
                EMPTY,
                "Invalid $addFields :: caused by :: specification must have at least one field",
            ));
        }
        let mut add_fields = AddFields { root: Node::default(), expressions: Vec::new() };
        for (path, value) in specification.iter() {
            add_fields.member(path, value, scope, 0)?;
        }
        add_fields.root.mark();
        Ok(add_fields)
    }

    fn member(&mut self, path: &str, value: &Value, scope: &Scope, depth: usize) -> Result<()> {
        if depth >= DEPTH_MAX {
            return Err(Error::new(codes::OVERFLOW, "exceeded maximum depth of $addFields"));
        }
        field_path::check(path)?;
        let object = match value {
            Value::Object(object) => object,
            _ => return self.expression(path, value, scope),
        };
        let Some((first, _)) = object.iter().next() else {
            return Err(Error::new(
                EMPTY_OBJECT,
                format!(
                    "Invalid $addFields :: caused by :: an empty object is not a valid value. Found empty object at path '{path}'"
                ),
            ));
        };
        if object.iter().any(|(name, _)| name.starts_with('$')) {
            if object.len() > 1 || !first.starts_with('$') {
                return Err(Error::new(
                    SEVERAL_OPERATORS,
                    format!(
                        "Invalid $addFields :: caused by :: an expression specification must contain exactly one field, the name of the expression. Found {} fields in {}, while parsing object at path '{path}'",
                        object.len(),
                        show(value)
                    ),
                ));
            }
            return self.expression(path, value, scope);
        }
        for (name, inner) in object.iter() {
            if name.contains('.') {
                return Err(Error::new(
                    DOTTED_INSIDE,
                    format!(
                        "Invalid $addFields :: caused by :: cannot use dotted field name '{name}' in a sub object: {}",
                        show(value)
                    ),
                ));
            }
            self.member(&format!("{path}.{name}"), inner, scope, depth + 1)?;
        }
        Ok(())
    }

    fn expression(&mut self, path: &str, value: &Value, scope: &Scope) -> Result<()> {
        let expression = Expression::parse(value, scope)?;
        self.root.add(path, Child::Computed(self.expressions.len()), path).map_err(|_| {
            Error::new(
                CONFLICT,
                format!(
                    "Invalid $addFields :: caused by :: specification contains two conflicting paths. Cannot specify both '{path}' and a path that begins with it or that it begins with"
                ),
            )
        })?;
        self.expressions.push(expression);
        Ok(())
    }

    /// Returns a document with the members added.
    pub fn apply(&self, document: &Object, environment: &Environment) -> Result<Object> {
        let mut computed = Vec::with_capacity(self.expressions.len());
        for expression in &self.expressions {
            computed.push(expression.evaluate(document, environment)?);
        }
        Ok(apply::object(&self.root, Mode::Keep, document, &computed))
    }

    /// Does the same with a document that is not needed any more, whose members need not be copied.
    pub fn apply_owned(&self, mut document: Object, environment: &Environment) -> Result<Object> {
        let mut computed = Vec::with_capacity(self.expressions.len());
        for expression in &self.expressions {
            computed.push(expression.evaluate(&document, environment)?);
        }
        for (name, child) in self.root.children() {
            let new = match child {
                Child::Computed(place) => computed.get_mut(*place).and_then(Option::take),
                Child::Nested(inner) => apply::value(inner, Mode::Keep, document.get(name), &computed),
                _ => continue,
            };
            match new {
                Some(new) => drop(document.insert(name.as_str(), new)),
                None => drop(document.remove(name)),
            }
        }
        Ok(document)
    }
}
