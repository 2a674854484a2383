//! No text panics, whatever it is made of, and what is read can be printed and read again.

use proptest::prelude::*;

use crate::testing::statements;
use crate::{parse, parse_expression};

/// Reads a text in both ways; every error must point into it.
fn check(text: &str) {
    match parse(text) {
        Ok(tree) => assert_eq!(parse(&tree.to_string()).as_ref(), Ok(&tree), "{text}"),
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{text}: {error:?}");
            assert!(text.get(error.span.start..error.span.end).is_some(), "{text}: {error:?}");
        }
    }
    if let Ok(tree) = parse_expression(text) {
        assert_eq!(parse_expression(&tree.to_string()).as_ref(), Ok(&tree), "{text}");
    }
}

/// What the language is made of, and a few things it is not made of.
const PIECES: &[&str] = &[
    "SELECT",
    "VALUE",
    "DISTINCT",
    "TOP",
    "FROM",
    "JOIN",
    "IN",
    "WHERE",
    "GROUP",
    "BY",
    "ORDER",
    "RANK",
    "ASC",
    "DESC",
    "OFFSET",
    "LIMIT",
    "AS",
    "AND",
    "OR",
    "NOT",
    "LIKE",
    "ESCAPE",
    "BETWEEN",
    "EXISTS",
    "ARRAY",
    "ALL",
    "LET",
    "udf",
    "undefined",
    "null",
    "true",
    "NaN",
    "Infinity",
    "LEFT",
    "CASE",
    "c",
    "x",
    "f",
    "@p",
    "1",
    "0",
    "1.5",
    ".5",
    "1e5",
    "0xF",
    "9223372036854775808",
    "'s'",
    "\"t\"",
    "'!'",
    "'\\u12",
    "'",
    "*",
    "+",
    "-",
    "--",
    "/",
    "%",
    "|",
    "||",
    "&",
    "^",
    "~",
    "<<",
    ">>",
    ">>>",
    "=",
    "!=",
    "<",
    ">=",
    "??",
    "?",
    ":",
    ".",
    ",",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\n",
    "é",
    "😀",
    ";",
    "\\",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_pieces(
        pieces in prop::collection::vec((prop::sample::select(PIECES), any::<bool>()), 0..40)
    ) {
        let text: String =
            pieces.iter().flat_map(|(piece, apart)| [*piece, if *apart { " " } else { "" }]).collect();
        check(&text);
        check(&format!("SELECT {text}"));
        check(&format!("SELECT * FROM c WHERE {text}"));
    }

    #[test]
    fn mutated_statements(
        statement in prop::sample::select(statements()),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..12_usize, prop::sample::select(PIECES)),
            1..4,
        ),
    ) {
        let mut text = statement.to_owned();
        for (place, removed, inserted) in edits {
            let characters: Vec<char> = text.chars().collect();
            let start = place.index(characters.len() + 1);
            let end = (start + removed).min(characters.len());
            text = characters[..start].iter().copied()
                .chain(inserted.chars())
                .chain(characters[end..].iter().copied())
                .collect();
        }
        check(&text);
    }

    #[test]
    fn cut_statements(statement in prop::sample::select(statements()), place in any::<prop::sample::Index>()) {
        let places: Vec<usize> = statement.char_indices().map(|(byte, _)| byte).collect();
        let (head, tail) = statement.split_at(places[place.index(places.len())]);
        check(head);
        check(tail);
    }
}
