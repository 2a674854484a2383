//! `armilla split` and `armilla merge`: ask the server, then watch until it is done.
//!
//! Progress goes to standard error, the result to standard output.

mod watch;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use armilla_client::Client;
use armilla_env::Env;
use armilla_report::{PlainLines, Progress, Step as ShownStep};
use armilla_value::{Object, json};

use crate::commands::client_options::{ContainerOptions, MergeOptions, SplitOptions};
use crate::limits::POLL_PERIOD;
use watch::{Step, Watch};

/// Percent between two lines where lines cannot be changed.
const LINE_STEP_PERCENT: u8 = 10;

/// Splits a range of a container.
pub(crate) fn split(options: &SplitOptions, env: Env) -> Result<ExitCode> {
    let mut body = Object::default();
    if let Some(range) = options.range {
        body.insert("range", range.to_string());
    }
    if let Some(at) = &options.at {
        body.insert("at", at.as_str());
    }
    let client = Client::new(&options.server, env.clone())?;
    let parents = options.range.iter().map(u32::to_string).collect();
    run(
        Reshape { verb: "split", container: &options.container, body, parents, no_wait: options.no_wait },
        &client,
        &env,
    )
}

/// Merges two ranges of a container.
pub(crate) fn merge(options: &MergeOptions, env: Env) -> Result<ExitCode> {
    let parents: Vec<String> = options.ranges.iter().map(u32::to_string).collect();
    let mut body = Object::default();
    body.insert("ranges", parents.clone());
    let client = Client::new(&options.server, env.clone())?;
    run(
        Reshape { verb: "merge", container: &options.container, body, parents, no_wait: options.no_wait },
        &client,
        &env,
    )
}

struct Reshape<'o> {
    verb: &'static str,
    container: &'o ContainerOptions,
    body: Object,
    /// The ranges that go; none if the server chooses.
    parents: Vec<String>,
    no_wait: bool,
}

fn run(reshape: Reshape<'_>, client: &Client, env: &Env) -> Result<ExitCode> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let result = runtime.block_on(ask_and_watch(reshape, client, env))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{result}").and_then(|()| out.flush()).context("cannot write the result")?;
    Ok(ExitCode::SUCCESS)
}

/// Returns what was done, in words.
async fn ask_and_watch(reshape: Reshape<'_>, client: &Client, env: &Env) -> Result<String> {
    let ContainerOptions { database, container } = reshape.container;
    let start = env.clock.elapsed();
    let before = client.partitions().await?;
    let Some(row) = before.container(database, container) else {
        bail!("there is no container {container} in a database {database}");
    };
    let mut watch = Watch::new(row, reshape.parents);
    let mut body = Vec::new();
    json::write(&reshape.body.into(), &mut body);
    let body = String::from_utf8(body).context("a request that is no text")?;
    client.reshape(database, container, reshape.verb, body).await?;
    let doing = if reshape.verb == "split" { "splitting" } else { "merging" };
    if reshape.no_wait {
        return Ok(format!(
            "{doing} of {database}/{container} has begun; `armilla partitions` shows how far it is"
        ));
    }
    let mut progress = Progress::on_stderr(PlainLines::EachPercent(LINE_STEP_PERCENT));
    let step = |percent: u8| ShownStep {
        text: format!("{doing} {database}/{container}: {percent} %"),
        part: Some(f64::from(percent) / 100.0),
    };
    progress.show(env.clock.elapsed(), || step(0));
    loop {
        let listing = client.partitions().await?;
        match watch.look(listing.container(database, container)) {
            Step::Running(percent) => progress.show(env.clock.elapsed(), || step(percent)),
            Step::Done { parents, children } => {
                progress.finish(&step(100));
                let seconds = env.clock.elapsed().saturating_sub(start).as_secs_f64();
                let (parents, children) = (parents.join(" and "), children.join(" and "));
                return Ok(format!("{database}/{container}: {parents} became {children} in {seconds:.1} s"));
            }
            Step::GivenUp(why) => {
                progress.leave();
                bail!("{doing} of {database}/{container} was given up, it serves as before: {why}");
            }
            Step::ContainerGone => {
                progress.leave();
                bail!("{database}/{container} was deleted meanwhile");
            }
        }
        env.clock.sleep(POLL_PERIOD).await;
    }
}
