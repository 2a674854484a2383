//! Accumulators: what `$group` gathers of the documents of a group.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use armilla_value::{Object, Value, mongo_cmp};

use crate::error::{Error, Result, codes};
use crate::functions::objects::merge_value;
use crate::functions::ordered::{Order, count};
use crate::functions::statistics::{Deviation, Sum, percentiles, read_median_input, read_percentile_input};
use crate::limits::GATHERED_BYTES_MAX;
use crate::measure::memory_bytes;
use crate::parse::Parser;
use crate::tree::{Argument, Budget, Frame, Node};
use crate::{Environment, Scope};

/// An accumulator (`$sum`, `$push`, ...) of `$group` that was read: `{$sum: <expression>}`.
#[derive(Debug, Clone)]
pub struct Accumulator {
    name: Box<str>,
    operation: Operation,
}

#[derive(Debug, Clone)]
enum Operation {
    Sum(Node),
    Average(Node),
    Minimum(Node),
    Maximum(Node),
    First(Node),
    Last(Node),
    Push(Node),
    AddToSet(Node),
    Count,
    Deviation {
        input: Node,
        is_sample: bool,
    },
    MergeObjects(Node),
    /// `$top` and its like: the first documents of an order, or the last.
    Ranked {
        order: Order,
        output: Node,
        count: Node,
        from_end: bool,
        is_single: bool,
    },
    /// `$firstN` and its like.
    Several {
        which: Several,
        input: Node,
        count: Node,
    },
    Percentiles {
        input: Node,
        ranks: Vec<f64>,
        is_single: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Several {
    First,
    Last,
    Maximum,
    Minimum,
}

/// What an accumulator has gathered of one group so far.
#[derive(Debug, Clone)]
pub struct Gathered {
    state: State,
    bytes: usize,
    /// How many values are kept, where that is limited and known.
    count: Option<usize>,
}

#[derive(Debug, Clone)]
enum State {
    Sum(Box<Sum>),
    Count(i64),
    Value(Option<Value>),
    Values(Vec<Value>),
    Set(BTreeSet<Ordered>),
    Deviation(Deviation),
    Object(Object),
    Ranked(Vec<(Vec<Option<Value>>, Value)>),
    Numbers(Vec<f64>),
}

/// A value in the canonical order, in which numbers of different kinds may be equal.
#[derive(Debug, Clone)]
struct Ordered(Value);

impl PartialEq for Ordered {
    fn eq(&self, other: &Ordered) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> Ordering {
        mongo_cmp(&self.0, &other.0)
    }
}

/// Says whether `$group` has an accumulator of this name.
pub fn is_accumulator(name: &str) -> bool {
    matches!(
        name,
        "$sum"
            | "$avg"
            | "$min"
            | "$max"
            | "$first"
            | "$last"
            | "$push"
            | "$addToSet"
            | "$count"
            | "$stdDevPop"
            | "$stdDevSamp"
            | "$mergeObjects"
            | "$top"
            | "$topN"
            | "$bottom"
            | "$bottomN"
            | "$firstN"
            | "$lastN"
            | "$maxN"
            | "$minN"
            | "$median"
            | "$percentile"
    )
}

impl Accumulator {
    /// Reads the value of a field of `$group`.
    pub fn parse(field: &str, specification: &Value, scope: &Scope) -> Result<Accumulator> {
        if field.contains('.') {
            return Err(Error::new(40235, format!("The field name '{field}' cannot contain '.'")));
        }
        if field.starts_with('$') {
            return Err(Error::new(40236, format!("The field name '{field}' cannot be an operator name")));
        }
        let Value::Object(object) = specification else {
            return Err(Error::new(40234, format!("The field '{field}' must be an accumulator object")));
        };
        let mut members = object.iter();
        let (Some((name, argument)), None) = (members.next(), members.next()) else {
            return Err(Error::new(40238, format!("The field '{field}' must specify one accumulator")));
        };
        if !name.starts_with('$') {
            return Err(Error::new(40234, format!("The field '{field}' must be an accumulator object")));
        }
        Accumulator::parse_operator(name, argument, scope)
    }

    /// Reads an accumulator by its name and its argument.
    pub fn parse_operator(name: &str, argument: &Value, scope: &Scope) -> Result<Accumulator> {
        let mut parser = Parser::new(scope);
        let mut single = |argument: &Value| match argument {
            Value::Array(elements) => match &elements[..] {
                [only] => parser.operand(only),
                _ => Err(Error::new(40237, format!("The {name} accumulator is a unary operator"))),
            },
            other => parser.operand(other),
        };
        let operation = match name {
            "$sum" => Operation::Sum(single(argument)?),
            "$avg" => Operation::Average(single(argument)?),
            "$min" => Operation::Minimum(single(argument)?),
            "$max" => Operation::Maximum(single(argument)?),
            "$first" => Operation::First(single(argument)?),
            "$last" => Operation::Last(single(argument)?),
            "$push" => Operation::Push(single(argument)?),
            "$addToSet" => Operation::AddToSet(single(argument)?),
            "$mergeObjects" => Operation::MergeObjects(single(argument)?),
            "$stdDevPop" => Operation::Deviation { input: single(argument)?, is_sample: false },
            "$stdDevSamp" => Operation::Deviation { input: single(argument)?, is_sample: true },
            "$count" => match argument {
                Value::Object(object) if object.is_empty() => Operation::Count,
                _ => {
                    return Err(Error::new(
                        codes::TYPE_MISMATCH,
                        "$count takes no arguments, i.e. $count:{}",
                    ));
                }
            },
            "$top" | "$topN" | "$bottom" | "$bottomN" => read_ranked(&mut parser, name, argument)?,
            "$firstN" => read_several(&mut parser, name, argument, Several::First)?,
            "$lastN" => read_several(&mut parser, name, argument, Several::Last)?,
            "$maxN" => read_several(&mut parser, name, argument, Several::Maximum)?,
            "$minN" => read_several(&mut parser, name, argument, Several::Minimum)?,
            "$median" => Operation::Percentiles {
                input: read_median_input(&mut parser, name, argument)?,
                ranks: vec![0.5],
                is_single: true,
            },
            "$percentile" => {
                let (input, ranks) = read_percentile_input(&mut parser, name, argument)?;
                Operation::Percentiles { input, ranks, is_single: false }
            }
            "$accumulator" => {
                return Err(Error::new(
                    codes::NOT_IMPLEMENTED,
                    "$accumulator is not supported: accumulators in JavaScript are not available",
                ));
            }
            _ => return Err(Error::new(15952, format!("unknown group operator '{name}'"))),
        };
        Ok(Accumulator { name: name.into(), operation })
    }

    /// Returns the name of the operator, with its dollar.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Begins a group.
    pub fn begin(&self) -> Gathered {
        let state = match &self.operation {
            Operation::Sum(_) | Operation::Average(_) => State::Sum(Box::default()),
            Operation::Count => State::Count(0),
            Operation::Minimum(_) | Operation::Maximum(_) | Operation::First(_) | Operation::Last(_) => {
                State::Value(None)
            }
            Operation::Push(_) | Operation::Several { .. } => State::Values(Vec::new()),
            Operation::AddToSet(_) => State::Set(BTreeSet::new()),
            Operation::Deviation { .. } => State::Deviation(Deviation::default()),
            Operation::MergeObjects(_) => State::Object(Object::new()),
            Operation::Ranked { .. } => State::Ranked(Vec::new()),
            Operation::Percentiles { .. } => State::Numbers(Vec::new()),
        };
        Gathered { state, bytes: 64, count: None }
    }

    /// Begins a group whose key is known, to which the `n` of `$topN` and its like may refer.
    pub fn begin_for(&self, key: &Object, environment: &Environment) -> Result<Gathered> {
        let mut gathered = self.begin();
        if let Operation::Ranked { count, .. } | Operation::Several { count, .. } = &self.operation {
            gathered.count = Some(evaluated_count(count, key, environment)?);
        }
        Ok(gathered)
    }

    /// Adds a document.
    pub fn add(&self, gathered: &mut Gathered, document: &Object, environment: &Environment) -> Result<()> {
        let budget = Budget::default();
        let frame = Frame {
            root: document,
            current: document,
            environment,
            extra: &[],
            locals: None,
            budget: &budget,
        };
        match (&self.operation, &mut gathered.state) {
            (Operation::Sum(input) | Operation::Average(input), State::Sum(sum)) => {
                if let Some(value) = input.evaluate_checked(&frame)? {
                    sum.add(&value);
                }
            }
            (Operation::Count, State::Count(count)) => *count += 1,
            (Operation::Minimum(input), State::Value(best)) => {
                let bytes = keep_better(input.evaluate_checked(&frame)?, best, Ordering::is_lt);
                gathered.bytes = bytes.unwrap_or(gathered.bytes);
            }
            (Operation::Maximum(input), State::Value(best)) => {
                let bytes = keep_better(input.evaluate_checked(&frame)?, best, Ordering::is_gt);
                gathered.bytes = bytes.unwrap_or(gathered.bytes);
            }
            (Operation::First(_), State::Value(Some(_))) => {}
            (Operation::First(input), State::Value(first)) => {
                let value = input.evaluate_checked(&frame)?.map_or(Value::Null, std::borrow::Cow::into_owned);
                gathered.bytes += memory_bytes(&value);
                *first = Some(value);
            }
            (Operation::Last(input), State::Value(last)) => {
                let value = input.evaluate_checked(&frame)?.map_or(Value::Null, std::borrow::Cow::into_owned);
                gathered.bytes = 64 + memory_bytes(&value);
                *last = Some(value);
            }
            (Operation::Push(input), State::Values(values)) => {
                if let Some(value) = input.evaluate_checked(&frame)? {
                    gathered.bytes += memory_bytes(&value);
                    values.push(value.into_owned());
                }
            }
            (Operation::AddToSet(input), State::Set(set)) => {
                if let Some(value) = input.evaluate_checked(&frame)? {
                    let bytes = memory_bytes(&value);
                    if set.insert(Ordered(value.into_owned())) {
                        gathered.bytes += bytes;
                    }
                }
            }
            (Operation::Deviation { input, .. }, State::Deviation(deviation)) => {
                if let Some(value) = input.evaluate_checked(&frame)? {
                    deviation.add(&value);
                }
            }
            (Operation::MergeObjects(input), State::Object(object)) => {
                if let Some(value) = input.evaluate_checked(&frame)? {
                    gathered.bytes += memory_bytes(&value);
                    merge_value(object, value.into_owned())?;
                }
            }
            (Operation::Percentiles { input, .. }, State::Numbers(numbers)) => {
                if let Some(value) = input.evaluate_checked(&frame)?
                    && let Some(number) = crate::arithmetic::to_double(&value)
                {
                    gathered.bytes += std::mem::size_of::<f64>();
                    numbers.push(number);
                }
            }
            (Operation::Several { which, input, count }, State::Values(values)) => {
                let most = known_count(&mut gathered.count, count, document, environment)?;
                let value = input.evaluate_checked(&frame)?;
                gathered.bytes += keep_several(*which, values, value, most);
            }
            (Operation::Ranked { order, output, count, from_end, .. }, State::Ranked(ranked)) => {
                let most = known_count(&mut gathered.count, count, document, environment)?;
                let keys = order.keys(document);
                let compare = |other: &[Option<Value>]| order.compare_keys(&keys, other);
                // Of equals the earlier come first. Of the last ones the first goes where there are too many.
                let place = ranked.partition_point(|(other, _)| compare(other).is_ge());
                let is_wanted = ranked.len() < most || if *from_end { place > 0 } else { place < most };
                if is_wanted {
                    let value =
                        output.evaluate_checked(&frame)?.map_or(Value::Null, std::borrow::Cow::into_owned);
                    gathered.bytes += memory_bytes(&value)
                        + keys.iter().flatten().map(memory_bytes).sum::<usize>()
                        + std::mem::size_of::<(Vec<Option<Value>>, Value)>();
                    ranked.insert(place, (keys, value));
                    if ranked.len() > most {
                        let gone = if *from_end { Some(ranked.remove(0)) } else { ranked.pop() };
                        if let Some((keys, value)) = gone {
                            let bytes = memory_bytes(&value)
                                + keys.iter().flatten().map(memory_bytes).sum::<usize>()
                                + std::mem::size_of::<(Vec<Option<Value>>, Value)>();
                            gathered.bytes = gathered.bytes.saturating_sub(bytes);
                        }
                    }
                }
            }
            // An accumulator only meets what it began itself.
            _ => {}
        }
        if gathered.bytes > GATHERED_BYTES_MAX {
            return Err(Error::new(
                codes::EXCEEDED_MEMORY_LIMIT,
                format!(
                    "{} used too much memory and cannot spill to disk. Memory limit: {GATHERED_BYTES_MAX} bytes",
                    self.name
                ),
            ));
        }
        Ok(())
    }

    /// Returns the result; null where nothing was found.
    pub fn finish(&self, gathered: Gathered) -> Result<Option<Value>> {
        Ok(Some(match (&self.operation, gathered.state) {
            (Operation::Average(_), State::Sum(sum)) => sum.average(),
            (_, State::Sum(sum)) => sum.total(),
            (_, State::Count(count)) => crate::arithmetic::narrow(count),
            (_, State::Value(value)) => value.unwrap_or(Value::Null),
            (_, State::Values(values)) => Value::Array(values),
            (_, State::Set(set)) => Value::Array(set.into_iter().map(|Ordered(value)| value).collect()),
            (Operation::Deviation { is_sample, .. }, State::Deviation(deviation)) => {
                deviation.result(*is_sample)
            }
            (_, State::Object(object)) => Value::Object(object),
            (Operation::Ranked { is_single, .. }, State::Ranked(ranked)) => {
                let mut values = ranked.into_iter().map(|(_, value)| value);
                if *is_single { values.next().unwrap_or(Value::Null) } else { Value::Array(values.collect()) }
            }
            (Operation::Percentiles { ranks, is_single, .. }, State::Numbers(mut numbers)) => {
                let mut values = percentiles(&mut numbers, ranks);
                if *is_single { values.pop().unwrap_or(Value::Null) } else { Value::Array(values) }
            }
            _ => Value::Null,
        }))
    }
}

impl Gathered {
    /// Returns about how much memory it holds.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Keeps the better of two values; null and missing do not count. Returns what is held now if that changed.
fn keep_better(value: Argument<'_>, best: &mut Option<Value>, wins: fn(Ordering) -> bool) -> Option<usize> {
    let value = value.filter(|value| !crate::is_nullish(Some(value)))?;
    if best.as_ref().is_none_or(|best| wins(mongo_cmp(&value, best))) {
        let bytes = 64 + memory_bytes(&value);
        *best = Some(value.into_owned());
        return Some(bytes);
    }
    None
}

/// Keeps so many values; returns how many bytes more are held.
fn keep_several(which: Several, values: &mut Vec<Value>, value: Argument<'_>, most: usize) -> usize {
    match which {
        Several::First => {
            if values.len() >= most {
                return 0;
            }
            let value = value.map_or(Value::Null, std::borrow::Cow::into_owned);
            let bytes = memory_bytes(&value);
            values.push(value);
            bytes
        }
        Several::Last => {
            let value = value.map_or(Value::Null, std::borrow::Cow::into_owned);
            let bytes = memory_bytes(&value);
            values.push(value);
            if values.len() <= most {
                return bytes;
            }
            let gone = memory_bytes(&values.remove(0));
            bytes.saturating_sub(gone)
        }
        Several::Maximum | Several::Minimum => {
            let Some(value) = value.filter(|value| !crate::is_nullish(Some(value))) else { return 0 };
            let place = values.partition_point(|other| {
                let order = mongo_cmp(other, &value);
                if which == Several::Maximum { order.is_ge() } else { order.is_le() }
            });
            if place >= most {
                return 0;
            }
            let bytes = memory_bytes(&value);
            values.insert(place, value.into_owned());
            if values.len() <= most {
                return bytes;
            }
            bytes.saturating_sub(values.pop().map_or(0, |gone| memory_bytes(&gone)))
        }
    }
}

fn evaluated_count(node: &Node, document: &Object, environment: &Environment) -> Result<usize> {
    let budget = Budget::default();
    let frame =
        Frame { root: document, current: document, environment, extra: &[], locals: None, budget: &budget };
    count(&node.evaluate(&frame)?)
}

fn known_count(
    known: &mut Option<usize>,
    node: &Node,
    document: &Object,
    environment: &Environment,
) -> Result<usize> {
    match known {
        Some(count) => Ok(*count),
        None => {
            let count = evaluated_count(node, document, environment)?;
            *known = Some(count);
            Ok(count)
        }
    }
}

/// Checks a number of values that is known at reading.
fn check_count(node: &Node) -> Result<()> {
    match node {
        Node::Constant(value) => count(&Some(std::borrow::Cow::Borrowed(value))).map(|_| ()),
        _ => Ok(()),
    }
}

fn read_several(parser: &mut Parser<'_>, name: &str, argument: &Value, which: Several) -> Result<Operation> {
    let mut nodes = parser.named(name, argument, &crate::functions::ordered::COUNTED)?;
    let (input, count) = (nodes[0].take().unwrap_or(Node::Missing), nodes[1].take().unwrap_or(Node::Missing));
    check_count(&count)?;
    Ok(Operation::Several { which, input, count })
}

fn read_ranked(parser: &mut Parser<'_>, name: &str, argument: &Value) -> Result<Operation> {
    let Value::Object(object) = argument else {
        return Err(Error::new(5788001, format!("specification must be an object; found {name}")));
    };
    let is_single = matches!(name, "$top" | "$bottom");
    for (own, _) in object.iter() {
        if !(matches!(own, "sortBy" | "output") || !is_single && own == "n") {
            return Err(Error::new(5788002, format!("Unknown argument to {name} '{own}'")));
        }
    }
    let missing = |own: &str, code| Error::new(code, format!("Missing value for '{own}' in {name}"));
    let count = if is_single {
        Node::Constant(Value::Int32(1))
    } else {
        parser.operand(object.get("n").ok_or_else(|| missing("n", 5788003))?)?
    };
    check_count(&count)?;
    let output = parser.operand(object.get("output").ok_or_else(|| missing("output", 5788004))?)?;
    let sort_by = object.get("sortBy").ok_or_else(|| missing("sortBy", 5788005))?;
    if !matches!(sort_by, Value::Object(_)) {
        return Err(Error::new(5788604, format!("expected 'sortBy' of {name} to be an object")));
    }
    let order = Order::parse(sort_by)?;
    Ok(Operation::Ranked { order, output, count, from_end: name.starts_with("$bottom"), is_single })
}
