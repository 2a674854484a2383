//! The server that is measured: the one that was named, or one of our own for as long as the run takes.

use std::path::Path;

use anyhow::{Context as _, Result};
use armilla_client::Client;
use armilla_client::child::Child;
use armilla_env::Env;
use tempfile::TempDir;

use crate::options::RunOptions;
use crate::postgres_server::Purpose;

/// A server, and what ends with it.
pub(crate) struct Place {
    /// How to ask it.
    pub(crate) client: Client,
    child: Option<Child>,
    // Removed after the server, which is declared before it.
    _folder: Option<TempDir>,
}

impl Place {
    /// Finds the server that was named, or starts one.
    pub(crate) fn open(options: &RunOptions, env: &Env) -> Result<Place> {
        if options.server.endpoint.is_some() || options.server.config.is_some() {
            let client = Client::new(&options.server, env.clone())?;
            return Ok(Place { client, child: None, _folder: None });
        }
        let folder = match &options.data_dir {
            Some(_) => None,
            None => Some(
                tempfile::Builder::new()
                    .prefix("armilla-bench-")
                    .tempdir()
                    .context("cannot make a folder for the server")?,
            ),
        };
        let data_dir = options.data_dir.as_deref().or(folder.as_ref().map(TempDir::path));
        let child = Child::start(&arguments(options, data_dir))?;
        // Plain HTTP, as is usual beside PostgreSQL without TLS.
        let client = Client::new(&child.plain_server_options(), env.clone())?;
        Ok(Place { client, child: Some(child), _folder: folder })
    }

    /// Whether the server is one of our own.
    pub(crate) fn is_own(&self) -> bool {
        self.child.is_some()
    }

    /// Ends a server of our own.
    pub(crate) fn close(mut self) -> Result<()> {
        match &mut self.child {
            Some(child) => child.stop().context("cannot end the server"),
            None => Ok(()),
        }
    }
}

/// Returns the arguments of a server of our own; what the user gives comes last, and so has the last word.
fn arguments(options: &RunOptions, data_dir: Option<&Path>) -> Vec<String> {
    let mut arguments = Vec::new();
    if let Some(folder) = data_dir {
        arguments.extend(["--data-dir".to_owned(), folder.display().to_string()]);
    }
    let is_given = |name: &str| options.server_arguments.iter().any(|argument| argument.starts_with(name));
    if options.throughput.is_none() && !is_given("--throttle") {
        // What is measured is what the server can do, not what it may.
        arguments.extend(["--throttle".to_owned(), "off".to_owned()]);
    }
    if options.postgres && !is_given("--cache-mb") {
        // As much memory as the other has, which has that of the system's cache of files beside it.
        let purpose = Purpose::DurableWrites { items: options.items as usize, connections: None };
        arguments.extend(["--cache-mb".to_owned(), purpose.buffers_mb().to_string()]);
    }
    arguments.extend_from_slice(&options.server_arguments);
    arguments
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        run: RunOptions,
    }

    #[test]
    fn arguments_of_a_server_of_our_own() {
        for (line, expected) in [
            (vec![], "--data-dir d --throttle off"),
            (vec!["--throughput", "400"], "--data-dir d"),
            (vec!["--server-arg=--throttle=on"], "--data-dir d --throttle=on"),
            (vec!["--server-arg=--cache-mb=8"], "--data-dir d --throttle off --cache-mb=8"),
            (vec!["--postgres"], "--data-dir d --throttle off --cache-mb 256"),
            (vec!["--postgres", "--items=100000"], "--data-dir d --throttle off --cache-mb 390"),
            (vec!["--postgres", "--server-arg=--cache-mb=8"], "--data-dir d --throttle off --cache-mb=8"),
        ] {
            let options = Line::parse_from(["bench", "write"].into_iter().chain(line)).run;
            assert_eq!(arguments(&options, Some(Path::new("d"))).join(" "), expected);
        }
    }
}
