//! Rule: comments say which caller, reader, writer or thread they mean, and have no word for just any person.
//!
//! Comments only: an item of a test may have any name, and messages that clients see stay as they are.

use super::Problem;
use crate::repository::Source;

/// The crates that hold to it, with their tests.
const CRATES: [&str; 17] = [
    "advisor",
    "backup",
    "container",
    "engine",
    "env",
    "functions",
    "governor",
    "index",
    "kv",
    "kv-embedded",
    "ledger",
    "profile",
    "query",
    "script",
    "script-worker",
    "sql",
    "value",
];

/// Words that leave open who is meant.
const WORDS: [&str; 4] = ["whoever", "nobody", "somebody", "anybody"];

/// Searches the comments of these crates.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let held = |source: &&Source| source.has_extension(&["rs"]) && is_held(&source.path);
    for source in sources.iter().filter(held) {
        for (number, line) in source.lines() {
            let Some(comment) = comment(line) else { continue };
            let comment = comment.to_ascii_lowercase();
            let mut words = comment.split(|character: char| !character.is_ascii_alphanumeric());
            if let Some(word) = words.find(|word| WORDS.contains(word)) {
                let message = format!("{word}: say which caller, reader, writer or thread is meant");
                problems.push(Problem::new(source, number, message));
            }
        }
    }
    problems
}

fn is_held(path: &str) -> bool {
    let name = path.strip_prefix("crates/").and_then(|path| path.split('/').next());
    name.is_some_and(|name| CRATES.contains(&name))
}

/// Returns the comment of a line. Slashes without a space before them are part of an address, not of a comment.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start();
    if text.starts_with("//") { Some(text) } else { text.split_once(" //").map(|(_, comment)| comment) }
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn words_are_found_in_comments_of_the_crates_that_hold_to_it() {
        for (path, text, is_fine) in [
            ("crates/engine/src/a.rs", "    // Nobody waits.\n", false),
            ("crates/kv-embedded/src/a.rs", "//! For whoever copies it.\n", false),
            ("crates/kv/tests/it/a.rs", "    /// It is anybody's.\n", false),
            ("crates/env/src/a.rs", "let a = 1; // as somebody said\n", false),
            ("crates/engine/src/a.rs", "    // No caller waits.\n", true),
            ("crates/engine/src/a.rs", "// nobody_waits\n", false),
            ("crates/engine/src/a.rs", "// NobodyWaits\n", true),
            ("crates/engine/tests/it/a.rs", "delete(\"nobody\"), \"http://nobody\"\n", true),
            ("crates/engine/README.md", "// nobody\n", true),
            ("crates/server/src/a.rs", "// nobody\n", true),
            ("xtask/src/a.rs", "// nobody\n", true),
        ] {
            assert_eq!(findings(check, &[(path, text)]).is_empty(), is_fine, "{path}: {text}");
        }
    }

    #[test]
    fn a_finding_says_where_and_what() {
        let found = findings(check, &[("crates/sql/src/a.rs", "fn f() {}\n// Whoever asks.\n")]);
        let message = "whoever: say which caller, reader, writer or thread is meant";
        assert_eq!(found, [format!("crates/sql/src/a.rs:2: {message}")]);
    }

    #[test]
    fn every_crate_of_the_list_exists() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let missing: Vec<&str> = CRATES.into_iter().filter(|name| !folder.join(name).is_dir()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
