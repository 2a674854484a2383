//! `armilla advise`: what is wrong with a data model, and what it costs.
//!
//! A running server makes the advice itself; without one it is made here, from files. Either way it is shown from the same
//! JSON.

mod offline;
pub(crate) mod options;
mod page;
mod terminal;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use armilla_advisor::{Alteration, Severity};
use armilla_client::Client;
use armilla_env::Env;
use armilla_value::{Object, Value, json};

use options::AdviseOptions;

/// Exit code where something was found that `--fail-on` names.
const FOUND: u8 = 2;

/// Makes advice and shows it.
pub(crate) fn run(options: &AdviseOptions, env: Env) -> Result<ExitCode> {
    let alterations = options.alterations().map_err(|error| anyhow!("{error}"))?;
    let fail_on = match &options.fail_on {
        Some(name) => Some(
            Severity::from_name(name)
                .with_context(|| format!("--fail-on {name}: findings are severe, warning or note"))?,
        ),
        None => None,
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    if options.forget {
        runtime.block_on(async { Client::new(&options.server, env)?.forget_requests().await })?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = runtime.block_on(async {
        match options.items.is_empty() {
            true => ask(options, &alterations, env).await,
            false => offline::make(options, &alterations, &env).await,
        }
    })?;
    let document = json::parse(&text).map_err(|error| anyhow!("the advice is no JSON: {error}"))?;
    let shown = match options.json {
        true => format!("{}\n", json::to_string(&document)),
        false => terminal::shown(&document),
    };
    if let Some(path) = &options.html {
        std::fs::write(path, page::page(&document))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut out = std::io::stdout().lock();
    out.write_all(shown.as_bytes()).and_then(|()| out.flush()).context("cannot write the advice")?;
    let worst = list(&document, "findings")
        .iter()
        .filter_map(|finding| Severity::from_name(finding.get("severity")?.as_str()?))
        .max();
    match (fail_on, worst) {
        (Some(least), Some(worst)) if worst >= least => Ok(ExitCode::from(FOUND)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Asks a running server.
async fn ask(options: &AdviseOptions, alterations: &[Alteration], env: Env) -> Result<Vec<u8>> {
    if !options.requests.is_empty() {
        bail!("--requests goes with --items: a server has a record of its own");
    }
    let client = Client::new(&options.server, env)?;
    let mut body = Object::default();
    if let Some(database) = &options.database {
        body.insert("database", database.clone());
    }
    if let Some(container) = &options.container {
        body.insert("container", container.clone());
    }
    if !alterations.is_empty() {
        let tried = alterations.iter().map(|alteration| Value::String(alteration.option()));
        body.insert("try", Value::Array(tried.collect()));
    }
    let text = client.advice(json::to_string(&Value::Object(body))).await?;
    Ok(text.to_vec())
}

/// Returns a list that the advice has; an empty one where it has none.
fn list<'d>(document: &'d Value, name: &str) -> &'d [Value] {
    match document.get(name) {
        Some(Value::Array(list)) => list,
        _ => &[],
    }
}

fn text<'d>(value: &'d Value, name: &str) -> &'d str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, name: &str) -> f64 {
    value.get(name).and_then(Value::as_f64).unwrap_or_default()
}
