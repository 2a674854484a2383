//! Conditions on elements as conditions of the engine's queries, so that the index finds items.
//!
//! The index narrows, the condition decides: what is lowered holds for every element that satisfies the condition. Where it
//! holds for no other, it is said to be exact, and elements need not be looked at again.

use std::sync::Arc;

use armilla_engine::plans::{
    BoundQuery, BoundSource, Comparison, Expr, Function, ITEM_SLOT, PathStep, Projection, SourceKind,
    SubqueryKind, Window,
};
use armilla_gremlin_machine::graph::Condition;
use armilla_gremlin_value::{Predicate, PredicateKind, Value};
use armilla_value::Value as Stored;

use crate::elements::{EDGE_LABEL_DEFAULT, LABEL_DEFAULT};
use crate::layout::{LIFETIME, Layout, is_free, members};
use crate::limits::{CONDITION_PARTS_MAX, LIST_VALUES_MAX};
use crate::values;

/// Which elements a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Vertex,
    Edge,
}

/// What conditions come to.
#[derive(Debug, Clone)]
pub(crate) struct Lowered {
    /// What holds of all that satisfy them.
    pub(crate) parts: Vec<Expr>,
    /// Whether it holds of no other.
    pub(crate) is_exact: bool,
}

/// Lowers conditions that must all hold.
pub(crate) fn lower(conditions: &[Condition], kind: Kind, layout: &Layout) -> Lowered {
    let mut lowering = Lowering { slot: ITEM_SLOT, parts: 0, kind, layout };
    let mut lowered = Lowered { parts: Vec::new(), is_exact: true };
    for condition in conditions {
        match lowering.condition(condition) {
            Some(part) => {
                lowered.is_exact &= part.is_exact;
                lowered.parts.push(part.expr);
            }
            None => lowered.is_exact = false,
        }
    }
    lowered
}

/// Returns the condition that holds for elements of a kind.
pub(crate) fn is_kind(kind: Kind) -> Expr {
    let is_edge = call(Function::IsDefined, vec![member(members::IS_EDGE)]);
    match kind {
        Kind::Vertex => Expr::Not(Box::new(is_edge)),
        Kind::Edge => is_edge,
    }
}

/// Returns the condition that a member is one of some texts.
pub(crate) fn is_one_of<'t>(name: &str, texts: impl ExactSizeIterator<Item = &'t str>) -> Expr {
    let constants: Vec<Expr> = texts.map(|text| Expr::constant(Stored::from(text))).collect();
    one_of(member(name), constants)
}

/// Returns the condition that a member is one of some values.
pub(crate) fn equals_one_of(name: &str, values: &[Stored]) -> Expr {
    one_of(member(name), values.iter().cloned().map(Expr::constant).collect())
}

/// Puts conditions together.
pub(crate) fn all(mut exprs: Vec<Expr>) -> Option<Expr> {
    match exprs.len() {
        0 => None,
        1 => exprs.pop(),
        _ => Some(Expr::And(exprs)),
    }
}

/// Returns the query for whole items of which a condition holds.
pub(crate) fn items(condition: Option<Expr>) -> BoundQuery {
    BoundQuery { filter: condition, ..BoundQuery::items() }
}

/// Returns a top-level member of the item.
pub(crate) fn member(name: &str) -> Expr {
    Expr::Path { slot: ITEM_SLOT, steps: vec![PathStep::Name(name.to_owned())] }
}

struct Part {
    expr: Expr,
    is_exact: bool,
}

struct Lowering<'l> {
    slot: usize,
    parts: usize,
    kind: Kind,
    layout: &'l Layout,
}

impl Lowering<'_> {
    fn condition(&mut self, condition: &Condition) -> Option<Part> {
        match condition {
            // Ids are texts, however a script writes them.
            Condition::Id(predicate) => self.text_member(members::ID, &predicate.as_text(), None),
            Condition::Label(predicate) => {
                let default = match self.kind {
                    Kind::Vertex => LABEL_DEFAULT,
                    Kind::Edge => EDGE_LABEL_DEFAULT,
                };
                self.text_member(members::LABEL, predicate, Some(default))
            }
            Condition::Property { key, predicate } if is_free(key) => self.property(key, predicate),
            Condition::Has(key) if is_free(key) => Some(Part { expr: self.is_there(key), is_exact: false }),
            Condition::Property { .. } | Condition::Has(_) | Condition::HasNot(_) => None,
        }
    }

    /// Lowers a condition on a member that is a text. Items without it have a text all the same, where there is one.
    fn text_member(&mut self, name: &str, predicate: &Predicate, default: Option<&str>) -> Option<Part> {
        let part = self.predicate(predicate, &|| member(name))?;
        let holds_without = default.is_some_and(|default| predicate.test(&Value::String(default.into())));
        if !holds_without {
            return Some(part);
        }
        let missing = Expr::Not(Box::new(call(Function::IsDefined, vec![member(name)])));
        Some(Part { expr: Expr::Or(vec![part.expr, missing]), is_exact: part.is_exact })
    }

    fn is_there(&self, key: &str) -> Expr {
        call(Function::IsDefined, vec![member(key)])
    }

    fn property(&mut self, key: &Arc<str>, predicate: &Predicate) -> Option<Part> {
        let is_flat = self.kind == Kind::Edge || self.layout.is_partition(key) || &**key == LIFETIME;
        let Some(flat) = self.predicate(predicate, &|| member(key)) else {
            // Whatever is asked of a value, there must be one.
            return Some(Part { expr: self.is_there(key), is_exact: false });
        };
        if is_flat {
            return Some(flat);
        }
        let (bag, plain) = (self.next_slot(), self.next_slot());
        let value = || Expr::Path { slot: bag, steps: vec![PathStep::Name(members::VALUE.to_owned())] };
        let in_bag = self.predicate(predicate, &value)?;
        let in_list = self.predicate(predicate, &|| Expr::Slot(plain))?;
        let is_exact = flat.is_exact && in_bag.is_exact && in_list.is_exact;
        let exprs =
            vec![exists(bag, member(key), in_bag.expr), flat.expr, exists(plain, member(key), in_list.expr)];
        Some(Part { expr: Expr::Or(exprs), is_exact })
    }

    fn next_slot(&mut self) -> usize {
        self.slot += 1;
        self.slot
    }

    /// Lowers what must hold of a value.
    fn predicate(&mut self, predicate: &Predicate, value: &dyn Fn() -> Expr) -> Option<Part> {
        self.parts += 1;
        if self.parts > CONDITION_PARTS_MAX {
            return None;
        }
        let exact = |expr: Expr| Some(Part { expr, is_exact: true });
        let first = || predicate.values.first();
        match predicate.kind {
            PredicateKind::Eq => exact(compare(Comparison::Equal, value(), constant(first()?)?)),
            PredicateKind::Lt => exact(compare(Comparison::Less, value(), ordered(first()?)?)),
            PredicateKind::Lte => exact(compare(Comparison::LessOrEqual, value(), ordered(first()?)?)),
            PredicateKind::Gt => exact(compare(Comparison::Greater, value(), ordered(first()?)?)),
            PredicateKind::Gte => exact(compare(Comparison::GreaterOrEqual, value(), ordered(first()?)?)),
            PredicateKind::Between | PredicateKind::Inside => {
                let [low, high] = predicate.values.as_slice() else { return None };
                let above = if predicate.kind == PredicateKind::Inside {
                    Comparison::Greater
                } else {
                    Comparison::GreaterOrEqual
                };
                let above = compare(above, value(), ordered(low)?);
                let below = compare(Comparison::Less, value(), ordered(high)?);
                exact(Expr::And(vec![above, below]))
            }
            PredicateKind::Outside => {
                let [low, high] = predicate.values.as_slice() else { return None };
                let below = compare(Comparison::Less, value(), ordered(low)?);
                let above = compare(Comparison::Greater, value(), ordered(high)?);
                exact(Expr::Or(vec![below, above]))
            }
            PredicateKind::Within => {
                let listed = listed(&predicate.values);
                if listed.len() > LIST_VALUES_MAX {
                    return None;
                }
                let constants: Option<Vec<Stored>> = listed.into_iter().map(constant).collect();
                exact(one_of(value(), constants?.into_iter().map(Expr::constant).collect()))
            }
            PredicateKind::StartingWith => exact(text_call(Function::StartsWith, value(), first()?)?),
            PredicateKind::EndingWith => exact(text_call(Function::EndsWith, value(), first()?)?),
            PredicateKind::Containing => exact(text_call(Function::Contains, value(), first()?)?),
            PredicateKind::And => {
                let parts = self.joined(predicate, value);
                let is_exact = parts.iter().all(|part| part.as_ref().is_some_and(|part| part.is_exact));
                let exprs = parts.into_iter().flatten().map(|part| part.expr).collect();
                all(exprs).map(|expr| Part { expr, is_exact })
            }
            PredicateKind::Or => {
                let parts: Vec<Part> = self.joined(predicate, value).into_iter().collect::<Option<_>>()?;
                let is_exact = parts.iter().all(|part| part.is_exact);
                Some(Part { expr: Expr::Or(parts.into_iter().map(|part| part.expr).collect()), is_exact })
            }
            _ => None,
        }
    }

    fn joined(&mut self, predicate: &Predicate, value: &dyn Fn() -> Expr) -> Vec<Option<Part>> {
        let parts = predicate.values.iter().map(|part| match part {
            Value::Predicate(part) => self.predicate(part, value),
            _ => None,
        });
        parts.collect()
    }
}

/// Returns the values of a list, which may be given as one value.
pub(crate) fn listed(values: &[Value]) -> Vec<&Value> {
    match values {
        [Value::List(list) | Value::Set(list)] => list.iter().collect(),
        values => values.iter().collect(),
    }
}

/// Returns what a stored value must be to be equal to a value; nothing where the two languages differ.
pub(crate) fn constant(value: &Value) -> Option<Stored> {
    match value {
        Value::Bool(_)
        | Value::Byte(_)
        | Value::Int16(_)
        | Value::Int32(_)
        | Value::Int64(_)
        | Value::String(_)
        | Value::Double(_) => values::to_stored(value),
        _ => None,
    }
}

/// The same for comparisons of order.
fn ordered(value: &Value) -> Option<Stored> {
    match value {
        // By UTF-16 and by code points in the same order, whatever it is compared with.
        Value::String(text) if !text.chars().all(|character| character < '\u{D7FF}') => None,
        Value::Bool(_) => None,
        value => constant(value),
    }
}

fn text_call(function: Function, value: Expr, text: &Value) -> Option<Expr> {
    match text {
        Value::String(text) => Some(call(function, vec![value, Expr::constant(Stored::from(&**text))])),
        _ => None,
    }
}

fn one_of(value: Expr, mut constants: Vec<Expr>) -> Expr {
    match constants.len() {
        0 => Expr::constant(Stored::Bool(false)),
        1 => match constants.pop() {
            Some(constant) => Expr::Compare(Comparison::Equal, Box::new(value), Box::new(constant)),
            None => Expr::constant(Stored::Bool(false)),
        },
        _ => Expr::In(Box::new(value), constants),
    }
}

fn compare(comparison: Comparison, value: Expr, with: Stored) -> Expr {
    Expr::Compare(comparison, Box::new(value), Box::new(Expr::constant(with)))
}

fn call(function: Function, arguments: Vec<Expr>) -> Expr {
    Expr::Call(function, arguments)
}

fn exists(slot: usize, array: Expr, inside: Expr) -> Expr {
    Expr::Subquery(
        SubqueryKind::Exists,
        Box::new(BoundQuery {
            sources: vec![BoundSource { slot, kind: SourceKind::Elements(array) }],
            filter: Some(inside),
            grouping: None,
            order: Vec::new(),
            projection: Projection::Value(Expr::constant(Stored::Int64(1))),
            distinct: false,
            window: Window::default(),
        }),
    )
}
