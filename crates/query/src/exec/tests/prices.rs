//! What is counted, whichever way items were found; and pages that end before a source that may not be read.

use armilla_value::{Component, PartitionKey, Value, json};

use crate::choose::choose;
use crate::exec::testing::*;
use crate::source::Source;

const ITEMS: usize = 1_000;

/// Runs a query to its end and returns how many items it loaded, and how many entries it passed over.
#[track_caller]
fn counted(text: &str, sources: &[&dyn Source]) -> (u64, u64) {
    let work = Ask::new(&compile(text), &choose, 1_000_000).all(sources).work;
    assert_eq!(work.scanned, 0, "{text}");
    (work.fetched, work.entries)
}

#[test]
fn what_an_index_would_pass_over_costs_no_load() {
    let items = items(ITEMS);
    let sources = sources(&items, 1);
    let key = PartitionKey(vec![Component::String("p3".to_owned())]);
    let logical = sources[0].logical(&key);
    let in_logical = items.iter().filter(|item| item.get("pk") == Some(&Value::from("p3"))).count() as u64;
    let matching = |of: &str| {
        let of = json::parse(of.as_bytes()).unwrap();
        let is_one = |item: &&Value| item.get("pk") == Some(&Value::from("p3")) && item.get("g") == Some(&of);
        items.iter().filter(is_one).count() as u64
    };
    let one = matching(r#""g1""#);
    assert!(one > 0 && one < in_logical);
    for (text, expected) in [
        // Each condition is one that an index answers exactly: what it rejects was never met.
        ("SELECT * FROM c WHERE c.g = 'g1'", (one, 0)),
        ("SELECT * FROM c WHERE c.g = 'g1' AND c.pk = 'p3'", (one, 0)),
        ("SELECT * FROM c WHERE c.g = 'g1' ORDER BY c.r", (one, 0)),
        // No index knows this.
        ("SELECT * FROM c WHERE LENGTH(c.id) < 0", (0, in_logical)),
        ("SELECT * FROM c WHERE c.g = 'g1' AND LENGTH(c.id) > 0", (one, in_logical - one)),
    ] {
        assert_eq!(counted(text, &[&logical]), expected, "{text}");
    }
}

#[test]
fn a_walk_in_order_passes_over_what_another_index_rejects() {
    let items = items(ITEMS);
    let sources = sources(&items, 1);
    let sources = lend(&sources);
    // The walk is the way here: a tenth of what is wanted is met soon.
    let text = "SELECT TOP 20 * FROM c WHERE c.g = 'g1' ORDER BY c.id";
    let (fetched, entries) = counted(text, &sources);
    assert_eq!(fetched, 20, "{text}");
    assert!(entries > 0, "{text}");
    let text = "SELECT TOP 20 * FROM c WHERE c.g = 'g1' AND LENGTH(c.id) > 0 ORDER BY c.id";
    assert_eq!(counted(text, &sources), (fetched + entries, 0), "{text}");
}

#[test]
fn a_page_ends_before_a_source_that_may_not_be_read() {
    let items = items(ITEMS);
    let open = sources(&items, 4);
    for text in [
        "SELECT c.id FROM c",
        "SELECT VALUE COUNT(c.n) FROM c WHERE c.r > 3",
        "SELECT * FROM c WHERE c.g = 'g1'",
    ] {
        let query = compile(text);
        assert!(query.reads_in_turn(), "{text}");
        let whole = Ask::new(&query, &choose, 1_000_000).all(&lend(&open));
        for shut_at in 0..open.len() {
            let mut some: Vec<_> = open.clone();
            some[shut_at] = some[shut_at].clone().shut();
            let mut all = All::default();
            let first = Ask::new(&query, &choose, 1_000_000).page(&lend(&some), None).unwrap();
            all.add(&first);
            assert_eq!(first.work.partitions, shut_at as u64, "{text}");
            let token = first.continuation.expect("something is left");
            // As long as it may not be read, nothing moves and nothing is counted.
            let again = Ask::new(&query, &choose, 1_000_000).page(&lend(&some), Some(&token)).unwrap();
            assert_eq!((again.row_count(), again.work), (0, first.work), "{text}");
            let mut next = again.continuation;
            while let Some(token) = next {
                let page = Ask::new(&query, &choose, 7).page(&lend(&open), Some(&token)).unwrap();
                all.add(&page);
                next = page.continuation;
            }
            assert_eq!((&all.rows, all.work), (&whole.rows, whole.work), "{text}: shut at {shut_at}");
        }
    }
    for text in [
        "SELECT DISTINCT c.g FROM c",
        "SELECT c.id FROM c ORDER BY c.id",
        "SELECT COUNT(1) FROM c GROUP BY c.g",
    ] {
        assert!(!compile(text).reads_in_turn(), "{text}");
    }
}
