//! How trees are written, and that every tree survives being written and read.

mod random;

use expect_test::expect;
use proptest::prelude::*;

use crate::ast::{Expr, ExprKind, Literal};
use crate::{parse, parse_expression};

#[test]
fn queries_have_a_line_per_clause() {
    let show = |text: &str| format!("{}\n\n", parse(text).unwrap());
    let shown: String = [
        r#"select c._rid, [{item: c.x}] as orderByItems, c payload from c where c.a = 5 order by c.x asc"#,
        "select distinct top 3 value c['order'].a['b c'][0] from c c2",
        "select * from f join c in f.children join (select value t from t in c.tags where t > 1) as t where f.a and \
         f.b or not f.c group by f.x, lower(f.y) order by f.z desc, f.u offset 1 limit @l",
        "select (c.a), (c.a + 1), c['x y'] 'out name', c.b \"order\", (1).a, (-1)[0], - -1, -(c.a), +1 from c",
        r#"select value {a: 'q"u\'o', "b c": [1, 1.0, 1e21, -0, .1], d: exists(select 1), e: udf.f(@p)} from c"#,
        "select value (let x = 1 in x + 1) ?? (a ? b : c) from r order by rank rrf(f(a), f(b), [1, -2])",
        r"select * from c where c.a not in (1) and c.b not like 'x%' escape '\\' or c.d not between 1 and 2",
        "select value all(select 1) and first(select 2) and last(select 3) = array(select value 4)",
    ]
    .into_iter()
    .map(show)
    .collect();
    expect![[r#"
        SELECT c._rid, [{"item": c.x}] AS orderByItems, c AS payload
        FROM c
        WHERE (c.a = 5)
        ORDER BY c.x

        SELECT DISTINCT TOP 3 VALUE c["order"].a["b c"][0]
        FROM c AS c2

        SELECT *
        FROM f
        JOIN c IN f.children
        JOIN (SELECT VALUE t FROM t IN c.tags WHERE (t > 1)) AS t
        WHERE ((f.a AND f.b) OR NOT f.c)
        GROUP BY f.x, lower(f.y)
        ORDER BY f.z DESC, f.u
        OFFSET 1 LIMIT @l

        SELECT (c.a), (c.a + 1), c["x y"] AS "out name", c.b AS "order", (1).a, (-1)[0], -(-1), -c.a, +(1)
        FROM c

        SELECT VALUE {"a": "q\"u'o", "b c": [1, 1.0, 1e21, -0.0, 0.1], "d": EXISTS(SELECT 1), "e": udf.f(@p)}
        FROM c

        SELECT VALUE ((LET x = 1 IN (x + 1)) ?? (a ? b : c))
        FROM r
        ORDER BY RANK rrf(f(a), f(b), [1, -2])

        SELECT *
        FROM c
        WHERE (((c.a NOT IN (1)) AND (c.b NOT LIKE "x%" ESCAPE "\\")) OR (c.d NOT BETWEEN 1 AND 2))

        SELECT VALUE (ALL(SELECT 1) AND FIRST(SELECT 2) AND (LAST(SELECT 3) = ARRAY(SELECT VALUE 4)))

    "#]]
    .assert_eq(&shown);
}

#[test]
fn identifiers_are_written_as_they_are() {
    let mark = Expr::from(ExprKind::Identifier("{documentdb-formattableorderbyquery-filter}".to_owned()));
    let filter = parse_expression("c.a = 5").unwrap();
    let both = Expr::from(ExprKind::And(vec![filter, mark]));
    assert_eq!(both.to_string(), "((c.a = 5) AND {documentdb-formattableorderbyquery-filter})");
}

#[test]
fn numbers_keep_their_kind() {
    for (literal, printed) in [
        (Literal::Int(i64::MIN), "-9223372036854775808"),
        (Literal::Int(i64::MAX), "9223372036854775807"),
        (Literal::Double(1.0), "1.0"),
        (Literal::Double(-0.0), "-0.0"),
        (Literal::Double(1e300), "1e300"),
        (Literal::Double(5e-324), "5e-324"),
        (Literal::Double(9_007_199_254_740_993.0), "9007199254740992.0"),
        (Literal::Double(f64::NAN), "NaN"),
        (Literal::Double(-f64::NAN), "NaN"),
        (Literal::Double(f64::INFINITY), "Infinity"),
        (Literal::Double(f64::NEG_INFINITY), "-Infinity"),
    ] {
        let expr = Expr::from(ExprKind::Literal(literal));
        assert_eq!(expr.to_string(), printed);
        assert_eq!(parse_expression(printed), Ok(expr), "{printed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_expressions_are_read_back(tree in random::expr()) {
        let printed = tree.to_string();
        prop_assert_eq!(parse_expression(&printed), Ok(tree), "{}", printed);
    }

    #[test]
    fn printed_queries_are_read_back(tree in random::query()) {
        let printed = tree.to_string();
        prop_assert_eq!(parse(&printed), Ok(tree), "{}", printed);
    }

    #[test]
    fn strings_are_read_back(text in any::<String>()) {
        let tree = Expr::from(ExprKind::Literal(Literal::String(text)));
        prop_assert_eq!(parse_expression(&tree.to_string()), Ok(tree));
    }

    #[test]
    fn doubles_are_read_back(bits in any::<u64>()) {
        let tree = Expr::from(ExprKind::Literal(Literal::Double(f64::from_bits(bits))));
        prop_assert_eq!(parse_expression(&tree.to_string()), Ok(tree));
    }

    #[test]
    fn integers_are_read_back(integer in any::<i64>()) {
        let tree = Expr::from(ExprKind::Literal(Literal::Int(integer)));
        prop_assert_eq!(parse_expression(&tree.to_string()), Ok(tree));
    }
}
