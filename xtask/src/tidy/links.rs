//! Rule: a relative link in a Markdown file leads to a file, and its anchor to a heading.

use std::collections::BTreeSet;

use super::Problem;
use crate::repository::Source;

/// Checks the links of every Markdown file.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut paths: BTreeSet<&str> = BTreeSet::new();
    for source in sources {
        paths.insert(&source.path);
        // Links may lead to folders as well.
        let mut path = source.path.as_str();
        while let Some((folder, _)) = path.rsplit_once('/') {
            paths.insert(folder);
            path = folder;
        }
    }
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.has_extension("md")) {
        for (line, link) in links(&source.text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) =
                link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() { source.path.clone() } else { resolve(source.folder(), file) };
            if !target.is_empty() && !paths.contains(target.as_str()) {
                problems.push(Problem::new(source, line, format!("link to {link}: there is no {target}")));
            } else if let Some(anchor) = anchor
                && let Some(target) = sources.iter().find(|other| other.path == target)
                && target.has_extension("md")
                && !anchors(&target.text).contains(anchor)
            {
                problems.push(Problem::new(
                    source,
                    line,
                    format!("link to {link}: there is no such heading"),
                ));
            }
        }
    }
    problems
}

/// Returns the targets of inline links outside of code, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (index, line) in prose(text) {
        // Inside backticks a bracket is code.
        for (position, part) in line.split('`').enumerate() {
            if position % 2 == 1 {
                continue;
            }
            for (start, _) in part.match_indices("](") {
                let rest = &part[start + 2..];
                if let Some(end) = rest.find(')') {
                    let target = rest[..end].split(' ').next().unwrap_or_default();
                    found.push((index + 1, target.trim_matches(['<', '>'])));
                }
            }
        }
    }
    // The text of a link may be code: then the brackets stand in two parts.
    for (index, line) in prose(text) {
        for (start, _) in line.match_indices("`](") {
            let rest = &line[start + 3..];
            if let Some(end) = rest.find(')')
                && !found.contains(&(index + 1, &rest[..end]))
            {
                found.push((index + 1, &rest[..end]));
            }
        }
    }
    found
}

/// Returns the lines outside of code fences.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the anchors of a file's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter_map(|(_, line)| line.strip_prefix('#'));
    headings
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading
                .chars()
                .filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_'));
            kept.map(|character| if character == ' ' { '-' } else { character }).collect()
        })
        .collect()
}

fn resolve(folder: &str, link: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        let text = "# A title, here\n[a](../README.md) [b](on-disk.md#the-item) [c](https://x.example/y)\n\
                    [d](missing.md) [e](#a-title-here) [f](#nowhere) `[g](code)`\n\
                    ```\n[h](fenced)\n```\n[i](../docs) [`j`](on-disk.md#nothing) [k](..)\n";
        let files = [("docs/a.md", text), ("docs/on-disk.md", "## The item\n"), ("README.md", "")];
        assert_eq!(
            findings(check, &files),
            [
                "docs/a.md:3: link to missing.md: there is no docs/missing.md",
                "docs/a.md:3: link to #nowhere: there is no such heading",
                "docs/a.md:7: link to on-disk.md#nothing: there is no such heading",
            ]
        );
    }
}
