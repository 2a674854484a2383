//! Walks that pass over items by what another index says.

use armilla_index::TermRange;

use crate::exec::testing::*;
use crate::physical::{Access, IndexSet};

/// A walk whose rejects count as if indexes had named them, with or without a set to pass over items by.
fn walk(passing: Option<IndexSet>) -> Box<TestPlanner> {
    let walking = walking();
    Box::new(move |plan, source| {
        let mut physical = walking(plan, source)?;
        physical.rejects_by_index = true;
        if let Access::Walk(walk) = &mut physical.access {
            walk.passing.clone_from(&passing);
            walk.entries_per_item = 4;
        }
        Ok(physical)
    })
}

#[test]
fn rows_and_prices_stay_the_same() {
    let items = items(400);
    let (city, rank) = (value(r#""g1""#), value("5"));
    let group = IndexSet::Range(range("g", &[TermRange::Equal(&city)]));
    let high = IndexSet::Range(range("r", &[at_least(&rank)]));
    for (text, set) in [
        ("SELECT c.id, c.n FROM c WHERE c.g = 'g1' ORDER BY c.n", group.clone()),
        ("SELECT c.id, c.s FROM c WHERE c.g = 'g1' ORDER BY c.s DESC", group.clone()),
        ("SELECT TOP 7 c.id FROM c WHERE c.g = 'g1' ORDER BY c.r DESC", group.clone()),
        ("SELECT c.id, t FROM c JOIN t IN c.tags WHERE c.g = 'g1' ORDER BY c.n", group.clone()),
        ("SELECT c.id FROM c WHERE c.g = 'g1' AND c.r >= 5 ORDER BY c.id", IndexSet::And(vec![group, high])),
        (
            "SELECT c.id FROM c WHERE c.g = 'none' ORDER BY c.id",
            IndexSet::Range(range("g", &[TermRange::Equal(&value(r#""none""#))])),
        ),
    ] {
        let query = compile(text);
        for partitions in [1, 3] {
            let sources = sources(&items, partitions);
            let (loading, passing) = (walk(None), walk(Some(set.clone())));
            let whole = Ask::new(&query, &*loading, 1_000).page(&lend(&sources), None).unwrap();
            let passed = Ask::new(&query, &*passing, 1_000).page(&lend(&sources), None).unwrap();
            assert!(passed.retrieved.items * 2 < whole.retrieved.items, "{text}: {:?}", passed.retrieved);
            let mut expected = All::default();
            expected.add(&whole);
            for rows_max in [1, 3, 1_000] {
                let all = Ask::new(&query, &*passing, rows_max).all(&lend(&sources));
                all.check(
                    &query,
                    &expected,
                    &format!("{text}, {partitions} partitions, pages of {rows_max}"),
                );
            }
        }
    }
}

#[test]
fn sets_that_do_not_fit_into_memory_are_done_without() {
    let items = items(400);
    let (city, rank) = (value(r#""g1""#), value("12"));
    // The one is read value by value, the other has to be put in order first.
    for (text, range) in [
        ("SELECT c.id FROM c WHERE c.g = 'g1' ORDER BY c.r", range("g", &[TermRange::Equal(&city)])),
        ("SELECT c.id FROM c WHERE c.r >= 12 ORDER BY c.g", range("r", &[at_least(&rank)])),
    ] {
        let query = compile(text);
        let sources = sources(&items, 1);
        let walk = walk(Some(IndexSet::Range(range)));
        let planner: Box<TestPlanner> = Box::new(move |plan, source| {
            let mut physical = walk(plan, source)?;
            if let Access::Walk(walk) = &mut physical.access {
                // Who looks for those would need memory, too.
                walk.adds_missing = false;
            }
            Ok(physical)
        });
        let plenty = Ask::new(&query, &*planner, 1_000);
        let scarce = Ask { memory_max: 200, ..Ask::new(&query, &*planner, 1_000) };
        let (plenty, scarce) = (plenty.all(&lend(&sources)), scarce.all(&lend(&sources)));
        assert_eq!(plenty, scarce, "{text}");
    }
}
