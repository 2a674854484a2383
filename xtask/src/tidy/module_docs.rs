//! Rule: every Rust file begins by saying what it is for.

use super::Problem;
use crate::repository::Source;

/// Checks the first line of every Rust file.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let is_undocumented = |source: &&Source| {
        let first = source.text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!"));
        source.has_extension("rs") && !first.is_some_and(|line| line.starts_with("//!"))
    };
    let undocumented = sources.iter().filter(is_undocumented);
    undocumented.map(|source| Problem::new(source, 1, "the file does not say what it is for (//!)")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn first_lines() {
        let files = [
            ("a.rs", "//! Good.\nfn f() {}\n"),
            ("b.rs", "\n#![deny(x)]\n//! Good.\n"),
            ("c.rs", "// Not a doc.\n//! Too late.\n"),
            ("d.rs", ""),
            ("e.md", "no Rust"),
        ];
        let message = "the file does not say what it is for (//!)";
        assert_eq!(findings(check, &files), [format!("c.rs:1: {message}"), format!("d.rs:1: {message}")]);
    }
}
