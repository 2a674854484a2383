//! Filters as conditions of the engine's queries, so that the index finds documents.
//!
//! The index narrows, the filter decides: a lowered condition holds for every document that matches. Where it holds for
//! no other, the filter is not asked again.

use std::sync::Arc;

use armilla_engine::ListScope;
use armilla_engine::plans::{
    BoundQuery, BoundSource, Comparison, Expr, Function, ITEM_SLOT, PathStep, Projection, SourceKind,
    SubqueryKind, Window,
};
use armilla_mongo_filter::{Component, Condition, Filter, Predicate};
use armilla_mongo_wire::document::LIFETIME_NAME;
use armilla_mongo_wire::item_id;
use armilla_value::{Component as KeyComponent, PartitionKey, Value};

use crate::catalog::Collection;
use crate::documents::stored_name;

/// Components of a path that is lowered: each but the last doubles the condition, since it may be an array.
pub(crate) const PATH_COMPONENTS_MAX: usize = 4;
/// Values of a list that is lowered.
const LIST_VALUES_MAX: usize = 5_000;
/// Parts of a filter that are lowered.
const PARTS_MAX: usize = 1_000;
/// Ids of a list that are read one by one.
pub(crate) const POINTS_MAX: usize = 1_000;

/// What a filter comes to.
#[derive(Debug, Clone)]
pub(crate) struct Lowered {
    /// Which part of the container can match.
    pub(crate) scope: ListScope,
    /// The ids of all that can match, where they follow from `_id`; the scope is one logical partition then.
    pub(crate) ids: Option<Vec<String>>,
    /// What holds of all that match.
    pub(crate) condition: Option<Expr>,
    /// Whether it holds of no other.
    pub(crate) is_exact: bool,
    /// Whether the filter says what one `_id` is, and nothing else.
    pub(crate) is_id_only: bool,
}

/// A condition that was lowered.
struct Part {
    expr: Expr,
    is_exact: bool,
}

/// Where a path begins.
#[derive(Clone, Copy)]
enum Base {
    /// In the item.
    Item,
    /// In an element that a slot has.
    Slot(usize),
}

struct Lowering {
    slot: usize,
    parts: usize,
}

/// Lowers a filter for a collection.
pub(crate) fn lower(filter: &Filter, collection: &Collection) -> Lowered {
    let fixed = equalities(&filter.root);
    let key = partition_key(&fixed, &collection.shard_key);
    let scope = match key {
        Some(key) => ListScope::PartitionKey(key),
        None => ListScope::All,
    };
    let ids = match &scope {
        ListScope::PartitionKey(_) => ids(&filter.root),
        _ => None,
    };
    if ids.is_some() {
        // What is read by its id is asked of the filter, and of nothing else.
        let is_id_only = is_id_only(&filter.root);
        return Lowered { scope, ids, condition: None, is_exact: false, is_id_only };
    }
    let mut lowering = Lowering { slot: ITEM_SLOT + 1, parts: 0 };
    let (condition, is_exact) = match lowering.condition(&filter.root, Base::Item) {
        Some(part) => (Some(part.expr), part.is_exact),
        None => (None, is_everything(&filter.root)),
    };
    Lowered { scope, ids, condition, is_exact, is_id_only: false }
}

/// Says whether a filter is about one `_id`, and nothing else.
fn is_id_only(condition: &Condition) -> bool {
    match condition {
        Condition::And(parts) => matches!(parts.as_slice(), [part] if is_id_only(part)),
        Condition::Path { path, predicate: Predicate::Eq(_) } => path.as_str() == "_id",
        _ => false,
    }
}

/// Returns the `_id` that such a filter asks for.
pub(crate) fn id_of(condition: &Condition) -> Option<&Value> {
    match condition {
        Condition::And(parts) => parts.first().and_then(id_of),
        Condition::Path { predicate: Predicate::Eq(id), .. } => Some(id),
        _ => None,
    }
}

fn is_everything(condition: &Condition) -> bool {
    match condition {
        Condition::And(parts) => parts.iter().all(is_everything),
        Condition::AlwaysTrue => true,
        _ => false,
    }
}

/// Returns what must be equal to what, of the conditions that all must hold.
pub(crate) fn equalities(condition: &Condition) -> Vec<(&str, &Value)> {
    match condition {
        Condition::And(parts) => parts.iter().flat_map(equalities).collect(),
        Condition::Path { path, predicate } => match predicate {
            Predicate::Eq(value) => vec![(path.as_str(), value)],
            Predicate::In { values, patterns } if patterns.is_empty() && values.len() == 1 => {
                vec![(path.as_str(), &values[0])]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns the logical partition that equalities lead to.
fn partition_key(fixed: &[(&str, &Value)], shard_key: &[Vec<String>]) -> Option<PartitionKey> {
    let component = |path: &Vec<String>| {
        let shown: Vec<&str> = path
            .iter()
            .enumerate()
            .map(|(level, name)| if level == 0 { crate::documents::shown_name(name) } else { name.as_str() })
            .collect();
        let path = shown.join(".");
        let (_, value) = fixed.iter().find(|(name, _)| *name == path)?;
        match value {
            // Null may be missing, and what an array is equal to may lie in an array.
            Value::Null | Value::Array(_) | Value::Object(_) => None,
            value => match KeyComponent::of(value) {
                // All that a key cannot tell apart lie together.
                component @ (KeyComponent::Bool(_)
                | KeyComponent::Number(_)
                | KeyComponent::String(_)
                | KeyComponent::Undefined) => Some(component),
                KeyComponent::Null => None,
            },
        }
    };
    shard_key.iter().map(component).collect::<Option<Vec<_>>>().map(PartitionKey)
}

/// Returns the ids of all items that can match, where the filter says what `_id` is.
fn ids(condition: &Condition) -> Option<Vec<String>> {
    match condition {
        Condition::And(parts) => parts.iter().find_map(ids),
        Condition::Path { path, predicate } if path.as_str() == "_id" => match predicate {
            Predicate::Eq(value) => candidates([value]),
            Predicate::In { values, patterns } if patterns.is_empty() => candidates(values),
            _ => None,
        },
        _ => None,
    }
}

fn candidates<'v>(values: impl IntoIterator<Item = &'v Value>) -> Option<Vec<String>> {
    let mut ids = Vec::new();
    for value in values {
        // No document has such an id, but the filter knows better what it is equal to.
        if matches!(value, Value::Array(_) | Value::Regex { .. }) {
            return None;
        }
        ids.extend(item_id::candidates(value).ok()?);
        if ids.len() > POINTS_MAX {
            return None;
        }
    }
    Some(ids)
}

impl Lowering {
    fn condition(&mut self, condition: &Condition, base: Base) -> Option<Part> {
        self.parts += 1;
        if self.parts > PARTS_MAX {
            return None;
        }
        match condition {
            Condition::And(parts) => {
                let mut is_exact = true;
                let mut exprs = Vec::new();
                for part in parts {
                    match self.condition(part, base) {
                        Some(part) => {
                            is_exact &= part.is_exact;
                            exprs.push(part.expr);
                        }
                        None => is_exact &= is_everything(part),
                    }
                }
                all(exprs).map(|expr| Part { expr, is_exact })
            }
            Condition::Or(parts) => {
                let parts: Vec<Part> =
                    parts.iter().map(|part| self.condition(part, base)).collect::<Option<_>>()?;
                let is_exact = parts.iter().all(|part| part.is_exact);
                Some(Part { expr: any(parts.into_iter().map(|part| part.expr).collect())?, is_exact })
            }
            Condition::Path { path, predicate } => {
                let components = path.components();
                let is_top = matches!(base, Base::Item);
                let part = self.path(components, predicate, base)?;
                if is_top && components.first().is_some_and(|first| first.name == "_id") {
                    // An item of another API may have none, and has its id for it.
                    let missing = Expr::Not(Box::new(call(Function::IsDefined, vec![item_path("_id")])));
                    return Some(Part { expr: Expr::Or(vec![part.expr, missing]), is_exact: false });
                }
                Some(part)
            }
            Condition::AlwaysFalse => Some(Part { expr: Expr::constant(Value::Bool(false)), is_exact: true }),
            _ => None,
        }
    }

    fn path(&mut self, components: &[Component], predicate: &Predicate, base: Base) -> Option<Part> {
        let is_named =
            components.iter().all(|component| component.index.is_none() && !component.name.is_empty());
        if components.len() > PATH_COMPONENTS_MAX || !is_named {
            return None;
        }
        // It goes by one of two names.
        if matches!(base, Base::Item) && components[0].name == LIFETIME_NAME {
            return None;
        }
        match predicate {
            // What is missing is hard to tell along a path.
            Predicate::Eq(Value::Null) | Predicate::Exists(false) if components.len() > 1 => return None,
            Predicate::Exists(false) => {
                let defined = call(Function::IsDefined, vec![expr_of(base, &[components[0].name.as_str()])]);
                return Some(Part { expr: Expr::Not(Box::new(defined)), is_exact: true });
            }
            Predicate::All(predicates) => {
                if predicates.is_empty() {
                    return Some(Part { expr: Expr::constant(Value::Bool(false)), is_exact: true });
                }
                let mut exprs = Vec::new();
                for predicate in predicates {
                    if let Some(part) = self.path(components, predicate, base) {
                        exprs.push(part.expr);
                    }
                }
                return all(exprs).map(|expr| Part { expr, is_exact: false });
            }
            _ => {}
        }
        self.steps(components, 0, predicate, base)
    }

    /// Lowers a path from one of its components on: the path itself, and the elements of an array in between.
    fn steps(
        &mut self,
        components: &[Component],
        depth: usize,
        predicate: &Predicate,
        base: Base,
    ) -> Option<Part> {
        let names: Vec<&str> = components.iter().map(|component| component.name.as_str()).collect();
        if depth + 1 == names.len() {
            return self.leaf(expr_of(base, &names), predicate);
        }
        let straight = self.steps(components, depth + 1, predicate, base)?;
        let slot = self.next_slot();
        let array = expr_of(base, &names[..=depth]);
        let inside = self.steps(&components[depth + 1..], 0, predicate, Base::Slot(slot))?;
        let is_exact = straight.is_exact && inside.is_exact;
        let expr = Expr::Or(vec![straight.expr, exists(slot, array, inside.expr)]);
        Some(Part { expr, is_exact })
    }

    /// Lowers that a path has a value in an element of an array that lies on it, at whichever of its components.
    fn through_arrays(&mut self, names: &[&str], base: Base) -> Vec<Expr> {
        let mut found = Vec::new();
        for depth in 1..names.len() {
            let slot = self.next_slot();
            let rest = &names[depth..];
            let mut inside = vec![call(Function::IsDefined, vec![expr_of(Base::Slot(slot), rest)])];
            inside.extend(self.through_arrays(rest, Base::Slot(slot)));
            let array = expr_of(base, &names[..depth]);
            found.extend(inside.into_iter().map(|inside| exists(slot, array.clone(), inside)));
        }
        found
    }

    fn next_slot(&mut self) -> usize {
        self.slot += 1;
        self.slot
    }

    /// Lowers what must hold where a path ends, of the value or of an element of it.
    fn leaf(&mut self, value: Expr, predicate: &Predicate) -> Option<Part> {
        match predicate {
            Predicate::Eq(Value::Null) => {
                let missing = Expr::Not(Box::new(call(Function::IsDefined, vec![value.clone()])));
                let null = call(Function::IsNull, vec![value.clone()]);
                // An array may have a null in it, and the value that is called undefined is one, too.
                let other = Expr::Not(Box::new(call(Function::IsPrimitive, vec![value])));
                Some(Part { expr: Expr::Or(vec![missing, null, other]), is_exact: false })
            }
            Predicate::Eq(constant) => {
                let is_exact = is_plain(constant)?;
                let equal = compare(Comparison::Equal, value.clone(), constant);
                let element = call(Function::ArrayContains, vec![value, Expr::constant(constant.clone())]);
                Some(Part { expr: Expr::Or(vec![equal, element]), is_exact })
            }
            Predicate::In { values, patterns } => {
                if !patterns.is_empty() || values.len() > LIST_VALUES_MAX {
                    return None;
                }
                let mut is_exact = true;
                for constant in values {
                    is_exact &= !constant.is_null() && is_plain(constant)?;
                    if constant.is_null() {
                        return None;
                    }
                }
                if values.is_empty() {
                    return Some(Part { expr: Expr::constant(Value::Bool(false)), is_exact: true });
                }
                let constants: Vec<Expr> = values.iter().map(|value| Expr::constant(value.clone())).collect();
                let one = Expr::In(Box::new(value.clone()), constants.clone());
                let element =
                    call(Function::ArrayContainsAny, std::iter::once(value).chain(constants).collect());
                Some(Part { expr: Expr::Or(vec![one, element]), is_exact })
            }
            Predicate::Lt(bound) => self.range(value, Comparison::Less, bound),
            Predicate::Lte(bound) => self.range(value, Comparison::LessOrEqual, bound),
            Predicate::Gt(bound) => self.range(value, Comparison::Greater, bound),
            Predicate::Gte(bound) => self.range(value, Comparison::GreaterOrEqual, bound),
            Predicate::Exists(true) => {
                Some(Part { expr: call(Function::IsDefined, vec![value]), is_exact: true })
            }
            Predicate::Regex(pattern) => {
                let prefix = Expr::constant(Value::String(pattern.prefix()?.text));
                let slot = self.next_slot();
                let one = call(Function::StartsWith, vec![value.clone(), prefix.clone()]);
                let element = call(Function::StartsWith, vec![Expr::Slot(slot), prefix]);
                // A regular expression that is stored is found by the same one.
                let itself = Value::Regex {
                    pattern: pattern.pattern.as_str().into(),
                    options: pattern.options.as_str().into(),
                };
                let same = compare(Comparison::Equal, value.clone(), &itself);
                let inside = Expr::Or(vec![element, compare(Comparison::Equal, Expr::Slot(slot), &itself)]);
                let expr = Expr::Or(vec![one, same, exists(slot, value, inside)]);
                Some(Part { expr, is_exact: false })
            }
            Predicate::Size(_) => Some(Part { expr: call(Function::IsArray, vec![value]), is_exact: false }),
            Predicate::ElemMatchValue(predicates) => {
                let slot = self.next_slot();
                let parts: Vec<Expr> = predicates
                    .iter()
                    .filter_map(|predicate| self.leaf(Expr::Slot(slot), predicate))
                    .map(|part| part.expr)
                    .collect();
                let expr = match all(parts) {
                    Some(inside) => exists(slot, value, inside),
                    None => call(Function::IsArray, vec![value]),
                };
                Some(Part { expr, is_exact: false })
            }
            Predicate::ElemMatchObject(condition) => {
                let slot = self.next_slot();
                let expr = match self.condition(condition, Base::Slot(slot)) {
                    Some(inside) => exists(slot, value, inside.expr),
                    None => call(Function::IsArray, vec![value]),
                };
                Some(Part { expr, is_exact: false })
            }
            _ => None,
        }
    }

    fn range(&mut self, value: Expr, comparison: Comparison, bound: &Value) -> Option<Part> {
        let is_ordered_alike = match bound {
            bound if is_nan(bound) => false,
            Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) | Value::Bool(_) => {
                true
            }
            Value::ObjectId(_) | Value::Date(_) | Value::Timestamp { .. } => true,
            // By UTF-16 and by UTF-8 in the same order, whatever it is compared with.
            Value::String(text) => text.chars().all(|character| character < '\u{D7FF}'),
            _ => false,
        };
        if !is_ordered_alike {
            return None;
        }
        let slot = self.next_slot();
        let one = compare(comparison, value.clone(), bound);
        let element = exists(slot, value, compare(comparison, Expr::Slot(slot), bound));
        Some(Part { expr: Expr::Or(vec![one, element]), is_exact: true })
    }
}

/// Says whether both languages mean the same by equality with a value; nothing where the index cannot be asked at all.
fn is_plain(constant: &Value) -> Option<bool> {
    match constant {
        value if is_nan(value) => None,
        Value::String(_)
        | Value::Int32(_)
        | Value::Int64(_)
        | Value::Double(_)
        | Value::Bool(_)
        | Value::ObjectId(_)
        | Value::Date(_) => Some(true),
        Value::Decimal128(_) | Value::Binary { .. } | Value::Timestamp { .. } => Some(false),
        // Objects are the same there in whatever order their members stand, and arrays hold numbers of other types.
        _ => None,
    }
}

/// Says whether a value is no number that is one.
fn is_nan(value: &Value) -> bool {
    match value {
        Value::Double(number) => number.is_nan(),
        Value::Decimal128(bytes) => {
            matches!(armilla_value::Decimal::from_bytes(bytes), armilla_value::Decimal::NaN)
        }
        _ => false,
    }
}

fn exists(slot: usize, array: Expr, inside: Expr) -> Expr {
    Expr::Subquery(
        SubqueryKind::Exists,
        Box::new(BoundQuery {
            sources: vec![BoundSource { slot, kind: SourceKind::Elements(array) }],
            filter: Some(inside),
            grouping: None,
            order: Vec::new(),
            projection: Projection::Value(Expr::constant(Value::Int64(1))),
            distinct: false,
            window: Window::default(),
        }),
    )
}

pub(crate) fn compare(comparison: Comparison, value: Expr, constant: &Value) -> Expr {
    Expr::Compare(comparison, Box::new(value), Box::new(Expr::Constant(Arc::new(constant.clone()))))
}

pub(crate) fn call(function: Function, arguments: Vec<Expr>) -> Expr {
    Expr::Call(function, arguments)
}

fn all(mut exprs: Vec<Expr>) -> Option<Expr> {
    match exprs.len() {
        0 => None,
        1 => exprs.pop(),
        _ => Some(Expr::And(exprs)),
    }
}

fn any(mut exprs: Vec<Expr>) -> Option<Expr> {
    match exprs.len() {
        0 => None,
        1 => exprs.pop(),
        _ => Some(Expr::Or(exprs)),
    }
}

fn expr_of(base: Base, names: &[&str]) -> Expr {
    let (slot, is_item) = match base {
        Base::Item => (ITEM_SLOT, true),
        Base::Slot(slot) => (slot, false),
    };
    let steps = names.iter().enumerate().map(|(level, name)| {
        let name = if is_item && level == 0 { stored_name(name).into_owned() } else { (*name).to_owned() };
        PathStep::Name(name)
    });
    Expr::Path { slot, steps: steps.collect() }
}

/// Returns what lies at a path of a document.
pub(crate) fn path_of(names: &[&str]) -> Expr {
    expr_of(Base::Item, names)
}

/// Returns what holds where a path leads to a value through the elements of arrays.
pub(crate) fn through_arrays(names: &[&str]) -> Vec<Expr> {
    let mut lowering = Lowering { slot: ITEM_SLOT + 1, parts: 0 };
    lowering.through_arrays(names, Base::Item)
}

/// Returns a top-level member of the item.
pub(crate) fn item_path(name: &str) -> Expr {
    expr_of(Base::Item, &[name])
}
