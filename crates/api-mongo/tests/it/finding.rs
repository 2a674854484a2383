//! `find`, `count`, `distinct` and deletes against the model, whatever indexes there are.

use std::collections::BTreeMap;

use armilla_mongo_expression::{Environment, Scope};
use armilla_mongo_filter::Filter;
use armilla_value::{Decimal, Object, Value};

use crate::client::Client;
use crate::made_up::MadeUp;
use crate::mismatches::Mismatches;
use crate::values::{exactly, exactly_object, object, shown, single};

/// Fewer documents than this in one logical partition are always scanned.
const DOCUMENTS: i32 = 260;

/// Collections of the same documents, by their indexes.
const COLLECTIONS: [(&str, &str); 7] = [
    ("none", "[]"),
    ("single", "[{'key':{'a':1},'name':'a'},{'key':{'b':1},'name':'b'}]"),
    ("nested", "[{'key':{'a.b':1},'name':'ab'},{'key':{'c.d':-1},'name':'cd'},{'key':{'id':1},'name':'id'}]"),
    ("compound", "[{'key':{'b':1,'x':-1},'name':'bx'},{'key':{'a':1,'x':1},'name':'ax'}]"),
    ("wildcard", "[{'key':{'$**':1},'name':'all'}]"),
    ("below", "[{'key':{'c.$**':1},'name':'c'},{'key':{'a':1},'name':'a','sparse':true}]"),
    (
        "partial",
        "[{'key':{'a':1},'name':'a','partialFilterExpression':{'b':{'$exists':true}}},{'key':{'b':'hashed'},'name':'b'}]",
    ),
];

/// Makes the collections, and a sharded one; indexes before the documents or after them.
async fn fill(client: &mut Client, documents: &[Object], is_indexed_after: bool) {
    client.run_text("{'shardCollection':'d.sharded','key':{'s':'hashed'}}").await;
    for (name, indexes) in COLLECTIONS {
        client.run(single("create", name)).await;
        let mut create = single("createIndexes", name);
        create.insert("indexes", crate::values::value(indexes));
        let has_indexes = indexes != "[]";
        if has_indexes && !is_indexed_after {
            client.run(create.clone()).await;
        }
        client.insert(name, documents).await;
        if has_indexes && is_indexed_after {
            client.run(create).await;
        }
    }
    let sharded: Vec<Object> =
        documents.iter().enumerate().map(|(number, document)| sharded(number, document)).collect();
    client.insert("sharded", &sharded).await;
}

/// Gives a document a key to be distributed by.
fn sharded(number: usize, document: &Object) -> Object {
    let mut document = document.clone();
    document.insert(
        "s",
        match number % 9 {
            5 => {
                let decimal =
                    Decimal::Finite { negative: false, coefficient: (number % 2) as u128, exponent: 0 };
                Value::Decimal128(decimal.to_bytes())
            }
            6 => Value::Date((number % 3) as i64),
            7 => Value::ObjectId([(number % 3) as u8; 12]),
            0 => Value::Null,
            1 => Value::Int32((number % 3) as i32),
            2 => Value::Double((number % 3) as f64),
            3 => Value::String("\u{1F600}".to_owned()),
            _ => Value::Bool(true),
        },
    );
    document
}

fn by_id(documents: &[Object]) -> BTreeMap<String, String> {
    documents
        .iter()
        .map(|document| (exactly(document.get("_id").unwrap()), exactly_object(document)))
        .collect()
}

/// Returns what matches, or the code of the failure.
fn model(filter: &Object, documents: &[Object]) -> Result<Vec<Object>, i64> {
    let environment = Environment::default();
    let filter = Filter::parse(filter, &Scope::default()).map_err(|error| i64::from(error.code))?;
    let mut found = Vec::new();
    for document in documents {
        if filter.matches(document, &environment).map_err(|error| i64::from(error.code))? {
            found.push(document.clone());
        }
    }
    Ok(found)
}

/// Compares a find with the model, and says of which document they differ.
async fn check_find(
    client: &mut Client,
    name: &str,
    filter: &Object,
    documents: &[Object],
    mismatches: &mut Mismatches,
) {
    let expected = model(filter, documents);
    let mut find = Object::from([("find", Value::from(name)), ("filter", Value::Object(filter.clone()))]);
    if filter.len().is_multiple_of(2) {
        find.insert("batchSize", Value::Int32(37));
    }
    let found = client.read_all(find).await;
    let (found, expected) = match (found, expected) {
        (Ok(found), Ok(expected)) => (found, expected),
        (Err(found), Err(expected)) if found == expected => return,
        (found, expected) => {
            let (found, expected) = (found.map(|found| found.len()), expected.map(|expected| expected.len()));
            mismatches.add(format!("{name}: {} gave {found:?}, not {expected:?}", shown(filter)));
            return;
        }
    };
    let (found_by_id, expected) = (by_id(&found), by_id(&expected));
    if found.len() != found_by_id.len() {
        mismatches.add(format!("{name}: {} found documents twice", shown(filter)));
    }
    if found_by_id == expected {
        return;
    }
    let is_missing = expected.iter().find(|(id, text)| found_by_id.get(*id) != Some(*text));
    let is_extra = found_by_id.iter().find(|(id, _)| !expected.contains_key(*id));
    mismatches
        .add(format!("{name}: {}\n   misses {is_missing:?}\n   has besides {is_extra:?}", shown(filter)));
}

async fn check_finds(seed: u64, is_indexed_after: bool, cases: usize) {
    let mut made_up = MadeUp::new(seed);
    let documents: Vec<Object> = (0..DOCUMENTS).map(|number| made_up.document(number)).collect();
    let ids: Vec<Value> = documents.iter().map(|document| document.get("_id").unwrap().clone()).collect();
    let spread: Vec<Object> =
        documents.iter().enumerate().map(|(number, document)| sharded(number, document)).collect();
    let mut client = Client::new().await;
    fill(&mut client, &documents, is_indexed_after).await;
    let mut mismatches = Mismatches::default();
    for case in 0..cases {
        let filter = if case % 8 == 0 { made_up.filter_of_id(&ids) } else { made_up.filter(2) };
        for (name, _) in COLLECTIONS {
            check_find(&mut client, name, &filter, &documents, &mut mismatches).await;
        }
        check_find(&mut client, "sharded", &filter, &spread, &mut mismatches).await;
        if case % 4 == 0 {
            let mut with_key = filter.clone();
            let key = if case % 8 == 0 { made_up.number() } else { made_up.scalar() };
            with_key.insert("s", key);
            check_find(&mut client, "sharded", &with_key, &spread, &mut mismatches).await;
        }
    }
    mismatches.check();
    for (name, filter) in [
        ("single", "{'a':3}"),
        ("nested", "{'c.d':3}"),
        ("compound", "{'b':{'$gt':2}}"),
        ("wildcard", "{'b':{'$in':[3,'a']}}"),
        ("below", "{'c.d':3}"),
        ("partial", "{'a':3,'b':{'$exists':true}}"),
    ] {
        assert_eq!(client.stage(name, &object(filter)).await, "IXSCAN", "{name}: {filter}");
        assert_eq!(client.stage("none", &object(filter)).await, "COLLSCAN", "{filter}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_find_what_matches() {
    check_finds(1, false, 250).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_find_what_matches_where_indexes_came_later() {
    check_finds(2, true, 250).await;
}

/// Documents of which many share a value, so that an index finds several on each of its pages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_of_every_value_and_comparison() {
    let mut made_up = MadeUp::new(3);
    let values: Vec<Value> = (0..400).map(|_| made_up.value(1)).collect();
    let document = |(number, value): (usize, &Value)| {
        Object::from([("_id", Value::Int32(number as i32)), ("a", value.clone())])
    };
    let documents: Vec<Object> = values.iter().enumerate().map(document).collect();
    let mut client = Client::new().await;
    client.run_text("{'createIndexes':'indexed','indexes':[{'key':{'a':1},'name':'a'}]}").await;
    client.insert("indexed", &documents).await;
    client.insert("scanned", &documents).await;
    let mut operands: BTreeMap<String, Value> = BTreeMap::new();
    for value in values {
        operands.insert(exactly(&value), value);
    }
    let mut mismatches = Mismatches::default();
    for (number, operand) in operands.values().enumerate() {
        for operator in ["$eq", "$gt", "$gte", "$lt", "$lte"] {
            let filter = single("a", single(operator, operand.clone()));
            check_find(&mut client, "indexed", &filter, &documents, &mut mismatches).await;
            if number % 4 == 0 {
                check_find(&mut client, "scanned", &filter, &documents, &mut mismatches).await;
            }
        }
    }
    mismatches.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_and_distinct_values_are_those_of_what_matches() {
    let mut made_up = MadeUp::new(4);
    let documents: Vec<Object> = (0..DOCUMENTS).map(|number| made_up.document(number)).collect();
    let mut client = Client::new().await;
    client.run_text("{'createIndexes':'c','indexes':[{'key':{'$**':1},'name':'all'}]}").await;
    client.insert("c", &documents).await;
    let mut mismatches = Mismatches::default();
    for case in 0..200 {
        let filter = made_up.filter(2);
        let expected = model(&filter, &documents).map(|found| found.len() as i64);
        let (skip, limit) = (made_up.random.below(20) as i64, made_up.random.below(40) as i64);
        let mut count = Object::from([("count", Value::from("c")), ("query", Value::Object(filter.clone()))]);
        let mut expected = expected;
        if case % 3 == 0 {
            count.insert("skip", Value::Int64(skip));
            count.insert("limit", Value::Int64(limit));
            expected = expected
                .map(|count| (count - skip).max(0))
                .map(|count| if limit == 0 { count } else { count.min(limit) });
        }
        let found = client
            .try_run("d", count.clone())
            .await
            .map(|reply| reply.get("n").and_then(Value::as_i64).unwrap());
        if found != expected {
            mismatches.add(format!("{} gave {found:?}, not {expected:?}", shown(&count)));
        }
        if let Ok(matching) = model(&filter, &documents) {
            check_distinct(&mut client, &filter, &matching, made_up.path(), &mut mismatches).await;
        }
    }
    mismatches.check();
}

async fn check_distinct(
    client: &mut Client,
    filter: &Object,
    matching: &[Object],
    path: &str,
    mismatches: &mut Mismatches,
) {
    // Names of places mean both in the language: the model is about the others.
    if path.split('.').any(|name| name.parse::<u32>().is_ok()) {
        return;
    }
    let mut expected: Vec<Value> = Vec::new();
    let names: Vec<&str> = path.split('.').collect();
    for document in matching {
        gather(&Value::Object(document.clone()), &names, &mut expected);
    }
    expected.sort_by(armilla_value::mongo_cmp);
    expected.dedup_by(|a, b| armilla_value::mongo_cmp(a, b).is_eq());
    let mut distinct = Object::from([("distinct", "c"), ("key", path)]);
    distinct.insert("query", filter.clone());
    let reply = client.run(distinct.clone()).await;
    let mut found = reply.get("values").and_then(Value::as_array).unwrap().to_vec();
    found.sort_by(armilla_value::mongo_cmp);
    let is_same = found.len() == expected.len()
        && found.iter().zip(&expected).all(|(a, b)| armilla_value::mongo_cmp(a, b).is_eq());
    if !is_same {
        mismatches.add(format!("{} gave {found:?}, not {expected:?}", shown(&distinct)));
    }
}

fn gather(value: &Value, names: &[&str], values: &mut Vec<Value>) {
    match (value, names.split_first()) {
        (Value::Array(elements), None) => values.extend(elements.iter().cloned()),
        (value, None) => values.push(value.clone()),
        (Value::Object(object), Some((first, rest))) => {
            if let Some(member) = object.get(first) {
                gather(member, rest, values);
            }
        }
        (Value::Array(elements), Some(_)) => {
            for element in elements.iter().filter(|element| matches!(element, Value::Object(_))) {
                gather(element, names, values);
            }
        }
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletes_leave_what_does_not_match() {
    let mut made_up = MadeUp::new(5);
    let mut documents: Vec<Object> = (0..DOCUMENTS).map(|number| made_up.document(number)).collect();
    let mut client = Client::new().await;
    client
        .run_text("{'createIndexes':'c','indexes':[{'key':{'a':1},'name':'a'},{'key':{'b':1},'name':'b'}]}")
        .await;
    client.insert("c", &documents).await;
    for case in 0..60 {
        let filter = made_up.filter(2);
        let Ok(matching) = model(&filter, &documents) else { continue };
        let is_one = case % 2 == 0;
        let mut delete = object("{'delete':'c'}");
        let mut statement = single("q", filter.clone());
        statement.insert("limit", Value::Int32(is_one.into()));
        delete.insert("deletes", Value::Array(vec![statement.into()]));
        let reply = client.run(delete).await;
        let expected = if is_one { matching.len().min(1) } else { matching.len() };
        assert_eq!(reply.get("n").and_then(Value::as_i64), Some(expected as i64), "{}", shown(&filter));
        let left = client.read_all(single("find", "c")).await.unwrap();
        let (left_by_id, before, gone) = (by_id(&left), by_id(&documents), by_id(&matching));
        assert_eq!(left.len() + expected, documents.len());
        for (id, text) in &before {
            let is_left = left_by_id.get(id) == Some(text);
            assert!(is_left || gone.contains_key(id), "{} deleted {id}", shown(&filter));
        }
        documents = left;
        if documents.len() < 210 {
            let more: Vec<Object> =
                (0..60).map(|number| made_up.document(1_000 + case * 100 + number)).collect();
            client.insert("c", &more).await;
            documents.extend(more);
        }
    }
}
