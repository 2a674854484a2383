//! What tests of this crate share: values as text, an outside in memory, one function that runs a pipeline.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_mongo_expression::{Environment, Result, Scope};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value, json};

use crate::{Documents, Outside, Pipeline};

/// Reads a value; plain integers that fit become 32-bit ones, as drivers would send them, and `{'$day': '2020-01-31'}`
/// is a date.
pub(crate) fn value(text: &str) -> Value {
    let text = text.replace('\'', "\"");
    let mut value = json::parse_extended(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    narrow(&mut value);
    value
}

fn narrow(value: &mut Value) {
    match value {
        Value::Int64(number) => {
            if let Ok(number) = i32::try_from(*number) {
                *value = Value::Int32(number);
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(narrow),
        Value::Object(object) => {
            object.iter_mut().for_each(|(_, value)| narrow(value));
            if let Some(Value::String(day)) = object.get("$day") {
                let parts: Vec<i64> = day.split('-').map(|part| part.parse().unwrap()).collect();
                let days = armilla_value::calendar::days_from_date(parts[0], parts[1], parts[2]);
                *value = Value::Date(days * 86_400_000);
            }
        }
        _ => {}
    }
}

pub(crate) fn object(text: &str) -> Object {
    match value(text) {
        Value::Object(object) => object,
        other => panic!("{other:?} is no object"),
    }
}

pub(crate) fn array(text: &str) -> Vec<Value> {
    match value(text) {
        Value::Array(elements) => elements,
        other => panic!("{other:?} is no array"),
    }
}

pub(crate) fn objects(text: &str) -> Vec<Object> {
    array(text)
        .into_iter()
        .map(|value| match value {
            Value::Object(object) => object,
            other => panic!("{other:?} is no object"),
        })
        .collect()
}

/// Writes a value as relaxed Extended JSON.
pub(crate) fn shown(value: &Value) -> String {
    json::to_string(value)
}

/// Collections in memory.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) collections: HashMap<String, Vec<Object>>,
    pub(crate) narrows: bool,
}

impl Outside for Memory {
    fn documents(
        &self,
        _database: Option<&str>,
        collection: &str,
        narrowed_by: Option<&Filter>,
    ) -> Result<Documents> {
        let documents = self.collections.get(collection).cloned().unwrap_or_default();
        let filter = narrowed_by.filter(|_| self.narrows).cloned();
        Ok(Box::new(documents.into_iter().map(Ok).filter(move |document: &Result<Object>| {
            match (&filter, document) {
                (Some(filter), Ok(document)) => filter.matches(document, &Environment::default()).unwrap(),
                _ => true,
            }
        })))
    }

    fn narrows_by(&self, _database: Option<&str>, _collection: &str, _path: &str) -> bool {
        self.narrows
    }
}

/// Runs a pipeline over documents.
pub(crate) fn run_with(memory: Memory, documents: &str, pipeline: &str) -> Result<Vec<Object>> {
    let pipeline = Pipeline::parse(&array(pipeline), &Scope::default())?;
    let input: Documents = Box::new(objects(documents).into_iter().map(Ok));
    pipeline
        .run(input, Arc::new(Environment { seed: 42, ..Environment::default() }), Arc::new(memory))?
        .collect()
}

/// Runs a pipeline and compares what comes with the expected documents, types of numbers aside where the text
/// cannot tell them.
#[track_caller]
pub(crate) fn check(documents: &str, pipeline: &str, expected: &str) {
    let result = run_with(Memory::default(), documents, pipeline)
        .unwrap_or_else(|error| panic!("{pipeline}: {} {}", error.code, error.message));
    let result: Vec<Value> = result.into_iter().map(Value::Object).collect();
    assert_eq!(shown(&Value::Array(result)), shown(&value(expected)), "{pipeline}");
}

/// Runs a pipeline that must fail, at reading or at running.
#[track_caller]
pub(crate) fn check_error(documents: &str, pipeline: &str, code: i32) {
    match run_with(Memory::default(), documents, pipeline) {
        Ok(result) => panic!("{pipeline} gave {result:?}, not {code}"),
        Err(error) => assert_eq!(error.code, code, "{pipeline}: {}", error.message),
    }
}
