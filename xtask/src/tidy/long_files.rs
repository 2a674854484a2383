//! Rule: a file that nobody can hold in mind is split, unless a program wrote it.

use super::Problem;
use crate::repository::Source;

/// Past this many lines a second subject hides in the file.
const LINES_MAX: usize = 1_000;

/// What a generated file says of itself, near its beginning.
const GENERATED: &str = "@generated";

/// Lines among which that is looked for.
const GENERATED_LINES_MAX: usize = 5;

/// What people write; other files are data.
const EXTENSIONS: [&str; 11] = ["rs", "md", "toml", "py", "js", "mjs", "ts", "css", "html", "sh", "qt"];

/// Counts the lines of every file.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.has_extension(&EXTENSIONS)) {
        let count = source.text.lines().count();
        let is_generated = source.text.lines().take(GENERATED_LINES_MAX).any(|line| line.contains(GENERATED));
        if count > LINES_MAX && !is_generated {
            let message = format!("{count} lines are more than {LINES_MAX}: split the file by subject");
            problems.push(Problem::new(source, LINES_MAX + 1, message));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn the_bound_and_one_past() {
        let fits = "x\n".repeat(LINES_MAX);
        let over = "x\n".repeat(LINES_MAX + 1);
        let generated = format!("// {GENERATED} by a program\n{over}");
        let late = format!("{}// {GENERATED}\n{over}", "x\n".repeat(GENERATED_LINES_MAX));
        let files = [
            ("a.rs", fits.as_str()),
            ("b.rs", &over),
            ("c.rs", &generated),
            ("d.md", &late),
            ("e.lock", &over),
        ];
        assert_eq!(
            findings(check, &files),
            [
                "b.rs:1001: 1001 lines are more than 1000: split the file by subject",
                "d.md:1001: 1007 lines are more than 1000: split the file by subject",
            ]
        );
    }
}
