//! Pipelines of which the store does the front, against the whole of them in memory.

use std::sync::Arc;

use armilla_mongo_expression::{Environment, Result, Scope};
use armilla_mongo_filter::Filter;
use armilla_mongo_pipeline::{Documents, Outside, Pipeline};
use armilla_value::{Object, Value};

use crate::client::Client;
use crate::made_up::MadeUp;
use crate::mismatches::Mismatches;
use crate::values::{exactly_object, shown};

/// No other collections.
struct Alone;

impl Outside for Alone {
    fn documents(&self, _: Option<&str>, _: &str, _: Option<&Filter>) -> Result<Documents> {
        Ok(Box::new(std::iter::empty()))
    }
}

fn model(stages: &[Value], documents: &[Object]) -> std::result::Result<Vec<Object>, i64> {
    let owned: Vec<Object> = documents.to_vec();
    let input: Documents = Box::new(owned.into_iter().map(Ok));
    let run = || {
        Pipeline::parse(stages, &Scope::default())?.run(
            input,
            Arc::new(Environment::default()),
            Arc::new(Alone),
        )
    };
    run().and_then(Iterator::collect).map_err(|error| i64::from(error.code))
}

/// Says whether what comes has an order: groups have none, nor has what was not sorted.
fn is_ordered(stages: &[Value]) -> bool {
    let has = |name: &str| stages.iter().any(|stage| stage.get(name).is_some());
    has("$sort") && !has("$group")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pipelines_give_what_they_give_in_memory() {
    let mut made_up = MadeUp::new(31);
    let documents: Vec<Object> = (0..260).map(|number| made_up.document(number)).collect();
    let mut client = Client::new().await;
    client
        .run_text(
            "{'createIndexes':'indexed','indexes':[{'key':{'a':1},'name':'a'},{'key':{'b':1},'name':'b'}]}",
        )
        .await;
    client.run_text("{'shardCollection':'d.sharded','key':{'b':'hashed'}}").await;
    // Documents of a sharded collection need their key, and no array on its path.
    let with_key: Vec<Object> = documents
        .iter()
        .filter(|document| document.get("b").is_some_and(|key| !matches!(key, Value::Array(_))))
        .cloned()
        .collect();
    client.insert("indexed", &documents).await;
    client.insert("scanned", &documents).await;
    client.insert("sharded", &with_key).await;
    let mut mismatches = Mismatches::default();
    for case in 0..250 {
        let stages = made_up.pipeline();
        for (name, documents) in [("indexed", &documents), ("scanned", &documents), ("sharded", &with_key)] {
            let expected = model(&stages, documents);
            let mut command = Object::from([("aggregate", name)]);
            command.insert("pipeline", Value::Array(stages.clone()));
            let batch = if case % 3 == 0 { crate::values::object("{'batchSize':11}") } else { Object::new() };
            command.insert("cursor", batch);
            let found = client.read_all(command.clone()).await;
            match (found, expected) {
                (Ok(found), Ok(expected)) => {
                    let mut found: Vec<String> = found.iter().map(exactly_object).collect();
                    let mut expected: Vec<String> = expected.iter().map(exactly_object).collect();
                    if !is_ordered(&stages) {
                        found.sort();
                        expected.sort();
                    }
                    if found != expected {
                        let other = found.iter().zip(&expected).find(|(found, expected)| found != expected);
                        let counts = (found.len(), expected.len());
                        mismatches.add(format!("{name}: {} differs: {counts:?} {other:?}", shown(&command)));
                    }
                }
                (Err(found), Err(expected)) if found == expected => {}
                // What is only counted need not be sorted, so what cannot be sorted is counted.
                (Ok(_), Err(2)) if stages.iter().any(|stage| stage.get("$count").is_some()) => {}
                (found, expected) => {
                    let (found, expected) =
                        (found.map(|found| found.len()), expected.map(|expected| expected.len()));
                    mismatches.add(format!("{name}: {} gave {found:?}, not {expected:?}", shown(&command)));
                }
            }
        }
    }
    mismatches.check();
}
