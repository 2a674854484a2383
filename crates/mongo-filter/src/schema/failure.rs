//! Tells which rules of a schema a document breaks, as `errInfo` of a refused write has it.

use armilla_mongo_expression::Result;
use armilla_value::{Object, Value};

use super::{Allowed, Check, Dependency, Rule, Schema, Subject, duplicate, is_additional, missing};
use crate::types::type_name;

impl Schema {
    /// Returns the rules that a document breaks.
    pub fn failures(&self, document: &Object) -> Result<Vec<Value>> {
        self.failures_in(Subject::Document(document))
    }

    fn failures_in(&self, subject: Subject<'_>) -> Result<Vec<Value>> {
        let mut failures = Vec::new();
        for rule in &self.rules {
            if !rule.check.admits(subject)? {
                failures.push(Value::Object(rule.failure(subject)?));
            }
        }
        Ok(failures)
    }

    /// Begins the description of a member that breaks this schema.
    fn about(&self, name: &str) -> Object {
        let mut about = Object::from([("propertyName", name)]);
        if let Some(title) = &self.title {
            about.insert("title", title.as_str());
        }
        if let Some(description) = &self.description {
            about.insert("description", description.as_str());
        }
        about
    }

    fn member(&self, name: &str, value: &Value) -> Result<Value> {
        let mut about = self.about(name);
        about.insert("details", Value::Array(self.failures_in(Subject::Value(value))?));
        Ok(Value::Object(about))
    }
}

impl Rule {
    fn failure(&self, subject: Subject<'_>) -> Result<Object> {
        let mut failure = Object::from([("operatorName", self.keyword)]);
        let object = subject.object();
        match &self.check {
            Check::Properties(properties) => {
                let mut broken = Vec::new();
                for (name, schema) in properties {
                    if let Some(value) = object.and_then(|object| object.get(name))
                        && !schema.admits(value)?
                    {
                        broken.push(schema.member(name, value)?);
                    }
                }
                failure.insert("propertiesNotSatisfied", Value::Array(broken));
            }
            Check::PatternProperties(patterns) => {
                let mut details = Vec::new();
                for (name, value) in object.into_iter().flat_map(Object::iter) {
                    for (pattern, schema) in patterns {
                        if pattern.is_match(name)? && !schema.admits(value)? {
                            let mut about = schema.about(name);
                            about.insert("regexMatched", pattern.pattern.as_str());
                            about.insert("details", Value::Array(schema.failures_in(Subject::Value(value))?));
                            details.push(Value::Object(about));
                        }
                    }
                }
                failure.insert("details", Value::Array(details));
            }
            Check::AdditionalProperties { names, patterns, allowed } => {
                let (mut extra, mut broken) = (Vec::new(), Vec::new());
                for (name, value) in object.into_iter().flat_map(Object::iter) {
                    if is_additional(name, names, patterns)? && !allowed.admits(value)? {
                        match allowed {
                            Allowed::Only(schema) => broken.push(schema.member(name, value)?),
                            _ => extra.push(Value::from(name)),
                        }
                    }
                }
                self.specify(&mut failure);
                if extra.is_empty() {
                    failure.insert("reason", "at least one additional property did not match the subschema");
                    failure.insert("additionalProperties", Value::Array(broken));
                } else {
                    failure.insert("additionalProperties", Value::Array(extra));
                }
            }
            Check::Required(names) => {
                self.specify(&mut failure);
                let missing = object.into_iter().flat_map(|object| missing(names, object));
                failure.insert("missingProperties", Value::Array(missing.map(Value::from).collect()));
            }
            Check::Dependencies(dependencies) => {
                let mut details = Vec::new();
                for (name, dependency) in dependencies {
                    let Some(object) = object.filter(|object| object.contains(name)) else { continue };
                    let mut about = Object::from([("conditionalProperty", name.as_str())]);
                    match dependency {
                        Dependency::Names(names) => {
                            let missing: Vec<Value> = missing(names, object).map(Value::from).collect();
                            if missing.is_empty() {
                                continue;
                            }
                            about.insert("missingProperties", Value::Array(missing));
                        }
                        Dependency::Schema(schema) => {
                            let failures = schema.failures_in(subject)?;
                            if failures.is_empty() {
                                continue;
                            }
                            about.insert("details", Value::Array(failures));
                        }
                    }
                    details.push(Value::Object(about));
                }
                failure.insert("failingDependencies", Value::Array(details));
            }
            Check::Items(schema) => {
                failure.insert("reason", "At least one item did not match the sub-schema");
                for (index, element) in subject.array().unwrap_or_default().iter().enumerate() {
                    if !schema.admits(element)? {
                        failure.insert("itemIndex", Value::Int32(index as i32));
                        failure.insert("details", Value::Array(schema.failures_in(Subject::Value(element))?));
                        break;
                    }
                }
            }
            Check::AllOf(schemas) | Check::AnyOf(schemas) | Check::OneOf(schemas) => {
                let mut broken = Vec::new();
                for (index, schema) in schemas.iter().enumerate() {
                    let failures = schema.failures_in(subject)?;
                    if !failures.is_empty() {
                        let mut about = Object::from([("index", Value::Int32(index as i32))]);
                        about.insert("details", Value::Array(failures));
                        broken.push(Value::Object(about));
                    }
                }
                if matches!(self.check, Check::OneOf(_)) && broken.len() < schemas.len() {
                    failure.insert("reason", "more than one subschema matched");
                } else {
                    failure.insert("schemasNotSatisfied", Value::Array(broken));
                }
            }
            Check::Not(_) => {
                failure.insert("reason", "child expression matched");
            }
            Check::UniqueItems(_) => {
                self.specify(&mut failure);
                failure.insert("reason", "found a duplicate item");
                failure.insert("consideredValue", subject.to_value());
                if let Some(twice) = subject.array().and_then(duplicate) {
                    failure.insert("duplicatedValue", twice.clone());
                }
            }
            Check::Type(_) => {
                self.specify(&mut failure);
                let value = subject.to_value();
                failure.insert("reason", "type did not match");
                let name = type_name(&value);
                failure.insert("consideredValue", value);
                failure.insert("consideredType", name);
            }
            other => {
                self.specify(&mut failure);
                failure.insert("reason", reason(other));
                failure.insert("consideredValue", subject.to_value());
            }
        }
        Ok(failure)
    }

    fn specify(&self, failure: &mut Object) {
        failure.insert("specifiedAs", Object::from([(self.keyword, self.operand.clone())]));
    }
}

fn reason(check: &Check) -> &'static str {
    match check {
        Check::Minimum { .. } | Check::Maximum { .. } => "comparison failed",
        Check::MultipleOf(_) => "considered value is not a multiple of the specified value",
        Check::MinLength(_) | Check::MaxLength(_) => "specified string length was not satisfied",
        Check::Pattern(_) => "regular expression did not match",
        Check::Enum(_) => "value was not found in enum",
        Check::MinProperties(_) | Check::MaxProperties(_) => {
            "specified number of properties was not satisfied"
        }
        Check::MinItems(_) | Check::MaxItems(_) => "array did not match specified length",
        _ => "did not match",
    }
}
