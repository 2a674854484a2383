//! Rule: tests do not sleep, they move a simulated clock. One that has to wait for the machine says why, on the line or on
//! the one above.
//!
//! Left out are the tests of what is made of processes, disks and threads, which have no other way to wait.

use super::{Problem, is_test_file};
use crate::repository::Source;

/// Where tests may sleep without a word, and what they wait for.
const REAL: [(&str, &str); 6] = [
    ("crates/server/", "processes"),
    ("crates/kv-embedded/", "the disk, and threads that write to it"),
    ("crates/kv-slate/", "threads that write to object stores"),
    ("crates/engine/", "threads that block"),
    ("testing/", "processes"),
    ("bench/", "processes"),
];

/// How a sleep looks. In two parts, so that this file has none.
const SLEEPS: [&str; 2] = [concat!("thread::sl", "eep("), concat!("time::sl", "eep(")];

/// The line behind which a file has nothing but tests.
const TESTS: &str = "mod tests {";

/// Searches tests for sleeps.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.has_extension(&["rs"])) {
        if REAL.iter().any(|(start, _)| source.path.starts_with(start)) {
            continue;
        }
        let mut is_test = is_test_file(&source.path);
        let mut before = "";
        for (number, line) in source.lines() {
            is_test |= line == TESTS;
            let is_told = line.contains("//") || before.trim_start().starts_with("//");
            if is_test && !is_told && SLEEPS.iter().any(|sleep| line.contains(sleep)) {
                problems.push(Problem::new(
                    source,
                    number,
                    "a test sleeps: move a clock, or say why it must",
                ));
            }
            before = line;
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn sleeps_of_tests_say_why() {
        for sleep in SLEEPS {
            let found = |path: &str, text: &str| findings(check, &[(path, text)]);
            let bare = format!("fn f() {{\n    {sleep}x);\n}}\n");
            let message = "a test sleeps: move a clock, or say why it must";
            for path in ["crates/a/tests/it/main.rs", "crates/a/src/b/tests.rs", "crates/a/src/b_tests.rs"] {
                assert_eq!(found(path, &bare), [format!("{path}:2: {message}")]);
            }
            assert!(found("crates/a/src/b.rs", &bare).is_empty(), "what is no test may wait");
            let inline = format!("#[cfg(test)]\n{TESTS}\n{bare}}}\n");
            assert_eq!(found("crates/a/src/b.rs", &inline), [format!("crates/a/src/b.rs:4: {message}")]);
            for told in [format!("// Why.\n{sleep}x);\n"), format!("{sleep}x); // Why.\n")] {
                assert!(found("crates/a/tests/it/main.rs", &told).is_empty(), "{told}");
            }
            for (start, _) in REAL {
                assert!(found(&format!("{start}tests/it/main.rs"), &bare).is_empty());
            }
        }
    }
}
