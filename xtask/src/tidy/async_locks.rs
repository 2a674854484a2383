//! Rule: every lock that may be held across an `.await` is told of in `ARCHITECTURE.md`, where it says what is held.
//!
//! Locks of the standard library are never held across one: clippy's `await_holding_lock` sees to that. Those of tokio
//! are made for it, and each is one more thing that everything else may have to wait for.

use super::{Problem, is_test_file};
use crate::repository::Source;

const DOCUMENT: &str = "ARCHITECTURE.md";

/// Locks of tokio.
const LOCKS: [&str; 2] = ["Mutex", "RwLock"];

/// Searches the crates for locks that the document does not link.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let document = sources.iter().find(|source| source.path == DOCUMENT);
    let document = document.map_or("", |source| source.text.as_str());
    let section = document.split("### Concurrency").nth(1).and_then(|rest| rest.split("\n### ").next());
    let section = section.unwrap_or_default();
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.has_extension(&["rs"])) {
        let is_ours = source.path.starts_with("crates/") && source.path.contains("/src/");
        if !is_ours || is_test_file(&source.path) || section.contains(&format!("({})", source.path)) {
            continue;
        }
        let lock = source.lines().find(|(_, line)| names_lock(line));
        if let Some((number, _)) = lock {
            let message =
                "a lock that may be held across an await: tell of it under Concurrency in ARCHITECTURE.md";
            problems.push(Problem::new(source, number, message));
        }
    }
    problems
}

/// Tells whether a line names a lock of tokio.
fn names_lock(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("tokio::sync::") else { return false };
    let names = match rest.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap_or_default(),
        None => rest.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default(),
    };
    names.split(',').any(|name| LOCKS.contains(&name.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn locks_of_tokio_are_found() {
        for (line, expected) in [
            ("use tokio::sync::Mutex;", true),
            ("use tokio::sync::{Notify, RwLock};", true),
            ("    turn: tokio::sync::Mutex<()>,", true),
            ("use tokio::sync::{MutexGuard, Notify};", false),
            ("use tokio::sync::Notify; // Mutex", false),
            ("use std::sync::Mutex;", false),
        ] {
            assert_eq!(names_lock(line), expected, "{line}");
        }
    }

    #[test]
    fn locks_are_told_of() {
        let lock = "x\nuse tokio::sync::Mutex;\n";
        let document =
            "[told](crates/a/src/elsewhere.rs)\n### Concurrency\n[told](crates/a/src/told.rs)\n### Tests\n";
        let files = [
            (DOCUMENT, document),
            ("crates/a/src/told.rs", lock),
            ("crates/a/src/elsewhere.rs", lock),
            ("crates/a/src/b/tests.rs", lock),
            ("crates/a/tests/it/main.rs", lock),
        ];
        let found = findings(check, &files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/elsewhere.rs:2: a lock"), "{found:?}");
    }
}
