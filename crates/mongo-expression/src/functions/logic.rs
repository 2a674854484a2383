//! Truth, comparison, choices and variables.

use std::borrow::Cow;
use std::cmp::Ordering;

use armilla_value::{Value, mongo_cmp};

use super::{give, is_nullish};
use crate::error::{Error, Result};
use crate::measure::check_depth;
use crate::parse::{Parser, check_variable_name};
use crate::tree::{Argument, Budget, Frame, Locals, Node, Output};
use crate::{is_undefined, type_name};

/// `$and`.
pub(crate) fn and<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    for node in arguments.iter().flatten() {
        if !node.is_truthy(frame)? {
            return give(false);
        }
    }
    give(true)
}

/// `$or`.
pub(crate) fn or<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    for node in arguments.iter().flatten() {
        if node.is_truthy(frame)? {
            return give(true);
        }
    }
    give(false)
}

/// `$not`.
pub(crate) fn not<'a>(_: &Budget, argument: Argument<'a>) -> Output<'a> {
    give(!crate::is_truthy(argument.as_deref()))
}

/// Compares what may be missing, which is below everything but the lowest key.
pub(crate) fn order(left: Option<&Value>, right: Option<&Value>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => mongo_cmp(left, right),
        (None, None) => Ordering::Equal,
        (None, Some(Value::MinKey)) => Ordering::Greater,
        (Some(Value::MinKey), None) => Ordering::Less,
        // Undefined and missing are one in the order.
        (None, Some(value)) | (Some(value), None) if is_undefined(value) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
    }
}

fn ordered<'a>(left: Argument<'a>, right: Argument<'a>, holds: fn(Ordering) -> bool) -> Output<'a> {
    give(holds(order(left.as_deref(), right.as_deref())))
}

/// `$eq`.
pub(crate) fn equal<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    ordered(left, right, Ordering::is_eq)
}

/// `$ne`.
pub(crate) fn not_equal<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    ordered(left, right, Ordering::is_ne)
}

/// `$gt`.
pub(crate) fn greater<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    ordered(left, right, Ordering::is_gt)
}

/// `$gte`.
pub(crate) fn greater_or_equal<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    ordered(left, right, Ordering::is_ge)
}

/// `$lt`.
pub(crate) fn less<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    ordered(left, right, Ordering::is_lt)
}

/// `$lte`.
pub(crate) fn less_or_equal<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    ordered(left, right, Ordering::is_le)
}

/// `$cmp`.
pub(crate) fn compare<'a>(_: &Budget, left: Argument<'a>, right: Argument<'a>) -> Output<'a> {
    give(Value::Int32(order(left.as_deref(), right.as_deref()) as i32))
}

/// Reads `$cond` in either form.
pub(crate) fn read_cond(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Node> {
    let nodes: Vec<Option<Node>> = match argument {
        Value::Object(object) => {
            let mut nodes = [None, None, None];
            for (own, value) in object.iter() {
                let place = match own {
                    "if" => 0,
                    "then" => 1,
                    "else" => 2,
                    _ => return Err(Error::new(17083, format!("Unrecognized parameter to $cond: {own}"))),
                };
                nodes[place] = Some(parser.operand(value)?);
            }
            for (place, (code, own)) in
                [(17080, "if"), (17081, "then"), (17082, "else")].into_iter().enumerate()
            {
                if nodes[place].is_none() {
                    return Err(Error::new(code, format!("Missing '{own}' parameter to $cond")));
                }
            }
            nodes.into()
        }
        other => {
            let nodes = match other {
                Value::Array(elements) => parser.elements(elements)?,
                single => vec![parser.operand(single)?],
            };
            if nodes.len() != 3 {
                return Err(Error::new(
                    16020,
                    format!("Expression {name} takes exactly 3 arguments. {} were passed in.", nodes.len()),
                ));
            }
            nodes.into_iter().map(Some).collect()
        }
    };
    Ok(Node::Lazy(choose, nodes.into()))
}

fn choose<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let [Some(condition), Some(then), Some(otherwise)] = arguments else { return Ok(None) };
    if condition.is_truthy(frame)? { then.evaluate(frame) } else { otherwise.evaluate(frame) }
}

/// Reads `$ifNull`.
pub(crate) fn read_if_null(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let nodes = match argument {
        Value::Array(elements) => parser.elements(elements)?,
        single => vec![parser.operand(single)?],
    };
    if nodes.len() < 2 {
        return Err(Error::new(
            1257300,
            format!("$ifNull needs at least two arguments, had: {}", nodes.len()),
        ));
    }
    Ok(Node::Lazy(if_null, nodes.into_iter().map(Some).collect()))
}

fn if_null<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let mut result = None;
    for node in arguments.iter().flatten() {
        result = node.evaluate(frame)?;
        if !is_nullish(&result) {
            break;
        }
    }
    Ok(result)
}

/// Reads `$switch`: cases and what they give in turn, and last the default.
pub(crate) fn read_switch(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let Value::Object(object) = argument else {
        return Err(Error::new(
            40060,
            format!("$switch requires an object as an argument, found: {}", type_name(argument)),
        ));
    };
    let (mut nodes, mut default) = (Vec::new(), None);
    for (own, value) in object.iter() {
        match (own, value) {
            ("branches", Value::Array(branches)) => {
                for branch in branches {
                    read_branch(parser, branch, &mut nodes)?;
                }
            }
            ("branches", other) => {
                return Err(Error::new(
                    40061,
                    format!("$switch expected an array for 'branches', found: {}", type_name(other)),
                ));
            }
            ("default", value) => default = Some(parser.operand(value)?),
            _ => return Err(Error::new(40067, format!("$switch found an unknown argument: {own}"))),
        }
    }
    if nodes.is_empty() {
        return Err(Error::new(40068, "$switch requires at least one branch."));
    }
    nodes.push(default);
    Ok(Node::Lazy(switch, nodes.into()))
}

fn read_branch(parser: &mut Parser<'_>, branch: &Value, nodes: &mut Vec<Option<Node>>) -> Result<()> {
    let Value::Object(branch) = branch else {
        return Err(Error::new(
            40062,
            format!("$switch expected each branch to be an object, found: {}", type_name(branch)),
        ));
    };
    let (mut case, mut then) = (None, None);
    for (own, value) in branch.iter() {
        match own {
            "case" => case = Some(parser.operand(value)?),
            "then" => then = Some(parser.operand(value)?),
            _ => {
                return Err(Error::new(
                    40063,
                    format!("$switch found an unknown argument to a branch: {own}"),
                ));
            }
        }
    }
    if case.is_none() {
        return Err(Error::new(40064, "$switch requires each branch have a 'case' expression"));
    }
    if then.is_none() {
        return Err(Error::new(40065, "$switch requires each branch have a 'then' expression."));
    }
    nodes.extend([case, then]);
    Ok(())
}

fn switch<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let Some((default, branches)) = arguments.split_last() else { return Ok(None) };
    for branch in branches.chunks_exact(2) {
        if let [Some(case), Some(then)] = branch
            && case.is_truthy(frame)?
        {
            return then.evaluate(frame);
        }
    }
    match default {
        Some(default) => default.evaluate(frame),
        None => Err(Error::new(
            40066,
            "$switch could not find a matching branch for an input, and no default was specified.",
        )),
    }
}

/// Reads `$let`: the variables, and last what is evaluated with them.
pub(crate) fn read_let(parser: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    let Value::Object(object) = argument else {
        return Err(Error::new(16874, "$let only supports an object as its argument"));
    };
    if let Some((own, _)) = object.iter().find(|(own, _)| !matches!(*own, "vars" | "in")) {
        return Err(Error::new(16875, format!("Unrecognized parameter to $let: {own}")));
    }
    let variables =
        object.get("vars").ok_or_else(|| Error::new(16876, "Missing 'vars' parameter to $let"))?;
    let body = object.get("in").ok_or_else(|| Error::new(16877, "Missing 'in' parameter to $let"))?;
    let Value::Object(variables) = variables else {
        return Err(Error::new(10065, "invalid parameter: expected an object (vars)"));
    };
    let (mut names, mut nodes) = (Vec::new(), Vec::new());
    for (own, value) in variables.iter() {
        check_variable_name(own)?;
        nodes.push(Some(parser.operand(value)?));
        names.push(own.to_owned());
    }
    nodes.push(Some(parser.within(names, body)?));
    Ok(Node::Lazy(bind, nodes.into()))
}

fn bind<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let Some((Some(body), variables)) = arguments.split_last() else { return Ok(None) };
    let mut values = Vec::with_capacity(variables.len());
    for node in variables.iter().flatten() {
        let value = node.evaluate(frame)?;
        if let Some(Cow::Owned(made)) = &value {
            check_depth(made)?;
        }
        values.push(value);
    }
    let locals = Locals { parent: frame.locals, values: &values };
    let value = body.evaluate(&Frame { locals: Some(&locals), ..*frame })?;
    Ok(match value {
        Some(value) => Some(Cow::Owned(frame.budget.own(value)?)),
        None => None,
    })
}

/// Reads `$rand`, which has no arguments.
pub(crate) fn read_rand(_: &mut Parser<'_>, _: &str, argument: &Value) -> Result<Node> {
    match argument {
        Value::Object(object) if object.is_empty() => Ok(Parser::random()),
        Value::Array(elements) if elements.is_empty() => Ok(Parser::random()),
        _ => Err(Error::new(3040501, "$rand does not currently accept arguments")),
    }
}
