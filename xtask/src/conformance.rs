//! Runs the official SDKs' conformance suites against the built server.
//!
//! Each suite starts servers of its own from the program that `ARMILLA_BIN` names. Here their tools are
//! prepared (once, and again when their list of packages changes) and called.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::repository::Repository;
use crate::steps::execute;

/// Runs the Python suite in its own virtual environment.
pub(crate) fn python(repository: &Repository) -> Result<()> {
    let folder = suite(repository, "conformance/python", "requirements.txt")?;
    let environment = folder.join(".venv");
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    prepare(&folder.join("requirements.txt"), &environment.join("installed-requirements.txt"), || {
        if !python.exists() {
            execute(command("python3", &folder).args(["-m", "venv", ".venv"]))?;
        }
        let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
        execute(Command::new(&python).current_dir(&folder).args(arguments).arg("requirements.txt"))
    })?;
    let server = server(repository)?;
    execute(Command::new(&python).current_dir(&folder).args(["-m", "pytest"]).env("ARMILLA_BIN", server))
}

/// Runs the JavaScript suite with Node's own test runner.
pub(crate) fn javascript(repository: &Repository) -> Result<()> {
    let folder = suite(repository, "conformance/js", "package.json")?;
    let modules = folder.join("node_modules");
    let locked = folder.join("package-lock.json");
    let (list, install) =
        if locked.exists() { (locked, "ci") } else { (folder.join("package.json"), "install") };
    prepare(&list, &modules.join(".installed-packages"), || {
        execute(command("npm", &folder).args([install, "--no-audit", "--no-fund"]))
    })?;
    let server = server(repository)?;
    // The script `test` of the package calls `node --test`.
    execute(command("npm", &folder).args(["test", "--silent"]).env("ARMILLA_BIN", server))
}

/// Runs the Rust suite, which is a workspace of its own.
pub(crate) fn rust(repository: &Repository) -> Result<()> {
    let folder = suite(repository, "conformance/rust", "Cargo.toml")?;
    let server = server(repository)?;
    execute(repository.cargo().current_dir(folder).arg("test").env("ARMILLA_BIN", server))
}

fn suite(repository: &Repository, folder: &str, list: &str) -> Result<PathBuf> {
    let path = repository.path(folder);
    if !path.join(list).is_file() {
        bail!("there is no suite in {folder}: {list} is missing");
    }
    Ok(path)
}

fn server(repository: &Repository) -> Result<PathBuf> {
    let binary = repository.server_binary();
    if !binary.is_file() {
        bail!("{} is missing: run `cargo build --package armilla-server` first", binary.display());
    }
    Ok(binary)
}

fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command
}

/// Installs packages unless those of this very list are installed already.
fn prepare(list: &Path, installed: &Path, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let wanted = fs::read(list).with_context(|| format!("cannot read {}", list.display()))?;
    if fs::read(installed).is_ok_and(|present| present == wanted) {
        return Ok(());
    }
    install()?;
    fs::write(installed, wanted).with_context(|| format!("cannot write {}", installed.display()))
}
