//! Runs a scenario: its text is parsed, compiled and executed, and what it answers compared.

use std::sync::Arc;

use armilla_gremlin_language as language;
use armilla_gremlin_machine::testing::MemoryGraph;
use armilla_gremlin_machine::{Execution, Options, compile};
use armilla_gremlin_value::{Instruction, Value};

use crate::compare::{drawn, same, same_bag, same_tree};
use crate::gherkin::{Match, Scenario, Then};
use crate::graphs::Graphs;
use crate::notation;

/// What became of a scenario.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    /// It answered something else, or failed.
    Failed(String),
    /// It was not run, with an error that says so.
    Refused(String),
    /// The feature says that there is nothing to run.
    Left,
}

/// Why there are no results.
enum Stopped {
    /// When it was parsed or compiled.
    Before(String),
    /// When it ran.
    Running(String),
}

type Bindings = Vec<(Arc<str>, Value)>;

/// Runs a scenario.
pub(crate) fn run(scenario: &Scenario, graphs: &Graphs) -> Outcome {
    if scenario.left {
        return Outcome::Left;
    }
    match attempt(scenario, graphs) {
        Ok(()) => Outcome::Passed,
        Err(outcome) => outcome,
    }
}

fn attempt(scenario: &Scenario, graphs: &Graphs) -> Result<(), Outcome> {
    let graph = graphs.make(&scenario.graph).map_err(Outcome::Refused)?;
    if let Some(script) = &scenario.initializer {
        script_results(script, &graph, &Vec::new(), &[], false).map_err(|stopped| stopped.outcome())?;
    }
    let named = |list: &[(String, String)]| -> Result<Bindings, Outcome> {
        list.iter()
            .map(|(name, text)| Ok((name.as_str().into(), notation::value(text, &graph)?)))
            .collect::<Result<Bindings, String>>()
            .map_err(Outcome::Failed)
    };
    let bindings = named(&scenario.parameters)?;
    let side_effects = named(&scenario.side_effects)?;
    let results = script_results(&scenario.text, &graph, &bindings, &side_effects, scenario.next);
    let wants_error = scenario.thens.iter().find_map(|then| match then {
        Then::Error(told) => Some(told),
        _ => None,
    });
    let values = match (results, wants_error) {
        (Ok(values), None) => values,
        (Ok(values), Some(_)) => {
            return Err(Outcome::Failed(format!("an error was expected, answered {}", shown(&values))));
        }
        (Err(stopped), None) => return Err(stopped.outcome()),
        (Err(Stopped::Before(message) | Stopped::Running(message)), Some(told)) => {
            let holds = told.as_ref().is_none_or(|(kind, part)| match kind {
                Match::Contains => message.contains(part.as_str()),
                Match::Starts => message.starts_with(part.as_str()),
                Match::Ends => message.ends_with(part.as_str()),
            });
            return match holds {
                true => Ok(()),
                false => Err(Outcome::Failed(format!("error with another text than {told:?}: {message}"))),
            };
        }
    };
    for then in &scenario.thens {
        check(then, &values, &graph, &bindings).map_err(Outcome::Failed)?;
    }
    Ok(())
}

impl Stopped {
    fn outcome(self) -> Outcome {
        match self {
            Stopped::Before(message) => Outcome::Refused(message),
            Stopped::Running(message) => Outcome::Failed(format!("error: {message}")),
        }
    }
}

fn script_results(
    script: &str,
    graph: &MemoryGraph,
    bindings: &Bindings,
    side_effects: &[(Arc<str>, Value)],
    next: bool,
) -> Result<Vec<Value>, Stopped> {
    let parsed = language::parse(script, bindings, language::Dialect::Open)
        .map_err(|error| Stopped::Before(error.text()))?;
    let options = Options::default();
    let mut results = Vec::new();
    for query in &parsed.queries {
        results.clear();
        let mut query = query.clone();
        for (at, (name, value)) in side_effects.iter().enumerate() {
            let arguments = vec![Value::String(name.clone()), value.clone()];
            let source = Instruction { name: "withSideEffect".into(), arguments, position: None };
            query.sources.insert(at, source);
        }
        let plan = compile(&query, &options).map_err(|error| Stopped::Before(error.message))?;
        let mut execution = Execution::new(&plan, graph, &options);
        while let Some(batch) = execution.next_batch().map_err(|error| Stopped::Running(error.message))? {
            for answer in batch {
                results.extend((0..answer.bulk).map(|_| answer.value.clone()));
            }
        }
    }
    if next {
        // What `next()` gives of a list are its items, as the official runners see it.
        let first = results.drain(..).next();
        results = match first {
            Some(Value::List(items) | Value::Set(items)) => items.as_ref().clone(),
            Some(Value::Path(path)) => path.objects.clone(),
            Some(Value::BulkSet(items)) => {
                let expanded = items.iter().flat_map(|(value, bulk)| (0..*bulk).map(move |_| value.clone()));
                expanded.collect()
            }
            Some(other) => vec![other],
            None => Vec::new(),
        };
    }
    Ok(results)
}

fn check(then: &Then, values: &[Value], graph: &MemoryGraph, bindings: &Bindings) -> Result<(), String> {
    let expected = |rows: &[String]| -> Result<Vec<Value>, String> {
        rows.iter().map(|row| notation::value(row, graph)).collect()
    };
    let answered: Vec<&Value> = values.iter().collect();
    let holds = match then {
        Then::Empty => values.is_empty(),
        // A map that `next()` gives counts as its entries.
        Then::Count(count) => match values {
            [Value::Map(map)] => values.len() == *count || map.entries.len() == *count,
            values => values.len() == *count,
        },
        Then::Ordered(rows) => {
            let rows = expected(rows)?;
            rows.len() == values.len() && rows.iter().zip(values).all(|(row, value)| same(row, value))
        }
        Then::Unordered(rows) => same_bag(&expected(rows)?.iter().collect::<Vec<_>>(), &answered),
        Then::Of(rows) => {
            let rows = expected(rows)?;
            values.iter().all(|value| rows.iter().any(|row| same(row, value)))
        }
        Then::GraphCount(count, query) => {
            let found = script_results(query, graph, bindings, &[], false);
            let found = found.map_err(|stopped| match stopped {
                Stopped::Before(message) | Stopped::Running(message) => format!("{query}: {message}"),
            })?;
            if found.len() != *count {
                return Err(format!("{query} finds {}, not {count}", found.len()));
            }
            true
        }
        Then::Tree(lines) => {
            let drawn = drawn(lines, graph)?;
            matches!(values, [Value::Tree(tree)] if same_tree(&drawn, tree))
        }
        Then::Error(_) => true,
        Then::Subgraph => return Err("subgraphs are not compared".into()),
        Then::Unknown(sentence) => return Err(format!("not understood: {sentence}")),
    };
    match holds {
        true => Ok(()),
        false => Err(format!("expected {then:?}\n    answered {}", shown(values))),
    }
}

/// Writes values with their types, cut where they are long.
fn shown(values: &[Value]) -> String {
    let text = values.iter().map(text_of).collect::<Vec<_>>().join(" ");
    if text.chars().count() > 1_000 { text.chars().take(1_000).chain("...".chars()).collect() } else { text }
}

fn text_of(value: &Value) -> String {
    let list = |values: &[Value]| values.iter().map(text_of).collect::<Vec<_>>().join(",");
    match value {
        Value::Int32(value) => format!("{value}i"),
        Value::Int64(value) => format!("{value}l"),
        Value::Double(value) => format!("{value}d"),
        Value::List(values) => format!("l[{}]", list(values)),
        Value::Set(values) => format!("s[{}]", list(values)),
        Value::Path(path) => format!("p[{}]", list(&path.objects)),
        Value::BulkSet(values) => {
            let texts: Vec<String> =
                values.iter().map(|(value, bulk)| format!("{}*{bulk}", text_of(value))).collect();
            format!("b[{}]", texts.join(","))
        }
        Value::Map(map) => {
            let texts: Vec<String> = map
                .entries
                .iter()
                .map(|(key, value)| format!("{}: {}", text_of(key), text_of(value)))
                .collect();
            format!("m[{}]", texts.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Vertex(_) | Value::Edge(_) => {
            value.to_string()
        }
        value => format!("{}:{value}", value.type_word()),
    }
}
