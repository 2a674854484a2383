//! Writes what a file's cases give now into the file, where it differs from what they must give.
//!
//! The difference is there to be read before it is kept: a wrong answer that is accepted stays wrong.

use std::path::Path;

use anyhow::{Context as _, Result};
use armilla_value::json;

use crate::parse;
use crate::rows;
use crate::run::{PAGE_ROWS, drain};
use crate::script::{Case, ContainerStep, Expected, ExpectedCode, ExpectedError, Step};
use crate::target::{Account, Refusal, Target};

/// Renews the expectations of a file; returns how many changed.
pub async fn accept_file(path: &Path) -> Result<usize> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let script = parse(path, &text)?;
    let account = Account::new().await?;
    let mut found = account.container(&ContainerStep::nameless(), 1).await?;
    let mut renewed: Vec<(&Case, Vec<String>)> = Vec::new();
    for step in &script.steps {
        match step {
            Step::Container(container) => {
                found = account.container(container, 1).await.with_context(|| path.display().to_string())?;
            }
            Step::Case(case) => {
                if let Some(lines) = renewal(&found, case).await? {
                    renewed.push((case, lines));
                }
            }
        }
    }
    if renewed.is_empty() {
        return Ok(0);
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (case, new) in renewed.iter().rev() {
        lines.splice(case.expected_lines.clone(), new.iter().cloned());
    }
    lines.push(String::new());
    std::fs::write(path, lines.join("\n")).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(renewed.len())
}

/// Returns the lines that a case gives now, if they are not the expected ones.
async fn renewal(target: &Target, case: &Case) -> Result<Option<Vec<String>>> {
    if let Expected::Plan(expected) = &case.expected {
        let plan = target.plan(case.into()).await?;
        return Ok((plan != *expected).then(|| plan.lines().map(str::to_owned).collect()));
    }
    let outcome = drain(target, case.into(), PAGE_ROWS[0]).await?;
    Ok(match (&case.expected, outcome) {
        (Expected::Rows(expected), Ok(drained)) => {
            let difference = rows::difference(&expected.rows, &drained.rows, expected.comparison);
            difference.map(|_| drained.rows.iter().map(json::to_string).collect())
        }
        (Expected::Error(expected), Err(refusal)) => renewed_error(expected, &refusal),
        // A statement that now fails, or no longer does, needs another directive: a person's decision.
        _ => None,
    })
}

/// Renews what is said of an error, and no more.
fn renewed_error(expected: &ExpectedError, refusal: &Refusal) -> Option<Vec<String>> {
    let code = match &expected.code {
        ExpectedCode::Any => "*",
        ExpectedCode::None | ExpectedCode::Is(_) => refusal.code.as_deref().unwrap_or("-"),
    };
    let place = expected.place.and(refusal.place);
    let place = place.map(|(start, end)| format!(" {start}..{end}")).unwrap_or_default();
    let mut lines = vec![format!("{} {code}{place}", refusal.status)];
    if let Some(message) = &expected.message {
        let kept = refusal.message.contains(message);
        lines.push(if kept { message.clone() } else { refusal.message.clone() });
    }
    let mut before = vec![format!(
        "{} {}{}",
        expected.status,
        match &expected.code {
            ExpectedCode::Any => "*",
            ExpectedCode::None => "-",
            ExpectedCode::Is(code) => code,
        },
        expected.place.map(|(start, end)| format!(" {start}..{end}")).unwrap_or_default()
    )];
    before.extend(expected.message.clone());
    (lines != before).then_some(lines)
}
