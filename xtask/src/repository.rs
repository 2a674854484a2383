//! Where things are in the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Folders whose files are not ours: built, downloaded or generated.
const FOREIGN_FOLDERS: [&str; 10] = [
    "target",
    ".git",
    ".venv",
    "node_modules",
    "armilla-data",
    "__pycache__",
    ".pytest_cache",
    ".ruff_cache",
    // What conformance/own fetches, and what it writes.
    "sources",
    "results",
];

/// Files larger than this are data, not source.
const SOURCE_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// What `cargo run` tells a program about itself, by the start of the variables' names.
///
/// A cargo called from here must not see it: build scripts look at some of these, and everything that
/// stands on them would be built again at each change between `cargo build` and `cargo xtask`.
const OWN_VARIABLES: [&str; 5] =
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE"];

/// The repository that this task was built in.
pub(crate) struct Repository {
    root: PathBuf,
}

/// A file of ours.
pub(crate) struct Source {
    /// Its path from the root, with forward slashes.
    pub(crate) path: String,
    /// Its text; empty when the file is no text.
    pub(crate) text: String,
}

impl Repository {
    /// Finds the root of the workspace.
    pub(crate) fn find() -> Result<Repository> {
        // The folder of now rather than that of the compilation: the repository may have been moved.
        let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&own).parent().context("xtask lies in the workspace")?;
        Ok(Repository { root: root.to_path_buf() })
    }

    /// Returns a path inside the repository.
    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.root.join(inside)
    }

    /// Returns a call of the cargo that runs us, at the root.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        for (name, _) in std::env::vars_os() {
            if OWN_VARIABLES.iter().any(|start| name.to_string_lossy().starts_with(start)) {
                command.env_remove(name);
            }
        }
        command
    }

    /// Returns the server of the development profile.
    pub(crate) fn server_binary(&self) -> Result<PathBuf> {
        built("armilla")
    }

    /// Returns another program of the workspace.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf> {
        built(name)
    }

    /// Returns the program that prints effective partition keys.
    pub(crate) fn epk_binary(&self) -> Result<PathBuf> {
        built("examples/epk")
    }

    /// Returns every file of ours, in the order of their paths.
    pub(crate) fn sources(&self) -> Result<Vec<Source>> {
        let mut sources = Vec::new();
        self.collect(&self.root, &mut sources)?;
        sources.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(sources)
    }

    fn collect(&self, folder: &Path, sources: &mut Vec<Source>) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            let path = entry.path();
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if !FOREIGN_FOLDERS.contains(&entry.file_name().to_string_lossy().as_ref()) {
                    self.collect(&path, sources)?;
                }
            } else if kind.is_file() {
                // What is not text is not source, but a link may lead there.
                let text = match entry.metadata()?.len() {
                    ..=SOURCE_BYTES_MAX => fs::read_to_string(&path).unwrap_or_default(),
                    _ => String::new(),
                };
                let inside = path.strip_prefix(&self.root).context("the file lies under the root")?;
                sources.push(Source { path: inside.to_string_lossy().replace('\\', "/"), text });
            }
        }
        Ok(())
    }
}

impl Source {
    /// Tells whether the file's name has one of these extensions.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, end)| extensions.contains(&end))
    }

    /// Returns the folder of the file, or the empty text for the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Returns the file's name.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }

    /// Returns the lines with their numbers, which begin at one.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Returns a program of the development profile, which cargo was to build before.
fn built(name: &str) -> Result<PathBuf> {
    let program = target_folder()?.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    ensure!(program.is_file(), "{} is missing: run the step build first", program.display());
    Ok(program)
}

/// Returns cargo's target folder.
pub(crate) fn target_folder() -> Result<PathBuf> {
    // Cargo puts programs beside each other, whatever its configuration says about the target folder.
    let own = std::env::current_exe().context("cannot tell where this program lies")?;
    let target = own.parent().and_then(Path::parent).context("this program lies in a target folder")?;
    Ok(target.to_path_buf())
}
