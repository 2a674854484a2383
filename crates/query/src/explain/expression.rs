//! Bound expressions as text that looks like the query language.

use std::fmt::{self, Display, Formatter, Write};

use armilla_functions::LikeShape;
use armilla_functions::operators::{Arithmetic, Comparison, Unary};
use armilla_value::json;

use crate::bound::BoundQuery;
use crate::expr::{Expr, PathStep, Pattern, SubqueryKind};
use crate::physical::TERM_SLOT;

/// Returns how the value in a slot is written.
pub(super) fn slot_name(slot: usize) -> String {
    match slot {
        0 => "c".to_owned(),
        TERM_SLOT => "value".to_owned(),
        slot => format!("${slot}"),
    }
}

/// Returns things separated by commas.
pub(super) fn comma_separated<T: Display>(things: &[T]) -> String {
    let mut text = String::new();
    for (number, thing) in things.iter().enumerate() {
        let separator = if number == 0 { "" } else { ", " };
        write!(text, "{separator}{thing}").expect("a string takes all text");
    }
    text
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Undefined => f.write_str("undefined"),
            Expr::Constant(value) => f.write_str(&json::to_string(value)),
            Expr::Slot(slot) => f.write_str(&slot_name(*slot)),
            Expr::Path { slot, steps } => {
                f.write_str(&slot_name(*slot))?;
                steps.iter().try_for_each(|step| match step {
                    PathStep::Name(name) => member(name, f),
                    PathStep::Element(index) => write!(f, "[{index}]"),
                })
            }
            Expr::System(property) => write!(f, "c.{}", property.name()),
            Expr::Computed { name, .. } => {
                f.write_str("c")?;
                member(name, f)
            }
            Expr::DocumentId => f.write_str("DOCUMENTID(c)"),
            Expr::Member { object, name } => {
                operand(object, f)?;
                member(name, f)
            }
            Expr::Index { object, index } => {
                operand(object, f)?;
                write!(f, "[{index}]")
            }
            Expr::Unary(operator, inner) => {
                f.write_str(match operator {
                    Unary::Minus => "-",
                    Unary::Plus => "+",
                    Unary::BitNot => "~",
                    Unary::Not => "NOT ",
                })?;
                operand(inner, f)
            }
            Expr::Compare(operator, left, right) => infix(left, comparison(*operator), right, f),
            Expr::Arithmetic(operator, left, right) => infix(left, arithmetic(*operator), right, f),
            Expr::Concat(left, right) => infix(left, "||", right, f),
            Expr::And(operands) => chain(operands, "AND", "true", f),
            Expr::Or(operands) => chain(operands, "OR", "false", f),
            Expr::Not(inner) => {
                f.write_str("NOT ")?;
                operand(inner, f)
            }
            Expr::Conditional(condition, yes, no) => {
                operand(condition, f)?;
                f.write_str(" ? ")?;
                operand(yes, f)?;
                f.write_str(" : ")?;
                operand(no, f)
            }
            Expr::Coalesce(left, right) => infix(left, "??", right, f),
            Expr::In(value, list) => {
                operand(value, f)?;
                write!(f, " IN ({})", comma_separated(list))
            }
            Expr::Between(value, low, high) => {
                operand(value, f)?;
                f.write_str(" BETWEEN ")?;
                operand(low, f)?;
                f.write_str(" AND ")?;
                operand(high, f)
            }
            Expr::Like { value, pattern } => {
                operand(value, f)?;
                f.write_str(" LIKE ")?;
                like(pattern, f)
            }
            Expr::Call(function, arguments) => {
                write!(f, "{}({})", function.name(), comma_separated(arguments))
            }
            Expr::Udf(name, arguments) => write!(f, "udf.{name}({})", comma_separated(arguments)),
            Expr::Array(elements) => write!(f, "[{}]", comma_separated(elements)),
            Expr::Object(members) => {
                f.write_str("{")?;
                for (number, (name, value)) in members.iter().enumerate() {
                    let separator = if number == 0 { "" } else { ", " };
                    write!(f, "{separator}{}: {value}", quoted(name))?;
                }
                f.write_str("}")
            }
            Expr::Subquery(kind, query) => {
                let word = match kind {
                    SubqueryKind::Scalar => "",
                    SubqueryKind::Array => "ARRAY",
                    SubqueryKind::Exists => "EXISTS",
                    SubqueryKind::All => "ALL",
                    SubqueryKind::First => "FIRST",
                    SubqueryKind::Last => "LAST",
                };
                write!(f, "{word}({query})")
            }
            Expr::Let { slot, value, body } => write!(f, "LET {} = {value} IN {body}", slot_name(*slot)),
            Expr::GroupKey(number) => write!(f, "key({number})"),
            Expr::Aggregate(number) => write!(f, "aggregate({number})"),
        }
    }
}

impl Display for BoundQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("SELECT ")?;
        if self.distinct {
            f.write_str("DISTINCT ")?;
        }
        write!(f, "{}", self.projection)?;
        for (number, source) in self.sources.iter().enumerate() {
            write!(f, " {} {source}", if number == 0 { "FROM" } else { "JOIN" })?;
        }
        if let Some(filter) = &self.filter {
            write!(f, " WHERE {filter}")?;
        }
        if let Some(grouping) = &self.grouping {
            let aggregates = grouping.aggregates.iter();
            let texts = aggregates.map(|(aggregate, argument)| format!("{}({argument})", aggregate.name()));
            write!(f, " GATHER {}", texts.collect::<Vec<_>>().join(", "))?;
            if !grouping.keys.is_empty() {
                write!(f, " GROUP BY {}", comma_separated(&grouping.keys))?;
            }
        }
        Ok(())
    }
}

/// Returns a text between quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    json::write_string(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn member(name: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let is_plain = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain { write!(f, ".{name}") } else { write!(f, "[{}]", quoted(name)) }
}

/// Writes an operand, in parentheses where it could be misread.
fn operand(expr: &Expr, f: &mut Formatter<'_>) -> fmt::Result {
    let is_operation = matches!(
        expr,
        Expr::Unary(..)
            | Expr::Compare(..)
            | Expr::Arithmetic(..)
            | Expr::Concat(..)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::Conditional(..)
            | Expr::Coalesce(..)
            | Expr::In(..)
            | Expr::Between(..)
            | Expr::Like { .. }
            | Expr::Let { .. }
    );
    if is_operation { write!(f, "({expr})") } else { write!(f, "{expr}") }
}

fn infix(left: &Expr, operator: &str, right: &Expr, f: &mut Formatter<'_>) -> fmt::Result {
    operand(left, f)?;
    write!(f, " {operator} ")?;
    operand(right, f)
}

fn chain(operands: &[Expr], operator: &str, empty: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let Some((first, rest)) = operands.split_first() else { return f.write_str(empty) };
    operand(first, f)?;
    for next in rest {
        write!(f, " {operator} ")?;
        operand(next, f)?;
    }
    Ok(())
}

fn like(pattern: &Pattern, f: &mut Formatter<'_>) -> fmt::Result {
    match pattern {
        Pattern::Constant(pattern) => match pattern.shape() {
            LikeShape::Exact(text) => f.write_str(&quoted(text)),
            LikeShape::Prefix(text) => f.write_str(&quoted(&format!("{text}%"))),
            LikeShape::Suffix(text) => f.write_str(&quoted(&format!("%{text}"))),
            LikeShape::Contains(text) => f.write_str(&quoted(&format!("%{text}%"))),
            LikeShape::Other => write!(f, "{}...", quoted(pattern.literal_prefix())),
        },
        Pattern::Dynamic(pattern, escape) => {
            operand(pattern, f)?;
            match escape {
                Some(escape) => write!(f, " ESCAPE {}", quoted(&escape.to_string())),
                None => Ok(()),
            }
        }
    }
}

fn comparison(operator: Comparison) -> &'static str {
    match operator {
        Comparison::Equal => "=",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

fn arithmetic(operator: Arithmetic) -> &'static str {
    match operator {
        Arithmetic::Add => "+",
        Arithmetic::Subtract => "-",
        Arithmetic::Multiply => "*",
        Arithmetic::Divide => "/",
        Arithmetic::Remainder => "%",
        Arithmetic::BitAnd => "&",
        Arithmetic::BitOr => "|",
        Arithmetic::BitXor => "^",
        Arithmetic::ShiftLeft => "<<",
        Arithmetic::ShiftRight => ">>",
        Arithmetic::ShiftRightZeroFill => ">>>",
    }
}
