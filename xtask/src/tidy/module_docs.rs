//! Rule: every Rust file begins by saying what it is for.
//!
//! Files of unit tests may leave it out: they are for testing the file beside them.

use super::Problem;
use crate::repository::Source;

/// Checks the first line of every Rust file.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let is_undocumented = |source: &&Source| {
        let first = source.text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!"));
        !first.is_some_and(|line| line.starts_with("//!"))
    };
    let files = sources.iter().filter(|source| source.has_extension(&["rs"]) && !is_unit_test(source));
    let undocumented = files.filter(is_undocumented);
    undocumented.map(|source| Problem::new(source, 1, "the file does not say what it is for (//!)")).collect()
}

/// Tells whether a file is a module of unit tests, by its place.
fn is_unit_test(source: &Source) -> bool {
    let Some((_, inside)) = source.path.split_once("/src/") else { return false };
    inside == "tests.rs"
        || inside.ends_with("/tests.rs")
        || inside.ends_with("_tests.rs")
        || inside.starts_with("tests/")
        || inside.contains("/tests/")
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn first_lines() {
        for (path, text, is_fine) in [
            ("crates/a/src/a.rs", "//! Good.\nfn f() {}\n", true),
            ("crates/a/src/a.rs", "\n#![deny(x)]\n//! Good.\n", true),
            ("crates/a/src/a.rs", "// Not a doc.\n//! Too late.\n", false),
            ("crates/a/src/a.rs", "/// Of an item.\nfn f() {}\n", false),
            ("crates/a/src/a.rs", "", false),
            ("crates/a/a.md", "no Rust", true),
            ("crates/a/src/tests.rs", "use x;", true),
            ("crates/a/src/b/tests.rs", "use x;", true),
            ("crates/a/src/b_tests.rs", "use x;", true),
            ("crates/a/src/tests/items.rs", "use x;", true),
            ("crates/a/src/b/tests/items.rs", "use x;", true),
            ("crates/a/src/contests.rs", "use x;", false),
            ("crates/a/tests/it/main.rs", "use x;", false),
            ("crates/a/tests/tests.rs", "use x;", false),
        ] {
            assert_eq!(findings(check, &[(path, text)]).is_empty(), is_fine, "{path} {text:?}");
        }
    }
}
