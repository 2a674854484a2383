//! Aggregates: folding the rows of a group into one value.
//!
//! An accumulator can be merged with another over other rows, and written out and read back, so that a group can
//! be spread over partitions and pages.
//!
//! Invariant: undefined inputs change nothing.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use armilla_value::Value;

use crate::datum::Datum;
use crate::fingerprint::fingerprint;
use crate::limits::COLLECTED_BYTES_MAX;
use crate::operators::order;

#[cfg(test)]
mod tests;

/// An aggregate function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Aggregate {
    /// The number of defined values.
    Count,
    /// Their sum.
    Sum,
    /// Their mean.
    Avg,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The number of values that are true.
    CountIf,
    /// All of them, in an array.
    MakeList,
    /// The distinct ones, in an array.
    MakeSet,
}

impl Aggregate {
    /// Every aggregate.
    pub const ALL: &[Aggregate] = &[
        Aggregate::Count,
        Aggregate::Sum,
        Aggregate::Avg,
        Aggregate::Min,
        Aggregate::Max,
        Aggregate::CountIf,
        Aggregate::MakeList,
        Aggregate::MakeSet,
    ];

    /// Finds an aggregate by name, in any letter case.
    pub fn find(name: &str) -> Option<Aggregate> {
        Aggregate::ALL.iter().copied().find(|aggregate| aggregate.name().eq_ignore_ascii_case(name))
    }

    /// Returns the name, in capitals.
    pub fn name(self) -> &'static str {
        match self {
            Aggregate::Count => "COUNT",
            Aggregate::Sum => "SUM",
            Aggregate::Avg => "AVG",
            Aggregate::Min => "MIN",
            Aggregate::Max => "MAX",
            Aggregate::CountIf => "COUNTIF",
            Aggregate::MakeList => "MAKELIST",
            Aggregate::MakeSet => "MAKESET",
        }
    }
}

/// Why an accumulator cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AggregateError {
    /// MAKELIST or MAKESET collected more bytes than they may.
    TooLarge,
    /// A state that was read back, or merged, is not one of this aggregate.
    BadState,
}

impl fmt::Display for AggregateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            AggregateError::TooLarge => "collected values of MAKELIST or MAKESET exceed their size limit",
            AggregateError::BadState => "state of an aggregate does not fit the aggregate",
        })
    }
}

impl std::error::Error for AggregateError {}

/// An aggregate in the making.
#[derive(Clone, Debug)]
pub struct Accumulator {
    aggregate: Aggregate,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Count(u64),
    /// The sum, how many were added, and whether something was no number.
    Sum {
        sum: f64,
        count: u64,
        spoilt: bool,
    },
    /// The extreme so far (undefined before the first), and whether something has no place in the order.
    Extreme {
        value: Datum<'static>,
        spoilt: bool,
    },
    Collected(Collected),
}

/// What a fingerprint takes in a set.
const SEEN_BYTES: usize = 40;

#[derive(Clone, Debug)]
struct Collected {
    values: Vec<Value>,
    /// The fingerprints of a set.
    seen: HashSet<u128>,
    bytes: usize,
    bytes_max: usize,
}

impl Accumulator {
    /// Starts an aggregate; what it collects is bounded by [`COLLECTED_BYTES_MAX`].
    pub fn new(aggregate: Aggregate) -> Accumulator {
        Accumulator::with_budget(aggregate, COLLECTED_BYTES_MAX)
    }

    /// Starts an aggregate that may collect that many bytes.
    pub fn with_budget(aggregate: Aggregate, bytes_max: usize) -> Accumulator {
        let state = match aggregate {
            Aggregate::Count | Aggregate::CountIf => State::Count(0),
            Aggregate::Sum | Aggregate::Avg => State::Sum { sum: 0.0, count: 0, spoilt: false },
            Aggregate::Min | Aggregate::Max => State::Extreme { value: Datum::Undefined, spoilt: false },
            Aggregate::MakeList | Aggregate::MakeSet => {
                State::Collected(Collected { values: Vec::new(), seen: HashSet::new(), bytes: 0, bytes_max })
            }
        };
        Accumulator { aggregate, state }
    }

    /// Returns about how many bytes its state takes, as far as they grow with the rows.
    pub fn weight_bytes(&self) -> usize {
        match &self.state {
            State::Count(_) | State::Sum { .. } => 0,
            State::Extreme { value, .. } => value.as_str().map_or(0, str::len),
            State::Collected(collected) => collected.bytes + collected.seen.len() * SEEN_BYTES,
        }
    }

    /// Returns which aggregate this is.
    pub fn aggregate(&self) -> Aggregate {
        self.aggregate
    }

    /// Adds the value of one row.
    pub fn add(&mut self, datum: &Datum<'_>) -> Result<(), AggregateError> {
        if datum.is_undefined() {
            return Ok(());
        }
        match &mut self.state {
            State::Count(count) => {
                let counts = self.aggregate == Aggregate::Count || datum.is_true();
                *count = count.saturating_add(u64::from(counts));
            }
            State::Sum { sum, count, spoilt } => match datum.as_f64() {
                Some(number) => {
                    *sum += number;
                    *count = count.saturating_add(1);
                }
                None => *spoilt = true,
            },
            State::Extreme { value, spoilt } => {
                if !datum.is_primitive() {
                    *spoilt = true;
                    *value = Datum::Undefined;
                } else if !*spoilt && replaces(self.aggregate, datum, value) {
                    *value = datum.clone().into_static();
                }
            }
            State::Collected(collected) => return collected.add(self.aggregate, datum),
        }
        Ok(())
    }

    /// Counts that many rows at once whose value is known to be defined (for COUNT) or true (for COUNTIF).
    ///
    /// Other aggregates are left alone: they need the values.
    pub fn add_count(&mut self, rows: u64) {
        if let State::Count(count) = &mut self.state {
            *count = count.saturating_add(rows);
        }
    }

    /// Adds what another accumulator of the same aggregate has seen.
    pub fn merge(&mut self, other: &Accumulator) -> Result<(), AggregateError> {
        if self.aggregate != other.aggregate {
            return Err(AggregateError::BadState);
        }
        match (&mut self.state, &other.state) {
            (State::Count(count), State::Count(more)) => *count = count.saturating_add(*more),
            (
                State::Sum { sum, count, spoilt },
                State::Sum { sum: more, count: rows, spoilt: also_spoilt },
            ) => {
                *sum += more;
                *count = count.saturating_add(*rows);
                *spoilt |= also_spoilt;
            }
            (State::Extreme { value, spoilt }, State::Extreme { value: candidate, spoilt: also_spoilt }) => {
                *spoilt |= also_spoilt;
                if *spoilt {
                    *value = Datum::Undefined;
                } else if candidate.is_defined() && replaces(self.aggregate, candidate, value) {
                    *value = candidate.clone();
                }
            }
            (State::Collected(collected), State::Collected(more)) => {
                for value in &more.values {
                    collected.add(self.aggregate, &Datum::from_value(value))?;
                }
            }
            _ => return Err(AggregateError::BadState),
        }
        Ok(())
    }

    /// Returns the result over what was added so far.
    pub fn result(&self) -> Datum<'static> {
        match &self.state {
            State::Count(count) => Datum::Int(i64::try_from(*count).unwrap_or(i64::MAX)),
            State::Sum { spoilt: true, .. } => Datum::Undefined,
            State::Sum { sum, .. } if self.aggregate == Aggregate::Sum => Datum::Double(*sum),
            State::Sum { count: 0, .. } => Datum::Undefined,
            State::Sum { sum, count, .. } => Datum::Double(sum / *count as f64),
            State::Extreme { value, .. } => value.clone(),
            State::Collected(collected) => Datum::Value(Cow::Owned(Value::Array(collected.values.clone()))),
        }
    }

    /// Writes the state down; [`Accumulator::from_value`] reads it.
    ///
    /// Numbers that are not finite survive JSON as Extended JSON: read it with `json::parse_extended`.
    pub fn state_to_value(&self) -> Value {
        Value::Array(match &self.state {
            State::Count(count) => vec![Value::Int64(i64::try_from(*count).unwrap_or(i64::MAX))],
            State::Sum { sum, count, spoilt } => vec![
                Value::Double(*sum),
                Value::Int64(i64::try_from(*count).unwrap_or(i64::MAX)),
                Value::Bool(*spoilt),
            ],
            State::Extreme { spoilt: true, .. } => vec![Value::Bool(true)],
            State::Extreme { value, .. } => {
                std::iter::once(Value::Bool(false)).chain(exact_value(value)).collect()
            }
            State::Collected(collected) => collected.values.clone(),
        })
    }

    /// Reads a state back into an accumulator that may collect that many bytes.
    pub fn from_value(
        aggregate: Aggregate,
        state: &Value,
        bytes_max: usize,
    ) -> Result<Accumulator, AggregateError> {
        let parts = state.as_array().ok_or(AggregateError::BadState)?;
        let natural = |value: &Value| value.as_i64().and_then(|count| u64::try_from(count).ok());
        let mut accumulator = Accumulator::with_budget(aggregate, bytes_max);
        match (&mut accumulator.state, parts) {
            (State::Count(count), [own]) => *count = natural(own).ok_or(AggregateError::BadState)?,
            (State::Sum { sum, count, spoilt }, [own_sum, own_count, own_spoilt]) => {
                *sum = own_sum.as_f64().ok_or(AggregateError::BadState)?;
                *count = natural(own_count).ok_or(AggregateError::BadState)?;
                *spoilt = own_spoilt.as_bool().ok_or(AggregateError::BadState)?;
            }
            (State::Extreme { spoilt, .. }, [Value::Bool(true)]) => *spoilt = true,
            (State::Extreme { .. }, [Value::Bool(false)]) => {}
            (State::Extreme { value, .. }, [Value::Bool(false), own]) => {
                let own = Datum::from_owned(own.clone());
                if !own.is_primitive() {
                    return Err(AggregateError::BadState);
                }
                *value = own;
            }
            (State::Collected(collected), values) => {
                for value in values {
                    collected.add(aggregate, &Datum::from_value(value))?;
                }
            }
            _ => return Err(AggregateError::BadState),
        }
        Ok(accumulator)
    }
}

/// Says whether a candidate takes the place of the extreme so far.
fn replaces(aggregate: Aggregate, candidate: &Datum<'_>, extreme: &Datum<'_>) -> bool {
    if extreme.is_undefined() {
        return true;
    }
    let order = order(candidate, extreme);
    if aggregate == Aggregate::Min { order.is_lt() } else { order.is_gt() }
}

/// Returns the value with its number type kept, so that reading it back gives the same.
fn exact_value(datum: &Datum<'_>) -> Option<Value> {
    match datum {
        Datum::Double(number) => Some(Value::Double(*number)),
        other => other.to_value(),
    }
}

impl Collected {
    fn add(&mut self, aggregate: Aggregate, datum: &Datum<'_>) -> Result<(), AggregateError> {
        if aggregate == Aggregate::MakeSet && !self.seen.insert(fingerprint(datum)) {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(weight_bytes(datum));
        if self.bytes > self.bytes_max {
            return Err(AggregateError::TooLarge);
        }
        self.values.extend(datum.to_value());
        Ok(())
    }
}

/// Estimates the memory a value takes, in time in proportion to it or less.
pub(crate) fn weight_bytes(datum: &Datum<'_>) -> usize {
    match datum {
        Datum::Str(text) => size_of::<Value>() + text.len(),
        // The text of a small number is shorter than its place in memory.
        Datum::Node(node) => size_of::<Value>() + 4 * node.raw().len(),
        Datum::Value(value) => value_weight_bytes(value),
        _ => size_of::<Value>(),
    }
}

fn value_weight_bytes(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Binary { bytes, .. } => bytes.len(),
        Value::Array(elements) => elements.iter().map(value_weight_bytes).sum(),
        Value::Object(object) => object
            .iter()
            .map(|(name, value)| size_of::<String>() + name.len() + value_weight_bytes(value))
            .sum(),
        _ => 0,
    };
    size_of::<Value>() + inside
}
