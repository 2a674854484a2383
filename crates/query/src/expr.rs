//! Bound expressions: every name is resolved, every function known.
//!
//! Values that sources bind live in numbered slots; slot 0 of the outermost query is the item.

use std::sync::Arc;

use armilla_functions::operators::{Arithmetic, Comparison, Unary};
use armilla_functions::{Function, LikePattern};
use armilla_value::Value;

use crate::bound::BoundQuery;
use crate::source::SystemProperty;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// A member of an object.
    Name(String),
    /// An element of an array.
    Element(u64),
}

/// What a subquery in an expression stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubqueryKind {
    /// Its only row.
    Scalar,
    /// The array of its rows.
    Array,
    /// Whether it has a row.
    Exists,
    /// Whether no row of its sources fails its filter.
    All,
    /// Its first row.
    First,
    /// Its last row.
    Last,
}

/// A bound expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// The absent value.
    Undefined,
    /// A literal, or the value of a parameter.
    Constant(Arc<Value>),
    /// The value in a slot.
    Slot(usize),
    /// What lies at a path below the value in a slot; the path has at least one step.
    Path {
        /// The slot.
        slot: usize,
        /// The steps from it.
        steps: Vec<PathStep>,
    },
    /// A property that the server adds to the item in slot 0.
    System(SystemProperty),
    /// A computed property of the item.
    Computed {
        /// Its name.
        name: String,
        /// How it is computed; shared by all places that name it.
        expr: Arc<Expr>,
    },
    /// The number of the item.
    DocumentId,
    /// A member of whatever an expression gives.
    Member {
        /// The object.
        object: Box<Expr>,
        /// The member's name.
        name: String,
    },
    /// A member or an element that is computed.
    Index {
        /// The object or array.
        object: Box<Expr>,
        /// The name or number.
        index: Box<Expr>,
    },
    /// An operator of one operand, `NOT` excepted.
    Unary(Unary, Box<Expr>),
    /// A comparison.
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// An operator over two numbers.
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    /// Two strings, one after the other.
    Concat(Box<Expr>, Box<Expr>),
    /// All of them.
    And(Vec<Expr>),
    /// One of them.
    Or(Vec<Expr>),
    /// The opposite.
    Not(Box<Expr>),
    /// One of two, by a condition.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The second where the first is undefined.
    Coalesce(Box<Expr>, Box<Expr>),
    /// Whether a value is one of a list.
    In(Box<Expr>, Vec<Expr>),
    /// Whether a value lies between two.
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Whether a string has the shape of a pattern.
    Like {
        /// The string.
        value: Box<Expr>,
        /// The pattern, compiled where it is constant.
        pattern: Pattern,
    },
    /// A built-in function.
    Call(Function, Vec<Expr>),
    /// A user-defined function.
    Udf(String, Vec<Expr>),
    /// An array of what is defined.
    Array(Vec<Expr>),
    /// An object of what is defined.
    Object(Vec<(String, Expr)>),
    /// A query in the scope of the row.
    Subquery(SubqueryKind, Box<BoundQuery>),
    /// A value given a slot for another expression.
    Let {
        /// The slot.
        slot: usize,
        /// The value.
        value: Box<Expr>,
        /// The expression that uses it.
        body: Box<Expr>,
    },
    /// The value of a grouping expression, in what follows a grouping.
    GroupKey(usize),
    /// The result of an aggregate, in what follows a grouping.
    Aggregate(usize),
}

/// The pattern of a LIKE.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// Known beforehand.
    Constant(Arc<LikePattern>),
    /// Made from each row.
    Dynamic(Box<Expr>, Option<char>),
}

impl Expr {
    /// Makes a constant.
    pub fn constant(value: Value) -> Expr {
        Expr::Constant(Arc::new(value))
    }

    /// Returns the value of a constant.
    pub fn as_value(&self) -> Option<&Value> {
        match self {
            Expr::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Calls `visit` with the expression and everything inside it, subqueries excepted.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children(&mut |child| child.visit(visit));
    }

    /// Calls `visit` with each operand, those of subqueries excepted.
    pub fn children(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Expr::Undefined
            | Expr::Constant(_)
            | Expr::Slot(_)
            | Expr::Path { .. }
            | Expr::System(_)
            | Expr::DocumentId
            | Expr::Subquery(..)
            | Expr::GroupKey(_)
            | Expr::Aggregate(_) => {}
            Expr::Computed { expr, .. } => visit(expr),
            Expr::Member { object, .. } => visit(object),
            Expr::Index { object, index } => {
                visit(object);
                visit(index);
            }
            Expr::Unary(_, operand) | Expr::Not(operand) => visit(operand),
            Expr::Compare(_, left, right)
            | Expr::Arithmetic(_, left, right)
            | Expr::Concat(left, right)
            | Expr::Coalesce(left, right) => {
                visit(left);
                visit(right);
            }
            Expr::Let { value, body, .. } => {
                visit(value);
                visit(body);
            }
            Expr::And(operands)
            | Expr::Or(operands)
            | Expr::Array(operands)
            | Expr::Call(_, operands)
            | Expr::Udf(_, operands) => operands.iter().for_each(visit),
            Expr::Conditional(first, second, third) | Expr::Between(first, second, third) => {
                visit(first);
                visit(second);
                visit(third);
            }
            Expr::In(value, list) => {
                visit(value);
                list.iter().for_each(visit);
            }
            Expr::Like { value, pattern } => {
                visit(value);
                if let Pattern::Dynamic(pattern, _) = pattern {
                    visit(pattern);
                }
            }
            Expr::Object(members) => members.iter().for_each(|(_, member)| visit(member)),
        }
    }

    /// Calls `visit` with each operand, to be changed; those of subqueries and computed properties excepted.
    pub fn children_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Undefined
            | Expr::Constant(_)
            | Expr::Slot(_)
            | Expr::Path { .. }
            | Expr::System(_)
            | Expr::Computed { .. }
            | Expr::DocumentId
            | Expr::Subquery(..)
            | Expr::GroupKey(_)
            | Expr::Aggregate(_) => {}
            Expr::Member { object, .. } => visit(object),
            Expr::Index { object, index } => {
                visit(object);
                visit(index);
            }
            Expr::Unary(_, operand) | Expr::Not(operand) => visit(operand),
            Expr::Compare(_, left, right)
            | Expr::Arithmetic(_, left, right)
            | Expr::Concat(left, right)
            | Expr::Coalesce(left, right) => {
                visit(left);
                visit(right);
            }
            Expr::Let { value, body, .. } => {
                visit(value);
                visit(body);
            }
            Expr::And(operands)
            | Expr::Or(operands)
            | Expr::Array(operands)
            | Expr::Call(_, operands)
            | Expr::Udf(_, operands) => operands.iter_mut().for_each(visit),
            Expr::Conditional(first, second, third) | Expr::Between(first, second, third) => {
                visit(first);
                visit(second);
                visit(third);
            }
            Expr::In(value, list) => {
                visit(value);
                list.iter_mut().for_each(visit);
            }
            Expr::Like { value, pattern } => {
                visit(value);
                if let Pattern::Dynamic(pattern, _) = pattern {
                    visit(pattern);
                }
            }
            Expr::Object(members) => members.iter_mut().for_each(|(_, member)| visit(member)),
        }
    }

    /// Calls `visit` with every slot that the expression reads, those that its own subqueries bind excepted.
    pub fn slots(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Expr::Slot(slot) | Expr::Path { slot, .. } => visit(*slot),
            Expr::System(_) | Expr::DocumentId => visit(0),
            Expr::Subquery(_, query) => query.slots(visit),
            Expr::Let { slot, value, body } => {
                value.slots(visit);
                body.slots(&mut |read| {
                    if read != *slot {
                        visit(read);
                    }
                });
            }
            _ => self.children(&mut |child| child.slots(visit)),
        }
    }

    /// Returns the constant that the expression is: `Some(None)` for undefined.
    pub fn as_constant(&self) -> Option<Option<&Value>> {
        match self {
            Expr::Undefined => Some(None),
            Expr::Constant(value) => Some(Some(value)),
            _ => None,
        }
    }
}
