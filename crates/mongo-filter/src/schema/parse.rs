//! Reads schemas.

use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::{Object, Value, mongo_cmp};

use super::{Allowed, Check, Dependency, Rule, Schema, duplicate};
use crate::limits::DEPTH_MAX;
use crate::number::is_number;
use crate::parse::count;
use crate::pattern::Pattern;
use crate::types::TypeSet;

const UNSUPPORTED: [&str; 6] = ["$ref", "$schema", "default", "definitions", "format", "id"];

const KEYWORDS: [&str; 29] = [
    "bsonType",
    "type",
    "title",
    "description",
    "enum",
    "required",
    "properties",
    "patternProperties",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "dependencies",
    "items",
    "additionalItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
];

pub(super) fn top(schema: &Value) -> Result<Schema> {
    match schema {
        Value::Object(object) => Reader { depth: 0 }.schema(object),
        _ => Err(mismatch("$jsonSchema must be an object")),
    }
}

fn mismatch(message: impl Into<String>) -> Error {
    Error::new(codes::TYPE_MISMATCH, message)
}

fn malformed(message: impl Into<String>) -> Error {
    Error::new(codes::FAILED_TO_PARSE, message)
}

#[derive(Clone, Copy)]
struct Reader {
    depth: usize,
}

impl Reader {
    fn schema(self, object: &Object) -> Result<Schema> {
        if self.depth >= DEPTH_MAX {
            return Err(Error::new(codes::OVERFLOW, "Maximum allowed depth of schema parsing is exceeded"));
        }
        let inner = Reader { depth: self.depth + 1 };
        let mut schema = Schema::default();
        for (name, _) in object.iter() {
            if UNSUPPORTED.contains(&name) {
                return Err(malformed(format!("$jsonSchema keyword '{name}' is not currently supported")));
            }
            if !KEYWORDS.contains(&name) {
                return Err(malformed(format!("Unknown $jsonSchema keyword: {name}")));
            }
        }
        if object.contains("type") && object.contains("bsonType") {
            return Err(malformed("Cannot specify both $jsonSchema keywords 'type' and 'bsonType'"));
        }
        for bound in ["minimum", "maximum"] {
            let exclusive = if bound == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
            match object.get(exclusive) {
                None => {}
                Some(Value::Bool(_)) if object.contains(bound) => {}
                Some(Value::Bool(_)) => {
                    return Err(malformed(format!(
                        "$jsonSchema keyword '{bound}' must be a present if {exclusive} is present"
                    )));
                }
                Some(_) => {
                    return Err(mismatch(format!("$jsonSchema keyword '{exclusive}' must be a boolean")));
                }
            }
        }
        for (name, operand) in object.iter() {
            let Some(keyword) = KEYWORDS.into_iter().find(|keyword| *keyword == name) else { continue };
            match keyword {
                "title" => schema.title = Some(text(keyword, operand)?.to_owned()),
                "description" => schema.description = Some(text(keyword, operand)?.to_owned()),
                "exclusiveMinimum" | "exclusiveMaximum" => {}
                _ => {
                    let check = inner.check(keyword, operand, object)?;
                    schema.rules.push(Rule { keyword, operand: operand.clone(), check });
                }
            }
        }
        Ok(schema)
    }

    fn check(self, keyword: &str, operand: &Value, object: &Object) -> Result<Check> {
        Ok(match keyword {
            "bsonType" | "type" => Check::Type(types(keyword, operand)?),
            "minimum" => Check::Minimum {
                bound: number(keyword, operand)?,
                is_exclusive: object.get("exclusiveMinimum") == Some(&Value::Bool(true)),
            },
            "maximum" => Check::Maximum {
                bound: number(keyword, operand)?,
                is_exclusive: object.get("exclusiveMaximum") == Some(&Value::Bool(true)),
            },
            "multipleOf" => {
                let divisor = number(keyword, operand)?;
                if mongo_cmp(&divisor, &Value::Int32(0)).is_le() {
                    return Err(malformed("$jsonSchema keyword 'multipleOf' must have a positive value"));
                }
                Check::MultipleOf(divisor)
            }
            "minLength" => Check::MinLength(size(keyword, operand)?),
            "maxLength" => Check::MaxLength(size(keyword, operand)?),
            "minItems" => Check::MinItems(size(keyword, operand)?),
            "maxItems" => Check::MaxItems(size(keyword, operand)?),
            "minProperties" => Check::MinProperties(size(keyword, operand)?),
            "maxProperties" => Check::MaxProperties(size(keyword, operand)?),
            "pattern" => Check::Pattern(Pattern::new(text(keyword, operand)?, "")?),
            "enum" => Check::Enum(enumeration(operand)?),
            "required" => Check::Required(names(keyword, operand)?),
            "properties" => Check::Properties(self.members(keyword, operand)?),
            "patternProperties" => {
                let members = self.members(keyword, operand)?;
                let patterns =
                    members.into_iter().map(|(name, schema)| Ok((Pattern::new(&name, "")?, schema)));
                Check::PatternProperties(patterns.collect::<Result<_>>()?)
            }
            "additionalProperties" => Check::AdditionalProperties {
                names: keys(object.get("properties")),
                patterns: keys(object.get("patternProperties"))
                    .iter()
                    .map(|pattern| Pattern::new(pattern, ""))
                    .collect::<Result<_>>()?,
                allowed: self.allowed(keyword, operand)?,
            },
            "items" => match operand {
                Value::Object(schema) => Check::Items(Box::new(self.schema(schema)?)),
                Value::Array(_) => Check::ItemList(self.schemas(keyword, operand, true)?),
                _ => {
                    return Err(mismatch("$jsonSchema keyword 'items' must be an array or an object"));
                }
            },
            "additionalItems" => Check::AdditionalItems {
                // Where all items have one schema, none is additional.
                after: match object.get("items") {
                    Some(Value::Array(schemas)) => schemas.len(),
                    _ => usize::MAX,
                },
                allowed: self.allowed(keyword, operand)?,
            },
            "uniqueItems" => match operand {
                Value::Bool(is_wanted) => Check::UniqueItems(*is_wanted),
                _ => return Err(mismatch("$jsonSchema keyword 'uniqueItems' must be a boolean")),
            },
            "allOf" => Check::AllOf(self.schemas(keyword, operand, false)?),
            "anyOf" => Check::AnyOf(self.schemas(keyword, operand, false)?),
            "oneOf" => Check::OneOf(self.schemas(keyword, operand, false)?),
            "not" => match operand {
                Value::Object(schema) => Check::Not(Box::new(self.schema(schema)?)),
                _ => return Err(mismatch("$jsonSchema keyword 'not' must be an object")),
            },
            "dependencies" => Check::Dependencies(self.dependencies(operand)?),
            other => return Err(malformed(format!("Unknown $jsonSchema keyword: {other}"))),
        })
    }

    fn members(self, keyword: &str, operand: &Value) -> Result<Vec<(String, Schema)>> {
        let Value::Object(object) = operand else {
            return Err(mismatch(format!("$jsonSchema keyword '{keyword}' must be an object")));
        };
        let member = |(name, schema): (&str, &Value)| match schema {
            Value::Object(schema) => Ok((name.to_owned(), self.schema(schema)?)),
            _ => Err(mismatch(format!("Nested schema for $jsonSchema property '{name}' must be an object"))),
        };
        object.iter().map(member).collect()
    }

    fn schemas(self, keyword: &str, operand: &Value, may_be_empty: bool) -> Result<Vec<Schema>> {
        let Value::Array(elements) = operand else {
            return Err(mismatch(format!("$jsonSchema keyword '{keyword}' must be an array")));
        };
        if elements.is_empty() && !may_be_empty {
            return Err(Error::bad_value(format!(
                "$jsonSchema keyword '{keyword}' must be a non-empty array"
            )));
        }
        let schema = |element: &Value| match element {
            Value::Object(schema) => self.schema(schema),
            _ => Err(mismatch(format!("$jsonSchema keyword '{keyword}' must be an array of objects"))),
        };
        elements.iter().map(schema).collect()
    }

    fn allowed(self, keyword: &str, operand: &Value) -> Result<Allowed> {
        match operand {
            Value::Bool(true) => Ok(Allowed::All),
            Value::Bool(false) => Ok(Allowed::Nothing),
            Value::Object(schema) => Ok(Allowed::Only(Box::new(self.schema(schema)?))),
            _ => Err(mismatch(format!("$jsonSchema keyword '{keyword}' must be an object or a boolean"))),
        }
    }

    fn dependencies(self, operand: &Value) -> Result<Vec<(String, Dependency)>> {
        let Value::Object(object) = operand else {
            return Err(mismatch("$jsonSchema keyword 'dependencies' must be an object"));
        };
        let dependency = |(name, value): (&str, &Value)| {
            let dependency = match value {
                Value::Object(schema) => Dependency::Schema(self.schema(schema)?),
                Value::Array(_) => Dependency::Names(names("dependencies", value)?),
                _ => {
                    return Err(mismatch(
                        "$jsonSchema keyword 'dependencies' must be an object or an array of strings for each property",
                    ));
                }
            };
            Ok((name.to_owned(), dependency))
        };
        object.iter().map(dependency).collect()
    }
}

fn keys(object: Option<&Value>) -> Vec<String> {
    object
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Object::iter)
        .map(|(name, _)| name.to_owned())
        .collect()
}

fn text<'a>(keyword: &str, operand: &'a Value) -> Result<&'a str> {
    operand.as_str().ok_or_else(|| mismatch(format!("$jsonSchema keyword '{keyword}' must be a string")))
}

fn number(keyword: &str, operand: &Value) -> Result<Value> {
    if is_number(operand) {
        return Ok(operand.clone());
    }
    Err(mismatch(format!("$jsonSchema keyword '{keyword}' must be a number")))
}

fn size(keyword: &str, operand: &Value) -> Result<u64> {
    count(keyword, operand).map_err(|reason| {
        let message = format!("Failed to parse $jsonSchema keyword '{keyword}' :: caused by :: {reason}");
        if is_number(operand) { malformed(message) } else { mismatch(message) }
    })
}

fn types(keyword: &str, operand: &Value) -> Result<TypeSet> {
    let mut types = TypeSet::default();
    let mut add = |alias: &Value| {
        let Some(alias) = alias.as_str() else {
            return Err(mismatch(format!("$jsonSchema keyword '{keyword}' must name types by strings")));
        };
        if keyword == "bsonType" {
            return types.insert_alias(alias);
        }
        match alias {
            "integer" => Err(malformed("$jsonSchema type 'integer' is not currently supported.")),
            "boolean" => types.insert_alias("bool"),
            "object" | "array" | "string" | "number" | "null" => types.insert_alias(alias),
            other => Err(Error::bad_value(format!("Unknown type name alias: {other}"))),
        }
    };
    match operand {
        Value::Array(aliases) => {
            if let Some(twice) = duplicate(aliases) {
                let shown = twice.as_str().unwrap_or_default();
                return Err(malformed(format!(
                    "$jsonSchema keyword '{keyword}' has duplicate value: {shown}"
                )));
            }
            aliases.iter().try_for_each(&mut add)?;
        }
        Value::String(_) => add(operand)?,
        _ => {
            return Err(mismatch(format!(
                "$jsonSchema keyword '{keyword}' must be either a string or an array of strings"
            )));
        }
    }
    if types.is_empty() {
        return Err(malformed(format!("$jsonSchema keyword '{keyword}' must name at least one type")));
    }
    Ok(types)
}

fn enumeration(operand: &Value) -> Result<Vec<Value>> {
    let Value::Array(values) = operand else {
        return Err(mismatch("$jsonSchema keyword 'enum' must be an array"));
    };
    if values.is_empty() {
        return Err(malformed("$jsonSchema keyword 'enum' cannot be an empty array"));
    }
    if duplicate(values).is_some() {
        return Err(malformed("$jsonSchema keyword 'enum' array cannot contain duplicate values."));
    }
    Ok(values.clone())
}

fn names(keyword: &str, operand: &Value) -> Result<Vec<String>> {
    let Value::Array(elements) = operand else {
        return Err(mismatch(format!("$jsonSchema keyword '{keyword}' must be an array")));
    };
    if elements.is_empty() {
        return Err(malformed(format!("$jsonSchema keyword '{keyword}' cannot be an empty array")));
    }
    let mut names: Vec<String> = Vec::with_capacity(elements.len());
    for element in elements {
        let Some(name) = element.as_str() else {
            return Err(mismatch(format!("$jsonSchema keyword '{keyword}' must be an array of strings")));
        };
        if names.iter().any(|own| own == name) {
            return Err(malformed(format!(
                "$jsonSchema keyword '{keyword}' array cannot contain duplicate values"
            )));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}
