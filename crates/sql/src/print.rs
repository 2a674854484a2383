//! Syntax tree to text that parses to an equal tree.
//!
//! The outermost query has a line per clause and per JOIN; nested ones stay on their line. Every operator
//! with operands on both sides is in parentheses, so that no reader has to know how tightly it binds. Strings
//! are written as in JSON, properties as `.name` where that is possible.
//!
//! Identifiers are written as they are, whatever they contain: a rewrite can thus leave a mark for the client
//! to fill in, such as `{documentdb-formattableorderbyquery-filter}`. Such a text no longer parses until it
//! is filled in.

#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Write};

use crate::ast::{
    Collection, CollectionKind, Count, CountKind, Direction, Expr, ExprKind, Literal, Name, OrderBy,
    OrderByKind, PathSegment, Query, SelectItem, Selection, Source, SourceKind, UnaryOp,
};
use crate::quote::push_quoted;
use crate::token::is_identifier;

impl Display for Query {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_query(formatter, self, '\n')
    }
}

impl Display for Expr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr(formatter, self)
    }
}

fn write_query(out: &mut fmt::Formatter<'_>, query: &Query, between: char) -> fmt::Result {
    out.write_str("SELECT ")?;
    if query.distinct {
        out.write_str("DISTINCT ")?;
    }
    if let Some(top) = &query.top {
        out.write_str("TOP ")?;
        write_count(out, &top.count)?;
        out.write_char(' ')?;
    }
    match &query.selection {
        Selection::Star => out.write_char('*')?,
        Selection::Value(value) => {
            out.write_str("VALUE ")?;
            write_expr(out, value)?;
        }
        Selection::List(items) => write_separated(out, items, ", ", write_select_item)?,
    }
    if let Some(from) = &query.from {
        write!(out, "{between}FROM ")?;
        for (position, source) in from.sources.iter().enumerate() {
            if position > 0 {
                write!(out, "{between}JOIN ")?;
            }
            write_source(out, source)?;
        }
    }
    if let Some(filter) = &query.filter {
        write!(out, "{between}WHERE ")?;
        write_expr(out, filter)?;
    }
    if let Some(group_by) = &query.group_by {
        write!(out, "{between}GROUP BY ")?;
        write_separated(out, &group_by.keys, ", ", write_expr)?;
    }
    if let Some(order_by) = &query.order_by {
        write!(out, "{between}ORDER BY ")?;
        write_order_by(out, order_by)?;
    }
    if let Some(offset_limit) = &query.offset_limit {
        write!(out, "{between}OFFSET ")?;
        write_count(out, &offset_limit.offset)?;
        out.write_str(" LIMIT ")?;
        write_count(out, &offset_limit.limit)?;
    }
    Ok(())
}

fn write_count(out: &mut fmt::Formatter<'_>, count: &Count) -> fmt::Result {
    match &count.kind {
        CountKind::Integer(integer) => write!(out, "{integer}"),
        CountKind::Double(double) => write_double(out, *double),
        CountKind::Parameter(name) => out.write_str(name),
    }
}

fn write_select_item(out: &mut fmt::Formatter<'_>, item: &SelectItem) -> fmt::Result {
    let is_path = matches!(item.expr.kind, ExprKind::Identifier(_) | ExprKind::Member { .. });
    if item.parenthesised && is_path {
        write_in_parentheses(out, &item.expr)?;
    } else {
        write_expr(out, &item.expr)?;
    }
    match &item.alias {
        None => Ok(()),
        Some(alias) if is_identifier(&alias.text) => write!(out, " AS {}", alias.text),
        Some(alias) => {
            out.write_str(" AS ")?;
            write_string(out, &alias.text)
        }
    }
}

fn write_source(out: &mut fmt::Formatter<'_>, source: &Source) -> fmt::Result {
    match &source.kind {
        SourceKind::Iterate { alias, collection } => {
            write!(out, "{} IN ", alias.text)?;
            write_collection(out, collection)
        }
        SourceKind::Bind { collection, alias } => {
            write_collection(out, collection)?;
            match alias {
                Some(alias) => write!(out, " AS {}", alias.text),
                None => Ok(()),
            }
        }
    }
}

fn write_collection(out: &mut fmt::Formatter<'_>, collection: &Collection) -> fmt::Result {
    match &collection.kind {
        CollectionKind::Path { root, segments } => {
            out.write_str(&root.text)?;
            for segment in segments {
                match segment {
                    PathSegment::Name(name) => write_property(out, &name.text)?,
                    PathSegment::Index(index) => write!(out, "[{index}]")?,
                }
            }
            Ok(())
        }
        CollectionKind::Query(query) => write_nested(out, "", query),
    }
}

fn write_order_by(out: &mut fmt::Formatter<'_>, order_by: &OrderBy) -> fmt::Result {
    match &order_by.kind {
        OrderByKind::Items(items) => write_separated(out, items, ", ", |out, item| {
            write_expr(out, &item.expr)?;
            match item.direction {
                Direction::Ascending => Ok(()),
                Direction::Descending => out.write_str(" DESC"),
            }
        }),
        OrderByKind::Rank { call, direction } => {
            out.write_str("RANK ")?;
            write_expr(out, call)?;
            match direction {
                None => Ok(()),
                Some(Direction::Ascending) => out.write_str(" ASC"),
                Some(Direction::Descending) => out.write_str(" DESC"),
            }
        }
    }
}

fn write_expr(out: &mut fmt::Formatter<'_>, expr: &Expr) -> fmt::Result {
    match &expr.kind {
        ExprKind::Literal(literal) => write_literal(out, literal),
        ExprKind::Parameter(name) | ExprKind::Identifier(name) => out.write_str(name),
        ExprKind::Member { object, name } => {
            write_base(out, object)?;
            write_property(out, &name.text)
        }
        ExprKind::Index { object, index } => {
            write_base(out, object)?;
            out.write_char('[')?;
            write_expr(out, index)?;
            out.write_char(']')
        }
        ExprKind::Unary { op, operand } => write_unary(out, *op, operand),
        ExprKind::Binary { op, left, right } => write_infix(out, left, op.symbol(), right),
        ExprKind::And(parts) => write_chain(out, parts, " AND "),
        ExprKind::Or(parts) => write_chain(out, parts, " OR "),
        ExprKind::Coalesce { left, right } => write_infix(out, left, "??", right),
        ExprKind::Conditional { condition, then, otherwise } => {
            out.write_char('(')?;
            write_expr(out, condition)?;
            out.write_str(" ? ")?;
            write_expr(out, then)?;
            out.write_str(" : ")?;
            write_expr(out, otherwise)?;
            out.write_char(')')
        }
        ExprKind::In { value, list, negated } => {
            write_predicate_start(out, value, *negated, "IN (")?;
            write_separated(out, list, ", ", write_expr)?;
            out.write_str("))")
        }
        ExprKind::Like { value, pattern, escape, negated } => {
            write_predicate_start(out, value, *negated, "LIKE ")?;
            write_expr(out, pattern)?;
            if let Some(escape) = escape {
                out.write_str(" ESCAPE ")?;
                write_string(out, escape.encode_utf8(&mut [0; 4]))?;
            }
            out.write_char(')')
        }
        ExprKind::Between { value, low, high, negated } => {
            write_predicate_start(out, value, *negated, "BETWEEN ")?;
            write_expr(out, low)?;
            out.write_str(" AND ")?;
            write_expr(out, high)?;
            out.write_char(')')
        }
        ExprKind::Call { name, args } => write_call(out, "", name, args),
        ExprKind::UdfCall { name, args } => write_call(out, "udf.", name, args),
        ExprKind::Array(elements) => {
            out.write_char('[')?;
            write_separated(out, elements, ", ", write_expr)?;
            out.write_char(']')
        }
        ExprKind::Object(members) => {
            out.write_char('{')?;
            write_separated(out, members, ", ", |out, member| {
                write_string(out, &member.name.text)?;
                out.write_str(": ")?;
                write_expr(out, &member.value)
            })?;
            out.write_char('}')
        }
        ExprKind::Subquery(query) => write_nested(out, "", query),
        ExprKind::Exists(query) => write_nested(out, "EXISTS", query),
        ExprKind::ArrayQuery(query) => write_nested(out, "ARRAY", query),
        ExprKind::All(query) => write_nested(out, "ALL", query),
        ExprKind::First(query) => write_nested(out, "FIRST", query),
        ExprKind::Last(query) => write_nested(out, "LAST", query),
        ExprKind::Let { name, value, body } => {
            write!(out, "(LET {} = ", name.text)?;
            write_expr(out, value)?;
            out.write_str(" IN ")?;
            write_expr(out, body)?;
            out.write_char(')')
        }
    }
}

/// Writes what a dot or a bracket follows: a number or a prefix operator would take them for its own.
fn write_base(out: &mut fmt::Formatter<'_>, base: &Expr) -> fmt::Result {
    match base.kind {
        ExprKind::Literal(Literal::Int(_) | Literal::Double(_)) | ExprKind::Unary { .. } => {
            write_in_parentheses(out, base)
        }
        _ => write_expr(out, base),
    }
}

fn write_unary(out: &mut fmt::Formatter<'_>, op: UnaryOp, operand: &Expr) -> fmt::Result {
    out.write_str(op.symbol())?;
    if op == UnaryOp::Not {
        out.write_char(' ')?;
    }
    match operand.kind {
        // A number would swallow the sign, and two signs in a row begin a comment.
        ExprKind::Literal(Literal::Int(_) | Literal::Double(_)) | ExprKind::Unary { .. }
            if op != UnaryOp::Not =>
        {
            write_in_parentheses(out, operand)
        }
        _ => write_expr(out, operand),
    }
}

fn write_infix(out: &mut fmt::Formatter<'_>, left: &Expr, symbol: &str, right: &Expr) -> fmt::Result {
    out.write_char('(')?;
    write_expr(out, left)?;
    write!(out, " {symbol} ")?;
    write_expr(out, right)?;
    out.write_char(')')
}

fn write_chain(out: &mut fmt::Formatter<'_>, parts: &[Expr], operator: &str) -> fmt::Result {
    out.write_char('(')?;
    write_separated(out, parts, operator, write_expr)?;
    out.write_char(')')
}

fn write_predicate_start(
    out: &mut fmt::Formatter<'_>,
    value: &Expr,
    negated: bool,
    operator: &str,
) -> fmt::Result {
    out.write_char('(')?;
    write_expr(out, value)?;
    out.write_str(if negated { " NOT " } else { " " })?;
    out.write_str(operator)
}

fn write_call(out: &mut fmt::Formatter<'_>, prefix: &str, name: &Name, args: &[Expr]) -> fmt::Result {
    write!(out, "{prefix}{}(", name.text)?;
    write_separated(out, args, ", ", write_expr)?;
    out.write_char(')')
}

fn write_nested(out: &mut fmt::Formatter<'_>, word: &str, query: &Query) -> fmt::Result {
    write!(out, "{word}(")?;
    write_query(out, query, ' ')?;
    out.write_char(')')
}

fn write_in_parentheses(out: &mut fmt::Formatter<'_>, expr: &Expr) -> fmt::Result {
    out.write_char('(')?;
    write_expr(out, expr)?;
    out.write_char(')')
}

fn write_property(out: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if is_identifier(name) {
        write!(out, ".{name}")
    } else {
        out.write_char('[')?;
        write_string(out, name)?;
        out.write_char(']')
    }
}

fn write_literal(out: &mut fmt::Formatter<'_>, literal: &Literal) -> fmt::Result {
    match literal {
        Literal::Undefined => out.write_str("undefined"),
        Literal::Null => out.write_str("null"),
        Literal::Bool(value) => write!(out, "{value}"),
        Literal::Int(value) => write!(out, "{value}"),
        Literal::Double(value) => write_double(out, *value),
        Literal::String(value) => write_string(out, value),
    }
}

/// Writes the shortest form that reads back as the same double, always with a point or an exponent.
fn write_double(out: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_infinite() {
        out.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        write!(out, "{value:?}")
    }
}

fn write_string(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let mut literal = String::with_capacity(text.len() + 2);
    push_quoted(&mut literal, text);
    out.write_str(&literal)
}

fn write_separated<T>(
    out: &mut fmt::Formatter<'_>,
    items: &[T],
    separator: &str,
    write_item: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.write_str(separator)?;
        }
        write_item(out, item)?;
    }
    Ok(())
}
