//! `$jsonSchema`: the part of draft 4 that the server knows, with `bsonType`.
//!
//! A schema is a list of rules. A rule about one type of values holds for all others. Nothing is looked for in the
//! elements of arrays, other than by `items`.

mod failure;
mod parse;

use armilla_mongo_expression::arithmetic::to_decimal;
use armilla_mongo_expression::{Result, decimal_arithmetic};
use armilla_value::{Object, Value, mongo_cmp};

use crate::number::is_number;
use crate::pattern::Pattern;
use crate::types::TypeSet;

/// A schema that was read.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    rules: Vec<Rule>,
    /// What people are told of it.
    title: Option<String>,
    description: Option<String>,
}

/// A keyword with what it asks for.
#[derive(Debug, Clone)]
struct Rule {
    keyword: &'static str,
    /// As it was written.
    operand: Value,
    check: Check,
}

#[derive(Debug, Clone)]
enum Check {
    Type(TypeSet),
    Minimum {
        bound: Value,
        is_exclusive: bool,
    },
    Maximum {
        bound: Value,
        is_exclusive: bool,
    },
    MultipleOf(Value),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Pattern),
    Enum(Vec<Value>),
    Required(Vec<String>),
    Properties(Vec<(String, Schema)>),
    PatternProperties(Vec<(Pattern, Schema)>),
    /// What is said of members that neither a name nor a pattern is about.
    AdditionalProperties {
        names: Vec<String>,
        patterns: Vec<Pattern>,
        allowed: Allowed,
    },
    MinProperties(u64),
    MaxProperties(u64),
    Items(Box<Schema>),
    ItemList(Vec<Schema>),
    AdditionalItems {
        after: usize,
        allowed: Allowed,
    },
    MinItems(u64),
    MaxItems(u64),
    UniqueItems(bool),
    AllOf(Vec<Schema>),
    AnyOf(Vec<Schema>),
    OneOf(Vec<Schema>),
    Not(Box<Schema>),
    Dependencies(Vec<(String, Dependency)>),
}

/// What may be where nothing else is said.
#[derive(Debug, Clone)]
enum Allowed {
    All,
    Nothing,
    Only(Box<Schema>),
}

/// What must be so if a member is there.
#[derive(Debug, Clone)]
enum Dependency {
    Names(Vec<String>),
    Schema(Schema),
}

impl Schema {
    /// Reads a schema.
    pub fn parse(schema: &Value) -> Result<Schema> {
        parse::top(schema)
    }

    /// Says whether a document is as the schema wants it.
    pub fn matches(&self, document: &Object) -> Result<bool> {
        // Rules about a document look at its members; what looks at the whole value is rare.
        self.admits_in(Subject::Document(document))
    }

    fn admits(&self, value: &Value) -> Result<bool> {
        self.admits_in(Subject::Value(value))
    }

    fn admits_in(&self, subject: Subject<'_>) -> Result<bool> {
        for rule in &self.rules {
            if !rule.check.admits(subject)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What is looked at: a document as a whole, or a value in it.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Document(&'a Object),
    Value(&'a Value),
}

impl<'a> Subject<'a> {
    fn object(self) -> Option<&'a Object> {
        match self {
            Subject::Document(object) | Subject::Value(Value::Object(object)) => Some(object),
            Subject::Value(_) => None,
        }
    }

    fn array(self) -> Option<&'a [Value]> {
        match self {
            Subject::Value(Value::Array(elements)) => Some(elements),
            _ => None,
        }
    }

    fn text(self) -> Option<&'a str> {
        match self {
            Subject::Value(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn number(self) -> Option<&'a Value> {
        match self {
            Subject::Value(value) if is_number(value) => Some(value),
            _ => None,
        }
    }

    fn to_value(self) -> Value {
        match self {
            Subject::Document(object) => Value::Object(object.clone()),
            Subject::Value(value) => value.clone(),
        }
    }
}

impl Check {
    fn admits(&self, subject: Subject<'_>) -> Result<bool> {
        Ok(match self {
            Check::Type(types) => match subject {
                Subject::Document(_) => types.contains(&Value::Object(Object::new())),
                Subject::Value(value) => types.contains(value),
            },
            Check::Minimum { bound, is_exclusive } => subject.number().is_none_or(|number| {
                let order = mongo_cmp(number, bound);
                order.is_gt() || (order.is_eq() && !is_exclusive)
            }),
            Check::Maximum { bound, is_exclusive } => subject.number().is_none_or(|number| {
                let order = mongo_cmp(number, bound);
                order.is_lt() || (order.is_eq() && !is_exclusive)
            }),
            Check::MultipleOf(divisor) => subject.number().is_none_or(|number| {
                let (Some(number), Some(divisor)) = (to_decimal(number), to_decimal(divisor)) else {
                    return false;
                };
                decimal_arithmetic::is_zero(decimal_arithmetic::remainder(number, divisor))
            }),
            Check::MinLength(least) => {
                subject.text().is_none_or(|text| text.chars().count() as u64 >= *least)
            }
            Check::MaxLength(most) => subject.text().is_none_or(|text| text.chars().count() as u64 <= *most),
            Check::Pattern(pattern) => match subject.text() {
                Some(text) => pattern.is_match(text)?,
                None => true,
            },
            Check::Enum(values) => match subject {
                Subject::Value(value) => values.iter().any(|own| mongo_cmp(own, value).is_eq()),
                Subject::Document(_) => {
                    let value = subject.to_value();
                    values.iter().any(|own| mongo_cmp(own, &value).is_eq())
                }
            },
            Check::Required(names) => {
                subject.object().is_none_or(|object| missing(names, object).next().is_none())
            }
            Check::Properties(properties) => match subject.object() {
                Some(object) => {
                    for (name, schema) in properties {
                        if let Some(value) = object.get(name)
                            && !schema.admits(value)?
                        {
                            return Ok(false);
                        }
                    }
                    true
                }
                None => true,
            },
            Check::PatternProperties(patterns) => {
                for (name, value) in subject.object().into_iter().flat_map(Object::iter) {
                    for (pattern, schema) in patterns {
                        if pattern.is_match(name)? && !schema.admits(value)? {
                            return Ok(false);
                        }
                    }
                }
                true
            }
            Check::AdditionalProperties { names, patterns, allowed } => {
                for (name, value) in subject.object().into_iter().flat_map(Object::iter) {
                    if is_additional(name, names, patterns)? && !allowed.admits(value)? {
                        return Ok(false);
                    }
                }
                true
            }
            Check::MinProperties(least) => {
                subject.object().is_none_or(|object| object.len() as u64 >= *least)
            }
            Check::MaxProperties(most) => subject.object().is_none_or(|object| object.len() as u64 <= *most),
            Check::Items(schema) => {
                for element in subject.array().unwrap_or_default() {
                    if !schema.admits(element)? {
                        return Ok(false);
                    }
                }
                true
            }
            Check::ItemList(schemas) => {
                for (element, schema) in subject.array().unwrap_or_default().iter().zip(schemas) {
                    if !schema.admits(element)? {
                        return Ok(false);
                    }
                }
                true
            }
            Check::AdditionalItems { after, allowed } => {
                for element in subject.array().unwrap_or_default().iter().skip(*after) {
                    if !allowed.admits(element)? {
                        return Ok(false);
                    }
                }
                true
            }
            Check::MinItems(least) => subject.array().is_none_or(|elements| elements.len() as u64 >= *least),
            Check::MaxItems(most) => subject.array().is_none_or(|elements| elements.len() as u64 <= *most),
            Check::UniqueItems(is_wanted) => {
                !is_wanted || subject.array().is_none_or(|elements| duplicate(elements).is_none())
            }
            Check::AllOf(schemas) => count(schemas, subject)? == schemas.len(),
            Check::AnyOf(schemas) => count(schemas, subject)? > 0,
            Check::OneOf(schemas) => count(schemas, subject)? == 1,
            Check::Not(schema) => !schema.admits_in(subject)?,
            Check::Dependencies(dependencies) => {
                let Some(object) = subject.object() else { return Ok(true) };
                for (name, dependency) in dependencies {
                    let holds = match dependency {
                        _ if !object.contains(name) => true,
                        Dependency::Names(names) => missing(names, object).next().is_none(),
                        Dependency::Schema(schema) => schema.admits_in(subject)?,
                    };
                    if !holds {
                        return Ok(false);
                    }
                }
                true
            }
        })
    }
}

impl Allowed {
    fn admits(&self, value: &Value) -> Result<bool> {
        match self {
            Allowed::All => Ok(true),
            Allowed::Nothing => Ok(false),
            Allowed::Only(schema) => schema.admits(value),
        }
    }
}

fn missing<'a>(names: &'a [String], object: &'a Object) -> impl Iterator<Item = &'a str> {
    names.iter().map(String::as_str).filter(|name| !object.contains(name))
}

fn is_additional(name: &str, names: &[String], patterns: &[Pattern]) -> Result<bool> {
    if names.iter().any(|own| own == name) {
        return Ok(false);
    }
    for pattern in patterns {
        if pattern.is_match(name)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn count(schemas: &[Schema], subject: Subject<'_>) -> Result<usize> {
    let mut count = 0;
    for schema in schemas {
        count += usize::from(schema.admits_in(subject)?);
    }
    Ok(count)
}

/// Returns an element that comes twice.
fn duplicate(elements: &[Value]) -> Option<&Value> {
    let mut sorted: Vec<&Value> = elements.iter().collect();
    sorted.sort_by(|left, right| mongo_cmp(left, right));
    sorted.windows(2).find(|pair| mongo_cmp(pair[0], pair[1]).is_eq()).map(|pair| pair[0])
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
