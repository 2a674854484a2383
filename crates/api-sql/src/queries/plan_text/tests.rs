//! Plans of queries, and that what they tell clients to send is well formed.

mod groups;
mod rewrites;
mod support;

use expect_test::{Expect, expect};

use armilla_query::ErrorKind;
use armilla_query::gateway::{Feature, Features, needs_merge};

use support::{features_of, full, json, outcome, shape, try_plan};

/// Compares a whole plan.
#[track_caller]
fn check_json(query: &str, expected: Expect) {
    expected.assert_eq(&json(query, &[], &shape(&["/pk"])));
}

#[test]
fn the_whole_answer() {
    check_json(
        "SELECT * FROM c ORDER BY c.x",
        expect![[
            r#"{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"offset":null,"limit":null,"orderBy":["Ascending"],"orderByExpressions":["c.x"],"groupByExpressions":[],"groupByAliases":[],"aggregates":[],"groupByAliasToAggregateType":{},"rewrittenQuery":"SELECT c._rid, [{\"item\": c.x}] AS orderByItems, c AS payload\nFROM c\nWHERE ({documentdb-formattableorderbyquery-filter})\nORDER BY c.x","hasSelectValue":false,"dCountInfo":null,"hasNonStreamingOrderBy":false},"queryRanges":[{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}]}"#
        ]],
    );
    check_json(
        "SELECT c.team, COUNT(1), MAX(c[\"é\"]) AS \"höchst\" FROM c WHERE c.pk IN (\"a\", 5) GROUP BY c.team OFFSET 2 LIMIT 3",
        expect![[
            r#"{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"offset":2,"limit":3,"orderBy":[],"orderByExpressions":[],"groupByExpressions":["c.team"],"groupByAliases":["team","$1","höchst"],"aggregates":[],"groupByAliasToAggregateType":{"team":null,"$1":"Count","höchst":"Max"},"rewrittenQuery":"SELECT [{\"item\": c.team}] AS groupByItems, {\"team\": c.team, \"$1\": {\"item\": COUNT(1)}, \"höchst\": {\"item\": MAX(c[\"é\"]), \"item2\": {\"max\": MAX(c[\"é\"]), \"count\": COUNT(c[\"é\"])}}} AS payload\nFROM c\nWHERE (c.pk IN (\"a\", 5))\nGROUP BY c.team","hasSelectValue":false,"dCountInfo":null,"hasNonStreamingOrderBy":false},"queryRanges":[{"min":"19C08621B135968252FB34B4CF66F811","max":"19C08621B135968252FB34B4CF66F811","isMinInclusive":true,"isMaxInclusive":true},{"min":"3A5381E1114EB8D3FCC90795045B49B7","max":"3A5381E1114EB8D3FCC90795045B49B7","isMinInclusive":true,"isMaxInclusive":true}]}"#
        ]],
    );
    check_json(
        "SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.x FROM c)",
        expect![[
            r#"{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"Unordered","top":null,"offset":null,"limit":null,"orderBy":[],"orderByExpressions":[],"groupByExpressions":[],"groupByAliases":[],"aggregates":[],"groupByAliasToAggregateType":{},"rewrittenQuery":"SELECT DISTINCT c.x\nFROM c","hasSelectValue":false,"dCountInfo":{"dCountAlias":"n"},"hasNonStreamingOrderBy":false},"queryRanges":[{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}]}"#
        ]],
    );
    check_json(
        "SELECT * FROM c WHERE c.pk = \"a\" AND c.pk = \"b\"",
        expect![[
            r#"{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"offset":null,"limit":null,"orderBy":[],"orderByExpressions":[],"groupByExpressions":[],"groupByAliases":[],"aggregates":[],"groupByAliasToAggregateType":{},"rewrittenQuery":"","hasSelectValue":false,"dCountInfo":null,"hasNonStreamingOrderBy":false},"queryRanges":[{"min":"","max":"","isMinInclusive":true,"isMaxInclusive":true}]}"#
        ]],
    );
}

#[test]
fn features_are_read_from_the_header() {
    let python = "Aggregate,CompositeAggregate,Distinct,MultipleOrderBy,OffsetAndLimit,OrderBy,Top,\
                  NonStreamingOrderBy,HybridSearch,CountIf,WeightedRankFusion";
    let features = Features::parse(python);
    assert!(features.contains(Feature::CountIf) && !features.contains(Feature::GroupBy));
    assert_eq!(
        Features::parse(" top , nonsense,, OrderBy "),
        [Feature::Top, Feature::OrderBy].into_iter().collect()
    );
    assert_eq!(Features::parse(""), Features::default());
    for feature in Feature::ALL {
        assert!(Features::ALL.contains(*feature));
        assert_eq!(Features::parse(feature.name()), [*feature].into_iter().collect());
        assert!(!Features::default().contains(*feature));
    }
    assert_eq!(Feature::ALL.iter().copied().collect::<Features>(), Features::ALL);
}

/// The features without which a query is refused, each alone.
#[test]
fn features_that_queries_need() {
    let cases = [
        ("SELECT * FROM c WHERE c.a = 1", ""),
        ("SELECT TOP 5 * FROM c", "Top"),
        ("SELECT TOP 5 * FROM c WHERE c.pk = 1 ORDER BY c.x", "Top"),
        ("SELECT * FROM c OFFSET 1 LIMIT 2", "OffsetAndLimit"),
        ("SELECT * FROM c WHERE c.pk = 1 OFFSET 1 LIMIT 2", ""),
        ("SELECT * FROM c ORDER BY c.x", "OrderBy"),
        ("SELECT * FROM c WHERE c.pk = 1 ORDER BY c.x", ""),
        ("SELECT * FROM c ORDER BY c.x, c.y DESC", "MultipleOrderBy"),
        ("SELECT DISTINCT c.x FROM c", "Distinct"),
        ("SELECT DISTINCT VALUE c.x FROM c ORDER BY c.x", "Distinct OrderBy"),
        ("SELECT VALUE AVG(c.x) FROM c", "Aggregate"),
        ("SELECT VALUE AVG(c.x) FROM c WHERE c.pk = 1", "Aggregate"),
        ("SELECT VALUE COUNTIF(c.x) FROM c", "Aggregate CountIf"),
        ("SELECT VALUE MAKELIST(c.x) FROM c", "Aggregate ListAndSetAggregate"),
        ("SELECT MAKESET(c.x) FROM c", "ListAndSetAggregate NonValueAggregate"),
        ("SELECT COUNT(1) FROM c", "NonValueAggregate"),
        ("SELECT COUNT(1), SUM(c.x) FROM c", "MultipleAggregates NonValueAggregate"),
        ("SELECT c.g FROM c GROUP BY c.g", "GroupBy"),
        ("SELECT VALUE COUNT(1) FROM c GROUP BY c.g", "Aggregate GroupBy"),
        ("SELECT c.g, COUNT(1) FROM c GROUP BY c.g", "GroupBy NonValueAggregate"),
        (
            "SELECT c.g, COUNT(1), MIN(c.x) FROM c GROUP BY c.g",
            "GroupBy MultipleAggregates NonValueAggregate",
        ),
        ("SELECT VALUE COUNT(1) FROM c ORDER BY c.x", "Aggregate"),
        ("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c)", "DCount Distinct"),
        ("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c WHERE c.pk = 1)", "Aggregate"),
    ];
    for (query, expected) in cases {
        assert_eq!(features_of(query), expected, "{query}");
    }
}

#[test]
fn each_missing_feature_is_named() {
    let features = Features::parse("Aggregate,Top");
    let error = try_plan("SELECT DISTINCT TOP 3 c.x FROM c ORDER BY c.x", &[], &shape(&["/pk"]), features)
        .unwrap_err();
    expect![[r#"
        Query contains 1 or more unsupported features. Upgrade your SDK to a version that does support the requested features:
        Query contained Distinct, which the calling client does not support.
        Query contained OrderBy, which the calling client does not support."#]].assert_eq(&error.message.replace("\r\n", "\n"));
    let error =
        try_plan("SELECT c.g, COUNT(1) FROM c GROUP BY c.g", &[], &shape(&["/pk"]), features).unwrap_err();
    expect![[r#"
        Query contains 1 or more unsupported features. Upgrade your SDK to a version that does support the requested features:
        Query contained GroupBy, which the calling client does not support.
        Query contained NonValueAggregate, which the calling client does not support. Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates."#]].assert_eq(&error.message.replace("\r\n", "\n"));
    assert_eq!(error.kind, ErrorKind::Refused);
}

#[test]
fn what_no_client_can_merge_is_refused() {
    let composed = "Compositions of aggregates and other expressions are not allowed.";
    let derived = "A query over the rows of a subquery with DISTINCT, GROUP BY or aggregates is only supported \
                   within one partition key.";
    let groups = "DISTINCT with GROUP BY is only supported within one partition key, or if all grouping expressions \
                  are selected.";
    let cut = "TOP or OFFSET LIMIT must not leave out the number of distinct rows.";
    let cases = [
        ("SELECT VALUE SUM(c.a) / COUNT(1) FROM c", composed),
        ("SELECT VALUE AVG(c.x) + 1 FROM c WHERE c.pk = 1", composed),
        ("SELECT VALUE {'sum': SUM(c.x)} FROM c", composed),
        ("SELECT VALUE [SUM(c.x)] FROM c", composed),
        ("SELECT VALUE FLOOR(AVG(c.x)) FROM c", composed),
        ("SELECT VALUE MAKELIST(c.x)[0] FROM c", composed),
        ("SELECT c.name, ABS(AVG(c.age)) AS a FROM c GROUP BY c.name", composed),
        ("SELECT * FROM (SELECT c.x, COUNT(1) AS n FROM c GROUP BY c.x) g WHERE g.n > 1", derived),
        ("SELECT * FROM (SELECT DISTINCT c.x FROM c) d", derived),
        ("SELECT VALUE SUM(d) FROM (SELECT DISTINCT VALUE c.x FROM c) d", derived),
        ("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c) d WHERE d > 1", derived),
        ("SELECT VALUE COUNT(1) FROM (SELECT VALUE COUNT(1) FROM c) d", derived),
        (
            "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE d FROM (SELECT DISTINCT VALUE c.x FROM c) d)",
            derived,
        ),
        ("SELECT COUNT(1) AS a, \"b\" AS b FROM (SELECT DISTINCT VALUE c.x FROM c)", derived),
        ("SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c.g", groups),
        ("SELECT DISTINCT c.g FROM c GROUP BY c.g, c.h", groups),
        ("SELECT TOP 0 VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c)", cut),
        ("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c) OFFSET 1 LIMIT 1", cut),
    ];
    for (query, expected) in cases {
        let error = try_plan(query, &[], &shape(&["/pk"]), Features::ALL).unwrap_err();
        assert_eq!((error.message.as_str(), &error.kind), (expected, &ErrorKind::Refused), "{query}");
    }
    // Within one logical partition there is nothing to merge.
    for query in [
        "SELECT * FROM (SELECT c.x, COUNT(1) AS n FROM c WHERE c.pk = 1 GROUP BY c.x) g WHERE g.n > 1",
        "SELECT * FROM (SELECT DISTINCT c.x FROM c WHERE c.pk = 1) d",
        "SELECT VALUE SUM(d) FROM (SELECT DISTINCT VALUE c.x FROM c WHERE c.pk = 1) d",
    ] {
        assert!(try_plan(query, &[], &shape(&["/pk"]), Features::ALL).is_ok(), "{query}");
    }
}

#[test]
fn queries_that_need_merging() {
    let merged = [
        "SELECT * FROM c ORDER BY c.x",
        "SELECT TOP 1 * FROM c",
        "SELECT * FROM c OFFSET 0 LIMIT 1",
        "SELECT DISTINCT c.x FROM c",
        "SELECT c.x FROM c GROUP BY c.x",
        "SELECT VALUE COUNT(1) FROM c",
        "SELECT SUM(c.x) / COUNT(1) FROM c",
        "SELECT * FROM (SELECT DISTINCT c.x FROM c) d",
        "SELECT e FROM e IN (SELECT VALUE MAKELIST(c.x) FROM c)",
    ];
    let drained = [
        "SELECT 1",
        "SELECT * FROM c",
        "SELECT c.x, (SELECT VALUE COUNT(1) FROM t IN c.tags) AS n FROM c WHERE c.x > 1",
        "SELECT t FROM c JOIN (SELECT DISTINCT VALUE t FROM t IN c.tags) t",
        "SELECT * FROM (SELECT c.x FROM c) d",
        "SELECT VALUE ARRAY(SELECT DISTINCT VALUE t FROM t IN c.tags) FROM c",
    ];
    for (queries, expected) in [(&merged[..], true), (&drained[..], false)] {
        for query in queries {
            let (_, bound) = support::bound(query, &[]);
            assert_eq!(needs_merge(&bound), expected, "{query}");
        }
    }
}

/// A query without FROM has one row, and must not have one in each partition.
#[test]
fn without_from_one_partition_is_asked() {
    for query in ["SELECT 1", "SELECT VALUE COUNT(1)", "SELECT DISTINCT VALUE 1", "SELECT TOP 1 1"] {
        let plan = try_plan(query, &[], &shape(&["/pk"]), Features::ALL).unwrap();
        let [range] = &plan.query_ranges[..] else { panic!("{query}: {:?}", plan.query_ranges) };
        assert_eq!(
            (range.min.to_hex(), range.max.to_hex(), range.is_max_inclusive),
            (String::new(), String::new(), true)
        );
    }
    assert_eq!(outcome("SELECT * FROM c"), full());
}

#[test]
fn bare_aggregates_are_told_by_the_plan() {
    for (query, expected) in [
        ("SELECT COUNT(1) FROM c", true),
        ("SELECT VALUE COUNT(1) FROM c", false),
        ("SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a", false),
        ("SELECT c.a FROM c GROUP BY c.a", false),
        ("SELECT c.a FROM c ORDER BY c.a", false),
    ] {
        let plan = try_plan(query, &[], &shape(&["/pk"]), Features::ALL).unwrap();
        assert_eq!(crate::queries::needs_plan::has_bare_aggregates(&plan.query_info), expected, "{query}");
    }
}
