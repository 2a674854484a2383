//! An oracle for lowered conditions: the little of the query language that they are written in, over a tree.
//!
//! It knows nothing of how the engine evaluates or indexes; it follows the language's rules: three-valued logic, order
//! only within one type, `!=` across types true.

use std::cmp::Ordering;

use armilla_value::{Value, sql_cmp};

/// Says whether a condition is true of an item.
pub(super) fn is_true(condition: &str, parameters: &[(String, Value)], item: &Value) -> bool {
    let mut reader = Reader { rest: condition, parameters, item };
    let truth = reader.any();
    assert_eq!(reader.rest, "", "{condition}");
    truth == Some(true)
}

struct Reader<'a> {
    rest: &'a str,
    parameters: &'a [(String, Value)],
    item: &'a Value,
}

impl Reader<'_> {
    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> Option<bool> {
        let mut truth = self.all();
        while self.take(" OR ") {
            truth = match (truth, self.all()) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        truth
    }

    fn all(&mut self) -> Option<bool> {
        let mut truth = self.one();
        while self.take(" AND ") {
            truth = match (truth, self.one()) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
        truth
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("NOT ") {
            return self.one().map(|truth| !truth);
        }
        if self.take("(") {
            let truth = self.any();
            assert!(self.take(")"), "{}", self.rest);
            return truth;
        }
        if self.take("false") {
            return Some(false);
        }
        for function in ["IS_DEFINED", "IS_BOOL", "IS_NUMBER", "IS_STRING"] {
            if self.take(function) {
                assert!(self.take("("));
                let value = self.value();
                assert!(self.take(")"));
                return Some(match (function, value) {
                    (_, None) => false,
                    ("IS_DEFINED", _) => true,
                    ("IS_BOOL", Some(value)) => matches!(value, Value::Bool(_)),
                    ("IS_NUMBER", Some(value)) => value.kind().is_number(),
                    (_, Some(value)) => matches!(value, Value::String(_)),
                });
            }
        }
        let left = self.value();
        let (operator, rest) = self.rest[1..].split_once(' ').unwrap();
        self.rest = rest;
        // Both are read, whether or not the first one is there.
        let right = self.value();
        let (left, right) = (left?, right?);
        let is_same_type =
            left.kind() == right.kind() || (left.kind().is_number() && right.kind().is_number());
        let order = if is_same_type { sql_cmp(&left, &right) } else { Ordering::Less };
        match operator {
            "=" => Some(is_same_type && order.is_eq()),
            "!=" => Some(!is_same_type || order.is_ne()),
            _ if !is_same_type || matches!(left, Value::Array(_) | Value::Object(_)) => None,
            "<" => Some(order.is_lt()),
            "<=" => Some(order.is_le()),
            ">" => Some(order.is_gt()),
            ">=" => Some(order.is_ge()),
            other => panic!("{other}"),
        }
    }

    fn value(&mut self) -> Option<Value> {
        if self.take("@") {
            let end = self.rest[1..]
                .find(|next: char| !next.is_ascii_digit())
                .map_or(self.rest.len(), |end| end + 1);
            let name = format!("@{}", &self.rest[..end]);
            self.rest = &self.rest[end..];
            let (_, value) = self.parameters.iter().find(|(own, _)| *own == name).unwrap();
            return Some(value.clone());
        }
        if self.rest.starts_with('"') {
            return Some(Value::String(self.string()));
        }
        assert!(self.take("c"), "{}", self.rest);
        let mut value = Some(self.item.clone());
        while self.take("[") {
            let name = self.string();
            assert!(self.take("]"));
            value = value.and_then(|value| value.as_object()?.get(&name).cloned());
        }
        value
    }

    fn string(&mut self) -> String {
        let end = 1 + self.rest[1..].find('"').unwrap() + 1;
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        match armilla_value::json::parse(token.as_bytes()) {
            Ok(Value::String(text)) => text,
            other => panic!("{token}: {other:?}"),
        }
    }
}
