//! Rule: nothing is left unfinished on the quiet. What is missing has a row in a COMPAT.md; what has to wait
//! for something says for what, and names the record in `docs/decisions` that decided so.

use super::Problem;
use crate::repository::Source;

/// The word that may stand with a reason. It and its like are in two parts here, so that this file does
/// not contain them.
const LATER: &str = concat!("TO", "DO");

/// Words that may not stand at all.
const WORDS: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];

/// What may not stand in Rust. A test that is left out for a reason says it: `#[ignore = "..."]`.
const RUST: [&str; 3] = [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ig", "nore]")];

/// Files in which the words are searched for.
const EXTENSIONS: [&str; 8] = ["rs", "md", "toml", "py", "js", "mjs", "ts", "sh"];

/// Searches for the words.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.has_extension(&EXTENSIONS)) {
        for (number, line) in source.lines() {
            let mut report = |message: String| problems.push(Problem::new(source, number, message));
            if let Some(word) = WORDS.iter().find(|word| after_word(line, word).next().is_some()) {
                report(format!("{word}: do it, or write down why not"));
            }
            if let Some(call) =
                RUST.iter().find(|call| source.has_extension(&["rs"]) && line.contains(**call))
            {
                report(format!("{call}: finish it, or leave it out"));
            }
            for rest in after_word(line, LATER) {
                match decision(rest) {
                    None => report(format!("write `{LATER}(0007): once ...`, with the number of a decision")),
                    Some(number) if !is_decided(sources, number) => {
                        report(format!("{LATER}({number}): there is no docs/decisions/{number}-*.md"));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    problems
}

/// Returns what follows each occurrence of a whole word.
fn after_word<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).filter_map(move |(start, _)| {
        let rest = &line[start + word.len()..];
        (!line[..start].ends_with(is_part) && !rest.starts_with(is_part)).then_some(rest)
    })
}

/// Returns the number of the decision in `(0007): once ...`.
fn decision(rest: &str) -> Option<&str> {
    let (number, reason) = rest.strip_prefix('(')?.split_once("): once ")?;
    let is_number = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !reason.trim().is_empty()).then_some(number)
}

fn is_decided(sources: &[Source], number: &str) -> bool {
    let start = format!("docs/decisions/{number}-");
    sources.iter().any(|source| source.path.starts_with(&start))
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn words_are_found() {
        for word in WORDS {
            let text = format!("fine\n// {word}: later\nlet {word}_LIST = 1;\n");
            let found = findings(check, &[("a.rs", &text), ("a.bin", &text)]);
            assert_eq!(found, [format!("a.rs:2: {word}: do it, or write down why not")]);
        }
    }

    #[test]
    fn unfinished_rust_is_found() {
        for call in RUST {
            let text = format!("x\n    {call}\n#[ignore = \"a reason\"]\n");
            let found = findings(check, &[("a.rs", &text), ("a.md", &text)]);
            assert_eq!(found, [format!("a.rs:2: {call}: finish it, or leave it out")]);
        }
    }

    #[test]
    fn what_waits_says_for_what() {
        for (rest, is_fine) in [
            ("(0007): once queries are there", true),
            ("(0008): once queries are there", false),
            ("(7): once queries are there", false),
            ("(abcd): once queries are there", false),
            ("(0007): once ", false),
            ("(0007): later", false),
            (": later", false),
            ("", false),
            ("S are plural", true),
        ] {
            let text = format!("// {LATER}{rest}\n");
            let files = [("a.rs", text.as_str()), ("docs/decisions/0007-x.md", "")];
            assert_eq!(findings(check, &files).is_empty(), is_fine, "{text}");
        }
    }
}
