//! Scripts with what they are parsed to, or why they are not: the tables of `tests/tables`.
//!
//! A line with `>` is a script (⏎ in it is a new line), the line after it what is expected: `=` and the canonical text
//! of its traversals, or `!`, the kind of the error and its text. `@open` and `@strict` choose the dialect for what
//! follows. `ARMILLA_ACCEPT=1` writes what there is as what is expected; read the difference before keeping it.

#![expect(clippy::unwrap_used, reason = "what cannot be read fails the test")]

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use armilla_gremlin_language::{Dialect, parse, render};
use armilla_gremlin_value::{Bytecode, Value};

/// What scripts of the tables may name.
const BINDINGS: [(&str, &str); 9] = [
    ("x", "1"),
    ("name", "'marko'"),
    ("ids", "['a','b']"),
    ("map", "['k':1]"),
    ("uuid", "UUID('41d2e28a-20a4-4ab0-b379-d810dede3786')"),
    ("date", "datetime('2018-03-21')"),
    ("nothing", "null"),
    ("vertex", "new ReferenceVertex('a','person')"),
    ("day", "'bound'"),
];

fn literal(text: &str) -> Value {
    let script = parse(&format!("g.inject({text})"), &[], Dialect::Open).unwrap();
    script.queries[0].steps[0].arguments[0].clone()
}

/// Parses a script and writes the outcome as a line of a table.
fn outcome(script: &str, bindings: &[(Arc<str>, Value)], dialect: Dialect) -> String {
    match parse(script, bindings, dialect) {
        Ok(script) => {
            let texts: Vec<String> = script.queries.iter().map(render).collect();
            let text = texts.join("; ");
            let again = parse(&text, &[], Dialect::Open).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(plain(&again.queries), plain(&script.queries), "read back: {text}");
            format!("= {text}")
        }
        Err(error) => format!("! {:?}: {}", error.kind, error).replace('\n', "⏎"),
    }
}

/// Writes traversals without positions, to be compared.
fn plain(queries: &[Bytecode]) -> String {
    let text = format!("{queries:?}");
    let mut plain = String::new();
    for (index, part) in text.split("position: Some(Position { ").enumerate() {
        plain.push_str(if index == 0 { part } else { part.split_once("})").unwrap().1 });
    }
    plain
}

#[test]
fn tables() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let bindings: Vec<(Arc<str>, Value)> =
        BINDINGS.iter().map(|(name, text)| (Arc::from(*name), literal(text))).collect();
    let accept = std::env::var_os("ARMILLA_ACCEPT").is_some();
    let (mut scripts, mut wrong) = (0, String::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let table = std::fs::read_to_string(&path).unwrap();
        let mut written = String::new();
        let mut dialect = Dialect::Open;
        let mut lines = table.lines().peekable();
        while let Some(line) = lines.next() {
            writeln!(written, "{line}").unwrap();
            match line {
                "@open" => dialect = Dialect::Open,
                "@strict" => dialect = Dialect::CosmosStrict,
                _ => {}
            }
            let Some(script) = line.strip_prefix("> ") else { continue };
            scripts += 1;
            let actual = outcome(&script.replace('⏎', "\n"), &bindings, dialect);
            let expected = lines.next_if(|next| next.starts_with(['=', '!']));
            writeln!(written, "{actual}").unwrap();
            if expected != Some(actual.as_str()) {
                let expected = expected.unwrap_or("nothing");
                writeln!(wrong, "{}\n> {script}\n  is       {actual}\n  expected {expected}", path.display())
                    .unwrap();
            }
        }
        if accept {
            std::fs::write(&path, written).unwrap();
        }
    }
    assert!(scripts > 300, "{scripts} scripts");
    assert!(accept || wrong.is_empty(), "{wrong}");
}
