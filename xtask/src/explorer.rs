//! The explorer: its page built from its sources and compared with the one that lies in the repository, and tried in a
//! browser.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::conformance::{command, packages};
use crate::repository::Repository;
use crate::steps::execute;
use crate::tools::{self, CHROMIUM};

/// Names the browser where it is not on the path.
const BROWSER: &str = "CHROMIUM";

/// Builds the page, compares it with `explorer/dist`, and drives it in a browser.
pub(crate) fn test(repository: &Repository) -> Result<()> {
    let folder = packages(repository, "explorer")?;
    execute(command("npm", &folder).args(["run", "--silent", "check"]))?;
    compare(&folder)?;
    if std::env::var_os(BROWSER).is_none() {
        tools::require(&[CHROMIUM])?;
    }
    let server = repository.server_binary()?;
    execute(command("npm", &folder).args(["test", "--silent"]).env("ARMILLA_BIN", server))
}

/// Makes the screenshots of the documentation.
pub(crate) fn screenshots(repository: &Repository) -> Result<()> {
    let folder = packages(repository, "explorer")?;
    let server = repository.server_binary()?;
    execute(command("npm", &folder).args(["run", "--silent", "screenshots"]).env("ARMILLA_BIN", server))
}

/// Builds the page into a folder of its own, and compares.
fn compare(folder: &Path) -> Result<()> {
    let built = std::env::temp_dir().join(format!("armilla-explorer-{}", std::process::id()));
    let mut build = command("npm", folder);
    build.args(["run", "--silent", "build", "--", "--logLevel", "warn", "--emptyOutDir", "--outDir"]);
    execute(build.arg(&built))?;
    let (there, made) = (files(&folder.join("dist"))?, files(&built)?);
    fs::remove_dir_all(&built).with_context(|| format!("cannot remove {}", built.display()))?;
    let differs = there.iter().chain(&made).find(|file| !there.contains(file) || !made.contains(file));
    if let Some((path, _)) = differs {
        bail!(
            "explorer/dist is not what explorer/src makes ({}): run `npm run build` in explorer, and commit what it writes",
            path.display()
        );
    }
    Ok(())
}

/// Returns all files below a folder, by their path in it.
fn files(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                found.push((path.strip_prefix(folder)?.to_owned(), content));
            }
        }
    }
    found.sort();
    Ok(found)
}
