//! Rule: crates depend on each other only along the arrows of `ARCHITECTURE.md`, and the pure ones on no
//! runtime.
//!
//! What tests depend on is not restricted: a test may look at more than its crate.

use super::Problem;
use crate::repository::Source;

/// Which of our crates each crate may use. All arrows point down.
const ALLOWED: [(&str, &[&str]); 17] = [
    (
        "server",
        &[
            "api-sql",
            "api-table",
            "api-mongo",
            "api-gremlin",
            "explorer",
            "engine",
            "env",
            "kv",
            "kv-embedded",
            "kv-slate",
        ],
    ),
    ("api-sql", &["engine", "index", "value"]),
    ("api-table", &["engine", "index", "value"]),
    ("api-mongo", &["engine", "index", "query", "value"]),
    ("api-gremlin", &["engine", "index", "query", "value"]),
    ("explorer", &[]),
    ("engine", &["container", "query", "script", "index", "kv", "env", "value"]),
    ("container", &["index", "kv", "env", "value"]),
    ("query", &["sql", "index", "value"]),
    ("script", &["env", "value"]),
    ("index", &["value"]),
    ("sql", &["value"]),
    ("kv", &["env"]),
    ("kv-embedded", &["kv"]),
    ("kv-slate", &["kv"]),
    ("env", &[]),
    ("value", &[]),
];

/// Crates that compute and do nothing else: no runtime, no sockets.
const PURE: [&str; 4] = ["value", "sql", "index", "query"];

/// What a pure crate may not use.
const IMPURE: [&str; 4] = ["tokio", "hyper", "tracing", "ring"];

/// The prefix of our packages' names.
const PREFIX: &str = "armilla-";

/// Checks the manifests of all crates.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for manifest in sources {
        let name = manifest.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml"));
        let Some(name) = name.filter(|name| !name.contains('/')) else { continue };
        let Some((_, allowed)) = ALLOWED.iter().find(|(from, _)| *from == name) else {
            problems.push(Problem::new(
                manifest,
                1,
                format!("crate {name} has no arrows, see tidy/arrows.rs"),
            ));
            continue;
        };
        for (line, dependency) in dependencies(&manifest.text) {
            match dependency.strip_prefix(PREFIX) {
                Some(to) if !allowed.contains(&to) => {
                    problems.push(Problem::new(manifest, line, format!("{name} may not depend on {to}")));
                }
                None if PURE.contains(&name) && IMPURE.contains(&dependency) => {
                    let message = format!("{name} is pure and may not depend on {dependency}");
                    problems.push(Problem::new(manifest, line, message));
                }
                _ => {}
            }
        }
    }
    problems
}

/// Returns the names of what a manifest depends on, other than for tests, with their lines.
fn dependencies(manifest: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            is_inside = section.ends_with("dependencies") && !section.ends_with("dev-dependencies");
            // A dependency may have a table of its own.
            if let Some((kind, name)) = section.rsplit_once("dependencies.")
                && !kind.ends_with("dev-")
            {
                found.push((index + 1, name));
            }
        } else if is_inside && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default().trim_matches('"');
            if !name.is_empty() {
                found.push((index + 1, name));
            }
        }
    }
    found
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
    fn manifests() {
        let manifest = "[package]\nname = \"armilla-kv\"\n\n[dependencies]\narmilla-env.workspace = true\n\
                        # armilla-query = 1\narmilla-container = { path = \"x\" }\ntokio = \"1\"\n\n\
                        [dev-dependencies]\narmilla-server.workspace = true\n\n\
                        [target.'cfg(unix)'.dependencies]\narmilla-sql.workspace = true\n\n\
                        [dependencies.armilla-engine]\npath = \"y\"\n\n[dev-dependencies.armilla-query]\n";
        assert_eq!(
            findings(check, &[("crates/kv/Cargo.toml", manifest)]),
            [
                "crates/kv/Cargo.toml:7: kv may not depend on container",
                "crates/kv/Cargo.toml:14: kv may not depend on sql",
                "crates/kv/Cargo.toml:16: kv may not depend on engine",
            ]
        );
        let pure = "[dependencies]\ntokio.workspace = true\narmilla-value.workspace = true\n";
        assert_eq!(
            findings(check, &[("crates/index/Cargo.toml", pure)]),
            ["crates/index/Cargo.toml:2: index is pure and may not depend on tokio"]
        );
        assert_eq!(findings(check, &[("crates/utils/Cargo.toml", "")]).len(), 1);
        assert!(findings(check, &[("bench/Cargo.toml", manifest)]).is_empty());
    }
}
