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
use crate::tools::{self, GO, JAVA, MAVEN, NODE, NPM, PYTHON};

/// Processes that run the Python suite. More than the smallest machines have cores would make tests of time unsteady.
const PYTHON_WORKERS: &str = "2";

/// How many nodes serve each account of the suites that are run on several.
const NODES: &str = "3";

/// Runs the Python suite, some of whose tests have clients with the JavaScript SDK too.
pub(crate) fn python(repository: &Repository) -> Result<()> {
    node_modules(repository)?;
    execute(&mut pytest(repository)?)
}

/// Runs all suites with several nodes in the place of each server, and requests sent to them in turn; or the files of the
/// Python suite that are named.
pub(crate) fn on_nodes(repository: &Repository, arguments: &[String]) -> Result<()> {
    node_modules(repository)?;
    execute(pytest(repository)?.args(arguments).env("ARMILLA_TEST_NODES", NODES))?;
    if !arguments.is_empty() {
        return Ok(());
    }
    let server = Server::of_several(repository)?;
    execute(&mut javascript_on(repository, &server)?)?;
    for mut suite in rust_on(repository, &server)?.into_iter().chain(go_on(repository, &server)?) {
        execute(&mut suite)?;
    }
    java_on(repository, &server)?.iter_mut().try_for_each(execute)
}

/// What suites start when they want a server.
struct Server {
    program: PathBuf,
    /// The program itself, where `program` starts several of it.
    of_each: Option<PathBuf>,
}

impl Server {
    fn alone(repository: &Repository) -> Result<Server> {
        Ok(Server { program: repository.server_binary()?, of_each: None })
    }

    fn of_several(repository: &Repository) -> Result<Server> {
        let program = repository.path("conformance/python/cluster_server.py");
        Ok(Server { program, of_each: Some(repository.server_binary()?) })
    }

    fn given_to(&self, suite: &mut Command) {
        suite.env("ARMILLA_BIN", &self.program);
        if let Some(of_each) = &self.of_each {
            suite.env("ARMILLA_CLUSTER_BIN", of_each).env("ARMILLA_TEST_NODES", NODES);
        }
    }
}

/// Returns the Python suite in its own virtual environment.
fn pytest(repository: &Repository) -> Result<Command> {
    let folder = suite(repository, "conformance/python", "requirements.txt")?;
    let environment = folder.join(".venv");
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let list = folder.join("requirements.txt");
    let stamp = environment.join("installed-requirements.txt");
    // The interpreter is a link into the system, which may have moved on.
    if !python.exists() || state(&list, &stamp)? != State::Installed {
        // Without a stamp the environment is whole or the installation was cut short: both are mended by
        // installing. After a change it is made anew, or packages that left the list would stay.
        if !python.exists() || state(&list, &stamp)? == State::Changed {
            tools::require(&[PYTHON])?;
            execute(command("python3", &folder).args(["-m", "venv", "--clear", ".venv"]))?;
        }
        let arguments =
            ["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt"];
        execute(Command::new(&python).current_dir(&folder).args(arguments))?;
        write_stamp(&list, &stamp)?;
    }
    let mut pytest = Command::new(&python);
    // Each worker has servers of its own, and a file's tests stay together.
    pytest.current_dir(&folder).args(["-m", "pytest", "-q", "-n", PYTHON_WORKERS, "--dist", "loadfile"]);
    pytest.env("ARMILLA_BIN", repository.server_binary()?).env("ARMILLA_EPK", repository.epk_binary()?);
    Ok(pytest)
}

/// Runs the JavaScript suite by the script `test` of its package.
pub(crate) fn javascript(repository: &Repository) -> Result<()> {
    execute(&mut javascript_on(repository, &Server::alone(repository)?)?)
}

fn javascript_on(repository: &Repository, server: &Server) -> Result<Command> {
    let mut npm = command("npm", &node_modules(repository)?);
    npm.args(["test", "--silent"]);
    server.given_to(&mut npm);
    Ok(npm)
}

/// Returns the folder of the JavaScript suite, with its packages in it.
fn node_modules(repository: &Repository) -> Result<PathBuf> {
    packages(repository, "conformance/js")
}

/// Returns a folder of the repository with the packages of Node in it that its list names.
pub(crate) fn packages(repository: &Repository, folder: &str) -> Result<PathBuf> {
    let folder = suite(repository, folder, "package-lock.json")?;
    tools::require(&[NODE, NPM])?;
    let list = folder.join("package-lock.json");
    // `npm ci` begins by removing the folder, and the stamp with it.
    let stamp = folder.join("node_modules/.installed-package-lock.json");
    if state(&list, &stamp)? != State::Installed {
        execute(command("npm", &folder).args(["ci", "--no-audit", "--no-fund"]))?;
        write_stamp(&list, &stamp)?;
    }
    Ok(folder)
}

/// Runs the Rust suites, which are workspaces of their own with target folders of their own.
pub(crate) fn rust(repository: &Repository) -> Result<()> {
    rust_on(repository, &Server::alone(repository)?)?.iter_mut().try_for_each(execute)
}

fn rust_on(repository: &Repository, server: &Server) -> Result<Vec<Command>> {
    let suites = ["conformance/rust", "conformance/rust-mongo"].map(|name| {
        let folder = suite(repository, name, "Cargo.toml")?;
        let mut test = repository.cargo();
        test.current_dir(&folder).arg("test").env("CARGO_TARGET_DIR", folder.join("target"));
        server.given_to(&mut test);
        Ok(test)
    });
    suites.into_iter().collect()
}

/// Runs the Go suite, where Go is installed.
pub(crate) fn go(repository: &Repository) -> Result<()> {
    go_on(repository, &Server::alone(repository)?)?.iter_mut().try_for_each(execute)
}

fn go_on(repository: &Repository, server: &Server) -> Result<Option<Command>> {
    let folder = suite(repository, "conformance/go", "go.mod")?;
    if !tools::are_there(&[GO]) {
        return Ok(None);
    }
    let mut go = command("go", &folder);
    go.args(["test", "-count=1", "./..."]);
    server.given_to(&mut go);
    Ok(Some(go))
}

/// Runs the Java suite, where Maven is installed.
pub(crate) fn java(repository: &Repository) -> Result<()> {
    java_on(repository, &Server::alone(repository)?)?.iter_mut().try_for_each(execute)
}

fn java_on(repository: &Repository, server: &Server) -> Result<Option<Command>> {
    let folder = suite(repository, "conformance/java", "pom.xml")?;
    if !tools::are_there(&[JAVA, MAVEN]) {
        return Ok(None);
    }
    let mut maven = command("mvn", &folder);
    maven.args(["-q", "-B", "test"]);
    server.given_to(&mut maven);
    Ok(Some(maven))
}

fn suite(repository: &Repository, folder: &str, list: &str) -> Result<PathBuf> {
    let path = repository.path(folder);
    if !path.join(list).is_file() {
        bail!("there is no suite in {folder}: {list} is missing");
    }
    Ok(path)
}

/// Returns a call of a program in a folder.
pub(crate) fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command
}

/// What a stamp, a copy of the list of packages made after their installation, says.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Exactly the packages of the list are there.
    Installed,
    /// The list was another when they were installed.
    Changed,
    /// No installation was finished.
    Absent,
}

fn state(list: &Path, stamp: &Path) -> Result<State> {
    let wanted = fs::read(list).with_context(|| format!("cannot read {}", list.display()))?;
    Ok(match fs::read(stamp) {
        Ok(present) if present == wanted => State::Installed,
        Ok(_) => State::Changed,
        Err(_) => State::Absent,
    })
}

fn write_stamp(list: &Path, stamp: &Path) -> Result<()> {
    fs::copy(list, stamp).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_follow_the_list() {
        let folder = std::env::temp_dir().join(format!("xtask-stamps-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (list, stamp) = (folder.join("list"), folder.join("stamp"));
        state(&list, &stamp).unwrap_err();
        fs::write(&list, "a==1\n").unwrap();
        assert_eq!(state(&list, &stamp).unwrap(), State::Absent);
        write_stamp(&list, &stamp).unwrap();
        assert_eq!(state(&list, &stamp).unwrap(), State::Installed);
        fs::write(&list, "a==2\n").unwrap();
        assert_eq!(state(&list, &stamp).unwrap(), State::Changed);
        fs::remove_dir_all(&folder).unwrap();
    }
}
