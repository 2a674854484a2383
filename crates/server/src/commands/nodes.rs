//! `armilla nodes` and `armilla drain`: the nodes that serve an account, and ending one of them.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use armilla_client::Client;
use armilla_env::Env;
use armilla_value::{Value, json};

use crate::commands::client_options::{DrainOptions, NodesOptions};

/// How often it is looked whether a node has ended.
const LOOK_PERIOD: Duration = Duration::from_millis(250);

/// A node as the server tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    name: String,
    address: String,
    version: String,
    partitions: i64,
    is_self: bool,
}

/// Shows the nodes.
pub(crate) fn list(options: &NodesOptions, env: Env) -> Result<ExitCode> {
    let client = Client::new(&options.server, env)?;
    let runtime = runtime()?;
    let text = runtime.block_on(client.nodes())?;
    let shown = match options.json {
        true => format!("{}\n", String::from_utf8_lossy(&text)),
        false => table(&rows(&text).ok_or_else(|| no_list(&client))?),
    };
    print(&shown)
}

/// Asks a node to end, and waits until it has.
pub(crate) fn drain(options: &DrainOptions, env: Env) -> Result<ExitCode> {
    let client = Client::new(&options.server, env.clone())?;
    runtime()?.block_on(async {
        let nodes = rows(&client.nodes().await?).ok_or_else(|| no_list(&client))?;
        if nodes.is_empty() {
            bail!("the server at {client} is not one of several nodes: nothing could take over what it has");
        }
        let begun = client.drain(options.node.as_deref()).await?;
        let begun = json::parse(&begun).ok();
        let name =
            begun.as_ref().and_then(|begun| begun.get("node")?.as_str()).ok_or_else(|| no_list(&client))?;
        if options.no_wait {
            return print(&format!("{name} is ending\n"));
        }
        let is_asked = nodes.iter().any(|node| node.is_self && node.name == name);
        let until = env.clock.elapsed() + Duration::from_secs(options.timeout_seconds.into());
        let mut left = None;
        while env.clock.elapsed() < until {
            match client.nodes().await {
                Ok(text) => {
                    match rows(&text).unwrap_or_default().into_iter().find(|node| node.name == name) {
                        None => return print(&format!("{name} has ended\n")),
                        Some(node) if left != Some(node.partitions) => {
                            left = Some(node.partitions);
                            print(&format!("{name} has {} partitions left\n", node.partitions))?;
                        }
                        Some(_) => {}
                    }
                }
                // It does not answer any more, as was asked for.
                Err(_) if is_asked => return print(&format!("{name} has ended\n")),
                Err(error) => return Err(error),
            }
            env.clock.sleep(LOOK_PERIOD).await;
        }
        bail!("{name} has not ended after {} s: it goes on in the background", options.timeout_seconds)
    })
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")
}

fn print(text: &str) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write the result")?;
    Ok(ExitCode::SUCCESS)
}

fn no_list(client: &Client) -> anyhow::Error {
    anyhow!("the server at {client} answered no list of nodes: is it armilla, and new enough?")
}

fn rows(text: &[u8]) -> Option<Vec<Row>> {
    let document = json::parse(text).ok()?;
    let row = |node: &Value| {
        let text = |member: &str| Some(node.get(member)?.as_str()?.to_owned());
        Some(Row {
            name: text("name")?,
            address: text("address")?,
            version: text("version")?,
            partitions: node.get("partitions")?.as_i64()?,
            is_self: node.get("self")?.as_bool()?,
        })
    };
    document.get("nodes")?.as_array()?.iter().map(row).collect()
}

fn table(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "this server serves the account alone\n".to_owned();
    }
    let width = rows.iter().map(|row| row.address.len()).max().unwrap_or_default().max(7);
    let mut text = format!("{:36}  {:width$}  {:8}  partitions\n", "node", "address", "version");
    for row in rows {
        let mark = if row.is_self { "  (asked)" } else { "" };
        let Row { name, address, version, partitions, .. } = row;
        text.push_str(&format!("{name:36}  {address:width$}  {version:8}  {partitions:>10}{mark}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_told_one_a_line() {
        let text = br#"{"nodes":[
            {"name":"a","address":"10.0.0.1:7000","version":"0.1.0","partitions":12,"self":false},
            {"name":"b","address":"10.0.0.2:7000","version":"0.1.0","partitions":3,"self":true}]}"#;
        let rows = rows(text).unwrap();
        let expected = [
            "node                                  address        version   partitions",
            "a                                     10.0.0.1:7000  0.1.0             12",
            "b                                     10.0.0.2:7000  0.1.0              3  (asked)",
        ];
        assert_eq!(table(&rows).lines().collect::<Vec<_>>(), expected);
        assert_eq!(table(&[]), "this server serves the account alone\n");
        for text in ["", "{}", r#"{"nodes":[{"name":"a"}]}"#] {
            assert_eq!(super::rows(text.as_bytes()), None, "{text}");
        }
    }
}
