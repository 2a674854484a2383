//! Evaluating bound expressions over the values of a row.
//!
//! A value of the wrong type never fails: it gives undefined. What can fail is a scalar subquery with several rows, a
//! user-defined function, and a bound on memory or time: everything that loops takes steps of the meter, and every value
//! that is made takes bytes of it.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::LazyLock;

use armilla_functions::datetime::Ticks;
use armilla_functions::{CallContext, Datum, Function, Meter, PatternCache, call, operators};
use armilla_value::{Kind, Node, Object, Value, json};

use crate::bound::Projection;
use crate::error::{Error, Result};
use crate::expr::{Expr, PathStep, Pattern, SubqueryKind};
use crate::frame::{Bound, Frame};
use crate::limits::ROW_BYTES_MAX;
use crate::row::{JsonRows, Row};
use crate::rows::{estimated_bytes, value_bytes};
use crate::source::{Source, SourceItem, SystemProperty};

/// Calls user-defined functions.
pub trait UserFunctions: Sync {
    /// Calls a function of the container. `Ok(None)` is an undefined result, `Err` says why the query fails.
    fn call(&self, name: &str, arguments: &[Value]) -> std::result::Result<Option<Value>, String>;
}

/// A container without user-defined functions.
pub struct NoUserFunctions;

impl UserFunctions for NoUserFunctions {
    fn call(&self, name: &str, _: &[Value]) -> std::result::Result<Option<Value>, String> {
        Err(format!("the user-defined function '{name}' is not registered in this container"))
    }
}

/// What expressions learn of the world.
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    /// When the query started, in units of 100 ns since 1970.
    pub now_ticks: Ticks,
    /// Tells the time of this row.
    pub current_ticks: &'e dyn Fn() -> Ticks,
    /// Draws a number from 0 to 1, 1 excluded.
    pub random: &'e dyn Fn() -> f64,
    /// Set where shapes lie in the plane instead of on the globe.
    pub geometry: bool,
    /// The container's user-defined functions.
    pub functions: &'e dyn UserFunctions,
}

/// Evaluates the expressions of one query.
pub struct Evaluator<'q> {
    context: CallContext<'q>,
    functions: &'q dyn UserFunctions,
    /// Where the row that is being written begins.
    row_start: Cell<usize>,
}

/// What a call of a user-defined function stands for.
const FUNCTION_STEPS: u64 = 100;

/// Lists up to this length take no steps of their own.
const SHORT_LIST: usize = 16;

static CONSTANT_PATTERNS: LazyLock<PatternCache> = LazyLock::new(PatternCache::new);

impl<'q> Evaluator<'q> {
    /// Makes an evaluator.
    pub fn new(
        environment: &Environment<'q>,
        patterns: &'q PatternCache,
        meter: &'q Meter<'q>,
    ) -> Evaluator<'q> {
        Evaluator {
            context: CallContext {
                now_ticks: environment.now_ticks,
                current_ticks: environment.current_ticks,
                random: environment.random,
                patterns,
                geometry: environment.geometry,
                meter,
            },
            functions: environment.functions,
            row_start: Cell::new(0),
        }
    }

    /// Makes an evaluator for expressions that depend on nothing, computed properties included.
    pub fn for_constants(meter: &'q Meter<'q>) -> Evaluator<'q> {
        Evaluator {
            context: CallContext {
                now_ticks: 0,
                current_ticks: &|| 0,
                random: &|| 0.0,
                patterns: &CONSTANT_PATTERNS,
                geometry: false,
                meter,
            },
            functions: &NoUserFunctions,
            row_start: Cell::new(0),
        }
    }

    /// Returns what says how much evaluating may take.
    pub(crate) fn meter(&self) -> &'q Meter<'q> {
        self.context.meter
    }

    /// Takes steps, or says why there are none left.
    #[inline]
    pub(crate) fn step(&self, steps: u64) -> Result<()> {
        if self.context.meter.go_on(steps) { Ok(()) } else { self.check() }
    }

    /// Takes steps for a list whose length the query says.
    #[inline]
    fn step_list(&self, length: usize) -> Result<()> {
        if length < SHORT_LIST { Ok(()) } else { self.step((length / SHORT_LIST) as u64) }
    }

    /// Says why the meter has stopped, if it has.
    #[inline]
    fn check(&self) -> Result<()> {
        match self.context.meter.stopped() {
            None => Ok(()),
            Some(stop) => Err(Error::stopped(stop)),
        }
    }

    /// Takes room for a value.
    pub(crate) fn take_room(&self, bytes: usize) -> Result<()> {
        if bytes > 0 && !self.context.meter.make(bytes) { self.check() } else { Ok(()) }
    }

    /// Takes room for what was made of values that are gone by now, those made since the mark.
    fn made<'f>(&self, datum: Datum<'f>, mark: usize) -> Result<Datum<'f>> {
        self.context.meter.release(mark);
        self.check()?;
        match &datum {
            Datum::Str(Cow::Owned(text)) => self.take_room(text.len())?,
            Datum::Value(Cow::Owned(value)) => self.take_room(value_bytes(value))?,
            _ => {}
        }
        Ok(datum)
    }

    /// Returns a value of its own; room is taken for what is copied.
    fn copied(&self, datum: Datum<'_>) -> Result<Option<Value>> {
        match &datum {
            Datum::Str(Cow::Borrowed(_)) | Datum::Node(_) | Datum::Value(Cow::Borrowed(_)) => {
                self.take_room(estimated_bytes(&datum))?;
            }
            _ => {}
        }
        Ok(datum.into_value())
    }

    /// Returns the value of an expression of which nothing else is evaluated at the time.
    pub fn eval_alone<'f>(&'f self, expr: &'f Expr, frame: &'f Frame<'f>) -> Result<Datum<'f>> {
        let datum = self.eval(expr, frame);
        self.context.meter.release(0);
        self.check()?;
        datum
    }

    /// Returns the value of an expression.
    pub fn eval<'f>(&'f self, expr: &'f Expr, frame: &'f Frame<'f>) -> Result<Datum<'f>> {
        Ok(match expr {
            Expr::Undefined => Datum::Undefined,
            Expr::Constant(value) => Datum::from_value(value),
            Expr::Slot(slot) => match frame.find(*slot) {
                Bound::Datum(datum) => datum.borrowed(),
                Bound::Item(source, item, root) => {
                    // In memory a tree takes several times its text.
                    self.take_room(4 * item.json_bytes as usize)?;
                    Datum::from_owned(whole_item(*source, item, *root))
                }
                Bound::Nothing | Bound::Group(..) | Bound::Entry(..) => Datum::Undefined,
            },
            Expr::Path { slot, steps } => match frame.find(*slot) {
                Bound::Item(_, _, root) => node_at(*root, steps),
                Bound::Entry(columns, values) => {
                    let at = columns.iter().position(|column| column.steps == *steps);
                    debug_assert!(at.is_some(), "an entry holds what the query asks for");
                    at.map_or(Datum::Undefined, |at| values[at].borrowed())
                }
                Bound::Datum(Datum::Node(node)) => node_at(*node, steps),
                Bound::Datum(datum) => steps.iter().fold(datum.borrowed(), step),
                Bound::Nothing | Bound::Group(..) => Datum::Undefined,
            },
            Expr::System(property) => match frame.find(0) {
                Bound::Item(source, item, _) => system_property(*source, item, *property),
                _ => Datum::Undefined,
            },
            Expr::Computed { expr, .. } => self.eval(expr, frame)?,
            Expr::DocumentId => match frame.find(0) {
                Bound::Item(source, item, _) => {
                    i64::try_from(source.document_id(item)).map_or(Datum::Undefined, Datum::Int)
                }
                _ => Datum::Undefined,
            },
            Expr::Member { object, name } => self.eval(object, frame)?.into_member(name),
            Expr::Index { object, index } => {
                let object = self.eval(object, frame)?;
                operators::index(object, &self.eval(index, frame)?)
            }
            Expr::Unary(operator, operand) => operators::unary(*operator, self.eval(operand, frame)?),
            Expr::Compare(operator, left, right) => {
                let left = self.eval(left, frame)?;
                operators::compare(*operator, &left, &self.eval(right, frame)?)
            }
            Expr::Arithmetic(operator, left, right) => {
                let left = self.eval(left, frame)?;
                operators::arithmetic(*operator, &left, &self.eval(right, frame)?)
            }
            Expr::Concat(left, right) => {
                let mark = self.context.meter.mark();
                let left = self.eval(left, frame)?;
                let joined = operators::concat(&left, &self.eval(right, frame)?);
                self.made(joined, mark)?
            }
            Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::In(..)
            | Expr::Between(..)
            | Expr::Like { .. } => self.truth(expr, frame)?.into(),
            Expr::Conditional(condition, then, otherwise) => {
                let chosen = if self.is_true(condition, frame)? { then } else { otherwise };
                self.eval(chosen, frame)?
            }
            Expr::Coalesce(left, right) => match self.eval(left, frame)? {
                Datum::Undefined => self.eval(right, frame)?,
                defined => defined,
            },
            Expr::Call(function, arguments) => self.call(*function, arguments, frame)?,
            Expr::Udf(name, arguments) => self.user_function(name, arguments, frame)?,
            Expr::Array(elements) => {
                self.step_list(elements.len())?;
                let mut values = Vec::with_capacity(elements.len());
                for element in elements {
                    values.extend(self.copied(self.eval(element, frame)?)?);
                }
                Datum::from_owned(Value::Array(values))
            }
            Expr::Object(members) => self.object(members, frame)?,
            Expr::Subquery(kind, query) => self.subquery(*kind, query, frame)?,
            Expr::Let { slot, value, body } => {
                let value = self.eval(value, frame)?;
                let inner = Frame::with(frame, *slot, value);
                let body = self.eval(body, &inner)?;
                self.take_room(estimated_bytes(&body))?;
                body.into_static()
            }
            Expr::GroupKey(key) => frame
                .find_group()
                .and_then(|(keys, _)| keys.get(*key))
                .map_or(Datum::Undefined, Datum::borrowed),
            Expr::Aggregate(number) => frame
                .find_group()
                .and_then(|(_, results)| results.get(*number))
                .map_or(Datum::Undefined, Datum::borrowed),
        })
    }

    fn call<'f>(
        &'f self,
        function: Function,
        arguments: &'f [Expr],
        frame: &'f Frame<'f>,
    ) -> Result<Datum<'f>> {
        let mark = self.context.meter.mark();
        let result = match arguments {
            [] => call(function, &[], &self.context),
            [only] => call(function, &[self.eval(only, frame)?], &self.context),
            [first, second] => {
                let arguments = [self.eval(first, frame)?, self.eval(second, frame)?];
                call(function, &arguments, &self.context)
            }
            arguments => {
                self.step_list(arguments.len())?;
                let arguments = self.eval_all(arguments, frame)?;
                call(function, &arguments, &self.context)
            }
        };
        self.made(result, mark)
    }

    fn object<'f>(&'f self, members: &'f [(String, Expr)], frame: &'f Frame<'f>) -> Result<Datum<'f>> {
        self.step_list(members.len())?;
        let mut object = Object::with_capacity(members.len());
        for (name, member) in members {
            if let Some(value) = self.copied(self.eval(member, frame)?)? {
                // Each is compared with those before it.
                self.step_list(object.len())?;
                object.insert(name.clone(), value);
            }
        }
        Ok(Datum::from_owned(Value::Object(object)))
    }

    fn eval_all<'f>(&'f self, exprs: &'f [Expr], frame: &'f Frame<'f>) -> Result<Vec<Datum<'f>>> {
        exprs.iter().map(|expr| self.eval(expr, frame)).collect()
    }

    /// Returns whether an expression is exactly true.
    pub fn is_true(&self, expr: &Expr, frame: &Frame<'_>) -> Result<bool> {
        Ok(self.truth(expr, frame)? == Some(true))
    }

    /// Returns whether all conditions are exactly true.
    pub fn all_true(&self, conditions: &[Expr], frame: &Frame<'_>) -> Result<bool> {
        for condition in conditions {
            if !self.is_true(condition, frame)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the truth value of an expression; `None` for everything but booleans.
    fn truth(&self, expr: &Expr, frame: &Frame<'_>) -> Result<Option<bool>> {
        // Nothing that is made on the way outlives the answer.
        let mark = self.context.meter.mark();
        let truth = self.truth_of(expr, frame)?;
        self.context.meter.release(mark);
        Ok(truth)
    }

    fn truth_of(&self, expr: &Expr, frame: &Frame<'_>) -> Result<Option<bool>> {
        Ok(match expr {
            Expr::And(parts) => {
                self.step_list(parts.len())?;
                let mut all = Some(true);
                for part in parts {
                    all = operators::and(all, self.truth(part, frame)?);
                    if all == Some(false) {
                        break;
                    }
                }
                all
            }
            Expr::Or(parts) => {
                self.step_list(parts.len())?;
                let mut any = Some(false);
                for part in parts {
                    any = operators::or(any, self.truth(part, frame)?);
                    if any == Some(true) {
                        break;
                    }
                }
                any
            }
            Expr::Not(operand) => operators::not(self.truth(operand, frame)?),
            Expr::Compare(operator, left, right) => {
                let left = self.eval(left, frame)?;
                operators::compare_truth(*operator, &left, &self.eval(right, frame)?)
            }
            Expr::In(value, list) => {
                let value = self.eval(value, frame)?;
                if value.is_undefined() {
                    return Ok(None);
                }
                self.step_list(list.len())?;
                for member in list {
                    if operators::equals(&value, &self.eval(member, frame)?) == Some(true) {
                        return Ok(Some(true));
                    }
                }
                Some(false)
            }
            Expr::Between(value, low, high) => {
                let value = self.eval(value, frame)?;
                let low = self.eval(low, frame)?;
                operators::between(&value, &low, &self.eval(high, frame)?)
            }
            Expr::Like { value, pattern } => {
                let value = self.eval(value, frame)?;
                let meter = self.context.meter;
                let truth = match pattern {
                    Pattern::Constant(pattern) => value.as_str().map(|text| pattern.matches(text, meter)),
                    Pattern::Dynamic(pattern, escape) => {
                        operators::like(&value, &self.eval(pattern, frame)?, *escape, meter)
                    }
                };
                self.check()?;
                truth
            }
            _ => operators::truth(&self.eval(expr, frame)?),
        })
    }

    fn user_function<'f>(&'f self, name: &str, arguments: &[Expr], frame: &Frame<'_>) -> Result<Datum<'f>> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match self.copied(self.eval(argument, frame)?)? {
                Some(value) => values.push(value),
                // Without all of its arguments the call is not made.
                None => return Ok(Datum::Undefined),
            }
        }
        // A function has a watch of its own, which is not asked about those that come after it.
        self.step(FUNCTION_STEPS)?;
        match self.functions.call(name, &values) {
            Ok(Some(value)) => self.made(Datum::from_owned(value), self.context.meter.mark()),
            Ok(None) => Ok(Datum::Undefined),
            Err(message) => Err(Error::refused(message)),
        }
    }

    fn subquery<'f>(
        &'f self,
        kind: SubqueryKind,
        query: &'f crate::bound::BoundQuery,
        frame: &'f Frame<'f>,
    ) -> Result<Datum<'f>> {
        match kind {
            SubqueryKind::Exists => Ok(Datum::Bool(self.has_row(query, frame)?)),
            SubqueryKind::All => Ok(Datum::Bool(self.all_rows_pass(query, frame)?)),
            SubqueryKind::Array => {
                let rows = self.rows(query, frame)?;
                Ok(Datum::from_owned(Value::Array(rows)))
            }
            SubqueryKind::Scalar => {
                let mut rows = self.rows(query, frame)?;
                if rows.len() > 1 {
                    let message =
                        "The cardinality of a scalar subquery result set cannot be greater than one.";
                    return Err(armilla_sql::QueryError::plain(message).into());
                }
                Ok(rows.pop().map_or(Datum::Undefined, Datum::from_owned))
            }
            SubqueryKind::First => {
                let rows = self.rows(query, frame)?;
                Ok(rows.into_iter().next().map_or(Datum::Undefined, Datum::from_owned))
            }
            SubqueryKind::Last => {
                let mut rows = self.rows(query, frame)?;
                Ok(rows.pop().map_or(Datum::Undefined, Datum::from_owned))
            }
        }
    }

    /// Writes the value of an expression as JSON. Returns false, having written nothing, where it is undefined.
    pub fn write(&self, expr: &Expr, frame: &Frame<'_>, out: &mut Vec<u8>) -> Result<bool> {
        match expr {
            Expr::Slot(slot) => {
                if let Bound::Item(source, item, _) = frame.find(*slot) {
                    source.write_json(item, out);
                    return Ok(true);
                }
            }
            Expr::Object(members) => {
                self.write_members(members, frame, out)?;
                return Ok(true);
            }
            Expr::Array(elements) => {
                self.step_list(elements.len())?;
                out.push(b'[');
                let start = out.len();
                for element in elements {
                    if out.len() > start {
                        out.push(b',');
                    }
                    if !self.write(element, frame, out)? && out.len() > start {
                        out.pop();
                    }
                    self.check_row(out)?;
                }
                out.push(b']');
                return Ok(true);
            }
            _ => {}
        }
        let mark = self.context.meter.mark();
        let datum = self.eval(expr, frame)?;
        let is_defined = datum.is_defined();
        match (&datum, expr) {
            // What an item has is shown as the item shows it; what was computed is text where it is not finite.
            (Datum::Double(number), Expr::Path { .. } | Expr::Slot(_)) if !number.is_finite() => {
                json::write(&Value::Double(*number), out);
            }
            _ => datum.write_json(out),
        }
        // What was made for it is written and gone.
        self.context.meter.release(mark);
        Ok(is_defined)
    }

    /// Checks that the row that is being written has not become too large.
    #[inline]
    pub(crate) fn check_row(&self, out: &[u8]) -> Result<()> {
        if out.len() - self.row_start.get() <= ROW_BYTES_MAX {
            return Ok(());
        }
        Err(Error::too_large(format!(
            "a row would take more than the {} MiB that a row may have; select fewer or smaller values",
            ROW_BYTES_MAX >> 20
        )))
    }

    fn write_members(&self, members: &[(String, Expr)], frame: &Frame<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.step_list(members.len())?;
        out.push(b'{');
        let start = out.len();
        for (name, member) in members {
            let before = out.len();
            if before > start {
                out.push(b',');
            }
            json::write_string(name, out);
            out.push(b':');
            if !self.write(member, frame, out)? {
                out.truncate(before);
            }
            self.check_row(out)?;
        }
        out.push(b'}');
        Ok(())
    }

    /// Notes where the row begins that is about to be written.
    pub(crate) fn begin_row(&self, start: usize) {
        self.row_start.set(start);
    }

    /// Writes one row as JSON. Returns false, having written nothing, where there is no row.
    pub(crate) fn write_row(
        &self,
        projection: &Projection,
        frame: &Frame<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        match projection {
            Projection::Value(expr) => self.write(expr, frame, out),
            Projection::Fields(fields) => {
                self.write_members(fields, frame, out)?;
                Ok(true)
            }
        }
    }

    /// Writes one row as JSON, as a page has it. Returns false, having written nothing, where there is no row.
    pub fn project(&self, projection: &Projection, frame: &Frame<'_>, out: &mut Vec<u8>) -> Result<bool> {
        Row::bound(self, projection, frame).write(&JsonRows, out)
    }

    /// Returns one row as a value; undefined where there is no row.
    pub fn project_datum<'f>(
        &'f self,
        projection: &'f Projection,
        frame: &'f Frame<'f>,
    ) -> Result<Datum<'f>> {
        match projection {
            Projection::Value(expr) => self.eval(expr, frame),
            Projection::Fields(fields) => self.object(fields, frame),
        }
    }
}

fn node_at<'f>(root: Node<'f>, steps: &[PathStep]) -> Datum<'f> {
    let mut node = root;
    for step in steps {
        let below = match step {
            PathStep::Name(name) if node.kind() == Kind::Object => node.get(name),
            PathStep::Element(index) if node.kind() == Kind::Array => {
                usize::try_from(*index).ok().and_then(|index| node.element(index))
            }
            _ => None,
        };
        match below {
            Some(below) => node = below,
            None => return Datum::Undefined,
        }
    }
    Datum::from_node(node)
}

fn step<'f>(datum: Datum<'f>, step: &PathStep) -> Datum<'f> {
    match step {
        PathStep::Name(name) => datum.into_member(name),
        PathStep::Element(index) => {
            usize::try_from(*index).map_or(Datum::Undefined, |index| datum.into_element(index))
        }
    }
}

fn system_property(source: &dyn Source, item: &SourceItem, property: SystemProperty) -> Datum<'static> {
    match property {
        SystemProperty::Ts => Datum::Int(i64::from(item.ts)),
        other => Datum::from_owned(Value::String(source.system(item, other))),
    }
}

/// Returns an item with its system properties, in the order in which they are written.
fn whole_item(source: &dyn Source, item: &SourceItem, root: Node<'_>) -> Value {
    let mut json = Vec::new();
    source.write_json(item, &mut json);
    // What a source writes is JSON; were it not, the content alone is still right.
    json::parse_extended(&json).unwrap_or_else(|_| root.to_value())
}

#[cfg(test)]
mod tests;
