//! Counts of distinct rows, aggregates and groups, with what their plans say beyond that of `SELECT * FROM c`.

use expect_test::expect;

use super::rewrites::check;

#[test]
fn distinct_counts() {
    check(
        &[
            "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c)",
            "SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.x, t FROM c JOIN t IN c.tags WHERE c.y > 1) d",
            "SELECT COUNT(1) FROM (SELECT DISTINCT c.x FROM c)",
            "SELECT TOP 1 VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c WHERE c.pk IN (1, 2))",
            "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c WHERE c.pk = 1)",
            "SELECT VALUE COUNT(1) FROM (SELECT VALUE c.x FROM c)",
        ],
        expect![[r#"
            SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c)
              distinctType "Unordered"
              hasSelectValue true
              dCountInfo {"dCountAlias":""}
                SELECT DISTINCT VALUE c.x
                FROM c
            SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.x, t FROM c JOIN t IN c.tags WHERE c.y > 1) d
              distinctType "Unordered"
              dCountInfo {"dCountAlias":"n"}
                SELECT DISTINCT c.x, t
                FROM c
                JOIN t IN c.tags
                WHERE (c.y > 1)
            SELECT COUNT(1) FROM (SELECT DISTINCT c.x FROM c)
              distinctType "Unordered"
              dCountInfo {"dCountAlias":"$1"}
                SELECT DISTINCT c.x
                FROM c
            SELECT TOP 1 VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c WHERE c.pk IN (1, 2))
              distinctType "Unordered"
              hasSelectValue true
              dCountInfo {"dCountAlias":""}
              queryRanges [{"min":"11BEC098BB8A08943F0A144281ACC26C","max":"11BEC098BB8A08943F0A144281ACC26C","isMinInclusive":true,"isMaxInclusive":true},{"min":"20CD98B339BA78A5D0CF6953B87070B0","max":"20CD98B339BA78A5D0CF6953B87070B0","isMinInclusive":true,"isMaxInclusive":true}]
                SELECT DISTINCT VALUE c.x
                FROM c
                WHERE (c.pk IN (1, 2))
            SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c WHERE c.pk = 1)
              aggregates ["Count"]
              hasSelectValue true
              queryRanges [{"min":"20CD98B339BA78A5D0CF6953B87070B0","max":"20CD98B339BA78A5D0CF6953B87070B0","isMinInclusive":true,"isMaxInclusive":true}]
                SELECT VALUE [{"item": COUNT(1)}]
                FROM (SELECT DISTINCT VALUE c.x FROM c WHERE (c.pk = 1))
            SELECT VALUE COUNT(1) FROM (SELECT VALUE c.x FROM c)
              aggregates ["Count"]
              hasSelectValue true
                SELECT VALUE [{"item": COUNT(1)}]
                FROM (SELECT VALUE c.x FROM c)
        "#]],
    );
}

#[test]
fn aggregates_after_value() {
    check(
        &[
            "SELECT VALUE COUNT(1) FROM c",
            "SELECT VALUE count(c.x) FROM c WHERE c.y = 1",
            "SELECT VALUE SUM(c.x) FROM c",
            "SELECT VALUE AVG(c.x + 1) FROM c",
            "SELECT VALUE MIN(c.x) FROM c",
            "SELECT VALUE Max(c.x) FROM c",
            "SELECT VALUE COUNTIF(c.x > 1) FROM c",
            "SELECT VALUE MAKELIST(c.x) FROM c",
            "SELECT VALUE MAKESET(t) FROM c JOIN t IN c.tags",
            "SELECT TOP 5 VALUE AVG(c.name) FROM c",
            "SELECT DISTINCT VALUE COUNT(1) FROM c OFFSET 0 LIMIT 1",
        ],
        expect![[r#"
            SELECT VALUE COUNT(1) FROM c
              aggregates ["Count"]
              hasSelectValue true
                SELECT VALUE [{"item": COUNT(1)}]
                FROM c
            SELECT VALUE count(c.x) FROM c WHERE c.y = 1
              aggregates ["Count"]
              hasSelectValue true
                SELECT VALUE [{"item": count(c.x)}]
                FROM c
                WHERE (c.y = 1)
            SELECT VALUE SUM(c.x) FROM c
              aggregates ["Sum"]
              hasSelectValue true
                SELECT VALUE [{"item": SUM(c.x)}]
                FROM c
            SELECT VALUE AVG(c.x + 1) FROM c
              aggregates ["Average"]
              hasSelectValue true
                SELECT VALUE [{"item": {"sum": SUM((c.x + 1)), "count": COUNT((c.x + 1))}}]
                FROM c
            SELECT VALUE MIN(c.x) FROM c
              aggregates ["Min"]
              hasSelectValue true
                SELECT VALUE [{"item": MIN(c.x), "item2": {"min": MIN(c.x), "count": COUNT(c.x)}}]
                FROM c
            SELECT VALUE Max(c.x) FROM c
              aggregates ["Max"]
              hasSelectValue true
                SELECT VALUE [{"item": Max(c.x), "item2": {"max": MAX(c.x), "count": COUNT(c.x)}}]
                FROM c
            SELECT VALUE COUNTIF(c.x > 1) FROM c
              aggregates ["CountIf"]
              hasSelectValue true
                SELECT VALUE [{"item": COUNTIF((c.x > 1))}]
                FROM c
            SELECT VALUE MAKELIST(c.x) FROM c
              aggregates ["MakeList"]
              hasSelectValue true
                SELECT VALUE [{"item": MAKELIST(c.x)}]
                FROM c
            SELECT VALUE MAKESET(t) FROM c JOIN t IN c.tags
              aggregates ["MakeSet"]
              hasSelectValue true
                SELECT VALUE [{"item": MAKESET(t)}]
                FROM c
                JOIN t IN c.tags
            SELECT TOP 5 VALUE AVG(c.name) FROM c
              top 5
              aggregates ["Average"]
              hasSelectValue true
                SELECT VALUE [{"item": {"sum": SUM(c.name), "count": COUNT(c.name)}}]
                FROM c
            SELECT DISTINCT VALUE COUNT(1) FROM c OFFSET 0 LIMIT 1
              offset 0
              limit 1
              aggregates ["Count"]
              hasSelectValue true
                SELECT VALUE [{"item": COUNT(1)}]
                FROM c
        "#]],
    );
}

#[test]
fn aggregates_by_name() {
    check(
        &[
            "SELECT COUNT(c.x), AVG(c.y) AS a FROM c",
            "SELECT MIN(c.x) AS \"least one\", MAX(c.x), \"text\" AS label FROM c",
            "SELECT TOP 1 SUM(c.x) FROM c WHERE c.pk = 1",
        ],
        expect![[r#"
            SELECT COUNT(c.x), AVG(c.y) AS a FROM c
              groupByAliases ["$1","a"]
              groupByAliasToAggregateType {"$1":"Count","a":"Average"}
                SELECT {"$1": {"item": COUNT(c.x)}, "a": {"item": {"sum": SUM(c.y), "count": COUNT(c.y)}}} AS payload
                FROM c
            SELECT MIN(c.x) AS "least one", MAX(c.x), "text" AS label FROM c
              groupByAliases ["least one","$1","label"]
              groupByAliasToAggregateType {"least one":"Min","$1":"Max","label":null}
                SELECT {"least one": {"item": MIN(c.x), "item2": {"min": MIN(c.x), "count": COUNT(c.x)}}, "$1": {"item": MAX(c.x), "item2": {"max": MAX(c.x), "count": COUNT(c.x)}}, "label": "text"} AS payload
                FROM c
            SELECT TOP 1 SUM(c.x) FROM c WHERE c.pk = 1
              top 1
              groupByAliases ["$1"]
              groupByAliasToAggregateType {"$1":"Sum"}
              queryRanges [{"min":"20CD98B339BA78A5D0CF6953B87070B0","max":"20CD98B339BA78A5D0CF6953B87070B0","isMinInclusive":true,"isMaxInclusive":true}]
                SELECT {"$1": {"item": SUM(c.x)}} AS payload
                FROM c
                WHERE (c.pk = 1)
        "#]],
    );
}

#[test]
fn group_by() {
    check(
        &[
            "SELECT c.g AS name, COUNT(1) AS n FROM c GROUP BY c.g",
            "SELECT c.age, c.name FROM c WHERE c.x GROUP BY c.age, c.name",
            "SELECT UPPER(c.name) AS name, AVG(c.income) AS income FROM c GROUP BY UPPER(c.name)",
            "SELECT c.name, UPPER(c.name), MIN(c.age) FROM c GROUP BY c.name",
            "SELECT VALUE AVG(c.a) FROM c GROUP BY c.g",
            "SELECT VALUE c.g FROM c GROUP BY c.g",
            "SELECT VALUE {\"age\": c.age} FROM c GROUP BY c.age",
            "SELECT t, COUNT(1) AS n FROM c JOIN t IN c.tags GROUP BY t",
            "SELECT TOP 5 VALUE c.name FROM c GROUP BY c.name",
            "SELECT VALUE COUNT(1) FROM c WHERE c.x = 1 ORDER BY c.g",
            "SELECT DISTINCT c.g, COUNT(1) AS n FROM c GROUP BY c.g",
            "SELECT DISTINCT TOP 3 VALUE COUNT(1) FROM c WHERE c.pk = 5 GROUP BY c.g",
        ],
        expect![[r#"
            SELECT c.g AS name, COUNT(1) AS n FROM c GROUP BY c.g
              groupByExpressions ["c.g"]
              groupByAliases ["name","n"]
              groupByAliasToAggregateType {"name":null,"n":"Count"}
                SELECT [{"item": c.g}] AS groupByItems, {"name": c.g, "n": {"item": COUNT(1)}} AS payload
                FROM c
                GROUP BY c.g
            SELECT c.age, c.name FROM c WHERE c.x GROUP BY c.age, c.name
              groupByExpressions ["c.age","c.name"]
              groupByAliases ["age","name"]
              groupByAliasToAggregateType {"age":null,"name":null}
                SELECT [{"item": c.age}, {"item": c.name}] AS groupByItems, {"age": c.age, "name": c.name} AS payload
                FROM c
                WHERE c.x
                GROUP BY c.age, c.name
            SELECT UPPER(c.name) AS name, AVG(c.income) AS income FROM c GROUP BY UPPER(c.name)
              groupByExpressions ["UPPER(c.name)"]
              groupByAliases ["name","income"]
              groupByAliasToAggregateType {"name":null,"income":"Average"}
                SELECT [{"item": UPPER(c.name)}] AS groupByItems, {"name": UPPER(c.name), "income": {"item": {"sum": SUM(c.income), "count": COUNT(c.income)}}} AS payload
                FROM c
                GROUP BY UPPER(c.name)
            SELECT c.name, UPPER(c.name), MIN(c.age) FROM c GROUP BY c.name
              groupByExpressions ["c.name"]
              groupByAliases ["name","$1","$2"]
              groupByAliasToAggregateType {"name":null,"$1":null,"$2":"Min"}
                SELECT [{"item": c.name}] AS groupByItems, {"name": c.name, "$1": UPPER(c.name), "$2": {"item": MIN(c.age), "item2": {"min": MIN(c.age), "count": COUNT(c.age)}}} AS payload
                FROM c
                GROUP BY c.name
            SELECT VALUE AVG(c.a) FROM c GROUP BY c.g
              groupByExpressions ["c.g"]
              aggregates ["Average"]
              hasSelectValue true
                SELECT [{"item": c.g}] AS groupByItems, [{"item": {"sum": SUM(c.a), "count": COUNT(c.a)}}] AS payload
                FROM c
                GROUP BY c.g
            SELECT VALUE c.g FROM c GROUP BY c.g
              groupByExpressions ["c.g"]
              hasSelectValue true
                SELECT [{"item": c.g}] AS groupByItems, c.g AS payload
                FROM c
                GROUP BY c.g
            SELECT VALUE {"age": c.age} FROM c GROUP BY c.age
              groupByExpressions ["c.age"]
              hasSelectValue true
                SELECT [{"item": c.age}] AS groupByItems, {"age": c.age} AS payload
                FROM c
                GROUP BY c.age
            SELECT t, COUNT(1) AS n FROM c JOIN t IN c.tags GROUP BY t
              groupByExpressions ["t"]
              groupByAliases ["t","n"]
              groupByAliasToAggregateType {"t":null,"n":"Count"}
                SELECT [{"item": t}] AS groupByItems, {"t": t, "n": {"item": COUNT(1)}} AS payload
                FROM c
                JOIN t IN c.tags
                GROUP BY t
            SELECT TOP 5 VALUE c.name FROM c GROUP BY c.name
              top 5
              groupByExpressions ["c.name"]
              hasSelectValue true
                SELECT [{"item": c.name}] AS groupByItems, c.name AS payload
                FROM c
                GROUP BY c.name
            SELECT VALUE COUNT(1) FROM c WHERE c.x = 1 ORDER BY c.g
              aggregates ["Count"]
              hasSelectValue true
                SELECT VALUE [{"item": COUNT(1)}]
                FROM c
                WHERE (c.x = 1)
            SELECT DISTINCT c.g, COUNT(1) AS n FROM c GROUP BY c.g
              groupByExpressions ["c.g"]
              groupByAliases ["g","n"]
              groupByAliasToAggregateType {"g":null,"n":"Count"}
                SELECT [{"item": c.g}] AS groupByItems, {"g": c.g, "n": {"item": COUNT(1)}} AS payload
                FROM c
                GROUP BY c.g
            SELECT DISTINCT TOP 3 VALUE COUNT(1) FROM c WHERE c.pk = 5 GROUP BY c.g
              top 3
              hasSelectValue true
              queryRanges [{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true}]
        "#]],
    );
}
