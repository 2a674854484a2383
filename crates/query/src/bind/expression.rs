//! Binding expressions.

use std::collections::HashSet;
use std::sync::Arc;

use armilla_functions::operators::{Arithmetic, Comparison, Unary};
use armilla_functions::{Aggregate, Function, LikePattern};
use armilla_sql::QueryError;
use armilla_sql::ast::{self, BinaryOp, ExprKind, Literal, UnaryOp};
use armilla_value::Value;

use super::{Binder, QueryLevel, Scope, unresolved, unsupported};
use crate::error::{Error, Result};
use crate::expr::{Expr, PathStep, Pattern, SubqueryKind};
use crate::source::SystemProperty;

impl Binder<'_> {
    pub(super) fn expression(&mut self, expr: &ast::Expr, scope: &Scope<'_>) -> Result<Expr> {
        Ok(match &expr.kind {
            ExprKind::Literal(literal) => constant(literal),
            ExprKind::Parameter(name) => Expr::Constant(self.parameter(name, expr.span)?),
            ExprKind::Identifier(name) => match scope.find(name) {
                Some(slot) => Expr::Slot(slot),
                None => return Err(unresolved(name, expr.span)),
            },
            ExprKind::Member { object, name } => {
                let object = self.expression(object, scope)?;
                self.step(object, PathStep::Name(name.text.clone()))
            }
            ExprKind::Index { object, index } => {
                let object = self.expression(object, scope)?;
                let index = self.expression(index, scope)?;
                match constant_step(&index) {
                    Some(step) => self.step(object, step),
                    None => Expr::Index { object: Box::new(object), index: Box::new(index) },
                }
            }
            ExprKind::Unary { op, operand } => {
                let operand = Box::new(self.expression(operand, scope)?);
                match op {
                    UnaryOp::Not => Expr::Not(operand),
                    UnaryOp::Negate => Expr::Unary(Unary::Minus, operand),
                    UnaryOp::Plus => Expr::Unary(Unary::Plus, operand),
                    UnaryOp::BitNot => Expr::Unary(Unary::BitNot, operand),
                }
            }
            ExprKind::Binary { op, left, right } => {
                let left = Box::new(self.expression(left, scope)?);
                let right = Box::new(self.expression(right, scope)?);
                binary(*op, left, right)
            }
            ExprKind::And(parts) => Expr::And(self.expressions(parts, scope)?),
            ExprKind::Or(parts) => Expr::Or(self.expressions(parts, scope)?),
            ExprKind::Coalesce { left, right } => {
                let left = Box::new(self.expression(left, scope)?);
                Expr::Coalesce(left, Box::new(self.expression(right, scope)?))
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = Box::new(self.expression(condition, scope)?);
                let then = Box::new(self.expression(then, scope)?);
                Expr::Conditional(condition, then, Box::new(self.expression(otherwise, scope)?))
            }
            ExprKind::In { value, list, negated } => {
                let value = Box::new(self.expression(value, scope)?);
                negate(Expr::In(value, self.expressions(list, scope)?), *negated)
            }
            ExprKind::Like { value, pattern, escape, negated } => {
                let value = Box::new(self.expression(value, scope)?);
                let pattern = self.expression(pattern, scope)?;
                let pattern = match pattern.as_value() {
                    Some(Value::String(text)) => Pattern::Constant(Arc::new(LikePattern::new(text, *escape))),
                    _ => Pattern::Dynamic(Box::new(pattern), *escape),
                };
                negate(Expr::Like { value, pattern }, *negated)
            }
            ExprKind::Between { value, low, high, negated } => {
                let value = Box::new(self.expression(value, scope)?);
                let low = Box::new(self.expression(low, scope)?);
                let high = Box::new(self.expression(high, scope)?);
                negate(Expr::Between(value, low, high), *negated)
            }
            ExprKind::Call { name, args } => self.call(expr, name, args, scope)?,
            ExprKind::UdfCall { name, args } => {
                self.count_udf_call(&name.text)?;
                Expr::Udf(name.text.clone(), self.expressions(args, scope)?)
            }
            ExprKind::Array(elements) => Expr::Array(self.expressions(elements, scope)?),
            ExprKind::Object(members) => {
                let mut bound: Vec<(String, Expr)> = Vec::with_capacity(members.len());
                for member in members {
                    bound.push((member.name.text.clone(), self.expression(&member.value, scope)?));
                }
                // As in any JSON object, the last of two members with one name counts.
                let mut known = HashSet::with_capacity(bound.len());
                let is_last: Vec<bool> =
                    members.iter().rev().map(|member| known.insert(&member.name.text[..])).collect();
                let mut is_last = is_last.into_iter().rev();
                bound.retain(|_| is_last.next() == Some(true));
                Expr::Object(bound)
            }
            ExprKind::Subquery(query) => self.subquery(SubqueryKind::Scalar, query, scope)?,
            ExprKind::Exists(query) => self.subquery(SubqueryKind::Exists, query, scope)?,
            ExprKind::ArrayQuery(query) => self.subquery(SubqueryKind::Array, query, scope)?,
            ExprKind::All(query) => self.subquery(SubqueryKind::All, query, scope)?,
            ExprKind::First(query) => self.subquery(SubqueryKind::First, query, scope)?,
            ExprKind::Last(query) => self.subquery(SubqueryKind::Last, query, scope)?,
            ExprKind::Let { name, value, body } => {
                let value = Box::new(self.expression(value, scope)?);
                let slot = self.new_slot();
                let mut inner = Scope::inside(scope);
                inner.add(&name.text, slot);
                Expr::Let { slot, value, body: Box::new(self.expression(body, &inner)?) }
            }
        })
    }

    pub(super) fn expressions(&mut self, exprs: &[ast::Expr], scope: &Scope<'_>) -> Result<Vec<Expr>> {
        exprs.iter().map(|expr| self.expression(expr, scope)).collect()
    }

    fn subquery(&mut self, kind: SubqueryKind, query: &ast::Query, scope: &Scope<'_>) -> Result<Expr> {
        Ok(Expr::Subquery(kind, Box::new(self.query(query, scope, QueryLevel::Inner)?)))
    }

    fn call(
        &mut self,
        call: &ast::Expr,
        name: &ast::Name,
        args: &[ast::Expr],
        scope: &Scope<'_>,
    ) -> Result<Expr> {
        if Aggregate::find(&name.text).is_some() {
            // Those of a SELECT were taken out before (`grouping`).
            return Err(QueryError {
                code: None,
                message: format!(
                    "The aggregate function {} is not allowed here.",
                    name.text.to_ascii_uppercase()
                ),
                span: Some(call.span),
            }
            .into());
        }
        let Some(function) = Function::find(&name.text) else {
            let message = format!("'{}' is not a recognized built-in function name.", name.text);
            return Err(QueryError::new("SC2005", message, name.span).into());
        };
        if !function.arity().admits(args.len()) {
            let message =
                format!("The {} function requires {} argument(s).", function.name(), function.arity());
            return Err(QueryError::new("SC2050", message, call.span).into());
        }
        if function == Function::FullTextScore {
            let message = "The FullTextScore function is only allowed in the ORDER BY RANK clause.";
            return Err(QueryError::new("SC2240", message, call.span).into());
        }
        if !function.is_supported() {
            return Err(unsupported(&format!("the function {}", function.name())));
        }
        let args = self.expressions(args, scope)?;
        if function == Function::DocumentId {
            return match args[..] {
                [Expr::Slot(0)] => Ok(Expr::DocumentId),
                _ => Err(QueryError {
                    code: None,
                    message: "The argument of the DOCUMENTID function must be the root alias.".to_owned(),
                    span: Some(call.span),
                }
                .into()),
            };
        }
        Ok(Expr::Call(function, args))
    }

    /// Returns the path below a slot.
    pub(super) fn path(&self, slot: usize, steps: Vec<PathStep>) -> Expr {
        steps.into_iter().fold(Expr::Slot(slot), |object, step| self.step(object, step))
    }

    /// Goes one step further.
    fn step(&self, object: Expr, step: PathStep) -> Expr {
        match (object, step) {
            (Expr::Slot(0), PathStep::Name(name)) => self.item_property(name),
            (Expr::Slot(slot), step) => Expr::Path { slot, steps: vec![step] },
            (Expr::Path { slot, mut steps }, step) => {
                steps.push(step);
                Expr::Path { slot, steps }
            }
            (object, PathStep::Name(name)) => Expr::Member { object: Box::new(object), name },
            (object, PathStep::Element(index)) => {
                let index = i64::try_from(index).unwrap_or(i64::MAX);
                Expr::Index { object: Box::new(object), index: Box::new(Expr::constant(Value::Int64(index))) }
            }
        }
    }

    fn item_property(&self, name: String) -> Expr {
        if let Some(property) = self.names.computed.iter().find(|property| property.name == name) {
            return Expr::Computed { name, expr: property.expr.clone() };
        }
        match SystemProperty::find(&name).filter(|_| self.names.system_properties) {
            Some(property) => Expr::System(property),
            None => Expr::Path { slot: 0, steps: vec![PathStep::Name(name)] },
        }
    }
}

fn constant(literal: &Literal) -> Expr {
    match literal {
        Literal::Undefined => Expr::Undefined,
        Literal::Null => Expr::constant(Value::Null),
        Literal::Bool(truth) => Expr::constant(Value::Bool(*truth)),
        Literal::Int(number) => Expr::constant(Value::Int64(*number)),
        Literal::Double(number) => Expr::constant(Value::Double(*number)),
        Literal::String(text) => Expr::constant(Value::String(text.clone())),
    }
}

/// Returns the step that a constant index is, if it is one that can exist.
fn constant_step(index: &Expr) -> Option<PathStep> {
    match index.as_value()? {
        Value::String(name) => Some(PathStep::Name(name.clone())),
        Value::Int64(number) => u64::try_from(*number).ok().map(PathStep::Element),
        Value::Int32(number) => u64::try_from(*number).ok().map(PathStep::Element),
        _ => None,
    }
}

fn negate(expr: Expr, negated: bool) -> Expr {
    if negated { Expr::Not(Box::new(expr)) } else { expr }
}

fn binary(operator: BinaryOp, left: Box<Expr>, right: Box<Expr>) -> Expr {
    let compare = |operator, left, right| Expr::Compare(operator, left, right);
    let arithmetic = |operator, left, right| Expr::Arithmetic(operator, left, right);
    match operator {
        BinaryOp::Equal => compare(Comparison::Equal, left, right),
        BinaryOp::NotEqual => compare(Comparison::NotEqual, left, right),
        BinaryOp::Less => compare(Comparison::Less, left, right),
        BinaryOp::LessOrEqual => compare(Comparison::LessOrEqual, left, right),
        BinaryOp::Greater => compare(Comparison::Greater, left, right),
        BinaryOp::GreaterOrEqual => compare(Comparison::GreaterOrEqual, left, right),
        BinaryOp::ShiftLeft => arithmetic(Arithmetic::ShiftLeft, left, right),
        BinaryOp::ShiftRight => arithmetic(Arithmetic::ShiftRight, left, right),
        BinaryOp::ShiftRightZero => arithmetic(Arithmetic::ShiftRightZeroFill, left, right),
        BinaryOp::Concat => Expr::Concat(left, right),
        BinaryOp::Add => arithmetic(Arithmetic::Add, left, right),
        BinaryOp::Subtract => arithmetic(Arithmetic::Subtract, left, right),
        BinaryOp::BitOr => arithmetic(Arithmetic::BitOr, left, right),
        BinaryOp::BitAnd => arithmetic(Arithmetic::BitAnd, left, right),
        BinaryOp::BitXor => arithmetic(Arithmetic::BitXor, left, right),
        BinaryOp::Multiply => arithmetic(Arithmetic::Multiply, left, right),
        BinaryOp::Divide => arithmetic(Arithmetic::Divide, left, right),
        BinaryOp::Modulo => arithmetic(Arithmetic::Remainder, left, right),
    }
}

/// An aggregate inside another one, or around a subquery.
pub(super) fn nested_aggregate(span: armilla_sql::Span) -> Error {
    let message =
        "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.";
    QueryError::new("SC2101", message, span).into()
}
