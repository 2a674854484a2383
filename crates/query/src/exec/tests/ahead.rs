//! Helpers that plan sources beforehand change nothing but the time.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, ThreadId};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::choose::choose;
use crate::error::{Error, ErrorKind};
use crate::exec::testing::*;
use crate::limits::{AHEAD_AFTER_SOURCES, AHEAD_SOURCES_MAX};
use crate::source::Source;

/// Many, and most of them empty, since the items have nine partition keys.
const SOURCES: u32 = 60;

/// How long a thread waits for others before the test fails.
const PATIENCE: Duration = Duration::from_secs(10);

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
    let (planned, came) = (Mutex::new(Vec::new()), Condvar::new());
    let threads = |planned: &[(u32, ThreadId)]| {
        planned.iter().map(|(_, thread)| *thread).collect::<HashSet<ThreadId>>().len()
    };
    let planner = |plan: &_, source: &dyn Source| {
        let mut seen = planned.lock();
        seen.push((source.range_id(), thread::current().id()));
        came.notify_all();
        // No thread goes on before all have come.
        if seen.len() > AHEAD_AFTER_SOURCES {
            came.wait_while_for(&mut seen, |seen| threads(seen) < 3, PATIENCE);
        }
        choose(plan, source)
    };
    let query = compile("SELECT VALUE c.id FROM c WHERE c.g = 'g1'");
    let ask = Ask { helpers: 2, ..Ask::new(&query, &planner, 1_000) };
    ask.page(&lend(&sources), None).unwrap();
    let planned = planned.lock();
    let ranges: HashSet<u32> = planned.iter().map(|(range, _)| *range).collect();
    assert_eq!((planned.len(), ranges.len()), (sources.len(), sources.len()));
    assert_eq!(threads(&planned), 3, "two helpers and the reader");
}

#[test]
fn a_page_that_ends_early_plans_few_sources_in_vain() {
    let items = items(300);
    let sources = sources(&items, SOURCES);
    let query = compile("SELECT VALUE c.id FROM c");
    for rows_max in [1, 40, 100, 200] {
        let planned = |helpers| {
            let count = Mutex::new(0);
            let planner = |plan: &_, source: &dyn Source| {
                *count.lock() += 1;
                choose(plan, source)
            };
            let ask = Ask { helpers, ..Ask::new(&query, &planner, rows_max) };
            assert!(ask.page(&lend(&sources), None).unwrap().continuation.is_some());
            count.into_inner()
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
    let failing = sources[40].range_id();
    let planner = |plan: &_, source: &dyn Source| match source.range_id() == failing {
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
fn the_reader_does_not_wait_for_a_helper_that_failed() {
    let items = items(300);
    let sources = sources(&items, SOURCES);
    let (failed, fails) = (Mutex::new((0, false)), Condvar::new());
    let planner = |plan: &_, source: &dyn Source| {
        let mut seen = failed.lock();
        if thread::current().name() == Some("query-ahead") {
            seen.1 = true;
            drop(seen);
            fails.notify_all();
            panic!("a helper fails");
        }
        seen.0 += 1;
        // The reader does not get to the end before that.
        if seen.0 > AHEAD_AFTER_SOURCES {
            fails.wait_while_for(&mut seen, |seen| !seen.1, PATIENCE);
        }
        choose(plan, source)
    };
    let query = compile("SELECT VALUE c.id FROM c");
    let ask = Ask { helpers: 3, ..Ask::new(&query, &planner, 1_000) };
    let outcome = catch_unwind(AssertUnwindSafe(|| ask.page(&lend(&sources), None)));
    assert!(outcome.is_err(), "the page fails as its helpers did");
}
