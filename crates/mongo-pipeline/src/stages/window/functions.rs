//! What is computed over windows: accumulators, and functions that know the order of documents.

use armilla_mongo_expression::{
    Accumulator, Environment, Error, Expression, Gathered, Result, arithmetic, codes,
    decimal_arithmetic as decimal, is_nullish,
};
use armilla_value::{Decimal, Object, Value, mongo_cmp};

use crate::arguments::{as_double, is_number, type_name};
use crate::stages::time::Unit;
use crate::stages::window::frame::Window;
use crate::stages::window::sliding::Sliding;
use crate::stages::window::{Column, Partition};

/// A function over windows.
#[derive(Debug, Clone)]
pub(super) enum Function {
    /// What is gathered of the documents of a window one by one.
    Fold(Fold),
    /// `$rank`.
    Rank,
    /// `$denseRank`.
    DenseRank,
    /// `$documentNumber`.
    DocumentNumber,
    /// `$shift`.
    Shift { output: Expression, by: i64, default: Value },
    /// `$derivative`.
    Derivative { input: Expression, unit: Option<Unit> },
    /// `$expMovingAvg`.
    ExponentialAverage { input: Expression, alpha: Decimal },
    /// `$linearFill`.
    LinearFill(Expression),
    /// `$locf`.
    CarryForward(Expression),
}

impl Function {
    /// Appends the value of each document of a partition.
    pub(super) fn evaluate(
        &self,
        partition: &Partition<'_>,
        window: &Window,
        column: &mut Column<'_>,
    ) -> Result<()> {
        match self {
            Function::Fold(fold) => fold.evaluate(partition, window, column),
            Function::Rank | Function::DenseRank | Function::DocumentNumber => self.number(partition, column),
            Function::Shift { output, by, default } => {
                for index in 0..partition.len() {
                    let other = (index as i64)
                        .checked_add(*by)
                        .and_then(|index| usize::try_from(index).ok())
                        .filter(|index| *index < partition.len());
                    let value = match other {
                        Some(other) => partition.evaluate(output, other)?,
                        None => None,
                    };
                    column.push(value.unwrap_or_else(|| default.clone()))?;
                }
                Ok(())
            }
            Function::Derivative { input, unit } => {
                for frame in window.frames(partition)? {
                    column.push(if frame.len() < 2 {
                        Value::Null
                    } else {
                        derivative(partition, input, unit.as_ref(), frame.start, frame.end - 1)?
                    })?;
                }
                Ok(())
            }
            Function::ExponentialAverage { input, alpha } => {
                exponential_average(partition, input, *alpha, column)
            }
            Function::LinearFill(input) => linear_fill(partition, input, column),
            Function::CarryForward(input) => {
                let mut last = Value::Null;
                for index in 0..partition.len() {
                    let value = partition.evaluate(input, index)?;
                    if let Some(value) = value.filter(|value| !is_nullish(Some(value))) {
                        last = value;
                    }
                    column.push(last.clone())?;
                }
                Ok(())
            }
        }
    }

    fn number(&self, partition: &Partition<'_>, column: &mut Column<'_>) -> Result<()> {
        let (mut rank, mut dense) = (0usize, 0usize);
        for index in 0..partition.len() {
            if index == 0 || !partition.is_peer(index - 1, index) {
                rank = index + 1;
                dense += 1;
            }
            let number = match self {
                Function::Rank => rank,
                Function::DenseRank => dense,
                _ => index + 1,
            };
            column.push(i32::try_from(number).map_or_else(|_| Value::Int64(number as i64), Value::Int32))?;
        }
        Ok(())
    }
}

/// Averages in decimals, as the server does; what is shown is a double unless a decimal came.
fn exponential_average(
    partition: &Partition<'_>,
    input: &Expression,
    alpha: Decimal,
    column: &mut Column<'_>,
) -> Result<()> {
    let rest = decimal::subtract(Decimal::Finite { negative: false, coefficient: 1, exponent: 0 }, alpha);
    let mut average: Option<Decimal> = None;
    let mut is_decimal = false;
    for index in 0..partition.len() {
        let value = partition.evaluate(input, index)?;
        if let Some(number) = value.as_ref().and_then(arithmetic::to_decimal) {
            is_decimal |= matches!(value, Some(Value::Decimal128(_)));
            average = Some(match average {
                None => number,
                Some(old) => decimal::add(decimal::multiply(number, alpha), decimal::multiply(old, rest)),
            });
        }
        column.push(match average {
            None => Value::Null,
            Some(average) if is_decimal => Value::Decimal128(average.to_bytes()),
            Some(average) => Value::Double(decimal::to_f64(average)),
        })?;
    }
    Ok(())
}

/// Returns how far along its order a document is: a number, or with a unit a date's milliseconds.
fn along(partition: &Partition<'_>, function: OrderFunction, has_unit: bool, index: usize) -> Result<Value> {
    let value = partition.sort_value(index)?.unwrap_or(Value::Null);
    let (name, code_of_no_date, code_of_no_number) = match function {
        OrderFunction::Derivative => ("$derivative", 5624900, 5624901),
        OrderFunction::Integral => ("$integral", 5423901, 5423902),
    };
    match (value, has_unit) {
        (Value::Date(ms), true) => Ok(Value::Int64(ms)),
        (value, false) if is_number(&value) => Ok(value),
        (other, true) => Err(Error::new(
            code_of_no_date,
            format!(
                "{name} with 'unit' expects the sortBy field to be a Date, but it was {}",
                type_name(&other)
            ),
        )),
        (other, false) => Err(Error::new(
            code_of_no_number,
            format!(
                "{name} (with no 'unit') expects the sortBy field to be numeric, but it was {}",
                type_name(&other)
            ),
        )),
    }
}

/// A function that looks at the value by which documents are ordered.
#[derive(Debug, Clone, Copy)]
enum OrderFunction {
    Derivative,
    Integral,
}

fn unit_ms(unit: Option<&Unit>) -> Option<Value> {
    unit.and_then(|unit| unit.length_ms).map(Value::Int64)
}

fn derivative(
    partition: &Partition<'_>,
    input: &Expression,
    unit: Option<&Unit>,
    first: usize,
    last: usize,
) -> Result<Value> {
    let place = |index| along(partition, OrderFunction::Derivative, unit.is_some(), index);
    let run = arithmetic::subtract(&place(last)?, &place(first)?);
    let (from, to) = (partition.evaluate(input, first)?, partition.evaluate(input, last)?);
    let (Some(from), Some(to)) = (from.filter(|value| !value.is_null()), to.filter(|value| !value.is_null()))
    else {
        return Ok(Value::Null);
    };
    let rise = match (&to, &from) {
        (Value::Date(to), Value::Date(from)) => Some(Value::Int64(to.saturating_sub(*from))),
        _ => arithmetic::subtract(&to, &from),
    };
    let Some(mut rise) = rise else {
        return Err(Error::new(
            5624903,
            format!("$derivative expects numbers, but found {}", type_name(&to)),
        ));
    };
    // First times the unit, then by the milliseconds: so that whole numbers stay whole.
    if let Some(scaled) = unit_ms(unit).and_then(|length| arithmetic::multiply(&rise, &length)) {
        rise = scaled;
    }
    Ok(run.and_then(|run| divide(&rise, &run)).unwrap_or(Value::Null))
}

/// Divides; nothing by zero.
fn divide(left: &Value, right: &Value) -> Option<Value> {
    let divisor = as_double(right)?;
    if divisor == 0.0 {
        return None;
    }
    match (left, right) {
        (Value::Decimal128(_), _) | (_, Value::Decimal128(_)) => {
            let quotient = decimal::divide(arithmetic::to_decimal(left)?, arithmetic::to_decimal(right)?);
            Some(Value::Decimal128(quotient.to_bytes()))
        }
        _ => Some(Value::Double(as_double(left)? / divisor)),
    }
}

fn linear_fill(partition: &Partition<'_>, input: &Expression, column: &mut Column<'_>) -> Result<()> {
    let count = partition.len();
    let mut values = Vec::with_capacity(count);
    let mut places: Vec<Value> = Vec::with_capacity(count);
    let mismatch = |text: &str, value: Option<&Value>| {
        Error::new(codes::TYPE_MISMATCH, format!("{text}, but found {}", value.map_or("missing", type_name)))
    };
    let mut are_dates = None;
    for index in 0..count {
        let value = partition.evaluate(input, index)?.filter(|value| !is_nullish(Some(value)));
        if let Some(value) = &value
            && !is_number(value)
        {
            return Err(mismatch("Value to be filled must be numeric or nullish", Some(value)));
        }
        values.push(value);
        let (place, is_date) = match partition.sort_value(index)? {
            Some(Value::Date(ms)) => (Value::Int64(ms), true),
            Some(value) if is_number(&value) => (value, false),
            other => return Err(mismatch("Sort key must be numeric or a date", other.as_ref())),
        };
        if are_dates.replace(is_date).is_some_and(|before| before != is_date) {
            return Err(Error::new(
                codes::TYPE_MISMATCH,
                "Conflicting sort value types, previous and current types do not match",
            ));
        }
        if places.last().is_some_and(|last| mongo_cmp(last, &place).is_eq()) {
            return Err(Error::new(6050106, "There can be no repeated values in the sort field"));
        }
        places.push(place);
    }
    let mut known: Option<usize> = None;
    let mut index = 0;
    while index < count {
        if let Some(value) = &values[index] {
            column.push(value.clone())?;
            known = Some(index);
            index += 1;
            continue;
        }
        let next = (index..count).find(|index| values[*index].is_some());
        let end = next.unwrap_or(count);
        for gap in index..end {
            let filled = match (known, next) {
                (Some(left), Some(right)) => {
                    let point = |index: usize| (&places[index], values[index].as_ref());
                    interpolated(point(left), point(right), &places[gap])
                }
                _ => None,
            };
            column.push(filled.unwrap_or(Value::Null))?;
        }
        index = end;
    }
    Ok(())
}

/// Returns the value at a place on the line through two points.
fn interpolated(
    (left_place, left): (&Value, Option<&Value>),
    (right_place, right): (&Value, Option<&Value>),
    place: &Value,
) -> Option<Value> {
    let slope =
        divide(&arithmetic::subtract(right?, left?)?, &arithmetic::subtract(right_place, left_place)?)?;
    arithmetic::add(left?, &arithmetic::multiply(&arithmetic::subtract(place, left_place)?, &slope)?)
}

/// Something gathered of documents one by one.
#[derive(Debug, Clone)]
pub(super) enum Fold {
    /// An accumulator.
    Accumulator {
        accumulator: Accumulator,
        /// Whether the order of documents does not matter to it.
        is_unordered: bool,
        /// How it is computed over a window that slides, without beginning anew for each document.
        sliding: Option<Sliding>,
    },
    /// `$covariancePop` and `$covarianceSamp`.
    Covariance { left: Expression, right: Expression, is_sample: bool },
    /// `$integral`.
    Integral { input: Expression, unit: Option<Unit> },
}

#[derive(Debug, Clone)]
enum Folded {
    Accumulator(Gathered),
    /// How many, the two means, and the sum of the products of distances from them.
    Covariance(f64, f64, f64, f64),
    /// The last place and value, and the sum.
    Integral(Option<(Value, Value)>, Value),
}

impl Fold {
    fn begin(&self) -> Folded {
        match self {
            Fold::Accumulator { accumulator, .. } => Folded::Accumulator(accumulator.begin()),
            Fold::Covariance { .. } => Folded::Covariance(0.0, 0.0, 0.0, 0.0),
            Fold::Integral { .. } => Folded::Integral(None, Value::Int32(0)),
        }
    }

    fn add(&self, folded: &mut Folded, partition: &Partition<'_>, index: usize) -> Result<()> {
        let (document, environment): (&Object, &Environment) =
            (&partition.documents[index].document, partition.environment);
        match (self, folded) {
            (Fold::Accumulator { accumulator, .. }, Folded::Accumulator(gathered)) => {
                accumulator.add(gathered, document, environment)
            }
            (Fold::Covariance { left, right, .. }, Folded::Covariance(count, left_mean, right_mean, sum)) => {
                let number = |expression: &Expression| -> Result<Option<f64>> {
                    Ok(expression.evaluate(document, environment)?.as_ref().and_then(as_double))
                };
                if let (Some(left), Some(right)) = (number(left)?, number(right)?) {
                    *count += 1.0;
                    let from_left = left - *left_mean;
                    *left_mean += from_left / *count;
                    *right_mean += (right - *right_mean) / *count;
                    *sum += from_left * (right - *right_mean);
                }
                Ok(())
            }
            (Fold::Integral { input, unit }, Folded::Integral(last, sum)) => {
                let Some(value) = input.evaluate(document, environment)?.filter(is_number) else {
                    return Ok(());
                };
                let place = along(partition, OrderFunction::Integral, unit.is_some(), index)?;
                if let Some((last_place, last_value)) = last {
                    let area = arithmetic::subtract(&place, last_place)
                        .zip(arithmetic::add(last_value, &value))
                        .and_then(|(width, heights)| arithmetic::multiply(&width, &heights))
                        .and_then(|twice| arithmetic::multiply(&twice, &Value::Double(0.5)));
                    if let Some(added) = area.and_then(|area| arithmetic::add(sum, &area)) {
                        *sum = added;
                    }
                }
                *last = Some((place, value));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn finish(&self, folded: Folded) -> Result<Value> {
        Ok(match (self, folded) {
            (Fold::Accumulator { accumulator, .. }, Folded::Accumulator(gathered)) => {
                accumulator.finish(gathered)?.unwrap_or(Value::Null)
            }
            (Fold::Covariance { is_sample, .. }, Folded::Covariance(count, _, _, sum)) => {
                let divisor = if *is_sample { count - 1.0 } else { count };
                if divisor > 0.0 { Value::Double(sum / divisor) } else { Value::Null }
            }
            (Fold::Integral { unit, .. }, Folded::Integral(Some(_), sum)) => match unit_ms(unit.as_ref()) {
                Some(length) => divide(&sum, &length).unwrap_or(Value::Null),
                None => sum,
            },
            _ => Value::Null,
        })
    }

    /// Appends the value of each document, beginning anew only where the window does.
    fn evaluate(&self, partition: &Partition<'_>, window: &Window, column: &mut Column<'_>) -> Result<()> {
        let frames = window.frames(partition)?;
        if window.begins_with_partition() {
            // Each frame holds the one before it.
            let mut folded = self.begin();
            let mut added = 0;
            let mut last: Option<Value> = None;
            for frame in frames {
                if last.is_none() || frame.end > added {
                    for index in added..frame.end {
                        self.add(&mut folded, partition, index)?;
                    }
                    added = added.max(frame.end);
                    last = Some(self.finish(folded.clone())?);
                }
                column.push(last.clone().unwrap_or(Value::Null))?;
            }
            return Ok(());
        }
        let is_unordered =
            matches!(self, Fold::Accumulator { is_unordered: true, .. } | Fold::Covariance { .. });
        if window.ends_with_partition() && is_unordered {
            // Each frame holds the one after it: backwards it grows.
            let mut folded = self.begin();
            let mut added = partition.len();
            for frame in frames.into_iter().rev() {
                while added > frame.start {
                    added -= 1;
                    self.add(&mut folded, partition, added)?;
                }
                column.push(self.finish(folded.clone())?)?;
            }
            column.values.reverse();
            return Ok(());
        }
        if let Fold::Accumulator { sliding: Some(sliding), .. } = self
            && sliding.evaluate(partition, &frames, column)?
        {
            return Ok(());
        }
        for frame in frames {
            partition.outside.check()?;
            let mut folded = self.begin();
            for index in frame {
                self.add(&mut folded, partition, index)?;
            }
            column.push(self.finish(folded)?)?;
        }
        Ok(())
    }
}
