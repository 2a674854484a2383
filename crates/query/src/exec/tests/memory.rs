//! The bound on memory: what does not fit is an error that says so, and what fits is given back.

use crate::error::ErrorKind;
use crate::exec::testing::*;
use crate::physical::{Access, IndexOnly, IndexSet};

#[test]
fn queries_that_need_more_than_they_may_have_are_refused() {
    let items = items(300);
    let sources = sources(&items, 2);
    let sources = lend(&sources);
    for (text, needs) in [
        ("SELECT c.id, COUNT(1) AS a FROM c GROUP BY c.id", "groups"),
        ("SELECT DISTINCT c.id FROM c", "DISTINCT"),
        ("SELECT c.id FROM c ORDER BY c.r", "ORDER BY"),
        ("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.id FROM c)", "DISTINCT"),
    ] {
        let query = compile(text);
        let planner = always(Access::ScanByKey);
        let fits = |memory_max: usize| {
            let ask = Ask { memory_max, ..Ask::new(&query, &*planner, 1_000) };
            ask.page(&sources, None)
        };
        let error = fits(4_000).unwrap_err();
        assert_eq!(error.kind, ErrorKind::TooLarge, "{text}");
        assert!(error.message.contains(needs), "{text}: {}", error.message);
        // The bound itself, and one less.
        let (mut low, mut high) = (4_000, 1 << 26);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if fits(middle).is_ok() { high = middle } else { low = middle }
        }
        assert!(fits(high).is_ok() && fits(high - 1).is_err(), "{text}");
    }
}

#[test]
fn a_sort_keeps_what_a_page_can_take() {
    let items = items(2_000);
    let sources = sources(&items, 1);
    let query = compile("SELECT c.id FROM c ORDER BY c.r DESC");
    let planner = always(Access::ScanByNumber);
    // Far less than all rows take.
    let ask = Ask { memory_max: 8_000, ..Ask::new(&query, &*planner, 20) };
    assert_eq!(ask.page(&lend(&sources), None).unwrap().row_count(), 20);
    let ask = Ask { memory_max: 8_000, bytes_max: 300, ..Ask::new(&query, &*planner, 2_000) };
    assert!(ask.page(&lend(&sources), None).unwrap().row_count() > 10);
}

#[test]
fn an_index_that_names_too_many_items_is_not_put_in_order() {
    let items = items(300);
    let sources = sources(&items, 1);
    let sources = lend(&sources);
    let two = armilla_value::Value::Int64(2);
    let numbers = range("n", &[at_least(&two)]);
    let source = sources[0];
    let mut entries = Vec::new();
    source.entries(&numbers.ranges[0], crate::source::Direction::Forward, 1_000, &mut entries).unwrap();
    let planner = always(set(numbers.clone()));
    let query = compile("SELECT VALUE c.id FROM c WHERE c.n >= 2");
    let expected = Ask::new(&query, &*always(Access::ScanByNumber), 1_000).all(&sources);
    for (collected_max, fetches) in [(entries.len(), true), (entries.len() - 1, false), (0, false)] {
        for rows_max in [3, 1_000] {
            let ask = Ask { collected_max, ..Ask::new(&query, &*planner, rows_max) };
            let all = ask.all(&sources);
            assert_eq!(all.sorted_rows(), expected.sorted_rows());
            assert_eq!((all.work.fetched > 0, all.work.scanned > 0), (fetches, !fetches), "{collected_max}");
        }
    }
    // What was begun by number goes on by number when the index has grown too long meanwhile.
    let first = Ask::new(&query, &*planner, 10).page(&sources, None).unwrap();
    let ask = Ask { collected_max: 0, ..Ask::new(&query, &*planner, 1_000) };
    let second = ask.page(&sources, first.continuation.as_deref()).unwrap();
    let rows = [rows_of_page(&first), rows_of_page(&second)].concat();
    assert_eq!(rows, expected.rows);
    let count = compile("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 2");
    let both = IndexSet::And(vec![IndexSet::Range(numbers.clone()), IndexSet::Range(numbers)]);
    let planner = index_only(IndexOnly::CountSet(both));
    let ask = Ask { collected_max: 0, ..Ask::new(&count, &*planner, 10) };
    assert_eq!(ask.all(&sources).rows, [entries.len().to_string()]);
}

#[test]
fn sources_one_after_the_other_need_the_memory_of_one() {
    let items = items(800);
    let sources = sources(&items, 8);
    let two = armilla_value::Value::Int64(2);
    let planner = always(set(range("n", &[at_least(&two)])));
    let query = compile("SELECT VALUE c.id FROM c WHERE c.n >= 2");
    let all = Ask::new(&query, &*planner, 1_000).all(&lend(&sources)).rows.len();
    let ask = Ask { memory_max: all * 8 / 2, ..Ask::new(&query, &*planner, 1_000) };
    assert_eq!(ask.all(&lend(&sources)).rows.len(), all);
}
