//! Tests of whole traversals, written as scripts and answered as texts.

mod found;
mod hostile;
mod modern;
mod plans;
mod writes;

use armilla_gremlin_language as language;
use armilla_gremlin_value::Value;

use crate::testing::MemoryGraph;
use crate::{Execution, MachineError, Options, compile};

/// Runs a script and returns its results.
pub(crate) fn run_with(
    graph: &MemoryGraph,
    script: &str,
    options: &Options,
) -> Result<Vec<Value>, MachineError> {
    let parsed = language::parse(script, &[], language::Dialect::Open)
        .unwrap_or_else(|error| panic!("{script}: {}", error.text()));
    let mut results = Vec::new();
    for bytecode in &parsed.queries {
        results.clear();
        let plan = compile(bytecode, options)?;
        let mut execution = Execution::new(&plan, graph, options);
        while let Some(batch) = execution.next_batch()? {
            for answer in batch {
                for _ in 0..answer.bulk {
                    results.push(answer.value.clone());
                }
            }
        }
    }
    Ok(results)
}

/// Writes a value with its type, where numbers of different types would look alike.
pub(crate) fn shown(value: &Value) -> String {
    let joined = |values: &mut dyn Iterator<Item = &Value>| values.map(shown).collect::<Vec<_>>().join(",");
    match value {
        Value::Int64(value) => format!("{value}L"),
        Value::List(values) => format!("[{}]", joined(&mut values.iter())),
        Value::Set(values) => {
            let mut texts: Vec<String> = values.iter().map(shown).collect();
            texts.sort();
            format!("s[{}]", texts.join(","))
        }
        Value::BulkSet(values) => {
            let mut texts: Vec<String> = Vec::new();
            for (value, bulk) in values.iter() {
                texts.extend((0..*bulk).map(|_| shown(value)));
            }
            texts.sort();
            format!("b[{}]", texts.join(","))
        }
        Value::Map(map) => {
            let mut texts: Vec<String> =
                map.entries.iter().map(|(key, value)| format!("{}:{}", shown(key), shown(value))).collect();
            texts.sort();
            format!("{{{}}}", texts.join(","))
        }
        Value::Entry(entry) => format!("{}={}", shown(&entry.0), shown(&entry.1)),
        Value::Path(path) => format!("p[{}]", joined(&mut path.objects.iter())),
        Value::Edge(edge) => format!("e[{}]", edge.id),
        Value::Token(token) => format!("t.{}", token.word),
        value => value.to_string(),
    }
}

/// Runs scripts and compares what they answer, in any order; `!` before an answer means an error with the text.
#[track_caller]
pub(crate) fn check_all(make: &dyn Fn() -> MemoryGraph, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (script, expected) in cases {
        let graph = make();
        let answered = match run_with(&graph, script, &Options::default()) {
            Ok(values) => {
                let mut texts: Vec<String> = values.iter().map(shown).collect();
                if !expected.starts_with('>') {
                    texts.sort();
                }
                texts.join(" ")
            }
            Err(error) => format!("!{}", error.message),
        };
        let expected = match expected.strip_prefix('>') {
            Some(ordered) => ordered.to_owned(),
            None if expected.starts_with('!') => (*expected).to_owned(),
            None => {
                let mut words: Vec<&str> = expected.split(' ').filter(|word| !word.is_empty()).collect();
                words.sort_unstable();
                words.join(" ")
            }
        };
        let same = match expected.strip_prefix('!') {
            Some(part) => answered.starts_with('!') && answered.contains(part),
            None => answered == expected,
        };
        if !same {
            wrong.push(format!("{script}\n  expected {expected}\n  answered {answered}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
