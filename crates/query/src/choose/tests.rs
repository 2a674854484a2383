//! What is chosen, as text.

use armilla_index::IndexingPolicy;
use armilla_value::{PartitionKey, PropertyPath, Value, json};
use expect_test::{Expect, expect};

use super::choose;
use crate::compile::{CompileOptions, CompiledQuery};
use crate::source::{MemoryOptions, MemorySource, Source};

mod changing;
mod filters;
mod scalars;
mod superset;

pub(super) fn value(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap()
}

pub(super) fn policy(text: &str) -> IndexingPolicy {
    IndexingPolicy::from_value(&value(text)).unwrap()
}

pub(super) const EVERYTHING: &str =
    r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/secret/*"}]}"#;

const EXPLICIT: &str = r#"{"includedPaths":[{"path":"/x/?"},{"path":"/city/?"},{"path":"/tags/[]/?"},
    {"path":"/things/[]/{kind, size}/?"}],"excludedPaths":[{"path":"/*"}],
    "compositeIndexes":[[{"path":"/city"},{"path":"/age"}],[{"path":"/city"},{"path":"/ts","order":"descending"}],
        [{"path":"/a"},{"path":"/b","order":"descending"},{"path":"/d"}]]}"#;

pub(super) fn compile(query: &str) -> CompiledQuery {
    let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
    CompiledQuery::new(query, options).unwrap()
}

/// People of a few cities, some of whom lack things.
fn people(count: usize) -> Vec<Value> {
    let person = |number: usize| {
        let city = ["Oslo", "Rome", "Paris", "Lima"][number % 4];
        let age = if number % 10 == 9 { String::new() } else { format!(r#""age":{},"#, number % 50) };
        value(&format!(
            r#"{{"id":"{number}","city":"{city}",{age}"x":{number},"ts":{},"tags":["t{}","all"],
                "things":[{{"kind":"k{}","size":{number}}}],"name":"person {number}"}}"#,
            number * 10,
            number % 30,
            number % 7,
        ))
    };
    (0..count).map(person).collect()
}

fn source(items: Vec<Value>, policy_text: &str) -> MemorySource {
    let options = MemoryOptions {
        partition_key: vec![PropertyPath::parse("/city").unwrap()],
        ..MemoryOptions::default()
    };
    MemorySource::new(items, &policy(policy_text), options).unwrap()
}

fn text(source: &dyn Source, queries: &[&str]) -> String {
    let mut all = String::new();
    for query in queries {
        let compiled = compile(query);
        let chosen = match choose(&compiled.plan, source) {
            Ok(plan) => plan.to_string(),
            Err(error) => format!("{error}\n"),
        };
        all.push_str(&format!("{query}\n"));
        chosen.lines().for_each(|line| all.push_str(&format!("    {line}\n")));
    }
    all
}

#[track_caller]
fn check(source: &dyn Source, queries: &[&str], expect: Expect) {
    expect.assert_eq(&text(source, queries));
}

#[test]
fn orders_come_from_an_index_or_a_sort() {
    let everything = source(people(2000), EVERYTHING);
    check(
        &everything,
        &[
            "SELECT * FROM c ORDER BY c.x",
            "SELECT * FROM c ORDER BY c.x DESC",
            "SELECT * FROM c ORDER BY c.age",
            "SELECT * FROM c ORDER BY c._ts",
            "SELECT * FROM c ORDER BY c._rid",
            "SELECT * FROM c ORDER BY c._etag",
            "SELECT * FROM c ORDER BY c.secret",
            "SELECT * FROM c ORDER BY c.tags[0]",
            "SELECT * FROM c ORDER BY c.x, c.age",
            "SELECT * FROM c WHERE c.x > 5 ORDER BY c.x",
            "SELECT * FROM c WHERE c.age > 5 ORDER BY c.age DESC",
            "SELECT * FROM c WHERE c.age > 5 AND c.x = 17 ORDER BY c.age DESC",
            "SELECT TOP 1 * FROM c WHERE c.city = 'Oslo' ORDER BY c.x",
            "SELECT TOP 100 * FROM c WHERE c.city = 'Oslo' ORDER BY c.x",
            "SELECT * FROM c WHERE c.city = 'Oslo' ORDER BY c.x",
            "SELECT * FROM c WHERE c.city != 'Oslo' ORDER BY c.x",
            "SELECT * FROM c WHERE c.city = 'Oslo' AND c.secret = 1 ORDER BY c.x",
            "SELECT * FROM c WHERE CONTAINS(c.city, 'slo') ORDER BY c.x",
            "SELECT * FROM c WHERE ( c.x > 5 OR IS_STRING(c.x) OR IS_ARRAY(c.x) OR IS_OBJECT(c.x) ) ORDER BY c.x",
            "SELECT * FROM c WHERE ( c.age < 5 OR NOT IS_DEFINED(c.age) OR IS_NULL(c.age) OR IS_BOOLEAN(c.age) ) ORDER BY c.age DESC",
            "SELECT * FROM c WHERE NOT IS_DEFINED(c.age) ORDER BY c.age DESC",
            "SELECT * FROM c WHERE c.x IN (1, 1000) ORDER BY c.x",
            "SELECT * FROM c WHERE c.x > 5 AND c.x < 3 ORDER BY c.x",
            "SELECT COUNT(1) AS n, c.city FROM c GROUP BY c.city ORDER BY c.city",
        ],
        expect![[r#"
            SELECT * FROM c ORDER BY c.x
                Walk /x/? ASC
            SELECT * FROM c ORDER BY c.x DESC
                Walk /x/? DESC
            SELECT * FROM c ORDER BY c.age
                Walk /age/? ASC and items without
            SELECT * FROM c ORDER BY c._ts
                Walk /_ts/? ASC
            SELECT * FROM c ORDER BY c._rid
                Sort
                  Scan in the order of insertion
            SELECT * FROM c ORDER BY c._etag
                The index path corresponding to the specified order-by item is excluded.
            SELECT * FROM c ORDER BY c.secret
                The index path corresponding to the specified order-by item is excluded.
            SELECT * FROM c ORDER BY c.tags[0]
                Sort
                  Scan in the order of insertion
            SELECT * FROM c ORDER BY c.x, c.age
                The order by query does not have a corresponding composite index that it can be served from.
            SELECT * FROM c WHERE c.x > 5 ORDER BY c.x
                Walk /x/? ASC of > 5
            SELECT * FROM c WHERE c.age > 5 ORDER BY c.age DESC
                Walk /age/? DESC of > 5
            SELECT * FROM c WHERE c.age > 5 AND c.x = 17 ORDER BY c.age DESC
                Sort
                  IndexSeek /x/? = 17 (1 entry)
                Filter c.age > 5
            SELECT TOP 1 * FROM c WHERE c.city = 'Oslo' ORDER BY c.x
                Walk /x/? ASC among IndexSeek /city/? = "Oslo" (500 entries)
                Filter c.city = "Oslo"
            SELECT TOP 100 * FROM c WHERE c.city = 'Oslo' ORDER BY c.x
                Walk /x/? ASC among IndexSeek /city/? = "Oslo" (500 entries)
                Filter c.city = "Oslo"
            SELECT * FROM c WHERE c.city = 'Oslo' ORDER BY c.x
                Walk /x/? ASC among IndexSeek /city/? = "Oslo" (500 entries)
                Filter c.city = "Oslo"
            SELECT * FROM c WHERE c.city != 'Oslo' ORDER BY c.x
                Walk /x/? ASC
                Filter c.city != "Oslo"
            SELECT * FROM c WHERE c.city = 'Oslo' AND c.secret = 1 ORDER BY c.x
                Walk /x/? ASC
                Filter c.city = "Oslo"
                Filter c.secret = 1
            SELECT * FROM c WHERE CONTAINS(c.city, 'slo') ORDER BY c.x
                Walk /x/? ASC
                Filter CONTAINS(c.city, "slo")
            SELECT * FROM c WHERE ( c.x > 5 OR IS_STRING(c.x) OR IS_ARRAY(c.x) OR IS_OBJECT(c.x) ) ORDER BY c.x
                Walk /x/? ASC of > 5 or is string, array, object
            SELECT * FROM c WHERE ( c.age < 5 OR NOT IS_DEFINED(c.age) OR IS_NULL(c.age) OR IS_BOOLEAN(c.age) ) ORDER BY c.age DESC
                Walk /age/? DESC of is null, boolean or < 5 and items without
                Filter (c.age < 5) OR (NOT IS_DEFINED(c.age)) OR IS_NULL(c.age) OR IS_BOOL(c.age)
            SELECT * FROM c WHERE NOT IS_DEFINED(c.age) ORDER BY c.age DESC
                Walk /age/? DESC of nothing and items without
            SELECT * FROM c WHERE c.x IN (1, 1000) ORDER BY c.x
                Sort
                  IndexSeek /x/? IN (1, 1000) (2 entries)
            SELECT * FROM c WHERE c.x > 5 AND c.x < 3 ORDER BY c.x
                Nothing
            SELECT COUNT(1) AS n, c.city FROM c GROUP BY c.city ORDER BY c.city
                Scan in the order of insertion
        "#]],
    );
    let explicit = source(people(200), EXPLICIT);
    check(
        &explicit,
        &[
            "SELECT * FROM c ORDER BY c.x",
            "SELECT * FROM c WHERE NOT IS_DEFINED(c.x) ORDER BY c.x",
            "SELECT * FROM c ORDER BY c.age",
            "SELECT * FROM c ORDER BY c.city, c.age",
            "SELECT * FROM c ORDER BY c.city DESC, c.age DESC",
            "SELECT * FROM c ORDER BY c.city, c.age DESC",
            "SELECT * FROM c ORDER BY c.city DESC, c.ts",
            "SELECT * FROM c ORDER BY c.age, c.city",
            "SELECT * FROM c ORDER BY c.a, c.b DESC",
            "SELECT * FROM c WHERE c.city = 'Oslo' ORDER BY c.city, c.age",
            "SELECT * FROM c WHERE c.city = 'Oslo' AND c.age > 10 ORDER BY c.city, c.age",
            "SELECT * FROM c WHERE ((c.city > 'Oslo' OR IS_ARRAY(c.city) OR IS_OBJECT(c.city)) OR (c.city = 'Oslo' AND (c.age > 7 OR IS_STRING(c.age) OR IS_ARRAY(c.age) OR IS_OBJECT(c.age)))) ORDER BY c.city, c.age",
        ],
        expect![[r#"
            SELECT * FROM c ORDER BY c.x
                Walk /x/? ASC
            SELECT * FROM c WHERE NOT IS_DEFINED(c.x) ORDER BY c.x
                Walk /x/? ASC of is undefined
            SELECT * FROM c ORDER BY c.age
                The index path corresponding to the specified order-by item is excluded.
            SELECT * FROM c ORDER BY c.city, c.age
                Walk (/city ASC, /age ASC) forward
            SELECT * FROM c ORDER BY c.city DESC, c.age DESC
                Walk (/city ASC, /age ASC) in reverse
            SELECT * FROM c ORDER BY c.city, c.age DESC
                The order by query does not have a corresponding composite index that it can be served from.
            SELECT * FROM c ORDER BY c.city DESC, c.ts
                Walk (/city ASC, /ts DESC) in reverse
            SELECT * FROM c ORDER BY c.age, c.city
                The order by query does not have a corresponding composite index that it can be served from.
            SELECT * FROM c ORDER BY c.a, c.b DESC
                The order by query does not have a corresponding composite index that it can be served from.
            SELECT * FROM c WHERE c.city = 'Oslo' ORDER BY c.city, c.age
                Walk (/city ASC, /age ASC) forward of = ("Oslo", ..)
                Filter c.city = "Oslo"
            SELECT * FROM c WHERE c.city = 'Oslo' AND c.age > 10 ORDER BY c.city, c.age
                Walk (/city ASC, /age ASC) forward of = ("Oslo", ..)
                Filter c.city = "Oslo"
                Filter c.age > 10
            SELECT * FROM c WHERE ((c.city > 'Oslo' OR IS_ARRAY(c.city) OR IS_OBJECT(c.city)) OR (c.city = 'Oslo' AND (c.age > 7 OR IS_STRING(c.age) OR IS_ARRAY(c.age) OR IS_OBJECT(c.age)))) ORDER BY c.city, c.age
                Walk (/city ASC, /age ASC) forward of some
                Filter (c.city > "Oslo") OR IS_ARRAY(c.city) OR IS_OBJECT(c.city) OR ((c.city = "Oslo") AND ((c.age > 7) OR IS_STRING(c.age) OR IS_ARRAY(c.age) OR IS_OBJECT(c.age)))
        "#]],
    );
}

#[test]
fn one_logical_partition_is_read_as_a_whole() {
    let whole = source(people(2000), EVERYTHING);
    let oslo = whole.logical(&PartitionKey::from_json(br#"["Oslo"]"#).unwrap());
    check(
        &oslo,
        &[
            "SELECT * FROM c WHERE c.id = '4'",
            "SELECT * FROM c WHERE c.id = '4' AND c.x > 5 ORDER BY c.x",
            "SELECT * FROM c WHERE c.id IN ('4', '8')",
            "SELECT * FROM c WHERE c.id = 4",
            "SELECT * FROM c",
            "SELECT * FROM c WHERE c.x = 7",
            "SELECT * FROM c WHERE c.x > 7",
            "SELECT * FROM c ORDER BY c.x",
            "SELECT TOP 10 * FROM c ORDER BY c.x",
            "SELECT * FROM c ORDER BY c.secret",
            "SELECT VALUE COUNT(1) FROM c",
            "SELECT VALUE COUNT(1) FROM c WHERE c.x > 7",
        ],
        expect![[r#"
            SELECT * FROM c WHERE c.id = '4'
                PointRead id="4"
            SELECT * FROM c WHERE c.id = '4' AND c.x > 5 ORDER BY c.x
                Sort
                  PointRead id="4"
                Filter c.x > 5
            SELECT * FROM c WHERE c.id IN ('4', '8')
                IndexSeek /id/? IN ("4", "8") (2 entries)
            SELECT * FROM c WHERE c.id = 4
                IndexSeek /id/? = 4 (0 entries)
            SELECT * FROM c
                Scan in the order of insertion
            SELECT * FROM c WHERE c.x = 7
                IndexSeek /x/? = 7 (1 entry)
            SELECT * FROM c WHERE c.x > 7
                Scan in the order of insertion
                Filter c.x > 7
            SELECT * FROM c ORDER BY c.x
                Walk /x/? ASC
            SELECT TOP 10 * FROM c ORDER BY c.x
                Walk /x/? ASC
            SELECT * FROM c ORDER BY c.secret
                The index path corresponding to the specified order-by item is excluded.
            SELECT VALUE COUNT(1) FROM c
                CountItems
            SELECT VALUE COUNT(1) FROM c WHERE c.x > 7
                Scan in the order of insertion
                Filter c.x > 7
        "#]],
    );
    let nobody = whole.logical(&PartitionKey::from_json(br#"["Nowhere"]"#).unwrap());
    check(
        &nobody,
        &["SELECT * FROM c", "SELECT * FROM c ORDER BY c.secret", "SELECT * FROM c ORDER BY c.x, c.age"],
        expect![[r#"
            SELECT * FROM c
                Scan in the order of insertion
            SELECT * FROM c ORDER BY c.secret
                The index path corresponding to the specified order-by item is excluded.
            SELECT * FROM c ORDER BY c.x, c.age
                The order by query does not have a corresponding composite index that it can be served from.
        "#]],
    );
}

#[test]
fn some_answers_need_no_item() {
    let source = source(people(200), EVERYTHING);
    check(
        &source,
        &[
            "SELECT VALUE COUNT(1) FROM c",
            "SELECT COUNT(1) AS n FROM c WHERE c.city = 'Oslo'",
            "SELECT VALUE COUNT(1) FROM c WHERE c.city = 'Oslo' AND c.x < 100",
            "SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.tags, 'all')",
            "SELECT VALUE COUNT(1) FROM c WHERE CONTAINS(c.name, '1')",
            "SELECT VALUE COUNT(1) FROM c WHERE UPPER(c.name) = 'A'",
            "SELECT VALUE COUNT(c.age) FROM c",
            "SELECT VALUE COUNT(c.age) FROM c WHERE c.age > 10",
            "SELECT VALUE COUNT(c.age) FROM c WHERE c.x > 10",
            "SELECT VALUE MIN(c.x) FROM c",
            "SELECT VALUE MAX(c.x) FROM c WHERE c.x < 100",
            "SELECT VALUE MAX(c.x) FROM c WHERE c.age < 100",
            "SELECT VALUE MAX(c.tags) FROM c",
            "SELECT VALUE SUM(c.x) FROM c",
            "SELECT COUNT(1) AS n, SUM(c.x) AS s, AVG(c.x * 2) AS a FROM c WHERE c.x >= 10 AND c.x < 30",
            "SELECT COUNT(1) AS n, SUM(c.x) AS s FROM c WHERE c.x = 7",
            "SELECT c.city, COUNT(1) AS n FROM c WHERE c.city IN ('Oslo', 'Rome') GROUP BY c.city",
            "SELECT COUNT(1) AS n, SUM(c.x) AS s FROM c WHERE c.age < 30",
            "SELECT VALUE SUM(c.x + c.age) FROM c WHERE c.x < 30",
            "SELECT COUNT(1) AS n, MIN(c._ts) AS s FROM c WHERE c.x < 30",
            "SELECT DISTINCT VALUE c.city FROM c",
            "SELECT DISTINCT c.city FROM c",
            "SELECT DISTINCT c.age FROM c",
            "SELECT DISTINCT VALUE c.age FROM c WHERE c.age < 10",
            "SELECT DISTINCT VALUE c.city FROM c ORDER BY c.city",
            "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.city FROM c)",
        ],
        expect![[r#"
            SELECT VALUE COUNT(1) FROM c
                CountItems
            SELECT COUNT(1) AS n FROM c WHERE c.city = 'Oslo'
                Count IndexSeek /city/? = "Oslo"
            SELECT VALUE COUNT(1) FROM c WHERE c.city = 'Oslo' AND c.x < 100
                Count And(IndexSeek /city/? = "Oslo" (50 entries), IndexRange /x/? < 100 (100 entries))
            SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.tags, 'all')
                Count IndexSeek /tags/[]/? = "all"
            SELECT VALUE COUNT(1) FROM c WHERE CONTAINS(c.name, '1')
                IndexScan /name/? is string where CONTAINS(value, "1") (200 entries)
                Filter CONTAINS(c.name, "1")
            SELECT VALUE COUNT(1) FROM c WHERE UPPER(c.name) = 'A'
                Scan in the order of insertion
                Filter UPPER(c.name) = "A"
            SELECT VALUE COUNT(c.age) FROM c
                CountEntries IndexRange /age/? defined
            SELECT VALUE COUNT(c.age) FROM c WHERE c.age > 10
                Count IndexRange /age/? > 10
            SELECT VALUE COUNT(c.age) FROM c WHERE c.x > 10
                Count And(IndexRange /age/? defined (180 entries), IndexRange /x/? > 10 (189 entries))
            SELECT VALUE MIN(c.x) FROM c
                Lowest of IndexRange /x/? is null, boolean, number, string
            SELECT VALUE MAX(c.x) FROM c WHERE c.x < 100
                Highest of IndexRange /x/? < 100
            SELECT VALUE MAX(c.x) FROM c WHERE c.age < 100
                IndexRange /age/? < 100 (180 entries)
            SELECT VALUE MAX(c.tags) FROM c
                Scan in the order of insertion
            SELECT VALUE SUM(c.x) FROM c
                Scan in the order of insertion
            SELECT COUNT(1) AS n, SUM(c.x) AS s, AVG(c.x * 2) AS a FROM c WHERE c.x >= 10 AND c.x < 30
                Values of IndexRange /x/? >= 10 and < 30 (20 entries)
            SELECT COUNT(1) AS n, SUM(c.x) AS s FROM c WHERE c.x = 7
                Values of IndexSeek /x/? = 7 (1 entry)
            SELECT c.city, COUNT(1) AS n FROM c WHERE c.city IN ('Oslo', 'Rome') GROUP BY c.city
                Values of IndexSeek /city/? IN ("Oslo", "Rome") (100 entries)
            SELECT COUNT(1) AS n, SUM(c.x) AS s FROM c WHERE c.age < 30
                IndexRange /age/? < 30 (108 entries)
            SELECT VALUE SUM(c.x + c.age) FROM c WHERE c.x < 30
                IndexRange /x/? < 30 (30 entries)
            SELECT COUNT(1) AS n, MIN(c._ts) AS s FROM c WHERE c.x < 30
                IndexRange /x/? < 30 (30 entries)
            SELECT DISTINCT VALUE c.city FROM c
                DistinctValues IndexRange /city/? defined
            SELECT DISTINCT c.city FROM c
                DistinctValues IndexRange /city/? defined
            SELECT DISTINCT c.age FROM c
                Scan in the order of insertion
            SELECT DISTINCT VALUE c.age FROM c WHERE c.age < 10
                DistinctValues IndexRange /age/? < 10
            SELECT DISTINCT VALUE c.city FROM c ORDER BY c.city
                Walk /city/? ASC
            SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.city FROM c)
                DistinctValues IndexRange /city/? defined
        "#]],
    );
}

#[test]
fn the_newest_few_are_walked_to_where_sorting_all_would_cost_more() {
    let few = source(people(6000), EVERYTHING);
    check(
        &few,
        &[
            // 200 of 6,000: a hundred of them are some 3,000 entries away.
            "SELECT TOP 100 * FROM c WHERE ARRAY_CONTAINS(c.tags, 't3') ORDER BY c.x DESC",
            "SELECT TOP 10 * FROM c WHERE ARRAY_CONTAINS(c.tags, 't3') ORDER BY c.x DESC",
            // Two of 6,000.
            "SELECT TOP 100 * FROM c WHERE c.name IN ('person 7', 'person 8') ORDER BY c.x DESC",
        ],
        expect![[r#"
            SELECT TOP 100 * FROM c WHERE ARRAY_CONTAINS(c.tags, 't3') ORDER BY c.x DESC
                Walk /x/? DESC among IndexSeek /tags/[]/? = "t3" (200 entries)
                Filter ARRAY_CONTAINS(c.tags, "t3")
            SELECT TOP 10 * FROM c WHERE ARRAY_CONTAINS(c.tags, 't3') ORDER BY c.x DESC
                Walk /x/? DESC among IndexSeek /tags/[]/? = "t3" (200 entries)
                Filter ARRAY_CONTAINS(c.tags, "t3")
            SELECT TOP 100 * FROM c WHERE c.name IN ('person 7', 'person 8') ORDER BY c.x DESC
                Sort
                  IndexSeek /name/? IN ("person 7", "person 8") (2 entries)
        "#]],
    );
}

#[test]
fn long_lists_are_planned_in_one_go() {
    let source = source(people(6000), EVERYTHING);
    let branch = |number: usize| format!("(c.id = '{number}' AND c.city = 'Oslo')");
    let branches: Vec<String> = (0..1000).map(branch).collect();
    let query = format!("SELECT * FROM c WHERE {}", branches.join(" OR "));
    let plan = choose(&compile(&query).plan, &source).unwrap();
    let text = plan.to_string().lines().next().unwrap().to_owned();
    expect![[r#"IndexSeek /id/? IN ("0", "1", "10", "100", "101", ...) (1000 entries)"#]].assert_eq(&text);
}

#[test]
fn indexes_that_serve_and_that_are_missing_are_named() {
    let check = |source: &dyn Source, queries: &[&str], expect: Expect| {
        let mut all = String::new();
        for query in queries {
            let plan = choose(&compile(query).plan, source).unwrap();
            let names = |list: &[crate::physical::Served]| {
                let name = |served: &crate::physical::Served| {
                    let mark = if served.precise { "" } else { " (imprecise)" };
                    format!("{}{mark}", served.paths.join(" + "))
                };
                list.iter().map(name).collect::<Vec<_>>().join(", ")
            };
            all.push_str(&format!(
                "{query}\n    served: {}\n    missing: {}\n",
                names(&plan.served),
                names(&plan.missing)
            ));
        }
        expect.assert_eq(&all);
    };
    let everything = source(people(200), EVERYTHING);
    check(
        &everything,
        &[
            "SELECT * FROM c",
            "SELECT * FROM c WHERE c.x = 1",
            "SELECT * FROM c WHERE c.x > 1 AND c.x < 5",
            "SELECT * FROM c WHERE c.x = 1 AND c.city = 'Oslo'",
            "SELECT * FROM c WHERE c.x = 1 OR c.city = 'Oslo'",
            "SELECT * FROM c WHERE c.secret.a = 1",
            "SELECT * FROM c WHERE c.secret.a = 1 AND c.x = 3",
            "SELECT * FROM c WHERE c.secret.a = 1 OR c.x = 3",
            "SELECT * FROM c WHERE CONTAINS(c.name, '1')",
            "SELECT * FROM c WHERE c.city = 'Oslo' ORDER BY c.x",
            "SELECT VALUE COUNT(c.age) FROM c WHERE c.x = 4",
            "SELECT VALUE t FROM c JOIN t IN c.tags",
        ],
        expect![[r#"
            SELECT * FROM c
                served: 
                missing: 
            SELECT * FROM c WHERE c.x = 1
                served: /x/?
                missing: 
            SELECT * FROM c WHERE c.x > 1 AND c.x < 5
                served: /x/?
                missing: 
            SELECT * FROM c WHERE c.x = 1 AND c.city = 'Oslo'
                served: /x/?, /city/?
                missing: /x ASC + /city ASC
            SELECT * FROM c WHERE c.x = 1 OR c.city = 'Oslo'
                served: /x/?, /city/?
                missing: 
            SELECT * FROM c WHERE c.secret.a = 1
                served: 
                missing: /secret/a/?
            SELECT * FROM c WHERE c.secret.a = 1 AND c.x = 3
                served: /x/?
                missing: /secret/a/?, /secret/a ASC + /x ASC
            SELECT * FROM c WHERE c.secret.a = 1 OR c.x = 3
                served: 
                missing: /secret/a/?
            SELECT * FROM c WHERE CONTAINS(c.name, '1')
                served: /name/? (imprecise)
                missing: 
            SELECT * FROM c WHERE c.city = 'Oslo' ORDER BY c.x
                served: /city/?, /x/?
                missing: 
            SELECT VALUE COUNT(c.age) FROM c WHERE c.x = 4
                served: /x/?, /age/?
                missing: 
            SELECT VALUE t FROM c JOIN t IN c.tags
                served: 
                missing: 
        "#]],
    );
    let explicit = source(people(200), EXPLICIT);
    check(
        &explicit,
        &[
            "SELECT * FROM c WHERE c.city = 'Oslo' AND c.age = 8",
            "SELECT * FROM c WHERE c.city = 'Oslo' AND c.name = 'a'",
            "SELECT * FROM c WHERE c.city = 'Oslo' ORDER BY c.city, c.age",
        ],
        expect![[r#"
            SELECT * FROM c WHERE c.city = 'Oslo' AND c.age = 8
                served: /city ASC + /age ASC
                missing: 
            SELECT * FROM c WHERE c.city = 'Oslo' AND c.name = 'a'
                served: /city/?
                missing: /name/?, /city ASC + /name ASC
            SELECT * FROM c WHERE c.city = 'Oslo' ORDER BY c.city, c.age
                served: /city ASC + /age ASC
                missing: 
        "#]],
    );
}
