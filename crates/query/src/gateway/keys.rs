//! Which logical partitions a query can have rows from, by what its filter says of the partition key.
//!
//! Equality and IN on a whole path of the key say something, alone or under AND, OR and NOT; so do ARRAY_CONTAINS
//! over a constant array, and IS_DEFINED being false. Everything else says nothing. Items whose key is an array, an
//! object or missing share one logical partition, that of the undefined key.
//!
//! Invariant: no item outside the scope passes the filter, with the service's own exception of the key `-0.0`, which
//! equals `0` and yet is another key: the one that is written is looked for.

use std::collections::{HashMap, HashSet};

use armilla_functions::Function;
use armilla_functions::operators::Comparison;
use armilla_value::{Component, HashVersion, PartitionKey, Value};

use crate::bound::{BoundQuery, SourceKind};
use crate::expr::{Expr, PathStep};

/// Most keys or prefixes that a scope lists; where there are more, it is everything.
pub const KEYS_MAX: usize = 4_096;

/// Most pairs of candidates that are tried when two conditions on several paths are put together.
const PAIRS_MAX: usize = 65_536;

/// How a container's partition key is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionKeyShape {
    /// The names on the way to each property.
    pub paths: Vec<Vec<String>>,
    /// How keys are hashed.
    pub version: HashVersion,
}

/// The logical partitions that can have rows of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyScope {
    /// Any.
    All,
    /// Those with one of these keys, each different from the others and with a component for each path.
    Keys(Vec<PartitionKey>),
    /// Those whose hierarchical key begins with one of these, none of which begins with another; some may be whole.
    Prefixes(Vec<PartitionKey>),
    /// None. The query must still run somewhere: an aggregate of nothing is a row.
    Nothing,
}

impl KeyScope {
    /// Says whether there is exactly one logical partition.
    pub fn is_single(&self) -> bool {
        matches!(self, KeyScope::Keys(keys) if keys.len() == 1)
    }
}

/// Returns the logical partitions that can have rows of a query.
pub fn partition_keys(query: &BoundQuery, partition_key: &PartitionKeyShape) -> KeyScope {
    candidates(query, &partition_key.paths).into_scope(partition_key)
}

fn candidates(query: &BoundQuery, paths: &[Vec<String>]) -> Candidates {
    // Rows of a nested query come from the items that it reads.
    let inner = match query.sources.first().map(|source| &source.kind) {
        Some(SourceKind::Rows(inner) | SourceKind::RowElements(inner)) => candidates(inner, paths),
        Some(SourceKind::Item | SourceKind::Value(_) | SourceKind::Elements(_)) | None => Candidates::All,
    };
    let Some(filter) = &query.filter else { return inner };
    let filter = Filter { paths, sources: source_paths(query) }.outcome(filter, true);
    inner.and(filter)
}

/// Returns the slots that stand for what lies at a path of names below the item.
fn source_paths(query: &BoundQuery) -> HashMap<usize, Vec<&str>> {
    let mut known: HashMap<usize, Vec<&str>> = HashMap::new();
    for source in &query.sources {
        let path = match &source.kind {
            SourceKind::Item => Some(Vec::new()),
            SourceKind::Value(expr) => path_of(expr, &known),
            SourceKind::Elements(_) | SourceKind::Rows(_) | SourceKind::RowElements(_) => None,
        };
        if let Some(path) = path {
            known.insert(source.slot, path);
        }
    }
    known
}

fn path_of<'a>(expr: &'a Expr, sources: &HashMap<usize, Vec<&'a str>>) -> Option<Vec<&'a str>> {
    let (slot, steps) = match expr {
        Expr::Slot(slot) => (slot, &[][..]),
        Expr::Path { slot, steps } => (slot, &steps[..]),
        _ => return None,
    };
    let mut path = sources.get(slot)?.clone();
    for step in steps {
        match step {
            PathStep::Name(name) => path.push(name),
            PathStep::Element(_) => return None,
        }
    }
    Some(path)
}

struct Filter<'a> {
    paths: &'a [Vec<String>],
    sources: HashMap<usize, Vec<&'a str>>,
}

impl<'a> Filter<'a> {
    /// Returns the keys for which a condition can have an outcome.
    fn outcome(&self, condition: &'a Expr, outcome: bool) -> Candidates {
        match condition {
            // What is no boolean counts as undefined, which is neither outcome.
            Expr::Undefined => Candidates::none(),
            Expr::Constant(value) if value.as_bool() == Some(outcome) => Candidates::All,
            Expr::Constant(_) => Candidates::none(),
            Expr::And(parts) => self.chain(parts, outcome, outcome),
            Expr::Or(parts) => self.chain(parts, outcome, !outcome),
            Expr::Not(operand) => self.outcome(operand, !outcome),
            Expr::Compare(Comparison::Equal, left, right) => self.comparison(left, right, outcome),
            Expr::Compare(Comparison::NotEqual, left, right) => self.comparison(left, right, !outcome),
            Expr::In(value, list) if outcome => self.one_of(value, list),
            Expr::Call(Function::IsDefined, args) if !outcome => match &args[..] {
                [arg] => self.undefined(arg),
                _ => Candidates::All,
            },
            Expr::Call(Function::ArrayContains, args) if outcome => match &args[..] {
                [list, value, rest @ ..] if is_exact(rest) => match list {
                    Expr::Array(elements) => self.one_of(value, elements),
                    _ => match list.as_value() {
                        Some(Value::Array(elements)) => Candidates::any(elements.iter().map(|element| {
                            self.component(value, Component::of(element)).unwrap_or(Candidates::All)
                        })),
                        _ => Candidates::All,
                    },
                },
                _ => Candidates::All,
            },
            _ => Candidates::All,
        }
    }

    /// All parts must have the outcome, or one of them.
    fn chain(&self, parts: &'a [Expr], outcome: bool, all: bool) -> Candidates {
        let parts = parts.iter().map(|part| self.outcome(part, outcome));
        if all { parts.fold(Candidates::All, Candidates::and) } else { Candidates::any(parts) }
    }

    /// The operands are equal, or defined and different.
    fn comparison(&self, left: &'a Expr, right: &'a Expr, equal: bool) -> Candidates {
        if matches!(left, Expr::Undefined) || matches!(right, Expr::Undefined) {
            return Candidates::none();
        }
        let (operand, constant) = match (as_component(left), as_component(right)) {
            (None, Some(constant)) => (left, constant),
            (Some(constant), None) => (right, constant),
            _ => return Candidates::All,
        };
        match (operand, &constant) {
            // A condition compared with a truth. IS_DEFINED is never anything else than true or false.
            (Expr::Call(Function::IsDefined, _), Component::Bool(truth)) => {
                self.outcome(operand, *truth == equal)
            }
            (Expr::Slot(_) | Expr::Path { .. }, _) if equal => {
                self.component(operand, constant).unwrap_or(Candidates::All)
            }
            (_, Component::Bool(truth)) if equal => self.outcome(operand, *truth),
            _ => Candidates::All,
        }
    }

    fn one_of(&self, value: &'a Expr, list: &'a [Expr]) -> Candidates {
        Candidates::any(list.iter().map(|candidate| self.comparison(value, candidate, true)))
    }

    /// The value at a path makes a component of the key.
    fn component(&self, operand: &'a Expr, component: Component) -> Option<Candidates> {
        let path = path_of(operand, &self.sources)?;
        let mut candidate = vec![None; self.paths.len()];
        for (place, known) in candidate.iter_mut().zip(self.paths) {
            if *known == path {
                *place = Some(component.clone());
            }
        }
        candidate.iter().any(Option::is_some).then(|| Candidates::Some(vec![candidate]))
    }

    /// Nothing is at a path: nothing is below it either.
    fn undefined(&self, operand: &'a Expr) -> Candidates {
        let Some(path) = path_of(operand, &self.sources) else { return Candidates::All };
        let is_above =
            |known: &Vec<String>| known.len() >= path.len() && known.iter().zip(&path).all(|(a, b)| a == b);
        let candidate: Candidate =
            self.paths.iter().map(|known| is_above(known).then_some(Component::Undefined)).collect();
        if candidate.iter().any(Option::is_some) {
            Candidates::Some(vec![candidate])
        } else {
            Candidates::All
        }
    }
}

/// Returns whether the last arguments of ARRAY_CONTAINS ask for whole values.
fn is_exact(rest: &[Expr]) -> bool {
    match rest {
        [] => true,
        [partial] => partial.as_value() == Some(&Value::Bool(false)),
        _ => false,
    }
}

/// Returns the component that items have whose key equals a constant.
fn as_component(expr: &Expr) -> Option<Component> {
    match expr {
        Expr::Constant(value) => Some(Component::of(value)),
        // Whatever is in them.
        Expr::Array(_) | Expr::Object(_) => Some(Component::Undefined),
        _ => None,
    }
}

/// A component for each path, `None` where it can be any.
type Candidate = Vec<Option<Component>>;

/// The keys that can be meant: any, or those that agree with one of some candidates.
#[derive(Debug, Clone)]
enum Candidates {
    All,
    Some(Vec<Candidate>),
}

impl Candidates {
    fn none() -> Candidates {
        Candidates::Some(Vec::new())
    }

    fn any(parts: impl Iterator<Item = Candidates>) -> Candidates {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Candidates::All => return Candidates::All,
                Candidates::Some(candidates) => all.extend(candidates),
            }
            if all.len() > KEYS_MAX {
                remove_duplicates(&mut all);
            }
            if all.len() > KEYS_MAX {
                return Candidates::All;
            }
        }
        Candidates::Some(all)
    }

    fn and(self, other: Candidates) -> Candidates {
        let (left, right) = match (self, other) {
            (Candidates::All, other) => return other,
            (known, Candidates::All) => return known,
            (Candidates::Some(left), Candidates::Some(right)) => (left, right),
        };
        let smaller = |left: Vec<Candidate>, right: Vec<Candidate>| {
            Candidates::Some(if left.len() <= right.len() { left } else { right })
        };
        let is_whole = |candidates: &[Candidate]| candidates.iter().flatten().all(Option::is_some);
        if is_whole(&left) && is_whole(&right) {
            let right: HashSet<Candidate> = right.into_iter().collect();
            return Candidates::Some(
                left.into_iter().filter(|candidate| right.contains(candidate)).collect(),
            );
        }
        // Either side alone is a scope that leaves nothing out.
        if left.len().saturating_mul(right.len()) > PAIRS_MAX {
            return smaller(left, right);
        }
        let mut both = Vec::new();
        for one in &left {
            both.extend(right.iter().filter_map(|other| agree(one, other)));
        }
        remove_duplicates(&mut both);
        if both.len() > KEYS_MAX { smaller(left, right) } else { Candidates::Some(both) }
    }

    fn into_scope(self, partition_key: &PartitionKeyShape) -> KeyScope {
        let Candidates::Some(candidates) = self else { return KeyScope::All };
        let mut keys: Vec<PartitionKey> = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let key: Vec<Component> = candidate.into_iter().map_while(|component| component).collect();
            let is_whole = key.len() == partition_key.paths.len();
            // Only a hierarchical hash keeps keys with a common beginning together.
            if key.is_empty() || (!is_whole && partition_key.version != HashVersion::MultiHash) {
                return KeyScope::All;
            }
            keys.push(PartitionKey(key));
        }
        remove_duplicates(&mut keys);
        if keys.is_empty() {
            return KeyScope::Nothing;
        }
        if keys.iter().all(|key| key.0.len() == partition_key.paths.len()) {
            return KeyScope::Keys(keys);
        }
        let known: HashSet<PartitionKey> = keys.iter().cloned().collect();
        keys.retain(|key| {
            !(1..key.0.len()).any(|length| known.contains(&PartitionKey(key.0[..length].to_vec())))
        });
        KeyScope::Prefixes(keys)
    }
}

/// Returns the candidate for keys that agree with both.
fn agree(one: &Candidate, other: &Candidate) -> Option<Candidate> {
    let component = |(one, other): (&Option<Component>, &Option<Component>)| match (one, other) {
        (Some(one), Some(other)) if one != other => None,
        (Some(known), _) | (None, Some(known)) => Some(Some(known.clone())),
        (None, None) => Some(None),
    };
    one.iter().zip(other).map(component).collect()
}

/// Removes what came before already; the rest keeps its order.
fn remove_duplicates<T: Clone + Eq + std::hash::Hash>(elements: &mut Vec<T>) {
    let mut seen = HashSet::with_capacity(elements.len());
    elements.retain(|element| seen.insert(element.clone()));
}

#[cfg(test)]
mod tests;
