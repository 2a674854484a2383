//! Predicates by the names that all formats give them.

use armilla_gremlin_value::{Predicate, PredicateKind, Value};

/// How many values a predicate has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    One,
    Two,
    /// As many as there are.
    Any,
    /// Other predicates, as many as there are.
    Predicates,
    /// One other predicate.
    Predicate,
}

use PredicateKind as Kind;

/// Every predicate: its name, how many values it has, and whether it is one of `TextP`.
const ALL: [(Kind, &str, Takes, bool); 23] = [
    (Kind::Eq, "eq", Takes::One, false),
    (Kind::Neq, "neq", Takes::One, false),
    (Kind::Lt, "lt", Takes::One, false),
    (Kind::Lte, "lte", Takes::One, false),
    (Kind::Gt, "gt", Takes::One, false),
    (Kind::Gte, "gte", Takes::One, false),
    (Kind::Inside, "inside", Takes::Two, false),
    (Kind::Outside, "outside", Takes::Two, false),
    (Kind::Between, "between", Takes::Two, false),
    (Kind::Within, "within", Takes::Any, false),
    (Kind::Without, "without", Takes::Any, false),
    (Kind::TypeOf, "typeOf", Takes::One, false),
    (Kind::StartingWith, "startingWith", Takes::One, true),
    (Kind::NotStartingWith, "notStartingWith", Takes::One, true),
    (Kind::EndingWith, "endingWith", Takes::One, true),
    (Kind::NotEndingWith, "notEndingWith", Takes::One, true),
    (Kind::Containing, "containing", Takes::One, true),
    (Kind::NotContaining, "notContaining", Takes::One, true),
    (Kind::Regex, "regex", Takes::One, true),
    (Kind::NotRegex, "notRegex", Takes::One, true),
    (Kind::And, "and", Takes::Predicates, false),
    (Kind::Or, "or", Takes::Predicates, false),
    (Kind::Not, "not", Takes::Predicate, false),
];

pub(crate) fn find(name: &str) -> Option<(Kind, Takes)> {
    ALL.iter().find(|(_, other, ..)| *other == name).map(|(kind, _, takes, _)| (*kind, *takes))
}

pub(crate) fn name(kind: Kind) -> &'static str {
    ALL.iter().find(|(other, ..)| *other == kind).map_or("", |(_, name, ..)| name)
}

pub(crate) fn takes(kind: Kind) -> Takes {
    ALL.iter().find(|(other, ..)| *other == kind).map_or(Takes::Any, |(_, _, takes, _)| *takes)
}

pub(crate) fn is_text(kind: Kind) -> bool {
    ALL.iter().any(|(other, _, _, is_text)| *other == kind && *is_text)
}

/// Makes a predicate if it has the values that it takes.
pub(crate) fn checked(kind: Kind, values: Vec<Value>) -> Option<Predicate> {
    let of_predicates = || values.iter().all(|value| matches!(value, Value::Predicate(_)));
    let fits = match takes(kind) {
        Takes::One => values.len() == 1,
        Takes::Two => values.len() == 2,
        Takes::Any => true,
        Takes::Predicates => !values.is_empty() && of_predicates(),
        Takes::Predicate => values.len() == 1 && of_predicates(),
    };
    fits.then_some(Predicate { kind, values })
}
