//! Rule: a row of a COMPAT.md that claims something names the tests that show it, and they exist.
//!
//! The tables that make claims have the columns `Status` (yes, partial or no) and `Test`. Tests are named
//! in backticks by where they live:
//!
//! ```text
//! name, module::name     a unit test of the crate that the COMPAT.md lies in
//! test_x.py::name        a function in conformance/python; parameters in brackets are left aside
//! x.test.mjs "title"     a test in conformance/js
//! x.rs::name             a test in conformance/rust
//! subject/x.qt           a file of queries in conformance/queries
//! ```

use super::Problem;
use crate::repository::Source;

/// Lines above a function among which its attributes are looked for.
const ATTRIBUTE_LINES_MAX: usize = 8;

/// Checks every row of every COMPAT.md.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.name() == "COMPAT.md") {
        let mut table = Table::Outside;
        for (line, text) in source.lines() {
            let Some(row) = text.trim().strip_prefix('|') else {
                table = Table::Outside;
                continue;
            };
            let cells = cells(row);
            match table {
                Table::Outside => {
                    table = heading(&cells);
                    if matches!(table, Table::Unproven) {
                        problems.push(Problem::new(source, line, "a table of claims has no column Test"));
                    }
                }
                Table::Claims { status, test } if !is_rule(row) => {
                    let cell = |index: usize| cells.get(index).map_or("", String::as_str);
                    for message in row_problems(sources, source, cell(status), cell(test)) {
                        problems.push(Problem::new(source, line, message));
                    }
                }
                Table::Claims { .. } | Table::Unproven | Table::Other => {}
            }
        }
    }
    problems
}

/// The table that a line stands in, by its heading.
enum Table {
    /// The line stands in no table.
    Outside,
    /// It claims things and names tests, in these columns.
    Claims { status: usize, test: usize },
    /// It claims things and names no tests.
    Unproven,
    /// It claims nothing.
    Other,
}

fn heading(cells: &[String]) -> Table {
    let column = |name: &str| cells.iter().position(|cell| cell.eq_ignore_ascii_case(name));
    match (column("status"), column("test").or_else(|| column("tests"))) {
        (Some(status), Some(test)) => Table::Claims { status, test },
        (Some(_), None) => Table::Unproven,
        (None, _) => Table::Other,
    }
}

/// Tells whether a row is the line below the heading.
fn is_rule(row: &str) -> bool {
    row.chars().all(|character| matches!(character, '|' | '-' | ':' | ' '))
}

fn row_problems(sources: &[Source], compat: &Source, status: &str, test: &str) -> Vec<String> {
    let names: Vec<&str> =
        test.split('`').skip(1).step_by(2).map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut messages = Vec::new();
    match status {
        "yes" | "partial" if names.is_empty() => {
            messages.push("the row claims something and names no test".to_string());
        }
        "yes" | "partial" | "no" => {}
        _ => messages.push(format!("the status {status:?} is none of yes, partial, no")),
    }
    let missing = names.into_iter().filter(|name| !exists(sources, compat.folder(), name));
    messages.extend(missing.map(|name| format!("there is no test {name}")));
    messages
}

/// Splits a row into its cells; a `\|` is part of a cell.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut characters = row.chars().peekable();
    while let Some(mut character) = characters.next() {
        if character == '|' {
            cells.push(String::new());
            continue;
        }
        if character == '\\' && characters.peek() == Some(&'|') {
            characters.next();
            character = '|';
        }
        if let Some(cell) = cells.last_mut() {
            cell.push(character);
        }
    }
    cells.iter().map(|cell| cell.trim().to_string()).collect()
}

/// Tells whether a named test is there. `own` is the folder of the crate.
fn exists(sources: &[Source], own: &str, name: &str) -> bool {
    let in_file = |suite: &str, file: &str, is_there: &dyn Fn(&str) -> bool| {
        let is_named = |source: &&Source| {
            source.path.strip_prefix(suite).is_some_and(|inside| inside.ends_with(&format!("/{file}")))
        };
        sources.iter().filter(is_named).any(|source| is_there(&source.text))
    };
    if name.ends_with(".qt") {
        let path = format!("conformance/queries/{name}");
        let has_case =
            |text: &str| ["\nquery", "\nerror", "\nexplain"].iter().any(|word| text.contains(word));
        return sources.iter().any(|source| source.path == path && has_case(&source.text));
    }
    if let Some((file, title)) = name.split_once(" \"") {
        let title = title.strip_suffix('"').unwrap_or(title);
        return in_file("conformance/js", file, &|text| has_titled_test(text, title));
    }
    match name.rsplit_once("::") {
        Some((file, test)) if file.ends_with(".py") => {
            // A parametrized test is named without its parameters in the source.
            let test = test.split('[').next().unwrap_or(test);
            in_file("conformance/python", file, &|text| has_python_test(text, test))
        }
        Some((file, test)) if file.ends_with(".rs") => {
            in_file("conformance/rust", file, &|text| has_rust_test(text, test))
        }
        split => {
            let test = split.map_or(name, |(_, test)| test);
            let is_own = |source: &&Source| {
                source.has_extension(&["rs"])
                    && source.path.strip_prefix(own).is_some_and(|inside| inside.starts_with('/'))
            };
            sources.iter().filter(is_own).any(|source| has_rust_test(&source.text, test))
        }
    }
}

/// Tells whether a call begins with this title.
fn has_titled_test(text: &str, title: &str) -> bool {
    ['"', '\'', '`'].iter().any(|quote| {
        let literal = format!("{quote}{title}{quote}");
        text.match_indices(&literal).any(|(start, _)| text[..start].trim_end().ends_with('('))
    })
}

fn has_python_test(text: &str, name: &str) -> bool {
    // Pytest runs nothing of another name.
    name.starts_with("test_") && text.contains(&format!("def {name}("))
}

/// Tells whether there is a function of this name with a test's attribute.
fn has_rust_test(text: &str, name: &str) -> bool {
    let function = format!("fn {name}(");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.iter().enumerate().filter(|(_, line)| line.contains(&function)).any(|(index, _)| {
        let above = lines[..index].iter().rev().take(ATTRIBUTE_LINES_MAX);
        let mut attached = above.take_while(|line| !line.is_empty() && !line.starts_with('}'));
        attached.any(|line| line.starts_with("#[") && line.contains("test"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    const RUST: &str = "#[test]\nfn creates() {}\n\n#[tokio::test(start_paused = true)]\n/// Why.\n\
                        async fn reads() {}\n\nfn helper() {}\n";

    #[test]
    fn claims_need_tests_that_exist() {
        let table = "# Compat\n\n| Feature | Status | Test | Note |\n|---|---|:-:|---|\n\
                     | create | yes | `items::creates`, `test_items.py::test_create[a]` | |\n\
                     | read \\| head | partial | `reads`, `items.test.mjs \"reads an item\"` | |\n\
                     | sdk | yes | `items.rs::creates` | |\n\
                     | nothing | yes | | |\n\
                     | absent | no | | later |\n\
                     | refused | no | `vanished` | |\n\
                     | odd | mostly | `creates` | |\n\n\
                     | Header | Reason |\n|---|---|\n| `x-ms-y` | always |\n\n\
                     | Feature | Status |\n|---|---|\n| x | yes |\n";
        let files = [
            ("crates/api-sql/COMPAT.md", table),
            ("crates/api-sql/src/items/tests.rs", RUST),
            ("conformance/python/test_items.py", "def test_create(x):\n"),
            ("conformance/js/test/items.test.mjs", "test(\n  'reads an item', () => {})"),
            ("conformance/rust/tests/it/items.rs", RUST),
        ];
        assert_eq!(
            findings(check, &files),
            [
                "crates/api-sql/COMPAT.md:8: the row claims something and names no test",
                "crates/api-sql/COMPAT.md:10: there is no test vanished",
                "crates/api-sql/COMPAT.md:11: the status \"mostly\" is none of yes, partial, no",
                "crates/api-sql/COMPAT.md:17: a table of claims has no column Test",
            ]
        );
    }

    #[test]
    fn tests_are_looked_for_where_they_are_said_to_be() {
        let files = [
            ("crates/api-sql/src/tests.rs", RUST),
            ("crates/api-sql-more/src/tests.rs", "#[test]\nfn elsewhere() {}\n"),
            ("conformance/python/test_a.py", "async def test_a():\ndef fixture():\n"),
            ("conformance/python/test_b.py", "def test_b():\n"),
            ("conformance/js/test/a.test.mjs", "notYet(\"a\", f); const b = \"b\"; // \"c\"\n"),
            ("conformance/js/lib/b.test.mjs", "test(`d`, f)"),
            ("conformance/rust/tests/it/a.rs", RUST),
        ];
        for (name, expected) in [
            ("creates", true),
            ("deep::inside::creates", true),
            ("reads", true),
            ("helper", false),
            ("create", false),
            ("elsewhere", false),
            ("test_b", false),
            ("test_a.py::test_a", true),
            ("test_a.py::test_a[x-1]", true),
            ("test_a.py::fixture", false),
            ("test_a.py::test_b", false),
            ("a.py::test_a", false),
            ("a.test.mjs \"a\"", true),
            ("a.test.mjs \"b\"", false),
            ("a.test.mjs \"c\"", false),
            ("a.test.mjs \"d\"", false),
            ("b.test.mjs \"d\"", true),
            ("a.rs::creates", true),
            ("a.rs::helper", false),
            ("b.rs::creates", false),
        ] {
            assert_eq!(exists(&super::super::sources(&files), "crates/api-sql", name), expected, "{name}");
        }
    }

    #[test]
    fn cells_are_split_at_bars() {
        for (row, expected) in [
            (" a | b |", &["a", "b", ""][..]),
            ("a \\| b|c", &["a | b", "c"]),
            ("a\\b||", &["a\\b", "", ""]),
            ("", &[""]),
        ] {
            assert_eq!(cells(row), expected, "{row}");
        }
    }
}
