//! Rule: the table of arrows in `ARCHITECTURE.md` says of every crate what its manifest says, and what it may.
//!
//! An arrow that is allowed and not used is refused too: it would be taken up one day without a thought.

use std::collections::{BTreeMap, BTreeSet};

use super::Problem;
use super::arrows::{ALLOWED, PREFIX, dependencies};
use crate::repository::Source;

const DOCUMENT: &str = "ARCHITECTURE.md";

/// The line that the table begins with.
const HEAD: &str = "| From | Depends on |";

type Arrows<'a> = BTreeSet<&'a str>;

/// Compares the table with the manifests and with what is allowed.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let Some(document) = sources.iter().find(|source| source.path == DOCUMENT) else { return Vec::new() };
    let table = table(document);
    let mut problems = Vec::new();
    for manifest in sources {
        let name = manifest.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml"));
        let Some(name) = name.filter(|name| !name.contains('/')) else { continue };
        let used: Arrows<'_> = dependencies(&manifest.text)
            .iter()
            .filter(|dependency| !dependency.is_for_tests)
            .filter_map(|dependency| dependency.package.strip_prefix(PREFIX))
            .collect();
        match table.get(name) {
            Some((line, told)) if *told != used => {
                let message = format!("{name} depends on {}, not on {}", list(&used), list(told));
                problems.push(Problem::new(document, *line, message));
            }
            Some(_) => {}
            None => problems.push(Problem::new(document, 1, format!("the table of arrows lacks {name}"))),
        }
        let allowed = ALLOWED.iter().find(|(from, _)| *from == name).map(|(_, allowed)| *allowed);
        for unused in allowed.unwrap_or_default().iter().filter(|allowed| !used.contains(*allowed)) {
            let message = format!("{name} -> {unused} is allowed in tidy/arrows.rs and not used");
            problems.push(Problem::new(manifest, 1, message));
        }
    }
    problems
}

/// Reads the table: for each crate the line of its row, and what it depends on.
fn table(document: &Source) -> BTreeMap<&str, (usize, Arrows<'_>)> {
    let mut rows = BTreeMap::new();
    let lines = document.lines().skip_while(|(_, line)| *line != HEAD).skip(2);
    for (number, line) in lines.take_while(|(_, line)| line.starts_with('|')) {
        let mut cells = line.trim_matches('|').split('|');
        let (from, to) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        for name in quoted(from) {
            rows.insert(name, (number, quoted(to).collect()));
        }
    }
    rows
}

/// Returns the texts between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn list(arrows: &Arrows<'_>) -> String {
    match arrows.len() {
        0 => "nothing".to_owned(),
        _ => arrows.iter().copied().collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    const MANIFEST: &str = "[dependencies]\narmilla-value.workspace = true\nbytes = \"1\"\n\n\
                            [dev-dependencies]\narmilla-kv.workspace = true\n";

    fn found(rows: &str, manifest: &str) -> Vec<String> {
        let document = format!("# A\n\n{HEAD}\n|---|---|\n{rows}\nafterwards\n");
        findings(check, &[(DOCUMENT, &document), ("crates/index/Cargo.toml", manifest)])
    }

    #[test]
    fn the_table_says_what_the_manifests_say() {
        for (rows, expected) in [
            ("| `index`, `sql` | `value` |", &[][..]),
            ("| `sql` | nothing |\n| `index` | `value` |", &[]),
            ("| `index` | nothing of ours |", &["ARCHITECTURE.md:5: index depends on value, not on nothing"]),
            (
                "| `index` | `env`; `value` |",
                &["ARCHITECTURE.md:5: index depends on value, not on env, value"],
            ),
            ("| `sql` | `value` |", &["ARCHITECTURE.md:1: the table of arrows lacks index"]),
        ] {
            assert_eq!(found(rows, MANIFEST), expected, "{rows}");
        }
    }

    #[test]
    fn what_is_allowed_is_used() {
        assert_eq!(
            found("| `index` | nothing |", "[dependencies]\nbytes = \"1\"\n"),
            ["crates/index/Cargo.toml:1: index -> value is allowed in tidy/arrows.rs and not used"]
        );
    }
}
