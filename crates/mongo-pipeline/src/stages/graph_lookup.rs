//! `$graphLookup`: documents of another collection that are reached from a document over and over.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use armilla_mongo_expression::{Error, Expression, Result, codes};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use crate::Documents;
use crate::arguments::{Integer, failed, integer, object_or, shown, type_name};
use crate::canonical;
use crate::dependencies::{Fields, Needs};
use crate::limits::{LOOKUP_BATCH_MAX, STAGE_BYTES_MAX};
use crate::memory::{check_depth, object_bytes};
use crate::parse::Reading;
use crate::path::FieldPath;
use crate::run::{Context, each};
use crate::stages::foreign::Foreign;

/// `$graphLookup` as it was read.
#[derive(Debug, Clone)]
pub struct GraphLookup {
    /// The other collection.
    pub collection: String,
    start_with: Expression,
    from: FieldPath,
    to: FieldPath,
    into: FieldPath,
    depth_max: Option<u64>,
    depth_field: Option<FieldPath>,
    restriction: Option<Filter>,
}

impl GraphLookup {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value, reading: &Reading<'_>) -> Result<(GraphLookup, Needs)> {
        let object = object_or(argument, codes::FAILED_TO_PARSE, || {
            format!(
                "the $graphLookup stage specification must be an object, but found {}",
                type_name(argument)
            )
        })?;
        let (mut collection, mut start_with, mut from, mut to, mut into) = (None, None, None, None, None);
        let (mut depth_max, mut depth_field, mut restriction) = (None, None, None);
        let mut needs = Fields::none();
        for (name, value) in object.iter() {
            match (name, value) {
                ("startWith", value) => {
                    start_with = Some(Expression::parse(value, reading.scope)?);
                    needs = needs.expression(value);
                }
                ("maxDepth", value) => {
                    depth_max = Some(match integer(value) {
                        Integer::Is(depth) if depth >= 0 => depth as u64,
                        Integer::NotNumber => {
                            return Err(Error::new(
                                40100,
                                format!("maxDepth must be numeric, found type: {}", type_name(value)),
                            ));
                        }
                        Integer::Is(_) => {
                            return Err(Error::new(
                                40101,
                                format!("maxDepth requires a nonnegative argument, found: {}", shown(value)),
                            ));
                        }
                        _ => {
                            return Err(Error::new(
                                40102,
                                format!("maxDepth could not be represented as a long long: {}", shown(value)),
                            ));
                        }
                    });
                }
                ("restrictSearchWithMatch", Value::Object(filter)) => {
                    let filter = Filter::parse(filter, reading.scope)?;
                    if filter.near().is_some() {
                        return Err(Error::new(
                            5626500,
                            "$geoNear, $near, and $nearSphere are not allowed in this context",
                        ));
                    }
                    restriction = Some(filter);
                }
                ("restrictSearchWithMatch", other) => {
                    return Err(Error::new(
                        40185,
                        format!("restrictSearchWithMatch must be an object, found {}", type_name(other)),
                    ));
                }
                ("from", Value::String(text)) => collection = Some(text.clone()),
                ("from", other) => {
                    return Err(failed(format!(
                        "$graphLookup 'from' option must be a string, found {}",
                        type_name(other)
                    )));
                }
                ("as" | "connectFromField" | "connectToField" | "depthField", Value::String(text)) => {
                    let path = Some(FieldPath::parse(text)?);
                    match name {
                        "as" => into = path,
                        "connectFromField" => from = path,
                        "connectToField" => to = path,
                        _ => depth_field = path,
                    }
                }
                ("as" | "connectFromField" | "connectToField" | "depthField", other) => {
                    return Err(Error::new(
                        40103,
                        format!("expected string as argument for {name}, found: {}", type_name(other)),
                    ));
                }
                _ => return Err(Error::new(40104, format!("Unknown argument to $graphLookup: {name}"))),
            }
        }
        let Some(collection) = collection else {
            return Err(failed("missing 'from' option to $graphLookup stage specification"));
        };
        if collection.is_empty() {
            return Err(Error::new(
                codes::INVALID_NAMESPACE,
                "$graphLookup argument 'from' must be a namespace",
            ));
        }
        let (Some(start_with), Some(from), Some(to), Some(into)) = (start_with, from, to, into) else {
            return Err(Error::new(
                40105,
                "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be \
                 specified.",
            ));
        };
        let needs = Needs::open(needs.path(into.first()));
        Ok((
            GraphLookup { collection, start_with, from, to, into, depth_max, depth_field, restriction },
            needs,
        ))
    }
}

/// Runs it.
pub(crate) fn run(lookup: Arc<GraphLookup>, input: Documents, context: &Context) -> Documents {
    let context = context.clone();
    let mut foreign = Foreign::new(&context, None, &lookup.collection, &lookup.to, false);
    each(input, move |mut document| {
        let reached = Value::Array(reach(&lookup, &document, &mut foreign, &context)?);
        check_depth(&reached)?;
        lookup.into.set(&mut document, reached);
        Ok(document)
    })
}

/// Walks from a document, breadth first.
fn reach(
    lookup: &GraphLookup,
    document: &Object,
    foreign: &mut Foreign,
    context: &Context,
) -> Result<Vec<Value>> {
    let mut frontier: Vec<Value> = match lookup.start_with.evaluate(document, &context.environment)? {
        None => Vec::new(),
        Some(Value::Array(elements)) => elements,
        Some(value) => vec![value],
    };
    let mut asked: HashSet<Vec<u8>> = HashSet::new();
    let mut visited: HashSet<Vec<u8>> = HashSet::new();
    let (mut reached, mut bytes, mut depth) = (Vec::new(), 0usize, 0u64);
    while !frontier.is_empty() {
        frontier.retain(|value| asked.insert(canonical::bytes(value)));
        let mut next = Vec::new();
        let mut batches: VecDeque<&[Value]> = frontier.chunks(LOOKUP_BATCH_MAX).collect();
        while let Some(batch) = batches.pop_front() {
            context.outside.check()?;
            if !foreign.prepare(batch)? {
                if batch.len() == 1 {
                    return Err(too_large());
                }
                let (first, second) = batch.split_at(batch.len() / 2);
                batches.push_front(second);
                batches.push_front(first);
                continue;
            }
            for found in foreign.find(batch) {
                let id = canonical::bytes(found.get("_id").unwrap_or(&Value::Null));
                if visited.contains(&id) {
                    continue;
                }
                if let Some(restriction) = &lookup.restriction
                    && !restriction.matches(&found, &context.environment)?
                {
                    continue;
                }
                bytes += id.len() + 64 + object_bytes(&found);
                if bytes > STAGE_BYTES_MAX {
                    return Err(too_large());
                }
                visited.insert(id);
                lookup.from.present_values(&found, &mut next);
                let mut found = Object::clone(&found);
                if let Some(field) = &lookup.depth_field {
                    field.set(&mut found, Value::Int64(depth as i64));
                }
                reached.push(Value::Object(found));
            }
        }
        if lookup.depth_max.is_some_and(|max| depth >= max) {
            break;
        }
        depth += 1;
        frontier = next;
    }
    Ok(reached)
}

fn too_large() -> Error {
    Error::new(40099, "$graphLookup reached maximum memory consumption")
}
