//! Whether a value satisfies a predicate.
//!
//! Comparisons between families of types, and with NaN, are false; joined predicates are ordinary logic above that.
//! Predicates of texts are false for what is no text.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::Arc;

use crate::{Predicate, PredicateKind, Value};

/// How many compiled patterns a thread keeps.
const PATTERNS_MAX: usize = 16;

impl Predicate {
    /// Makes a predicate.
    pub fn new(kind: PredicateKind, values: Vec<Value>) -> Predicate {
        Predicate { kind, values }
    }

    /// Makes the predicate that a value equals this one.
    pub fn equal_to(value: Value) -> Predicate {
        Predicate::new(PredicateKind::Eq, vec![value])
    }

    /// Makes the predicate that a value is one of these.
    pub fn one_of(values: Vec<Value>) -> Predicate {
        Predicate::new(PredicateKind::Within, values)
    }

    /// Says whether a value satisfies it.
    pub fn test(&self, value: &Value) -> bool {
        self.test_by(value, &Value::equals)
    }

    fn test_by(&self, value: &Value, equal: &dyn Fn(&Value, &Value) -> bool) -> bool {
        let first = self.values.first().unwrap_or(&Value::Null);
        let second = self.values.get(1).unwrap_or(&Value::Null);
        match self.kind {
            PredicateKind::Eq => equal(value, first),
            PredicateKind::Neq => !equal(value, first),
            PredicateKind::Lt => value.compare(first) == Some(Ordering::Less),
            PredicateKind::Lte => matches!(value.compare(first), Some(Ordering::Less | Ordering::Equal)),
            PredicateKind::Gt => value.compare(first) == Some(Ordering::Greater),
            PredicateKind::Gte => matches!(value.compare(first), Some(Ordering::Greater | Ordering::Equal)),
            PredicateKind::Inside => {
                value.compare(first) == Some(Ordering::Greater)
                    && value.compare(second) == Some(Ordering::Less)
            }
            PredicateKind::Outside => {
                value.compare(first) == Some(Ordering::Less)
                    || value.compare(second) == Some(Ordering::Greater)
            }
            PredicateKind::Between => {
                matches!(value.compare(first), Some(Ordering::Greater | Ordering::Equal))
                    && value.compare(second) == Some(Ordering::Less)
            }
            PredicateKind::Within => self.alternatives().iter().any(|other| equal(value, other)),
            PredicateKind::Without => !self.alternatives().iter().any(|other| equal(value, other)),
            PredicateKind::TypeOf => has_type(value, first),
            PredicateKind::StartingWith => {
                texts(value, first).is_some_and(|(text, part)| text.starts_with(part))
            }
            PredicateKind::NotStartingWith => {
                texts(value, first).is_some_and(|(text, part)| !text.starts_with(part))
            }
            PredicateKind::EndingWith => texts(value, first).is_some_and(|(text, part)| text.ends_with(part)),
            PredicateKind::NotEndingWith => {
                texts(value, first).is_some_and(|(text, part)| !text.ends_with(part))
            }
            PredicateKind::Containing => texts(value, first).is_some_and(|(text, part)| text.contains(part)),
            PredicateKind::NotContaining => {
                texts(value, first).is_some_and(|(text, part)| !text.contains(part))
            }
            PredicateKind::Regex => {
                texts(value, first).is_some_and(|(text, pattern)| matches_pattern(text, pattern))
            }
            PredicateKind::NotRegex => {
                texts(value, first).is_some_and(|(text, pattern)| !matches_pattern(text, pattern))
            }
            PredicateKind::And => self.joined().all(|predicate| predicate.test_by(value, equal)),
            PredicateKind::Or => self.joined().any(|predicate| predicate.test_by(value, equal)),
            PredicateKind::Not => !self.joined().any(|predicate| predicate.test_by(value, equal)),
        }
    }

    /// Returns the values of `within` and `without`, of which a single collection is taken apart.
    pub fn alternatives(&self) -> &[Value] {
        match self.values.as_slice() {
            [Value::List(values) | Value::Set(values)] => values,
            values => values,
        }
    }

    /// Returns the predicates that it joins.
    pub fn joined(&self) -> impl Iterator<Item = &Predicate> {
        self.values.iter().filter_map(|value| match value {
            Value::Predicate(predicate) => Some(predicate.as_ref()),
            _ => None,
        })
    }

    /// Returns the predicate with its values changed, in joined ones too.
    pub fn mapped(&self, change: &dyn Fn(&Value) -> Value) -> Predicate {
        let values = self
            .values
            .iter()
            .map(|value| match value {
                Value::Predicate(predicate) => Value::Predicate(Arc::new(predicate.mapped(change))),
                value => change(value),
            })
            .collect();
        Predicate { kind: self.kind, values }
    }

    /// Returns the predicate on ids, which compare as texts.
    pub fn as_text(&self) -> Predicate {
        self.mapped(&|value| match value {
            Value::List(values) => Value::List(Arc::new(values.iter().map(Value::as_id_text).collect())),
            Value::Set(values) => Value::Set(Arc::new(values.iter().map(Value::as_id_text).collect())),
            Value::Token(_) | Value::Null => value.clone(),
            value => value.as_id_text(),
        })
    }
}

fn texts<'a>(value: &'a Value, part: &'a Value) -> Option<(&'a str, &'a str)> {
    match (value, part) {
        (Value::String(text), Value::String(part)) => Some((text, part)),
        _ => None,
    }
}

thread_local! {
    static PATTERNS: RefCell<Vec<(Arc<str>, Option<fancy_regex::Regex>)>> = const { RefCell::new(Vec::new()) };
}

/// Says whether a text has a match of the pattern; a pattern that is none matches nothing.
fn matches_pattern(text: &str, pattern: &str) -> bool {
    PATTERNS.with_borrow_mut(|patterns| {
        let at = match patterns.iter().position(|(known, _)| known.as_ref() == pattern) {
            Some(at) => at,
            None => {
                if patterns.len() >= PATTERNS_MAX {
                    patterns.remove(0);
                }
                patterns.push((pattern.into(), fancy_regex::Regex::new(pattern).ok()));
                patterns.len() - 1
            }
        };
        patterns
            .get(at)
            .and_then(|(_, regex)| regex.as_ref())
            .is_some_and(|regex| regex.is_match(text).unwrap_or(false))
    })
}

/// Says whether a value has the type that a word of `GType`, or its name as text, means.
fn has_type(value: &Value, wanted: &Value) -> bool {
    let word = match wanted {
        Value::Token(token) => token.word.to_owned(),
        Value::String(text) => text.to_ascii_uppercase(),
        _ => return false,
    };
    match word.as_str() {
        "NUMBER" => value.is_number(),
        "INTEGER" => matches!(value, Value::Int32(_)),
        "CHARACTER" => matches!(value, Value::Char(_)),
        "BIGINTEGER" => matches!(value, Value::BigInteger(_)),
        "OFFSETDATETIME" => matches!(value, Value::Date { .. }),
        "VERTEXPROPERTY" => matches!(value, Value::VertexProperty(_)),
        word => value.type_word() == word,
    }
}

impl Value {
    /// Returns the word of `GType` for its type.
    pub fn type_word(&self) -> &'static str {
        match self {
            Value::Null => "NULL",
            Value::Bool(_) => "BOOLEAN",
            Value::Byte(_) => "BYTE",
            Value::Int16(_) => "SHORT",
            Value::Int32(_) => "INT",
            Value::Int64(_) => "LONG",
            Value::BigInteger(_) => "BIGINT",
            Value::Float(_) => "FLOAT",
            Value::Double(_) => "DOUBLE",
            Value::BigDecimal(_) => "BIGDECIMAL",
            Value::Char(_) => "CHAR",
            Value::String(_) => "STRING",
            Value::Uuid(_) => "UUID",
            Value::Date { .. } => "DATETIME",
            Value::Duration(_) => "DURATION",
            Value::Bytes(_) => "BINARY",
            Value::List(_) | Value::BulkSet(_) => "LIST",
            Value::Set(_) => "SET",
            Value::Map(_) | Value::Metrics(_) => "MAP",
            Value::Entry(_) => "ENTRY",
            Value::Vertex(_) => "VERTEX",
            Value::Edge(_) => "EDGE",
            Value::VertexProperty(_) => "VPROPERTY",
            Value::Property(_) => "PROPERTY",
            Value::Path(_) => "PATH",
            Value::Tree(_) => "TREE",
            Value::Token(_) => "TOKEN",
            Value::Predicate(_) => "PREDICATE",
            Value::Traversal(_) => "TRAVERSAL",
            Value::Strategy { .. } => "STRATEGY",
        }
    }
}

#[cfg(test)]
#[path = "predicate_tests.rs"]
mod tests;
