//! Advice without a server: items and requests from files, in an engine in memory.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use armilla_advisor::{Alteration, Offline, Selection, Workshop};
use armilla_engine::{Caller, WorkerStart};
use armilla_env::Env;
use armilla_ledger::lines;
use armilla_value::json;

use super::options::AdviseOptions;

/// Longest line of a file, in bytes: more than an item may have.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Makes advice from files.
pub(super) async fn make(options: &AdviseOptions, alterations: &[Alteration], env: &Env) -> Result<Vec<u8>> {
    let mut offline = Offline::new().await?;
    for source in &options.items {
        let form = "--items is written as CONTAINER:/KEY=FILE, such as posts:/postId=posts.jsonl";
        let (place, file) = source.split_once('=').with_context(|| form)?;
        let (container, keys) = place.split_once(':').with_context(|| form)?;
        let keys: Vec<String> = keys.split(',').map(str::to_owned).collect();
        if keys.iter().any(|key| !key.starts_with('/')) {
            bail!("{form}: '{place}' has a path without a slash");
        }
        offline.create(container, &keys, options.throughput).await?;
        let path = Path::new(file);
        each_line(path, async |number, line| {
            offline
                .add(container, line)
                .await
                .map_err(|error| anyhow!("{} line {number}: {error}", path.display()))
        })
        .await?;
    }
    // What was loaded is no request.
    offline.engine().ledger().forget();
    for path in &options.requests {
        each_line(path, async |number, line| {
            let line = lines::read_line(line)
                .map_err(|message| anyhow!("{} line {number}: {message}", path.display()))?;
            offline.request(&line).await.map_err(|error| anyhow!("{} line {number}: {error}", path.display()))
        })
        .await?;
    }
    let (caller, selection) = (Caller::full(), Selection::default());
    let mut evidence = armilla_advisor::gather(offline.engine(), &caller, &selection)
        .await
        .map_err(|error| anyhow!("{error}"))?;
    if let Some(seconds) = options.over_seconds {
        evidence.report.since_ms = evidence.report.until_ms - i64::from(seconds.max(1)) * 1_000;
    }
    let workshop = Workshop { env: env.clone(), script_workers: WorkerStart::ThisProgram };
    let document = match alterations.is_empty() {
        true => armilla_advisor::advise(&evidence, &workshop)
            .await
            .map_err(|error| anyhow!("{error}"))?
            .to_value(),
        false => armilla_advisor::compare(&evidence, alterations, &workshop)
            .await
            .map_err(|error| anyhow!("{error}"))?
            .map_err(|error| anyhow!("{error}"))?
            .to_value(),
    };
    Ok(json::to_string(&document).into_bytes())
}

/// Calls with each line of a file that has something in it, and its number.
async fn each_line(path: &Path, mut take: impl AsyncFnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
    let file = std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        number += 1;
        let read =
            reader.read_until(b'\n', &mut line).with_context(|| format!("cannot read {}", path.display()))?;
        if read == 0 {
            return Ok(());
        }
        if line.len() > LINE_BYTES_MAX {
            bail!("{} line {number} is longer than {LINE_BYTES_MAX} bytes", path.display());
        }
        let text = line.trim_ascii();
        if !text.is_empty() {
            take(number, text).await?;
        }
    }
}
