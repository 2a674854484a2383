//! Sums, averages, extremes, deviations and percentiles, of the elements of an array or of several operands.

use armilla_value::{Decimal, Value, mongo_cmp};

use super::{give, named, null};
use crate::arithmetic::{narrow, to_double};
use crate::decimal_arithmetic as decimal;
use crate::error::{Error, Result, codes};
use crate::measure::excerpt;
use crate::parse::{Named, Parser};
use crate::tree::{Argument, Budget, Frame, Node, Output};

/// A sum of numbers: exact for integers, with twice the digits for doubles.
#[derive(Debug, Clone)]
pub(crate) struct Sum {
    integers: i128,
    double: f64,
    /// What the double lacks.
    rest: f64,
    /// Infinities and what is no number, which would spoil the rest.
    special: Option<f64>,
    decimals: Decimal,
    widest: Widest,
    count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Widest {
    Int,
    Long,
    Double,
    Decimal,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum {
            integers: 0,
            double: 0.0,
            rest: 0.0,
            special: None,
            decimals: decimal::ZERO,
            widest: Widest::Int,
            count: 0,
        }
    }
}

impl Sum {
    /// Adds a value if it is a number.
    pub(crate) fn add(&mut self, value: &Value) {
        let kind = match value {
            Value::Int32(number) => {
                self.integers += i128::from(*number);
                Widest::Int
            }
            Value::Int64(number) => {
                self.integers += i128::from(*number);
                Widest::Long
            }
            Value::Double(number) => {
                self.add_double(*number);
                Widest::Double
            }
            Value::Decimal128(bytes) => {
                self.decimals = decimal::add(self.decimals, Decimal::from_bytes(bytes));
                Widest::Decimal
            }
            _ => return,
        };
        self.widest = self.widest.max(kind);
        self.count += 1;
    }

    fn add_double(&mut self, number: f64) {
        if !number.is_finite() {
            self.special = Some(self.special.unwrap_or(0.0) + number);
            return;
        }
        let sum = self.double + number;
        let part = sum - self.double;
        let error = (self.double - (sum - part)) + (number - part);
        self.double = sum;
        self.rest += error;
    }

    fn doubles(&self) -> f64 {
        self.special.unwrap_or(self.double + self.rest)
    }

    /// Returns the sum, in the widest kind of what was added, or wider where it does not fit.
    pub(crate) fn total(&self) -> Value {
        match self.widest {
            Widest::Decimal => Value::Decimal128(self.decimal_total().to_bytes()),
            Widest::Double => Value::Double(self.double_total()),
            widest => match i64::try_from(self.integers) {
                Ok(number) if widest == Widest::Int => narrow(number),
                Ok(number) => Value::Int64(number),
                Err(_) => Value::Double(self.integers as f64),
            },
        }
    }

    fn double_total(&self) -> f64 {
        if let Some(special) = self.special {
            return special;
        }
        let mut all = self.clone();
        all.add_double(self.integers as f64);
        all.doubles()
    }

    fn decimal_total(&self) -> Decimal {
        if let Some(special) = self.special {
            return decimal::add(decimal::from_f64(special), self.decimals);
        }
        let mut total = self.decimals;
        if self.integers != 0 {
            total = decimal::add(total, decimal::from_i128(self.integers));
        }
        for part in [self.double, self.rest] {
            if part != 0.0 {
                total = decimal::add(total, decimal::from_f64_exactly(part));
            }
        }
        total
    }

    /// Returns the average; null of nothing.
    pub(crate) fn average(&self) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        if self.widest == Widest::Decimal {
            let count = decimal::from_i128(i128::from(self.count));
            return Value::Decimal128(decimal::divide(self.decimal_total(), count).to_bytes());
        }
        Value::Double(self.double_total() / self.count as f64)
    }
}

/// A standard deviation in the making.
#[derive(Debug, Clone, Default)]
pub(crate) struct Deviation {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Deviation {
    /// Adds a value if it is a number.
    pub(crate) fn add(&mut self, value: &Value) {
        let Some(number) = to_double(value) else { return };
        self.count += 1;
        let delta = number - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (number - self.mean);
    }

    /// Returns the deviation of a population, or of a sample; null where there are too few.
    pub(crate) fn result(&self, is_sample: bool) -> Value {
        let divisor = self.count.saturating_sub(u64::from(is_sample));
        if divisor == 0 { Value::Null } else { Value::Double((self.squares / divisor as f64).sqrt()) }
    }
}

/// Calls a function with what counts: the elements of a single operand that is an array, else the operands.
fn each(arguments: &[Argument<'_>], mut visit: impl FnMut(&Value)) {
    if let [Some(array)] = arguments
        && let Value::Array(elements) = &**array
    {
        elements.iter().for_each(visit);
        return;
    }
    arguments.iter().flatten().for_each(|value| visit(value));
}

/// `$sum`.
pub(crate) fn sum<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut sum = Sum::default();
    each(&arguments, |value| sum.add(value));
    give(sum.total())
}

/// `$avg`.
pub(crate) fn average<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut sum = Sum::default();
    each(&arguments, |value| sum.add(value));
    give(sum.average())
}

/// `$stdDevPop`.
pub(crate) fn deviation_of_population<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut deviation = Deviation::default();
    each(&arguments, |value| deviation.add(value));
    give(deviation.result(false))
}

/// `$stdDevSamp`.
pub(crate) fn deviation_of_sample<'a>(_: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    let mut deviation = Deviation::default();
    each(&arguments, |value| deviation.add(value));
    give(deviation.result(true))
}

/// `$min`.
pub(crate) fn minimum<'a>(budget: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    extreme(budget, &arguments, std::cmp::Ordering::is_lt)
}

/// `$max`.
pub(crate) fn maximum<'a>(budget: &Budget, arguments: Vec<Argument<'a>>) -> Output<'a> {
    extreme(budget, &arguments, std::cmp::Ordering::is_gt)
}

fn extreme<'a>(
    budget: &Budget,
    arguments: &[Argument<'_>],
    wins: fn(std::cmp::Ordering) -> bool,
) -> Output<'a> {
    let operands: Vec<&Value> = match arguments {
        [Some(array)] if matches!(**array, Value::Array(_)) => {
            array.as_array().unwrap_or_default().iter().collect()
        }
        _ => arguments.iter().flatten().map(|value| &**value).collect(),
    };
    let mut best: Option<&Value> = None;
    for value in operands {
        if !crate::is_nullish(Some(value)) && best.is_none_or(|best| wins(mongo_cmp(value, best))) {
            best = Some(value);
        }
    }
    match best {
        Some(value) => give(budget.copy(value)?),
        None => null(),
    }
}

const MEDIAN: Named = Named {
    names: &["input", "method"],
    required: &[(0, 40414), (1, 40414)],
    not_object: 7436100,
    unknown: 40415,
};
const PERCENTILE: Named = Named {
    names: &["input", "p", "method"],
    required: &[(0, 40414), (1, 40414), (2, 40414)],
    not_object: 7429700,
    unknown: 40415,
};

/// Reads what `$median` works on.
pub(crate) fn read_median_input(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Node> {
    let mut nodes = parser.named(name, argument, &MEDIAN)?;
    check_method(nodes[1].as_ref())?;
    Ok(nodes[0].take().unwrap_or(Node::Missing))
}

/// Reads what `$percentile` works on, and which percentiles.
pub(crate) fn read_percentile_input(
    parser: &mut Parser<'_>,
    name: &str,
    argument: &Value,
) -> Result<(Node, Vec<f64>)> {
    let mut nodes = parser.named(name, argument, &PERCENTILE)?;
    check_method(nodes[2].as_ref())?;
    let Some(Node::Constant(Value::Array(ranks))) = &nodes[1] else {
        return Err(Error::new(
            7750301,
            "The $percentile 'p' field must be an array of constant values from [0.0, 1.0]",
        ));
    };
    if ranks.is_empty() {
        return Err(Error::new(7750301, "The $percentile 'p' field cannot be an empty array"));
    }
    let mut read = Vec::with_capacity(ranks.len());
    for rank in ranks {
        let Some(number) = to_double(rank) else {
            return Err(Error::new(
                7750302,
                format!(
                    "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found {}",
                    excerpt(rank)
                ),
            ));
        };
        if !(0.0..=1.0).contains(&number) {
            return Err(Error::new(
                7750303,
                format!(
                    "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found {number}"
                ),
            ));
        }
        read.push(number);
    }
    Ok((nodes[0].take().unwrap_or(Node::Missing), read))
}

fn check_method(method: Option<&Node>) -> Result<()> {
    match method {
        Some(Node::Constant(Value::String(name))) if name == "approximate" => Ok(()),
        _ => Err(Error::new(
            codes::BAD_VALUE,
            "Currently only 'approximate' can be used as percentile 'method'.",
        )),
    }
}

/// Reads `$median`.
pub(crate) fn read_median(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Node> {
    let input = read_median_input(parser, name, argument)?;
    Ok(Node::Lazy(median, [Some(input)].into()))
}

/// Reads `$percentile`.
pub(crate) fn read_percentile(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Node> {
    let (input, ranks) = read_percentile_input(parser, name, argument)?;
    let ranks = Value::Array(ranks.into_iter().map(Value::Double).collect());
    Ok(Node::Lazy(percentile, [Some(input), Some(Node::Constant(ranks))].into()))
}

fn numbers(argument: &Argument<'_>) -> Vec<f64> {
    match argument.as_deref() {
        Some(Value::Array(elements)) => elements.iter().filter_map(to_double).collect(),
        Some(value) => to_double(value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn median<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let mut numbers = numbers(&named(arguments, 0, frame)?);
    give(percentiles(&mut numbers, &[0.5]).pop().unwrap_or(Value::Null))
}

fn percentile<'a>(arguments: &'a [Option<Node>], frame: &Frame<'a, '_>) -> Output<'a> {
    let mut values = numbers(&named(arguments, 0, frame)?);
    let ranks = numbers(&named(arguments, 1, frame)?);
    give(Value::Array(percentiles(&mut values, &ranks)))
}

/// Returns the percentiles of numbers; nulls where there are none.
pub(crate) fn percentiles(numbers: &mut [f64], ranks: &[f64]) -> Vec<Value> {
    numbers.sort_by(f64::total_cmp);
    ranks
        .iter()
        .map(|rank| {
            let place = (numbers.len() as f64 * rank).ceil() as usize;
            numbers.get(place.saturating_sub(1)).map_or(Value::Null, |number| Value::Double(*number))
        })
        .collect()
}
