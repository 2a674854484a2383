//! Whatever is chosen finds every item that a scan would, and what it finds beyond is checked.

use std::collections::BTreeSet;

use armilla_functions::{Datum, Meter};
use armilla_index::{KeyRange, split_entry, term};
use armilla_value::{PartitionKey, PropertyPath, Value};
use proptest::prelude::*;

use super::{EVERYTHING, compile, policy, value};
use crate::choose::choose;
use crate::eval::Evaluator;
use crate::expr::Expr;
use crate::frame::Frame;
use crate::logical::LogicalPlan;
use crate::physical::{Access, Covered, IndexOnly, IndexRange, IndexSet, PhysicalPlan, TERM_SLOT};
use crate::source::{Direction, MemoryOptions, MemorySource, Source, SourceItem};
use crate::tuples::TupleWalk;

const POLICIES: [&str; 3] = [
    EVERYTHING,
    r#"{"includedPaths":[{"path":"/a/?"},{"path":"/o/x/?"},{"path":"/list/[]/*"},{"path":"/list/[]/{x, y}/?"}],
        "excludedPaths":[{"path":"/*"}],
        "compositeIndexes":[[{"path":"/a"},{"path":"/b"}],[{"path":"/b","order":"descending"},{"path":"/a"}],
            [{"path":"/pk"},{"path":"/a","order":"descending"},{"path":"/b","order":"descending"}]]}"#,
    r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/b/?"}],
        "compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}],
            [{"path":"/list/[]/x"},{"path":"/list/[]/y"}]]}"#,
];

/// Returns every number of a source's partition.
fn all_numbers(source: &dyn Source) -> BTreeSet<u64> {
    let mut numbers = Vec::new();
    assert!(!source.numbers(0, usize::MAX, &mut numbers).unwrap());
    numbers.into_iter().collect()
}

fn entries(source: &dyn Source, range: &KeyRange) -> Vec<(Vec<u8>, u64)> {
    let mut out = Vec::new();
    source.entries(range, Direction::Forward, usize::MAX, &mut out).unwrap();
    out.iter()
        .map(|entry| split_entry(entry).unwrap())
        .map(|(_, term, number)| (term.to_vec(), number))
        .collect()
}

fn admits(filter: &Expr, found: &[u8]) -> bool {
    let Some(value) = term::decode(found) else { return true };
    let meter = Meter::unlimited();
    let evaluator = Evaluator::for_constants(&meter);
    let value = value.map_or(Datum::Undefined, Datum::from_owned);
    evaluator.is_true(filter, &Frame::with(&Frame::empty(), TERM_SLOT, value)).unwrap()
}

fn range_numbers(source: &dyn Source, range: &IndexRange) -> Vec<u64> {
    let mut numbers = Vec::new();
    for keys in &range.ranges {
        let mut found = entries(source, keys);
        if range.is_equality {
            assert!(found.windows(2).all(|pair| pair[0].0 == pair[1].0), "one value only");
        }
        if let Some(filter) = &range.term_filter {
            found.retain(|(term, _)| admits(filter, term));
        }
        numbers.extend(found.into_iter().map(|(_, number)| number));
    }
    let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
    assert!(range.repeats || distinct.len() == numbers.len(), "no item twice in {range}");
    numbers
}

fn set_numbers(source: &dyn Source, set: &IndexSet) -> BTreeSet<u64> {
    match set {
        IndexSet::Range(range) => range_numbers(source, range).into_iter().collect(),
        IndexSet::And(sets) => sets
            .iter()
            .map(|set| set_numbers(source, set))
            .reduce(|one, other| one.intersection(&other).copied().collect())
            .unwrap(),
        IndexSet::Or(sets) => sets.iter().flat_map(|set| set_numbers(source, set)).collect(),
    }
}

/// Returns the numbers of what an access finds, those outside of the source's bounds perhaps among them.
fn numbers(source: &dyn Source, access: &Access) -> BTreeSet<u64> {
    match access {
        Access::Nothing => BTreeSet::new(),
        Access::Point { id } => source.point(id).unwrap().iter().map(|item| item.number).collect(),
        Access::ScanByNumber | Access::ScanByKey => all_numbers(source),
        Access::Set(set) => set_numbers(source, set),
        Access::Stream(range) | Access::Covered(Covered { range, .. }) => {
            range_numbers(source, range).into_iter().collect()
        }
        Access::Walk(walk) => {
            let mut numbers: BTreeSet<u64> =
                entries(source, &walk.range).into_iter().map(|(_, number)| number).collect();
            if walk.adds_missing {
                let index = KeyRange::prefix(&walk.index.0.to_be_bytes());
                let present: BTreeSet<u64> =
                    entries(source, &index).into_iter().map(|(_, number)| number).collect();
                numbers.extend(all_numbers(source).difference(&present));
            }
            numbers
        }
        Access::Sort(inner) => numbers(source, inner),
        Access::IndexOnly(only) => match only {
            IndexOnly::CountAll => all_numbers(source),
            IndexOnly::CountSet(set) => set_numbers(source, set),
            IndexOnly::CountPath(range)
            | IndexOnly::Extreme { index: range, .. }
            | IndexOnly::Distinct(range) => range_numbers(source, range).into_iter().collect(),
        },
    }
}

fn has_row(plan: &LogicalPlan, conditions: &[Expr], source: &dyn Source, item: &SourceItem) -> bool {
    let meter = Meter::unlimited();
    let evaluator = Evaluator::for_constants(&meter);
    let frame = Frame::item(source, item);
    if !evaluator.all_true(conditions, &frame).unwrap() {
        return false;
    }
    let mut rows = 0;
    let _ = evaluator
        .for_each_tuple(&plan.joins, &frame, &mut TupleWalk::whole(), &mut |_| {
            rows += 1;
            Ok(std::ops::ControlFlow::Continue(()))
        })
        .unwrap();
    rows > 0
}

/// Compares what a plan finds with what a scan finds.
fn check(query: &str, source: &MemorySource) -> Option<PhysicalPlan> {
    let compiled = compile(query);
    let plan = match choose(&compiled.plan, source) {
        Ok(plan) => plan,
        Err(error) => {
            assert!(error.message.starts_with("The "), "{query}: {error}");
            return None;
        }
    };
    let load = |numbers: &BTreeSet<u64>| -> Vec<SourceItem> {
        let mut items = Vec::new();
        source.load(&numbers.iter().copied().collect::<Vec<_>>(), &mut items).unwrap();
        items.into_iter().flatten().collect()
    };
    let passing = |items: &[SourceItem], conditions: &[Expr]| -> Vec<u64> {
        let passing = items.iter().filter(|item| has_row(&compiled.plan, conditions, source, item));
        passing.map(|item| item.number).collect()
    };
    let expected = passing(&load(&all_numbers(source)), &compiled.plan.filter);
    let found = passing(&load(&numbers(source, &plan.access)), &plan.residual);
    assert_eq!(found, expected, "{query}\n{plan}");
    Some(plan)
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        (-3..4i32).prop_map(|number| number.to_string()),
        (-3..4i32).prop_map(|number| format!("{number}.5")),
        Just("9007199254740993".to_owned()),
        Just("1e300".to_owned()),
        Just(r#""""#.to_owned()),
        "[abA]{1,2}".prop_map(|text| format!("\"{text}\"")),
        Just(r#""\ue000""#.to_owned()),
        Just(r#""😀""#.to_owned()),
        (0..2usize).prop_map(|tail| format!("\"{}{tail}\"", "b".repeat(255))),
        (0..3usize).prop_map(|tail| format!("\"{}{tail}\"", "b".repeat(300))),
    ]
}

fn any_value() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => scalar(),
        1 => proptest::collection::vec(scalar(), 0..3).prop_map(|all| format!("[{}]", all.join(","))),
        1 => scalar().prop_map(|x| format!(r#"{{"x":{x}}}"#)),
    ]
}

/// A member, or nothing.
fn member(name: &'static str, value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    proptest::option::weighted(0.8, value)
        .prop_map(move |value| value.map_or_else(String::new, |value| format!(r#","{name}":{value}"#)))
}

fn item() -> impl Strategy<Value = String> {
    let element = prop_oneof![
        2 => any_value(),
        3 => (member("x", scalar()), member("y", scalar())).prop_map(|(x, y)| format!(r#"{{"z":0{x}{y}}}"#)),
    ];
    (
        "[pq]",
        member("a", any_value()),
        member("b", any_value()),
        member("o", any_value()),
        member(
            "list",
            proptest::collection::vec(element, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
        ),
    )
        .prop_map(|(pk, a, b, o, list)| format!(r#""pk":"{pk}"{a}{b}{o}{list}}}"#))
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("c.a".to_owned()),
        3 => Just("c.b".to_owned()),
        1 => Just("c.o.x".to_owned()),
        1 => Just("c.pk".to_owned()),
        1 => Just("c.list[0]".to_owned()),
        1 => Just("c.list[1].x".to_owned()),
        1 => Just("c.list[0].x".to_owned()),
        1 => Just("c.list[0].y".to_owned()),
        1 => Just("c.id".to_owned()),
    ]
}

fn constant() -> impl Strategy<Value = String> {
    prop_oneof![8 => any_value(), 1 => Just("undefined".to_owned())]
}

fn text_constant() -> impl Strategy<Value = String> {
    prop_oneof!["[abA]{0,2}".prop_map(|text| format!("\"{text}\"")), constant()]
}

fn atom(path: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let operator = prop_oneof![Just("="), Just("!="), Just("<"), Just("<="), Just(">"), Just(">=")];
    let types = prop_oneof![
        Just("IS_DEFINED"),
        Just("IS_NULL"),
        Just("IS_BOOLEAN"),
        Just("IS_NUMBER"),
        Just("IS_STRING"),
        Just("IS_PRIMITIVE"),
        Just("IS_ARRAY"),
        Just("IS_OBJECT"),
    ];
    let texts = prop_oneof![
        Just("STARTSWITH"),
        Just("ENDSWITH"),
        Just("CONTAINS"),
        Just("STRINGEQUALS"),
        Just("REGEXMATCH")
    ];
    let numbers = prop_oneof![
        Just("ABS"),
        Just("FLOOR"),
        Just("CEILING"),
        Just("ROUND"),
        Just("SIGN"),
        Just("TRUNC"),
        Just("DEGREES"),
        Just("RADIANS"),
    ];
    let number = prop_oneof![(-4..5i32).prop_map(|n| n.to_string()), constant()];
    prop_oneof![
        4 => (path.clone(), operator.clone(), constant()).prop_map(|(p, o, k)| format!("{p} {o} {k}")),
        1 => (path.clone(), operator.clone(), constant()).prop_map(|(p, o, k)| format!("{k} {o} {p}")),
        2 => (path.clone(), types).prop_map(|(p, t)| format!("{t}({p})")),
        1 => (path.clone(), proptest::collection::vec(constant(), 1..4))
            .prop_map(|(p, list)| format!("{p} IN ({})", list.join(", "))),
        1 => (path.clone(), constant(), constant()).prop_map(|(p, l, h)| format!("{p} BETWEEN {l} AND {h}")),
        2 => (path.clone(), texts, text_constant(), prop_oneof![Just(""), Just(", true"), Just(", false")])
            .prop_map(|(p, t, k, case)| {
                let case = if t == "REGEXMATCH" { "" } else { case };
                format!("{t}({p}, {k}{case})")
            }),
        1 => (path.clone(), "[ab%_]{0,3}").prop_map(|(p, pattern)| format!("{p} LIKE \"{pattern}\"")),
        1 => (path.clone(), 0..3, "[abA]{0,2}").prop_map(|(p, n, k)| format!("LEFT({p}, {n}) = \"{k}\"")),
        1 => (path.clone(), 0..2, 0..3, "[abA]{0,2}")
            .prop_map(|(p, from, n, k)| format!("SUBSTRING({p}, {from}, {n}) = \"{k}\"")),
        1 => (path.clone(), numbers, operator, number).prop_map(|(p, f, o, k)| format!("{f}({p}) {o} {k}")),
        1 => path.clone(),
        1 => (path.clone(), constant()).prop_map(|(p, k)| format!("{p} = {p} AND {p} != {k}")),
    ]
    .boxed()
}

fn array_atom() -> BoxedStrategy<String> {
    let inner = || atom(prop_oneof![Just("t"), Just("t.x"), Just("t.y")].prop_map(str::to_owned).boxed());
    prop_oneof![
        (constant(), prop_oneof![Just(""), Just(", true"), Just(", false")])
            .prop_map(|(k, partial)| format!("ARRAY_CONTAINS(c.list, {k}{partial})")),
        (scalar(), scalar())
            .prop_map(|(x, y)| { format!(r#"ARRAY_CONTAINS(c.list, {{"x": {x}, "y": {y}}}, true)"#) }),
        (constant(), constant()).prop_map(|(k, l)| format!("ARRAY_CONTAINS_ANY(c.list, {k}, {l})")),
        (constant(), constant()).prop_map(|(k, l)| format!("ARRAY_CONTAINS_ALL(c.list, {k}, {l})")),
        (constant(), constant()).prop_map(|(k, l)| format!("ARRAY_CONTAINS([{k}, {l}], c.a)")),
        (inner(), inner()).prop_map(|(one, other)| {
            format!("EXISTS(SELECT VALUE 1 FROM t IN c.list WHERE ({one}) AND ({other}))")
        }),
        (inner(), inner()).prop_map(|(one, other)| {
            format!("EXISTS(SELECT VALUE t.x FROM t IN c.list WHERE ({one}) OR ({other}))")
        }),
        inner().prop_map(|one| {
            format!("EXISTS(SELECT VALUE s FROM c JOIN (SELECT VALUE t FROM t IN c.list WHERE {one}) AS s)")
        }),
    ]
    .boxed()
}

fn predicate() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        8 => atom(path().boxed()),
        2 => array_atom(),
        1 => Just("true".to_owned()),
        1 => Just("c.a = c.b".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 2..4).prop_map(|all| all
                .iter()
                .map(|one| format!("({one})"))
                .collect::<Vec<_>>()
                .join(" AND ")),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(|all| all
                .iter()
                .map(|one| format!("({one})"))
                .collect::<Vec<_>>()
                .join(" OR ")),
            inner.clone().prop_map(|one| format!("NOT ({one})")),
            inner.prop_map(|one| format!("({one}) = false")),
        ]
    })
}

fn query() -> impl Strategy<Value = String> {
    let from = prop_oneof![
        8 => Just("SELECT * FROM c"),
        1 => Just("SELECT VALUE COUNT(1) FROM c"),
        1 => Just("SELECT VALUE s FROM c JOIN s IN c.list"),
    ];
    let order = prop_oneof![
        6 => Just(""),
        2 => Just(" ORDER BY c.a"),
        1 => Just(" ORDER BY c.a DESC"),
        1 => Just(" ORDER BY c.a, c.b"),
        1 => Just(" ORDER BY c.b, c.a DESC"),
        1 => Just(" ORDER BY c.a DESC, c.b"),
    ];
    (from, predicate(), order).prop_map(|(from, predicate, order)| {
        let order = if from.contains("COUNT") { "" } else { order };
        format!("{from} WHERE {predicate}{order}")
    })
}

fn items(texts: &[String]) -> Vec<Value> {
    let with_id = |(number, text): (usize, &String)| value(&format!(r#"{{"id":"{}",{text}"#, number % 7));
    texts.iter().enumerate().map(with_id).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, ..ProptestConfig::default() })]

    #[test]
    fn what_is_chosen_finds_what_a_scan_finds(
        texts in proptest::collection::vec(item(), 0..40),
        queries in proptest::collection::vec(query(), 1..8),
        policy_number in 0..POLICIES.len(),
    ) {
        let options = MemoryOptions {
            partition_key: vec![PropertyPath::parse("/pk").unwrap()],
            ..MemoryOptions::default()
        };
        let whole = MemorySource::new(items(&texts), &policy(POLICIES[policy_number]), options).unwrap();
        let logical = whole.logical(&PartitionKey::from_json(br#"["p"]"#).unwrap());
        for query in &queries {
            let on_whole = check(query, &whole);
            let on_logical = check(query, &logical);
            // Refusals are the same everywhere.
            prop_assert_eq!(on_whole.is_some(), on_logical.is_some());
        }
    }
}

/// Many items, so that the index is worth asking and conditions join.
#[test]
fn many_items_are_found_through_joined_indexes() {
    let item = |number: u64| {
        value(&format!(
            r#"{{"id":"{number}","pk":"{}","a":{},"b":{},"list":[{{"x":{},"y":{}}},{{"x":{}}}]}}"#,
            ["p", "q"][(number % 2) as usize],
            number % 37,
            number % 11,
            number % 5,
            number % 13,
            number % 3,
        ))
    };
    let sources = POLICIES.map(|text| {
        MemorySource::new((0..3000).map(item).collect(), &policy(text), MemoryOptions::default()).unwrap()
    });
    let queries = [
        "SELECT * FROM c WHERE c.a = 3 AND c.b = 4",
        "SELECT * FROM c WHERE c.a = 3 AND c.b > 4",
        "SELECT * FROM c WHERE c.a IN (3, 4, 5) AND c.b IN (1, 2) AND c.pk = 'p'",
        "SELECT * FROM c WHERE (c.a = 3 AND c.b = 4) OR (c.a = 4 AND c.b = 3) OR c.a > 35",
        "SELECT * FROM c WHERE c.a != 3 AND c.b = 4 AND c.pk != 'p'",
        "SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.list WHERE t.x = 2 AND t.y = 7) AND c.a < 20",
        "SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.list WHERE t.x = 2) AND EXISTS(SELECT VALUE t FROM t IN c.list WHERE t.x = 4)",
        "SELECT VALUE t FROM c JOIN t IN c.list WHERE t.y = 7 AND c.a = 1",
        "SELECT * FROM c WHERE c.a > 30 ORDER BY c.a",
        "SELECT * FROM c WHERE c.b = 4 ORDER BY c.a",
        "SELECT VALUE COUNT(1) FROM c WHERE c.a = 3 AND c.b = 4",
    ];
    for source in &sources {
        for query in queries {
            check(query, source).unwrap();
        }
    }
}
