//! The `armilla` command: configuration, sockets, TLS, limits, metrics, shutdown.
//!
//! This crate owns everything about processes and sockets, and nothing about databases: a request goes
//! to the API of its port as it came, and the API goes to the engine. What the server says to people goes to
//! standard error; standard output has one line when it is ready, or the result of a command.
//!
//! ```text
//! settings                the command line, the environment and the file, checked
//! serve, ready, shutdown  from start to end
//! listening               ports, connections, what is spoken on them
//! requests                requests in HTTP, from their senders to an API
//! rooms                   what clients make the server hold
//! commands                everything but serving
//! ```
//!
//! Exit codes: 0 done, 1 could not, 2 a check found problems, or a repair could not save everything.

mod allocator;
mod commands;
mod data_dir;
mod limits;
mod listening;
mod logging;
mod metrics;
mod open_id;
mod process;
mod ready;
mod requests;
mod rooms;
mod serve;
mod settings;
mod shutdown;
mod storage;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use armilla_env::Env;
use clap::Parser as _;

use crate::allocator::Allocator;
use crate::commands::{
    advise, backup, buckets, check, feed, nodes, partition_table, query, region, repair, reshape, restore,
};
use crate::requests::catch_panic;
use crate::settings::options::{CheckOptions, Command, CommandLine, LogFormat, Options};
use crate::settings::{LogSettings, Settings};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    // Before anything else: a worker has no command line, no log and no clock.
    if std::env::args_os().nth(1).is_some_and(|word| word == armilla_engine::SCRIPT_WORKER_COMMAND) {
        return armilla_script_worker::main();
    }
    // The clock starts here, so that `start_ms` counts everything.
    let env = Env::system();
    let command_line = match CommandLine::try_parse() {
        Ok(command_line) => command_line,
        Err(error) => {
            // Asking for help is no failure. A wrong command line is, but not the one that 2 stands for.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    let result = match command_line.command {
        None => serve(command_line.options, env),
        Some(Command::Serve(options)) => serve(*options, env),
        Some(Command::Check(options)) => verify(options, env),
        Some(Command::Repair(options)) => {
            look_after(options.data_dir, options.config, |folder| repair::run(folder, env))
        }
        Some(Command::Split(options)) => reshape::split(&options, env),
        Some(Command::Merge(options)) => reshape::merge(&options, env),
        Some(Command::Nodes(options)) => nodes::list(&options, env),
        Some(Command::Drain(options)) => nodes::drain(&options, env),
        Some(Command::Region(options)) => region::run(&options, env),
        Some(Command::Buckets(options)) => buckets::run(&options, env),
        Some(Command::Partitions(options)) => partition_table::show(&options, env),
        Some(Command::Advise(options)) => advise::run(&options, env),
        Some(Command::Query(options)) => query::ask(&options, env),
        Some(Command::Backup(options)) => backup::run(&options, env),
        Some(Command::Restore(options)) => restore::run(&options, &env),
        Some(Command::Feed(options)) => feed::run(&options, env),
        Some(Command::Import(options)) => armilla_transfer::import(&options, env),
        Some(Command::Export(options)) => armilla_transfer::export(&options, env),
        Some(Command::Demo(options)) => armilla_demo::run(&options, env),
        Some(Command::Bench(options)) => armilla_workload::run(&options, env),
    };
    result.unwrap_or_else(|error| {
        // One line, whatever the causes' texts contain.
        let message = format!("{error:#}").replace('\n', " ");
        let _ = writeln!(std::io::stderr(), "armilla: {message}");
        ExitCode::FAILURE
    })
}

fn verify(options: CheckOptions, env: Env) -> Result<ExitCode> {
    // As for the server, whose folder has the certificate alone then.
    match settings::check_store(options.store, options.config.as_deref())? {
        Some(url) => {
            logging::start(&LogSettings { format: LogFormat::Text, filter: None })?;
            catch_panic::install_hook();
            check::run_on_objects(&url, &env)
        }
        None => look_after(options.data_dir, options.config, |folder| check::run(folder, env)),
    }
}

fn look_after(
    data_dir: Option<PathBuf>,
    config: Option<PathBuf>,
    run: impl FnOnce(&Path) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let folder = settings::check_folder(data_dir, config)?;
    logging::start(&LogSettings { format: LogFormat::Text, filter: None })?;
    catch_panic::install_hook();
    run(&folder)
}

fn serve(options: Options, env: Env) -> Result<ExitCode> {
    let settings = Settings::load(options)?;
    logging::start(&settings.log)?;
    catch_panic::install_hook();
    serve::run(settings, env)?;
    Ok(ExitCode::SUCCESS)
}
