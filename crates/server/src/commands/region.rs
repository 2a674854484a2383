//! `armilla region`: what the account's regions are at present, and changing that.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use armilla_client::Client;
use armilla_env::Env;
use armilla_value::{Value, json};

use crate::commands::client_options::{RegionAction, RegionOptions};

/// Changes a region, if one is named, and shows all.
pub(crate) fn run(options: &RegionOptions, env: Env) -> Result<ExitCode> {
    let (server, change) = match &options.action {
        RegionAction::List(list) => (&list.server, None),
        RegionAction::Offline(named) => (&named.server, Some((&*named.name, r#"{"online":false}"#))),
        RegionAction::Online(named) => (&named.server, Some((&*named.name, r#"{"online":true}"#))),
        RegionAction::Write(named) => (&named.server, Some((&*named.name, r#"{"writable":true}"#))),
    };
    let client = Client::new(server, env)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let text = runtime.block_on(client.regions(change))?;
    let lines = lines(&text).ok_or_else(|| anyhow!("the server at {client} answered no list of regions"))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", lines.join("\n")).and_then(|()| out.flush()).context("cannot write the result")?;
    Ok(ExitCode::SUCCESS)
}

fn lines(text: &[u8]) -> Option<Vec<String>> {
    let document = json::parse(text).ok()?;
    let line = |region: &Value| {
        let name = region.get("name")?.as_str()?;
        let port = match region.get("port")? {
            Value::Null => String::new(),
            port => format!(", port {}", port.as_i64()?),
        };
        let flag = |name: &str| region.get(name)?.as_bool();
        let online = if flag("online")? { "online" } else { "offline" };
        let writes = if flag("writable")? { "reads and writes" } else { "reads" };
        Some(format!("{name}: {online}, {writes}{port}"))
    };
    document.get("regions")?.as_array()?.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_told_one_a_line() {
        let text = r#"{"regions":[{"name":"West US","port":null,"online":true,"writable":true},
                       {"name":"East US","port":8082,"online":false,"writable":false}]}"#;
        let expected = ["West US: online, reads and writes", "East US: offline, reads, port 8082"];
        assert_eq!(lines(text.as_bytes()).unwrap(), expected);
        for text in ["", "{}", r#"{"regions":[{"name":"x"}]}"#] {
            assert_eq!(lines(text.as_bytes()), None, "{text}");
        }
    }
}
