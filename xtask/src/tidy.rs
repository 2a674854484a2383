//! Rules about the source text that no compiler checks. Each rule is a file.
//!
//! `cargo xtask tidy` and the test at the end are the same thing.

mod arrow_table;
mod arrows;
mod async_locks;
pub(crate) mod circles;
mod compat;
mod decisions;
mod foreign_words;
mod invariants;
mod links;
mod long_files;
mod module_docs;
mod places;
mod sleeps;
mod test_modules;
mod unfinished;
mod vague_words;

use std::fmt;
use std::io::Write as _;

use anyhow::{Result, bail};

use crate::repository::{Repository, Source};

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    path: String,
    line: usize,
    message: String,
}

impl Problem {
    fn new(source: &Source, line: usize, message: impl Into<String>) -> Problem {
        Problem { path: source.path.clone(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Checks every rule and lists what breaks one.
pub(crate) fn run(repository: &Repository) -> Result<()> {
    let problems = problems(repository)?;
    let mut out = std::io::stderr().lock();
    for problem in &problems {
        writeln!(out, "{problem}")?;
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("1 place is not tidy"),
        count => bail!("{count} places are not tidy"),
    }
}

fn problems(repository: &Repository) -> Result<Vec<Problem>> {
    let sources = repository.sources()?;
    let mut problems = Vec::new();
    for rule in [
        arrows::check,
        arrow_table::check,
        circles::check,
        foreign_words::check,
        vague_words::check,
        module_docs::check,
        test_modules::check,
        compat::check,
        unfinished::check,
        links::check,
        long_files::check,
        decisions::check,
        places::check,
        sleeps::check,
        async_locks::check,
        invariants::check,
    ] {
        problems.extend(rule(&sources));
    }
    problems.sort();
    Ok(problems)
}

/// Tells whether a file has nothing but tests.
fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "tests.rs" || name.ends_with("_tests.rs") || path.contains("/tests/")
}

/// Makes sources for the tests of rules.
#[cfg(test)]
fn sources(files: &[(&str, &str)]) -> Vec<Source> {
    files.iter().map(|(path, text)| Source { path: path.to_string(), text: text.to_string() }).collect()
}

/// Runs a rule over made-up files and returns its findings as text.
#[cfg(test)]
fn findings(rule: fn(&[Source]) -> Vec<Problem>, files: &[(&str, &str)]) -> Vec<String> {
    rule(&sources(files)).iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let problems = problems(&Repository::find().unwrap()).unwrap();
        let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "not tidy:\n{}", text.join("\n"));
    }
}
