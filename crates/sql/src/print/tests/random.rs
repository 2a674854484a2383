//! Random trees, of the kinds the parser makes.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::ast::*;
use crate::span::Span;

const LEVELS_MAX: u32 = 5;
const NODES: u32 = 40;
const WIDTH: u32 = 4;

pub(super) fn expr() -> BoxedStrategy<Expr> {
    leaf().prop_recursive(LEVELS_MAX, NODES, WIDTH, |inner| node(inner).boxed()).boxed()
}

pub(super) fn query() -> BoxedStrategy<Query> {
    query_over(expr(), option::of(query_over(expr(), Just(None).boxed()).prop_map(Box::new)).boxed())
}

/// Names that can be written as they are.
fn identifier() -> BoxedStrategy<String> {
    select(vec!["c", "x", "_y1", "rank", "LET", "root", "first", "all", "nan", "longer_name"])
        .prop_map(str::to_owned)
        .boxed()
}

/// Names that may need quotes.
fn name() -> BoxedStrategy<Name> {
    prop_oneof![
        identifier(),
        select(vec!["order", "", "a b", "é", "\"'\\", "0"]).prop_map(str::to_owned),
        ".*"
    ]
    .prop_map(Name::new)
    .boxed()
}

fn literal() -> BoxedStrategy<Literal> {
    prop_oneof![
        select(vec![
            Literal::Undefined,
            Literal::Null,
            Literal::Bool(true),
            Literal::Bool(false),
            Literal::Int(0),
            Literal::Int(-1),
            Literal::Double(-0.0),
            Literal::Double(f64::NAN),
            Literal::Double(f64::INFINITY),
            Literal::Double(f64::NEG_INFINITY),
        ]),
        any::<i64>().prop_map(Literal::Int),
        any::<f64>().prop_map(Literal::Double),
        ".*".prop_map(Literal::String),
    ]
    .boxed()
}

fn leaf() -> BoxedStrategy<Expr> {
    prop_oneof![
        literal().prop_map(ExprKind::Literal),
        identifier().prop_map(ExprKind::Identifier),
        identifier().prop_map(|name| ExprKind::Parameter(format!("@{name}"))),
    ]
    .prop_map(Expr::from)
    .boxed()
}

fn node(inner: BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    let one = || inner.clone().prop_map(Box::new);
    let many = |least: usize| prop::collection::vec(inner.clone(), least..4);
    let nested = || query_over(inner.clone(), Just(None).boxed()).prop_map(Box::new);
    let negated = any::<bool>();
    prop_oneof![
        (one(), name()).prop_map(|(object, name)| ExprKind::Member { object, name }),
        (one(), one()).prop_map(|(object, index)| match index.kind {
            ExprKind::Literal(Literal::String(text)) => ExprKind::Member { object, name: Name::new(text) },
            _ => ExprKind::Index { object, index },
        }),
        (select(vec![UnaryOp::Negate, UnaryOp::Plus, UnaryOp::BitNot, UnaryOp::Not]), one())
            .prop_map(|(op, operand)| ExprKind::Unary { op, operand }),
        (binary_op(), one(), one()).prop_map(|(op, left, right)| ExprKind::Binary { op, left, right }),
        many(2).prop_map(|parts| match parts[0].kind {
            ExprKind::And(_) => ExprKind::Array(parts),
            _ => ExprKind::And(parts),
        }),
        many(2).prop_map(|parts| match parts[0].kind {
            ExprKind::Or(_) => ExprKind::Array(parts),
            _ => ExprKind::Or(parts),
        }),
        (one(), one()).prop_map(|(left, right)| ExprKind::Coalesce { left, right }),
        (one(), one(), one()).prop_map(|(condition, then, otherwise)| ExprKind::Conditional {
            condition,
            then,
            otherwise
        }),
        (one(), many(1), negated).prop_map(|(value, list, negated)| ExprKind::In { value, list, negated }),
        (one(), one(), option::of(any::<char>()), negated)
            .prop_map(|(value, pattern, escape, negated)| ExprKind::Like { value, pattern, escape, negated }),
        (one(), one(), one(), negated).prop_map(|(value, low, high, negated)| ExprKind::Between {
            value,
            low,
            high,
            negated
        }),
        (select(vec!["ABS", "left", "RIGHT", "all", "Rank"]), many(0))
            .prop_map(|(name, args)| ExprKind::Call { name: Name::new(name), args }),
        (identifier(), many(0)).prop_map(|(name, args)| ExprKind::UdfCall { name: Name::new(name), args }),
        many(0).prop_map(ExprKind::Array),
        prop::collection::vec((name(), inner.clone()), 0..4).prop_map(|members| {
            ExprKind::Object(members.into_iter().map(|(name, value)| ObjectMember { name, value }).collect())
        }),
        (
            select(vec![
                ExprKind::Subquery as fn(Box<Query>) -> ExprKind,
                ExprKind::Exists,
                ExprKind::ArrayQuery,
                ExprKind::All,
                ExprKind::First,
                ExprKind::Last,
            ]),
            nested()
        )
            .prop_map(|(kind, query)| kind(query)),
        (identifier(), one(), one()).prop_map(|(name, value, body)| ExprKind::Let {
            name: Name::new(name),
            value,
            body
        }),
    ]
    .prop_map(Expr::from)
    .boxed()
}

fn binary_op() -> BoxedStrategy<BinaryOp> {
    select(vec![
        BinaryOp::Equal,
        BinaryOp::NotEqual,
        BinaryOp::Less,
        BinaryOp::LessOrEqual,
        BinaryOp::Greater,
        BinaryOp::GreaterOrEqual,
        BinaryOp::ShiftLeft,
        BinaryOp::ShiftRight,
        BinaryOp::ShiftRightZero,
        BinaryOp::Concat,
        BinaryOp::Add,
        BinaryOp::Subtract,
        BinaryOp::BitOr,
        BinaryOp::BitAnd,
        BinaryOp::BitXor,
        BinaryOp::Multiply,
        BinaryOp::Divide,
        BinaryOp::Modulo,
    ])
    .boxed()
}

fn integer_count() -> BoxedStrategy<Count> {
    prop_oneof![
        any::<u64>().prop_map(CountKind::Integer),
        identifier().prop_map(|name| CountKind::Parameter(format!("@{name}"))),
    ]
    .prop_map(|kind| Count { kind, span: Span::default() })
    .boxed()
}

fn top() -> BoxedStrategy<Top> {
    let double = (0.0..1e9).prop_map(|value| Count { kind: CountKind::Double(value), span: Span::default() });
    prop_oneof![integer_count(), double].prop_map(|count| Top { count, span: Span::default() }).boxed()
}

fn selection(inner: BoxedStrategy<Expr>) -> BoxedStrategy<Selection> {
    let item = (inner.clone(), option::of(name()), any::<bool>()).prop_map(|(expr, alias, parenthesised)| {
        let is_path = matches!(expr.kind, ExprKind::Identifier(_) | ExprKind::Member { .. });
        SelectItem { expr, alias, parenthesised: parenthesised && is_path }
    });
    prop_oneof![
        Just(Selection::Star),
        inner.prop_map(Selection::Value),
        prop::collection::vec(item, 1..4).prop_map(Selection::List),
    ]
    .boxed()
}

fn source(nested: BoxedStrategy<Option<Box<Query>>>) -> BoxedStrategy<Source> {
    let segment = prop_oneof![name().prop_map(PathSegment::Name), any::<u64>().prop_map(PathSegment::Index)];
    let path = (identifier(), prop::collection::vec(segment, 0..3))
        .prop_map(|(root, segments)| CollectionKind::Path { root: Name::new(root), segments });
    (path, nested, option::of(identifier()), any::<bool>())
        .prop_map(|(path, nested, alias, iterates)| {
            let kind = nested.map_or(path, CollectionKind::Query);
            let collection = Collection { kind, span: Span::default() };
            let kind = match alias.map(Name::new) {
                Some(alias) if iterates => SourceKind::Iterate { alias, collection },
                alias => SourceKind::Bind { collection, alias },
            };
            Source { kind, span: Span::default() }
        })
        .boxed()
}

fn order_by(inner: BoxedStrategy<Expr>) -> BoxedStrategy<OrderBy> {
    let direction = || select(vec![Direction::Ascending, Direction::Descending]);
    let item = (inner.clone(), direction()).prop_map(|(expr, direction)| OrderItem { expr, direction });
    let rank = (prop::collection::vec(inner, 0..3), option::of(direction())).prop_map(|(args, direction)| {
        OrderByKind::Rank { call: ExprKind::Call { name: Name::new("RRF"), args }.into(), direction }
    });
    prop_oneof![prop::collection::vec(item, 1..3).prop_map(OrderByKind::Items), rank]
        .prop_map(|kind| OrderBy { kind, span: Span::default() })
        .boxed()
}

fn query_over(inner: BoxedStrategy<Expr>, nested: BoxedStrategy<Option<Box<Query>>>) -> BoxedStrategy<Query> {
    let from = prop::collection::vec(source(nested), 1..3)
        .prop_map(|sources| FromClause { sources, span: Span::default() });
    let group_by =
        prop::collection::vec(inner.clone(), 1..3).prop_map(|keys| GroupBy { keys, span: Span::default() });
    let offset_limit = (integer_count(), integer_count()).prop_map(|(offset, limit)| OffsetLimit {
        offset,
        limit,
        span: Span::default(),
    });
    (
        (any::<bool>(), option::of(top()), selection(inner.clone())),
        option::of(from),
        option::of(inner.clone()),
        option::of(group_by),
        option::of(order_by(inner)),
        option::of(offset_limit),
    )
        .prop_map(|((distinct, top, selection), from, filter, group_by, order_by, offset_limit)| Query {
            distinct,
            top,
            from,
            filter,
            group_by,
            order_by,
            offset_limit,
            ..Query::new(selection)
        })
        .boxed()
}
