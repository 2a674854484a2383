//! What the programs of this package have in common: a run that ends with a verdict, and a folder to work in.

#![expect(clippy::print_stdout, reason = "these are programs for the terminal")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

/// Runs a program to its end: whether everything passed, or why it could not go on, becomes its exit code.
pub fn run_to_exit(run: impl Future<Output = Result<bool>>) -> ExitCode {
    let passed = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")
        .and_then(|runtime| runtime.block_on(run));
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("the run could not go on: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A folder to work in: one that was named and stays, or a new one that goes unless it is kept.
pub struct WorkFolder {
    path: PathBuf,
    temporary: Option<TempDir>,
}

impl WorkFolder {
    /// Makes the named folder, or a new one.
    pub fn make(named: Option<&Path>) -> Result<WorkFolder> {
        match named {
            Some(folder) => {
                std::fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make {}", folder.display()))?;
                Ok(WorkFolder { path: folder.to_owned(), temporary: None })
            }
            None => {
                let folder = tempfile::tempdir().context("cannot make a folder")?;
                Ok(WorkFolder { path: folder.path().to_owned(), temporary: Some(folder) })
            }
        }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps a new folder, and tells where it is.
    pub fn keep(self) {
        if let Some(folder) = self.temporary {
            println!("the data and the server's log are kept in {}", folder.keep().display());
        }
    }
}
