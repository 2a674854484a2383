//! Helpers that plan sources beforehand change nothing but the time.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::choose::choose;
use crate::error::{Error, ErrorKind};
use crate::exec::testing::*;
use crate::limits::{AHEAD_AFTER_SOURCES, AHEAD_SOURCES_MAX};

/// Many, and most of them empty, since the items have nine partition keys.
const SOURCES: u32 = 60;

const QUERIES: [&str; 8] = [
    "SELECT * FROM c",
    "SELECT VALUE c.id FROM c WHERE c.g = 'g1'",
    "SELECT VALUE [c.id, t] FROM c JOIN t IN c.tags WHERE c.r >= 2",
    "SELECT VALUE c.id FROM c WHERE c.g = 'g2' ORDER BY c.r DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.g, c.r DESC",
    "SELECT DISTINCT VALUE c.g FROM c",
    "SELECT COUNT(1) AS n, MAX(c.r) AS most FROM c WHERE c.g != 'g0'",
    "SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g",
];

#[test]
fn pages_are_the_same_with_helpers_and_without() {
    let items = items(300);
    let sources = sources(&items, SOURCES);
    let sources = lend(&sources);
    for text in QUERIES {
        let query = compile(text);
        for rows_max in [1, 7, 1_000] {
            let alone = Ask::new(&query, &choose, rows_max);
            for helpers in [1, 3] {
                let helped = Ask { helpers, ..Ask::new(&query, &choose, rows_max) };
                let mut continuation: Option<String> = None;
                loop {
                    let expected = alone.page(&sources, continuation.as_deref()).unwrap();
                    let page = helped.page(&sources, continuation.as_deref()).unwrap();
                    let name = format!("{text}, {rows_max} rows, {helpers} helpers");
                    assert_eq!(page.rows, expected.rows, "{name}");
                    assert_eq!(page.continuation, expected.continuation, "{name}");
                    assert_eq!(page.work, expected.work, "{name}");
                    assert_eq!(page.retrieved, expected.retrieved, "{name}");
                    assert_eq!(page.plans, expected.plans, "{name}");
                    continuation = page.continuation;
                    if continuation.is_none() {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn each_source_is_planned_once_and_others_help() {
    let items = items(300);
    let sources = sources(&items, SOURCES);
    let planned = Mutex::new(Vec::new());
    let planner = |plan: &_, source: &dyn crate::source::Source| {
        planned.lock().unwrap().push((source.range_id(), thread::current().id()));
        // Long enough for the others to begin.
        thread::sleep(Duration::from_millis(1));
        choose(plan, source)
    };
    let query = compile("SELECT VALUE c.id FROM c WHERE c.g = 'g1'");
    let ask = Ask { helpers: 2, ..Ask::new(&query, &planner, 1_000) };
    ask.page(&lend(&sources), None).unwrap();
    let planned = planned.lock().unwrap();
    let ranges: HashSet<u32> = planned.iter().map(|(range, _)| *range).collect();
    assert_eq!((planned.len(), ranges.len()), (sources.len(), sources.len()));
    let threads: HashSet<_> = planned.iter().map(|(_, thread)| *thread).collect();
    assert_eq!(threads.len(), 3, "two helpers and the reader");
}

#[test]
fn a_page_that_ends_early_plans_few_sources_in_vain() {
    let items = items(300);
    let sources = sources(&items, SOURCES);
    let query = compile("SELECT VALUE c.id FROM c");
    for rows_max in [1, 40, 100, 200] {
        let planned = |helpers| {
            let count = Mutex::new(0);
            let planner = |plan: &_, source: &dyn crate::source::Source| {
                *count.lock().unwrap() += 1;
                choose(plan, source)
            };
            let ask = Ask { helpers, ..Ask::new(&query, &planner, rows_max) };
            assert!(ask.page(&lend(&sources), None).unwrap().continuation.is_some());
            count.into_inner().unwrap()
        };
        let (alone, helped) = (planned(0), planned(3));
        let in_vain = if alone <= AHEAD_AFTER_SOURCES { 0 } else { AHEAD_SOURCES_MAX };
        assert!((alone..=alone + in_vain).contains(&helped), "{rows_max} rows: {alone}, then {helped}");
    }
}

#[test]
fn an_error_in_one_source_is_the_error_of_the_page() {
    let items = items(300);
    let sources = sources(&items, SOURCES);
    let failing = crate::source::Source::range_id(&sources[40]);
    let planner = |plan: &_, source: &dyn crate::source::Source| match source.range_id() == failing {
        true => Err(Error::new(ErrorKind::Source, "unreadable")),
        false => choose(plan, source),
    };
    for text in QUERIES {
        let query = compile(text);
        let ask = Ask { helpers: 3, ..Ask::new(&query, &planner, 1_000) };
        assert_eq!(ask.page(&lend(&sources), None).unwrap_err().message, "unreadable", "{text}");
    }
}

#[test]
fn nobody_waits_for_a_helper_that_failed() {
    let items = items(300);
    let sources = sources(&items, SOURCES);
    let planner = |plan: &_, source: &dyn crate::source::Source| {
        assert_ne!(thread::current().name(), Some("query-ahead"), "a helper fails");
        choose(plan, source)
    };
    let query = compile("SELECT VALUE c.id FROM c");
    let ask = Ask { helpers: 3, ..Ask::new(&query, &planner, 1_000) };
    let outcome = catch_unwind(AssertUnwindSafe(|| ask.page(&lend(&sources), None)));
    assert!(outcome.is_err(), "the page fails as its helpers did");
}
