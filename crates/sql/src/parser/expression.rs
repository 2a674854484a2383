//! Scalar expressions.
//!
//! Only brackets recurse, the branches of `?:`, and the right side of a predicate: chains of one operator are
//! loops, and all infix operators share one loop that holds back what binds more loosely. So a level of
//! nesting costs a handful of stack frames, whatever operators it is made of. The frames are kept small on
//! purpose: nodes are boxed as soon as they are made, in functions that do not recurse.

use super::{Measured, Parsed, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, Literal, Name, ObjectMember, Query, UnaryOp};
use crate::literal::{Sign, double_value, integer_value, string_value};
use crate::span::Span;
use crate::token::TokenKind;

/// An expression while it is being put together.
pub(super) struct Tree {
    pub(super) expr: Box<Expr>,
    /// The height of the tree, a leaf's being 1.
    pub(super) height: usize,
    /// Where the expression starts, with the parentheses around it.
    start: usize,
}

impl Tree {
    fn leaf(kind: ExprKind, span: Span) -> Tree {
        Tree { expr: Box::new(Expr::new(kind, span)), height: 1, start: span.start }
    }

    pub(super) fn is_parenthesised(&self) -> bool {
        self.start != self.expr.span.start
    }
}

/// An infix operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Infix {
    Coalesce,
    Or,
    And,
    Binary(BinaryOp),
}

/// How tightly an infix operator binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tightness {
    Coalesce,
    Or,
    And,
    /// Comparisons and shifts, and what may stand on either side of IN, LIKE and BETWEEN.
    Comparison,
    Concatenation,
    /// Sums and the bitwise operators.
    Addition,
    Multiplication,
}

/// An operand that waits for what follows the operator after it.
struct Pending {
    left: Tree,
    infix: Infix,
    tightness: Tightness,
}

fn infix(kind: TokenKind) -> Option<(Infix, Tightness)> {
    let (op, tightness) = match kind {
        TokenKind::QuestionQuestion => return Some((Infix::Coalesce, Tightness::Coalesce)),
        TokenKind::Or => return Some((Infix::Or, Tightness::Or)),
        TokenKind::And => return Some((Infix::And, Tightness::And)),
        TokenKind::Equal => (BinaryOp::Equal, Tightness::Comparison),
        TokenKind::NotEqual => (BinaryOp::NotEqual, Tightness::Comparison),
        TokenKind::Less => (BinaryOp::Less, Tightness::Comparison),
        TokenKind::LessOrEqual => (BinaryOp::LessOrEqual, Tightness::Comparison),
        TokenKind::Greater => (BinaryOp::Greater, Tightness::Comparison),
        TokenKind::GreaterOrEqual => (BinaryOp::GreaterOrEqual, Tightness::Comparison),
        TokenKind::ShiftLeft => (BinaryOp::ShiftLeft, Tightness::Comparison),
        TokenKind::ShiftRight => (BinaryOp::ShiftRight, Tightness::Comparison),
        TokenKind::ShiftRightZero => (BinaryOp::ShiftRightZero, Tightness::Comparison),
        TokenKind::PipePipe => (BinaryOp::Concat, Tightness::Concatenation),
        TokenKind::Plus => (BinaryOp::Add, Tightness::Addition),
        TokenKind::Minus => (BinaryOp::Subtract, Tightness::Addition),
        TokenKind::Pipe => (BinaryOp::BitOr, Tightness::Addition),
        TokenKind::Ampersand => (BinaryOp::BitAnd, Tightness::Addition),
        TokenKind::Caret => (BinaryOp::BitXor, Tightness::Addition),
        TokenKind::Star => (BinaryOp::Multiply, Tightness::Multiplication),
        TokenKind::Slash => (BinaryOp::Divide, Tightness::Multiplication),
        TokenKind::Percent => (BinaryOp::Modulo, Tightness::Multiplication),
        _ => return None,
    };
    Some((Infix::Binary(op), tightness))
}

fn prefix(kind: TokenKind) -> Option<UnaryOp> {
    Some(match kind {
        TokenKind::Minus => UnaryOp::Negate,
        TokenKind::Plus => UnaryOp::Plus,
        TokenKind::Tilde => UnaryOp::BitNot,
        TokenKind::Not => UnaryOp::Not,
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Tree> {
        self.descend()?;
        let mut tree = self.operators(Tightness::Coalesce)?;
        if self.accept(TokenKind::Question) {
            let then = self.expression()?;
            self.expect(TokenKind::Colon)?;
            let otherwise = self.expression()?;
            tree = self.conditional(tree, then, otherwise)?;
        }
        self.depth -= 1;
        Ok(tree)
    }

    /// Operands and the infix operators between them, as far as these bind at least as tightly as `loosest`.
    fn operators(&mut self, loosest: Tightness) -> Parsed<Tree> {
        let mut pending = Vec::new();
        let mut operand = self.operand()?;
        // Once a predicate is read, nothing as tight as a comparison may take it for an operand.
        let mut after_predicate = false;
        loop {
            if loosest < Tightness::Comparison && !after_predicate && begins_predicate(self.kind()) {
                operand = self.join(&mut pending, operand, Some(Tightness::Comparison))?;
                operand = self.predicate(operand)?;
                after_predicate = true;
            }
            let Some((infix, tightness)) = infix(self.kind()) else { break };
            if tightness < loosest || (after_predicate && tightness >= Tightness::Comparison) {
                break;
            }
            operand = self.join(&mut pending, operand, Some(tightness))?;
            self.advance();
            let next = self.operand()?;
            pending.push(Pending { left: std::mem::replace(&mut operand, next), infix, tightness });
            after_predicate = false;
        }
        self.join(&mut pending, operand, None)
    }

    /// Joins the last operand with those before it that an operator of tightness `next` leaves to it; all at
    /// the end.
    ///
    /// An operator as tight as the next one is joined first, that is, associates to the left; but `??`
    /// associates to the right, and a chain of AND or OR is joined as one node, so these wait for something
    /// looser.
    fn join(&self, pending: &mut Vec<Pending>, last: Tree, next: Option<Tightness>) -> Parsed<Tree> {
        let mut operand = last;
        while let Some(Pending { left, infix, tightness }) = pending.pop_if(|earlier| match next {
            None => true,
            Some(next) if earlier.tightness == next => matches!(earlier.infix, Infix::Binary(_)),
            Some(next) => earlier.tightness > next,
        }) {
            operand = match infix {
                Infix::Binary(op) => self.binary(left, op, operand)?,
                Infix::Coalesce => self.coalesce(left, operand)?,
                Infix::Or | Infix::And => {
                    let mut parts = vec![operand, left];
                    while let Some(earlier) = pending.pop_if(|earlier| earlier.tightness == tightness) {
                        parts.push(earlier.left);
                    }
                    self.chain(parts, infix)?
                }
            };
        }
        Ok(operand)
    }

    /// Finishes a node that starts at `start` and ends with the last token taken, over parts of at most
    /// `height`.
    fn node(&self, kind: ExprKind, start: usize, height: usize) -> Parsed<Tree> {
        let height = self.grow(height)?;
        Ok(Tree { expr: Box::new(Expr::new(kind, self.since(start))), height, start })
    }

    fn binary(&self, left: Tree, op: BinaryOp, right: Tree) -> Parsed<Tree> {
        let kind = ExprKind::Binary { op, left: left.expr, right: right.expr };
        self.node(kind, left.start, left.height.max(right.height))
    }

    fn coalesce(&self, left: Tree, right: Tree) -> Parsed<Tree> {
        let kind = ExprKind::Coalesce { left: left.expr, right: right.expr };
        self.node(kind, left.start, left.height.max(right.height))
    }

    /// Makes a chain of AND or OR of its parts, the last one first.
    ///
    /// A first part that is such a chain itself, in parentheses, is taken apart: `(a AND b) AND c` is what
    /// `a AND b AND c` means, and programs that write queries nest hundreds of these.
    fn chain(&self, mut parts: Vec<Tree>, infix: Infix) -> Parsed<Tree> {
        let first = parts.pop().expect("a chain has parts");
        let (mut exprs, mut height) = match (first.expr.kind, infix) {
            (ExprKind::And(exprs), Infix::And) | (ExprKind::Or(exprs), Infix::Or) => {
                (exprs, first.height - 1)
            }
            (kind, _) => (vec![Expr::new(kind, first.expr.span)], first.height),
        };
        exprs.reserve_exact(parts.len());
        for part in parts.into_iter().rev() {
            height = height.max(part.height);
            exprs.push(*part.expr);
        }
        let kind = if infix == Infix::Or { ExprKind::Or(exprs) } else { ExprKind::And(exprs) };
        self.node(kind, first.start, height)
    }

    fn conditional(&self, condition: Tree, then: Tree, otherwise: Tree) -> Parsed<Tree> {
        let height = condition.height.max(then.height).max(otherwise.height);
        let kind =
            ExprKind::Conditional { condition: condition.expr, then: then.expr, otherwise: otherwise.expr };
        self.node(kind, condition.start, height)
    }

    /// IN, LIKE or BETWEEN after its value.
    fn predicate(&mut self, value: Tree) -> Parsed<Tree> {
        let negated = self.accept(TokenKind::Not);
        match self.kind() {
            TokenKind::In => self.in_list(value, negated),
            TokenKind::Like => self.like(value, negated),
            TokenKind::Between => self.between(value, negated),
            _ => Err(self.unexpected()),
        }
    }

    fn in_list(&mut self, value: Tree, negated: bool) -> Parsed<Tree> {
        self.expect(TokenKind::In)?;
        self.expect(TokenKind::LeftParen)?;
        let list = self.expressions()?;
        self.expect(TokenKind::RightParen)?;
        let height = value.height.max(list.height);
        self.node(ExprKind::In { value: value.expr, list: list.node, negated }, value.start, height)
    }

    fn like(&mut self, value: Tree, negated: bool) -> Parsed<Tree> {
        self.expect(TokenKind::Like)?;
        let pattern = self.operators(Tightness::Comparison)?;
        let escape = if self.accept(TokenKind::Escape) { Some(self.escape_character()?) } else { None };
        let height = value.height.max(pattern.height);
        let kind = ExprKind::Like { value: value.expr, pattern: pattern.expr, escape, negated };
        self.node(kind, value.start, height)
    }

    /// The string literal after ESCAPE, which has exactly one character.
    fn escape_character(&mut self) -> Parsed<char> {
        if self.kind() != TokenKind::String {
            return Err(self.unexpected());
        }
        let text = string_value(self.text_of(self.span()));
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => {
                self.advance();
                Ok(character)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn between(&mut self, value: Tree, negated: bool) -> Parsed<Tree> {
        self.expect(TokenKind::Between)?;
        let low = self.operators(Tightness::Comparison)?;
        self.expect(TokenKind::And)?;
        let high = self.operators(Tightness::Comparison)?;
        let height = value.height.max(low.height).max(high.height);
        let kind = ExprKind::Between { value: value.expr, low: low.expr, high: high.expr, negated };
        self.node(kind, value.start, height)
    }

    /// A primary expression with the prefix operators before it and the steps after it.
    fn operand(&mut self) -> Parsed<Tree> {
        let mut prefixes = Vec::new();
        while let Some(op) = prefix(self.kind()) {
            prefixes.push((op, self.advance().start));
        }
        let first = self.position;
        let mut tree = self.primary()?;
        loop {
            tree = match self.kind() {
                TokenKind::Dot => self.member(tree)?,
                TokenKind::LeftBracket => self.index(tree)?,
                _ => break,
            };
        }
        if prefixes.is_empty() { Ok(tree) } else { self.unary(prefixes, tree, first) }
    }

    /// Applies prefix operators, each with its place, to the operand whose first token has the index `first`.
    fn unary(&self, mut prefixes: Vec<(UnaryOp, usize)>, operand: Tree, first: usize) -> Parsed<Tree> {
        let mut tree = operand;
        // A number of one token takes the sign directly before it.
        if self.position == first + 1
            && let ExprKind::Literal(literal) = &tree.expr.kind
            && let Some(negative) = self.negated(literal, first)
            && let Some((_, start)) = prefixes.pop_if(|(op, _)| *op == UnaryOp::Negate)
        {
            tree = Tree::leaf(ExprKind::Literal(negative), self.since(start));
        }
        while let Some((op, start)) = prefixes.pop() {
            tree = self.node(ExprKind::Unary { op, operand: tree.expr }, start, tree.height)?;
        }
        Ok(tree)
    }

    /// Returns the literal of the token with a minus sign before it, if it is a number.
    fn negated(&self, literal: &Literal, token: usize) -> Option<Literal> {
        let token = self.tokens[token];
        let text = self.text_of(token.span());
        match (token.kind, literal) {
            (TokenKind::Integer, _) => Some(integer_value(text, Sign::Minus)),
            (TokenKind::Double, _) => Some(double_value(text, Sign::Minus)),
            (_, Literal::Double(named)) => Some(Literal::Double(-named)),
            _ => None,
        }
    }

    fn member(&mut self, object: Tree) -> Parsed<Tree> {
        self.expect(TokenKind::Dot)?;
        let name = self.identifier()?;
        self.node(ExprKind::Member { object: object.expr, name }, object.start, object.height)
    }

    fn index(&mut self, object: Tree) -> Parsed<Tree> {
        self.expect(TokenKind::LeftBracket)?;
        let index = self.expression()?;
        self.expect(TokenKind::RightBracket)?;
        self.index_node(object, index)
    }

    fn index_node(&self, object: Tree, index: Tree) -> Parsed<Tree> {
        let Tree { expr: object, height, start } = object;
        let height = height.max(index.height);
        let kind = match *index.expr {
            Expr { kind: ExprKind::Literal(Literal::String(text)), span } => {
                ExprKind::Member { object, name: Name { text, span } }
            }
            other => ExprKind::Index { object, index: Box::new(other) },
        };
        self.node(kind, start, height)
    }

    fn primary(&mut self) -> Parsed<Tree> {
        let is_call = self.kind_ahead(1) == TokenKind::LeftParen;
        match self.kind() {
            TokenKind::LeftParen => match (self.kind_ahead(1), self.kind_ahead(2)) {
                (TokenKind::Select, _) => self.nested_query(ExprKind::Subquery),
                // LET may be a plain name as well, but then no other name follows it.
                (TokenKind::Let, next) if next.is_identifier() => self.let_binding(),
                _ => self.parenthesised(),
            },
            TokenKind::LeftBracket => self.array(),
            TokenKind::LeftBrace => self.object(),
            TokenKind::Exists => self.nested_query(ExprKind::Exists),
            TokenKind::Array => self.nested_query(ExprKind::ArrayQuery),
            TokenKind::Udf => self.udf_call(),
            TokenKind::Identifier if is_call && self.kind_ahead(2) == TokenKind::Select => {
                let name = self.text_of(self.span());
                if name.eq_ignore_ascii_case("ALL") {
                    self.nested_query(ExprKind::All)
                } else if name.eq_ignore_ascii_case("FIRST") {
                    self.nested_query(ExprKind::First)
                } else if name.eq_ignore_ascii_case("LAST") {
                    self.nested_query(ExprKind::Last)
                } else {
                    self.call()
                }
            }
            kind if is_call && kind.is_function_name() => self.call(),
            _ => self.atom(),
        }
    }

    /// A primary expression of one token.
    fn atom(&mut self) -> Parsed<Tree> {
        let span = self.span();
        let text = self.text_of(span);
        let kind = match self.kind() {
            TokenKind::Integer => ExprKind::Literal(integer_value(text, Sign::None)),
            TokenKind::Double => ExprKind::Literal(double_value(text, Sign::None)),
            TokenKind::String => ExprKind::Literal(Literal::String(string_value(text))),
            TokenKind::True => ExprKind::Literal(Literal::Bool(true)),
            TokenKind::False => ExprKind::Literal(Literal::Bool(false)),
            TokenKind::Null => ExprKind::Literal(Literal::Null),
            TokenKind::Undefined => ExprKind::Literal(Literal::Undefined),
            TokenKind::Parameter => ExprKind::Parameter(text.to_owned()),
            kind if kind.is_identifier() => match text {
                "NaN" => ExprKind::Literal(Literal::Double(f64::NAN)),
                "Infinity" => ExprKind::Literal(Literal::Double(f64::INFINITY)),
                _ => ExprKind::Identifier(text.to_owned()),
            },
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Ok(Tree::leaf(kind, span))
    }

    fn parenthesised(&mut self) -> Parsed<Tree> {
        let start = self.expect(TokenKind::LeftParen)?.start;
        self.parentheses += 1;
        let mut tree = self.expression()?;
        self.parentheses -= 1;
        self.expect(TokenKind::RightParen)?;
        tree.start = start;
        Ok(tree)
    }

    fn let_binding(&mut self) -> Parsed<Tree> {
        self.descend()?;
        let start = self.expect(TokenKind::LeftParen)?.start;
        self.expect(TokenKind::Let)?;
        let name = self.identifier()?;
        self.expect(TokenKind::Equal)?;
        let value = self.operators(Tightness::Comparison)?;
        self.expect(TokenKind::In)?;
        let body = self.operators(Tightness::Comparison)?;
        self.expect(TokenKind::RightParen)?;
        self.depth -= 1;
        let height = value.height.max(body.height);
        self.node(ExprKind::Let { name, value: value.expr, body: body.expr }, start, height)
    }

    /// A query in parentheses, with the word before them if there is one.
    fn nested_query(&mut self, kind: fn(Box<Query>) -> ExprKind) -> Parsed<Tree> {
        let start = self.span().start;
        if self.kind() != TokenKind::LeftParen {
            self.advance();
        }
        self.expect(TokenKind::LeftParen)?;
        let query = self.query()?;
        self.expect(TokenKind::RightParen)?;
        self.node(kind(query.node), start, query.height)
    }

    fn udf_call(&mut self) -> Parsed<Tree> {
        let start = self.expect(TokenKind::Udf)?.start;
        self.expect(TokenKind::Dot)?;
        let name = self.identifier()?;
        let args = self.arguments()?;
        self.node(ExprKind::UdfCall { name, args: args.node }, start, args.height)
    }

    /// A call of a built-in function; the caller has seen the name and the parenthesis.
    pub(super) fn call(&mut self) -> Parsed<Tree> {
        let name = self.advance();
        let args = self.arguments()?;
        let start = name.start;
        let name = Name { text: self.text_of(name).to_owned(), span: name };
        self.node(ExprKind::Call { name, args: args.node }, start, args.height)
    }

    fn arguments(&mut self) -> Parsed<Measured<Vec<Expr>>> {
        self.expect(TokenKind::LeftParen)?;
        self.expressions_until(TokenKind::RightParen)
    }

    fn array(&mut self) -> Parsed<Tree> {
        let start = self.expect(TokenKind::LeftBracket)?.start;
        let elements = self.expressions_until(TokenKind::RightBracket)?;
        self.node(ExprKind::Array(elements.node), start, elements.height)
    }

    /// Any number of expressions between commas, and the bracket that closes them.
    fn expressions_until(&mut self, close: TokenKind) -> Parsed<Measured<Vec<Expr>>> {
        let list =
            if self.kind() == close { Measured { node: Vec::new(), height: 0 } } else { self.expressions()? };
        self.expect(close)?;
        Ok(list)
    }

    /// One or more expressions between commas.
    pub(super) fn expressions(&mut self) -> Parsed<Measured<Vec<Expr>>> {
        let mut list = Vec::new();
        let mut height = 0;
        loop {
            let tree = self.expression()?;
            height = height.max(tree.height);
            list.push(*tree.expr);
            if !self.accept(TokenKind::Comma) {
                return Ok(Measured { node: list, height });
            }
        }
    }

    fn object(&mut self) -> Parsed<Tree> {
        let start = self.expect(TokenKind::LeftBrace)?.start;
        let mut members = Vec::new();
        let mut height = 0;
        if !self.accept(TokenKind::RightBrace) {
            loop {
                height = height.max(self.object_member(&mut members)?);
                if !self.accept(TokenKind::Comma) {
                    break;
                }
            }
            self.expect(TokenKind::RightBrace)?;
        }
        self.node(ExprKind::Object(members), start, height)
    }

    /// Adds one member of an object to `members`; returns its height.
    fn object_member(&mut self, members: &mut Vec<ObjectMember>) -> Parsed<usize> {
        let name = if self.kind() == TokenKind::String { self.string()? } else { self.identifier()? };
        self.expect(TokenKind::Colon)?;
        let Tree { expr: value, height, .. } = self.expression()?;
        members.push(ObjectMember { name, value: *value });
        Ok(height)
    }
}

/// Whether a token after a value begins a predicate on it.
fn begins_predicate(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Not | TokenKind::In | TokenKind::Like | TokenKind::Between)
}
