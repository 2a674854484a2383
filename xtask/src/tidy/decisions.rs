//! Rule: the records in `docs/decisions` are numbered from 0001 without a gap, each number once.

use super::Problem;
use crate::repository::Source;

const FOLDER: &str = "docs/decisions";

/// Checks the names of the records.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut records: Vec<(usize, &Source)> = Vec::new();
    for source in sources.iter().filter(|source| source.folder() == FOLDER) {
        match number(source.name()) {
            Some(number) => records.push((number, source)),
            None => problems.push(Problem::new(source, 1, "a record's name is like 0007-short-title.md")),
        }
    }
    records.sort_by_key(|(number, source)| (*number, source.path.as_str()));
    let mut previous = 0;
    for (number, source) in records {
        if number == previous {
            problems.push(Problem::new(source, 1, format!("the number {number:04} is taken")));
        } else if number != previous + 1 {
            problems.push(Problem::new(source, 1, format!("the number {:04} is left out", previous + 1)));
        }
        previous = number;
    }
    problems
}

/// Returns the number of a record with this name; numbers begin at one.
fn number(name: &str) -> Option<usize> {
    let (number, title) = name.strip_suffix(".md")?.split_once('-')?;
    let is_title = !title.is_empty()
        && title.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let is_number = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_title && is_number).then(|| number.parse().ok()).flatten().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn numbers_follow_each_other() {
        let check_names = |names: &[&str]| {
            let paths: Vec<String> = names.iter().map(|name| format!("{FOLDER}/{name}")).collect();
            let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
            let found = findings(check, &files);
            found.iter().map(|text| text.replace(&format!("{FOLDER}/"), "")).collect::<Vec<_>>().join("; ")
        };
        for (names, expected) in [
            (&["0001-a.md", "0002-b.md"][..], ""),
            (&["0002-b.md", "0001-a.md"], ""),
            (&[], ""),
            (&["0002-b.md"], "0002-b.md:1: the number 0001 is left out"),
            (&["0001-a.md", "0004-b.md", "0005-c.md"], "0004-b.md:1: the number 0002 is left out"),
            (&["0001-a.md", "0001-b.md", "0002-c.md"], "0001-b.md:1: the number 0001 is taken"),
        ] {
            assert_eq!(check_names(names), expected, "{names:?}");
        }
        for wrong in ["1-a.md", "0001.md", "0001-.md", "0001-A b.md", "0001-a.txt", "0000-a.md", "README.md"]
        {
            assert_eq!(
                check_names(&[wrong]),
                format!("{wrong}:1: a record's name is like 0007-short-title.md")
            );
        }
        assert!(findings(check, &[("docs/0009-else.md", "")]).is_empty());
    }
}
