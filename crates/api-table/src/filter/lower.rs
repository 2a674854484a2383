//! Lowers a filter to what the query engine can narrow by.
//!
//! The condition is true for every entity that matches, and maybe for others: negations are pushed down to the
//! comparisons, and a comparison that the index cannot narrow becomes true. Where the two agree on every entity,
//! [`Lowered::is_exact`] says so.
//!
//! They can disagree because items keep several types as strings: a text compares alike whether it is a string, a point
//! in time or base64. Which it is stands in `$edm`, and counts only where it fits.

use armilla_value::Value;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::limits::CONDITION_BYTES_MAX;
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
    /// A condition over `c` that every match satisfies; `None` if there is nothing to narrow by.
    pub(crate) condition: Option<String>,
    /// The values in the condition, by name: `@p0`, `@p1`…
    pub(crate) parameters: Vec<(String, Value)>,
    /// Whether every entity of that partition which satisfies the condition matches, so that nobody need ask.
    pub(crate) is_exact: bool,
}

impl Filter {
    /// Lowers the filter.
    pub(crate) fn lower(&self) -> Lowered {
        let mut lowering = Lowering { parameters: Vec::new(), is_exact: true };
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
        let Lowering { mut parameters, mut is_exact } = lowering;
        let condition = match Narrowed::all(parts) {
            Narrowed::Always => None,
            narrowed => {
                let mut text = String::new();
                narrowed.print(&mut text);
                Some(text)
            }
        };
        let condition = condition.filter(|text| text.len() <= CONDITION_BYTES_MAX).or_else(|| {
            is_exact &= parameters.is_empty();
            parameters.clear();
            None
        });
        Lowered { partition_key, row_key, condition, parameters, is_exact }
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
    Text(String),
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

    fn print(&self, out: &mut String) {
        let (parts, between) = match self {
            Narrowed::Always => return out.push_str("true"),
            Narrowed::Never => return out.push_str("false"),
            Narrowed::Text(text) => return out.push_str(text),
            Narrowed::All(parts) => (parts, " AND "),
            Narrowed::Any(parts) => (parts, " OR "),
        };
        for (index, part) in parts.iter().enumerate() {
            out.push_str(if index == 0 { "(" } else { between });
            part.print(out);
        }
        out.push(')');
    }
}

struct Lowering {
    parameters: Vec<(String, Value)>,
    is_exact: bool,
}

/// A property inside an item: its path, and that of its type.
struct Path {
    value: String,
    edm_type: String,
}

impl Path {
    fn of(name: &str) -> Path {
        let name = armilla_value::json::to_string(&Value::String(stored_name(name).into_owned()));
        Path { value: format!("c[{name}]"), edm_type: format!("c[\"{TYPES_MEMBER}\"][{name}]") }
    }

    fn compare(&self, operator: Operator, parameter: &str) -> Narrowed {
        let value = &self.value;
        // Two orders instead of `!=`, which is true across types.
        if operator == Operator::NotEqual {
            return Narrowed::Text(format!("({value} < {parameter} OR {value} > {parameter})"));
        }
        Narrowed::Text(format!("{value} {} {parameter}", symbol(operator)))
    }

    /// Asks for a double that JSON has no number for.
    fn is_special(&self, special: &str) -> Narrowed {
        Narrowed::Text(format!("({} = \"{special}\" AND {} = \"Double\")", self.value, self.edm_type))
    }

    fn test(&self, function: &str) -> Narrowed {
        Narrowed::Text(format!("{function}({})", self.value))
    }

    fn test_not(&self, function: &str) -> Narrowed {
        Narrowed::Text(format!("NOT {function}({})", self.value))
    }
}

fn symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => "=",
        Operator::NotEqual => "!=",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
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
                _ if wanted => self.narrowed(path.test("IS_STRING")),
                _ => self.narrowed(Narrowed::Always),
            },
        }
    }

    /// Keys are there in every entity, and strings.
    fn key(&mut self, name: &str, operator: Operator, value: &EdmValue, wanted: bool) -> Narrowed {
        let EdmValue::String(text) = value else { return Narrowed::constant(!wanted) };
        let operator = if wanted { operator } else { operator.opposite() };
        let parameter = self.parameter(Value::String(text.clone()));
        Narrowed::Text(format!("{} {} {parameter}", Path::of(name).value, symbol(operator)))
    }

    /// Items show the second in which they were written.
    fn timestamp(&mut self, operator: Operator, value: &EdmValue, wanted: bool) -> Narrowed {
        let EdmValue::DateTime(ticks) = value else { return Narrowed::constant(!wanted) };
        let symbol = match if wanted { operator } else { operator.opposite() } {
            Operator::Equal => "=",
            Operator::NotEqual => return self.narrowed(Narrowed::Always),
            Operator::Greater | Operator::GreaterOrEqual => ">=",
            Operator::Less | Operator::LessOrEqual => "<=",
        };
        let parameter = self.parameter(Value::Int64(ticks.unix_second()));
        self.narrowed(Narrowed::Text(format!("c[\"_ts\"] {symbol} {parameter}")))
    }

    fn boolean(&mut self, path: &Path, operator: Operator, truth: bool, wanted: bool) -> Narrowed {
        let truth = match operator {
            Operator::Equal => truth,
            Operator::NotEqual => !truth,
            // Neither is before the other.
            _ => return Narrowed::constant(!wanted),
        };
        let parameter = self.parameter(Value::Bool(truth == wanted));
        let compared = path.compare(Operator::Equal, &parameter);
        if wanted { compared } else { Narrowed::any(vec![path.test_not("IS_BOOL"), compared]) }
    }

    fn number(&mut self, path: &Path, operator: Operator, number: Value, wanted: bool) -> Narrowed {
        let parameter = self.parameter(number);
        if !wanted {
            // Of the doubles that stand there as strings, some belong here; with `eq`, all do.
            self.is_exact &= operator == Operator::Equal;
            let compared = path.compare(operator.opposite(), &parameter);
            return Narrowed::any(vec![path.test_not("IS_NUMBER"), compared]);
        }
        let specials: &[&str] = match operator {
            Operator::Equal => &[],
            Operator::NotEqual => &["NaN", "Infinity", "-Infinity"],
            Operator::Greater | Operator::GreaterOrEqual => &["Infinity"],
            Operator::Less | Operator::LessOrEqual => &["-Infinity"],
        };
        let mut parts = vec![path.compare(operator, &parameter)];
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
        self.narrowed(if wanted { path.test("IS_DEFINED") } else { Narrowed::Always })
    }

    fn string(&mut self, path: &Path, operator: Operator, text: &str, wanted: bool) -> Narrowed {
        let parameter = self.parameter(Value::String(text.to_owned()));
        if !wanted {
            let compared = path.compare(operator.opposite(), &parameter);
            let is_typed = Narrowed::Text(format!("IS_DEFINED({})", path.edm_type));
            return self.narrowed(Narrowed::any(vec![path.test_not("IS_STRING"), compared, is_typed]));
        }
        // A text that no other type can have is a string.
        self.is_exact &= operator == Operator::Equal && !may_be_typed(text);
        path.compare(operator, &parameter)
    }

    /// Narrows by a text that stands for another type.
    fn text(&mut self, path: &Path, operator: Operator, text: &[u8], wanted: bool) -> Narrowed {
        if !wanted {
            return self.narrowed(Narrowed::Always);
        }
        let text = String::from_utf8_lossy(text).into_owned();
        let parameter = self.parameter(Value::String(text));
        let compared = path.compare(operator, &parameter);
        self.narrowed(compared)
    }

    /// Notes that a condition lets more through than matches.
    fn narrowed(&mut self, narrowed: Narrowed) -> Narrowed {
        self.is_exact = false;
        narrowed
    }

    fn parameter(&mut self, value: Value) -> String {
        let name = format!("@p{}", self.parameters.len());
        self.parameters.push((name.clone(), value));
        name
    }
}

/// Says whether an item could keep a value of another type as this text.
fn may_be_typed(text: &str) -> bool {
    is_stored_base64(text.as_bytes())
        || Ticks::parse_stored(text).is_some()
        || is_stored_guid(text)
        || parse_special_double(text).is_some()
}
