//! Sorted finds against a sort of the model: with skip and limit, in batches, whatever indexes there are.

use armilla_mongo_expression::{Environment, Scope};
use armilla_mongo_filter::{Filter, Sort, SortKey};
use armilla_value::{Object, Value};

use crate::client::Client;
use crate::made_up::MadeUp;
use crate::mismatches::Mismatches;
use crate::values::{exactly, exactly_object, shown};

/// Returns the keys of what is found, in order, or the code of the failure.
fn model(
    filter: &Object,
    sort: &Sort,
    documents: &[Object],
    skip: usize,
    limit: usize,
) -> Result<Vec<SortKey>, i64> {
    let code = |error: armilla_mongo_expression::Error| i64::from(error.code);
    let filter = Filter::parse(filter, &Scope::default()).map_err(code)?;
    let mut keys = Vec::new();
    for document in documents {
        if filter.matches(document, &Environment::default()).map_err(code)? {
            keys.push(sort.key(document).map_err(code)?);
        }
    }
    keys.sort_by(|a, b| sort.compare(a, b));
    let limit = if limit == 0 { usize::MAX } else { limit };
    Ok(keys.into_iter().skip(skip).take(limit).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sorted_finds_come_in_the_order_of_the_language() {
    let mut made_up = MadeUp::new(11);
    let documents: Vec<Object> = (0..300).map(|number| made_up.document(number)).collect();
    let mut client = Client::new().await;
    let indexes = "[{'key':{'a':1},'name':'a'},{'key':{'b':-1},'name':'b'},{'key':{'b':1,'x':1},'name':'bx'},\
                   {'key':{'c.d':1},'name':'cd'}]";
    client.run_text(&format!("{{'createIndexes':'indexed','indexes':{indexes}}}")).await;
    client.run_text("{'createIndexes':'wildcard','indexes':[{'key':{'$**':1},'name':'all'}]}").await;
    for name in ["none", "indexed", "wildcard"] {
        client.insert(name, &documents).await;
    }
    let all: std::collections::BTreeSet<String> = documents.iter().map(exactly_object).collect();
    let mut mismatches = Mismatches::default();
    for case in 0..250 {
        let filter = if case % 3 == 0 { Object::new() } else { made_up.filter(1) };
        let specification = made_up.sort();
        let sort = Sort::parse(&specification).unwrap();
        let skip = if case % 2 == 0 { made_up.random.index(30) } else { 0 };
        let limit = if case % 4 < 2 { made_up.random.index(50) } else { 0 };
        let expected = model(&filter, &sort, &documents, skip, limit);
        for name in ["none", "indexed", "wildcard"] {
            let mut find = Object::from([("find", Value::from(name))]);
            find.insert("filter", filter.clone());
            find.insert("sort", specification.clone());
            find.insert("skip", Value::Int64(skip as i64));
            find.insert("limit", Value::Int64(limit as i64));
            if case % 5 == 0 {
                find.insert("batchSize", Value::Int32(7));
            }
            let found = client.read_all(find.clone()).await;
            match (&found, &expected) {
                (Ok(found), Ok(expected)) => {
                    let keys: Vec<SortKey> =
                        found.iter().map(|document| sort.key(document).unwrap()).collect();
                    let is_same = keys.len() == expected.len()
                        && keys.iter().zip(expected).all(|(a, b)| sort.compare(a, b).is_eq());
                    if !is_same {
                        mismatches.add(format!("{name}: {} gave {keys:?}, not {expected:?}", shown(&find)));
                    }
                    let ids: std::collections::BTreeSet<String> =
                        found.iter().map(|document| exactly(document.get("_id").unwrap())).collect();
                    let are_known = found.iter().all(|document| all.contains(&exactly_object(document)));
                    if ids.len() != found.len() || !are_known {
                        mismatches.add(format!("{name}: {} gave documents twice or changed", shown(&find)));
                    }
                }
                (Err(found), Err(expected)) if found == expected => {}
                (found, expected) => {
                    let (found, expected) = (found.as_ref().map(Vec::len), expected.as_ref().map(Vec::len));
                    mismatches.add(format!("{name}: {} gave {found:?}, not {expected:?}", shown(&find)));
                }
            }
        }
    }
    mismatches.check();
}

/// Makes a value that indexes and the language order alike, mostly; `is_odd` adds those that they do not.
fn ordered_value(made_up: &mut MadeUp, is_odd: bool) -> Option<Value> {
    let text = |made_up: &mut MadeUp, texts: &[&str]| Value::from(*made_up.random.pick(texts));
    Some(match made_up.random.below(if is_odd { 24 } else { 20 }) {
        0..=7 => made_up.number(),
        8..=12 => text(made_up, &["", "a", "ab", "abc", "b", "A", "é", "\u{D7FF}"]),
        13 => Value::Null,
        14 | 15 => return None,
        16 | 17 => Value::Date(made_up.random.below(5) as i64 - 2),
        18 => Value::ObjectId([made_up.random.below(4) as u8; 12]),
        19 => Value::Binary { subtype: 0, bytes: vec![1; made_up.random.index(3)] },
        20 => text(made_up, &["\u{E000}", "\u{FFFF}", "\u{1F600}", "a\u{1F600}a", "a\u{E000}"]),
        21 => Value::from(format!("{}{}", "z".repeat(300), made_up.random.below(3))),
        22 => Value::Array(
            (0..made_up.random.index(3)).map(|_| Value::Int32(made_up.random.below(5) as i32)).collect(),
        ),
        _ => made_up.random.pick(&[Value::Bool(true), Value::MinKey, Value::Object(Object::new())]).clone(),
    })
}

/// Orders that an index has are walked through, and are the same as if documents had been sorted: also where values of
/// other types lie among them, which the index has elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_of_an_index_are_those_of_the_language() {
    let mut made_up = MadeUp::new(12);
    let mut client = Client::new().await;
    let indexes =
        "[{'key':{'p':1},'name':'p'},{'key':{'q':-1,'p':1},'name':'qp'},{'key':{'s.t':1},'name':'st'}]";
    let sorts = [
        "{'p':1}",
        "{'p':-1}",
        "{'q':1}",
        "{'q':-1,'p':1}",
        "{'q':1,'p':-1}",
        "{'q':1,'p':1}",
        "{'s.t':1}",
        "{'s.t':-1}",
        "{'_id':1}",
        "{'_id':-1}",
    ];
    let filters = [
        "{}",
        "{}",
        "{'q':1}",
        "{'q':'a'}",
        "{'p':{'$gte':1}}",
        "{'p':{'$type':'number'}}",
        "{'q':{'$ne':1}}",
        "{'s.t':{'$lt':3}}",
        "{'q':null}",
    ];
    let mut mismatches = Mismatches::default();
    for (round, is_odd) in [false, true, true].into_iter().enumerate() {
        let name = format!("c{round}");
        client.run_text(&format!("{{'createIndexes':'{name}','indexes':{indexes}}}")).await;
        let documents: Vec<Object> = (0..400)
            .map(|number| {
                let mut document = Object::from([("_id", Value::Int32(number))]);
                // Few are odd in the last round, so that they are met late if at all.
                let value = |made_up: &mut MadeUp| {
                    let odd = is_odd && (round == 1 || made_up.random.one_in(60));
                    ordered_value(made_up, odd)
                };
                for path in ["p", "q"] {
                    value(&mut made_up).map(|value| document.insert(path, value));
                }
                if let Some(inner) = value(&mut made_up) {
                    let inner = Value::Object(Object::from([("t", inner)]));
                    let is_in_array = is_odd && made_up.random.one_in(50);
                    document.insert("s", if is_in_array { Value::Array(vec![inner]) } else { inner });
                }
                document
            })
            .collect();
        client.insert(&name, &documents).await;
        for case in 0..200 {
            let filter = crate::values::object(made_up.random.pick::<&str>(&filters));
            let specification = crate::values::object(made_up.random.pick::<&str>(&sorts));
            let sort = Sort::parse(&specification).unwrap();
            let skip = if case % 2 == 0 { made_up.random.index(30) } else { 0 };
            let limit = if case % 4 < 3 { 1 + made_up.random.index(100) } else { 0 };
            let expected = match model(&filter, &sort, &documents, skip, limit) {
                Ok(expected) => expected,
                Err(_) => continue,
            };
            let mut find = Object::from([("find", Value::from(name.as_str()))]);
            find.insert("filter", filter.clone());
            find.insert("sort", specification.clone());
            find.insert("skip", Value::Int64(skip as i64));
            find.insert("limit", Value::Int64(limit as i64));
            if case % 5 == 0 {
                find.insert("batchSize", Value::Int32(7));
            }
            let mut stages = vec![
                Value::Object(Object::from([("$match", Value::Object(filter))])),
                Value::Object(Object::from([("$sort", Value::Object(specification))])),
            ];
            stages.push(Value::Object(Object::from([("$skip", Value::Int64(skip as i64))])));
            if limit > 0 {
                stages.push(Value::Object(Object::from([("$limit", Value::Int64(limit as i64))])));
            }
            let mut aggregate = Object::from([("aggregate", Value::from(name.as_str()))]);
            aggregate.insert("pipeline", Value::Array(stages));
            aggregate.insert("cursor", Object::new());
            for command in [find, aggregate] {
                let found = client.read_all(command.clone()).await.unwrap();
                let keys: Vec<SortKey> = found.iter().map(|document| sort.key(document).unwrap()).collect();
                let ids: std::collections::BTreeSet<String> =
                    found.iter().map(|document| exactly(document.get("_id").unwrap())).collect();
                let is_same = keys.len() == expected.len()
                    && keys.iter().zip(&expected).all(|(a, b)| sort.compare(a, b).is_eq());
                if !is_same || ids.len() != found.len() {
                    mismatches.add(format!("{name}: {} gave {keys:?}, not {expected:?}", shown(&command)));
                }
            }
        }
    }
    mismatches.check();
}

/// An index that has an order is named by explain, and nothing is sorted then; where it has not, documents are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn explained_orders() {
    let mut client = Client::new().await;
    let indexes =
        "[{'key':{'a':1},'name':'a'},{'key':{'b':1,'a':-1},'name':'ba'},{'key':{'t':1},'name':'t'}]";
    client.run_text(&format!("{{'createIndexes':'c','indexes':{indexes}}}")).await;
    let documents: Vec<Object> = (0..500)
        .map(|number| {
            let tags = Value::Array(vec![Value::Int32(number), Value::Int32(-number)]);
            Object::from([
                ("_id", Value::Int32(number)),
                ("a", Value::Int32(number * 7 % 500)),
                ("b", Value::Int32(number % 5)),
                ("t", tags),
            ])
        })
        .collect();
    client.insert("c", &documents).await;
    let cases = [
        ("{'sort':{'a':1},'limit':3}", Some(("a", "forward"))),
        ("{'sort':{'a':-1},'limit':2}", Some(("a", "backward"))),
        // All of them are read in whatever order is fastest.
        ("{'sort':{'a':-1}}", None),
        ("{'sort':{'_id':-1},'limit':1}", Some(("_id_", "backward"))),
        ("{'sort':{'b':-1,'a':1},'limit':3}", Some(("ba", "backward"))),
        // What a filter fixes does not change the order of the rest.
        ("{'filter':{'b':2},'sort':{'a':-1},'limit':3}", None),
        ("{'sort':{'b':1,'a':1},'limit':3}", None),
        // The elements of arrays lie in another index.
        ("{'sort':{'t':1},'limit':3}", None),
        ("{'sort':{'x':1},'limit':3}", None),
    ];
    for (options, expected) in cases {
        let mut find = Object::from([("find", "c")]);
        for (name, value) in crate::values::object(options) {
            find.insert(name, value);
        }
        let mut explain = Object::from([("explain", Value::Object(find))]);
        explain.insert("verbosity", "executionStats");
        let reply = client.run(explain).await;
        let planner = reply.get("queryPlanner").and_then(Value::as_object).unwrap();
        let plan = shown(planner.get("winningPlan").and_then(Value::as_object).unwrap());
        let is_sorted = plan.contains("SORT");
        match expected {
            Some((index, direction)) => {
                assert!(!is_sorted && plan.contains("IXSCAN"), "{options}: {plan}");
                assert!(plan.contains(index) && plan.contains(direction), "{options}: {plan}");
                let stats = reply.get("executionStats").and_then(Value::as_object).unwrap();
                let examined = stats.get("totalDocsExamined").and_then(Value::as_i64).unwrap();
                assert!(examined <= 3 || !options.contains("limit"), "{options}: {examined} were looked at");
            }
            None if options.contains("filter") => {}
            None => assert!(is_sorted, "{options}: {plan}"),
        }
    }
}
