//! `$out` and `$merge`: what they say; the caller writes.

use std::sync::Arc;

use armilla_mongo_expression::{Environment, Error, Expression, Result, is_nullish};
use armilla_value::{Object, Value};

use crate::Pipeline;
use crate::arguments::{
    check_variable_name, known_members, missing_member, scope_with, shown, type_name, wrong_type,
};
use crate::parse::{Place, Reading};
use crate::path::FieldPath;

/// `$out` as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Out {
    /// The database, if another is named.
    pub database: Option<String>,
    /// The collection that is replaced.
    pub collection: String,
}

impl Out {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value) -> Result<Out> {
        match argument {
            Value::String(collection) => Ok(Out { database: None, collection: collection.clone() }),
            Value::Object(object) if object.contains("timeseries") => Err(Error::new(
                armilla_mongo_expression::codes::COMMAND_NOT_SUPPORTED,
                "$out to a time-series collection is not supported",
            )),
            Value::Object(object) => match (object.len(), object.get("db"), object.get("coll")) {
                (2, Some(Value::String(database)), Some(Value::String(collection))) => {
                    Ok(Out { database: Some(database.clone()), collection: collection.clone() })
                }
                _ => Err(Error::new(
                    16994,
                    format!(
                        "If an object is passed to $out it must have exactly 2 fields: 'db' and 'coll'. Found: {}",
                        shown(argument)
                    ),
                )),
            },
            other => Err(Error::new(
                16990,
                format!("$out only supports a string or object argument, but found {}", type_name(other)),
            )),
        }
    }
}

/// `$merge` as it was read.
#[derive(Debug, Clone)]
pub struct Merge {
    /// The database, if another is named.
    pub database: Option<String>,
    /// The collection that is written.
    pub collection: String,
    /// The fields by which documents are found; none given is `_id`, and the shard key.
    pub on: Option<Vec<FieldPath>>,
    /// Variables for the pipeline, evaluated over the document that comes in. `new` is that document.
    pub variables: Vec<(String, Expression)>,
    /// What happens to a document that is there.
    pub when_matched: WhenMatched,
    /// What happens if none is there.
    pub when_not_matched: WhenNotMatched,
}

/// What `$merge` does where a document is there.
#[derive(Debug, Clone)]
pub enum WhenMatched {
    /// It is replaced.
    Replace,
    /// It stays as it is.
    KeepExisting,
    /// Fields of the new one are set in it.
    Merge,
    /// That is a failure.
    Fail,
    /// It goes through these stages.
    Pipeline(Arc<Pipeline>),
}

/// What `$merge` does where no document is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenNotMatched {
    /// The new one is inserted.
    Insert,
    /// The new one is dropped.
    Discard,
    /// That is a failure.
    Fail,
}

impl Merge {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value, reading: &Reading<'_>) -> Result<Merge> {
        let object = match argument {
            Value::String(collection) => Object::from([("into", collection.as_str())]),
            Value::Object(object) => object.clone(),
            other => {
                return Err(Error::new(
                    51182,
                    format!("$merge only supports a string or object argument, not {}", type_name(other)),
                ));
            }
        };
        known_members("$merge", &object, &["into", "on", "let", "whenMatched", "whenNotMatched"])?;
        let (database, collection) = match object.get("into") {
            None => return Err(missing_member("$merge", "into")),
            Some(Value::String(collection)) => (None, collection.clone()),
            Some(Value::Object(into)) => {
                known_members("$merge.into", into, &["db", "coll"])?;
                let database = match into.get("db") {
                    None => None,
                    Some(Value::String(database)) => Some(database.clone()),
                    Some(other) => return Err(wrong_type("$merge.into", "db", other, "string")),
                };
                match into.get("coll") {
                    Some(Value::String(collection)) => (database, collection.clone()),
                    None => return Err(missing_member("$merge.into", "coll")),
                    Some(other) => return Err(wrong_type("$merge.into", "coll", other, "string")),
                }
            }
            Some(other) => {
                return Err(Error::new(
                    51178,
                    format!(
                        "$merge 'into' field must be either a string or an object, but found {}",
                        type_name(other)
                    ),
                ));
            }
        };
        let (when_matched, variables) = when_matched(&object, reading)?;
        let when_not_matched = match object.get("whenNotMatched") {
            None => WhenNotMatched::Insert,
            Some(Value::String(mode)) => match mode.as_str() {
                "insert" => WhenNotMatched::Insert,
                "discard" => WhenNotMatched::Discard,
                "fail" => WhenNotMatched::Fail,
                other => return Err(not_in_enumeration("whenNotMatched", other)),
            },
            Some(other) => return Err(wrong_type("$merge", "whenNotMatched", other, "string")),
        };
        if matches!(when_matched, WhenMatched::KeepExisting | WhenMatched::Fail)
            && when_not_matched != WhenNotMatched::Insert
        {
            return Err(Error::new(
                51181,
                format!(
                    "Combination of $merge modes is not supported: whenMatched: {}, whenNotMatched: {}",
                    object.get("whenMatched").map(shown).unwrap_or_default(),
                    object.get("whenNotMatched").map(shown).unwrap_or_default()
                ),
            ));
        }
        Ok(Merge {
            database,
            collection,
            on: on(object.get("on"))?,
            variables,
            when_matched,
            when_not_matched,
        })
    }
}

impl Merge {
    /// Returns the values by which the document that a new one meets is found, if `on` says by which fields.
    pub fn on_values(&self, document: &Object) -> Result<Option<Vec<(String, Value)>>> {
        let Some(paths) = &self.on else { return Ok(None) };
        let mut values = Vec::with_capacity(paths.len());
        for path in paths {
            let refuse = |code| {
                let text = "cannot be missing, null, undefined or an array";
                Err(Error::new(code, format!("$merge write error: 'on' field '{}' {text}", path.as_str())))
            };
            match path.get(document) {
                Some(Value::Array(_)) => return refuse(51185),
                Some(value) if !is_nullish(Some(value)) => {
                    values.push((path.as_str().to_owned(), value.clone()))
                }
                _ => return refuse(51132),
            }
        }
        Ok(Some(values))
    }

    /// Returns the environment in which the pipeline of `whenMatched` runs for a new document.
    pub fn environment(&self, document: &Object, environment: &Environment) -> Result<Environment> {
        let mut inner = environment.clone();
        for (name, expression) in &self.variables {
            match expression.evaluate(document, environment)? {
                Some(value) => inner.variables.insert(name.as_str(), value),
                None => inner.variables.remove(name),
            };
        }
        Ok(inner)
    }
}

fn not_in_enumeration(field: &str, value: &str) -> Error {
    Error::bad_value(format!("Enumeration value '{value}' for field '$merge.{field}' is not a valid value."))
}

fn on(argument: Option<&Value>) -> Result<Option<Vec<FieldPath>>> {
    match argument {
        None => Ok(None),
        Some(Value::String(path)) => Ok(Some(vec![FieldPath::parse(path)?])),
        Some(Value::Array(paths)) if paths.is_empty() => {
            Err(Error::new(51187, "If explicitly specifying $merge 'on', must include at least one field"))
        }
        Some(Value::Array(paths)) => {
            let mut fields: Vec<FieldPath> = Vec::with_capacity(paths.len());
            for path in paths {
                let Value::String(path) = path else {
                    return Err(Error::new(
                        51134,
                        format!("$merge 'on' array elements must be strings, but found {}", type_name(path)),
                    ));
                };
                if fields.iter().any(|known| known.as_str() == path) {
                    return Err(Error::new(
                        31465,
                        format!("Found a duplicate field '{path}' in $merge 'on'"),
                    ));
                }
                fields.push(FieldPath::parse(path)?);
            }
            Ok(Some(fields))
        }
        Some(other) => Err(Error::new(
            51186,
            format!(
                "$merge 'on' field  must be either a string or an array of strings, but found {}",
                type_name(other)
            ),
        )),
    }
}

fn when_matched(object: &Object, reading: &Reading<'_>) -> Result<(WhenMatched, Vec<(String, Expression)>)> {
    let variables = match object.get("let") {
        None => None,
        Some(Value::Object(variables)) => Some(variables),
        Some(other) => return Err(wrong_type("$merge", "let", other, "object")),
    };
    let mode = match object.get("whenMatched") {
        None => WhenMatched::Merge,
        Some(Value::Array(stages)) => {
            let root = Value::String("$$ROOT".to_owned());
            if variables.and_then(|variables| variables.get("new")).is_some_and(|value| *value != root) {
                return Err(Error::new(
                    51273,
                    "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'",
                ));
            }
            let mut read = Vec::new();
            for (name, value) in
                variables.into_iter().flat_map(Object::iter).filter(|(name, _)| *name != "new")
            {
                check_variable_name(name)?;
                read.push((name.to_owned(), Expression::parse(value, reading.scope)?));
            }
            read.push(("new".to_owned(), Expression::parse(&root, reading.scope)?));
            let scope = scope_with(reading.scope, read.iter().map(|(name, _)| name.as_str()));
            let pipeline = Reading { scope: &scope, ..reading.inside(Place::Update)? }.pipeline(stages)?;
            return Ok((WhenMatched::Pipeline(Arc::new(pipeline)), read));
        }
        Some(Value::String(mode)) => match mode.as_str() {
            "replace" => WhenMatched::Replace,
            "keepExisting" => WhenMatched::KeepExisting,
            "merge" => WhenMatched::Merge,
            "fail" => WhenMatched::Fail,
            other => return Err(not_in_enumeration("whenMatched", other)),
        },
        Some(other) => {
            return Err(Error::new(
                51191,
                format!(
                    "$merge 'whenMatched' field must be either a string or an array, but found {}",
                    type_name(other)
                ),
            ));
        }
    };
    if variables.is_some() {
        return Err(Error::new(
            51199,
            format!(
                "Cannot use 'let' variables with 'whenMatched: {}' mode",
                object.get("whenMatched").map_or_else(|| "merge".to_owned(), shown)
            ),
        ));
    }
    Ok((mode, Vec::new()))
}
