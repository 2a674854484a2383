//! Runs the query corpus from the command line: `cargo run -p armilla-testing-queries -- [--accept] [FILE ...]`.

#![expect(clippy::print_stdout, reason = "the report is what the program is for")]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use armilla_testing_queries::accept::accept_file;
use armilla_testing_queries::corpus::run_corpus;
use armilla_testing_queries::differential::run_differential;
use armilla_testing_queries::report::Report;
use armilla_testing_queries::run::{files, run_file};
use clap::Parser;

/// Runs statements and compares what they give with what they must give.
#[derive(Debug, Parser)]
#[command(name = "armilla-queries")]
struct Options {
    /// Writes what the statements give now into the files
    #[arg(long)]
    accept: bool,
    /// A corpus of JSON lines to run instead
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Runs this many random queries with and without indexes instead
    #[arg(long, value_name = "COUNT")]
    differential: Option<usize>,
    /// What the random queries follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folders and files [default: conformance/queries]
    paths: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let run = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")
        .and_then(|runtime| runtime.block_on(run(options)));
    match run {
        Ok(report) => {
            print!("{report}");
            if report.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            println!("the run could not go on: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<Report> {
    if let Some(corpus) = &options.corpus {
        return run_corpus(corpus).await;
    }
    if let Some(count) = options.differential {
        return run_differential(options.seed, count).await;
    }
    let mut paths = options.paths;
    if paths.is_empty() {
        paths.push(PathBuf::from("conformance/queries"));
    }
    let mut scripts = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => scripts.extend(files(&path)?),
            false => scripts.push(path),
        }
    }
    if scripts.is_empty() {
        bail!("there are no files to run");
    }
    let mut report = Report::default();
    for script in scripts {
        if options.accept {
            let renewed = accept_file(&script).await?;
            if renewed > 0 {
                println!("{}: {renewed} renewed", script.display());
            }
        }
        report.add(run_file(&script).await?);
    }
    Ok(report)
}
