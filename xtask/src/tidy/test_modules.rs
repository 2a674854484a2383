//! Rule: no file of an integration test is forgotten. A crate's integration tests are one program,
//! `tests/it/main.rs` with modules, and a file that nobody names there is silently not run.
//!
//! Files directly in `tests` are programs of their own, which cargo finds by itself.

use super::Problem;
use crate::repository::Source;

const FOLDER: &str = "/tests/it/";

/// Checks that every file is named by the module above it.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.has_extension(&["rs"])) {
        let Some((before, inside)) = source.path.split_once(FOLDER) else { continue };
        if inside == "main.rs" || !before.starts_with("crates/") {
            continue;
        }
        let (module, parents) = place(inside);
        let parents: Vec<String> = parents.iter().map(|parent| format!("{before}{FOLDER}{parent}")).collect();
        let is_named = |parent: &Source| parents.contains(&parent.path) && names(&parent.text, module);
        if !sources.iter().any(is_named) {
            let message = format!("the file is not run: {} does not say `mod {module};`", parents[0]);
            problems.push(Problem::new(source, 1, message));
        }
    }
    problems
}

/// Returns the module that a file is, and the files that may declare it.
fn place(inside: &str) -> (&str, Vec<String>) {
    let path = inside.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path.rsplit_once('/') {
        None => (path, vec!["main.rs".to_string()]),
        Some((folder, module)) => (module, vec![format!("{folder}.rs"), format!("{folder}/mod.rs")]),
    }
}

/// Tells whether a text declares a module.
fn names(text: &str, module: &str) -> bool {
    text.lines().map(str::trim).any(|line| {
        let before = line.strip_suffix(';').and_then(|line| line.strip_suffix(&format!("mod {module}")));
        before.is_some_and(|before| !before.contains("//") && (before.is_empty() || before.ends_with(' ')))
    })
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn forgotten_files() {
        let files = [
            (
                "crates/a/tests/it/main.rs",
                "//! Tests.\nmod items;\npub(crate) mod deep;\n// mod forgotten;\n",
            ),
            ("crates/a/tests/it/items.rs", ""),
            ("crates/a/tests/it/forgotten.rs", ""),
            ("crates/a/tests/it/deep/mod.rs", "mod inner;"),
            ("crates/a/tests/it/deep/inner.rs", ""),
            ("crates/a/tests/it/deep/lost.rs", ""),
            ("crates/a/tests/own_program.rs", ""),
            ("crates/a/src/x/tests/fine.rs", ""),
            ("crates/b/tests/it/headless.rs", ""),
        ];
        let message = |path: &str, parent: &str, module: &str| {
            format!("{path}:1: the file is not run: {parent} does not say `mod {module};`")
        };
        assert_eq!(
            findings(check, &files),
            [
                message("crates/a/tests/it/forgotten.rs", "crates/a/tests/it/main.rs", "forgotten"),
                message("crates/a/tests/it/deep/lost.rs", "crates/a/tests/it/deep.rs", "lost"),
                message("crates/b/tests/it/headless.rs", "crates/b/tests/it/main.rs", "headless"),
            ]
        );
    }

    #[test]
    fn declarations() {
        for (text, expected) in [
            ("mod a;", true),
            ("  pub mod a;", true),
            ("#[cfg(unix)] mod a;", true),
            ("// mod a;", false),
            ("mod aa;", false),
            ("mod a {}", false),
            ("xmod a;", false),
        ] {
            assert_eq!(names(text, "a"), expected, "{text}");
        }
    }
}
