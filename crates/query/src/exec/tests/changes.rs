//! Data that changes between pages: rows that stay are given, and nothing breaks.

use armilla_value::Value;
use proptest::prelude::*;

use crate::exec::testing::*;
use crate::physical::Access;

const TEXTS: [&str; 6] = [
    "SELECT VALUE c.id FROM c WHERE c.n >= 2",
    "SELECT VALUE c.id FROM c JOIN t IN c.tags",
    "SELECT VALUE c.id FROM c ORDER BY c.s",
    "SELECT VALUE c.id FROM c ORDER BY c.n DESC",
    "SELECT DISTINCT c.s FROM c",
    "SELECT c.g, COUNT(1) AS a FROM c GROUP BY c.g",
];

/// Takes items away without renumbering the others: what is gone matches no query and has no fields.
fn without(items: &[Value], gone: impl Fn(usize) -> bool) -> Vec<Value> {
    let empty = |item: &Value| {
        let (id, pk) = (item.get("id").unwrap(), item.get("pk").unwrap());
        value(&format!(
            r#"{{"id":"gone {}","pk":{}}}"#,
            id.as_str().unwrap(),
            armilla_value::json::to_string(pk)
        ))
    };
    items.iter().enumerate().map(|(at, item)| if gone(at) { empty(item) } else { item.clone() }).collect()
}

#[test]
fn a_row_that_stays_is_given_once_although_the_last_one_went() {
    let items = items(60);
    for text in &TEXTS[..4] {
        let query = compile(text);
        for planner in [always(Access::ScanByNumber), always(Access::ScanByKey), walking_if_ordered()] {
            let before = sources(&items, 1);
            let ask = Ask::new(&query, &*planner, 10);
            let all = Ask::new(&query, &*planner, 1_000).all(&lend(&before)).rows;
            let first = ask.page(&lend(&before), None).unwrap();
            let given = rows_of_page(&first);
            let last =
                given.last().unwrap().trim_matches('"').trim_start_matches('i').parse::<usize>().unwrap();
            let after = sources(&without(&items, |at| at == last), 1);
            let mut rest = Vec::new();
            let mut token = first.continuation;
            while let Some(text) = token {
                let page = ask.page(&lend(&after), Some(&text)).unwrap();
                rest.extend(rows_of_page(&page));
                token = page.continuation;
            }
            rest.retain(|row| !row.contains("gone"));
            let mut expected: Vec<&String> =
                all[10..].iter().filter(|row| **row != given[given.len() - 1]).collect();
            // Long sort keys are known by their beginning only: with the item gone, those that begin alike come again.
            let mut rest: Vec<&String> =
                rest.iter().filter(|row| !given.contains(row) || text.contains("JOIN")).collect();
            expected.sort();
            rest.sort();
            assert_eq!(rest, expected, "{text}");
        }
    }
}

fn walking_if_ordered() -> Box<TestPlanner> {
    let (walks, scans) = (walking(), always(Access::ScanByKey));
    Box::new(move |plan, source| {
        if plan.order.is_empty() || plan.grouping.is_some() {
            scans(plan, source)
        } else {
            walks(plan, source)
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A client can make tokens up; they may lead anywhere but to a panic.
    #[test]
    fn forged_tokens_do_no_harm(
        text in proptest::sample::select(&TEXTS[..]),
        token in crate::continuation::tests::token(),
        place in 0u8..3,
    ) {
        let query = compile(text);
        let sources = sources(&items(30), 3);
        let planner = match place {
            0 => walking_if_ordered(),
            1 => always(Access::Stream(range("n", &[armilla_index::TermRange::All]))),
            _ => always(Access::ScanByNumber),
        };
        let text = token.encode(query.fingerprint);
        match Ask::new(&query, &*planner, 5).page(&lend(&sources), Some(&text)) {
            Ok(_) => {}
            Err(error) => prop_assert_eq!(error.kind, crate::ErrorKind::Continuation),
        }
    }

    #[test]
    fn nothing_breaks(
        text in proptest::sample::select(&TEXTS[..]),
        rows_max in 1usize..9,
        changes in proptest::collection::vec((0usize..70, 1u32..5, any::<u64>(), any::<bool>()), 1..12),
    ) {
        let query = compile(text);
        let mut token: Option<String> = None;
        for (count, source_count, seed, walks) in changes {
            let data = without(&items(count), |at| seed >> (at % 64) & 1 == 1);
            let planner = if walks { walking_if_ordered() } else { always(Access::ScanByNumber) };
            let sources = sources(&data, source_count);
            match Ask::new(&query, &*planner, rows_max).page(&lend(&sources), token.as_deref()) {
                Ok(page) => token = page.continuation,
                Err(error) => {
                    // Cuts that do not follow from splits can lie across the arc of a token.
                    prop_assert_eq!(error.kind, crate::ErrorKind::Continuation);
                    token = None;
                }
            }
        }
    }
}
