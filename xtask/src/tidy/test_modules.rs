//! Rule: no file of an integration test is forgotten. A crate's integration tests are one program,
//! `tests/it/main.rs` with modules, and a file that nobody names there is silently not run.

use super::Problem;
use crate::repository::Source;

const FOLDER: &str = "/tests/it/";

/// Checks that `main.rs` names every file beside it, and that there is no second program.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in
        sources.iter().filter(|source| source.has_extension("rs") && source.path.starts_with("crates/"))
    {
        if let Some((before, file)) = source.path.split_once(FOLDER) {
            let module = file.trim_end_matches(".rs");
            if module == "main" || module.contains('/') {
                continue;
            }
            let main = format!("{before}{FOLDER}main.rs");
            let is_named = sources.iter().find(|source| source.path == main).is_some_and(|main| {
                main.text
                    .lines()
                    .any(|line| line.trim_start_matches("pub ").trim() == format!("mod {module};"))
            });
            if !is_named {
                problems.push(Problem::new(
                    source,
                    1,
                    format!("the file is not run: {main} does not name it"),
                ));
            }
        } else if source.folder().ends_with("/tests") && !source.folder().contains("/src/") {
            problems.push(Problem::new(
                source,
                1,
                "integration tests are one program: move the file to tests/it",
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn forgotten_files() {
        let files = [
            ("crates/a/tests/it/main.rs", "//! Tests.\nmod items;\n"),
            ("crates/a/tests/it/items.rs", ""),
            ("crates/a/tests/it/forgotten.rs", ""),
            ("crates/a/tests/lonely.rs", ""),
            ("crates/a/src/x/tests/fine.rs", ""),
        ];
        assert_eq!(
            findings(check, &files),
            [
                "crates/a/tests/it/forgotten.rs:1: the file is not run: crates/a/tests/it/main.rs does not name it",
                "crates/a/tests/lonely.rs:1: integration tests are one program: move the file to tests/it",
            ]
        );
    }
}
