//! Rule: a relative link in a Markdown file leads to a file, and its anchor to a heading.

use std::collections::BTreeSet;

use super::Problem;
use crate::repository::Source;

/// Checks the links of every Markdown file.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut paths: BTreeSet<&str> = BTreeSet::from([""]);
    for source in sources {
        // Links may lead to folders as well.
        let mut path = Some(source.path.as_str());
        while let Some(inner) = path {
            paths.insert(inner);
            path = inner.rsplit_once('/').map(|(folder, _)| folder);
        }
    }
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.has_extension(&["md"])) {
        for (line, link) in links(source) {
            if let Some(reason) = objection(sources, &paths, source, &link) {
                problems.push(Problem::new(source, line, format!("link to {link}: {reason}")));
            }
        }
    }
    problems
}

/// Says what is wrong about a link, if anything is.
fn objection(sources: &[Source], paths: &BTreeSet<&str>, from: &Source, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = match file {
        "" => from.path.clone(),
        _ => match resolve(from.folder(), file) {
            Some(target) => target,
            None => return Some("it leaves the repository".to_string()),
        },
    };
    if !paths.contains(target.as_str()) {
        return Some(format!("there is no {target}"));
    }
    let target = sources.iter().find(|other| other.path == target && other.has_extension(&["md"]))?;
    (!anchors(target).contains(anchor?)).then(|| "there is no such heading".to_string())
}

/// Returns the targets of links outside of code, with their lines.
fn links(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(source) {
        let line = without_code(line);
        for (start, opening) in line.match_indices("](") {
            let rest = &line[start + opening.len()..];
            if let Some(end) = rest.find(')') {
                found.push((number, target(&rest[..end])));
            }
        }
        // The definition of a link that is used by its name.
        if let Some((_, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            found.push((number, target(rest)));
        }
    }
    found
}

/// Cuts off a link's title and brackets.
fn target(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().trim_matches(['<', '>']).to_string()
}

/// Empties what stands between backticks: brackets there are code.
fn without_code(line: &str) -> String {
    let parts = line.split('`').enumerate();
    parts.filter(|(index, _)| index % 2 == 0).map(|(_, part)| part).collect()
}

/// Returns the lines outside of code fences.
fn prose(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    source.lines().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the anchors of a file's headings.
fn anchors(source: &Source) -> BTreeSet<String> {
    let headings = prose(source).filter_map(|(_, line)| line.strip_prefix('#'));
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

/// Returns the path from the root that a link in a file of this folder means, unless it leads outside.
fn resolve(folder: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = match link.starts_with('/') {
        true => Vec::new(),
        false => folder.split('/').filter(|part| !part.is_empty()).collect(),
    };
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        let text = "# A `title`, here\n[a](../README.md) [b](on-disk.md#the-item) [c](https://x.example/y)\n\
                    [d](missing.md) [e](#a-title-here) [f](#nowhere) `[g](code)`\n\
                    ```\n[h](fenced)\n```\n[i](../docs) [`j`](on-disk.md#nothing) [k](..) [l](/docs/a.md \"t\")\n\
                    [m](../../secret.md) ![n](picture.png) [o](<on-disk.md>)\n\n[p]: gone.md\n[q]: on-disk.md\n";
        let files = [
            ("docs/a.md", text),
            ("docs/on-disk.md", "## The item\n"),
            ("docs/picture.png", ""),
            ("README.md", ""),
        ];
        assert_eq!(
            findings(check, &files),
            [
                "docs/a.md:3: link to missing.md: there is no docs/missing.md",
                "docs/a.md:3: link to #nowhere: there is no such heading",
                "docs/a.md:7: link to on-disk.md#nothing: there is no such heading",
                "docs/a.md:8: link to ../../secret.md: it leaves the repository",
                "docs/a.md:10: link to gone.md: there is no docs/gone.md",
            ]
        );
    }

    #[test]
    fn paths_are_resolved() {
        for (folder, link, expected) in [
            ("", "a.md", Some("a.md")),
            ("docs", "../a.md", Some("a.md")),
            ("docs/x", "./../y/", Some("docs/y")),
            ("docs", "/a.md", Some("a.md")),
            ("docs", "..", Some("")),
            ("docs", "../..", None),
        ] {
            assert_eq!(resolve(folder, link).as_deref(), expected, "{folder} {link}");
        }
    }
}
