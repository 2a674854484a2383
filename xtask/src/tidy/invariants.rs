//! Rule: an invariant that nothing checks is a wish. Every one in `ARCHITECTURE.md` has a row in `docs/invariants.md`,
//! word for word, that links what checks it; and no row is about one that is not there any more.

use super::Problem;
use crate::repository::Source;

const STATED: &str = "ARCHITECTURE.md";
const CHECKED: &str = "docs/invariants.md";

/// What an invariant begins with.
const MARK: &str = "**Invariant:** ";

/// Compares both documents.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let find = |path: &str| sources.iter().find(|source| source.path == path);
    let Some(stated) = find(STATED) else { return Vec::new() };
    let Some(checked) = find(CHECKED) else {
        return vec![Problem::new(stated, 1, format!("{CHECKED} is missing"))];
    };
    let invariants: Vec<(usize, String)> = stated
        .lines()
        .filter_map(|(number, line)| Some((number, without_links(line.strip_prefix(MARK)?))))
        .collect();
    let rows: Vec<(usize, &str, &str)> = checked.lines().filter_map(row).collect();
    let mut problems = Vec::new();
    for (number, invariant) in &invariants {
        if !rows.iter().any(|(_, stated, _)| stated == invariant) {
            let message = format!("nothing is said to check this invariant: give it a row in {CHECKED}");
            problems.push(Problem::new(stated, *number, message));
        }
    }
    for (number, invariant, check) in rows {
        if !invariants.iter().any(|(_, stated)| stated == invariant) {
            problems.push(Problem::new(checked, number, format!("{STATED} does not state this invariant")));
        }
        if !check.contains("](") {
            problems.push(Problem::new(checked, number, "the row links nothing that checks the invariant"));
        }
    }
    problems
}

/// Reads a row of the table: its line, the invariant and what checks it.
fn row((number, line): (usize, &str)) -> Option<(usize, &str, &str)> {
    let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
    let (invariant, check) = (cells.next()?, cells.next()?);
    let is_head = invariant == "Invariant" || invariant.starts_with("---");
    (!is_head).then_some((number, invariant, check))
}

/// Leaves the text of links: they lead elsewhere from another folder.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[')
        && let Some((shown, target)) = link.split_once("](")
        && let Some((_, after)) = target.split_once(')')
    {
        out.push_str(before);
        out.push_str(shown);
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn every_invariant_has_a_row_and_every_row_an_invariant() {
        let stated = "# A\n\n**Invariant:** one holds, see [a.rs](a.rs).\n**Invariant:** two holds.\n";
        let checked = "| Invariant | Checked by |\n|---|---|\n| one holds, see a.rs. | [a](../a.rs) |\n\
                       | three holds. | [a](../a.rs) |\n";
        assert_eq!(
            findings(check, &[(STATED, stated), (CHECKED, checked)]),
            [
                "ARCHITECTURE.md:4: nothing is said to check this invariant: give it a row in docs/invariants.md",
                "docs/invariants.md:4: ARCHITECTURE.md does not state this invariant",
            ]
        );
        let unlinked = "| one holds, see a.rs. | review |\n| two holds. | [a](../a.rs) |\n";
        assert_eq!(
            findings(check, &[(STATED, stated), (CHECKED, unlinked)]),
            ["docs/invariants.md:1: the row links nothing that checks the invariant"]
        );
        assert_eq!(
            findings(check, &[(STATED, stated)]),
            ["ARCHITECTURE.md:1: docs/invariants.md is missing"]
        );
    }
}
