//! Which conditions with built-in functions an index can serve.

use std::ops::Bound;

use armilla_functions::Function;
use armilla_functions::operators::{Comparison, compare_truth};
use armilla_functions::{Datum, DatumKind};
use armilla_index::TermRange;
use armilla_value::Value;
use armilla_value::key::class;

use super::condition::Condition;
use super::predicates::{constants, membership, string_equality, string_prefix, strings, wanted_filter};
use super::target::{Scope, Target};
use super::terms::TermSet;
use crate::expr::Expr;
use crate::physical::TERM_SLOT;

/// Returns for which items a call may be true, or false.
pub(super) fn compile(function: Function, arguments: &[Expr], wanted: bool, scope: &Scope) -> Condition {
    if let Some(range) = type_range(function) {
        let Some(target) = arguments.first().and_then(|value| scope.target(value)) else {
            return Condition::Unknown;
        };
        let (set, _) = TermSet::of(range);
        return Condition::term(target, if wanted { set } else { set.complement() }, true);
    }
    match function {
        Function::StartsWith => text_test(arguments, wanted, scope, string_prefix)
            .unwrap_or_else(|| index_scan(function, arguments, wanted, scope)),
        Function::StringEquals => {
            let swapped: Vec<Expr> = match arguments {
                [left, right, rest @ ..] if left.as_constant().is_some() => {
                    [&[right.clone(), left.clone()], rest].concat()
                }
                _ => arguments.to_vec(),
            };
            text_test(&swapped, wanted, scope, string_equality)
                .unwrap_or_else(|| index_scan(function, &swapped, wanted, scope))
        }
        Function::Contains
        | Function::EndsWith
        | Function::RegexMatch
        | Function::ContainsAllCi
        | Function::ContainsAllCs
        | Function::ContainsAnyCi
        | Function::ContainsAnyCs => index_scan(function, arguments, wanted, scope),
        Function::ArrayContains => array_contains(arguments, wanted, scope),
        Function::ArrayContainsAny | Function::ArrayContainsAll if wanted => {
            let Some((target, values)) = array_and_values(arguments, scope) else {
                return Condition::Unknown;
            };
            let each = values.into_iter().map(|value| match value {
                Some(value) => holds_element(&target, value),
                None => Condition::Never,
            });
            if function == Function::ArrayContainsAny { Condition::any(each) } else { Condition::all(each) }
        }
        _ => Condition::Unknown,
    }
}

/// Returns whether a call is true, false or undefined, never another value.
pub(super) fn is_condition(function: Function) -> bool {
    type_range(function).is_some()
        || matches!(
            function,
            Function::StartsWith
                | Function::StringEquals
                | Function::Contains
                | Function::EndsWith
                | Function::RegexMatch
                | Function::ContainsAllCi
                | Function::ContainsAllCs
                | Function::ContainsAnyCi
                | Function::ContainsAnyCs
                | Function::ArrayContains
                | Function::ArrayContainsAny
                | Function::ArrayContainsAll
        )
}

/// Returns the terms of what a type function says is so.
fn type_range(function: Function) -> Option<TermRange<'static>> {
    Some(match function {
        Function::IsDefined => TermRange::Defined,
        Function::IsNull => TermRange::NULLS,
        Function::IsBool => TermRange::BOOLEANS,
        Function::IsNumber => TermRange::NUMBERS,
        Function::IsString => TermRange::STRINGS,
        Function::IsPrimitive => TermRange::PRIMITIVES,
        Function::IsArray => TermRange::ARRAYS,
        Function::IsObject => TermRange::OBJECTS,
        _ => return None,
    })
}

/// Compiles a test of a text against a constant one that keeps to upper and lower case; nothing for other calls.
fn text_test(
    arguments: &[Expr],
    wanted: bool,
    scope: &Scope,
    test: impl FnOnce(Target, &str, bool) -> Condition,
) -> Option<Condition> {
    let (value, text, ignores_case) = match arguments {
        [value, text] => (value, text, false),
        [value, text, ignores_case] => (value, text, ignores_case.as_value()?.as_bool()?),
        _ => return None,
    };
    let target = scope.target(value)?;
    match text.as_constant()? {
        Some(Value::String(text)) if !ignores_case => Some(test(target, text, wanted)),
        Some(Value::String(_)) => None,
        // Of anything but a text, nothing is said.
        _ => Some(Condition::Never),
    }
}

/// Compiles a test of a text that every text in the index must be put to.
fn index_scan(function: Function, arguments: &[Expr], wanted: bool, scope: &Scope) -> Condition {
    let Some((value, rest)) = arguments.split_first() else { return Condition::Unknown };
    let (Some(target), Some(_)) = (scope.target(value), constants(rest)) else { return Condition::Unknown };
    let call = Expr::Call(function, [&[Expr::Slot(TERM_SLOT)], rest].concat());
    Condition::filtered(target, strings(), wanted_filter(call, wanted))
}

fn array_and_values<'e>(arguments: &'e [Expr], scope: &Scope) -> Option<(Target, Vec<Option<&'e Value>>)> {
    let (array, values) = arguments.split_first()?;
    Some((scope.target(array)?, constants(values)?))
}

fn array_contains(arguments: &[Expr], wanted: bool, scope: &Scope) -> Condition {
    let (array, value, partial) = match arguments {
        [array, value] => (array, value, false),
        [array, value, Expr::Undefined] => (array, value, false),
        [array, value, partial] => match partial.as_value() {
            Some(Value::Bool(partial)) => (array, value, *partial),
            _ => return Condition::Unknown,
        },
        _ => return Condition::Unknown,
    };
    // A constant array that holds the value of a path is a list of what the path may be.
    if let (Some(Some(Value::Array(elements))), Some(target), false) =
        (array.as_constant(), scope.target(value), partial)
    {
        return membership(target, elements, wanted);
    }
    let (Some(target), Some(value), true) = (scope.target(array), value.as_constant(), wanted) else {
        return Condition::Unknown;
    };
    match value {
        None => Condition::Never,
        Some(Value::Object(object)) if partial => {
            let element = target.elements();
            if object.is_empty() {
                return Condition::on_entries(element, TermSet::of(TermRange::OBJECTS).0, false);
            }
            // Each member for itself: that one element has them all is checked on the item.
            Condition::all(object.iter().map(|(name, member)| {
                let (set, _) = TermSet::of(TermRange::Equal(member));
                Condition::on_entries(element.member(name), set, false)
            }))
        }
        Some(value) => holds_element(&target, value),
    }
}

/// Returns where an array holds a value.
fn holds_element(target: &Target, value: &Value) -> Condition {
    let (set, is_precise) = TermSet::of(TermRange::Equal(value));
    Condition::on_entries(target.elements(), set, is_precise && !target.is_multiple)
}

/// Returns whether an index can serve comparisons of what a function makes of a value.
pub(super) fn is_measured(function: Function) -> bool {
    matches!(
        function,
        Function::Abs
            | Function::Ceiling
            | Function::Degrees
            | Function::Floor
            | Function::Left
            | Function::Radians
            | Function::Round
            | Function::Sign
            | Function::Substring
            | Function::Trunc
    )
}

/// Returns where what a function makes of a value compares so with a constant.
pub(super) fn compare(
    function: Function,
    arguments: &[Expr],
    operator: Comparison,
    value: &Value,
    wanted: bool,
    scope: &Scope,
) -> Condition {
    let Some(target) = arguments.first().and_then(|argument| scope.target(argument)) else {
        return Condition::Unknown;
    };
    if !wanted || operator == Comparison::NotEqual {
        return Condition::Unknown;
    }
    match function {
        Function::Left | Function::Substring => {
            let from_start = match &arguments[1..] {
                [_] => function == Function::Left,
                [start, _] => {
                    let start = start.as_constant().flatten().and_then(Value::as_f64);
                    function == Function::Substring && start == Some(0.0)
                }
                _ => false,
            };
            match value {
                // Half a character at the cut reads as another one, which the text does not have.
                Value::String(text)
                    if from_start && operator == Comparison::Equal && !text.contains('\u{FFFD}') =>
                {
                    let (set, _) = TermSet::of(TermRange::Prefix(text));
                    Condition::term(target, set, false)
                }
                _ => Condition::Unknown,
            }
        }
        _ => {
            let constant = Datum::from_value(value);
            match constant.as_f64() {
                Some(number) if constant.kind() == DatumKind::Number && number.is_finite() => {
                    Condition::term(target, measured(function, operator, number), false)
                }
                Some(number) if constant.kind() == DatumKind::Number && !number.is_nan() => {
                    Condition::Unknown
                }
                // A number compares with no other type, and is never NaN's equal.
                _ => Condition::Never,
            }
        }
    }
}

/// Returns at least the numbers of which what the function makes compares so with a constant.
fn measured(function: Function, operator: Comparison, constant: f64) -> TermSet {
    /// What arithmetic may have lost, as a part of the number.
    const LOST: f64 = 1e-12;
    let lost = constant.abs() * LOST;
    match function {
        Function::Abs => {
            let (near, far) = ((constant - lost).max(0.0), constant + lost);
            match operator {
                Comparison::Less | Comparison::LessOrEqual => between(Some(-far), Some(far)),
                Comparison::Equal if far < 0.0 => TermSet::default(),
                Comparison::Equal => {
                    TermSet::union([between(Some(-far), Some(-near)), between(Some(near), Some(far))])
                }
                _ => TermSet::union([between(None, Some(-near)), between(Some(near), None)]),
            }
        }
        Function::Sign => {
            let holds = |sign: i64| {
                compare_truth(operator, &Datum::Int(sign), &Datum::Double(constant)) == Some(true)
            };
            let signs = [(-1, None, Some(0.0)), (0, Some(0.0), Some(0.0)), (1, Some(0.0), None)];
            TermSet::union(
                signs.into_iter().filter(|(sign, ..)| holds(*sign)).map(|(_, low, high)| between(low, high)),
            )
        }
        Function::Degrees => {
            near(operator, constant.to_radians(), constant.to_radians().abs() * LOST + f64::MIN_POSITIVE)
        }
        Function::Radians => {
            near(operator, constant.to_degrees(), constant.to_degrees().abs() * LOST + f64::MIN_POSITIVE)
        }
        // Rounding moves a number by one at most.
        _ => near(operator, constant, 1.0 + lost),
    }
}

/// Returns the numbers that compare so with a constant, or are that far from it at most.
fn near(operator: Comparison, constant: f64, distance: f64) -> TermSet {
    let (low, high) = (Some(constant - distance), Some(constant + distance));
    match operator {
        Comparison::Equal | Comparison::NotEqual => between(low, high),
        Comparison::Less | Comparison::LessOrEqual => between(None, high),
        Comparison::Greater | Comparison::GreaterOrEqual => between(low, None),
    }
}

fn between(low: Option<f64>, high: Option<f64>) -> TermSet {
    if low.zip(high).is_some_and(|(low, high)| low > high) {
        return TermSet::default();
    }
    let (low, high) = (low.map(Value::Double), high.map(Value::Double));
    if low.is_none() && high.is_none() {
        return TermSet::of(TermRange::Classes { first: class::NUMBER, last: class::NUMBER }).0;
    }
    let lower = low.as_ref().map_or(Bound::Unbounded, Bound::Included);
    let upper = high.as_ref().map_or(Bound::Unbounded, Bound::Included);
    TermSet::of(TermRange::Between { lower, upper }).0
}
