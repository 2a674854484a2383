//! Which conditions an index can serve.
//!
//! Logic is three-valued, so each condition is compiled for what it should be, true or false: `NOT` asks for the other
//! one, and undefined is neither. Whatever is not understood here is `Unknown` and is checked on items.

use std::ops::Bound;

use armilla_functions::LikeShape;
use armilla_functions::operators::{Comparison, Unary};
use armilla_index::{TermRange, term};
use armilla_value::Value;

use super::condition::Condition;
use super::functions;
use super::target::{Scope, Target};
use super::terms::TermSet;
use crate::bound::{BoundQuery, BoundSource, Projection, SourceKind, Window};
use crate::expr::{Expr, Pattern, SubqueryKind};
use crate::physical::TERM_SLOT;

/// Returns for which items an expression may be true, or false.
pub(super) fn compile(expr: &Expr, wanted: bool, scope: &Scope) -> Condition {
    match expr {
        Expr::Constant(value) if **value == Value::Bool(wanted) => Condition::Always,
        Expr::Constant(_) | Expr::Undefined => Condition::Never,
        Expr::And(parts) if wanted => Condition::all(parts.iter().map(|part| compile(part, true, scope))),
        Expr::And(parts) => Condition::any(parts.iter().map(|part| compile(part, false, scope))),
        Expr::Or(parts) if wanted => Condition::any(parts.iter().map(|part| compile(part, true, scope))),
        Expr::Or(parts) => Condition::all(parts.iter().map(|part| compile(part, false, scope))),
        Expr::Not(inner) | Expr::Unary(Unary::Not, inner) => compile(inner, !wanted, scope),
        Expr::Compare(operator, left, right) => comparison(*operator, left, right, wanted, scope),
        Expr::In(value, list) => match (scope.target(value), constants(list)) {
            (Some(target), Some(list)) => membership(target, list.into_iter().flatten(), wanted),
            _ => Condition::Unknown,
        },
        Expr::Between(value, low, high) => {
            let (Some(target), Some(low), Some(high)) =
                (scope.target(value), low.as_constant(), high.as_constant())
            else {
                return Condition::Unknown;
            };
            let halves = [(Comparison::GreaterOrEqual, low), (Comparison::LessOrEqual, high)];
            let halves = halves.map(|(operator, bound)| compare(target.clone(), operator, bound, wanted));
            if wanted { Condition::all(halves) } else { Condition::any(halves) }
        }
        Expr::Like { value, pattern: Pattern::Constant(pattern) } => {
            let Some(target) = scope.target(value) else { return Condition::Unknown };
            match pattern.shape() {
                LikeShape::Exact(text) => string_equality(target, text, wanted),
                LikeShape::Prefix(text) => string_prefix(target, text, wanted),
                LikeShape::Suffix(_) | LikeShape::Contains(_) | LikeShape::Other => {
                    let range = TermRange::Prefix(if wanted { pattern.literal_prefix() } else { "" });
                    let filter = Expr::Like {
                        value: Box::new(Expr::Slot(TERM_SLOT)),
                        pattern: Pattern::Constant(pattern.clone()),
                    };
                    Condition::filtered(target, TermSet::of(range).0, wanted_filter(filter, wanted))
                }
            }
        }
        Expr::Call(function, arguments) => functions::compile(*function, arguments, wanted, scope),
        Expr::Slot(_) | Expr::Path { .. } | Expr::System(_) | Expr::Computed { .. } => {
            match scope.target(expr) {
                Some(target) => compare(target, Comparison::Equal, Some(&Value::Bool(wanted)), true),
                None => Condition::Unknown,
            }
        }
        Expr::Subquery(SubqueryKind::Exists, query) if wanted => exists(query, scope),
        _ => Condition::Unknown,
    }
}

/// Returns the condition on terms that says whether they should be taken.
pub(super) fn wanted_filter(filter: Expr, wanted: bool) -> Expr {
    if wanted { filter } else { Expr::Not(Box::new(filter)) }
}

/// Returns the values of constants, `None` among them for undefined; nothing where one is no constant.
pub(super) fn constants(list: &[Expr]) -> Option<Vec<Option<&Value>>> {
    list.iter().map(Expr::as_constant).collect()
}

fn comparison(operator: Comparison, left: &Expr, right: &Expr, wanted: bool, scope: &Scope) -> Condition {
    let (operator, operand, constant) = match (left.as_constant(), right.as_constant()) {
        (None, Some(constant)) => (operator, left, constant),
        (Some(constant), None) => (mirrored(operator), right, constant),
        _ => return Condition::Unknown,
    };
    if let Some(target) = scope.target(operand) {
        return compare(target, operator, constant, wanted);
    }
    match (operand, constant) {
        // Nothing compares with what is not there.
        (_, None) => Condition::Never,
        (Expr::Call(function, arguments), Some(value)) if functions::is_measured(*function) => {
            functions::compare(*function, arguments, operator, value, wanted, scope)
        }
        (condition, Some(Value::Bool(truth))) if is_condition(condition) => match operator {
            Comparison::Equal => compile(condition, *truth == wanted, scope),
            Comparison::NotEqual => compile(condition, *truth != wanted, scope),
            _ => Condition::Unknown,
        },
        _ => Condition::Unknown,
    }
}

/// Returns whether an expression is true, false or undefined, never another value.
fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::Compare(..)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Not(_)
        | Expr::In(..)
        | Expr::Between(..)
        | Expr::Like { .. }
        | Expr::Subquery(SubqueryKind::Exists | SubqueryKind::All, _) => true,
        Expr::Call(function, _) => functions::is_condition(*function),
        _ => false,
    }
}

fn mirrored(operator: Comparison) -> Comparison {
    match operator {
        Comparison::Equal | Comparison::NotEqual => operator,
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
    }
}

/// Returns where a value compares so with a constant.
pub(super) fn compare(
    target: Target,
    operator: Comparison,
    constant: Option<&Value>,
    wanted: bool,
) -> Condition {
    // Nothing compares with what is not there.
    let Some(value) = constant else { return Condition::Never };
    match operator {
        Comparison::Equal => membership(target, [value], wanted),
        Comparison::NotEqual => membership(target, [value], !wanted),
        _ => ordered(target, operator, value, wanted),
    }
}

/// Returns where a value is one of some constants, or is there and none of them.
pub(super) fn membership<'v>(
    target: Target,
    values: impl IntoIterator<Item = &'v Value>,
    wanted: bool,
) -> Condition {
    let mut all_exact = true;
    let mut sets = Vec::new();
    for value in values {
        let (set, is_precise) = TermSet::of(TermRange::Equal(value));
        // Fingerprints stand for arrays, objects and long scalars.
        all_exact &= is_precise || set.is_empty();
        // To be none of them, a value may still have the term of one that is not told exactly.
        if wanted || is_precise {
            sets.push(set);
        }
    }
    let equal = TermSet::union(sets);
    let set = if wanted { equal } else { TermSet::defined().minus(&equal) };
    Condition::term(target, set, all_exact)
}

/// Returns where a value lies above or below a constant.
fn ordered(target: Target, operator: Comparison, value: &Value, wanted: bool) -> Condition {
    // These have no order.
    if matches!(value, Value::Array(_) | Value::Object(_)) {
        return Condition::Never;
    }
    let (first, last) = term::class_range(term::class_of(value));
    let (class, _) = TermSet::of(TermRange::Classes { first, last });
    let (lower, upper) = match operator {
        Comparison::Less => (Bound::Unbounded, Bound::Excluded(value)),
        Comparison::LessOrEqual => (Bound::Unbounded, Bound::Included(value)),
        Comparison::Greater => (Bound::Excluded(value), Bound::Unbounded),
        Comparison::GreaterOrEqual => (Bound::Included(value), Bound::Unbounded),
        Comparison::Equal | Comparison::NotEqual => return Condition::Unknown,
    };
    let (set, is_precise) = TermSet::of(TermRange::Between { lower, upper });
    match (wanted, is_precise) {
        (true, is_precise) => Condition::term(target, set, is_precise),
        (false, true) => Condition::term(target, class.minus(&set), true),
        (false, false) => Condition::term(target, class, false),
    }
}

/// Returns the set of all strings.
pub(super) fn strings() -> TermSet {
    TermSet::of(TermRange::STRINGS).0
}

/// Returns where a value is this text, or another one.
pub(super) fn string_equality(target: Target, text: &str, wanted: bool) -> Condition {
    let text = Value::String(text.to_owned());
    among_strings(target, TermSet::of(TermRange::Equal(&text)), wanted)
}

/// Returns where a value is a text that begins so, or does not.
pub(super) fn string_prefix(target: Target, text: &str, wanted: bool) -> Condition {
    among_strings(target, TermSet::of(TermRange::Prefix(text)), wanted)
}

fn among_strings(target: Target, (set, is_precise): (TermSet, bool), wanted: bool) -> Condition {
    match (wanted, is_precise) {
        (true, is_precise) => Condition::term(target, set, is_precise),
        (false, true) => Condition::term(target, strings().minus(&set), true),
        (false, false) => Condition::term(target, strings(), false),
    }
}

/// Returns for which items a subquery may have a row.
fn exists(query: &BoundQuery, scope: &Scope) -> Condition {
    if let Some(condition) = some_element(query, scope) {
        return condition;
    }
    let mut scope = scope.clone();
    let mut parts = Vec::new();
    rows(query, &mut scope, &mut parts);
    // Rows have more conditions than those that are seen here.
    parts.push(Condition::Unknown);
    Condition::all(parts)
}

/// Returns where some element of an array, or a member of one, is in a set of terms: that is what the index of the elements
/// says, however many there are. Nothing where a subquery asks for more than that, or for less.
fn some_element(query: &BoundQuery, scope: &Scope) -> Option<Condition> {
    let [BoundSource { slot, kind: SourceKind::Elements(array) }] = query.sources.as_slice() else {
        return None;
    };
    let gives_each = match &query.projection {
        Projection::Value(Expr::Slot(own)) => own == slot,
        Projection::Value(value) => value.as_value().is_some(),
        Projection::Fields(_) => false,
    };
    if !gives_each || query.grouping.is_some() || query.window != Window::default() {
        return None;
    }
    let array = scope.target(array).filter(|array| !array.is_multiple)?;
    let mut scope = scope.clone();
    // Of one element at a time there is one value.
    scope.bind(*slot, Target { is_multiple: false, ..array.elements() });
    let Condition::Term(term) = compile(query.filter.as_ref()?, true, &scope).simplified() else {
        return None;
    };
    let is_of_element = term
        .target
        .identity
        .as_ref()
        .is_some_and(|identity| identity.slot() == *slot && !identity.is_in_element());
    let is_told = is_of_element && term.is_exact && term.filter.is_none() && !term.set.has_undefined();
    let entries = Target { is_multiple: true, identity: None, ..term.target };
    is_told.then(|| Condition::on_entries(entries, term.set, true))
}

/// Adds what must hold for a query to have a row. Returns the value of the rows, where an index knows it.
fn rows(query: &BoundQuery, scope: &mut Scope, parts: &mut Vec<Condition>) -> Option<Target> {
    if query.grouping.is_some() {
        return None;
    }
    for source in &query.sources {
        bind(source, scope, parts);
    }
    if let Some(filter) = &query.filter {
        parts.push(compile(filter, true, scope));
    }
    let Projection::Value(value) = &query.projection else { return None };
    let target = scope.target(value)?;
    parts.push(Condition::implied(target.clone()));
    Some(target)
}

/// Binds a source's slot, and adds what must hold for it to have a row.
pub(super) fn bind(source: &BoundSource, scope: &mut Scope, parts: &mut Vec<Condition>) {
    let target = match &source.kind {
        SourceKind::Item => None,
        SourceKind::Value(expr) => scope.target(expr),
        SourceKind::Elements(expr) => scope.target(expr).map(|target| target.elements()),
        SourceKind::Rows(query) => rows(query, scope, parts),
        SourceKind::RowElements(query) => rows(query, scope, parts).map(|target| target.elements()),
    };
    if let Some(target) = target {
        scope.bind(source.slot, target);
        parts.extend(scope.target(&Expr::Slot(source.slot)).map(Condition::implied));
    }
}
