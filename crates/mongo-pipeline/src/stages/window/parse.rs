//! Reading `$setWindowFields`.

use armilla_mongo_expression::{
    Accumulator, Error, Expression, Result, Scope, arithmetic, decimal_arithmetic,
};
use armilla_mongo_filter::Sort;
use armilla_value::{Decimal, Object, Value, mongo_cmp};

use super::frame::{Bound, Window};
use super::functions::{Fold, Function};
use super::sliding::Sliding;
use super::{Output, SetWindowFields, SortBy};
use crate::arguments::{
    Integer, as_double, failed, integer, is_number, known_members, missing_member, object_or, shown,
    wrong_type,
};
use crate::dependencies::{Fields, Needs};
use crate::path::FieldPath;
use crate::stages::time::Unit;

impl SetWindowFields {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value, scope: &Scope) -> Result<(SetWindowFields, Needs)> {
        let object = object_or(argument, 9, || {
            format!("the $setWindowFields stage specification must be an object, found {}", shown(argument))
        })?;
        known_members("$setWindowFields", object, &["partitionBy", "sortBy", "output"])?;
        let mut needs = Fields::none();
        let partition_by = match object.get("partitionBy") {
            None => None,
            Some(value) => {
                needs = needs.expression(value);
                Some(Expression::parse(value, scope)?)
            }
        };
        let sort_by = match object.get("sortBy") {
            None => None,
            Some(Value::Object(keys)) => {
                needs = keys.iter().fold(needs, |needs, (path, _)| needs.path(path));
                Some(parse_sort_by(keys, scope)?)
            }
            Some(other) => return Err(wrong_type("$setWindowFields", "sortBy", other, "object")),
        };
        let fields = match object.get("output") {
            None => return Err(missing_member("$setWindowFields", "output")),
            Some(Value::Object(fields)) => fields,
            Some(other) => return Err(wrong_type("$setWindowFields", "output", other, "object")),
        };
        let mut outputs: Vec<Output> = Vec::with_capacity(fields.len());
        for (path, specification) in fields.iter() {
            needs = needs.path(path).expression(specification);
            let output = parse_output(path, specification, sort_by.as_ref(), scope)?;
            if let Some(other) = outputs.iter().find(|other| other.path.conflicts_with(&output.path)) {
                return Err(Error::new(
                    6307900,
                    format!(
                        "$setWindowFields 'output' specification contains two conflicting paths: '{}' and '{path}'",
                        other.path.as_str()
                    ),
                ));
            }
            outputs.push(output);
        }
        Ok((SetWindowFields { partition_by, sort_by, outputs }, Needs::open(needs)))
    }
}

fn parse_sort_by(keys: &Object, scope: &Scope) -> Result<SortBy> {
    let sort = Sort::parse(keys)?;
    let value = match keys.iter().next() {
        Some((path, _)) if keys.len() == 1 => {
            Some(Expression::parse(&Value::String(format!("${path}")), scope)?)
        }
        _ => None,
    };
    Ok(SortBy { sort, value })
}

impl SortBy {
    fn is_single(&self) -> bool {
        self.value.is_some()
    }

    fn is_single_ascending(&self) -> bool {
        self.is_single() && self.sort.keys.first().is_some_and(|(_, descending)| !descending)
    }
}

fn parse_output(
    path: &str,
    specification: &Value,
    sort_by: Option<&SortBy>,
    scope: &Scope,
) -> Result<Output> {
    let object = object_or(specification, 9, || {
        format!("The field '{path}' must be a window function object, found {}", shown(specification))
    })?;
    let window = object.get("window");
    let Some((name, argument)) = object.iter().find(|(name, _)| *name != "window") else {
        return Err(failed("Expected a $-prefixed window function"));
    };
    if !name.starts_with('$') {
        return Err(failed(format!("Expected a $-prefixed window function, {name}")));
    }
    let function = parse_function(path, name, argument, sort_by, scope)?;
    if let Some((unknown, _)) = object.iter().find(|(member, _)| *member != "window" && *member != name) {
        return Err(failed(format!("Window function {name} found an unknown argument: {unknown}")));
    }
    let takes_window = matches!(function, Function::Fold(_) | Function::Derivative { .. });
    let window = match window {
        None if name == "$derivative" => {
            return Err(failed("$derivative requires explicit window bounds"));
        }
        None => Window::All,
        Some(_) if !takes_window => {
            let code = match name {
                "$shift" => 5371600,
                "$linearFill" | "$locf" => 9,
                "$expMovingAvg" => 9,
                _ => 5371601,
            };
            return Err(Error::new(code, format!("{name} does not accept a 'window' field")));
        }
        Some(window) => parse_window(window, sort_by, scope)?,
    };
    Ok(Output { path: FieldPath::parse(path)?, function, window })
}

fn parse_function(
    path: &str,
    name: &str,
    argument: &Value,
    sort_by: Option<&SortBy>,
    scope: &Scope,
) -> Result<Function> {
    let accumulator = |is_unordered: bool| {
        let specification = Value::Object(Object::from([(name, argument.clone())]));
        // Fields of groups may not be dotted; here they may.
        let field = path.rsplit('.').next().unwrap_or(path);
        let accumulator = Accumulator::parse(field, &specification, scope)?;
        let sliding = Sliding::parse(name, argument, scope)?;
        Ok(Function::Fold(Fold::Accumulator { accumulator, is_unordered, sliding }))
    };
    match name {
        "$sum" | "$avg" | "$min" | "$max" | "$count" | "$stdDevPop" | "$stdDevSamp" | "$median"
        | "$percentile" => accumulator(true),
        "$push" | "$addToSet" | "$first" | "$last" | "$firstN" | "$lastN" | "$minN" | "$maxN" | "$top"
        | "$topN" | "$bottom" | "$bottomN" => accumulator(false),
        "$rank" | "$denseRank" | "$documentNumber" => {
            if !argument.as_object().is_some_and(Object::is_empty) {
                return Err(Error::new(
                    5371603,
                    format!("(None) {name} must be specified with '{{}}' as the value"),
                ));
            }
            if !sort_by.is_some_and(SortBy::is_single) && (name != "$documentNumber" || sort_by.is_none()) {
                return Err(Error::new(
                    5371602,
                    format!(
                        "{name} must be specified with a top level sortBy expression with exactly one element"
                    ),
                ));
            }
            Ok(match name {
                "$rank" => Function::Rank,
                "$denseRank" => Function::DenseRank,
                _ => Function::DocumentNumber,
            })
        }
        "$shift" => shift(argument, sort_by, scope),
        "$derivative" | "$integral" => {
            let object = named_arguments(name, argument, &["input", "unit"])?;
            let input = input(name, object, scope)?;
            let unit = match object.get("unit") {
                None => None,
                Some(Value::String(unit)) => {
                    let unit = Unit::parse(unit)?;
                    if unit.length_ms.is_none() {
                        return Err(Error::new(5490710, "unit must be 'week' or smaller"));
                    }
                    Some(unit)
                }
                Some(other) => {
                    return Err(Error::new(
                        5490704,
                        format!("'unit' must be a string, found {}", shown(other)),
                    ));
                }
            };
            if !sort_by.is_some_and(SortBy::is_single) {
                let code = if name == "$derivative" { 5490701 } else { 5490703 };
                return Err(Error::new(code, format!("{name} requires a sortBy with a single field")));
            }
            Ok(match name {
                "$derivative" => Function::Derivative { input, unit },
                _ => Function::Fold(Fold::Integral { input, unit }),
            })
        }
        "$expMovingAvg" => exponential_average(argument, sort_by, scope),
        "$linearFill" | "$locf" => {
            let input = Expression::parse(argument, scope)?;
            if name == "$locf" {
                return Ok(Function::CarryForward(input));
            }
            if !sort_by.is_some_and(SortBy::is_single) {
                return Err(Error::new(
                    605001,
                    "$linearFill must be specified with a top level sortBy expression with exactly one element",
                ));
            }
            Ok(Function::LinearFill(input))
        }
        "$covariancePop" | "$covarianceSamp" => {
            let Some([left, right]) = argument.as_array() else {
                return Err(failed(format!(
                    "{name} requires an array of two expressions, found {}",
                    shown(argument)
                )));
            };
            Ok(Function::Fold(Fold::Covariance {
                left: Expression::parse(left, scope)?,
                right: Expression::parse(right, scope)?,
                is_sample: name == "$covarianceSamp",
            }))
        }
        _ => Err(failed(format!("Unrecognized window function, {name}"))),
    }
}

fn named_arguments<'a>(name: &str, argument: &'a Value, known: &[&str]) -> Result<&'a Object> {
    let object = object_or(argument, 9, || format!("{name} expects an object, found {}", shown(argument)))?;
    match object.iter().find(|(argument, _)| !known.contains(argument)) {
        Some((argument, _)) => Err(failed(format!("{name} got unexpected argument: {argument}"))),
        None => Ok(object),
    }
}

fn input(name: &str, object: &Object, scope: &Scope) -> Result<Expression> {
    let input =
        object.get("input").ok_or_else(|| failed(format!("{name} requires an 'input' expression")))?;
    Expression::parse(input, scope)
}

fn shift(argument: &Value, sort_by: Option<&SortBy>, scope: &Scope) -> Result<Function> {
    let object = named_arguments("$shift", argument, &["output", "by", "default"])?;
    if sort_by.is_none() {
        return Err(failed("'$shift' requires a sortBy"));
    }
    let output = object.get("output").ok_or_else(|| failed("$shift requires an 'output' expression."))?;
    let by = match object.get("by").map(integer) {
        Some(Integer::Is(by)) => by,
        None => return Err(failed("'$shift' requires 'by' as an integer value.")),
        Some(_) => return Err(failed("'$shift:by' field must be an integer")),
    };
    let default = match object.get("default") {
        None => Value::Null,
        Some(default) => Expression::parse(default, scope)?.as_constant().cloned().ok_or_else(|| {
            failed(format!(
                "'$shift:default' expression must yield a constant value. Got: {}",
                shown(default)
            ))
        })?,
    };
    Ok(Function::Shift { output: Expression::parse(output, scope)?, by, default })
}

fn exponential_average(argument: &Value, sort_by: Option<&SortBy>, scope: &Scope) -> Result<Function> {
    const NAME: &str = "$expMovingAvg";
    let object = named_arguments(NAME, argument, &["input", "N", "alpha"])?;
    let input = input(NAME, object, scope)?;
    if sort_by.is_none() {
        return Err(failed("$expMovingAvg requires an explicit 'sortBy'"));
    }
    let alpha = match (object.get("N"), object.get("alpha")) {
        (Some(count), None) => match integer(count) {
            Integer::Is(count) if count > 0 => {
                let number =
                    |coefficient: u128| Decimal::Finite { negative: false, coefficient, exponent: 0 };
                decimal_arithmetic::divide(number(2), number(count as u128 + 1))
            }
            _ => {
                return Err(failed(format!(
                    "'N' field must be an integer greater than zero, but found  {}",
                    shown(count)
                )));
            }
        },
        (None, Some(alpha)) => match (as_double(alpha), arithmetic::to_decimal(alpha)) {
            (Some(number), Some(decimal)) if number > 0.0 && number < 1.0 => decimal,
            _ => {
                return Err(failed(format!(
                    "'alpha' must be between 0 and 1 (exclusive), found {}",
                    shown(alpha)
                )));
            }
        },
        _ => return Err(failed("$expMovingAvg sub object must have exactly one of 'N' and 'alpha'")),
    };
    Ok(Function::ExponentialAverage { input, alpha })
}

fn parse_window(window: &Value, sort_by: Option<&SortBy>, scope: &Scope) -> Result<Window> {
    let object = object_or(window, 9, || "'window' field must be an object".to_owned())?;
    if let Some((name, _)) = object.iter().find(|(name, _)| !matches!(*name, "documents" | "range" | "unit"))
    {
        return Err(failed(format!(
            "'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' field, found {name}"
        )));
    }
    let unit = match object.get("unit") {
        None => None,
        Some(Value::String(unit)) => Some(Unit::parse(unit)?),
        Some(other) => return Err(failed(format!("'unit' must be a string, found {}", shown(other)))),
    };
    match (object.get("documents"), object.get("range")) {
        (Some(_), Some(_)) => {
            Err(failed("Window bounds can specify either 'documents' or 'range', not both."))
        }
        (Some(_), None) if unit.is_some() => {
            Err(failed("Window bounds can only specify 'unit' with range-based bounds."))
        }
        (Some(documents), None) => {
            let (lower, upper) = bounds(documents, scope, |value| match integer(value) {
                Integer::Is(offset) => Ok(offset),
                _ => {
                    Err(failed(format!("Numeric document-based bounds must be an integer: {}", shown(value))))
                }
            })?;
            if sort_by.is_none() && (lower != Bound::Unbounded || upper != Bound::Unbounded) {
                return Err(Error::new(5339901, "Document-based bounds require a sortBy"));
            }
            if let (Bound::Offset(lower), Bound::Offset(upper)) = (&lower, &upper)
                && lower > upper
            {
                return Err(Error::new(
                    5339900,
                    format!("Lower bound must not exceed upper bound: {}", shown(documents)),
                ));
            }
            Ok(Window::Documents(lower, upper))
        }
        (None, Some(range)) => {
            let (lower, upper) = bounds(range, scope, |value| match (integer(value), &unit) {
                (Integer::Is(_), Some(_)) => Ok(value.clone()),
                (_, Some(_)) => Err(failed(format!(
                    "With 'unit', range-based bounds must be an integer: {}",
                    shown(value)
                ))),
                (_, None) if is_number(value) => Ok(value.clone()),
                _ => Err(failed(format!("Range-based bounds expression must be a number: {}", shown(value)))),
            })?;
            if !sort_by.is_some_and(SortBy::is_single_ascending) {
                return Err(Error::new(
                    5339902,
                    "Range-based bounds require sortBy a single ascending field",
                ));
            }
            if let (Bound::Offset(lower), Bound::Offset(upper)) = (&lower, &upper)
                && mongo_cmp(lower, upper).is_gt()
            {
                return Err(Error::new(
                    5339900,
                    format!("Lower bound must not exceed upper bound: {}", shown(range)),
                ));
            }
            Ok(Window::Range(lower, upper, unit))
        }
        (None, None) if unit.is_some() => {
            Err(failed("Window bounds can only specify 'unit' with range-based bounds."))
        }
        (None, None) => Ok(Window::All),
    }
}

/// The offset of the document itself.
trait Current {
    fn current() -> Self;
}

impl Current for i64 {
    fn current() -> i64 {
        0
    }
}

impl Current for Value {
    fn current() -> Value {
        Value::Int32(0)
    }
}

fn bounds<T: Current>(
    value: &Value,
    scope: &Scope,
    offset: impl Fn(&Value) -> Result<T>,
) -> Result<(Bound<T>, Bound<T>)> {
    let Some([lower, upper]) = value.as_array() else {
        return Err(failed(format!("Window bounds must be a 2-element array: {}", shown(value))));
    };
    let bound = |value: &Value| match value {
        Value::String(text) => match text.as_str() {
            "unbounded" => Ok(Bound::Unbounded),
            "current" => Ok(Bound::Offset(T::current())),
            _ => Err(failed("Window bounds must be 'unbounded', 'current', or a number.")),
        },
        // A number may be written as an expression of constants.
        value => match Expression::parse(value, scope)?.as_constant() {
            Some(constant) => Ok(Bound::Offset(offset(constant)?)),
            None => Err(failed(format!("Window bounds must be constant: {}", shown(value)))),
        },
    };
    Ok((bound(lower)?, bound(upper)?))
}
