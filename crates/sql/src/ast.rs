//! The syntax tree of a query: what the text says, before any name means anything.
//!
//! What holds:
//! * every node an error may point to carries a [`Span`]; two trees are equal when they say the same,
//!   wherever they stand in their texts, because spans are always equal to one another;
//! * parentheses leave no node behind (see [`SelectItem::parenthesised`] for their one trace);
//! * chains of AND and of OR are one node with two or more parts, however long; every tree that comes from
//!   [`parse`](crate::parse) is at most [`NESTING_MAX`](crate::limits::NESTING_MAX) levels high, so plain
//!   recursion over it is safe.
//!
//! Not here: resolving names, checking functions and their arguments, counting aggregates (the binder).

use crate::span::Span;

/// A name together with its place: an alias, a property, a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name as written, or the decoded value when it was written as a string literal.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

impl Name {
    /// Makes a name that stands in no text.
    pub fn new(text: impl Into<String>) -> Name {
        Name { text: text.into(), span: Span::default() }
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::new(text)
    }
}

/// One SELECT statement, outermost or nested.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Whether DISTINCT was given.
    pub distinct: bool,
    /// The `TOP n` clause.
    pub top: Option<Top>,
    /// What each row becomes.
    pub selection: Selection,
    /// Where the selection stands, from `*`, VALUE or the first item on.
    pub selection_span: Span,
    /// The FROM clause with its JOINs.
    pub from: Option<FromClause>,
    /// The condition after WHERE.
    pub filter: Option<Expr>,
    /// The GROUP BY clause.
    pub group_by: Option<GroupBy>,
    /// The ORDER BY clause.
    pub order_by: Option<OrderBy>,
    /// The `OFFSET o LIMIT l` clause.
    pub offset_limit: Option<OffsetLimit>,
    /// The whole query, without the parentheses around a nested one.
    pub span: Span,
}

impl Query {
    /// Makes a query of nothing but a selection, to be filled in.
    pub fn new(selection: Selection) -> Query {
        Query {
            distinct: false,
            top: None,
            selection,
            selection_span: Span::default(),
            from: None,
            filter: None,
            group_by: None,
            order_by: None,
            offset_limit: None,
            span: Span::default(),
        }
    }
}

/// What follows SELECT.
#[derive(Debug, Clone, PartialEq)]
pub enum Selection {
    /// `SELECT *`: the source value itself.
    Star,
    /// `SELECT VALUE e`: the value of one expression.
    Value(Expr),
    /// `SELECT a, b AS c`: an object with a property per item; never empty.
    List(Vec<SelectItem>),
}

/// One item of a SELECT list.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectItem {
    /// The value.
    pub expr: Expr,
    /// The name after AS (the word itself may be left out), an identifier or a string literal.
    pub alias: Option<Name>,
    /// Whether an identifier or a path was written in parentheses, which takes from the item the name that
    /// the path would have lent it. Always false for other expressions, which lend no name anyway.
    pub parenthesised: bool,
}

impl SelectItem {
    /// Returns the name of the property: the alias, else the last property of a path, else the identifier.
    ///
    /// `None` means that the item is numbered, `$1` and so on.
    pub fn name(&self) -> Option<&str> {
        match (&self.alias, &self.expr.kind) {
            (Some(alias), _) => Some(&alias.text),
            (None, _) if self.parenthesised => None,
            (None, ExprKind::Identifier(name)) => Some(name),
            (None, ExprKind::Member { name, .. }) => Some(&name.text),
            (None, _) => None,
        }
    }
}

/// The clause `TOP n`.
#[derive(Debug, Clone, PartialEq)]
pub struct Top {
    /// How many rows.
    pub count: Count,
    /// From TOP to the end of the count.
    pub span: Span,
}

/// The number in a TOP, OFFSET or LIMIT clause.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// The number or parameter.
    pub kind: CountKind,
    /// Where it stands.
    pub span: Span,
}

/// The ways to write a count.
#[derive(Debug, Clone, PartialEq)]
pub enum CountKind {
    /// An integer literal; one beyond the range stands as `u64::MAX`.
    Integer(u64),
    /// A number literal with a fraction or exponent, finite. It parses after TOP alone, for the binder to
    /// refuse.
    Double(f64),
    /// A parameter, its name with the `@`.
    Parameter(String),
}

/// The FROM clause.
#[derive(Debug, Clone, PartialEq)]
pub struct FromClause {
    /// The first source and those after each JOIN, in order; never empty.
    pub sources: Vec<Source>,
    /// From FROM to the end of the last source.
    pub span: Span,
}

/// One source of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The form of the source.
    pub kind: SourceKind,
    /// The whole source with its alias.
    pub span: Span,
}

/// The forms of a source.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceKind {
    /// `alias IN collection`: one row per array element.
    Iterate {
        /// The name of the element.
        alias: Name,
        /// The arrays.
        collection: Collection,
    },
    /// `collection [AS alias]`: one row per value.
    Bind {
        /// The values.
        collection: Collection,
        /// The name given; see [`Source::alias`] for the inferred one.
        alias: Option<Name>,
    },
}

impl Source {
    /// Returns what the source reads.
    pub fn collection(&self) -> &Collection {
        match &self.kind {
            SourceKind::Iterate { collection, .. } | SourceKind::Bind { collection, .. } => collection,
        }
    }

    /// Returns the name the source is known by: the one given, else the last property of the path, else the
    /// identifier. A subquery, or a path that ends in an array index, has none unless it is given.
    pub fn alias(&self) -> Option<&Name> {
        match &self.kind {
            SourceKind::Iterate { alias, .. } | SourceKind::Bind { alias: Some(alias), .. } => Some(alias),
            SourceKind::Bind { collection, alias: None } => match &collection.kind {
                CollectionKind::Path { root, segments } => match segments.last() {
                    None => Some(root),
                    Some(PathSegment::Name(name)) => Some(name),
                    Some(PathSegment::Index(_)) => None,
                },
                CollectionKind::Query(_) => None,
            },
        }
    }
}

/// What a source reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Collection {
    /// The form of the collection.
    pub kind: CollectionKind,
    /// Where it stands, parentheses of a subquery included.
    pub span: Span,
}

/// The forms of a collection.
#[derive(Debug, Clone, PartialEq)]
pub enum CollectionKind {
    /// A path: `c`, `c.children`, `c["children"][0]`.
    Path {
        /// The container or the alias the path starts from.
        root: Name,
        /// The steps below it.
        segments: Vec<PathSegment>,
    },
    /// A subquery in parentheses.
    Query(Box<Query>),
}

/// One step of a collection's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathSegment {
    /// A property: `.x` or `["x"]`.
    Name(Name),
    /// An array element: `[0]`.
    Index(u64),
}

/// The GROUP BY clause.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupBy {
    /// The grouping expressions; never empty.
    pub keys: Vec<Expr>,
    /// From GROUP to the end of the last key.
    pub span: Span,
}

/// The ORDER BY clause.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderBy {
    /// What is sorted by.
    pub kind: OrderByKind,
    /// From ORDER to the end of the clause.
    pub span: Span,
}

/// The forms of ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub enum OrderByKind {
    /// `ORDER BY a, b DESC`; never empty.
    Items(Vec<OrderItem>),
    /// `ORDER BY RANK f(...)`.
    Rank {
        /// The scoring call, always of kind [`ExprKind::Call`].
        call: Expr,
        /// The direction, if one was written although none is meant to be.
        direction: Option<Direction>,
    },
}

/// One key of ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    /// The key.
    pub expr: Expr,
    /// The direction, ascending unless DESC was written.
    pub direction: Direction,
}

/// Which way rows are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// The clause `OFFSET o LIMIT l`.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetLimit {
    /// How many rows are skipped.
    pub offset: Count,
    /// How many rows are then taken.
    pub limit: Count,
    /// The whole clause.
    pub span: Span,
}

/// A scalar expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it says.
    pub kind: ExprKind,
    /// Where it stands, without parentheses around it.
    pub span: Span,
}

impl Expr {
    /// Makes the expression at its place.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }
}

impl From<ExprKind> for Expr {
    /// Makes an expression that stands in no text, as rewrites need.
    fn from(kind: ExprKind) -> Expr {
        Expr { kind, span: Span::default() }
    }
}

/// The forms of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A constant; a minus sign directly before a number belongs to it.
    Literal(Literal),
    /// A parameter, its name with the `@`.
    Parameter(String),
    /// An alias. The printer writes it as it is.
    Identifier(String),
    /// `object.name` or `object["name"]`.
    Member {
        /// The object.
        object: Box<Expr>,
        /// The property.
        name: Name,
    },
    /// `object[index]` where the index is anything but a string literal.
    Index {
        /// The array or object.
        object: Box<Expr>,
        /// The position or the computed property name.
        index: Box<Expr>,
    },
    /// A prefix operator and its operand.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// An infix operator and its operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The operand before it.
        left: Box<Expr>,
        /// The operand after it.
        right: Box<Expr>,
    },
    /// `a AND b AND ...`, two or more; the first is no such chain itself, since `(a AND b) AND c` says the
    /// same.
    And(Vec<Expr>),
    /// `a OR b OR ...`, two or more; the first is no such chain itself.
    Or(Vec<Expr>),
    /// `left ?? right`.
    Coalesce {
        /// The value unless it is undefined.
        left: Box<Expr>,
        /// The value otherwise.
        right: Box<Expr>,
    },
    /// `condition ? then : otherwise`.
    Conditional {
        /// The condition.
        condition: Box<Expr>,
        /// The value if it is true.
        then: Box<Expr>,
        /// The value if it is not.
        otherwise: Box<Expr>,
    },
    /// `value [NOT] IN (list)`.
    In {
        /// The value looked for.
        value: Box<Expr>,
        /// The candidates; never empty.
        list: Vec<Expr>,
        /// Whether NOT was written.
        negated: bool,
    },
    /// `value [NOT] LIKE pattern [ESCAPE 'c']`.
    Like {
        /// The value.
        value: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character.
        escape: Option<char>,
        /// Whether NOT was written.
        negated: bool,
    },
    /// `value [NOT] BETWEEN low AND high`.
    Between {
        /// The value.
        value: Box<Expr>,
        /// The lower bound, inclusive.
        low: Box<Expr>,
        /// The upper bound, inclusive.
        high: Box<Expr>,
        /// Whether NOT was written.
        negated: bool,
    },
    /// A call of a built-in function.
    Call {
        /// The function's name as written, in whatever letter case.
        name: Name,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// A call of a user-defined function, `udf.name(args)`.
    UdfCall {
        /// The function's name after the dot.
        name: Name,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `[a, b]`.
    Array(Vec<Expr>),
    /// `{a: 1, "b": 2}`, members in order of writing.
    Object(Vec<ObjectMember>),
    /// A scalar subquery in parentheses.
    Subquery(Box<Query>),
    /// `EXISTS(query)`.
    Exists(Box<Query>),
    /// `ARRAY(query)`.
    ArrayQuery(Box<Query>),
    /// `ALL(query)`.
    All(Box<Query>),
    /// `FIRST(query)`.
    First(Box<Query>),
    /// `LAST(query)`.
    Last(Box<Query>),
    /// `(LET name = value IN body)`.
    Let {
        /// The name bound.
        name: Name,
        /// Its value.
        value: Box<Expr>,
        /// The expression in which it is bound.
        body: Box<Expr>,
    },
}

/// One member of an object constructor.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectMember {
    /// The property.
    pub name: Name,
    /// Its value.
    pub value: Expr,
}

/// A constant.
#[derive(Debug, Clone)]
pub enum Literal {
    /// `undefined`.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer within the 64-bit range, kept exactly.
    Int(i64),
    /// Any other number, `NaN` and `Infinity` included.
    Double(f64),
    /// A string.
    String(String),
}

impl PartialEq for Literal {
    /// Doubles are equal when their bits are: a tree with NaN in it is equal to itself.
    fn eq(&self, other: &Literal) -> bool {
        match (self, other) {
            (Literal::Undefined, Literal::Undefined) | (Literal::Null, Literal::Null) => true,
            (Literal::Bool(left), Literal::Bool(right)) => left == right,
            (Literal::Int(left), Literal::Int(right)) => left == right,
            (Literal::Double(left), Literal::Double(right)) => {
                left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
            }
            (Literal::String(left), Literal::String(right)) => left == right,
            _ => false,
        }
    }
}

/// A prefix operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `+`
    Plus,
    /// `~`
    BitNot,
    /// `NOT`
    Not,
}

/// An infix operator other than AND, OR and `??`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `=`
    Equal,
    /// `!=`, also written `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<<`
    ShiftLeft,
    /// `>>`, which keeps the sign
    ShiftRight,
    /// `>>>`, which fills with zeros
    ShiftRightZero,
    /// `||`
    Concat,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `|`
    BitOr,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

impl UnaryOp {
    /// Returns the operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Negate => "-",
            UnaryOp::Plus => "+",
            UnaryOp::BitNot => "~",
            UnaryOp::Not => "NOT",
        }
    }
}

impl BinaryOp {
    /// Returns the operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Equal => "=",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessOrEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterOrEqual => ">=",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::ShiftRightZero => ">>>",
            BinaryOp::Concat => "||",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::BitOr => "|",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Modulo => "%",
        }
    }
}
