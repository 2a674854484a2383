//! `armilla query`: the rows of a query, or how it is answered and what each step costs.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use armilla_client::{Client, Query, Scope, Session, lines};
use armilla_env::Env;
use armilla_value::{Value, json};

use crate::commands::client_options::{ExplainHow, QueryOptions};

#[cfg(test)]
mod tests;

/// Asks the server and prints.
pub(crate) fn ask(options: &QueryOptions, env: Env) -> Result<ExitCode> {
    let client = Client::new(&options.server, env)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let mut session = client.session();
    runtime.block_on(async {
        match options.explain {
            None => rows(&mut session, options).await,
            Some(how) => explain(&mut session, options, how).await,
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the parameters as the array that a query has them in.
fn parameters(options: &QueryOptions) -> String {
    let one = |(name, value): &(String, String)| {
        format!("{{\"name\":{},\"value\":{value}}}", json::to_string(&Value::from(name.as_str())))
    };
    match options.parameters.is_empty() {
        true => String::new(),
        false => format!("[{}]", options.parameters.iter().map(one).collect::<Vec<_>>().join(",")),
    }
}

/// Prints the rows, page by page, and what they cost.
async fn rows(session: &mut Session, options: &QueryOptions) -> Result<()> {
    let (database, container) = (&options.database, &options.container);
    let parameters = parameters(options);
    let (mut continuation, mut count, mut charge, mut pages) = (None::<String>, 0, 0.0, 0);
    let mut out = std::io::stdout();
    loop {
        let wanted = options.max.map(|max| max.saturating_sub(count));
        if wanted == Some(0) {
            break;
        }
        let query = Query {
            text: &options.query,
            parameters: &parameters,
            scope: options.partition_key.as_deref().map_or(Scope::All, Scope::Key),
            items_max: wanted.and_then(|wanted| u32::try_from(wanted).ok()),
            continuation: continuation.as_deref(),
            explain: None,
        };
        let done = session.query(database, container, &query).await?;
        let page = lines(&done.body)?;
        out.write_all(&page.text).context("cannot write the rows")?;
        (count, charge, pages) = (count + page.count, charge + done.charge, pages + 1);
        continuation = done.continuation;
        if continuation.is_none() {
            break;
        }
    }
    out.flush().context("cannot write the rows")?;
    let told = format!("{} for {charge:.2} RU, {}\n", counted(count, "row"), counted(pages, "page"));
    // Whoever does not read it does not need it.
    let _ = std::io::stderr().write_all(told.as_bytes());
    Ok(())
}

/// Prints how a query is answered.
async fn explain(session: &mut Session, options: &QueryOptions, how: ExplainHow) -> Result<()> {
    let (database, container) = (&options.database, &options.container);
    let parameters = parameters(options);
    let word = match how {
        ExplainHow::Plan => "plan",
        ExplainHow::Run => "run",
    };
    let (mut whole, mut continuation) = (Explained::default(), None::<String>);
    loop {
        let query = Query {
            text: &options.query,
            parameters: &parameters,
            scope: options.partition_key.as_deref().map_or(Scope::All, Scope::Key),
            items_max: None,
            continuation: continuation.as_deref(),
            explain: Some(word),
        };
        let done = session.query(database, container, &query).await?;
        let body = json::parse(&done.body).ok().context("the server's answer is no JSON")?;
        match how {
            ExplainHow::Plan => whole.add(&body, None)?,
            ExplainHow::Run => {
                let page = body.get("explain").context("the server does not explain queries")?;
                whole.add(page, Some(done.charge))?;
            }
        }
        continuation = done.continuation;
        if continuation.is_none() {
            break;
        }
    }
    let text = if options.json { whole.json() } else { whole.tree() };
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write the result")
}

/// What was told of all pages of a query.
#[derive(Debug, Default)]
struct Explained {
    plan: Vec<String>,
    /// Access to items, and in how many places it is the same.
    accesses: Vec<(Vec<String>, Vec<String>, u64)>,
    /// What was done, how often, over how many bytes, for how many hundredths of a request unit.
    price: Vec<(String, i64, i64, i64)>,
    rows: i64,
    pages: u64,
    /// Hundredths of a request unit; nothing where nothing was run.
    charge: Option<i64>,
}

impl Explained {
    /// Adds a page; `charge` is what its header says.
    fn add(&mut self, page: &Value, charge: Option<f64>) -> Result<()> {
        self.pages += 1;
        self.plan = texts(page.get("plan"));
        for partition in page.get("partitions").and_then(Value::as_array).unwrap_or_default() {
            let access = texts(partition.get("access"));
            let missing = partition.get("missingIndexes").and_then(Value::as_array).unwrap_or_default();
            let missing: Vec<String> =
                missing.iter().map(|index| texts(index.get("paths")).join(", ")).collect();
            match self.accesses.iter_mut().find(|(known, lacks, _)| *known == access && *lacks == missing) {
                Some((_, _, count)) => *count += 1,
                None => self.accesses.push((access, missing, 1)),
            }
        }
        let Some(charge) = charge else { return Ok(()) };
        self.rows += page.get("rows").and_then(Value::as_i64).unwrap_or(0);
        let mut sum = 0;
        for part in page.get("price").and_then(Value::as_array).unwrap_or_default() {
            let whole = |name| part.get(name).and_then(Value::as_i64).unwrap_or(0);
            let what = part.get("what").and_then(Value::as_str).unwrap_or_default();
            let share = hundredths(part.get("charge").and_then(Value::as_f64).unwrap_or(0.0));
            sum += share;
            match self.price.iter_mut().find(|(known, ..)| known == what) {
                Some((_, count, bytes, known)) => {
                    *count += whole("count");
                    *bytes += whole("bytes");
                    *known += share;
                }
                None => self.price.push((what.to_owned(), whole("count"), whole("bytes"), share)),
            }
        }
        if sum != hundredths(charge) {
            bail!("the server charged {charge} RU, and explains {} RU", units(sum));
        }
        *self.charge.get_or_insert(0) += sum;
        Ok(())
    }

    fn tree(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        if let Some(charge) = self.charge {
            let rows = counted(u64::try_from(self.rows).unwrap_or(0), "row");
            let _ = writeln!(text, "{} RU: {rows} in {}", units(charge), counted(self.pages, "page"));
            let width = self.price.iter().map(|(what, ..)| what.len()).max().unwrap_or(0);
            for (what, count, bytes, share) in &self.price {
                let _ = write!(text, "  {:>10} RU  {what:<width$}", units(*share));
                if *count > 0 {
                    let _ = write!(text, "  {count}");
                }
                if *bytes > 0 {
                    let _ = write!(text, ", {bytes} bytes");
                }
                text.push('\n');
            }
        }
        let _ = writeln!(text, "Rows");
        for step in &self.plan {
            let _ = writeln!(text, "  {step}");
        }
        for (access, missing, count) in &self.accesses {
            let _ = writeln!(text, "Items of {}", counted(*count, "partition"));
            for step in access {
                let _ = writeln!(text, "  {step}");
            }
            for index in missing {
                let _ = writeln!(text, "  (an index of {index} would help)");
            }
        }
        text
    }

    fn json(&self) -> String {
        let strings =
            |texts: &[String]| Value::Array(texts.iter().map(|text| text.as_str().into()).collect());
        let object = |members: Vec<(&str, Value)>| {
            let members: Vec<(String, Value)> =
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            Value::Object(members.into())
        };
        let mut members = vec![("plan", strings(&self.plan))];
        let accesses = self.accesses.iter().map(|(access, missing, count)| {
            object(vec![
                ("partitions", Value::Int64(i64::try_from(*count).unwrap_or(i64::MAX))),
                ("access", strings(access)),
                ("missingIndexes", strings(missing)),
            ])
        });
        members.push(("items", Value::Array(accesses.collect())));
        if let Some(charge) = self.charge {
            let price = self.price.iter().map(|(what, count, bytes, share)| {
                object(vec![
                    ("what", what.as_str().into()),
                    ("count", Value::Int64(*count)),
                    ("bytes", Value::Int64(*bytes)),
                    ("charge", Value::Double(*share as f64 / 100.0)),
                ])
            });
            members.push(("rows", Value::Int64(self.rows)));
            members.push(("pages", Value::Int64(i64::try_from(self.pages).unwrap_or(i64::MAX))));
            members.push(("price", Value::Array(price.collect())));
            members.push(("charge", Value::Double(charge as f64 / 100.0)));
        }
        format!("{}\n", json::to_string(&object(members)))
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let texts = value.and_then(Value::as_array).unwrap_or_default();
    texts.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns request units in hundredths, which is as fine as they are.
fn hundredths(units: f64) -> i64 {
    (units * 100.0).round() as i64
}

fn units(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", hundredths.abs() / 100, hundredths.abs() % 100)
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
