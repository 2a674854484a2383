//! Look-ups by equal values: they find and cost what the query does that they stand for of what a caller may see, and they
//! stop at their bounds.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{
    Caller, Item, ItemLookup, ListScope, LookedUp, LookupWork, Made, PathSegment, QueryRequest, Taken,
};
use armilla_value::{Value, json};

use crate::reshaping::split;
use crate::support::{Fixture, partition_key};

const ITEMS: usize = 200;
const ENTRIES_MAX: usize = 30;

/// Items in groups of seven or eight, spread over five logical partitions; every fourth is of the group `crowd`.
async fn fixture() -> Fixture {
    let fixture = Fixture::with_container().await;
    for number in 0..ITEMS {
        let group = match number % 4 {
            0 => "crowd".to_owned(),
            _ => format!("g{}", number / 10),
        };
        let (key, padding) = (format!("p{}", number % 5), "x".repeat(number * 7));
        let body = format!(
            r#"{{"id":"i{number}","pk":"{key}","group":"{group}","odd":{},"padding":"{padding}"}}"#,
            number % 2
        );
        fixture.upsert(&key, &body).await;
    }
    fixture
}

fn groups(numbers: impl IntoIterator<Item = usize>) -> Vec<Value> {
    numbers.into_iter().map(|number| Value::from(format!("g{number}"))).collect()
}

fn path() -> Vec<PathSegment> {
    vec![PathSegment::Property("group".to_owned())]
}

fn lookup<'l>(paths: &'l [Vec<PathSegment>], values: &'l [Value], scope: &'l ListScope) -> ItemLookup<'l> {
    ItemLookup {
        paths,
        values,
        scope,
        items_max: 1_000,
        time_max: Duration::from_secs(1),
        entries_max: ENTRIES_MAX,
        is_kept: false,
        before: LookupWork::default(),
    }
}

fn found(fixture: &Fixture, caller: &Caller, lookup: &ItemLookup<'_>) -> (Vec<Item>, LookedUp) {
    let mut items = Vec::new();
    let container = fixture.container("c");
    let done = fixture.engine.look_up_items(caller, &container, lookup, &|_| true, &mut items).unwrap();
    (items, done.unwrap())
}

fn ids(fixture: &Fixture, items: &[Item]) -> BTreeSet<String> {
    let id = |item: &Item| fixture.shown(item).get("id").and_then(Value::as_str).unwrap().to_owned();
    items.iter().map(id).collect()
}

/// Returns the ids and the charge, in hundredths, of the query that a look-up stands for.
async fn queried(
    fixture: &Fixture,
    caller: &Caller,
    values: &[Value],
    scope: &ListScope,
) -> (BTreeSet<String>, u64) {
    let list: Vec<String> = values.iter().map(json::to_string).collect();
    let text = format!("SELECT * FROM c WHERE c[\"group\"] IN ({})", list.join(","));
    let request =
        QueryRequest { rows_max: Some(1_000), scope: scope.clone(), ..QueryRequest::new(text.as_str()) };
    let page = fixture.engine.query_items(caller, &fixture.container("c"), request).await.unwrap();
    let rows = json::parse(format!("[{}]", String::from_utf8(page.rows).unwrap()).as_bytes()).unwrap();
    let id = |row: &Value| row.get("id").and_then(Value::as_str).unwrap().to_owned();
    (rows.as_array().unwrap().iter().map(id).collect(), page.charge.hundredths())
}

#[tokio::test]
async fn a_look_up_finds_and_costs_what_a_query_does() {
    let fixture = fixture().await;
    let in_one = ListScope::PartitionKey(partition_key("p3"));
    for scope in [ListScope::All, in_one] {
        for values in [groups([4]), groups([4, 7, 11]), groups(0..20), groups([77])] {
            let (paths, caller) = ([path()], &fixture.caller);
            let (items, done) = found(&fixture, caller, &lookup(&paths, &values, &scope));
            let (wanted, charge) = queried(&fixture, caller, &values, &scope).await;
            assert_eq!(ids(&fixture, &items), wanted, "{values:?} in {scope:?}");
            assert_eq!(items.len(), wanted.len());
            assert_eq!(done.done, values.len());
            assert_eq!(done.charge.hundredths(), charge, "{values:?} in {scope:?}");
        }
    }
}

#[tokio::test]
async fn parts_of_a_look_up_cost_what_one_look_up_does() {
    let fixture = fixture().await;
    let (paths, values) = ([path()], groups(0..20));
    let (_, whole) = found(&fixture, &fixture.caller, &lookup(&paths, &values, &ListScope::All));
    let (mut before, mut sum, mut done) = (LookupWork::default(), 0, 0);
    while done < values.len() {
        let rest = lookup(&paths, &values[done..], &ListScope::All);
        let (_, part) = found(&fixture, &fixture.caller, &ItemLookup { items_max: 40, before, ..rest });
        (before, sum, done) = (part.work, sum + part.charge.hundredths(), done + part.done);
        assert!(part.done > 0 && part.taken.items < 50, "{} items", part.taken.items);
    }
    // Each part is rounded for itself.
    assert!(sum.abs_diff(whole.charge.hundredths()) <= 5, "{sum} for {:?}", whole.charge);
}

#[tokio::test]
async fn a_value_with_too_many_entries_is_left_to_a_query_and_costs_nothing_before_it() {
    let fixture = fixture().await;
    let (paths, mut values) = ([path()], groups([3, 4]));
    values.push(Value::from("crowd"));
    values.extend(groups([5]));
    let (items, done) = found(&fixture, &fixture.caller, &lookup(&paths, &values, &ListScope::All));
    assert!(done.is_crowded);
    assert_eq!(done.done, 2);
    assert_eq!(
        ids(&fixture, &items),
        queried(&fixture, &fixture.caller, &values[..2], &ListScope::All).await.0
    );
    let (items, done) = found(&fixture, &fixture.caller, &lookup(&paths, &values[2..], &ListScope::All));
    assert!(done.is_crowded && items.is_empty());
    assert_eq!((done.done, done.charge.hundredths()), (0, 0));
}

/// The bound held in each physical partition, so that a value over many of them had as many times more.
#[tokio::test]
async fn entries_are_counted_over_all_physical_partitions() {
    let fixture = fixture().await;
    split(&fixture, None, None).await;
    assert_eq!(fixture.container("c").ranges(&fixture.caller).unwrap().ranges.len(), 2);
    let (paths, values) = ([path()], [Value::from("g4"), Value::from("g5")]);
    let in_one = lookup(&paths, &values[..1], &ListScope::All);
    let (all, _) = found(&fixture, &fixture.caller, &in_one);
    // Both have some of them, so neither has as many as there are.
    for is_kept in [false, true, true] {
        let (items, done) =
            found(&fixture, &fixture.caller, &ItemLookup { entries_max: all.len(), is_kept, ..in_one });
        assert_eq!((items.len(), done.done, done.is_crowded), (all.len(), 1, false));
        let one_less = ItemLookup { entries_max: all.len() - 1, is_kept, ..in_one };
        let (items, done) = found(&fixture, &fixture.caller, &one_less);
        assert_eq!((items.len(), done.done, done.is_crowded), (0, 0, true), "kept: {is_kept}");
    }
    // What was found of values before stays.
    fixture.upsert("p1", r#"{"id":"more","pk":"p1","group":"g5"}"#).await;
    let both = ItemLookup { entries_max: all.len(), ..lookup(&paths, &values, &ListScope::All) };
    let (items, done) = found(&fixture, &fixture.caller, &both);
    assert_eq!((items.len(), done.done, done.is_crowded), (all.len(), 1, true));
}

#[tokio::test]
async fn a_look_up_stops_after_its_time_and_goes_on_from_there() {
    let fixture = fixture().await;
    let (paths, values, container) = ([path()], groups(0..20), fixture.container("c"));
    let keep = |_: &Item| {
        fixture.clock.advance(Duration::from_micros(100));
        true
    };
    let (mut items, mut done, mut parts) = (Vec::new(), 0, 0);
    let mut before = LookupWork::default();
    while done < values.len() {
        let rest = lookup(&paths, &values[done..], &ListScope::All);
        let part = ItemLookup { time_max: Duration::from_millis(1), before, ..rest };
        let part = fixture.engine.look_up_items(&fixture.caller, &container, &part, &keep, &mut items);
        let part = part.unwrap().unwrap();
        assert!((1..=8).contains(&part.done), "{}", part.done);
        (before, done, parts) = (part.work, done + part.done, parts + 1);
    }
    assert_eq!(parts, 3);
    assert_eq!(ids(&fixture, &items), queried(&fixture, &fixture.caller, &values, &ListScope::All).await.0);
}

/// Makes a list of the items' numbers.
fn made(items: &[Item]) -> (Made, usize) {
    let numbers: Vec<String> = items.iter().map(|item| item.header().number.to_string()).collect();
    (Arc::new(numbers), 100)
}

#[tokio::test]
async fn what_was_made_is_made_once_and_shown_to_those_who_may_see_all() {
    let fixture = fixture().await;
    let of_one =
        r#"{"id":"one","permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":["p3"]}"#;
    let granted = fixture.granted("reader", of_one).await;
    let (paths, values, container) = ([path()], groups(0..20), fixture.container("c"));
    let times = Cell::new(0);
    let make = |items: &[Item]| {
        times.set(times.get() + 1);
        made(items)
    };
    let shown = |caller: &Caller, scope: &ListScope| {
        let wanted = ItemLookup { is_kept: true, ..lookup(&paths, &values, scope) };
        let mut count = 0;
        let mut take = |_: usize, made: &Made| {
            let items = made.downcast_ref::<Vec<String>>().unwrap().len() as u64;
            count += items;
            Taken { items, bytes: 0, rejected: 0 }
        };
        let found = fixture.engine.look_up_made(caller, &container, &wanted, &make, &mut take);
        assert_eq!(found.unwrap().unwrap().done, values.len());
        count
    };
    let all = queried(&fixture, &fixture.caller, &values, &ListScope::All).await.0.len() as u64;
    let of_key = queried(&fixture, &granted, &values, &ListScope::All).await.0.len() as u64;
    assert!(0 < of_key && of_key < all);
    assert_eq!(shown(&fixture.caller, &ListScope::All), all);
    let made_first = times.get();
    assert_eq!(shown(&fixture.caller, &ListScope::All), all);
    assert_eq!(times.get(), made_first, "made again although nothing changed");
    // What is kept is of all of a partition: who may see one logical partition has it made of that.
    assert_eq!(shown(&granted, &ListScope::All), of_key);
    fixture.upsert("p3", r#"{"id":"new","pk":"p3","group":"g7"}"#).await;
    assert_eq!(shown(&fixture.caller, &ListScope::All), all + 1);
    assert_eq!(shown(&granted, &ListScope::All), of_key + 1);
}
