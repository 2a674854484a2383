//! `$documents`: documents that the pipeline itself brings.

use armilla_mongo_expression::{Error, Expression, Result};
use armilla_value::{Object, Value};

use crate::Documents;
use crate::arguments::type_name;
use crate::run::Context;

/// Runs it: whatever was before is not asked.
pub(crate) fn run(expression: &Expression, context: &Context) -> Result<Documents> {
    let value = expression.evaluate(&Object::new(), &context.environment)?;
    let Some(Value::Array(elements)) = value else {
        return Err(Error::new(
            5858203,
            "error during evaluation of $documents: must evaluate to an array of objects",
        ));
    };
    Ok(Box::new(elements.into_iter().map(|element| match element {
        Value::Object(document) => Ok(document),
        other => Err(Error::new(
            40228,
            format!(
                "$documents: all elements must be objects, but found an element of type {}",
                type_name(&other)
            ),
        )),
    })))
}
