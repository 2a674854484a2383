//! Rows in sort order: walks, sorts, and both merged.

use std::cmp::Ordering;

use armilla_functions::Datum;
use armilla_functions::operators::order;
use armilla_value::Value;

use crate::error::ErrorKind;
use crate::exec::testing::*;
use crate::exec::{ResumeFilter, ResumeValue};
use crate::physical::Access;
use crate::source::Source;

const ORDERS: [&str; 11] = [
    "ORDER BY c.r",
    "ORDER BY c.r DESC",
    "ORDER BY c.n",
    "ORDER BY c.n DESC",
    "ORDER BY c.s",
    "ORDER BY c.s DESC",
    "ORDER BY c.none DESC",
    "ORDER BY c.g, c.r DESC",
    "ORDER BY c.g DESC, c.r ASC",
    "ORDER BY c.s, c.g",
    "ORDER BY c.s DESC, c.g DESC",
];

/// A planner that sorts in some sources and walks in others.
fn mixed() -> Box<TestPlanner> {
    let (walks, sorts) = (walking(), always(Access::ScanByKey));
    Box::new(
        move |plan, source| {
            if source.range_id() % 2 == 0 { walks(plan, source) } else { sorts(plan, source) }
        },
    )
}

#[test]
fn walks_and_sorts_agree_on_pages_of_any_size() {
    let items = items(130);
    for source_count in [1, 3] {
        let sources = sources(&items, source_count);
        let sources = lend(&sources);
        for order in ORDERS {
            for text in [
                format!("SELECT c.id, c.r FROM c {order}"),
                format!("SELECT c.id FROM c WHERE c.g = 'g1' OR c.n >= 3 {order}"),
                format!("SELECT VALUE c.n FROM c {order}"),
                format!("SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags {order}"),
                format!("SELECT TOP 11 c.id FROM c {order}"),
                format!("SELECT c.id FROM c {order} OFFSET 9 LIMIT 20"),
                format!("SELECT DISTINCT VALUE c.g FROM c {order}"),
            ] {
                check_order(&text, &sources);
            }
        }
    }
}

#[track_caller]
fn check_order(text: &str, sources: &[&dyn Source]) {
    let query = compile(text);
    let planners = [("walk", walking()), ("sort", always(Access::ScanByNumber)), ("both", mixed())];
    let expected = Ask::new(&query, &*planners[0].1, 1_000_000).all(sources);
    assert_eq!(expected.pages, 1, "{text}");
    for (name, planner) in &planners {
        let whole = Ask::new(&query, &**planner, 1_000_000).all(sources);
        assert_eq!(whole.rows, expected.rows, "{text}: {name}");
        for rows_max in [1, 2, 3, 7, 100] {
            let paged = Ask::new(&query, &**planner, rows_max).all(sources);
            paged.check(&query, &whole, &format!("{text}: {name}, {rows_max} rows a page"));
        }
        for bytes_max in [1, 100] {
            let paged = Ask { bytes_max, ..Ask::new(&query, &**planner, 50) }.all(sources);
            paged.check(&query, &whole, &format!("{text}: {name}, {bytes_max} bytes a page"));
        }
        let hasty = Ask { expired: &|_| true, ..Ask::new(&query, &**planner, 1_000_000) }.all(sources);
        assert_eq!((&hasty.rows, &hasty.work), (&whole.rows, &whole.work), "{text}: {name}, no time");
    }
}

#[test]
fn the_order_is_that_of_the_language() {
    let items = items(200);
    let sources = sources(&items, 3);
    let sources = lend(&sources);
    for name in ["n", "s", "r"] {
        for direction in ["ASC", "DESC"] {
            let text = format!("SELECT VALUE [[c.{name}], c.id] FROM c ORDER BY c.{name} {direction}");
            let query = compile(&text);
            let rows = Ask::new(&query, &*walking(), 17).all(&sources).rows;
            assert_eq!(rows.len(), items.len());
            let keys: Vec<Value> = rows.iter().map(|row| value(row)).collect();
            for pair in keys.windows(2) {
                let key = |row: &Value| row.as_array().unwrap()[0].as_array().unwrap().first().cloned();
                let (first, second) = (key(&pair[0]), key(&pair[1]));
                let datum = |key: &Option<Value>| key.clone().map_or(Datum::Undefined, Datum::from_owned);
                let (first, second) = (datum(&first), datum(&second));
                // Arrays and objects have an order of their own.
                let structured = |datum: &Datum<'_>| datum.is_array() || datum.is_object();
                if first.kind() == second.kind() && structured(&first) {
                    continue;
                }
                let ordering = order(&first, &second);
                let wrong = if direction == "ASC" { Ordering::Greater } else { Ordering::Less };
                assert_ne!(ordering, wrong, "{text}: {first:?} before {second:?}");
            }
        }
    }
}

#[test]
fn ties_come_in_the_order_of_insertion_or_its_reverse() {
    let items = items(300);
    let sources = sources(&items, 1);
    for (direction, opposite, backwards) in [("ASC", "DESC", false), ("DESC", "ASC", true)] {
        for text in [
            format!("SELECT VALUE DOCUMENTID(c) FROM c WHERE c.g = 'g2' ORDER BY c.g {direction}"),
            format!(
                "SELECT VALUE DOCUMENTID(c) FROM c WHERE c.g = 'g2' AND c.r = 3 ORDER BY c.g {direction}, c.r {opposite}"
            ),
        ] {
            let query = compile(&text);
            let page = Ask::new(&query, &*walking(), 100).page(&lend(&sources), None).unwrap();
            assert_eq!(page.reverse_scan, backwards);
            let rows: Vec<u64> = rows_of_page(&page).iter().map(|row| row.parse().unwrap()).collect();
            let mut expected = rows.clone();
            expected.sort();
            if backwards {
                expected.reverse();
            }
            assert!(!rows.is_empty());
            assert_eq!(rows, expected, "{text}");
        }
    }
}

fn numbers(rows: &[String]) -> Vec<String> {
    rows.iter().map(|row| value(row).as_array().unwrap()[0].as_str().unwrap().to_owned()).collect()
}

#[test]
fn resume_filters_begin_where_they_say() {
    let items = items(100);
    let sources = sources(&items, 1);
    let sources = lend(&sources);
    for order in ["ORDER BY c.n", "ORDER BY c.n DESC", "ORDER BY c.g, c.r DESC", "ORDER BY c.s DESC"] {
        let keys = match order {
            "ORDER BY c.g, c.r DESC" => "[[c.g], [c.r]]",
            "ORDER BY c.s DESC" => "[[c.s]]",
            _ => "[[c.n]]",
        };
        let query = compile(&format!("SELECT VALUE [c.id, {keys}, DOCUMENTID(c)] FROM c {order}"));
        for planner in [walking(), always(Access::ScanByNumber)] {
            let all = Ask::new(&query, &*planner, 1_000).all(&sources).rows;
            for (at, row) in all.iter().enumerate() {
                let row = value(row);
                let row = row.as_array().unwrap();
                let values: Vec<ResumeValue> = row[1].as_array().unwrap().iter().map(resume_value).collect();
                let number = Some(row[2].as_i64().unwrap() as u64);
                let at_item = ResumeFilter { values: values.clone(), number, exclude: false };
                let ask = Ask { resume: Some(&at_item), ..Ask::new(&query, &*planner, 7) };
                let rest = ask.all(&sources).rows;
                assert_eq!(numbers(&rest), numbers(&all[at..]), "{order} at {at}");
                let behind_item = ResumeFilter { exclude: true, ..at_item };
                let ask = Ask { resume: Some(&behind_item), ..Ask::new(&query, &*planner, 1_000) };
                assert_eq!(numbers(&ask.all(&sources).rows), numbers(&all[at + 1..]), "{order} behind {at}");
                if values
                    .iter()
                    .any(|value| matches!(value, ResumeValue::SomeArray | ResumeValue::SomeObject))
                {
                    continue;
                }
                let same = |other: &String| value(other).as_array().unwrap()[1] == row[1];
                let first = all.iter().position(same).unwrap();
                let last = all.iter().rposition(same).unwrap();
                for (exclude, from) in [(false, first), (true, last + 1)] {
                    let by_value = ResumeFilter { values: values.clone(), number: None, exclude };
                    let ask = Ask { resume: Some(&by_value), ..Ask::new(&query, &*planner, 1_000) };
                    assert_eq!(numbers(&ask.all(&sources).rows), numbers(&all[from..]), "{order}, {exclude}");
                }
            }
        }
    }
}

fn resume_value(key: &Value) -> ResumeValue {
    match key.as_array().unwrap().first() {
        None => ResumeValue::Undefined,
        Some(Value::Array(_)) => ResumeValue::SomeArray,
        Some(Value::Object(_)) => ResumeValue::SomeObject,
        Some(scalar) => ResumeValue::Value(scalar.clone()),
    }
}

#[test]
fn the_further_of_token_and_resume_filter_wins() {
    let items = items(40);
    let sources = sources(&items, 1);
    let sources = lend(&sources);
    let query = compile("SELECT VALUE c.r FROM c WHERE IS_NUMBER(c.r) ORDER BY c.r");
    let planner = walking();
    let all = Ask::new(&query, &*planner, 1_000).all(&sources).rows;
    let first = Ask::new(&query, &*planner, 10).page(&sources, None).unwrap();
    let token = first.continuation.unwrap();
    for (bound, expected) in [(0, &all[10..]), (16, &all[all.iter().position(|row| row == "16").unwrap()..])]
    {
        let values = vec![ResumeValue::Value(Value::Int64(bound))];
        let filter = ResumeFilter { values, number: None, exclude: false };
        let ask = Ask { resume: Some(&filter), ..Ask::new(&query, &*planner, 1_000) };
        let page = ask.page(&sources, Some(&token)).unwrap();
        assert_eq!(rows_of_page(&page), expected);
    }
}

#[test]
fn resume_filters_that_do_not_fit_are_refused() {
    let items = items(4);
    let sources = sources(&items, 1);
    let filter = ResumeFilter { values: Vec::new(), number: None, exclude: false };
    let planner = always(Access::ScanByNumber);
    for (text, kind) in
        [("SELECT * FROM c", ErrorKind::Refused), ("SELECT * FROM c ORDER BY c.n", ErrorKind::Continuation)]
    {
        let query = compile(text);
        let ask = Ask { resume: Some(&filter), ..Ask::new(&query, &*planner, 10) };
        assert_eq!(ask.page(&lend(&sources), None).unwrap_err().kind, kind, "{text}");
    }
}
