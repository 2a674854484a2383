//! `$redact`: leaves parts of documents out, as an expression decides level by level.

use std::sync::Arc;

use armilla_mongo_expression::{
    Environment, Error, Expression, REDACT_DESCEND, REDACT_KEEP, REDACT_PRUNE, Result, codes,
};
use armilla_value::{Object, Value};

use crate::Documents;
use crate::arguments::shown;
use crate::limits::DEPTH_MAX;
use crate::run::Context;

/// Runs it.
pub(crate) fn run(expression: Arc<Expression>, input: Documents, context: &Context) -> Documents {
    let environment = Arc::clone(&context.environment);
    Box::new(input.filter_map(move |document| {
        let redacted = document.and_then(|document| {
            Redaction { root: &document, expression: &expression, environment: &environment }
                .object(&document, 0)
        });
        redacted.transpose()
    }))
}

struct Redaction<'a> {
    root: &'a Object,
    expression: &'a Expression,
    environment: &'a Environment,
}

impl Redaction<'_> {
    fn object(&self, object: &Object, depth: usize) -> Result<Option<Object>> {
        if depth > DEPTH_MAX {
            return Err(Error::new(codes::OVERFLOW, "documents may not nest more than 200 levels"));
        }
        let decision = self.expression.evaluate_within(self.root, object, self.environment)?;
        match decision.as_ref().and_then(Value::as_str) {
            Some(REDACT_KEEP) => Ok(Some(object.clone())),
            Some(REDACT_PRUNE) => Ok(None),
            Some(REDACT_DESCEND) => {
                let mut kept = Vec::with_capacity(object.len());
                for (name, value) in object.iter() {
                    if let Some(value) = self.value(value, depth)? {
                        kept.push((name.to_owned(), value));
                    }
                }
                Ok(Some(Object::from(kept)))
            }
            _ => Err(Error::new(
                17053,
                format!(
                    "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, \
                     and $$PRUNE, but returned {}",
                    decision.as_ref().map_or_else(|| "MISSING".to_owned(), shown)
                ),
            )),
        }
    }

    fn value(&self, value: &Value, depth: usize) -> Result<Option<Value>> {
        Ok(match value {
            Value::Object(object) => self.object(object, depth + 1)?.map(Value::Object),
            Value::Array(elements) if depth < DEPTH_MAX => {
                let mut kept = Vec::with_capacity(elements.len());
                for element in elements {
                    kept.extend(self.value(element, depth + 1)?);
                }
                Some(Value::Array(kept))
            }
            _ => Some(value.clone()),
        })
    }
}
