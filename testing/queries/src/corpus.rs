//! Runs a corpus of JSON lines: one case a line, each on a container of its own.
//!
//! Members of a case: `name`, `items`, `query`, `parameters`, `expected`, `ordered`, `tolerance`, `arraysAsSets`,
//! `udfs`, `indexingPolicy`. Items without an id get one, which is taken out of the rows again. The corpus is never
//! edited to fit us.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use armilla_value::{Value, json};

use crate::report::{Failure, Report};
use crate::rows;
use crate::run::{Failed, Layout, PAGE_ROWS, check_rows, describe, drain, on_several};
use crate::script::{Comparison, ContainerStep, RANGES_DEFAULT};
use crate::target::{Account, Statement};

/// The beginning of the ids that are made up.
const MADE_UP_ID: &str = "made-up-id-";

struct CorpusCase {
    name: String,
    container: ContainerStep,
    text: String,
    parameters: Vec<(String, Value)>,
    expected: Vec<Value>,
    comparison: Comparison,
    has_made_up_ids: bool,
}

/// Runs a corpus file.
pub async fn run_corpus(path: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut report = Report { file_count: 1, ..Report::default() };
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}:{}", path.display(), index + 1);
        let case = read_case(line, index + 1).with_context(place)?;
        report.case_count += 1;
        if let Some((variants, difference)) = run_case(&case).await.with_context(place)? {
            let text = format!("{}\n{}", case.name, case.text);
            report.failures.push(Failure {
                path: path.to_owned(),
                line: index + 1,
                text,
                variants,
                difference,
            });
        }
    }
    Ok(report)
}

async fn run_case(case: &CorpusCase) -> Result<Option<(Vec<String>, String)>> {
    let mut failed = Failed::default();
    let account = Account::new().await?;
    let statement = Statement { text: &case.text, parameters: &case.parameters, key: None };
    for layout in [Layout::One, Layout::Several(RANGES_DEFAULT)] {
        let target = account.container(&case.container, layout.range_count()).await?;
        let comparison = match layout {
            Layout::One => case.comparison,
            Layout::Several(_) => on_several(&case.text, case.comparison),
        };
        if !case.has_made_up_ids {
            check_rows(&mut failed, &target, layout, statement, &case.expected, comparison).await;
            continue;
        }
        for page_rows in PAGE_ROWS {
            let variant = format!("{}, pages of {page_rows}", layout.name());
            match drain(&target, statement, page_rows).await {
                Ok(Ok(drained)) => {
                    let rows: Vec<_> = drained.rows.into_iter().map(without_made_up_id).collect();
                    if let Some(difference) = rows::difference(&case.expected, &rows, comparison) {
                        failed.add(variant, difference);
                    }
                }
                Ok(Err(refusal)) => failed.add(variant, format!("refused: {}", describe(&refusal))),
                Err(error) => failed.add(variant, format!("broken: {error:#}")),
            }
        }
    }
    Ok(failed.into_failure())
}

fn without_made_up_id(row: Value) -> Value {
    match row {
        Value::Array(elements) => elements.into_iter().map(without_made_up_id).collect::<Vec<_>>().into(),
        Value::Object(object) => {
            let is_made_up = |name: &str, value: &Value| {
                name == "id" && value.as_str().is_some_and(|id| id.starts_with(MADE_UP_ID))
            };
            let kept = object.into_iter().filter(|(name, value)| !is_made_up(name, value));
            Value::Object(kept.map(|(name, value)| (name, without_made_up_id(value))).collect())
        }
        scalar => scalar,
    }
}

fn read_case(line: &str, number: usize) -> Result<CorpusCase> {
    let case = json::parse(line.as_bytes())?;
    let text = |name: &str| {
        let member = case.get(name).and_then(Value::as_str).map(str::to_owned);
        member.ok_or_else(|| anyhow!("the case has no text '{name}'"))
    };
    let list = |name: &str| case.get(name).and_then(Value::as_array).unwrap_or_default().to_vec();
    let flag = |name: &str| case.get(name).and_then(Value::as_bool);
    let mut has_made_up_ids = false;
    let mut items = Vec::new();
    for (index, item) in list("items").into_iter().enumerate() {
        let Value::Object(mut item) = item else { bail!("item {index} is no object") };
        if !item.contains("id") {
            item.insert("id", format!("{MADE_UP_ID}{index}"));
            has_made_up_ids = true;
        }
        items.push((number, Value::Object(item)));
    }
    let mut parameters = Vec::new();
    for parameter in list("parameters") {
        let name = parameter.get("name").and_then(Value::as_str).context("a parameter has a name")?;
        let value = parameter.get("value").context("a parameter has a value")?;
        parameters.push((name.to_owned(), value.clone()));
    }
    Ok(CorpusCase {
        name: text("name")?,
        container: ContainerStep {
            line: number,
            items,
            policy: case.get("indexingPolicy").cloned(),
            functions: case.get("udfs").cloned(),
            ..ContainerStep::nameless()
        },
        text: text("query")?,
        parameters,
        expected: list("expected"),
        comparison: Comparison {
            unordered: flag("ordered") == Some(false),
            arrays_as_sets: flag("arraysAsSets") == Some(true),
            tolerance: case.get("tolerance").and_then(Value::as_f64).unwrap_or_default(),
        },
        has_made_up_ids,
    })
}
