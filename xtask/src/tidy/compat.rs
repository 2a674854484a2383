//! Rule: a row of a COMPAT.md that claims something names the tests that show it, and they exist.
//!
//! The tables have columns headed `status` and `test`. A status that begins with `yes` or `partial`
//! needs a test. Tests are named in backticks, as `name`, `module::name` or `file.py::name`; `name` is a
//! Rust or Python function or the title of a JavaScript test.

use super::Problem;
use crate::repository::Source;

/// Files in which tests are looked for.
const EXTENSIONS: [&str; 6] = ["rs", "py", "js", "mjs", "ts", "qt"];

/// Checks every row of every COMPAT.md.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with("COMPAT.md")) {
        let mut columns: Option<(usize, usize)> = None;
        for (index, line) in source.text.lines().enumerate() {
            let line = line.trim();
            let Some(row) = line.strip_prefix('|') else {
                columns = None;
                continue;
            };
            let cells = cells(row);
            let Some((status, test)) = columns else {
                let find = |names: &[&str]| {
                    cells.iter().position(|cell| names.contains(&cell.to_lowercase().as_str()))
                };
                // A table without a test column makes no claims.
                columns = find(&["status"]).zip(find(&["test", "tests"])).or(Some((usize::MAX, usize::MAX)));
                continue;
            };
            if line.chars().all(|character| matches!(character, '|' | '-' | ':' | ' ')) {
                continue;
            }
            let Some((status, test)) = cells.get(status).zip(cells.get(test)) else { continue };
            let names = backticked(test);
            let status = status.to_lowercase();
            if names.is_empty() && (status.starts_with("yes") || status.starts_with("partial")) {
                problems.push(Problem::new(source, index + 1, "the row claims something and names no test"));
            }
            for name in names {
                if !exists(sources, name) {
                    problems.push(Problem::new(source, index + 1, format!("there is no test {name}")));
                }
            }
        }
    }
    problems
}

/// Splits a row into its cells; a `\|` is part of a cell.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut characters = row.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&'|') => {}
            '|' if !row.is_empty() => {
                cells.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(cell) = cells.last_mut() {
            cell.push(character);
        }
    }
    cells.iter().map(|cell| cell.trim().to_string()).collect()
}

fn backticked(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).map(str::trim).filter(|name| !name.is_empty()).collect()
}

fn exists(sources: &[Source], name: &str) -> bool {
    let (place, test) = name.rsplit_once("::").map_or((None, name), |(place, test)| (Some(place), test));
    // A parametrized test is named without its parameters in the source.
    let test = test.split('[').next().unwrap_or(test);
    let file = place.and_then(|place| place.split("::").next()).filter(|file| file.contains('.'));
    let is_candidate = |source: &&Source| {
        EXTENSIONS.iter().any(|end| source.has_extension(end))
            && file.is_none_or(|file| source.path == file || source.path.ends_with(&format!("/{file}")))
    };
    let mut candidates = sources.iter().filter(is_candidate).peekable();
    if test.contains('.') && place.is_none() {
        // A whole file.
        return sources
            .iter()
            .any(|source| source.path == test || source.path.ends_with(&format!("/{test}")));
    }
    candidates.any(|source| {
        let quoted = [format!("\"{test}\""), format!("'{test}'"), format!("`{test}`")];
        source.text.contains(&format!("fn {test}("))
            || source.text.contains(&format!("def {test}("))
            || (!source.has_extension("rs") && quoted.iter().any(|title| source.text.contains(title)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn claims_need_tests_that_exist() {
        let table = "# Compat\n\n| feature | status | test | note |\n|---|---|---|---|\n\
                     | create | yes | `items::creates_items`, `test_items.py::test_create[a]` | |\n\
                     | read \\| head | partial | `reads an item` | |\n\
                     | nothing | yes | | |\n\
                     | absent | no | | later |\n\
                     | wrong | yes | `vanished`, `test_other.py::test_create`, `items.test.js` | |\n\n\
                     | header | ignored |\n|---|---|\n| `x-ms-y` | always |\n";
        let files = [
            ("crates/api-sql/COMPAT.md", table),
            ("crates/api-sql/src/tests.rs", "fn creates_items() {}"),
            ("conformance/python/test_items.py", "def test_create(x):"),
            ("conformance/python/test_other.py", ""),
            ("conformance/js/items.test.js", "test('reads an item', () => {})"),
        ];
        assert_eq!(
            findings(check, &files),
            [
                "crates/api-sql/COMPAT.md:7: the row claims something and names no test",
                "crates/api-sql/COMPAT.md:9: there is no test vanished",
                "crates/api-sql/COMPAT.md:9: there is no test test_other.py::test_create",
            ]
        );
    }
}
