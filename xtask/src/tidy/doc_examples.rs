//! Rule: a block in a doc comment says that it is text. Examples that compile belong into tests: the step `unit` does not
//! look for them in comments, which would take as long as compiling every crate once more.

use super::Problem;
use crate::repository::Source;

/// How a block begins, and ends.
const FENCE: &str = "```";

/// What a block is that nobody runs.
const TEXT: &str = "text";

/// Searches doc comments for code.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.has_extension(&["rs"])) {
        let mut is_open = false;
        for (number, line) in source.lines() {
            let line = line.trim_start();
            let doc = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"));
            let Some(kind) = doc.and_then(|doc| doc.trim_start().strip_prefix(FENCE)) else { continue };
            is_open = !is_open;
            if is_open && kind != TEXT {
                problems.push(Problem::new(source, number, "a block of a doc comment is not marked as text"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn blocks_of_doc_comments_are_text() {
        let message = "a block of a doc comment is not marked as text";
        for mark in ["//!", "///", "    ///"] {
            let block = |kind: &str| format!("{mark} {FENCE}{kind}\n{mark} a\n{mark} {FENCE}\n");
            assert!(findings(check, &[("a.rs", &block(TEXT).repeat(2))]).is_empty());
            for kind in ["", "rust", "text,ignore"] {
                assert_eq!(findings(check, &[("a.rs", &block(kind))]), [format!("a.rs:1: {message}")]);
            }
        }
        assert!(findings(check, &[("a.rs", "// ```\n"), ("a.md", "/// ```\n")]).is_empty());
    }
}
