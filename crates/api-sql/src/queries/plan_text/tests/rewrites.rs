//! Each kind of query, with what its plan says beyond that of `SELECT * FROM c`.

use armilla_value::Value;
use expect_test::{Expect, expect};

use armilla_query::gateway::{FILTER_MARK, Features};

use super::support::{bound, shape, summary, try_plan};

#[track_caller]
pub(super) fn check(queries: &[&str], expected: Expect) {
    check_with(queries, &[], expected);
}

#[track_caller]
fn check_with(queries: &[&str], parameters: &[(String, Value)], expected: Expect) {
    let mut text = String::new();
    for query in queries {
        text.push_str(&summary(query, parameters));
        check_rewritten(query, parameters);
    }
    expected.assert_eq(&text);
}

/// What clients send instead of the query is well formed, whatever they put in the place of the mark.
#[track_caller]
fn check_rewritten(query: &str, parameters: &[(String, Value)]) {
    let plan = try_plan(query, parameters, &shape(&["/pk"]), Features::ALL).unwrap();
    let text = plan.query_info.rewritten_query;
    if text.is_empty() {
        return;
    }
    assert_eq!(
        text.matches(FILTER_MARK).count(),
        usize::from(!plan.query_info.order_by.is_empty()),
        "{text}"
    );
    let first = &plan.query_info.order_by_expressions;
    let filters = ["true".to_owned(), "false OR false".to_owned()].into_iter().chain(
        first.first().map(|key| format!("( {key} > 5 OR IS_STRING({key}) OR NOT IS_DEFINED({key}) )")),
    );
    for filter in filters {
        let (ast, _) = bound(&text.replace(FILTER_MARK, &filter), parameters);
        // Printing again changes nothing.
        assert_eq!(armilla_sql::parse(&ast.to_string()).unwrap(), ast);
    }
}

#[test]
fn plain() {
    check(
        &[
            "SELECT * FROM c",
            "SELECT VALUE c.x FROM c WHERE c.x > 5",
            "SELECT c.id, (SELECT VALUE COUNT(1) FROM t IN c.tags) AS n FROM c",
            "SELECT c.name, s FROM c JOIN (SELECT VALUE score FROM score IN c.scores GROUP BY score) s",
            "SELECT * FROM c WHERE c.pk = 5",
        ],
        expect![[r#"
            SELECT * FROM c
            SELECT VALUE c.x FROM c WHERE c.x > 5
              hasSelectValue true
            SELECT c.id, (SELECT VALUE COUNT(1) FROM t IN c.tags) AS n FROM c
            SELECT c.name, s FROM c JOIN (SELECT VALUE score FROM score IN c.scores GROUP BY score) s
            SELECT * FROM c WHERE c.pk = 5
              queryRanges [{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true}]
        "#]],
    );
}

#[test]
fn order_by() {
    check(
        &[
            "SELECT * FROM c ORDER BY c.k",
            "SELECT * FROM Root r WHERE r.a = 5 OR r.b ORDER BY r.k DESC",
            "SELECT c.a, c.b.d, c[\"odd name\"], c.arr[0], 1 + 1 AS two FROM c ORDER BY c.k ASC",
            "SELECT VALUE c.a FROM c ORDER BY c.k",
            "SELECT VALUE c.a FROM c WHERE c.b = 1 AND c.d ORDER BY c.k",
            "SELECT * FROM c ORDER BY c.k, c[\"l m\"] DESC, c.n[1]",
            "SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE t != \"x\" ORDER BY c.k",
            "SELECT * FROM c.address a ORDER BY a.city",
            "SELECT TOP 10 * FROM c ORDER BY c.k",
            "SELECT * FROM c ORDER BY c.k OFFSET 5 LIMIT 10",
            "SELECT * FROM c WHERE c.pk IN (1, 2) ORDER BY c.pk",
        ],
        expect![[r#"
            SELECT * FROM c ORDER BY c.k
              orderBy ["Ascending"]
              orderByExpressions ["c.k"]
                SELECT c._rid, [{"item": c.k}] AS orderByItems, c AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.k
            SELECT * FROM Root r WHERE r.a = 5 OR r.b ORDER BY r.k DESC
              orderBy ["Descending"]
              orderByExpressions ["r.k"]
                SELECT r._rid, [{"item": r.k}] AS orderByItems, r AS payload
                FROM Root AS r
                WHERE (((r.a = 5) OR r.b) AND ({documentdb-formattableorderbyquery-filter}))
                ORDER BY r.k DESC
            SELECT c.a, c.b.d, c["odd name"], c.arr[0], 1 + 1 AS two FROM c ORDER BY c.k ASC
              orderBy ["Ascending"]
              orderByExpressions ["c.k"]
                SELECT c._rid, [{"item": c.k}] AS orderByItems, {"a": c.a, "d": c.b.d, "odd name": c["odd name"], "$1": c.arr[0], "two": (1 + 1)} AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.k
            SELECT VALUE c.a FROM c ORDER BY c.k
              orderBy ["Ascending"]
              orderByExpressions ["c.k"]
              hasSelectValue true
                SELECT c._rid, [{"item": c.k}] AS orderByItems, c.a AS payload
                FROM c
                WHERE (({documentdb-formattableorderbyquery-filter}) AND IS_DEFINED(c.a))
                ORDER BY c.k
            SELECT VALUE c.a FROM c WHERE c.b = 1 AND c.d ORDER BY c.k
              orderBy ["Ascending"]
              orderByExpressions ["c.k"]
              hasSelectValue true
                SELECT c._rid, [{"item": c.k}] AS orderByItems, c.a AS payload
                FROM c
                WHERE (((c.b = 1) AND c.d) AND ({documentdb-formattableorderbyquery-filter}) AND IS_DEFINED(c.a))
                ORDER BY c.k
            SELECT * FROM c ORDER BY c.k, c["l m"] DESC, c.n[1]
              orderBy ["Ascending","Descending","Ascending"]
              orderByExpressions ["c.k","c[\"l m\"]","c.n[1]"]
                SELECT c._rid, [{"item": c.k}, {"item": c["l m"]}, {"item": c.n[1]}] AS orderByItems, c AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.k, c["l m"] DESC, c.n[1]
            SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE t != "x" ORDER BY c.k
              orderBy ["Ascending"]
              orderByExpressions ["c.k"]
                SELECT c._rid, [{"item": c.k}] AS orderByItems, {"id": c.id, "tag": t} AS payload
                FROM c
                JOIN t IN c.tags
                WHERE ((t != "x") AND ({documentdb-formattableorderbyquery-filter}))
                ORDER BY c.k
            SELECT * FROM c.address a ORDER BY a.city
              orderBy ["Ascending"]
              orderByExpressions ["a.city"]
                SELECT "" AS _rid, [{"item": a.city}] AS orderByItems, a AS payload
                FROM c.address AS a
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY a.city
            SELECT TOP 10 * FROM c ORDER BY c.k
              top 10
              orderBy ["Ascending"]
              orderByExpressions ["c.k"]
                SELECT TOP 10 c._rid, [{"item": c.k}] AS orderByItems, c AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.k
            SELECT * FROM c ORDER BY c.k OFFSET 5 LIMIT 10
              offset 5
              limit 10
              orderBy ["Ascending"]
              orderByExpressions ["c.k"]
                SELECT c._rid, [{"item": c.k}] AS orderByItems, c AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.k
                OFFSET 0 LIMIT 15
            SELECT * FROM c WHERE c.pk IN (1, 2) ORDER BY c.pk
              orderBy ["Ascending"]
              orderByExpressions ["c.pk"]
              queryRanges [{"min":"11BEC098BB8A08943F0A144281ACC26C","max":"11BEC098BB8A08943F0A144281ACC26C","isMinInclusive":true,"isMaxInclusive":true},{"min":"20CD98B339BA78A5D0CF6953B87070B0","max":"20CD98B339BA78A5D0CF6953B87070B0","isMinInclusive":true,"isMaxInclusive":true}]
                SELECT c._rid, [{"item": c.pk}] AS orderByItems, c AS payload
                FROM c
                WHERE ((c.pk IN (1, 2)) AND ({documentdb-formattableorderbyquery-filter}))
                ORDER BY c.pk
        "#]],
    );
}

#[test]
fn one_logical_partition_merges_nothing() {
    check(
        &[
            "SELECT * FROM c WHERE c.pk = 5 ORDER BY c.k",
            "SELECT * FROM c WHERE c.pk = 5 OFFSET 1 LIMIT 2",
            "SELECT TOP 5 * FROM c WHERE c.pk = 5",
            "SELECT TOP 5 VALUE c.x FROM c WHERE c.pk = 5 ORDER BY c.x",
            "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 5 OFFSET 1 LIMIT 2",
            "SELECT DISTINCT * FROM c WHERE c.pk = 5 OFFSET 1 LIMIT 2",
            "SELECT c.name FROM c WHERE c.pk = 5 GROUP BY c.name OFFSET 1 LIMIT 2",
        ],
        expect![[r#"
            SELECT * FROM c WHERE c.pk = 5 ORDER BY c.k
              queryRanges [{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true}]
            SELECT * FROM c WHERE c.pk = 5 OFFSET 1 LIMIT 2
              queryRanges [{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true}]
            SELECT TOP 5 * FROM c WHERE c.pk = 5
              top 5
              queryRanges [{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true}]
            SELECT TOP 5 VALUE c.x FROM c WHERE c.pk = 5 ORDER BY c.x
              top 5
              hasSelectValue true
              queryRanges [{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true}]
            SELECT VALUE COUNT(1) FROM c WHERE c.pk = 5 OFFSET 1 LIMIT 2
              offset 1
              limit 2
              aggregates ["Count"]
              hasSelectValue true
              queryRanges [{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true}]
                SELECT VALUE [{"item": COUNT(1)}]
                FROM c
                WHERE (c.pk = 5)
            SELECT DISTINCT * FROM c WHERE c.pk = 5 OFFSET 1 LIMIT 2
              distinctType "Unordered"
              offset 1
              limit 2
              queryRanges [{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true}]
                SELECT DISTINCT *
                FROM c
                WHERE (c.pk = 5)
            SELECT c.name FROM c WHERE c.pk = 5 GROUP BY c.name OFFSET 1 LIMIT 2
              offset 1
              limit 2
              groupByExpressions ["c.name"]
              groupByAliases ["name"]
              groupByAliasToAggregateType {"name":null}
              queryRanges [{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true}]
                SELECT [{"item": c.name}] AS groupByItems, {"name": c.name} AS payload
                FROM c
                WHERE (c.pk = 5)
                GROUP BY c.name
        "#]],
    );
}

#[test]
fn top_and_offset() {
    check(
        &[
            "SELECT TOP 5 * FROM c WHERE c.a = 5",
            "SELECT TOP 0 * FROM c",
            "SELECT * FROM c WHERE c.a = 5 OFFSET 1 LIMIT 2",
            "SELECT * FROM c OFFSET 0 LIMIT 0",
            "SELECT c.name FROM c OFFSET 2147483647 LIMIT 10",
            "SELECT c.name FROM c OFFSET 4294967295 LIMIT 4294967295",
        ],
        expect![[r#"
            SELECT TOP 5 * FROM c WHERE c.a = 5
              top 5
            SELECT TOP 0 * FROM c
              top 0
            SELECT * FROM c WHERE c.a = 5 OFFSET 1 LIMIT 2
              offset 1
              limit 2
                SELECT *
                FROM c
                WHERE (c.a = 5)
                OFFSET 0 LIMIT 3
            SELECT * FROM c OFFSET 0 LIMIT 0
              offset 0
              limit 0
                SELECT *
                FROM c
                OFFSET 0 LIMIT 0
            SELECT c.name FROM c OFFSET 2147483647 LIMIT 10
              offset 2147483647
              limit 10
                SELECT c.name
                FROM c
                OFFSET 0 LIMIT 2147483657
            SELECT c.name FROM c OFFSET 4294967295 LIMIT 4294967295
              offset 4294967295
              limit 4294967295
                SELECT c.name
                FROM c
                OFFSET 0 LIMIT 4294967295
        "#]],
    );
    let parameters =
        [("@skip", 42), ("@take", 1337)].map(|(name, count)| (name.to_owned(), Value::Int64(count)));
    check_with(
        &[
            "SELECT * FROM c OFFSET @skip LIMIT @take",
            "SELECT TOP @take * FROM c",
            "SELECT TOP @take * FROM c WHERE c.x > @skip ORDER BY c.x",
        ],
        &parameters,
        expect![[r#"
            SELECT * FROM c OFFSET @skip LIMIT @take
              offset 42
              limit 1337
                SELECT *
                FROM c
                OFFSET 0 LIMIT 1379
            SELECT TOP @take * FROM c
              top 1337
            SELECT TOP @take * FROM c WHERE c.x > @skip ORDER BY c.x
              top 1337
              orderBy ["Ascending"]
              orderByExpressions ["c.x"]
                SELECT TOP 1337 c._rid, [{"item": c.x}] AS orderByItems, c AS payload
                FROM c
                WHERE ((c.x > @skip) AND ({documentdb-formattableorderbyquery-filter}))
                ORDER BY c.x
        "#]],
    );
}

#[test]
fn distinct() {
    check(
        &[
            "SELECT DISTINCT c.x FROM c",
            "SELECT DISTINCT TOP 5 VALUE c.name FROM c",
            "SELECT DISTINCT VALUE c.name FROM c OFFSET 1 LIMIT 2",
            "SELECT DISTINCT VALUE c.x FROM c ORDER BY c.x",
            "SELECT DISTINCT TOP 5 VALUE c.x FROM c ORDER BY c.x DESC",
            "SELECT DISTINCT c.x FROM c ORDER BY c.x OFFSET 1 LIMIT 2",
            "SELECT DISTINCT c.y, c.x FROM c ORDER BY c.x, c.y",
            "SELECT DISTINCT c.x FROM c ORDER BY c.x, c.y",
            "SELECT DISTINCT c.y FROM c ORDER BY c.x, c.y",
            "SELECT DISTINCT c.x, c.y FROM c ORDER BY c.x",
            "SELECT DISTINCT * FROM c ORDER BY c.x",
        ],
        expect![[r#"
            SELECT DISTINCT c.x FROM c
              distinctType "Unordered"
            SELECT DISTINCT TOP 5 VALUE c.name FROM c
              distinctType "Unordered"
              top 5
              hasSelectValue true
                SELECT DISTINCT VALUE c.name
                FROM c
            SELECT DISTINCT VALUE c.name FROM c OFFSET 1 LIMIT 2
              distinctType "Unordered"
              offset 1
              limit 2
              hasSelectValue true
                SELECT DISTINCT VALUE c.name
                FROM c
            SELECT DISTINCT VALUE c.x FROM c ORDER BY c.x
              distinctType "Ordered"
              orderBy ["Ascending"]
              orderByExpressions ["c.x"]
              hasSelectValue true
                SELECT c._rid, [{"item": c.x}] AS orderByItems, c.x AS payload
                FROM c
                WHERE (({documentdb-formattableorderbyquery-filter}) AND IS_DEFINED(c.x))
                ORDER BY c.x
            SELECT DISTINCT TOP 5 VALUE c.x FROM c ORDER BY c.x DESC
              distinctType "Ordered"
              top 5
              orderBy ["Descending"]
              orderByExpressions ["c.x"]
              hasSelectValue true
                SELECT c._rid, [{"item": c.x}] AS orderByItems, c.x AS payload
                FROM c
                WHERE (({documentdb-formattableorderbyquery-filter}) AND IS_DEFINED(c.x))
                ORDER BY c.x DESC
            SELECT DISTINCT c.x FROM c ORDER BY c.x OFFSET 1 LIMIT 2
              distinctType "Ordered"
              offset 1
              limit 2
              orderBy ["Ascending"]
              orderByExpressions ["c.x"]
                SELECT c._rid, [{"item": c.x}] AS orderByItems, {"x": c.x} AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.x
            SELECT DISTINCT c.y, c.x FROM c ORDER BY c.x, c.y
              distinctType "Ordered"
              orderBy ["Ascending","Ascending"]
              orderByExpressions ["c.x","c.y"]
                SELECT c._rid, [{"item": c.x}, {"item": c.y}] AS orderByItems, {"y": c.y, "x": c.x} AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.x, c.y
            SELECT DISTINCT c.x FROM c ORDER BY c.x, c.y
              distinctType "Ordered"
              orderBy ["Ascending","Ascending"]
              orderByExpressions ["c.x","c.y"]
                SELECT c._rid, [{"item": c.x}, {"item": c.y}] AS orderByItems, {"x": c.x} AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.x, c.y
            SELECT DISTINCT c.y FROM c ORDER BY c.x, c.y
              distinctType "Unordered"
              orderBy ["Ascending","Ascending"]
              orderByExpressions ["c.x","c.y"]
                SELECT c._rid, [{"item": c.x}, {"item": c.y}] AS orderByItems, {"y": c.y} AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.x, c.y
            SELECT DISTINCT c.x, c.y FROM c ORDER BY c.x
              distinctType "Unordered"
              orderBy ["Ascending"]
              orderByExpressions ["c.x"]
                SELECT c._rid, [{"item": c.x}] AS orderByItems, {"x": c.x, "y": c.y} AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.x
            SELECT DISTINCT * FROM c ORDER BY c.x
              distinctType "Unordered"
              orderBy ["Ascending"]
              orderByExpressions ["c.x"]
                SELECT c._rid, [{"item": c.x}] AS orderByItems, c AS payload
                FROM c
                WHERE ({documentdb-formattableorderbyquery-filter})
                ORDER BY c.x
        "#]],
    );
}
