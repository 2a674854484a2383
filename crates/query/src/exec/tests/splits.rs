//! Tokens on other cuts of the same data: splits between pages, and parts that clients ask for.

use armilla_value::{HashedKey, Value};

use crate::choose::choose;
use crate::continuation::continuation_cuts;
use crate::error::ErrorKind;
use crate::exec::testing::*;
use crate::physical::{Access, IndexSet};
use crate::source::{MemorySource, Source};

/// Queries with the access that is tried before a split, and the one after.
fn cases() -> Vec<(&'static str, Box<TestPlanner>, Box<TestPlanner>)> {
    let two = Value::Int64(2);
    let numbers = || range("n", &[at_least(&two)]);
    let both =
        || IndexSet::And(vec![IndexSet::Range(numbers()), IndexSet::Range(range("r", &[at_least(&two)]))]);
    let filtered = "SELECT VALUE c.id FROM c WHERE c.n >= 2 AND c.r >= 2";
    let joined = "SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags";
    vec![
        (filtered, always(Access::ScanByNumber), always(Access::ScanByNumber)),
        (filtered, always(Access::ScanByKey), always(Access::ScanByKey)),
        (filtered, always(Access::ScanByKey), always(Access::ScanByNumber)),
        (filtered, always(Access::ScanByNumber), always(Access::ScanByKey)),
        (filtered, always(set(numbers())), always(Access::ScanByKey)),
        (filtered, always(set(numbers())), always(Access::Stream(numbers()))),
        (filtered, always(Access::Stream(numbers())), always(Access::Stream(numbers()))),
        (filtered, always(Access::Stream(numbers())), always(set(numbers()))),
        (filtered, always(Access::Stream(numbers())), always(Access::Set(both()))),
        (filtered, always(Access::Set(both())), always(Access::Stream(numbers()))),
        (filtered, always(Access::Stream(numbers())), always(Access::ScanByKey)),
        (filtered, always(Access::Stream(numbers())), always(Access::Stream(range("r", &[at_least(&two)])))),
        (joined, always(Access::ScanByNumber), always(Access::ScanByNumber)),
        (joined, always(Access::ScanByKey), always(Access::ScanByNumber)),
        ("SELECT VALUE c.id FROM c ORDER BY c.g", walking(), walking()),
        ("SELECT VALUE c.id FROM c ORDER BY c.n DESC", walking(), always(Access::ScanByNumber)),
        ("SELECT VALUE c.id FROM c ORDER BY c.s", always(Access::ScanByKey), walking()),
        ("SELECT VALUE c.id FROM c ORDER BY c.s DESC", walking(), walking()),
        ("SELECT VALUE c.id FROM c ORDER BY c.g, c.r DESC", walking(), walking()),
        (
            "SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags ORDER BY c.g DESC",
            walking(),
            always(Access::ScanByKey),
        ),
        (
            "SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags ORDER BY c.g DESC",
            always(Access::ScanByKey),
            walking(),
        ),
    ]
}

#[test]
fn no_row_is_lost_or_doubled_by_a_split_between_pages() {
    let items = items(120);
    let cuts: Vec<Vec<MemorySource>> = [1, 2, 4, 8].map(|count| sources(&items, count)).into();
    for (case, (text, before, after)) in cases().iter().enumerate() {
        let query = compile(text);
        let expected = Ask::new(&query, &**before, 1_000_000).all(&lend(&cuts[0])).sorted_rows();
        for rows_max in [1, 4, 9] {
            for pages_before in [1, 3] {
                let mut rows = Vec::new();
                let mut token: Option<String> = None;
                for page in 0.. {
                    let split = page >= pages_before;
                    let sources = if split { &cuts[(page / pages_before).min(3)] } else { &cuts[0] };
                    let planner = if split { &**after } else { &**before };
                    let ask = Ask::new(&query, planner, rows_max);
                    let page = ask.page(&lend(sources), token.as_deref()).unwrap();
                    rows.extend(rows_of_page(&page));
                    token = page.continuation;
                    if token.is_none() {
                        break;
                    }
                }
                rows.sort();
                assert_eq!(
                    rows, expected,
                    "{text}: case {case}, {rows_max} rows a page, {pages_before} pages"
                );
            }
        }
    }
}

#[test]
fn a_token_is_good_for_each_part_by_itself() {
    let items = items(120);
    let whole = sources(&items, 2);
    let parts = sources(&items, 8);
    for (case, (text, before, after)) in cases().iter().enumerate() {
        let query = compile(text);
        let expected = Ask::new(&query, &**before, 1_000_000).all(&lend(&whole)).sorted_rows();
        for rows_max in [1, 13, 70] {
            let first = Ask::new(&query, &**before, rows_max).page(&lend(&whole), None).unwrap();
            let mut rows = rows_of_page(&first);
            let Some(token) = first.continuation else {
                assert!(rows.len() <= rows_max);
                continue;
            };
            for part in &parts {
                let mut token = Some(token.clone());
                while let Some(text) = token {
                    let page = Ask::new(&query, &**after, 5).page(&[part], Some(&text)).unwrap();
                    rows.extend(rows_of_page(&page));
                    token = page.continuation;
                }
            }
            rows.sort();
            if text.contains("c.s") {
                // Of long sort keys a token holds the beginning; parts without the last item give those that begin alike
                // again, rather than lose one.
                rows.dedup();
            }
            assert_eq!(rows, expected, "{text}: case {case}, {rows_max} rows on the first page");
        }
    }
}

#[test]
fn parts_of_a_partition_give_what_the_partition_gives() {
    let items = items(120);
    let whole = &sources(&items, 1)[0];
    let cut = HashedKey::from_hex("1FFF").unwrap();
    let parts = [whole.narrowed(&HashedKey::MIN, &cut), whole.narrowed(&cut, &HashedKey::MAX)];
    for (text, before, after) in cases() {
        let query = compile(text);
        let expected = Ask::new(&query, &*before, 1_000_000).all(&[whole]);
        for planner in [before, after] {
            let all = Ask::new(&query, &*planner, 7).all(&lend(&parts));
            assert_eq!(all.sorted_rows(), expected.sorted_rows(), "{text}");
        }
    }
}

#[test]
fn a_token_for_a_part_is_refused_on_more_than_the_part() {
    let items = items(40);
    let parts = sources(&items, 4);
    let whole = sources(&items, 1);
    for text in ["SELECT VALUE c.id FROM c", "SELECT VALUE c.id FROM c ORDER BY c.r"] {
        let query = compile(text);
        let planner = always(Access::ScanByNumber);
        let ask = Ask::new(&query, &*planner, 2);
        let token = ask.page(&[&parts[1]], None).unwrap().continuation.unwrap();
        let error = ask.page(&lend(&whole), Some(&token)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Continuation, "{text}");
        // Where it can be used is told.
        let (min, max) = parts[1].bounds();
        assert_eq!(continuation_cuts(&token, query.fingerprint).unwrap(), [min.clone(), max.clone()]);
        let cut = [
            whole[0].narrowed(&HashedKey::MIN, &min),
            whole[0].narrowed(&min, &max),
            whole[0].narrowed(&max, &HashedKey::MAX),
        ];
        let page = ask.page(&lend(&cut), Some(&token)).unwrap();
        assert_eq!(page.row_count(), 2, "{text}");
    }
}

#[test]
fn rows_without_a_place_survive_splits_and_merges() {
    const ITEMS: usize = 400;
    let items = items(ITEMS);
    // The same items, cut differently before every page.
    let cuts: Vec<_> = [2, 5, 1, 3].map(|count| sources(&items, count)).into();
    for text in [
        "SELECT DISTINCT VALUE c.n FROM c",
        "SELECT DISTINCT c.g, c.r FROM c",
        "SELECT DISTINCT c.g, c.r FROM c ORDER BY c.g DESC",
        "SELECT DISTINCT VALUE c.s FROM c ORDER BY c.s",
        "SELECT DISTINCT VALUE c.g FROM c ORDER BY c.r",
        "SELECT c.r, COUNT(1) AS n FROM c GROUP BY c.r",
        "SELECT DISTINCT c.g, COUNT(1) AS n FROM c GROUP BY c.g, c.r",
        "SELECT VALUE x FROM (SELECT VALUE c.g FROM c) AS x",
        "SELECT VALUE x.r FROM (SELECT c.r, c.g FROM c) AS x WHERE x.r > 3",
        "SELECT DISTINCT VALUE c.r FROM c OFFSET 3 LIMIT 11",
    ] {
        let query = compile(text);
        assert!(query.is_reordered(), "{text}");
        let whole = Ask::new(&query, &choose, 1_000_000).all(&lend(&cuts[0]));
        for rows_max in [1, 3, 16] {
            let mut rows = Vec::new();
            let mut continuation: Option<String> = None;
            for page in 0.. {
                assert!(page < 10_000, "{text}: pages without end");
                let sources = lend(&cuts[page % cuts.len()]);
                let page =
                    Ask::new(&query, &choose, rows_max).page(&sources, continuation.as_deref()).unwrap();
                rows.extend(rows_of_page(&page));
                continuation = page.continuation;
                if continuation.is_none() {
                    break;
                }
            }
            let uncut = Ask::new(&query, &choose, rows_max).all(&lend(&cuts[0]));
            assert_eq!(rows, uncut.rows, "{text}: {rows_max} rows a page");
            if !text.contains("OFFSET") {
                rows.sort();
                assert_eq!(rows, whole.sorted_rows(), "{text}: {rows_max} rows a page");
            } else {
                assert_eq!(rows.len(), 11, "{text}");
            }
        }
    }
}
