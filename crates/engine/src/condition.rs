//! The condition of a patch: the part of a query from FROM on, which must hold for the item as it is then.

use std::sync::Arc;

use armilla_container::{Condition, ContainerIdentity, Item, Patch};
use armilla_query::bound::SourceKind;
use armilla_query::expr::Expr;
use armilla_query::{CompileOptions, CompiledQuery, Datum, Evaluator, Frame, Meter};
use armilla_value::{Value, json};

use crate::computed;
use crate::containers::ContainerHandle;
use crate::error::{Error, Result};
use crate::queries::bad_query;

/// Makes a patch depend on a condition, if there is one.
pub(crate) fn conditional(
    patch: Patch,
    condition: Option<&str>,
    container: &ContainerHandle,
) -> Result<Patch> {
    match condition {
        Some(text) => Ok(patch.only_if(text, compile(text, container)?)),
        None => Ok(patch),
    }
}

/// Reads a condition.
pub(crate) fn compile(text: &str, container: &ContainerHandle) -> Result<Condition> {
    // Clients may leave out what comes before FROM.
    let is_whole = text.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"));
    let query = if is_whole { text.to_owned() } else { format!("SELECT * {text}") };
    let computed = computed::readable(&container.definition());
    // The item is evaluated as clients see it, so what the server adds are properties like any other.
    let options = CompileOptions { parameters: &[], computed: &computed, system_properties: false };
    let compiled = CompiledQuery::new(&query, options).map_err(|error| bad_query(&query, error))?;
    let bound = compiled.bound;
    let is_plain = bound.sources.len() == 1
        && matches!(bound.sources[0].kind, SourceKind::Item)
        && bound.grouping.is_none()
        && bound.order.is_empty()
        && bound.window == Default::default();
    let Some(filter) = bound.filter.filter(|_| is_plain) else {
        return Err(Error::invalid(format!(
            "the condition of a patch must have the form FROM <alias> WHERE <condition>, it is '{text}'"
        )));
    };
    let mut calls_function = false;
    filter.visit(&mut |part| calls_function |= matches!(part, Expr::Udf(..)));
    if calls_function {
        return Err(Error::invalid("the condition of a patch must not call user-defined functions"));
    }
    let identity = container.identity().clone();
    Ok(Arc::new(move |item: &Item| holds(&filter, item, &identity)))
}

fn holds(filter: &Expr, item: &Item, identity: &ContainerIdentity) -> bool {
    let mut text = Vec::new();
    item.write_json(identity, &mut text);
    let value: Value = match json::parse_extended(&text) {
        Ok(value) => value,
        Err(_) => item.stored().root().to_value(),
    };
    let outside = Frame::empty();
    let frame = Frame::with(&outside, 0, Datum::from_value(&value));
    // It is checked while others wait to write; one that takes so many steps does not hold.
    let watch = computed::watch();
    let meter = Meter::new(&watch);
    Evaluator::for_constants(&meter).is_true(filter, &frame).unwrap_or(false)
}
