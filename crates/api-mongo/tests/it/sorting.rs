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
