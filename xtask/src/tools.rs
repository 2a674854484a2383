//! Tools that do not come with Rust: whether they are there, and what to install when they are not.
//!
//! On a machine of one's own nothing is installed into the system unasked. In CI, as root on Debian, it is. Programs that
//! cargo can build are built into the project's target folder, each version in a folder of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail, ensure};

use crate::repository::{Repository, target_folder};
use crate::steps::execute;

/// A tool, how to see that it works, and the Debian package that has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    name: &'static str,
    program: &'static str,
    probe: &'static [&'static str],
    package: &'static str,
}

/// Python, able to make virtual environments.
pub(crate) const PYTHON: Tool = Tool {
    name: "python3 with venv",
    program: "python3",
    // On Debian `venv` is there without the package, but cannot put pip into what it makes.
    probe: &["-c", "import venv, ensurepip"],
    package: "python3-venv",
};

/// Node.
pub(crate) const NODE: Tool = Tool {
    name: "node 20 or later",
    program: "node",
    probe: &["-e", "process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)"],
    package: "nodejs",
};

/// Node's package manager.
pub(crate) const NPM: Tool = Tool { name: "npm", program: "npm", probe: &["--version"], package: "npm" };

/// Go.
pub(crate) const GO: Tool = Tool { name: "go", program: "go", probe: &["version"], package: "golang-go" };

/// Java's compiler.
pub(crate) const JAVA: Tool = Tool {
    name: "javac 17 or later",
    program: "javac",
    probe: &["--release", "17", "-version"],
    package: "default-jdk-headless",
};

/// Java's package manager.
pub(crate) const MAVEN: Tool = Tool { name: "mvn", program: "mvn", probe: &["-v"], package: "maven" };

/// A browser without a window.
pub(crate) const CHROMIUM: Tool = Tool {
    name: "chromium (or its path in CHROMIUM)",
    program: "chromium",
    probe: &["--version"],
    package: "chromium",
};

/// A program that cargo builds from the registry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CargoTool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

/// Returns a program that cargo builds, which is done if it was not before.
pub(crate) fn cargo_tool(repository: &Repository, tool: CargoTool) -> Result<PathBuf> {
    let root = target_folder()?.join("tools").join(format!("{}-{}", tool.name, tool.version));
    let program = root.join("bin").join(format!("{}{}", tool.name, std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        let mut install = repository.cargo();
        // It is run for seconds: building it without optimizations and symbols is most of what it costs.
        install.args(["install", tool.name, "--version", tool.version, "--locked", "--debug", "--quiet"]);
        install.env("CARGO_PROFILE_DEV_DEBUG", "0").arg("--root").arg(&root);
        execute(&mut install)?;
        ensure!(program.is_file(), "cargo installed {} elsewhere than {}", tool.name, program.display());
    }
    Ok(program)
}

/// Fails unless all tools work, in one line that says what to install.
pub(crate) fn require(tools: &[Tool]) -> Result<()> {
    let mut missing = missing(tools);
    if !missing.is_empty() && may_install() {
        install(&missing);
        missing = self::missing(tools);
    }
    if !missing.is_empty() {
        bail!("{}", complaint(&missing));
    }
    Ok(())
}

/// Returns whether all tools work, and says so where they do not: what needs them is left out then.
pub(crate) fn are_there(tools: &[Tool]) -> bool {
    let missing = missing(tools);
    if !missing.is_empty() {
        // Whether it can be told does not change whether they are there.
        let _ = writeln!(std::io::stdout(), "left out: {}", complaint(&missing));
    }
    missing.is_empty()
}

fn missing(tools: &[Tool]) -> Vec<Tool> {
    tools.iter().filter(|tool| !succeeds(Command::new(tool.program).args(tool.probe))).copied().collect()
}

fn complaint(missing: &[Tool]) -> String {
    let names: Vec<&str> = missing.iter().map(|tool| tool.name).collect();
    let packages: Vec<&str> = missing.iter().map(|tool| tool.package).collect();
    format!("{} missing (on Debian: apt-get install {})", names.join(" and "), packages.join(" "))
}

/// Whether this is CI, on Debian, as root.
fn may_install() -> bool {
    let is_root = || {
        let output = Command::new("id").arg("-u").output();
        output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
    };
    std::env::var_os("CI").is_some_and(|value| value == "true")
        && Path::new("/etc/debian_version").exists()
        && is_root()
}

/// Tries to install packages. Whether that helped, the tools tell themselves.
fn install(tools: &[Tool]) {
    let attempt = || {
        let mut command = Command::new("apt-get");
        command
            .args(["install", "-y", "--no-install-recommends"])
            .args(tools.iter().map(|tool| tool.package));
        command.env("DEBIAN_FRONTEND", "noninteractive").status().is_ok_and(|status| status.success())
    };
    // Fresh images come without lists of packages, and old lists name packages that are gone.
    if !attempt() && Command::new("apt-get").arg("update").status().is_ok_and(|status| status.success()) {
        attempt();
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_say_what_to_install() {
        assert_eq!(
            complaint(&[PYTHON]),
            "python3 with venv missing (on Debian: apt-get install python3-venv)"
        );
        assert_eq!(
            complaint(&[NODE, NPM]),
            "node 20 or later and npm missing (on Debian: apt-get install nodejs npm)"
        );
    }

    #[test]
    fn tools_are_missing_when_they_fail_or_are_not_there() {
        let absent = Tool { name: "absent", program: "/nowhere/to/be-found", probe: &[], package: "p" };
        let cargo = std::env::var("CARGO").unwrap();
        let program: &'static str = cargo.leak();
        let present = Tool { name: "present", program, probe: &["--version"], package: "q" };
        let failing = Tool { name: "failing", program, probe: &["--no-such-option"], package: "r" };
        let names: Vec<&str> = missing(&[absent, present, failing]).iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["absent", "failing"]);
    }
}
