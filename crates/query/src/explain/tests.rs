//! Plans as text.

use armilla_index::IndexingPolicy;
use armilla_value::json;
use expect_test::{Expect, expect};

use super::explain;
use crate::choose::choose;
use crate::compile::{CompileOptions, CompiledQuery};
use crate::source::{MemoryOptions, MemorySource};

fn check(query: &str, expect: Expect) {
    let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
    let compiled = CompiledQuery::new(query, options).unwrap();
    let items = (0..100).map(|number| {
        json::parse(format!(r#"{{"id":"{number}","x":{number},"city":"{}"}}"#, number % 3).as_bytes())
            .unwrap()
    });
    let source =
        MemorySource::new(items.collect(), &IndexingPolicy::default(), MemoryOptions::default()).unwrap();
    let physical = choose(&compiled.plan, &source).unwrap();
    expect.assert_eq(&explain(&compiled.plan, &physical));
}

#[test]
fn a_filter_a_projection_and_a_window() {
    check(
        r#"SELECT TOP 3 c.id, c["first name"] AS name FROM c WHERE c.x > 3 AND c.city = "1" AND LENGTH(c.id) = 1"#,
        expect![[r#"
            Items
            Filter c.x > 3
            Filter c.city = "1"
            Filter LENGTH(c.id) = 1
            Project c.id AS id, c["first name"] AS name
            Window offset=0 limit=3
            IndexSeek /city/? = "1" (33 entries)
            Filter c.x > 3
            Filter LENGTH(c.id) = 1
        "#]],
    );
}

#[test]
fn an_order_that_is_sorted() {
    check(
        "SELECT VALUE c.id FROM c WHERE c.x IN (3, 4) ORDER BY c.city DESC OFFSET 1 LIMIT 2",
        expect![[r#"
        Items
        Filter c.x IN (3, 4)
        Order by c.city DESC
        Project VALUE c.id
        Window offset=1 limit=2
        Sort by c.city DESC
          IndexSeek /x/? IN (3, 4) (2 entries)
    "#]],
    );
}

#[test]
fn joins_and_groups() {
    check(
        "SELECT t.kind, COUNT(1) AS n, MAX(c.x) AS m FROM c JOIN t IN c.things WHERE t.size > 1 GROUP BY t.kind",
        expect![[r#"
            Items
            Join $1 IN c.things
            Filter $1.size > 1
            Group by $1.kind: COUNT(1), MAX(c.x)
            Project key(0) AS kind, aggregate(0) AS n, aggregate(1) AS m
            IndexRange /things/[]/? defined (0 entries)
        "#]],
    );
}

#[test]
fn rows_of_another_query() {
    check(
        "SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.city FROM c WHERE c.x < 50)",
        expect![[r#"
        Rows of $1
          Items
          Filter c.x < 50
          Project c.city AS city
          Distinct
        Group: COUNT(1)
        Project aggregate(0) AS n
        IndexRange /x/? < 50 (50 entries)
    "#]],
    );
}

#[test]
fn no_source_at_all() {
    check(
        "SELECT 1 + RAND() AS n",
        expect![[r#"
        OneRow
        Project 1 + RAND() AS n
        Nothing
    "#]],
    );
}

#[test]
fn every_kind_of_expression() {
    check(
        r#"SELECT VALUE {"a": [c.a[0], c.b["c d"].e[c.i]], "b": -c.x + 1, "c": c.s || "!", "d": c.p ?? 1,
            "e": c.q ? 1 : 2, "f": c.s LIKE c.t, "g": ARRAY(SELECT VALUE t FROM t IN c.things),
            "h": udf.twice(c.x), "i": (SELECT VALUE COUNT(1) FROM t IN c.things), "j": c._etag, "k": ~c.x} FROM c
            WHERE NOT (c.x = 1) AND (c.x = 2 OR c.s LIKE "%a%" OR c.s LIKE "a_c") AND c.x BETWEEN c.a AND 5
            AND c.x IN (c.y, 2)"#,
        expect![[r#"
            Items
            Filter NOT (c.x = 1)
            Filter (c.x = 2) OR (c.s LIKE "%a%") OR (c.s LIKE "a"...)
            Filter c.x BETWEEN c.a AND 5
            Filter c.x IN (c.y, 2)
            Project VALUE {"a": [c.a[0], c.b["c d"].e[c.i]], "b": (-c.x) + 1, "c": c.s || "!", "d": c.p ?? 1, "e": c.q ? 1 : 2, "f": c.s LIKE c.t, "g": ARRAY(SELECT VALUE $1 FROM $1 IN c.things), "h": udf.twice(c.x), "i": (SELECT VALUE aggregate(0) FROM $2 IN c.things GATHER COUNT(1)), "j": c._etag, "k": ~c.x}
            Or(IndexSeek /x/? = 2 (1 entry), IndexScan /s/? is string where value LIKE "%a%" (0 entries), IndexScan /s/? begins with "a" where value LIKE "a"... (0 entries))
            Filter NOT (c.x = 1)
            Filter (c.x = 2) OR (c.s LIKE "%a%") OR (c.s LIKE "a"...)
            Filter c.x BETWEEN c.a AND 5
            Filter c.x IN (c.y, 2)
        "#]],
    );
}
