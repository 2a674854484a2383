//! Filters, maps, reductions, branches and side effects.

use std::sync::Arc;

use armilla_gremlin_value::{Instruction, TokenKind, Value};

use super::arguments::{self, amount, column, element_token, operator, pop, scope, texts, token, unexpected};
use super::predicates::alternatives;
use super::{Compiler, Place, of_step};
use crate::error::{MachineError, Result};
use crate::graph::Condition;
use crate::math::Expression;
use crate::step::{By, ElementToken, Kind, MapTokens, Pick, Quantifier, Reduction, Scope};

impl Compiler<'_> {
    /// Compiles a step; none if it is another kind of step.
    pub(super) fn step(&mut self, instruction: &Instruction, place: Place) -> Result<Option<Kind>> {
        let arguments = instruction.arguments.as_slice();
        let name = instruction.name.as_ref();
        let kind = match (name, arguments) {
            ("has", _) => self.has(instruction)?,
            ("hasLabel", [_, ..]) => Kind::Has(vec![Condition::Label(alternatives(instruction, false)?)]),
            ("hasId", [_, ..]) => {
                Kind::Has(vec![Condition::Id(alternatives(instruction, arguments.len() == 1)?)])
            }
            ("hasKey", [_, ..]) => Kind::HasKey(alternatives(instruction, false)?),
            ("hasValue", [_, ..]) => Kind::HasValue(alternatives(instruction, false)?),
            ("hasNot", [Value::String(key)]) => Kind::Has(vec![Condition::HasNot(key.clone())]),
            ("is", [value]) => match arguments::predicate(value) {
                Some(predicate) => Kind::Is(predicate),
                None => return Err(unexpected(instruction)),
            },
            ("not", [Value::Traversal(bytecode)]) => {
                Kind::Filter { child: self.child_at(bytecode, place.in_where)?, negated: true }
            }
            ("filter", [condition]) => {
                Kind::Filter { child: self.condition(instruction, condition)?, negated: false }
            }
            ("and", _) => Kind::And(self.children(instruction, place.in_where)?),
            ("or", _) => Kind::Or(self.children(instruction, place.in_where)?),
            ("where", _) => self.where_step(instruction)?,
            ("coin", [probability]) => match probability.as_real() {
                Some(probability) => Kind::Coin(probability),
                None => return Err(unexpected(instruction)),
            },
            ("simplePath", []) => simple_path(false),
            ("cyclicPath", []) => simple_path(true),
            ("all", [Value::Predicate(predicate)]) => quantified(Quantifier::All, predicate),
            ("any", [Value::Predicate(predicate)]) => quantified(Quantifier::Any, predicate),
            ("none", [Value::Predicate(predicate)]) => quantified(Quantifier::None, predicate),
            ("none" | "discard", []) => Kind::Discard,
            ("identity", []) => Kind::Identity,
            ("constant", [value]) => {
                if self.strict() && matches!(value, Value::Null) {
                    return Err(MachineError::compile(
                        "Valid supported values for Constant() are: list, array, number, string or boolean.",
                    ));
                }
                match value {
                    Value::Traversal(bytecode) => Kind::Map(self.child(bytecode)?),
                    value => Kind::Constant(value.clone()),
                }
            }
            ("id", []) => Kind::Token(ElementToken::Id),
            ("label", []) => Kind::Token(ElementToken::Label),
            ("key", []) => Kind::Token(ElementToken::Key),
            ("value", []) => Kind::Token(ElementToken::Value),
            ("values", keys) => Kind::Values(property_keys(instruction, keys)?),
            ("properties", keys) => Kind::Properties(property_keys(instruction, keys)?),
            ("valueMap" | "propertyMap", arguments) => {
                let (tokens, keys) = match arguments {
                    [Value::Bool(all), keys @ ..] if *all => {
                        (MapTokens { id: true, label: true, key: true, value: true }, keys)
                    }
                    [Value::Bool(_), keys @ ..] => (MapTokens::default(), keys),
                    keys => (MapTokens::default(), keys),
                };
                let keys = property_keys(instruction, keys)?;
                Kind::ValueMap { keys, tokens, bys: Vec::new(), properties: name == "propertyMap" }
            }
            ("elementMap", keys) => Kind::ElementMap(property_keys(instruction, keys)?),
            ("element", []) => Kind::Element,
            ("select", _) => self.select(instruction)?,
            ("project", [_, ..]) => {
                let keys = texts(instruction, arguments)?;
                let mut seen = keys.clone();
                seen.sort();
                seen.dedup();
                if seen.len() != keys.len() {
                    return Err(MachineError::compile("keys must be unique in ProjectStep"));
                }
                Kind::Project { keys, bys: Vec::new() }
            }
            ("path", []) => Kind::Path { bys: Vec::new(), from: None, to: None },
            ("unfold", []) => Kind::Unfold,
            ("loops", []) => Kind::Loops(None),
            ("loops", [Value::String(label)]) => Kind::Loops(Some(label.clone())),
            ("math", [Value::String(text)]) => {
                Kind::Math { expression: Expression::parse(text)?, bys: Vec::new() }
            }
            ("map", [Value::Traversal(bytecode)]) => Kind::Map(self.child(bytecode)?),
            ("flatMap", [Value::Traversal(bytecode)]) => Kind::FlatMap(self.child(bytecode)?),
            ("local", [Value::Traversal(bytecode)]) => Kind::Local(self.child(bytecode)?),
            ("sideEffect", [Value::Traversal(bytecode)]) => Kind::SideEffect(self.child(bytecode)?),
            ("index", []) => Kind::Index { map: false },
            ("sack", []) => Kind::ReadSack,
            ("sack", [value]) => match operator(value) {
                Some(operator) => Kind::Sack { operator, by: By::Identity, by_given: false },
                None => return Err(unexpected(instruction)),
            },
            ("count" | "sum" | "max" | "min" | "mean", [] | [_]) => {
                let reduction = match name {
                    "count" => Reduction::Count,
                    "sum" => Reduction::Sum,
                    "max" => Reduction::Maximum,
                    "min" => Reduction::Minimum,
                    _ => Reduction::Mean,
                };
                match arguments.first().map(scope) {
                    None | Some(Some(Scope::Global)) => Kind::Reduce(reduction),
                    Some(Some(Scope::Local)) => Kind::ReduceLocal(reduction),
                    Some(None) => return Err(unexpected(instruction)),
                }
            }
            ("fold", []) => Kind::Reduce(Reduction::Fold(None)),
            ("fold", [seed, folding]) => match operator(folding) {
                Some(folding) => Kind::Reduce(Reduction::Fold(Some((seed.clone(), folding)))),
                None => return Err(unexpected(instruction)),
            },
            ("dedup", [first, rest @ ..]) if scope(first).is_some() => match scope(first) {
                Some(Scope::Local) => Kind::DedupLocal,
                _ => Kind::Dedup { labels: texts(instruction, rest)?, bys: Vec::new() },
            },
            ("dedup", labels) => Kind::Dedup { labels: texts(instruction, labels)?, bys: Vec::new() },
            ("order", []) => Kind::Order(Vec::new()),
            ("order", [value]) => match scope(value) {
                Some(Scope::Local) => Kind::OrderLocal(Vec::new()),
                Some(Scope::Global) => Kind::Order(Vec::new()),
                None => return Err(unexpected(instruction)),
            },
            ("limit" | "skip" | "range" | "tail", _) => range(instruction)?,
            ("sample", [amount_of]) => {
                Kind::Sample { amount: amount(instruction, amount_of)?.unwrap_or(0), by: None }
            }
            ("sample", [of, amount_of]) => match scope(of) {
                Some(Scope::Local) => Kind::SampleLocal(amount(instruction, amount_of)?.unwrap_or(0)),
                Some(Scope::Global) => {
                    Kind::Sample { amount: amount(instruction, amount_of)?.unwrap_or(0), by: None }
                }
                None => return Err(unexpected(instruction)),
            },
            ("group", [] | [Value::String(_)]) => Kind::Group { key: key_of(arguments), bys: Vec::new() },
            ("groupCount", [] | [Value::String(_)]) => {
                Kind::GroupCount { key: key_of(arguments), bys: Vec::new() }
            }
            ("tree", [] | [Value::String(_)]) => Kind::Tree { key: key_of(arguments), bys: Vec::new() },
            ("barrier", []) => Kind::Barrier { normalise_sacks: false, size: None },
            ("barrier", [value]) => match token(value, TokenKind::Barrier) {
                Some(_) => Kind::Barrier { normalise_sacks: true, size: None },
                None if value.as_integer().is_some_and(|size| size > 0) => Kind::Barrier {
                    normalise_sacks: false,
                    size: value.as_integer().and_then(|size| usize::try_from(size).ok()),
                },
                None => return Err(unexpected(instruction)),
            },
            ("coalesce", _) => Kind::Coalesce(self.children(instruction, false)?),
            ("optional", [Value::Traversal(bytecode)]) => Kind::Optional(self.child(bytecode)?),
            ("choose", _) => self.choose(instruction)?,
            ("branch", [Value::Traversal(bytecode)]) => {
                Kind::Choose { test: self.child(bytecode)?, is_predicate: false, options: Vec::new() }
            }
            ("match", [_, ..]) => {
                let mut patterns = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    let Some(bytecode) = arguments::child(argument) else {
                        return Err(unexpected(instruction));
                    };
                    patterns.push(self.pattern(bytecode)?);
                }
                Kind::Match(patterns)
            }
            ("store", [Value::String(key)]) => {
                Kind::Aggregate { key: key.clone(), by: By::Identity, by_given: false, lazy: true }
            }
            ("aggregate", [Value::String(key)]) => {
                Kind::Aggregate { key: key.clone(), by: By::Identity, by_given: false, lazy: false }
            }
            ("aggregate", [of, Value::String(key)]) => match scope(of) {
                Some(of) => Kind::Aggregate {
                    key: key.clone(),
                    by: By::Identity,
                    by_given: false,
                    lazy: of == Scope::Local,
                },
                None => return Err(unexpected(instruction)),
            },
            ("cap", [_, ..]) => Kind::Cap(texts(instruction, arguments)?),
            ("fail", []) => Kind::Fail(None),
            ("fail", [Value::String(message)]) => Kind::Fail(Some(message.clone())),
            ("timeLimit", [milliseconds]) => {
                Kind::TimeLimit(amount(instruction, milliseconds)?.unwrap_or(u64::MAX))
            }
            (
                "profile" | "explain" | "executionProfile" | "toList" | "next" | "iterate" | "hasNext"
                | "toSet",
                _,
            ) => {
                return Err(MachineError::compile(format!("{name}() must be the last step of a traversal")));
            }
            ("pageRank" | "peerPressure" | "connectedComponent" | "shortestPath", _) => {
                return Err(MachineError::compile(format!(
                    "{name}() needs a graph computer, which there is none of"
                )));
            }
            ("subgraph", _) => {
                return Err(MachineError::compile(
                    "subgraph() is not supported: collect its edges with aggregate() and cap() instead",
                ));
            }
            ("io" | "read" | "write" | "call", _) => {
                return Err(MachineError::compile(format!("{name}() is not supported")));
            }
            _ if KNOWN.contains(&name) => return Err(unexpected(instruction)),
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    fn select(&mut self, instruction: &Instruction) -> Result<Kind> {
        let (pop, rest) = match instruction.arguments.as_slice() {
            [first, rest @ ..] if pop(first).is_some() => (pop(first), rest),
            rest => (None, rest),
        };
        match rest {
            [only] if column(only).is_some() => {
                Ok(Kind::SelectColumn(column(only).unwrap_or(crate::step::Column::Keys)))
            }
            [Value::Traversal(bytecode)] => {
                Ok(Kind::SelectChild { pop, child: self.child(bytecode)?, bys: Vec::new() })
            }
            [] => Err(unexpected(instruction)),
            keys => Ok(Kind::Select { pop, keys: texts(instruction, keys)?, bys: Vec::new() }),
        }
    }

    fn choose(&mut self, instruction: &Instruction) -> Result<Kind> {
        match instruction.arguments.as_slice() {
            [value] if element_token(value).is_some() => {
                let test =
                    of_step(instruction, Kind::Token(element_token(value).unwrap_or(ElementToken::Id)));
                Ok(Kind::Choose { test, is_predicate: false, options: Vec::new() })
            }
            [Value::Traversal(bytecode)] => {
                Ok(Kind::Choose { test: self.child(bytecode)?, is_predicate: false, options: Vec::new() })
            }
            [condition, Value::Traversal(then), rest @ ..] if rest.len() <= 1 => {
                let test = self.condition(instruction, condition)?;
                let mut options = vec![(Pick::Value(Value::Bool(true)), self.child(then)?)];
                let otherwise = match rest {
                    [] => of_step(instruction, Kind::Identity),
                    [Value::Traversal(bytecode)] => self.child(bytecode)?,
                    _ => return Err(unexpected(instruction)),
                };
                options.push((Pick::Value(Value::Bool(false)), otherwise));
                Ok(Kind::Choose { test, is_predicate: true, options })
            }
            _ => Err(unexpected(instruction)),
        }
    }
}

/// Names of steps whose arguments were not understood.
const KNOWN: [&str; 56] = [
    "hasLabel",
    "hasId",
    "hasKey",
    "hasValue",
    "hasNot",
    "is",
    "not",
    "filter",
    "coin",
    "simplePath",
    "cyclicPath",
    "all",
    "any",
    "none",
    "discard",
    "identity",
    "constant",
    "id",
    "label",
    "key",
    "value",
    "element",
    "project",
    "path",
    "unfold",
    "loops",
    "math",
    "map",
    "flatMap",
    "local",
    "sideEffect",
    "index",
    "sack",
    "count",
    "sum",
    "max",
    "min",
    "mean",
    "fold",
    "order",
    "sample",
    "group",
    "groupCount",
    "tree",
    "barrier",
    "optional",
    "branch",
    "match",
    "store",
    "aggregate",
    "cap",
    "fail",
    "timeLimit",
    "profile",
    "outV",
    "inV",
];

fn simple_path(cyclic: bool) -> Kind {
    Kind::SimplePath { cyclic, bys: Vec::new(), from: None, to: None }
}

fn quantified(quantifier: Quantifier, predicate: &Arc<armilla_gremlin_value::Predicate>) -> Kind {
    Kind::Quantified { quantifier, predicate: predicate.as_ref().clone() }
}

fn key_of(arguments: &[Value]) -> Option<Arc<str>> {
    match arguments {
        [Value::String(key)] => Some(key.clone()),
        _ => None,
    }
}

/// Returns the keys that properties are chosen by; only null chooses none.
fn property_keys(instruction: &Instruction, values: &[Value]) -> Result<Vec<Arc<str>>> {
    let keys = texts(instruction, values)?;
    Ok(if keys.is_empty() && !values.is_empty() { vec!["\u{0}".into()] } else { keys })
}

fn range(instruction: &Instruction) -> Result<Kind> {
    let (of, rest) = match instruction.arguments.as_slice() {
        [first, rest @ ..] if scope(first).is_some() => (scope(first).unwrap_or(Scope::Global), rest),
        rest => (Scope::Global, rest),
    };
    let (low, high) = match (instruction.name.as_ref(), rest) {
        ("tail", []) => return Ok(tail(of, 1)),
        ("tail", [of_last]) => return Ok(tail(of, amount(instruction, of_last)?.unwrap_or(u64::MAX))),
        ("limit", [high]) => (0, amount(instruction, high)?),
        ("skip", [low]) => (amount(instruction, low)?.unwrap_or(0), None),
        ("range", [low, high]) => (amount(instruction, low)?.unwrap_or(0), amount(instruction, high)?),
        _ => return Err(unexpected(instruction)),
    };
    if high.is_some_and(|high| low > high) {
        return Err(MachineError::compile(format!("Not a legal range: [{low}, {}]", high.unwrap_or(0))));
    }
    Ok(match of {
        Scope::Global => Kind::Range { low, high },
        Scope::Local => Kind::RangeLocal { low, high },
    })
}

fn tail(of: Scope, amount: u64) -> Kind {
    match of {
        Scope::Global => Kind::Tail(amount),
        Scope::Local => Kind::TailLocal(amount),
    }
}
