//! `$fill`: values in the place of what is null or missing. It becomes other stages.

use std::sync::Arc;

use armilla_mongo_expression::{Error, Result, Scope};
use armilla_mongo_filter::AddFields;
use armilla_value::{Object, Value};

use crate::Stage;
use crate::arguments::{known_members, missing_member, object_or, shown, type_name, wrong_type};
use crate::dependencies::{Fields, Needs};
use crate::parse::Stages;
use crate::path::FieldPath;
use crate::stages::window::SetWindowFields;

/// Reads the arguments.
pub(crate) fn parse(argument: &Value, scope: &Scope) -> Result<Stages> {
    let object = object_or(argument, 9, || {
        format!("The $fill stage specification must be an object, found {}", type_name(argument))
    })?;
    known_members("$fill", object, &["partitionBy", "partitionByFields", "sortBy", "output"])?;
    let outputs = match object.get("output") {
        None => return Err(missing_member("$fill", "output")),
        Some(Value::Object(outputs)) if !outputs.is_empty() => outputs,
        Some(Value::Object(_)) => {
            return Err(Error::new(6050203, "The output field in '$fill' must contain at least one element"));
        }
        Some(other) => return Err(wrong_type("$fill", "output", other, "object")),
    };
    let (mut windows, mut values) = (Object::new(), Object::new());
    let mut needed = Fields::none();
    for (path, method) in outputs.iter() {
        let method = object_or(method, 6050200, || format!("$fill output '{path}' must be an object"))?;
        known_members("$fill.output", method, &["value", "method"])?;
        let field = Value::String(format!("${path}"));
        match (method.get("value"), method.get("method")) {
            (Some(value), None) => {
                needed = needed.expression(value).path(path);
                let filled = Object::from([("$ifNull", Value::Array(vec![field, value.clone()]))]);
                values.insert(path, Value::Object(filled));
            }
            (None, Some(Value::String(name))) => {
                let function = match name.as_str() {
                    "linear" => "$linearFill",
                    "locf" => "$locf",
                    _ => return Err(Error::new(6050202, "Method must be either locf or linear")),
                };
                if function == "$linearFill" && !object.contains("sortBy") {
                    return Err(Error::new(
                        605001,
                        "$linearFill must be specified with a top level sortBy expression with exactly one element",
                    ));
                }
                windows.insert(path, Value::Object(Object::from([(function, field)])));
            }
            (None, Some(other)) => {
                return Err(Error::new(
                    6050202,
                    format!("Method must be either locf or linear, found {}", shown(other)),
                ));
            }
            _ => {
                return Err(Error::new(
                    40414,
                    "exactly one of 'value' and 'method' must be specified for each output field of $fill",
                ));
            }
        }
    }
    let partition = partition_by(object)?;
    let mut stages = Stages::new();
    if !windows.is_empty() {
        let mut specification = Object::new();
        if let Some(partition) = partition {
            specification.insert("partitionBy", partition);
        }
        if let Some(sort) = object.get("sortBy") {
            specification.insert("sortBy", sort.clone());
        }
        specification.insert("output", windows);
        let (windows, needs) = SetWindowFields::parse(&Value::Object(specification), scope)?;
        stages.push((Stage::SetWindowFields(Arc::new(windows)), needs));
    }
    if !values.is_empty() {
        stages.push((Stage::AddFields(Arc::new(AddFields::parse(&values, scope)?)), Needs::open(needed)));
    }
    Ok(stages)
}

fn partition_by(object: &Object) -> Result<Option<Value>> {
    match (object.get("partitionBy"), object.get("partitionByFields")) {
        (Some(_), Some(_)) => Err(Error::new(
            6050204,
            "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'",
        )),
        (Some(Value::String(text)), None) if !text.starts_with('$') => Err(Error::new(
            6050205,
            "If 'partitionBy' is a string, it must be a field path beginning with '$'",
        )),
        (Some(expression), None) => Ok(Some(expression.clone())),
        (None, Some(Value::Array(fields))) => {
            let mut parts = Object::new();
            for (index, field) in fields.iter().enumerate() {
                let Value::String(field) = field else {
                    return Err(wrong_type("$fill", "partitionByFields", field, "string"));
                };
                FieldPath::parse(field)?;
                parts.insert(format!("f{index}"), format!("${field}"));
            }
            Ok((!parts.is_empty()).then_some(Value::Object(parts)))
        }
        (None, Some(other)) => Err(wrong_type("$fill", "partitionByFields", other, "array")),
        (None, None) => Ok(None),
    }
}
