//! `armilla buckets`: how much of a container's throughput requests may use that name a bucket.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use armilla_client::Client;
use armilla_env::Env;
use armilla_value::{Object, Value, json};

use crate::commands::client_options::{BucketsOptions, ContainerOptions};

const LIST: &str = "throughputBuckets";
const ID: &str = "id";
const PERCENT: &str = "maxThroughputPercentage";

/// Gives buckets other shares, if some are given, and shows them.
pub(crate) fn run(options: &BucketsOptions, env: Env) -> Result<ExitCode> {
    let client = Client::new(&options.server, env)?;
    let ContainerOptions { database, container } = &options.container;
    let others = match options.clear || !options.shares.is_empty() {
        true => Some(document(&options.shares)),
        false => None,
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let text = runtime.block_on(client.throughput_buckets(database, container, others))?;
    let lines = lines(&text).ok_or_else(|| anyhow!("the server at {client} answered no list of buckets"))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{lines}").and_then(|()| out.flush()).context("cannot write the result")?;
    Ok(ExitCode::SUCCESS)
}

fn document(shares: &[(u8, u8)]) -> String {
    let entries = shares.iter().map(|(bucket, percent)| {
        let mut entry = Object::default();
        entry.insert(ID, i64::from(*bucket));
        entry.insert(PERCENT, i64::from(*percent));
        entry
    });
    let mut document = Object::default();
    document.insert(LIST, entries.collect::<Vec<Object>>());
    json::to_string(&document.into())
}

fn lines(text: &[u8]) -> Option<String> {
    let document = json::parse(text).ok()?;
    let list = document.get(LIST)?.as_array()?;
    let line = |entry: &Value| {
        let (bucket, percent) = (entry.get(ID)?.as_i64()?, entry.get(PERCENT)?.as_i64()?);
        Some(format!("bucket {bucket}: at most {percent} % of the container's throughput"))
    };
    let lines = list.iter().map(line).collect::<Option<Vec<String>>>()?;
    Some(match lines.is_empty() {
        true => "no bucket has a share: requests may use all of the container's throughput".to_owned(),
        false => lines.join("\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_told_one_a_line() {
        let text = document(&[(1, 40), (3, 100)]);
        assert_eq!(
            lines(text.as_bytes()).unwrap(),
            "bucket 1: at most 40 % of the container's throughput\n\
             bucket 3: at most 100 % of the container's throughput"
        );
        assert!(lines(document(&[]).as_bytes()).unwrap().starts_with("no bucket has a share"));
        for text in ["", "{}", r#"{"throughputBuckets":[{"id":1}]}"#] {
            assert_eq!(lines(text.as_bytes()), None, "{text}");
        }
    }
}
