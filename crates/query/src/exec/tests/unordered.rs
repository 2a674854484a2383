//! Items in no order, aggregates, groups, distinct rows, derived tables.

use armilla_index::TermRange;
use armilla_index::paths::PathSegment;
use armilla_value::Value;

use crate::exec::testing::*;
use crate::physical::{Access, IndexOnly, IndexSet};

const PAGE_ROWS: [usize; 5] = [1, 2, 3, 7, 100];

/// Checks that pages of any size give what one big page gives, and count what it counts. Returns the rows.
#[track_caller]
fn check_pages(text: &str, planner: &TestPlanner, item_count: usize) -> Vec<String> {
    let query = compile(text);
    let items = items(item_count);
    let mut of_one_source = Vec::new();
    for source_count in [1, 3] {
        let sources = sources(&items, source_count);
        let sources = lend(&sources);
        let whole = Ask::new(&query, planner, 1_000_000).all(&sources);
        assert_eq!(whole.pages, 1, "{text}");
        for rows_max in PAGE_ROWS {
            let paged = Ask::new(&query, planner, rows_max).all(&sources);
            paged.check(&query, &whole, &format!("{text}: {source_count} sources, {rows_max} rows a page"));
        }
        for bytes_max in [1, 40, 2_000] {
            let ask = Ask { bytes_max, ..Ask::new(&query, planner, 1_000_000) };
            let paged = ask.all(&sources);
            paged.check(&query, &whole, &format!("{text}: {source_count} sources, {bytes_max} bytes a page"));
        }
        let hasty = Ask { expired: &|_| true, ..Ask::new(&query, planner, 1_000_000) }.all(&sources);
        assert_eq!(hasty.rows, whole.rows, "{text}: {source_count} sources, no time");
        assert_eq!(hasty.work, whole.work, "{text}: {source_count} sources, no time");
        if source_count == 1 {
            of_one_source = whole.sorted_rows();
        } else {
            assert_eq!(whole.sorted_rows().len(), of_one_source.len(), "{text}");
        }
    }
    of_one_source
}

fn two() -> Value {
    Value::Int64(2)
}

/// Every way to find the items with `c.n >= 2`.
fn accesses() -> Vec<(&'static str, Access)> {
    let two = two();
    let numbers = range("n", &[at_least(&two)]);
    let groups: Vec<Value> = (0..4).map(|group| Value::String(format!("g{group}"))).collect();
    let equal: Vec<TermRange<'_>> = groups.iter().map(TermRange::Equal).collect();
    let all_groups = IndexSet::Range(range("g", &equal));
    let elements = [path("tags"), vec![PathSegment::Elements]].concat();
    let tags = IndexSet::Range(range_of(&elements, &[TermRange::STRINGS]));
    let without_tags = IndexSet::Range(range("tags", &[TermRange::ARRAYS]));
    let all = IndexSet::Or(vec![tags.clone(), without_tags]);
    vec![
        ("numbers", Access::ScanByNumber),
        ("keys", Access::ScanByKey),
        ("set", set(numbers.clone())),
        ("and", Access::Set(IndexSet::And(vec![IndexSet::Range(numbers.clone()), all_groups.clone()]))),
        ("and of or", Access::Set(IndexSet::And(vec![all_groups, all, IndexSet::Range(numbers.clone())]))),
        ("or", Access::Set(IndexSet::Or(vec![IndexSet::Range(numbers.clone()), tags]))),
        ("stream", Access::Stream(numbers)),
        ("stream with repeats", Access::Stream(range_of(&elements, &[TermRange::All]))),
        ("walk is no order", Access::Sort(Box::new(Access::ScanByKey))),
    ]
}

#[test]
fn plain_rows() {
    for text in [
        "SELECT VALUE c.id FROM c WHERE c.n >= 2",
        "SELECT c.id, c.n FROM c WHERE c.n >= 2 AND c.g = 'g3'",
        "SELECT VALUE c.s FROM c WHERE c.n >= 2",
        "SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags WHERE c.n >= 2",
        "SELECT c.id, t, u FROM c JOIN t IN c.tags JOIN u IN c.tags WHERE c.n >= 2 AND t != u",
        "SELECT TOP 5 c.id FROM c WHERE c.n >= 2",
        "SELECT c.id FROM c WHERE c.n >= 2 OFFSET 4 LIMIT 9",
        "SELECT VALUE t FROM c JOIN t IN c.tags WHERE c.n >= 2 OFFSET 5 LIMIT 11",
        "SELECT c.id FROM c WHERE c.n >= 2 OFFSET 1000 LIMIT 9",
        "SELECT TOP 0 c.id FROM c WHERE c.n >= 2",
        "SELECT VALUE c.id FROM c WHERE c.n >= 200",
    ] {
        let mut expected = None;
        for (name, access) in accesses() {
            // A set with repeats as the only access names items with tags alone.
            if name == "stream with repeats" && !text.contains("JOIN") {
                continue;
            }
            let rows = check_pages(text, &*always(access), 150);
            // Which rows a window takes depends on their order.
            if !text.contains("TOP") && !text.contains("LIMIT") {
                assert_eq!(*expected.get_or_insert_with(|| rows.clone()), rows, "{text}: {name}");
            }
        }
    }
}

#[test]
fn no_items_and_no_sources() {
    let planner = always(Access::ScanByNumber);
    assert_eq!(check_pages("SELECT * FROM c", &*planner, 0), Vec::<String>::new());
    assert_eq!(check_pages("SELECT VALUE COUNT(1) FROM c", &*planner, 0), ["0"]);
    let query = compile("SELECT VALUE COUNT(1) FROM c");
    let none = Ask::new(&query, &*planner, 10).page(&[], None).unwrap();
    assert_eq!((none.rows, none.continuation), (b"0".to_vec(), None));
    let nothing = always(Access::Nothing);
    assert_eq!(check_pages("SELECT * FROM c WHERE c.n >= 2", &*nothing, 20), Vec::<String>::new());
}

#[test]
fn full_pages_are_followed_by_another() {
    let query = compile("SELECT c.id FROM c");
    let items = items(30);
    for source_count in [1, 2, 5] {
        let sources = sources(&items, source_count);
        let sources = lend(&sources);
        for (name, access) in [("numbers", Access::ScanByNumber), ("keys", Access::ScanByKey)] {
            for rows_max in [1, 4, 5, 6, 10, 15, 29, 30, 31] {
                let all = Ask::new(&query, &*always(access.clone()), rows_max).all(&sources);
                assert_eq!(all.rows.len(), 30);
                assert_eq!(
                    all.pages,
                    30 / rows_max + 1,
                    "{name}: {source_count} sources, {rows_max} rows a page"
                );
                assert_eq!(all.last_was_empty, 30 % rows_max == 0);
            }
        }
    }
}

#[test]
fn aggregates() {
    for (text, expected) in [
        ("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 2", "600"),
        (
            "SELECT COUNT(1) AS a, MAX(c.r) AS b, MIN(c.none) AS d FROM c WHERE c.n >= 2",
            r#"{"a":600,"b":16}"#,
        ),
        ("SELECT VALUE COUNT(t) FROM c JOIN t IN c.tags WHERE c.n >= 2", ""),
        ("SELECT VALUE AVG(c.none) FROM c WHERE c.n >= 2", "none"),
        ("SELECT VALUE SUM(c.r) FROM c WHERE c.n >= 200", "0"),
    ] {
        let mut first = None;
        for (name, access) in accesses() {
            if name == "stream with repeats" && !text.contains("JOIN") {
                continue;
            }
            let rows = check_pages(text, &*always(access), 1_400);
            match expected {
                "" => {}
                "none" => assert!(rows.is_empty(), "{text}: {name}: {rows:?}"),
                _ if expected.contains("600") => assert_eq!(rows.len(), 1),
                _ => assert_eq!(rows, [expected], "{text}: {name}"),
            }
            assert_eq!(*first.get_or_insert_with(|| rows.clone()), rows, "{text}: {name}");
        }
    }
}

#[test]
fn groups_distinct_rows_and_derived_tables() {
    for text in [
        "SELECT c.g, COUNT(1) AS a, MAX(c.r) AS m FROM c WHERE c.n >= 2 GROUP BY c.g",
        "SELECT c.n, c.g, SUM(c.r) AS a FROM c WHERE c.n >= 2 GROUP BY c.n, c.g",
        "SELECT c.g, COUNT(1) AS a FROM c WHERE c.n >= 2 GROUP BY c.g ORDER BY c.g DESC",
        "SELECT c.s, COUNT(1) AS a FROM c WHERE c.n >= 2 GROUP BY c.s OFFSET 1 LIMIT 3",
        "SELECT DISTINCT c.g FROM c WHERE c.n >= 2",
        "SELECT DISTINCT VALUE c.n FROM c WHERE c.n >= 2",
        "SELECT DISTINCT VALUE t FROM c JOIN t IN c.tags WHERE c.n >= 2",
        "SELECT DISTINCT TOP 3 c.n FROM c WHERE c.n >= 2",
        "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.n FROM c WHERE c.n >= 2)",
        "SELECT x.n, COUNT(1) AS a FROM (SELECT c.n, c.g FROM c WHERE c.n >= 2) x WHERE x.n > 3 GROUP BY x.n",
        "SELECT VALUE x.a FROM (SELECT c.g, COUNT(1) AS a FROM c WHERE c.n >= 2 GROUP BY c.g) x WHERE x.a > 1",
    ] {
        let mut expected = None;
        for (name, access) in accesses() {
            if name == "stream with repeats" && !text.contains("JOIN") {
                continue;
            }
            let rows = check_pages(text, &*always(access), 150);
            if !text.contains("LIMIT") && !text.contains("TOP") {
                assert_eq!(*expected.get_or_insert_with(|| rows.clone()), rows, "{text}: {name}");
            }
        }
    }
}

#[test]
fn undefined_is_a_group_of_its_own() {
    let rows =
        check_pages("SELECT c.n, COUNT(1) AS a FROM c GROUP BY c.n", &*always(Access::ScanByNumber), 48);
    assert!(rows.contains(&r#"{"a":4}"#.to_owned()), "{rows:?}");
    assert!(rows.contains(&r#"{"n":null,"a":4}"#.to_owned()), "{rows:?}");
    // 1 and 1.0 are one group, and so are [1] and [1].
    assert_eq!(rows.iter().filter(|row| row.contains(r#""n":[1]"#)).count(), 1);
}

#[test]
fn without_from() {
    let planner = always(Access::Nothing);
    assert_eq!(check_pages("SELECT VALUE 1 + 1", &*planner, 3), ["2"]);
    assert_eq!(check_pages("SELECT VALUE COUNT(1)", &*planner, 3), ["1"]);
    let table = "SELECT VALUE x FROM (SELECT VALUE [1, 2, 3, 4, 5]) t JOIN x IN t WHERE x > 1";
    assert_eq!(check_pages(table, &*planner, 3), ["2", "3", "4", "5"]);
}

#[test]
fn answers_from_the_index_alone() {
    let (two, groups) = (two(), [Value::from("g1"), Value::from("g3")]);
    let numbers = range("n", &[at_least(&two)]);
    let some_groups = IndexSet::Range(range("g", &groups.each_ref().map(TermRange::Equal)));
    let both = IndexSet::And(vec![IndexSet::Range(numbers.clone()), some_groups]);
    let cases = [
        ("SELECT VALUE COUNT(1) FROM c", IndexOnly::CountAll),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 2", IndexOnly::CountSet(IndexSet::Range(numbers))),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 2 AND c.g IN ('g1', 'g3')", IndexOnly::CountSet(both)),
        ("SELECT VALUE COUNT(c.n) FROM c", IndexOnly::CountPath(range("n", &[TermRange::Defined]))),
        (
            "SELECT VALUE MIN(c.r) FROM c",
            IndexOnly::Extreme { index: range("r", &[TermRange::Defined]), highest: false },
        ),
        (
            "SELECT VALUE MAX(c.s) FROM c",
            IndexOnly::Extreme { index: range("s", &[TermRange::Defined]), highest: true },
        ),
        // An array leaves MIN without a result.
        (
            "SELECT VALUE MIN(c.n) FROM c",
            IndexOnly::Extreme { index: range("n", &[TermRange::Defined]), highest: false },
        ),
        ("SELECT DISTINCT VALUE c.n FROM c", IndexOnly::Distinct(range("n", &[TermRange::Defined]))),
        ("SELECT DISTINCT VALUE c.s FROM c", IndexOnly::Distinct(range("s", &[TermRange::Defined]))),
        ("SELECT DISTINCT VALUE c.g FROM c", IndexOnly::Distinct(range("g", &[TermRange::Defined]))),
    ];
    for (text, only) in cases {
        let scanned = check_pages(text, &*always(Access::ScanByNumber), 600);
        assert_eq!(check_pages(text, &*index_only(only), 600), scanned, "{text}");
    }
}

#[test]
fn counts_from_the_index_are_charged_like_items() {
    let items = items(60);
    let sources = sources(&items, 1);
    let query = compile("SELECT VALUE COUNT(1) FROM c");
    let counted = Ask::new(&query, &*index_only(IndexOnly::CountAll), 10).all(&lend(&sources)).work;
    let totals = crate::source::Source::totals(&sources[0]);
    assert_eq!((counted.fetched, counted.aggregate_rows, counted.partitions, counted.seeks), (60, 60, 1, 1));
    assert_eq!(counted.fetched_bytes, 60 * (totals.1 / totals.0));
}

#[test]
fn a_logical_partition_counts_what_an_index_would() {
    let items = items(90);
    let whole = sources(&items, 2);
    let key = armilla_value::PartitionKey::from_json(br#"["p4"]"#).unwrap();
    let query = compile("SELECT c.id FROM c WHERE c.g = 'g1'");
    let mut works = Vec::new();
    for source in whole.iter().map(|source| source.logical(&key)) {
        for access in [Access::ScanByNumber, Access::ScanByKey] {
            for rows_max in [1, 100] {
                let all = Ask::new(&query, &*always(access.clone()), rows_max).all(&[&source]);
                works.push((all.rows.len(), all.work.fetched, all.work.entries, all.work.scanned));
            }
        }
    }
    works.sort();
    works.dedup();
    // One of the two partitions has the key.
    assert_eq!(works, [(0, 0, 0, 0), (3, 3, 7, 0)]);
}

#[test]
fn entries_that_a_condition_on_the_value_rules_out_are_counted() {
    let query = compile("SELECT VALUE c.id FROM c WHERE CONTAINS(c.g, '3')");
    let Some(condition) = query.plan.filter.first() else { panic!("a filter") };
    let condition = on_the_term(condition.clone());
    let mut strings = range("g", &[TermRange::STRINGS]);
    strings.term_filter = Some(condition);
    for access in [set(strings.clone()), Access::Stream(strings)] {
        let planner = always(access);
        let rows = check_pages("SELECT VALUE c.id FROM c WHERE CONTAINS(c.g, '3')", &*planner, 80);
        assert_eq!(rows.len(), 20);
        let work = Ask::new(&query, &*planner, 7).all(&lend(&sources(&items(80), 1))).work;
        assert_eq!((work.fetched, work.entries), (20, 60));
    }
}

/// Puts the indexed value in the place of a path.
fn on_the_term(expr: crate::expr::Expr) -> crate::expr::Expr {
    use crate::expr::Expr;
    let mut expr = expr;
    if matches!(expr, Expr::Path { .. }) {
        return Expr::Slot(crate::physical::TERM_SLOT);
    }
    expr.children_mut(&mut |child| *child = on_the_term(std::mem::replace(child, Expr::Undefined)));
    expr
}

#[test]
fn a_page_that_did_enough_ends() {
    const ITEMS: usize = 1_000;
    const ENOUGH: u64 = 128;
    for text in ["SELECT c.id FROM c", "SELECT VALUE COUNT(1) FROM c", "SELECT c.id FROM c ORDER BY c.n"] {
        let query = compile(text);
        let items = items(ITEMS);
        let sources = sources(&items, 3);
        let sources = lend(&sources);
        let planner = &crate::choose::choose;
        let whole = Ask::new(&query, planner, 1_000_000).all(&sources);
        // What is shown is what this page did, not what those before it did.
        let enough = |work: &crate::work::Work| work.fetched + work.scanned >= ENOUGH;
        let thrifty = Ask { expired: &enough, ..Ask::new(&query, planner, 1_000_000) }.all(&sources);
        assert_eq!((&thrifty.rows, thrifty.work), (&whole.rows, whole.work), "{text}");
        let counted = (whole.work.fetched + whole.work.scanned) as usize;
        if counted > ENOUGH as usize && !text.contains("COUNT") {
            let pages = counted.div_ceil(ENOUGH as usize);
            assert!((pages..=pages + 1).contains(&thrifty.pages), "{text}: {} pages", thrifty.pages);
        }
    }
}
