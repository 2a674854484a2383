//! The `armilla` command: configuration, sockets, TLS, limits, metrics, shutdown.
//!
//! This crate owns everything about processes and sockets, and nothing about databases: a request goes
//! to the API of its port as it came, and the API goes to the engine. What the server says to people goes to
//! standard error; standard output has one line when it is ready, or the result of a command.
//!
//! Exit codes: 0 done, 1 could not, 2 a check found problems.

mod activity;
mod answer;
mod api;
mod catch_panic;
mod check;
mod client_options;
mod config_file;
mod connection;
mod data_dir;
mod feed;
mod handler;
mod help;
mod limits;
mod listener;
mod logging;
mod metrics;
mod options;
mod partition_table;
mod port;
mod process;
mod progress;
mod ready;
mod reshape;
mod serve;
mod settings;
mod shutdown;
mod storage;
mod stream;
mod timed_body;
mod tls;
mod waiting;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use armilla_env::Env;
use clap::Parser as _;

use crate::options::{CheckOptions, Command, CommandLine, LogFormat, Options};
use crate::settings::{LogSettings, Settings};

// Requests and commits allocate on one thread and free on another, many times each; the system's allocator took a
// sixth of the time of a write for it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
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
        Some(Command::Check(options)) => check_folder(options, env),
        Some(Command::Split(options)) => reshape::split(&options, env),
        Some(Command::Merge(options)) => reshape::merge(&options, env),
        Some(Command::Partitions(options)) => partition_table::show(&options, env),
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

fn check_folder(options: CheckOptions, env: Env) -> Result<ExitCode> {
    let folder = settings::check_folder(options.data_dir, options.config)?;
    logging::start(&LogSettings { format: LogFormat::Text, filter: None })?;
    catch_panic::install_hook();
    check::run(&folder, env)
}

fn serve(options: Options, env: Env) -> Result<ExitCode> {
    let settings = Settings::load(options)?;
    logging::start(&settings.log)?;
    catch_panic::install_hook();
    serve::run(settings, env)?;
    Ok(ExitCode::SUCCESS)
}
