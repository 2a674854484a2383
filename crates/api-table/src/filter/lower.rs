//! Lowers a filter to what the query engine can narrow by.
//!
//! The condition is true for every entity that matches, and maybe for others: negations are pushed down to the
//! comparisons, and a comparison that the index cannot narrow becomes true. Where the two agree on every entity,
//! [`Lowered::is_exact`] says so.
//!
//! They can disagree because items keep several types as strings: a text compares alike whether it is a string, a point
//! in time or base64. Which it is stands in `$edm`, and counts only where it fits.

use armilla_engine::plans::{Comparison, Expr, Function, ITEM_SLOT, PathStep, SystemProperty};
use armilla_value::Value;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::limits::CONDITION_PARTS_MAX;
use super::{Condition, Filter, Operator};
use crate::edm::{
    EdmValue, Ticks, guid_text, is_stored_base64, is_stored_guid, parse_special_double, special_double,
};
use crate::entity::{TYPES_MEMBER, stored_name};

/// What the query engine can make of a filter.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Lowered {
    /// The partition key that every match has. The condition leaves it out: the query is to be asked of that logical
    /// partition.
    pub(crate) partition_key: Option<String>,
    /// The row key that every match has. It is in the condition, too.
    pub(crate) row_key: Option<String>,
    /// A condition on the item that every match satisfies; `None` if there is nothing to narrow by.
    pub(crate) condition: Option<Expr>,
    /// Whether every entity of that partition which satisfies the condition matches, so that nobody need ask.
    pub(crate) is_exact: bool,
}

impl Filter {
    /// Lowers the filter.
    pub(crate) fn lower(&self) -> Lowered {
        let mut lowering = Lowering { parts: 0, is_exact: true };
        let (mut partition_key, mut row_key) = (None, None);
        let mut parts = Vec::new();
        for part in conjuncts(&self.root) {
            match equal_key(part) {
                Some(("PartitionKey", key)) if partition_key.is_none() => {
                    partition_key = Some(key.to_owned());
                    continue;
                }
                Some(("RowKey", key)) if row_key.is_none() => row_key = Some(key.to_owned()),
                _ => {}
            }
            parts.push(lowering.condition(part, true));
        }
        let Lowering { parts: count, mut is_exact } = lowering;
        let mut condition = match Narrowed::all(parts) {
            Narrowed::Always => None,
            narrowed => Some(narrowed.into_expr()),
        };
        if count > CONDITION_PARTS_MAX {
            (condition, is_exact) = (None, false);
        }
        Lowered { partition_key, row_key, condition, is_exact }
    }
}

/// Returns the conditions all of which must hold.
fn conjuncts(root: &Condition) -> Vec<&Condition> {
    let mut found = Vec::new();
    let mut waiting = vec![root];
    while let Some(condition) = waiting.pop() {
        match condition {
            Condition::And(parts) => waiting.extend(parts.iter().rev()),
            other => found.push(other),
        }
    }
    found
}

/// Returns name and value of a key, where a condition asks for one.
fn equal_key(condition: &Condition) -> Option<(&str, &str)> {
    match condition {
        Condition::Compare { name, operator: Operator::Equal, value: EdmValue::String(key) }
            if is_key(name) =>
        {
            Some((name, key))
        }
        _ => None,
    }
}

fn is_key(name: &str) -> bool {
    matches!(name, "PartitionKey" | "RowKey")
}

/// A condition for the query engine.
enum Narrowed {
    Always,
    Never,
    Only(Expr),
    All(Vec<Narrowed>),
    Any(Vec<Narrowed>),
}

impl Narrowed {
    fn constant(truth: bool) -> Narrowed {
        if truth { Narrowed::Always } else { Narrowed::Never }
    }

    fn all(parts: Vec<Narrowed>) -> Narrowed {
        if parts.iter().any(|part| matches!(part, Narrowed::Never)) {
            return Narrowed::Never;
        }
        let mut parts: Vec<_> = parts.into_iter().filter(|part| !matches!(part, Narrowed::Always)).collect();
        match parts.len() {
            0 => Narrowed::Always,
            1 => parts.remove(0),
            _ => Narrowed::All(parts),
        }
    }

    fn any(parts: Vec<Narrowed>) -> Narrowed {
        if parts.iter().any(|part| matches!(part, Narrowed::Always)) {
            return Narrowed::Always;
        }
        let mut parts: Vec<_> = parts.into_iter().filter(|part| !matches!(part, Narrowed::Never)).collect();
        match parts.len() {
            0 => Narrowed::Never,
            1 => parts.remove(0),
            _ => Narrowed::Any(parts),
        }
    }

    fn into_expr(self) -> Expr {
        let list = |parts: Vec<Narrowed>| parts.into_iter().map(Narrowed::into_expr).collect();
        match self {
            Narrowed::Always => Expr::constant(Value::Bool(true)),
            Narrowed::Never => Expr::constant(Value::Bool(false)),
            Narrowed::Only(expr) => expr,
            Narrowed::All(parts) => Expr::And(list(parts)),
            Narrowed::Any(parts) => Expr::Or(list(parts)),
        }
    }
}

struct Lowering {
    /// Comparisons and tests so far.
    parts: usize,
    is_exact: bool,
}

/// A property inside of an item, and that of its type.
struct Path {
    value: Expr,
    edm_type: Expr,
}

impl Path {
    fn of(name: &str) -> Path {
        let name = stored_name(name);
        Path { value: property(&[&name]), edm_type: property(&[TYPES_MEMBER, &name]) }
    }

    /// Asks for a double that JSON has no number for.
    fn is_special(&self, special: &str) -> Narrowed {
        let equals = |path: &Expr, text: &str| {
            compare(Comparison::Equal, path.clone(), Expr::constant(Value::String(text.to_owned())))
        };
        Narrowed::Only(Expr::And(vec![equals(&self.value, special), equals(&self.edm_type, "Double")]))
    }

    fn test(&self, function: Function) -> Narrowed {
        Narrowed::Only(Expr::Call(function, vec![self.value.clone()]))
    }

    fn test_not(&self, function: Function) -> Narrowed {
        Narrowed::Only(Expr::Not(Box::new(Expr::Call(function, vec![self.value.clone()]))))
    }
}

/// Returns what lies at a path in an item.
pub(crate) fn property(names: &[&str]) -> Expr {
    let steps = names.iter().map(|name| PathStep::Name((*name).to_owned())).collect();
    Expr::Path { slot: ITEM_SLOT, steps }
}

fn compare(comparison: Comparison, left: Expr, right: Expr) -> Expr {
    Expr::Compare(comparison, Box::new(left), Box::new(right))
}

fn comparison(operator: Operator) -> Comparison {
    match operator {
        Operator::Equal => Comparison::Equal,
        Operator::NotEqual => Comparison::NotEqual,
        Operator::Greater => Comparison::Greater,
        Operator::GreaterOrEqual => Comparison::GreaterOrEqual,
        Operator::Less => Comparison::Less,
        Operator::LessOrEqual => Comparison::LessOrEqual,
    }
}

impl Lowering {
    /// Lowers a condition, or its opposite where it is not wanted.
    fn condition(&mut self, condition: &Condition, wanted: bool) -> Narrowed {
        match condition {
            Condition::Constant(truth) => Narrowed::constant(*truth == wanted),
            Condition::Compare { name, operator, value } => self.comparison(name, *operator, value, wanted),
            Condition::Not(inner) => self.condition(inner, !wanted),
            Condition::And(parts) | Condition::Or(parts) => {
                let is_all = matches!(condition, Condition::And(_)) == wanted;
                let parts = parts.iter().map(|part| self.condition(part, wanted)).collect();
                if is_all { Narrowed::all(parts) } else { Narrowed::any(parts) }
            }
        }
    }

    fn comparison(&mut self, name: &str, operator: Operator, value: &EdmValue, wanted: bool) -> Narrowed {
        if is_key(name) {
            return self.key(name, operator, value, wanted);
        }
        if name == "Timestamp" {
            return self.timestamp(operator, value, wanted);
        }
        let path = Path::of(name);
        match value {
            EdmValue::Boolean(truth) => self.boolean(&path, operator, *truth, wanted),
            EdmValue::Int32(number) => self.number(&path, operator, Value::Int64(i64::from(*number)), wanted),
            EdmValue::Int64(number) => self.number(&path, operator, Value::Int64(*number), wanted),
            EdmValue::Double(number) => match special_double(*number) {
                None => self.number(&path, operator, Value::Double(*number), wanted),
                Some(special) => self.special(&path, operator, special, wanted),
            },
            EdmValue::String(text) => self.string(&path, operator, text, wanted),
            EdmValue::DateTime(ticks) => self.text(&path, operator, &ticks.text(), wanted),
            EdmValue::Guid(bytes) => self.text(&path, operator, &guid_text(bytes), wanted),
            EdmValue::Binary(bytes) => match operator {
                Operator::Equal => self.text(&path, operator, STANDARD.encode(bytes).as_bytes(), wanted),
                // The order of base64 is not that of bytes.
                _ if wanted => self.narrowed(path.test(Function::IsString)),
                _ => self.narrowed(Narrowed::Always),
            },
        }
    }

    /// Keys are there in every entity, and strings.
    fn key(&mut self, name: &str, operator: Operator, value: &EdmValue, wanted: bool) -> Narrowed {
        let EdmValue::String(text) = value else { return Narrowed::constant(!wanted) };
        let operator = if wanted { operator } else { operator.opposite() };
        self.parts += 1;
        let text = Expr::constant(Value::String(text.clone()));
        Narrowed::Only(compare(comparison(operator), Path::of(name).value, text))
    }

    /// Items show the second in which they were written.
    fn timestamp(&mut self, operator: Operator, value: &EdmValue, wanted: bool) -> Narrowed {
        let EdmValue::DateTime(ticks) = value else { return Narrowed::constant(!wanted) };
        let comparison = match if wanted { operator } else { operator.opposite() } {
            Operator::Equal => Comparison::Equal,
            Operator::NotEqual => return self.narrowed(Narrowed::Always),
            Operator::Greater | Operator::GreaterOrEqual => Comparison::GreaterOrEqual,
            Operator::Less | Operator::LessOrEqual => Comparison::LessOrEqual,
        };
        self.parts += 1;
        let second = Expr::constant(Value::Int64(ticks.unix_second()));
        self.narrowed(Narrowed::Only(compare(comparison, Expr::System(SystemProperty::Ts), second)))
    }

    fn boolean(&mut self, path: &Path, operator: Operator, truth: bool, wanted: bool) -> Narrowed {
        let truth = match operator {
            Operator::Equal => truth,
            Operator::NotEqual => !truth,
            // Neither is before the other.
            _ => return Narrowed::constant(!wanted),
        };
        let compared = self.compared(path, Operator::Equal, Value::Bool(truth == wanted));
        if wanted { compared } else { Narrowed::any(vec![path.test_not(Function::IsBool), compared]) }
    }

    fn number(&mut self, path: &Path, operator: Operator, number: Value, wanted: bool) -> Narrowed {
        if !wanted {
            // Of the doubles that stand there as strings, some belong here; with `eq`, all do.
            self.is_exact &= operator == Operator::Equal;
            let compared = self.compared(path, operator.opposite(), number);
            return Narrowed::any(vec![path.test_not(Function::IsNumber), compared]);
        }
        let specials: &[&str] = match operator {
            Operator::Equal => &[],
            Operator::NotEqual => &["NaN", "Infinity", "-Infinity"],
            Operator::Greater | Operator::GreaterOrEqual => &["Infinity"],
            Operator::Less | Operator::LessOrEqual => &["-Infinity"],
        };
        self.parts += specials.len();
        let mut parts = vec![self.compared(path, operator, number)];
        parts.extend(specials.iter().map(|special| path.is_special(special)));
        Narrowed::any(parts)
    }

    fn special(&mut self, path: &Path, operator: Operator, special: &str, wanted: bool) -> Narrowed {
        match operator {
            Operator::NotEqual => {}
            // Nothing equals it, nothing is before or behind it.
            _ if special == "NaN" => return Narrowed::constant(!wanted),
            Operator::Equal if wanted => return path.is_special(special),
            _ => {}
        }
        self.narrowed(if wanted { path.test(Function::IsDefined) } else { Narrowed::Always })
    }

    fn string(&mut self, path: &Path, operator: Operator, text: &str, wanted: bool) -> Narrowed {
        let value = Value::String(text.to_owned());
        if !wanted {
            let compared = self.compared(path, operator.opposite(), value);
            let is_typed = Narrowed::Only(Expr::Call(Function::IsDefined, vec![path.edm_type.clone()]));
            return self.narrowed(Narrowed::any(vec![path.test_not(Function::IsString), compared, is_typed]));
        }
        // A text that no other type can have is a string.
        self.is_exact &= operator == Operator::Equal && !may_be_typed(text);
        self.compared(path, operator, value)
    }

    /// Narrows by a text that stands for another type.
    fn text(&mut self, path: &Path, operator: Operator, text: &[u8], wanted: bool) -> Narrowed {
        if !wanted {
            return self.narrowed(Narrowed::Always);
        }
        let text = String::from_utf8_lossy(text).into_owned();
        let compared = self.compared(path, operator, Value::String(text));
        self.narrowed(compared)
    }

    /// Notes that a condition lets more through than matches.
    fn narrowed(&mut self, narrowed: Narrowed) -> Narrowed {
        self.is_exact = false;
        narrowed
    }

    fn compared(&mut self, path: &Path, operator: Operator, value: Value) -> Narrowed {
        self.parts += 1;
        let value = Expr::constant(value);
        let one = |comparison| compare(comparison, path.value.clone(), value.clone());
        // Two orders instead of `!=`, which is true across types.
        Narrowed::Only(match operator {
            Operator::NotEqual => Expr::Or(vec![one(Comparison::Less), one(Comparison::Greater)]),
            operator => one(comparison(operator)),
        })
    }
}

/// Says whether an item could keep a value of another type as this text.
fn may_be_typed(text: &str) -> bool {
    is_stored_base64(text.as_bytes())
        || Ticks::parse_stored(text).is_some()
        || is_stored_guid(text)
        || parse_special_double(text).is_some()
}
