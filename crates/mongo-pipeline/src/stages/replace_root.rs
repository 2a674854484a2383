//! `$replaceRoot` and `$replaceWith`: another document in the place of each.

use std::sync::Arc;

use armilla_mongo_expression::{Error, Expression, Result, Scope};
use armilla_value::Value;

use crate::Documents;
use crate::arguments::{object_or, shown, shown_object, type_name};
use crate::dependencies::{Fields, Needs};
use crate::run::{Context, each};

/// `$replaceRoot` or `$replaceWith` as it was read.
#[derive(Debug, Clone)]
pub struct ReplaceRoot {
    expression: Expression,
    /// How messages call it.
    called: &'static str,
}

impl ReplaceRoot {
    /// Reads the arguments of `$replaceRoot`.
    pub(crate) fn parse_root(argument: &Value, scope: &Scope) -> Result<(ReplaceRoot, Needs)> {
        let object = object_or(argument, 40229, || {
            format!("expected an object as specification for $replaceRoot stage, got {}", type_name(argument))
        })?;
        if let Some((name, _)) = object.iter().find(|(name, _)| *name != "newRoot") {
            return Err(Error::new(
                40230,
                format!("unrecognized option to $replaceRoot stage: {name}, only valid option is 'newRoot'."),
            ));
        }
        let root = object
            .get("newRoot")
            .ok_or_else(|| Error::new(40231, "no newRoot specified for the $replaceRoot stage"))?;
        ReplaceRoot::parse(root, "'newRoot' expression", scope)
    }

    /// Reads the argument of `$replaceWith`.
    pub(crate) fn parse_with(argument: &Value, scope: &Scope) -> Result<(ReplaceRoot, Needs)> {
        ReplaceRoot::parse(argument, "'replacement document'", scope)
    }

    fn parse(expression: &Value, called: &'static str, scope: &Scope) -> Result<(ReplaceRoot, Needs)> {
        let needs = Needs::closed(Fields::none().expression(expression));
        Ok((ReplaceRoot { expression: Expression::parse(expression, scope)?, called }, needs))
    }
}

/// Runs it.
pub(crate) fn run(stage: Arc<ReplaceRoot>, input: Documents, context: &Context) -> Documents {
    let environment = Arc::clone(&context.environment);
    each(input, move |document| match stage.expression.evaluate(&document, &environment)? {
        Some(Value::Object(root)) => Ok(root),
        other => Err(Error::new(
            40228,
            format!(
                "{} must evaluate to an object, but resulting value was: {}. Type of resulting value: '{}'. \
                 Input document: {}",
                stage.called,
                other.as_ref().map_or_else(|| "MISSING".to_owned(), shown),
                other.as_ref().map_or("missing", type_name),
                shown_object(&document)
            ),
        )),
    })
}
