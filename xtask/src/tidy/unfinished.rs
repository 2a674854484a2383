//! Rule: nothing is left unfinished in a comment. What is missing has a row in a COMPAT.md.

use super::Problem;
use crate::repository::Source;

/// The words, in two parts so that this file does not contain them.
const WORDS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Files in which the words are searched for.
const EXTENSIONS: [&str; 8] = ["rs", "md", "toml", "py", "js", "mjs", "ts", "sh"];

/// Searches for the words.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| EXTENSIONS.iter().any(|end| source.has_extension(end))) {
        for (index, line) in source.text.lines().enumerate() {
            if let Some(word) = WORDS.iter().find(|word| contains_word(line, word)) {
                problems.push(Problem::new(
                    source,
                    index + 1,
                    format!("{word}: do it, or write down why not"),
                ));
            }
        }
    }
    problems
}

fn contains_word(line: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(start, _)| {
        !line[..start].ends_with(is_part) && !line[start + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn words_are_found() {
        let text = format!("fine\n// {}: later\nlet {}LIST = 1;\n", WORDS[0], WORDS[0]);
        let found = findings(check, &[("a.rs", &text), ("a.bin", &text)]);
        assert_eq!(found, [format!("a.rs:2: {}: do it, or write down why not", WORDS[0])]);
    }
}
