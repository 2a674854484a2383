//! What is read to answer: entries once, and items only where entries are not enough.

use armilla_value::Value;

use crate::choose::choose;
use crate::exec::counting::Counting;
use crate::exec::testing::*;
use crate::expr::PathStep;
use crate::limits::{GATHERED_ENTRIES_MAX, NUMBERS_AT_ONCE_MAX};
use crate::physical::{Access, Column, Covered};

/// A range was read once to see how many entries it has, and again from its beginning, in steps that began small.
#[test]
fn what_was_read_to_plan_is_not_read_again() {
    let items = items(8_000);
    let sources = sources(&items, 1);
    for (text, beside) in [
        // Where there are many, one more is looked at: the last.
        ("SELECT VALUE c.id FROM c WHERE c.r = 3", 1),
        ("SELECT VALUE c.id FROM c WHERE c.r IN (3, 5)", 2),
        ("SELECT VALUE c.id FROM c WHERE c.id < 'i2'", 2),
        ("SELECT VALUE c.id FROM c WHERE c.id = 'i7'", 0),
        // There is nothing to be chosen.
        ("SELECT VALUE COUNT(1) FROM c WHERE c.r = 3", 0),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.id < 'i2'", 0),
    ] {
        let query = compile(text);
        let source = Counting::new(&sources[0]);
        let all = Ask::new(&query, &choose, 1_000_000).all(&[&source]);
        assert!(all.work.fetched > 0 && all.work.scanned == 0, "{text}: {:?}", all.work);
        assert_eq!(source.entries_read() as u64, all.work.fetched + beside, "{text}");
    }
}

#[test]
fn aggregates_of_what_the_filter_speaks_of_load_nothing() {
    let items = items(1_000);
    let sources = sources(&items, 1);
    let scans = always(Access::ScanByNumber);
    for text in [
        "SELECT COUNT(1) AS n, SUM(c.r) AS s FROM c WHERE c.r >= 2 AND c.r < 4",
        "SELECT AVG(c.r) AS a, MIN(c.r * 2) AS l FROM c WHERE c.r = 3",
        "SELECT c.r, COUNT(1) AS n FROM c WHERE c.r IN (1, 3) GROUP BY c.r",
        // The index over both has the other value, too.
        "SELECT COUNT(1) AS n, SUM(c.r) AS s FROM c WHERE c.g = 'g1'",
        "SELECT c.r, COUNT(1) AS n, MAX(c.g) AS g FROM c WHERE c.g = 'g2' GROUP BY c.r",
    ] {
        let query = compile(text);
        let source = Counting::new(&sources[0]);
        let page = Ask::new(&query, &choose, 1_000_000).page(&[&source], None).unwrap();
        let expected = Ask::new(&query, &*scans, 1_000_000).page(&lend(&sources), None).unwrap();
        // In the same order, and summed up in the same order.
        assert_eq!(rows_of_page(&page), rows_of_page(&expected), "{text}");
        assert_eq!((source.loaded(), page.retrieved.items), (0, 0), "{text}");
        // It costs what the items would have cost.
        assert_eq!(page.work.fetched, expected.work.aggregate_rows, "{text}");
        assert!(page.work.fetched_bytes > 0 && page.work.scanned == 0, "{text}");
    }
}

/// Of long values, arrays and objects an index holds no more than tells them apart.
#[test]
fn items_are_loaded_where_their_entries_do_not_hold_the_value() {
    let item = |number: usize, n: &str| value(&format!(r#"{{"id":"i{number}","pk":"p","n":{n}}}"#));
    let long = format!("\"{}\"", "x".repeat(400));
    let values = ["1", "\"x\"", &long, "[1]", "{\"a\":1}", "null", "true", "2.5"];
    let items: Vec<Value> = (0..80).map(|number| item(number, values[number % values.len()])).collect();
    let sources = sources(&items, 1);
    let scans = always(Access::ScanByNumber);
    let exact = |text: &str, loaded: usize| {
        let query = compile(text);
        let source = Counting::new(&sources[0]);
        let page = Ask::new(&query, &choose, 1_000_000).page(&[&source], None).unwrap();
        let expected = Ask::new(&query, &*scans, 1_000_000).page(&lend(&sources), None).unwrap();
        assert_eq!(rows_of_page(&page), rows_of_page(&expected), "{text}");
        assert_eq!(source.loaded(), loaded, "{text}");
    };
    exact("SELECT COUNT(1) AS n, MAX(c.n) AS h FROM c WHERE IS_STRING(c.n)", 10);
    exact("SELECT COUNT(1) AS n, MAX(c.n) AS h, SUM(c.n) AS s FROM c WHERE IS_DEFINED(c.n)", 30);
    exact("SELECT COUNT(1) AS n, SUM(c.n) AS s FROM c WHERE IS_NUMBER(c.n)", 0);
    exact("SELECT c.n, COUNT(1) AS k FROM c WHERE c.n > 1 OR IS_ARRAY(c.n) GROUP BY c.n", 10);
}

#[test]
fn more_entries_than_are_gathered_lead_to_their_items() {
    let two = Value::Int64(2);
    let steps = vec![PathStep::Name("n".to_owned())];
    let covered = Covered {
        range: range("n", &[at_least(&two)]),
        columns: vec![Column { steps, descending: false }],
        by_number: true,
    };
    for (count, loads) in [(GATHERED_ENTRIES_MAX, false), (GATHERED_ENTRIES_MAX + NUMBERS_AT_ONCE_MAX, true)]
    {
        let item = |number: usize| value(&format!(r#"{{"id":"{number}","n":{}.25}}"#, 2 + number % 7));
        let items: Vec<Value> = (0..count).map(item).collect();
        let sources = sources(&items, 1);
        let query = compile("SELECT COUNT(1) AS n, SUM(c.n) AS s FROM c WHERE c.n >= 2");
        let ways = [Access::Covered(covered.clone()), Access::ScanByNumber];
        let [by_entries, by_scan] = ways.map(|access| {
            let source = Counting::new(&sources[0]);
            let page = Ask::new(&query, &*always(access), 1_000_000).page(&[&source], None).unwrap();
            (rows_of_page(&page), source.loaded())
        });
        assert_eq!(by_entries.0, by_scan.0);
        assert_eq!(by_entries.1 > 0, loads, "{count}");
    }
}
