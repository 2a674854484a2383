//! Rule: crates depend on each other only along the arrows of `ARCHITECTURE.md`, and what lies inside on
//! nothing that belongs to the edge.
//!
//! Tests may look at more than their crate, but nothing below the APIs is tested through one.

use super::Problem;
use crate::repository::Source;

/// Which of our crates each crate may use. All arrows point down.
pub(super) const ALLOWED: [(&str, &[&str]); 44] = [
    (
        "server",
        &[
            "advisor",
            "api-admin",
            "api-gremlin",
            "api-mongo",
            "api-sql",
            "api-table",
            "backup",
            "client",
            "cluster",
            "demo",
            "engine",
            "env",
            "explorer",
            "kv",
            "kv-embedded",
            "kv-slate",
            "lease",
            "ledger",
            "peer",
            "report",
            "rest-wire",
            "script-worker",
            "transfer",
            "value",
            "workload",
        ],
    ),
    ("transfer", &["client", "report", "env", "value"]),
    ("demo", &["client", "report", "env", "value"]),
    ("workload", &["client", "report", "env", "value"]),
    ("report", &[]),
    ("client", &["launcher", "rest-wire", "env", "value"]),
    ("launcher", &[]),
    ("explorer", &["engine", "rest-wire", "env", "value"]),
    ("api-admin", &["advisor", "engine", "ledger", "rest-wire", "env", "value"]),
    ("advisor", &["engine", "ledger", "profile", "sql", "index", "kv", "env", "value"]),
    ("api-sql", &["engine", "rest-wire", "env", "value"]),
    ("api-table", &["engine", "rest-wire", "env", "value"]),
    (
        "api-gremlin",
        &[
            "engine",
            "env",
            "gremlin-language",
            "gremlin-machine",
            "gremlin-value",
            "gremlin-wire",
            "rest-wire",
            "value",
        ],
    ),
    ("gremlin-machine", &["gremlin-value"]),
    ("gremlin-language", &["gremlin-value"]),
    ("gremlin-wire", &["gremlin-value"]),
    ("gremlin-value", &[]),
    (
        "api-mongo",
        &[
            "engine",
            "env",
            "mongo-expression",
            "mongo-filter",
            "mongo-pipeline",
            "mongo-update",
            "mongo-wire",
            "value",
        ],
    ),
    ("mongo-pipeline", &["mongo-expression", "mongo-filter", "value"]),
    ("mongo-update", &["mongo-expression", "mongo-filter", "value"]),
    ("mongo-filter", &["mongo-expression", "value"]),
    ("mongo-expression", &["value"]),
    ("mongo-wire", &["value"]),
    ("rest-wire", &["value"]),
    (
        "engine",
        &["backup", "container", "governor", "ledger", "query", "script", "index", "kv", "env", "value"],
    ),
    ("query", &["sql", "functions", "index", "value"]),
    ("script-worker", &["script"]),
    ("script", &["value"]),
    ("container", &["governor", "index", "kv", "env", "value"]),
    ("governor", &[]),
    ("ledger", &["sql", "value"]),
    ("profile", &["value"]),
    ("index", &["value"]),
    ("functions", &["value"]),
    ("sql", &[]),
    ("backup", &["kv", "value"]),
    ("kv-embedded", &["kv"]),
    ("kv-slate", &["kv", "lease"]),
    ("cluster", &["env", "lease"]),
    ("peer", &[]),
    ("lease", &["env"]),
    ("kv", &["env"]),
    ("env", &[]),
    ("value", &[]),
];

/// Crates that know nothing of protocols.
pub(super) const INSIDE: [&str; 12] = [
    "value",
    "governor",
    "ledger",
    "profile",
    "index",
    "sql",
    "functions",
    "query",
    "kv",
    "backup",
    "container",
    "engine",
];

/// Families of crates that belong to protocols: these, and those named after them.
const EDGE: [&str; 4] = ["hyper", "http", "serde", "rustls"];

/// Crates that compute and do nothing else: no runtime, no sockets.
pub(super) const PURE: [&str; 8] =
    ["value", "governor", "ledger", "profile", "index", "sql", "functions", "query"];

/// What a pure crate may not use.
const IMPURE: [&str; 3] = ["tokio", "tracing", "ring"];

/// Packages that one crate alone may use, so that the others do not come to lean on them.
const ALONE: [(&str, &str); 5] = [
    ("slatedb", "kv-slate"),
    ("fjall", "kv-embedded"),
    ("lsm-tree", "kv-embedded"),
    ("rquickjs", "script-worker"),
    ("indicatif", "report"),
];

/// The prefix of our packages' names.
pub(super) const PREFIX: &str = "armilla-";

/// Checks the manifests of all crates.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for manifest in sources {
        let name = manifest.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml"));
        let Some(name) = name.filter(|name| !name.contains('/')) else { continue };
        let Some((_, allowed)) = ALLOWED.iter().find(|(from, _)| *from == name) else {
            let message = format!("crate {name} has no arrows, see tidy/arrows.rs");
            problems.push(Problem::new(manifest, 1, message));
            continue;
        };
        for dependency in dependencies(&manifest.text) {
            if let Some(message) = objection(name, allowed, &dependency) {
                problems.push(Problem::new(manifest, dependency.line, message));
            }
        }
    }
    problems
}

/// Says what is wrong about a dependency, if anything is.
fn objection(from: &str, allowed: &[&str], dependency: &Dependency<'_>) -> Option<String> {
    let package = dependency.package;
    match package.strip_prefix(PREFIX) {
        Some(to) if dependency.is_for_tests => {
            let is_above = to == "server" || to.starts_with("api-");
            let is_below = from != "server" && !from.starts_with("api-");
            (is_above && is_below)
                .then(|| format!("{from} -> {to}: not even tests may depend on what is above"))
        }
        Some(to) => (!allowed.contains(&to)).then(|| format!("{from} -> {to} is no arrow of ours")),
        None if ALONE.iter().any(|(alone, owner)| *alone == package && *owner != from) => {
            Some(format!("{from} -> {package}: another crate alone uses it"))
        }
        None if dependency.is_for_tests => None,
        None if INSIDE.contains(&from) && EDGE.iter().any(|edge| is_of_family(package, edge)) => {
            Some(format!("{from} -> {package}: it belongs to the edge, and {from} lies inside"))
        }
        None if PURE.contains(&from) && IMPURE.contains(&package) => {
            Some(format!("{from} -> {package}: {from} only computes"))
        }
        None => None,
    }
}

/// Tells whether a package is `family`, `family-x`, `family_x` or `x-family`.
fn is_of_family(package: &str, family: &str) -> bool {
    package.split(['-', '_']).any(|part| part == family)
}

/// A line of a manifest that names a dependency.
pub(super) struct Dependency<'a> {
    line: usize,
    pub(super) package: &'a str,
    pub(super) is_for_tests: bool,
}

/// Returns what a manifest depends on.
pub(super) fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut found: Vec<Dependency<'_>> = Vec::new();
    // In a section of dependencies each line is one; in the table of one dependency, lines describe it.
    let (mut is_list, mut is_table, mut is_for_tests) = (false, false, false);
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            let section = section.split(']').next().unwrap_or_default().trim();
            is_list = section.ends_with("dependencies");
            let table = section.rsplit_once("dependencies.").filter(|_| !is_list);
            is_table = table.is_some();
            is_for_tests = section.contains("dev-dependencies");
            if let Some((_, name)) = table {
                found.push(Dependency { line: index + 1, package: name.trim_matches('"'), is_for_tests });
            }
        } else if is_list {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default().trim_matches('"');
            let is_name = name.starts_with(|first: char| first.is_ascii_alphanumeric());
            if is_name {
                // A dependency may go by another name than the package.
                let package = line.find("package").and_then(|start| quoted(&line[start..])).unwrap_or(name);
                found.push(Dependency { line: index + 1, package, is_for_tests });
            }
        } else if is_table
            && line.starts_with("package")
            && let (Some(package), Some(last)) = (quoted(line), found.last_mut())
        {
            last.package = package;
        }
    }
    found
}

/// Returns the first text between quotation marks.
fn quoted(line: &str) -> Option<&str> {
    line.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn arrows_point_down() {
        for (position, (from, allowed)) in ALLOWED.iter().enumerate() {
            for to in *allowed {
                let target = ALLOWED.iter().position(|(name, _)| name == to);
                assert!(target.is_some_and(|target| target > position), "{from} -> {to}");
            }
        }
    }

    #[test]
    fn every_form_of_a_dependency_is_read() {
        let manifest = "[package]\nname = \"armilla-kv\"\n\n[dependencies] # all of them\n\
                        bytes.workspace = true\n# armilla-value = \"1\"\n\
                        armilla-container = { path = \"x\" }\ntokio = \"1\"\n\
                        store = { package = \"armilla-index\", path = \"x\" }\n\n\
                        [target.'cfg(unix)'.dependencies]\narmilla-api-sql.workspace = true\n\n\
                        [build-dependencies]\n\"armilla-value\" = \"1\"\n\n\
                        [dependencies.armilla-engine]\npath = \"y\"\n\n\
                        [dependencies.other]\npackage = \"armilla-server\"\n";
        assert_eq!(
            findings(check, &[("crates/kv/Cargo.toml", manifest)]),
            [
                "crates/kv/Cargo.toml:7: kv -> container is no arrow of ours",
                "crates/kv/Cargo.toml:9: kv -> index is no arrow of ours",
                "crates/kv/Cargo.toml:12: kv -> api-sql is no arrow of ours",
                "crates/kv/Cargo.toml:15: kv -> value is no arrow of ours",
                "crates/kv/Cargo.toml:17: kv -> engine is no arrow of ours",
                "crates/kv/Cargo.toml:20: kv -> server is no arrow of ours",
            ]
        );
        assert!(findings(check, &[("bench/Cargo.toml", manifest)]).is_empty(), "only crates are layered");
        assert!(findings(check, &[("crates/kv/fuzz/Cargo.toml", manifest)]).is_empty());
    }

    #[test]
    fn some_packages_are_for_one_crate_alone() {
        for (package, owner) in ALONE {
            for section in ["dependencies", "dev-dependencies"] {
                let manifest = format!("[{section}]\n{package}.workspace = true\n");
                let expected =
                    format!("crates/engine/Cargo.toml:2: engine -> {package}: another crate alone uses it");
                assert_eq!(findings(check, &[("crates/engine/Cargo.toml", &manifest)]), [expected]);
                assert!(findings(check, &[(&format!("crates/{owner}/Cargo.toml"), &manifest)]).is_empty());
            }
        }
    }

    #[test]
    fn unknown_crates_have_no_arrows() {
        let found = findings(check, &[("crates/utils/Cargo.toml", "")]);
        assert_eq!(found, ["crates/utils/Cargo.toml:1: crate utils has no arrows, see tidy/arrows.rs"]);
    }

    #[test]
    fn tests_see_everything_but_what_is_above() {
        let manifest = "[dev-dependencies]\narmilla-kv-embedded.workspace = true\nserde = \"1\"\ntokio = \"1\"\n\
                        armilla-api-sql.workspace = true\n\n[dev-dependencies.armilla-server]\npath = \"x\"\n";
        assert_eq!(
            findings(check, &[("crates/engine/Cargo.toml", manifest)]),
            [
                "crates/engine/Cargo.toml:5: engine -> api-sql: not even tests may depend on what is above",
                "crates/engine/Cargo.toml:7: engine -> server: not even tests may depend on what is above",
            ]
        );
        assert!(findings(check, &[("crates/api-sql/Cargo.toml", manifest)]).is_empty());
    }

    #[test]
    fn the_edge_stays_outside() {
        for package in
            ["hyper", "hyper-util", "http", "http-body", "serde", "serde_json", "rustls", "tokio-rustls"]
        {
            let manifest = format!("[dependencies]\n{package}.workspace = true\n");
            for from in INSIDE {
                let path = format!("crates/{from}/Cargo.toml");
                let expected =
                    format!("{path}:2: {from} -> {package}: it belongs to the edge, and {from} lies inside");
                assert_eq!(findings(check, &[(&path, &manifest)]), [expected]);
            }
            assert!(findings(check, &[("crates/server/Cargo.toml", &manifest)]).is_empty());
        }
        let pure = "[dependencies]\ntokio.workspace = true\nbytes.workspace = true\n";
        assert_eq!(
            findings(check, &[("crates/index/Cargo.toml", pure), ("crates/kv/Cargo.toml", pure)]),
            ["crates/index/Cargo.toml:2: index -> tokio: index only computes"]
        );
    }
}
