//! Where things are in the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// Folders whose files are not ours: built, downloaded or generated.
const FOREIGN_FOLDERS: [&str; 6] = ["target", ".git", ".venv", "node_modules", "armilla-data", "__pycache__"];

/// Files larger than this are data, not source.
const SOURCE_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// The repository that this task was built in.
pub(crate) struct Repository {
    root: PathBuf,
}

/// A source file.
pub(crate) struct Source {
    /// Its path from the root, with forward slashes.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

impl Repository {
    /// Finds the root of the workspace.
    pub(crate) fn find() -> Result<Repository> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
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
        command
    }

    /// Returns where cargo puts the server of the development profile.
    pub(crate) fn server_binary(&self) -> PathBuf {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.path("target"), PathBuf::from);
        self.root.join(target).join("debug").join(format!("armilla{}", std::env::consts::EXE_SUFFIX))
    }

    /// Returns every text file of ours, in the order of their paths.
    pub(crate) fn sources(&self) -> Result<Vec<Source>> {
        let mut sources = Vec::new();
        self.collect(&self.root, &mut sources)?;
        sources.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(sources)
    }

    fn collect(&self, folder: &Path, sources: &mut Vec<Source>) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if !FOREIGN_FOLDERS.contains(&name.as_str()) {
                    self.collect(&entry.path(), sources)?;
                }
            } else if kind.is_file() && entry.metadata()?.len() <= SOURCE_BYTES_MAX {
                // What is not text is not source.
                if let Ok(text) = fs::read_to_string(entry.path()) {
                    let path = entry.path();
                    let path = path.strip_prefix(&self.root).context("the file lies under the root")?;
                    let path = path.to_string_lossy().replace('\\', "/");
                    sources.push(Source { path, text });
                }
            }
        }
        Ok(())
    }
}

impl Source {
    /// Tells whether the file's name has this extension.
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, end)| end == extension)
    }

    /// Returns the folder of the file, or the empty text for the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}
