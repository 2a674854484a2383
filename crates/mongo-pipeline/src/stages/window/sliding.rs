//! Accumulators over windows that slide: what leaves a window is taken out again, instead of beginning anew.

use std::collections::VecDeque;
use std::ops::Range;

use armilla_mongo_expression::{Expression, Result, Scope, is_nullish};
use armilla_value::{Value, mongo_cmp};

use crate::stages::window::{Column, Partition};

/// An accumulator from which values can be taken out.
#[derive(Debug, Clone)]
pub(super) struct Sliding {
    input: Expression,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Sum,
    Average,
    Min,
    Max,
}

impl Sliding {
    /// Tells whether an accumulator can be computed so.
    pub(super) fn parse(name: &str, argument: &Value, scope: &Scope) -> Result<Option<Sliding>> {
        let what = match name {
            "$sum" => What::Sum,
            "$avg" => What::Average,
            "$min" => What::Min,
            "$max" => What::Max,
            _ => return Ok(None),
        };
        Ok(Some(Sliding { input: Expression::parse(argument, scope)?, what }))
    }

    /// Appends the value of each window, whose ends never go back. Says whether it could: sums of other numbers than
    /// integers would not be exact.
    pub(super) fn evaluate(
        &self,
        partition: &Partition<'_>,
        frames: &[Range<usize>],
        column: &mut Column<'_>,
    ) -> Result<bool> {
        let mut values = Vec::with_capacity(partition.len());
        for index in 0..partition.len() {
            values.push(partition.evaluate(&self.input, index)?);
        }
        match self.what {
            What::Sum | What::Average => {
                if values
                    .iter()
                    .flatten()
                    .any(|value| matches!(value, Value::Double(_) | Value::Decimal128(_)))
                {
                    return Ok(false);
                }
                self.sums(&values, frames, column)?;
            }
            What::Min | What::Max => self.extremes(&values, frames, column)?,
        }
        Ok(true)
    }

    fn sums(&self, values: &[Option<Value>], frames: &[Range<usize>], column: &mut Column<'_>) -> Result<()> {
        let mut sum = Sum::default();
        let mut held = 0..0;
        for frame in frames {
            while held.end < frame.end {
                sum.change(values[held.end].as_ref(), 1);
                held.end += 1;
            }
            while held.start < frame.start && held.start < held.end {
                sum.change(values[held.start].as_ref(), -1);
                held.start += 1;
            }
            column.push(if self.what == What::Average { sum.average() } else { sum.total() })?;
        }
        Ok(())
    }

    fn extremes(
        &self,
        values: &[Option<Value>],
        frames: &[Range<usize>],
        column: &mut Column<'_>,
    ) -> Result<()> {
        // The indexes of values that may still become the best, the best of them first.
        let mut best: VecDeque<(usize, &Value)> = VecDeque::new();
        let mut end = 0;
        for frame in frames {
            while end < frame.end {
                if let Some(value) = values[end].as_ref().filter(|value| !is_nullish(Some(value))) {
                    let is_beaten = |last: &Value| match self.what {
                        What::Min => mongo_cmp(last, value).is_gt(),
                        _ => mongo_cmp(last, value).is_lt(),
                    };
                    while best.back().is_some_and(|(_, last)| is_beaten(last)) {
                        best.pop_back();
                    }
                    best.push_back((end, value));
                }
                end += 1;
            }
            while best.front().is_some_and(|(index, _)| *index < frame.start) {
                best.pop_front();
            }
            column.push(best.front().map_or(Value::Null, |(_, value)| (*value).clone()))?;
        }
        Ok(())
    }
}

/// A sum of integers, exact whatever comes and goes.
#[derive(Debug, Default)]
struct Sum {
    total: i128,
    count: i64,
    /// How many of the numbers are of 64 bits, which makes the sum one.
    long_count: i64,
}

impl Sum {
    /// Adds a value, or takes it out where the sign is negative. Only integers count.
    fn change(&mut self, value: Option<&Value>, sign: i64) {
        if let Some(value @ (Value::Int32(_) | Value::Int64(_))) = value {
            self.total += i128::from(sign) * i128::from(value.as_i64().unwrap_or_default());
            self.count += sign;
            self.long_count += if matches!(value, Value::Int64(_)) { sign } else { 0 };
        }
    }

    fn average(&self) -> Value {
        if self.count == 0 { Value::Null } else { Value::Double(self.total as f64 / self.count as f64) }
    }

    fn total(&self) -> Value {
        match (i32::try_from(self.total), i64::try_from(self.total)) {
            (Ok(total), _) if self.long_count == 0 => Value::Int32(total),
            (_, Ok(total)) => Value::Int64(total),
            _ => Value::Double(self.total as f64),
        }
    }
}
