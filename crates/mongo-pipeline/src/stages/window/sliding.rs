//! Accumulators over windows that slide: what leaves a window is taken out again, instead of beginning anew.

use std::collections::VecDeque;
use std::ops::Range;

use armilla_mongo_expression::{Expression, Result, Scope, is_nullish};
use armilla_value::{Value, mongo_cmp};

use crate::stages::window::Partition;

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
        column: &mut Vec<Option<Value>>,
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
                self.sums(&values, frames, column);
            }
            What::Min | What::Max => self.extremes(&values, frames, column),
        }
        Ok(true)
    }

    fn sums(&self, values: &[Option<Value>], frames: &[Range<usize>], column: &mut Vec<Option<Value>>) {
        let (mut sum, mut count, mut long_count) = (0i128, 0i64, 0i64);
        let mut held = 0..0;
        let mut change = |index: usize, sign: i64, sum: &mut i128| {
            if let Some(value) = &values[index]
                && let Some(number) = value.as_i64()
            {
                *sum += i128::from(sign) * i128::from(number);
                count += sign;
                long_count += if matches!(value, Value::Int64(_)) { sign } else { 0 };
            }
            (count, long_count)
        };
        let (mut count_now, mut long_count_now) = (0, 0);
        for frame in frames {
            while held.end < frame.end {
                (count_now, long_count_now) = change(held.end, 1, &mut sum);
                held.end += 1;
            }
            while held.start < frame.start && held.start < held.end {
                (count_now, long_count_now) = change(held.start, -1, &mut sum);
                held.start += 1;
            }
            column.push(Some(match self.what {
                What::Average if count_now == 0 => Value::Null,
                What::Average => Value::Double(sum as f64 / count_now as f64),
                _ => match (i32::try_from(sum), i64::try_from(sum)) {
                    (Ok(sum), _) if long_count_now == 0 => Value::Int32(sum),
                    (_, Ok(sum)) => Value::Int64(sum),
                    _ => Value::Double(sum as f64),
                },
            }));
        }
    }

    fn extremes(&self, values: &[Option<Value>], frames: &[Range<usize>], column: &mut Vec<Option<Value>>) {
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
            column.push(Some(best.front().map_or(Value::Null, |(_, value)| (*value).clone())));
        }
    }
}
