//! The same query over the same data gives the same rows: by an index and by a scan, in one page and in many, on one
//! partition and on several, and by a plain loop over the items that knows nothing of plans.
//!
//! `ARMILLA_QUERY_CASES` asks for more than the usual number of random cases, `ARMILLA_QUERY_SEED` for one of them.

use std::cmp::Ordering;
use std::fmt::Write as _;

use armilla_index::IndexingPolicy;
use armilla_query::bound::{OrderKey, SourceKind};
use armilla_query::source::{MemoryOptions, MemorySource};
use armilla_query::{
    Budget, CompileOptions, CompiledQuery, Datum, Environment, Error, ErrorKind, Evaluator, Frame, Look,
    Meter, NoUserFunctions, Page, PatternCache, Source, Work, execute,
};
use armilla_value::{HashVersion, HashedKey, PropertyPath, Value, initial_bounds, json};

use crate::generate::{self, Compare, Random};
use crate::without_index::WithoutIndex;

const CASES: u64 = 3_000;

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn plans_pages_and_partitions_agree() {
    if let Some(seed) = from_environment("ARMILLA_QUERY_SEED") {
        check(seed);
        return;
    }
    let cases = from_environment("ARMILLA_QUERY_CASES").unwrap_or(CASES);
    for seed in 0..cases {
        check(seed);
    }
}

struct Case {
    text: String,
    compare: Compare,
    compiled: CompiledQuery,
    description: String,
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let items = generate::items(&mut random);
    let (policy, orders) = generate::policy(&mut random);
    let (text, compare) = generate::query(&mut random, &items, orders);
    let mut description = format!("ARMILLA_QUERY_SEED={seed}\n{text}\npolicy {}\n", json::to_string(&policy));
    for item in &items {
        writeln!(description, "{}", json::to_string(item)).unwrap();
    }
    let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
    let compiled =
        CompiledQuery::new(&text, options).unwrap_or_else(|error| panic!("{error}\n{description}"));
    let case = Case { text, compare, compiled, description };
    let policy = IndexingPolicy::from_value(&policy).expect("the policies are valid");
    let partitioned = |count: u32| {
        let options = MemoryOptions {
            partition_key: vec![PropertyPath::parse("/pk").unwrap()],
            ts: 7,
            ..MemoryOptions::default()
        };
        MemorySource::partitioned(items.clone(), &policy, options, count).unwrap()
    };
    let count = 1 + random.below(4) as u32;
    let sources = partitioned(count);
    let hidden: Vec<WithoutIndex<'_>> = sources.iter().map(WithoutIndex).collect();
    let indexed: Vec<&dyn Source> = sources.iter().map(|source| source as &dyn Source).collect();
    let scanned: Vec<&dyn Source> = hidden.iter().map(|source| source as &dyn Source).collect();

    let by_index = all_pages(&case, &indexed, 1_000);
    let by_scan = all_pages(&case, &scanned, 1_000);
    let (by_index, by_scan) = match (by_index, by_scan) {
        // An order that the policy does not allow is refused by both.
        (Err(error), Err(other)) => {
            assert_eq!(error, other, "{}", case.description);
            assert_eq!(error.kind, ErrorKind::Refused, "{error}\n{}", case.description);
            return;
        }
        (Ok(by_index), Ok(by_scan)) => (by_index, by_scan),
        (by_index, by_scan) => panic!(
            "by index {:?}, by scan {:?}\n{}",
            by_index.map(|_| ()),
            by_scan.map(|_| ()),
            case.description
        ),
    };
    same(&case, "index and scan", &by_index.rows, &by_scan.rows);
    if let Some(expected) = by_loop(&case, &indexed) {
        same(&case, "index and plain loop", &by_index.rows, &expected);
    }

    let page_rows = 1 + random.below(4);
    let paged =
        all_pages(&case, &indexed, page_rows).unwrap_or_else(|error| panic!("{error}\n{}", case.description));
    same_in_pages(&case, &format!("pages of {page_rows}"), &paged, &by_index);
    let paged =
        all_pages(&case, &scanned, page_rows).unwrap_or_else(|error| panic!("{error}\n{}", case.description));
    same_in_pages(&case, &format!("scan in pages of {page_rows}"), &paged, &by_scan);

    // A page whose time is over at once goes as far as it must, be it one tuple of one item.
    let interrupted = all_pages_of(page_rows, |continuation| {
        let (expired, watch) = (|_: &Work| true, |_| Look::GoOn(2));
        let budget = Budget { rows_max: page_rows, expired: &expired, watch: &watch, ..Budget::default() };
        execute(&case.compiled, &indexed, &budget, continuation, None, &environment())
    })
    .unwrap_or_else(|error| panic!("{error}\n{}", case.description));
    same_in_pages(&case, "interrupted at once", &interrupted, &by_index);

    // Cut further between the first page and the rest, as a split does.
    if case.compiled.plan.grouping.as_ref().is_none_or(|grouping| !grouping.keys.is_empty()) {
        let cuts = initial_bounds(2 + random.below(6) as u32, HashVersion::V2);
        let split: Vec<MemorySource> = sources.iter().flat_map(|source| cut(source, &cuts)).collect();
        let split: Vec<&dyn Source> = split.iter().map(|source| source as &dyn Source).collect();
        let first = page(&case, &indexed, page_rows, None).expect("the first page was given before");
        let mut rows = parse_rows(&first);
        let mut continuation = first.continuation;
        while let Some(token) = continuation {
            let next = page(&case, &split, page_rows, Some(&token));
            let next = next.unwrap_or_else(|error| panic!("after a split: {error}\n{}", case.description));
            rows.extend(parse_rows(&next));
            continuation = next.continuation;
        }
        let sorted = |mut rows: Vec<String>| {
            rows.sort();
            rows
        };
        // Equal keys of different partitions come in the order of the partitions, which a split changes; and so does what
        // a limit lets through.
        match case.compare {
            Compare::InOrder if case.compiled.plan.window.limit.is_some() => {
                assert_eq!(rows.len(), by_index.rows.len(), "split\n{}", case.description);
            }
            Compare::ByCount => assert_eq!(rows.len(), by_index.rows.len(), "split\n{}", case.description),
            Compare::InOrder | Compare::AsSet => {
                assert_eq!(sorted(rows), sorted(by_index.rows.clone()), "split\n{}", case.description);
            }
        }
    }
}

/// Cuts a source where points of the ring lie in it.
fn cut(source: &MemorySource, points: &[HashedKey]) -> Vec<MemorySource> {
    let (min, max) = source.bounds();
    let inside = points.iter().filter(|point| min < **point && **point < max).cloned();
    let ends: Vec<HashedKey> = std::iter::once(min.clone()).chain(inside).chain([max.clone()]).collect();
    ends.windows(2).map(|pair| source.narrowed(&pair[0], &pair[1])).collect()
}

struct Answer {
    rows: Vec<String>,
    work: Work,
}

fn all_pages(case: &Case, sources: &[&dyn Source], page_rows: usize) -> Result<Answer, Error> {
    all_pages_of(page_rows, |continuation| page(case, sources, page_rows, continuation))
}

fn all_pages_of(
    page_rows: usize,
    next: impl Fn(Option<&str>) -> Result<Page, Error>,
) -> Result<Answer, Error> {
    let mut rows = Vec::new();
    let mut continuation: Option<String> = None;
    let mut pages = 0;
    loop {
        let page = next(continuation.as_deref())?;
        let page_rows_found = parse_rows(&page);
        assert_eq!(page_rows_found.len(), page.row_count());
        assert!(page.row_count() <= page_rows);
        rows.extend(page_rows_found);
        pages += 1;
        match page.continuation {
            None => return Ok(Answer { rows, work: page.work }),
            Some(token) => {
                assert!(rows.len() < 10_000 && pages < 10_000, "a query without an end");
                assert_ne!(Some(&token), continuation.as_ref(), "a page without progress");
                continuation = Some(token);
            }
        }
    }
}

fn page(
    case: &Case,
    sources: &[&dyn Source],
    rows_max: usize,
    continuation: Option<&str>,
) -> Result<Page, Error> {
    let budget = Budget { rows_max, ..Budget::default() };
    execute(&case.compiled, sources, &budget, continuation, None, &environment())
}

fn environment() -> Environment<'static> {
    Environment {
        now_ticks: 0,
        current_ticks: &|| 0,
        random: &|| 0.5,
        geometry: false,
        functions: &NoUserFunctions,
    }
}

fn parse_rows(page: &Page) -> Vec<String> {
    let text = [b"[", &page.rows[..], b"]"].concat();
    let Value::Array(rows) = json::parse(&text).expect("rows are JSON") else { panic!("an array") };
    rows.iter().map(json::to_string).collect()
}

/// Compares what pages gave, and counted, with what one page gave. Rows that have no place among items come in another
/// order where they do not fit on one page, and a part of them may be any part.
fn same_in_pages(case: &Case, name: &str, paged: &Answer, whole: &Answer) {
    let plan = &case.compiled.plan;
    let has_place =
        case.compiled.reads_in_turn() || !(plan.order.is_empty() || plan.distinct || plan.grouping.is_some());
    let message = || format!("{name}\n{}", case.description);
    if has_place {
        assert_eq!(paged.rows, whole.rows, "{}", message());
    } else if plan.order.is_empty() && (plan.window.offset > 0 || plan.window.limit.is_some()) {
        assert_eq!(paged.rows.len(), whole.rows.len(), "{}", message());
        return;
    } else {
        let sorted = |rows: &[String]| {
            let mut rows = rows.to_vec();
            rows.sort();
            rows
        };
        assert_eq!(sorted(&paged.rows), sorted(&whole.rows), "{}", message());
    }
    assert_eq!(paged.work, whole.work, "work, {}", message());
}

#[track_caller]
fn same(case: &Case, what: &str, left: &[String], right: &[String]) {
    let (mut left, mut right) = (left.to_vec(), right.to_vec());
    match case.compare {
        Compare::ByCount => {
            assert_eq!(left.len(), right.len(), "{what}\n{}", case.description);
            return;
        }
        Compare::InOrder => {}
        Compare::AsSet => {
            left.sort();
            right.sort();
        }
    }
    assert_eq!(left, right, "{what}\n{}", case.description);
}

/// Answers a query by a loop over all items: filter, project, and sort at the end. Queries that need more are left out.
fn by_loop(case: &Case, sources: &[&dyn Source]) -> Option<Vec<String>> {
    let bound = &case.compiled.bound;
    let joins = bound.sources.iter().any(|source| !matches!(source.kind, SourceKind::Item));
    if bound.grouping.is_some() || bound.distinct || joins {
        return None;
    }
    let patterns = PatternCache::new();
    let environment = environment();
    let meter = Meter::unlimited();
    let evaluator = Evaluator::new(&environment, &patterns, &meter);
    let mut rows: Vec<(Vec<Datum<'static>>, usize, u64, String)> = Vec::new();
    for (position, source) in sources.iter().enumerate() {
        let mut items = Vec::new();
        assert!(!source.scan(None, 10_000, &mut items).unwrap());
        for (_, item) in &items {
            let frame = Frame::item(*source, item);
            if let Some(filter) = &bound.filter
                && !evaluator.is_true(filter, &frame).unwrap()
            {
                continue;
            }
            let mut out = Vec::new();
            if !evaluator.project(&bound.projection, &frame, &mut out).unwrap() {
                continue;
            }
            let key = |order: &OrderKey| evaluator.eval(&order.expr, &frame).unwrap().into_static();
            let keys = bound.order.iter().map(key).collect();
            let row = json::to_string(&json::parse(&out).unwrap());
            rows.push((keys, position, item.number, row));
        }
    }
    if !bound.order.is_empty() {
        // Arrays and objects have an order among themselves that is not promised.
        let has_tree = |key: &Datum<'_>| key.is_array() || key.is_object();
        if rows.iter().any(|(keys, ..)| keys.iter().any(has_tree)) {
            return None;
        }
        let reverse = bound.order[0].descending;
        rows.sort_by(|left, right| {
            for (order, (left, right)) in bound.order.iter().zip(left.0.iter().zip(&right.0)) {
                let by_key = armilla_query::order(left, right);
                let by_key = if order.descending { by_key.reverse() } else { by_key };
                if by_key != Ordering::Equal {
                    return by_key;
                }
            }
            let by_number = left.2.cmp(&right.2);
            left.1.cmp(&right.1).then(if reverse { by_number.reverse() } else { by_number })
        });
    }
    let rows = rows.into_iter().map(|(_, _, _, row)| row);
    let rows = rows.skip(bound.window.offset as usize);
    Some(match bound.window.limit {
        Some(limit) => rows.take(limit as usize).collect(),
        None => rows.collect(),
    })
}

#[test]
fn the_generator_makes_queries_that_find_something() {
    let mut found = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let items = generate::items(&mut random);
        let (_, orders) = generate::policy(&mut random);
        let (text, _) = generate::query(&mut random, &items, orders);
        let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
        let compiled = CompiledQuery::new(&text, options).unwrap();
        let source = MemorySource::new(items, &IndexingPolicy::default(), MemoryOptions::default()).unwrap();
        let case = Case { text, compare: Compare::AsSet, compiled, description: String::new() };
        let rows = page(&case, &[&source], 1_000, None).map_or(0, |page| page.row_count());
        found += usize::from(rows > 0);
        assert!(!case.text.is_empty());
    }
    assert!(found > 100, "only {found} of 300 random queries found anything");
}
