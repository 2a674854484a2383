//! The languages of the MongoDB API: filters, updates, expressions, pipelines.
//!
//! What is read is a document, as BSON or, so that a fuzzer can write it, as Extended JSON. Its members are what the
//! target is about, and what that is applied to.
//!
//! Invariant of all: what is read twice does the same twice.

use std::sync::Arc;

use armilla_mongo_expression::{Accumulator, Environment, Error, Expression, Result, Scope};
use armilla_mongo_filter::{Filter, Matched, Projection, Schema, Sort};
use armilla_mongo_pipeline::{Documents, Outside, Pipeline};
use armilla_mongo_update::{Update, describe};
use armilla_mongo_wire::bson;
use armilla_value::{Object, Value, json, mongo_cmp};

/// The most documents that are taken of a pipeline.
const DOCUMENTS_MAX: usize = 200;

fn read(data: &[u8]) -> Option<Object> {
    if let Ok(object) = bson::decode(data) {
        return Some(object);
    }
    match json::parse_extended(data).ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn member<'o>(object: &'o Object, name: &str) -> Option<&'o Object> {
    match object.get(name)? {
        Value::Object(member) => Some(member),
        _ => None,
    }
}

fn environment() -> Environment {
    Environment { now_ms: 1_700_000_000_000, cluster_time: (1, 1), seed: 7, ..Environment::default() }
}

/// Returns what a value says, for comparing: numbers that are not equal to themselves among it.
fn shown(value: &Value) -> String {
    json::to_string(value)
}

fn shown_object(object: &Object) -> String {
    shown(&Value::Object(object.clone()))
}

fn agree<T>(first: &Result<T>, second: &Result<T>, show: impl Fn(&T) -> String) {
    match (first, second) {
        (Ok(first), Ok(second)) => assert_eq!(show(first), show(second)),
        (Err(first), Err(second)) => assert_eq!(first, second),
        (first, second) => panic!("{:?} and {:?}", first.as_ref().map(&show), second.as_ref().map(&show)),
    }
}

/// Reads `filter`, `projection`, `sort` and `schema`, and applies them to `document`.
pub fn mongo_filter(data: &[u8]) {
    let Some(input) = read(data) else { return };
    let (scope, environment) = (Scope::default(), environment());
    let empty = Object::new();
    let document = member(&input, "document").unwrap_or(&empty);
    let mut matched = Matched::default();
    let mut filter = None;
    if let Some(query) = member(&input, "filter")
        && let Ok(read) = Filter::parse(query, &scope)
    {
        let decided = read.matches(document, &environment);
        let found = read.find(document, &environment);
        agree(&decided, &found.as_ref().map(Option::is_some).map_err(Error::clone), bool::to_string);
        matched = found.ok().flatten().unwrap_or_default();
        opposite(query, document, decided.as_ref().ok().copied(), &environment);
        let _ = (read.near(), read.matches_value(&Value::Object(document.clone()), &environment));
        filter = Some(read);
    }
    if let Some(specification) = member(&input, "projection") {
        if let Ok(projection) = Projection::parse(specification, filter.as_ref(), &scope) {
            let once = projection.apply(document, &matched, &environment);
            agree(&once, &projection.apply(document, &matched, &environment), shown_object);
        }
        if let Ok(projection) = Projection::parse_aggregation(specification, &scope) {
            let _ = projection.apply(document, &Matched::default(), &environment);
        }
    }
    if let Some(sort) = member(&input, "sort").and_then(|sort| Sort::parse(sort).ok())
        && let (Ok(of_document), Ok(of_nothing)) = (sort.key(document), sort.key(&empty))
    {
        assert!(sort.compare(&of_document, &of_document).is_eq());
        let order = sort.compare(&of_document, &of_nothing);
        assert_eq!(order.reverse(), sort.compare(&of_nothing, &of_document));
    }
    if let Some(schema) = input.get("schema").and_then(|schema| Schema::parse(schema).ok()) {
        let once = schema.matches(document);
        agree(&once, &schema.matches(document), bool::to_string);
    }
}

/// `$nor` of a filter decides the opposite, where it may hold it.
fn opposite(query: &Object, document: &Object, decided: Option<bool>, environment: &Environment) {
    let mut nor = Object::new();
    nor.insert("$nor", Value::Array(vec![Value::Object(query.clone())]));
    if let (Ok(nor), Some(decided)) = (Filter::parse(&nor, &Scope::default()), decided) {
        let opposite = nor.matches(document, environment);
        assert_eq!(opposite.ok(), Some(!decided), "{}", shown_object(query));
    }
}

/// Reads `update` with `arrayFilters` and `constants`, and applies it to `document`, and to nothing for `filter`.
pub fn mongo_update(data: &[u8]) {
    let Some(input) = read(data) else { return };
    let Some(update) = input.get("update") else { return };
    let (scope, environment) = (Scope::default(), environment());
    let filters = match input.get("arrayFilters") {
        Some(Value::Array(filters)) => Some(&filters[..]),
        _ => None,
    };
    let Ok(update) = Update::parse(update, filters, member(&input, "constants"), &scope) else { return };
    let empty = Object::new();
    let document = member(&input, "document").unwrap_or(&empty);
    let filter = Filter::parse(member(&input, "filter").unwrap_or(&empty), &scope).ok();
    let matched = filter.as_ref().and_then(|filter| filter.find(document, &environment).ok().flatten());
    let matched = matched.unwrap_or_default();
    let once = update.apply(document.clone(), &matched, &environment);
    agree(&once, &update.apply(document.clone(), &matched, &environment), |updated| {
        shown_object(&updated.document)
    });
    if let Ok(updated) = &once {
        if !updated.is_modified {
            assert_eq!(shown_object(&updated.document), shown_object(document));
        }
        if let Some(id) = document.get("_id") {
            let now = updated.document.get("_id").unwrap_or_else(|| panic!("the document lost its _id"));
            assert!(mongo_cmp(id, now).is_eq(), "{} became {}", shown(id), shown(now));
        }
        let _ = describe(document, &updated.document);
    }
    if let Some(filter) = filter {
        let once = update.insert(&filter, &environment);
        agree(&once, &update.insert(&filter, &environment), shown_object);
    }
}

/// Reads `expression`, and `accumulator` as one of a group, and evaluates them for `document`.
pub fn mongo_expression(data: &[u8]) {
    let Some(input) = read(data) else { return };
    let (scope, environment) = (Scope::default(), environment());
    let empty = Object::new();
    let document = member(&input, "document").unwrap_or(&empty);
    let show = |value: &Option<Value>| value.as_ref().map_or_else(|| "missing".to_owned(), shown);
    if let Some(expression) = input.get("expression")
        && let Ok(expression) = Expression::parse(expression, &scope)
    {
        let once = expression.evaluate(document, &environment);
        agree(&once, &expression.evaluate(document, &environment), show);
        let borrowed = expression.evaluate_borrowed(document, &environment);
        agree(&once, &borrowed.map(|value| value.map(std::borrow::Cow::into_owned)), show);
        let _ = (expression.as_constant(), expression.as_path());
    }
    if let Some(accumulator) = input.get("accumulator")
        && let Ok(accumulator) = Accumulator::parse("a", accumulator, &scope)
    {
        let gather = || {
            let mut gathered = accumulator.begin_for(&empty, &environment)?;
            accumulator.add(&mut gathered, document, &environment)?;
            accumulator.add(&mut gathered, &empty, &environment)?;
            accumulator.add(&mut gathered, document, &environment)?;
            accumulator.finish(gathered)
        };
        agree(&gather(), &gather(), show);
    }
}

/// Every collection has the documents of the input.
struct Everywhere(Vec<Object>);

impl Everywhere {
    fn all(&self) -> Documents {
        Box::new(self.0.clone().into_iter().map(Ok))
    }
}

impl Outside for Everywhere {
    fn documents(&self, _: Option<&str>, _: &str, _: Option<&Filter>) -> Result<Documents> {
        Ok(self.all())
    }
}

/// Reads `pipeline`, and runs it over `documents`, which all collections have.
pub fn mongo_pipeline(data: &[u8]) {
    let Some(input) = read(data) else { return };
    let Some(Value::Array(stages)) = input.get("pipeline") else { return };
    let Ok(pipeline) = Pipeline::parse(stages, &Scope::default()) else { return };
    let _ = (pipeline.split_front(), pipeline.split_output(), pipeline.collections());
    let documents = match input.get("documents") {
        Some(Value::Array(documents)) => documents.iter().filter_map(Value::as_object).cloned().collect(),
        _ => Vec::new(),
    };
    let outside = Arc::new(Everywhere(documents));
    let run = || -> Result<Vec<Object>> {
        pipeline.run(outside.all(), Arc::new(environment()), outside.clone())?.take(DOCUMENTS_MAX).collect()
    };
    agree(&run(), &run(), |documents| documents.iter().map(shown_object).collect());
}
