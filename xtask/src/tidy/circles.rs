//! Rule: the files of a crate do not use each other in a circle, so that each can be read, moved and tested with no
//! more than what lies below it.
//!
//! A file uses another when a path in it leads there, in a `use` or in an expression. The path is followed through
//! re-exports to the file that they come from. That a module declares its children or re-exports what is in them is no
//! use of them. Tests are left out: they may look at everything.
//!
//! Not here: reading paths out of a file ([`imports`]).

mod imports;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Problem, is_test_file};
use crate::repository::Source;
use imports::{Imports, Reexport};

/// Crates in which the rule holds. The others are reported by `cargo xtask circles` and join when they are free.
const ENFORCED: [&str; 10] = [
    "api-admin",
    "api-sql",
    "container",
    "engine",
    "env",
    "governor",
    "rest-wire",
    "script",
    "script-worker",
    "sql",
];

/// Re-exports that are followed until a name is where it is defined.
const REEXPORTS_MAX: usize = 8;

/// Checks the crates in which the rule holds.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in ENFORCED {
        let files = Files::of_crate(name, sources);
        for circle in files.circles() {
            let (first, line) = files.way_round(&circle);
            let message = format!(
                "{} files use each other in a circle, such as {first}: give what they share a file of its own",
                circle.len()
            );
            let at = circle[0];
            problems.push(Problem::new(files.sources[at], line, message));
        }
    }
    problems
}

/// Tells of every crate how many of its files are in circles, and names them.
pub(crate) fn report(sources: &[Source]) -> String {
    let mut text = String::new();
    for name in crates(sources) {
        let files = Files::of_crate(name, sources);
        let circles = files.circles();
        let together: usize = circles.iter().map(Vec::len).sum();
        let held = if ENFORCED.contains(&name) { ", enforced" } else { "" };
        text.push_str(&format!("{name:14} {together:3} of {:3} files{held}\n", files.sources.len()));
        for circle in circles {
            let names: Vec<&str> = circle.iter().map(|at| files.short_name(*at)).collect();
            text.push_str(&format!("  {} together: {}\n", circle.len(), names.join(" ")));
            text.push_str(&format!("    such as {}\n", files.way_round(&circle).0));
        }
    }
    text
}

/// Returns the names of all crates.
fn crates(sources: &[Source]) -> Vec<&str> {
    let name = |source: &'_ Source| -> Option<(usize, usize)> {
        let rest = source.path.strip_prefix("crates/")?;
        let name = rest.strip_suffix("/Cargo.toml")?;
        (!name.contains('/')).then(|| ("crates/".len(), "crates/".len() + name.len()))
    };
    sources.iter().filter_map(|source| name(source).map(|(start, end)| &source.path[start..end])).collect()
}

/// The files of a crate, and which uses which.
struct Files<'a> {
    folder: String,
    sources: Vec<&'a Source>,
    /// For each file those that it uses, with the first line that does.
    uses: Vec<BTreeMap<usize, usize>>,
}

impl<'a> Files<'a> {
    fn of_crate(name: &str, sources: &'a [Source]) -> Files<'a> {
        let folder = format!("crates/{name}/src/");
        let is_ours = |source: &&Source| {
            source.path.starts_with(&folder) && source.has_extension(&["rs"]) && !is_test_file(&source.path)
        };
        let sources: Vec<&Source> = sources.iter().filter(is_ours).collect();
        let tree = Tree::new(&folder, &sources);
        let uses = (0..sources.len()).map(|from| tree.uses(from)).collect();
        Files { folder, sources, uses }
    }

    fn short_name(&self, at: usize) -> &str {
        self.sources[at].path.strip_prefix(&self.folder).unwrap_or(&self.sources[at].path)
    }

    /// Returns the largest sets of files that all reach each other, in the order of their paths.
    fn circles(&self) -> Vec<Vec<usize>> {
        let reached: Vec<BTreeSet<usize>> = (0..self.sources.len()).map(|from| self.reached(from)).collect();
        let mut circles: Vec<Vec<usize>> = Vec::new();
        for at in 0..self.sources.len() {
            let is_new = !circles.iter().any(|circle| circle.contains(&at));
            if is_new && reached[at].contains(&at) {
                let together = (at..self.sources.len())
                    .filter(|other| reached[at].contains(other) && reached[*other].contains(&at));
                circles.push(together.collect());
            }
        }
        circles
    }

    /// Returns every file that a file uses, by way of others too.
    fn reached(&self, from: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            open.extend(self.uses[at].keys().filter(|to| reached.insert(**to)));
        }
        reached
    }

    /// Returns the shortest way from the first file of a circle back to it, and the line on which it sets out.
    fn way_round(&self, circle: &[usize]) -> (String, usize) {
        let start = circle[0];
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(at) = open.pop_front() {
            for to in self.uses[at].keys() {
                if !before.contains_key(to) {
                    before.insert(*to, at);
                    open.push_back(*to);
                }
            }
        }
        let mut way = vec![start];
        let mut at = before.get(&start).copied();
        while let Some(here) = at.filter(|here| *here != start) {
            way.push(here);
            at = before.get(&here).copied();
        }
        way.push(start);
        way.reverse();
        let names: Vec<&str> = way.iter().map(|at| self.short_name(*at)).collect();
        let line = self.uses[start].get(&way[1]).copied().unwrap_or(1);
        (names.join(" -> "), line)
    }
}

/// The modules of a crate, by their paths from its root.
struct Tree {
    modules: BTreeMap<Vec<String>, usize>,
    /// The module that each file is.
    places: Vec<Vec<String>>,
    imports: Vec<Imports>,
}

impl Tree {
    fn new(folder: &str, sources: &[&Source]) -> Tree {
        let has_library = sources.iter().any(|source| source.path == format!("{folder}lib.rs"));
        let places: Vec<Vec<String>> = sources
            .iter()
            .map(|source| place(source.path.strip_prefix(folder).unwrap_or_default()))
            .collect();
        let mut modules = BTreeMap::new();
        for (at, module) in places.iter().enumerate() {
            // A program beside a library is a crate of its own, in one file.
            let is_program = has_library && sources[at].path == format!("{folder}main.rs");
            if !is_program {
                modules.insert(module.clone(), at);
            }
        }
        Tree { modules, places, imports: sources.iter().map(|source| Imports::read(&source.text)).collect() }
    }

    /// Returns the files that a file uses, each with the first line that does.
    fn uses(&self, from: usize) -> BTreeMap<usize, usize> {
        let mut uses = BTreeMap::new();
        for (path, line) in self.imports[from].paths() {
            let target = self.absolute(from, &path).and_then(|path| self.file(&path, 0));
            if let Some(to) = target.filter(|to| *to != from) {
                uses.entry(to).or_insert(line);
            }
        }
        uses
    }

    /// Turns a path as it stands in a file into one from the root; none when it leads to another crate.
    fn absolute(&self, from: usize, path: &[String]) -> Option<Vec<String>> {
        let mut module = self.places[from].clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                module.clear();
                rest = &path[1..];
            }
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    module.pop()?;
                    rest = &rest[1..];
                }
            }
            // A child, or another crate.
            child => {
                let is_child = self.modules.contains_key(&[module.as_slice(), &[child.to_owned()]].concat());
                if !is_child {
                    return None;
                }
            }
        }
        Some([module.as_slice(), rest].concat())
    }

    /// Returns the file in which the thing lies that a path from the root names; none for a module alone, which is
    /// used only by what is taken out of it.
    fn file(&self, path: &[String], followed: usize) -> Option<usize> {
        let depth = (0..=path.len()).rev().find(|depth| self.modules.contains_key(&path[..*depth]))?;
        let name = path.get(depth)?;
        let at = self.modules[&path[..depth]];
        let reexport = self.imports[at].reexport(name).filter(|_| followed < REEXPORTS_MAX);
        let Some(Reexport { path: origin, .. }) = reexport else { return Some(at) };
        // A name from another crate is as if it was defined here.
        let Some(mut origin) = self.absolute(at, origin) else { return Some(at) };
        origin.extend_from_slice(&path[depth + 1..]);
        self.file(&origin, followed + 1)
    }
}

/// Returns the module that a file is.
fn place(inside: &str) -> Vec<String> {
    let path = inside.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "lib" | "main" | "mod" => Vec::new(),
        _ => path.split('/').map(ToOwned::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{findings, sources};
    use super::*;

    /// Makes a crate in which the rule holds, and returns what is found in it.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let folder = format!("crates/{}/src/", ENFORCED[0]);
        let files: Vec<(String, &str)> =
            files.iter().map(|(name, text)| (format!("{folder}{name}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        findings(check, &files).iter().map(|text| text.replace(&folder, "")).collect()
    }

    fn complaint(place: &str, count: usize, way: &str) -> String {
        format!(
            "{place}: {count} files use each other in a circle, such as {way}: give what they share a file of its own"
        )
    }

    #[test]
    fn circles_are_found_with_a_way_round() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\nmod e;\n"),
            ("a.rs", "use std::fmt;\n\nuse crate::b::B;\n"),
            ("b.rs", "use crate::{c::C, e::E};\n"),
            ("c.rs", "use crate::d;\nfn f() { d::go(); }\n"),
            ("d.rs", "fn go() { crate::a::go(); crate::b::go() }\n"),
            ("e.rs", "pub struct E;\n"),
        ];
        assert_eq!(found(&files), [complaint("a.rs:3", 4, "a.rs -> b.rs -> c.rs -> d.rs -> a.rs")]);
    }

    #[test]
    fn circles_apart_are_told_apart() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod x;\nmod y;\n"),
            ("a.rs", "use crate::b::B;\nuse crate::x::X;\n"),
            ("b.rs", "use super::a::A;\n"),
            ("x.rs", "use crate::y::Y;\n"),
            ("y.rs", "use crate::x::X;\n"),
        ];
        assert_eq!(
            found(&files),
            [complaint("a.rs:1", 2, "a.rs -> b.rs -> a.rs"), complaint("x.rs:1", 2, "x.rs -> y.rs -> x.rs")]
        );
    }

    #[test]
    fn parents_may_declare_and_reexport_but_not_use_their_children() {
        let child = ("a/b.rs", "use super::A;\npub fn go(_: A) {}\npub struct B;\n");
        for (parent, is_fine) in [
            ("mod b;\npub struct A;\n", true),
            ("mod b;\npub(crate) use b::{B, go};\npub struct A;\n", true),
            ("mod b;\nuse b::B;\npub struct A;\n", false),
            ("mod b;\npub(crate) use b::B;\npub struct A(B);\n", false),
            ("mod b;\npub struct A;\nfn f(a: A) { b::go(a) }\n", false),
            ("mod b;\npub struct A;\nfn f(a: A) { self::b::go(a) }\n", false),
            ("mod b;\n/// Made by [`b::go`].\npub struct A;\n// b::go\nconst T: &str = \"b::go\";\n", true),
        ] {
            let files = [("lib.rs", "mod a;\n"), ("a.rs", parent), child];
            assert_eq!(found(&files).is_empty(), is_fine, "{parent}");
        }
    }

    #[test]
    fn reexports_count_as_the_file_they_come_from() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::Deep;\n"),
            ("a.rs", "mod deep;\nmod user;\npub(crate) use deep::Deep;\npub(crate) use user::User;\n"),
            ("a/deep.rs", "pub struct Deep;\n"),
            ("a/user.rs", "use crate::b::B;\npub struct User;\n"),
            // By way of the root and of `a`, but from a file that uses nothing.
            ("b.rs", "use crate::Deep;\nuse crate::a::Deep as Same;\npub struct B;\n"),
        ];
        assert_eq!(found(&files), [] as [&str; 0]);
        let files =
            [files[0], files[1], files[2], files[3], ("b.rs", "use crate::a::User;\npub struct B;\n")];
        assert_eq!(found(&files), [complaint("a/user.rs:1", 2, "a/user.rs -> b.rs -> a/user.rs")]);
    }

    #[test]
    fn reexports_in_a_circle_end() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a.rs", "pub use crate::b::X;\n"),
            ("b.rs", "pub use crate::a::X;\nuse crate::a::X as Y;\n"),
        ];
        assert_eq!(found(&files), [] as [&str; 0]);
    }

    #[test]
    fn tests_are_left_out() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a.rs", "use crate::b::B;\n\n#[cfg(test)]\nmod tests;\n"),
            ("a/tests.rs", "use super::*;\nuse crate::b::B;\n"),
            (
                "b.rs",
                "#[cfg(test)]\nuse crate::a::{A, C};\npub struct B;\n#[cfg(test)]\nmod tests { use crate::a::A; }\n",
            ),
            ("b/more_tests.rs", "use crate::a::A;\n"),
        ];
        assert_eq!(found(&files), [] as [&str; 0]);
    }

    #[test]
    fn other_crates_are_reported_not_refused() {
        let files = [
            ("crates/other/Cargo.toml", ""),
            ("crates/other/src/a.rs", "use crate::b::B;\n"),
            ("crates/other/src/b.rs", "use crate::a::A;\n"),
            ("crates/other/src/lib.rs", "mod a;\nmod b;\n"),
            ("crates/other/src/main.rs", "use crate::a::A;\n"),
        ];
        assert!(findings(check, &files).is_empty());
        let expected =
            "other            2 of   4 files\n  2 together: a.rs b.rs\n    such as a.rs -> b.rs -> a.rs\n";
        assert_eq!(report(&sources(&files)), expected);
    }
}
