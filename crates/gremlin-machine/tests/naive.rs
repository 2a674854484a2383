//! Random traversals over random graphs, against a model that does each step by its definition.
//!
//! The model keeps plain lists of traversers with their whole paths: no batches, no bulks, nothing that is left out
//! because it is not needed. Results compare as bags, and in order where the last step orders them.
//!
//! `ARMILLA_CASES=n` runs more than the usual number.

#[path = "naive/make.rs"]
mod make;
#[path = "naive/model.rs"]
mod model;

use armilla_gremlin_language as language;
use armilla_gremlin_machine::testing::MemoryGraph;
use armilla_gremlin_machine::{Execution, Options, compile};
use armilla_gremlin_value::Value;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Cases of an ordinary run.
const CASES: u32 = 256;

/// Runs a script on the machine.
fn answered(graph: &MemoryGraph, script: &str) -> Result<Vec<Value>, String> {
    let parsed = language::parse(script, &[], language::Dialect::Open)
        .map_err(|error| format!("not parsed: {}", error.text()))?;
    let options = Options::default();
    let mut results = Vec::new();
    for query in &parsed.queries {
        let plan = compile(query, &options).map_err(|error| format!("not compiled: {error}"))?;
        let mut execution = Execution::new(&plan, graph, &options);
        while let Some(batch) = execution.next_batch().map_err(|error| format!("failed: {error}"))? {
            for answer in batch {
                results.extend((0..answer.bulk).map(|_| answer.value.clone()));
            }
        }
    }
    Ok(results)
}

/// Writes a value so that equal ones are written alike: lists and sets as bags, numbers without their types.
fn written(value: &Value) -> String {
    let bag = |texts: Vec<String>| model::bag(texts);
    match value {
        Value::Vertex(vertex) => format!("v{}", vertex.id),
        Value::Edge(edge) => format!("e{}", edge.id),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Double(number) => format!("{number:.6}"),
        Value::String(text) => format!("'{text}'"),
        Value::List(values) | Value::Set(values) => bag(values.iter().map(written).collect()),
        Value::BulkSet(values) => {
            let each = values.iter().flat_map(|(value, bulk)| (0..*bulk).map(move |_| written(value)));
            bag(each.collect())
        }
        Value::Map(map) => {
            let entries = map.entries.iter();
            model::braces(
                entries.map(|(key, value)| format!("{}={}", written(key), written(value))).collect(),
            )
        }
        Value::Path(path) => {
            format!("p({})", path.objects.iter().map(written).collect::<Vec<_>>().join(","))
        }
        other => format!("?{other}"),
    }
}

#[test]
fn as_the_model_says() {
    let cases = std::env::var("ARMILLA_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let drawn = (prop::collection::vec(any::<u8>(), 0..60), prop::collection::vec(any::<u8>(), 1..48));
    let result = runner.run(&drawn, |(of_graph, of_traversal)| {
        let graph = model::Graph::drawn(&of_graph);
        let traversal = make::traversal(&of_traversal);
        let script = format!("g.V(){}", make::script(&traversal));
        let expected = model::run(&graph, &traversal);
        let mut expected: Vec<String> = expected.iter().map(model::written).collect();
        let mut found: Vec<String> = match answered(&graph.stored(), &script) {
            Ok(values) => values.iter().map(written).collect(),
            Err(error) => return Err(TestCaseError::fail(format!("{script}\n{error}\n{graph:?}"))),
        };
        if !make::is_ordered(&traversal) {
            expected.sort();
            found.sort();
        }
        prop_assert_eq!(&found, &expected, "{}\n{:?}", script, graph);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
