//! The tree that an expression is read into, and its evaluation.
//!
//! Evaluation borrows: from the document, the environment, the tree itself and the variables around. What is made
//! anew is charged to a [`Budget`], so that no expression takes all memory.
//!
//! Invariants:
//! * a tree has at most `DEPTH_MAX` levels, so that evaluation needs a bounded stack;
//! * values bound to variables have at most `DEPTH_MAX` levels.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use armilla_value::{Object, Value};

use crate::Environment;
use crate::error::{Error, Result, codes};
use crate::limits::{EVALUATION_BYTES_MAX, EVALUATION_STEPS_MAX};
use crate::measure::{check_depth, memory_bytes};
use crate::path::Path;

/// A value that may be missing, and may be borrowed.
pub(crate) type Argument<'a> = Option<Cow<'a, Value>>;
/// What an evaluation gives.
pub(crate) type Output<'a> = Result<Argument<'a>>;

/// Functions of one argument.
pub(crate) type Unary = for<'a> fn(&Budget, Argument<'a>) -> Output<'a>;
/// Functions of two arguments.
pub(crate) type Binary = for<'a> fn(&Budget, Argument<'a>, Argument<'a>) -> Output<'a>;
/// Functions of several arguments.
pub(crate) type Many = for<'a> fn(&Budget, Vec<Argument<'a>>) -> Output<'a>;
/// Functions that evaluate their arguments themselves; arguments with names have places, and may be left out.
pub(crate) type Lazy = for<'a> fn(&'a [Option<Node>], &Frame<'a, '_>) -> Output<'a>;

/// A node of an expression.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Constant(Value),
    /// `$$REMOVE`, and what is always missing.
    Missing,
    /// `$a.b` and `$$CURRENT`.
    Current(Option<Path>),
    /// `$$ROOT`, with or without a path.
    Root(Option<Path>),
    /// A variable of `$let` and the like: so many links up, and the place there.
    Local {
        up: usize,
        index: usize,
        path: Option<Path>,
    },
    /// A variable of the command or the stage.
    Variable {
        name: Box<str>,
        path: Option<Path>,
    },
    System {
        variable: System,
        path: Option<Path>,
    },
    Object(Box<[(String, Node)]>),
    Array(Box<[Node]>),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<[Node; 2]>),
    Many(Many, Box<[Node]>),
    Lazy(Lazy, Box<[Option<Node>]>),
    Regex(Box<crate::functions::regexes::RegexCall>),
    Random(Arc<AtomicU64>),
}

/// Variables that are always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    Now,
    ClusterTime,
    UserRoles,
}

/// What an evaluation sees.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a, 'b> {
    pub(crate) root: &'a Object,
    pub(crate) current: &'a Object,
    pub(crate) environment: &'a Environment,
    pub(crate) extra: &'a [(&'a str, Value)],
    pub(crate) locals: Option<&'a Locals<'a>>,
    pub(crate) budget: &'b Budget,
}

/// The variables of one `$let`, `$map`, `$filter` or `$reduce`, and those around.
pub(crate) struct Locals<'a> {
    pub(crate) parent: Option<&'a Locals<'a>>,
    pub(crate) values: &'a [Argument<'a>],
}

/// What one evaluation may still make.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    used: Cell<usize>,
    steps: Cell<u64>,
}

impl Budget {
    /// Counts bytes that are about to be made.
    pub(crate) fn charge(&self, bytes: usize) -> Result<()> {
        let used = self.used.get().saturating_add(bytes);
        self.used.set(used);
        if used > EVALUATION_BYTES_MAX {
            return Err(Error::new(
                codes::EXCEEDED_MEMORY_LIMIT,
                format!(
                    "evaluating the expression would take more than {EVALUATION_BYTES_MAX} bytes of memory"
                ),
            ));
        }
        self.step((bytes / 16) as u64)
    }

    /// Counts steps of a loop, which nothing else could stop.
    pub(crate) fn step(&self, count: u64) -> Result<()> {
        let steps = self.steps.get().saturating_add(count);
        self.steps.set(steps);
        if steps > EVALUATION_STEPS_MAX {
            return Err(Error::new(
                codes::MAX_TIME_MS_EXPIRED,
                format!(
                    "evaluating the expression for one document takes more than {EVALUATION_STEPS_MAX} steps"
                ),
            ));
        }
        Ok(())
    }

    /// Returns how much is counted, to go back to with [`Budget::release_to`].
    pub(crate) fn used(&self) -> usize {
        self.used.get()
    }

    /// Forgets what was made since and is gone.
    pub(crate) fn release_to(&self, used: usize) {
        self.used.set(used);
    }

    /// Makes a value of one's own.
    pub(crate) fn own(&self, value: Cow<'_, Value>) -> Result<Value> {
        match value {
            Cow::Owned(value) => Ok(value),
            Cow::Borrowed(value) => self.copy(value),
        }
    }

    /// Copies a value.
    pub(crate) fn copy(&self, value: &Value) -> Result<Value> {
        if matches!(
            value,
            Value::Array(_) | Value::Object(_) | Value::String(_) | Value::Binary { .. } | Value::Legacy(_)
        ) {
            self.charge(memory_bytes(value))?;
        }
        Ok(value.clone())
    }

    /// Makes a value of one's own of what may be missing: then null.
    pub(crate) fn own_or_null(&self, value: Argument<'_>) -> Result<Value> {
        value.map_or(Ok(Value::Null), |value| self.own(value))
    }
}

impl Node {
    /// Evaluates for what a frame shows.
    pub(crate) fn evaluate<'a>(&'a self, frame: &Frame<'a, '_>) -> Output<'a> {
        match self {
            Node::Constant(value) => Ok(Some(Cow::Borrowed(value))),
            Node::Missing => Ok(None),
            Node::Current(Some(path)) => Ok(path.get(frame.current)),
            Node::Current(None) => whole(frame.current, frame),
            Node::Root(Some(path)) => Ok(path.get(frame.root)),
            Node::Root(None) => whole(frame.root, frame),
            Node::Local { up, index, path } => Ok(local(frame.locals, *up, *index, path.as_ref())),
            Node::Variable { name, path } => {
                Ok(variable(frame, name).and_then(|value| walk(value, path.as_ref())))
            }
            Node::System { variable, path } => Ok(system(frame.environment, *variable, path.as_ref())),
            Node::Unary(function, argument) => function(frame.budget, defined(argument.evaluate(frame)?)),
            Node::Binary(function, arguments) => {
                let left = arguments[0].evaluate(frame)?;
                let right = arguments[1].evaluate(frame)?;
                function(frame.budget, left, right)
            }
            Node::Many(function, arguments) => {
                let arguments =
                    arguments.iter().map(|node| node.evaluate(frame).map(defined)).collect::<Result<_>>()?;
                function(frame.budget, arguments)
            }
            Node::Lazy(function, arguments) => function(arguments, frame),
            Node::Array(elements) => {
                let mut made = Vec::with_capacity(elements.len());
                for element in elements {
                    made.push(frame.budget.own_or_null(element.evaluate(frame)?)?);
                }
                Ok(Some(Cow::Owned(Value::Array(made))))
            }
            Node::Object(members) => {
                let mut made = Vec::with_capacity(members.len());
                for (name, node) in members {
                    if let Some(value) = node.evaluate(frame)? {
                        made.push((name.clone(), frame.budget.own(value)?));
                    }
                }
                Ok(Some(Cow::Owned(Value::Object(Object::from(made)))))
            }
            Node::Regex(call) => call.evaluate(frame),
            Node::Random(count) => {
                let draw = count.fetch_add(1, Ordering::Relaxed);
                Ok(Some(Cow::Owned(Value::Double(random(frame.environment.seed, draw)))))
            }
        }
    }

    /// Evaluates for what a frame shows; what was made must not be nested too deep.
    pub(crate) fn evaluate_checked<'a>(&'a self, frame: &Frame<'a, '_>) -> Output<'a> {
        let value = self.evaluate(frame)?;
        if let Some(Cow::Owned(made)) = &value {
            check_depth(made)?;
        }
        Ok(value)
    }

    /// Evaluates and says whether the result counts as true.
    pub(crate) fn is_truthy<'a>(&'a self, frame: &Frame<'a, '_>) -> Result<bool> {
        Ok(crate::is_truthy(self.evaluate(frame)?.as_deref()))
    }
}

/// Makes null of what BSON calls undefined, which functions take for the same.
pub(crate) fn defined(argument: Argument<'_>) -> Argument<'_> {
    match argument {
        Some(value) if crate::types::is_undefined(&value) => Some(Cow::Owned(Value::Null)),
        other => other,
    }
}

fn whole<'a>(object: &'a Object, frame: &Frame<'a, '_>) -> Output<'a> {
    frame.budget.charge(crate::measure::object_memory_bytes(object))?;
    Ok(Some(Cow::Owned(Value::Object(object.clone()))))
}

fn walk<'a>(value: &'a Value, path: Option<&Path>) -> Argument<'a> {
    match path {
        None => Some(Cow::Borrowed(value)),
        Some(path) => path.get_in(value),
    }
}

fn local<'a>(
    mut locals: Option<&'a Locals<'a>>,
    up: usize,
    index: usize,
    path: Option<&Path>,
) -> Argument<'a> {
    for _ in 0..up {
        locals = locals?.parent;
    }
    let value: &'a Value = locals?.values.get(index)?.as_deref()?;
    walk(value, path)
}

fn variable<'a>(frame: &Frame<'a, '_>, name: &str) -> Option<&'a Value> {
    let extra = frame.extra.iter().rev().find(|(own, _)| *own == name).map(|(_, value)| value);
    extra.or_else(|| frame.environment.variables.get(name))
}

fn system<'a>(environment: &Environment, variable: System, path: Option<&Path>) -> Argument<'a> {
    let value = match variable {
        System::Now => Value::Date(environment.now_ms),
        System::ClusterTime => {
            let (seconds, increment) = environment.cluster_time;
            Value::Timestamp { seconds, increment }
        }
        System::UserRoles => Value::Array(environment.user_roles.clone()),
    };
    match path {
        None => Some(Cow::Owned(value)),
        Some(path) => path.get_in(&value).map(|found| Cow::Owned(found.into_owned())),
    }
}

/// Draws a number from zero to below one: each draw of a seed another, the same each time.
pub(crate) fn random(seed: u64, draw: u64) -> f64 {
    // The mixing of splitmix64.
    let mut bits = seed.wrapping_add(draw.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
