//! Which steps to run: the options `--only`, `--from`, `--skip` and `--list`.

use anyhow::{Context as _, Result, bail, ensure};

use crate::steps::{BUILD, Step};

/// The options of `cargo xtask test`, not yet compared with the steps that there are.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    only: Vec<String>,
    from: Option<String>,
    skip: Vec<String>,
    /// Whether the steps are to be named instead of run.
    pub(crate) is_list: bool,
}

impl Selection {
    /// Reads the options.
    pub(crate) fn parse(arguments: &[String]) -> Result<Selection> {
        let mut selection = Selection::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let (option, attached) = match argument.split_once('=') {
                Some((option, value)) => (option, Some(value.to_string())),
                None => (argument.as_str(), None),
            };
            let mut value = || {
                attached
                    .clone()
                    .or_else(|| arguments.next().cloned())
                    .context(format!("{option} needs a step"))
            };
            match option {
                "--only" => selection.only.push(value()?),
                "--from" => {
                    ensure!(selection.from.is_none(), "--from is given twice");
                    selection.from = Some(value()?);
                }
                "--skip" => selection.skip.push(value()?),
                "--list" if attached.is_none() => selection.is_list = true,
                _ => bail!("argument {argument} is not understood, see `cargo xtask help`"),
            }
        }
        ensure!(
            selection.only.is_empty() || selection.from.is_none(),
            "--only and --from exclude each other"
        );
        Ok(selection)
    }

    /// Returns the chosen ones among the offered steps, in their order.
    ///
    /// The server is built for steps that need it: an old one would be tested without a word.
    pub(crate) fn choose<'a>(&self, offered: &[&'a Step]) -> Result<Vec<&'a Step>> {
        let position = |name: &String| {
            offered
                .iter()
                .position(|step| step.name == name)
                .with_context(|| format!("there is no step {name} here, --list names those there are"))
        };
        for name in self.only.iter().chain(&self.skip) {
            position(name)?;
        }
        let first = self.from.as_ref().map(position).transpose()?.unwrap_or(0);
        let is_named = |names: &[String], step: &Step| names.iter().any(|name| name == step.name);
        let is_wanted = |index: usize, step: &Step| {
            index >= first
                && (self.only.is_empty() || is_named(&self.only, step))
                && !is_named(&self.skip, step)
        };
        let needs_server =
            offered.iter().enumerate().any(|(index, step)| step.needs_server && is_wanted(index, step));
        let is_chosen = |index: usize, step: &Step| {
            is_wanted(index, step) || (step.name == BUILD && needs_server && !is_named(&self.skip, step))
        };
        let chosen: Vec<&Step> = offered
            .iter()
            .enumerate()
            .filter(|(index, step)| is_chosen(*index, step))
            .map(|(_, step)| *step)
            .collect();
        ensure!(!chosen.is_empty(), "no step is left to run");
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::STEPS;

    fn names(arguments: &[&str]) -> Result<String, String> {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let offered: Vec<&Step> = STEPS.iter().collect();
        Selection::parse(&arguments)
            .and_then(|selection| selection.choose(&offered))
            .map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>().join(" "))
            .map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn steps_are_chosen_by_name() {
        let all = "fmt tidy clippy deny unit build python js rust-sdk go java explorer crash crash-splits crash-store feeds hostile damage docs";
        for (arguments, expected) in [
            (&[][..], all),
            (&["--list"], all),
            (&["--only", "fmt"], "fmt"),
            (&["--only", "tidy", "--only=fmt"], "fmt tidy"),
            (&["--only", "python"], "build python"),
            (&["--only", "python", "--skip", "build"], "python"),
            (
                &["--from", "rust-sdk"],
                "build rust-sdk go java explorer crash crash-splits crash-store feeds hostile damage docs",
            ),
            (&["--from", "docs"], "docs"),
            (&["--from=crash", "--skip=crash"], "build crash-splits crash-store feeds hostile damage docs"),
            (
                &["--from=crash-splits", "--skip=crash-splits", "--skip=feeds"],
                "build crash-store hostile damage docs",
            ),
            (
                &["--skip", "crash", "--skip", "rust-sdk"],
                "fmt tidy clippy deny unit build python js go java explorer crash-splits crash-store feeds hostile damage docs",
            ),
        ] {
            assert_eq!(names(arguments).as_deref(), Ok(expected), "{arguments:?}");
        }
    }

    #[test]
    fn wrong_options_are_named() {
        for (arguments, expected) in [
            (&["--skip"][..], "--skip needs a step"),
            (&["--skip", "nothing"], "there is no step nothing here, --list names those there are"),
            (&["--from", "nothing"], "there is no step nothing here, --list names those there are"),
            (&["fmt"], "argument fmt is not understood, see `cargo xtask help`"),
            (&["--list=fmt"], "argument --list=fmt is not understood, see `cargo xtask help`"),
            (&["--from", "fmt", "--from", "tidy"], "--from is given twice"),
            (&["--from", "fmt", "--only", "fmt"], "--only and --from exclude each other"),
            (&["--only", "fmt", "--skip", "fmt"], "no step is left to run"),
        ] {
            assert_eq!(names(arguments), Err(expected.to_string()), "{arguments:?}");
        }
    }
}
