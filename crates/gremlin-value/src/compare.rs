//! Equality, comparison, equivalence and order of values.
//!
//! Four relations, each for its own steps:
//! * equality (`eq`, `within`): numbers by their worth (`1` equals `1.0`), NaN equals nothing;
//! * comparison (`lt`, `gt`): only inside a family of types; between families and with NaN there is none;
//! * equivalence (`dedup`, `group`): numbers of one type only, NaN is itself; [`crate::Key`] makes it hashable;
//! * order (`order`, `max`, `min`): total, across families.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::canonical::canonical;
use crate::number::{self, Number};
use crate::{Path, Tree, Value};

/// How closely values are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As `order` has it.
    Order,
    /// So that what is not equal is apart.
    Equality,
    /// So that what is not equivalent is apart.
    Equivalence,
}

impl Value {
    /// Says whether two values are equal: `1` is `1.0`, null is null, NaN is nothing.
    pub fn equals(&self, other: &Value) -> bool {
        self.same(other, Mode::Equality)
    }

    /// Says whether two values are equivalent: `1` is not `1.0`, and NaN is NaN.
    pub fn equivalent(&self, other: &Value) -> bool {
        self.same(other, Mode::Equivalence)
    }

    fn same(&self, other: &Value, mode: Mode) -> bool {
        if !self.is_collection() || self.family() != other.family() {
            return same_parts(self, other, mode);
        }
        let (left, right) = (canonical(self, mode), canonical(other, mode));
        same_parts(left.as_ref().unwrap_or(self), right.as_ref().unwrap_or(other), mode)
    }

    /// Compares two values of one family; none between families, with NaN, and for what has no order.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        if let (Some(left), Some(right)) = (Number::of(self), Number::of(other)) {
            return number::compare(&left, &right);
        }
        match (self, other) {
            (Value::List(_), Value::List(_))
            | (Value::Map(_), Value::Map(_))
            | (Value::Path(_), Value::Path(_)) => Some(self.order(other)),
            _ if self.family() == other.family() && !matches!(self, Value::Null) => Some(self.order(other)),
            (Value::Null, Value::Null) => Some(Ordering::Equal),
            _ => None,
        }
    }

    /// Orders any two values.
    pub fn order(&self, other: &Value) -> Ordering {
        if !self.is_collection() || self.family() != other.family() {
            return linear(self, other, Mode::Order);
        }
        let (left, right) = (canonical(self, Mode::Order), canonical(other, Mode::Order));
        linear(left.as_ref().unwrap_or(self), right.as_ref().unwrap_or(other), Mode::Order)
    }

    /// The place of its family in the order of all values.
    fn family(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Byte(_)
            | Value::Int16(_)
            | Value::Int32(_)
            | Value::Int64(_)
            | Value::BigInteger(_)
            | Value::Float(_)
            | Value::Double(_)
            | Value::BigDecimal(_) => 2,
            Value::Date { .. } => 3,
            // Keys of maps are texts and tokens, which order among each other.
            Value::String(_) | Value::Char(_) | Value::Token(_) => 4,
            Value::Uuid(_) => 5,
            Value::Vertex(_) => 6,
            Value::Edge(_) => 7,
            Value::VertexProperty(_) => 8,
            Value::Property(_) => 9,
            Value::Path(_) => 10,
            Value::Set(_) => 11,
            Value::List(_) => 12,
            Value::BulkSet(_) => 13,
            Value::Map(_) => 14,
            Value::Entry(_) => 15,
            Value::Tree(_) => 16,
            Value::Duration(_) => 17,
            Value::Bytes(_) => 18,
            Value::Metrics(_) => 20,
            Value::Predicate(_) => 21,
            Value::Traversal(_) => 22,
            Value::Strategy { .. } => 23,
        }
    }
}

/// Orders two values whose sets, maps and trees are sorted.
pub(crate) fn linear(left: &Value, right: &Value, mode: Mode) -> Ordering {
    let by_family = left.family().cmp(&right.family());
    if by_family != Ordering::Equal {
        return by_family;
    }
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Char(left), Value::Char(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        // A token comes behind the text that is its word.
        (Value::String(left), Value::Token(right)) => left.as_ref().cmp(right.word).then(Ordering::Less),
        (Value::Token(left), Value::String(right)) => left.word.cmp(right.as_ref()).then(Ordering::Greater),
        (Value::Char(left), Value::Token(right)) => {
            (*left.encode_utf8(&mut [0; 4])).cmp(right.word).then(Ordering::Less)
        }
        (Value::Token(left), Value::Char(right)) => {
            left.word.cmp(&*right.encode_utf8(&mut [0; 4])).then(Ordering::Greater)
        }
        (Value::String(left), Value::Char(right)) => left.as_ref().cmp(right.encode_utf8(&mut [0; 4])),
        (Value::Char(left), Value::String(right)) => (*left.encode_utf8(&mut [0; 4])).cmp(right.as_ref()),
        (Value::Uuid(left), Value::Uuid(right)) => left.cmp(right),
        (Value::Date { milliseconds: left, .. }, Value::Date { milliseconds: right, .. }) => left.cmp(right),
        (Value::Duration(left), Value::Duration(right)) => left.cmp(right),
        (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
        (Value::List(left), Value::List(right)) | (Value::Set(left), Value::Set(right)) => {
            order_all(left, right, |left, right| linear(left, right, mode))
        }
        (Value::BulkSet(left), Value::BulkSet(right)) => order_all(left, right, |left, right| {
            linear(&left.0, &right.0, mode).then_with(|| left.1.cmp(&right.1))
        }),
        (Value::Map(left), Value::Map(right)) | (Value::Metrics(left), Value::Metrics(right)) => {
            order_all(&left.entries, &right.entries, |left, right| {
                linear(&left.0, &right.0, mode).then_with(|| linear(&left.1, &right.1, mode))
            })
        }
        (Value::Entry(left), Value::Entry(right)) => {
            linear(&left.0, &right.0, mode).then_with(|| linear(&left.1, &right.1, mode))
        }
        (Value::Vertex(left), Value::Vertex(right)) => linear(&left.id, &right.id, mode),
        (Value::Edge(left), Value::Edge(right)) => linear(&left.id, &right.id, mode),
        (Value::VertexProperty(left), Value::VertexProperty(right)) => {
            linear(&left.id, &right.id, mode).then_with(|| apart(mode, || left.key.cmp(&right.key)))
        }
        (Value::Property(left), Value::Property(right)) => {
            left.key.cmp(&right.key).then_with(|| linear(&left.value, &right.value, mode))
        }
        (Value::Path(left), Value::Path(right)) => {
            order_all(&left.objects, &right.objects, |left, right| linear(left, right, mode))
                .then_with(|| apart(mode, || labels(left).cmp(&labels(right))))
        }
        (Value::Tree(left), Value::Tree(right)) => order_trees(left, right, mode),
        (Value::Token(left), Value::Token(right)) => {
            // By the word first, as tokens and texts are among each other.
            (left.word, left.kind.name()).cmp(&(right.word, right.kind.name()))
        }
        (Value::Strategy { name: left, .. }, Value::Strategy { name: right, .. }) => left.cmp(right),
        _ => match (Number::of(left), Number::of(right)) {
            (Some(one), Some(other)) => {
                let types = || {
                    if mode == Mode::Equivalence {
                        number_type(left).cmp(&number_type(right))
                    } else {
                        Ordering::Equal
                    }
                };
                number::order(&one, &other).then_with(types)
            }
            _ => Ordering::Equal,
        },
    }
}

/// What `order` does not look at, and sameness does.
fn apart(mode: Mode, order: impl FnOnce() -> Ordering) -> Ordering {
    if mode == Mode::Order { Ordering::Equal } else { order() }
}

/// The labels of a path, those of each object as a set.
fn labels(path: &Path) -> Vec<Vec<&Arc<str>>> {
    path.labels
        .iter()
        .map(|labels| {
            let mut labels = Vec::from_iter(labels);
            labels.sort_unstable();
            labels
        })
        .collect()
}

fn number_type(value: &Value) -> u8 {
    match value {
        Value::Byte(_) => 0,
        Value::Int16(_) => 1,
        Value::Int32(_) => 2,
        Value::Int64(_) => 3,
        Value::BigInteger(_) => 4,
        Value::Float(_) => 5,
        Value::Double(_) => 6,
        _ => 7,
    }
}

/// Says whether two values whose sets, maps and trees are sorted are the same.
fn same_parts(left: &Value, right: &Value, mode: Mode) -> bool {
    let same = |left: &Value, right: &Value| same_parts(left, right, mode);
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Char(_) | Value::String(_), Value::Char(_) | Value::String(_))
        | (Value::Uuid(_), Value::Uuid(_))
        | (Value::Date { .. }, Value::Date { .. })
        | (Value::Duration(_), Value::Duration(_))
        | (Value::Bytes(_), Value::Bytes(_))
        | (Value::Token(_), Value::Token(_)) => linear(left, right, mode) == Ordering::Equal,
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| same(left, right))
        }
        (Value::Set(left), Value::Set(right)) => {
            matched(left, right, |left, right| linear(left, right, mode), same)
        }
        (Value::BulkSet(left), Value::BulkSet(right)) => matched(
            left,
            right,
            |left, right| linear(&left.0, &right.0, mode).then_with(|| left.1.cmp(&right.1)),
            |left, right| left.1 == right.1 && same(&left.0, &right.0),
        ),
        (Value::Map(left), Value::Map(right)) => matched(
            &left.entries,
            &right.entries,
            |left, right| linear(&left.0, &right.0, mode).then_with(|| linear(&left.1, &right.1, mode)),
            |left, right| same(&left.0, &right.0) && same(&left.1, &right.1),
        ),
        (Value::Entry(left), Value::Entry(right)) => same(&left.0, &right.0) && same(&left.1, &right.1),
        // Elements are the same by id; a partition tells two of the same id apart.
        (Value::Vertex(left), Value::Vertex(right)) => {
            left.id.equivalent(&right.id) && same_partition(left.partition.as_ref(), right.partition.as_ref())
        }
        (Value::Edge(left), Value::Edge(right)) => {
            left.id.equivalent(&right.id) && same_partition(left.partition.as_ref(), right.partition.as_ref())
        }
        (Value::VertexProperty(left), Value::VertexProperty(right)) => {
            left.id.equivalent(&right.id) && left.key == right.key
        }
        (Value::Property(left), Value::Property(right)) => {
            left.key == right.key && same(&left.value, &right.value)
        }
        (Value::Path(left), Value::Path(right)) => {
            left.objects.len() == right.objects.len()
                && left.objects.iter().zip(&right.objects).all(|(left, right)| same(left, right))
                && labels(left) == labels(right)
        }
        (Value::Tree(left), Value::Tree(right)) => order_trees(left, right, mode) == Ordering::Equal,
        _ => same_numbers(left, right, mode),
    }
}

fn same_numbers(left: &Value, right: &Value, mode: Mode) -> bool {
    if mode != Mode::Equivalence {
        return match (Number::of(left), Number::of(right)) {
            (Some(left), Some(right)) => number::compare(&left, &right) == Some(Ordering::Equal),
            _ => false,
        };
    }
    match (left, right) {
        (Value::Double(left), Value::Double(right)) => left == right || (left.is_nan() && right.is_nan()),
        (Value::Float(left), Value::Float(right)) => left == right || (left.is_nan() && right.is_nan()),
        (Value::Byte(left), Value::Byte(right)) => left == right,
        (Value::Int16(left), Value::Int16(right)) => left == right,
        (Value::Int32(left), Value::Int32(right)) => left == right,
        (Value::Int64(left), Value::Int64(right)) => left == right,
        (Value::BigInteger(left), Value::BigInteger(right)) => left == right,
        (Value::BigDecimal(left), Value::BigDecimal(right)) => {
            left == right || number::decimal_form(left) == number::decimal_form(right)
        }
        _ => false,
    }
}

/// Says whether each part of one side has its own on the other; both are sorted.
fn matched<T>(
    left: &[T],
    right: &[T],
    order: impl Fn(&T, &T) -> Ordering,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let (mut left, mut right) = (left, right);
    while let (Some(first), Some(other)) = (left.first(), right.first()) {
        if order(first, other) != Ordering::Equal {
            return false;
        }
        // What the order does not tell apart is tried with each other: hardly ever more than one.
        let is_tied = |part: &&T| order(first, part) == Ordering::Equal;
        let ties = left.iter().take_while(is_tied).count().max(1);
        if right.iter().take_while(is_tied).count().max(1) != ties {
            return false;
        }
        let ((tied, left_rest), (others, right_rest)) = (left.split_at(ties), right.split_at(ties));
        let mut open: Vec<&T> = others.iter().collect();
        for part in tied {
            let Some(at) = open.iter().position(|other| same(part, other)) else { return false };
            open.remove(at);
        }
        (left, right) = (left_rest, right_rest);
    }
    true
}

fn same_partition(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left.equals(right),
        _ => true,
    }
}

fn order_all<T>(left: &[T], right: &[T], order: impl Fn(&T, &T) -> Ordering) -> Ordering {
    for (left, right) in left.iter().zip(right) {
        let order = order(left, right);
        if order != Ordering::Equal {
            return order;
        }
    }
    left.len().cmp(&right.len())
}

fn order_trees(left: &Tree, right: &Tree, mode: Mode) -> Ordering {
    order_all(&left.branches, &right.branches, |left, right| {
        linear(&left.key, &right.key, mode).then_with(|| order_trees(&left.below, &right.below, mode))
    })
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
