//! An oracle for lowered conditions: the few expressions that they are made of, over a tree.
//!
//! It knows nothing of how the engine evaluates or indexes; it follows the language's rules: three-valued logic, order
//! only within one type, `!=` across types true.

use std::cmp::Ordering;

use armilla_engine::plans::{Comparison, Expr, Function, ITEM_SLOT, PathStep, SystemProperty};
use armilla_value::{Value, sql_cmp};

/// Says whether a condition is true of an item.
pub(super) fn is_true(condition: &Expr, item: &Value) -> bool {
    truth(condition, item) == Some(true)
}

fn truth(condition: &Expr, item: &Value) -> Option<bool> {
    match condition {
        Expr::Constant(value) => value.as_bool(),
        Expr::And(parts) => joined(parts, item, false),
        Expr::Or(parts) => joined(parts, item, true),
        Expr::Not(inner) => truth(inner, item).map(|truth| !truth),
        Expr::Call(function, arguments) => {
            let value = value(&arguments[0], item);
            Some(match function {
                Function::IsDefined => value.is_some(),
                Function::IsString => matches!(value, Some(Value::String(_))),
                Function::IsBool => matches!(value, Some(Value::Bool(_))),
                Function::IsNumber => value.is_some_and(|value| value.kind().is_number()),
                other => panic!("{other:?} is in no lowered condition"),
            })
        }
        Expr::Compare(comparison, left, right) => {
            compare(*comparison, value(left, item)?, value(right, item)?)
        }
        other => panic!("{other:?} is in no lowered condition"),
    }
}

/// One part that has the deciding truth decides; otherwise one that is undefined does.
fn joined(parts: &[Expr], item: &Value, deciding: bool) -> Option<bool> {
    let truths: Vec<Option<bool>> = parts.iter().map(|part| truth(part, item)).collect();
    if truths.contains(&Some(deciding)) {
        return Some(deciding);
    }
    if truths.contains(&None) { None } else { Some(!deciding) }
}

fn value<'v>(expr: &'v Expr, item: &'v Value) -> Option<&'v Value> {
    match expr {
        Expr::Constant(value) => Some(value),
        Expr::System(SystemProperty::Ts) => item.get("_ts"),
        Expr::Path { slot: ITEM_SLOT, steps } => steps.iter().try_fold(item, |value, step| match step {
            PathStep::Name(name) => value.get(name),
            PathStep::Element(_) => panic!("no element of an array is in a lowered condition"),
        }),
        other => panic!("{other:?} is no operand of a lowered condition"),
    }
}

fn compare(comparison: Comparison, left: &Value, right: &Value) -> Option<bool> {
    let is_same_type = left.kind() == right.kind() || (left.kind().is_number() && right.kind().is_number());
    let order = if is_same_type { sql_cmp(left, right) } else { Ordering::Less };
    Some(match comparison {
        Comparison::Equal => is_same_type && order.is_eq(),
        Comparison::NotEqual => !is_same_type || order.is_ne(),
        _ if !is_same_type || matches!(left, Value::Array(_) | Value::Object(_)) => return None,
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}
