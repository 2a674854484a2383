//! The paths in the text of a Rust file that may lead to other files of its crate.
//!
//! This is no parser: comments, texts and what is for tests alone are taken out, then names joined by `::` are read
//! from the tokens that are left. That is enough because a path always stands in full, beginning with `crate`,
//! `super`, `self`, a child or something that a `use` named.

/// A name that a file gives away, and where it has it from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reexport {
    name: String,
    /// The path as it stands in the file.
    pub(super) path: Vec<String>,
    line: usize,
}

/// What a file takes from elsewhere.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// Names that a `use` brings into the file.
    named: Vec<Reexport>,
    /// Those that it gives away.
    reexports: Vec<Reexport>,
    /// Paths outside of `use`.
    written: Vec<(Vec<String>, usize)>,
    /// Every name that stands outside of `use`.
    words: std::collections::BTreeSet<String>,
}

impl Imports {
    /// Reads a file.
    pub(super) fn read(text: &str) -> Imports {
        let tokens = without_tests(tokens(text));
        let mut imports = Imports::default();
        let mut at = 0;
        let mut is_public = false;
        while let Some(token) = tokens.get(at) {
            match token.text.as_str() {
                "use" => {
                    let mut leaves = Vec::new();
                    at = read_tree(&tokens, at + 1, &[], &mut leaves);
                    let to = if is_public { &mut imports.reexports } else { &mut imports.named };
                    to.append(&mut leaves);
                    is_public = false;
                }
                "pub" => {
                    is_public = true;
                    at += 1;
                    // `pub(crate)`, `pub(in crate::a)`: no path that is used.
                    if tokens.get(at).is_some_and(|token| token.text == "(") {
                        at += tokens[at..].iter().take_while(|token| token.text != ")").count() + 1;
                    }
                }
                _ if token.is_name() => {
                    let (path, next) = read_path(&tokens, at);
                    // After a dot it is a method or a field.
                    if at == 0 || tokens[at - 1].text != "." {
                        imports.words.insert(path[0].clone());
                    }
                    if path.len() > 1 {
                        imports.written.push((path, token.line));
                    }
                    at = next;
                    is_public = false;
                }
                _ => {
                    at += 1;
                    is_public = false;
                }
            }
        }
        imports
    }

    /// Returns where a name comes from that the file gives away.
    pub(super) fn reexport(&self, name: &str) -> Option<&Reexport> {
        self.reexports.iter().find(|reexport| reexport.name == name)
    }

    /// Returns the paths that the file uses, each with its line. One that begins with a name of a `use` is given in
    /// full, too.
    pub(super) fn paths(&self) -> Vec<(Vec<String>, usize)> {
        let given_away = self.reexports.iter().filter(|reexport| self.words.contains(&reexport.name));
        let used = self.named.iter().chain(given_away);
        let mut paths: Vec<(Vec<String>, usize)> =
            used.map(|named| (named.path.clone(), named.line)).collect();
        for (path, line) in &self.written {
            paths.push((path.clone(), *line));
            for named in self.named.iter().chain(&self.reexports).filter(|named| named.name == path[0]) {
                paths.push(([named.path.as_slice(), &path[1..]].concat(), *line));
            }
        }
        paths.sort_by_key(|(_, line)| *line);
        paths
    }
}

/// A name or a sign.
#[derive(Debug)]
struct Token {
    text: String,
    line: usize,
}

impl Token {
    fn is_name(&self) -> bool {
        self.text.starts_with(|first: char| first == '_' || first.is_alphabetic())
    }
}

/// Reads names joined by `::`; returns them and what follows.
fn read_path(tokens: &[Token], mut at: usize) -> (Vec<String>, usize) {
    let mut path = vec![tokens[at].text.clone()];
    at += 1;
    while tokens.get(at).is_some_and(|token| token.text == "::")
        && let Some(next) = tokens.get(at + 1).filter(|token| token.is_name())
    {
        path.push(next.text.clone());
        at += 2;
    }
    (path, at)
}

/// Reads the tree of a `use` and adds its leaves; returns what follows.
fn read_tree(tokens: &[Token], mut at: usize, before: &[String], leaves: &mut Vec<Reexport>) -> usize {
    let mut path = before.to_vec();
    let line = tokens.get(at).map_or(0, |token| token.line);
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token.text != "}") {
                    at = read_tree(tokens, at, &path, leaves);
                    at += usize::from(tokens.get(at).is_some_and(|token| token.text == ","));
                }
                return at + 1;
            }
            "as" => {
                let name = tokens.get(at + 1).map_or_else(String::new, |token| token.text.clone());
                leaves.push(Reexport { name, path, line });
                return at + 2;
            }
            "*" => {
                // Which names that brings is not known; it uses the module itself.
                path.push("*".to_owned());
                at += 1;
            }
            // `a::{self}` is `a`.
            "self" if !path.is_empty() => at += 1,
            _ if token.is_name() => {
                path.push(token.text.clone());
                at += 1;
            }
            _ => break,
        }
    }
    if let Some(name) = path.last().cloned() {
        leaves.push(Reexport { name, path, line });
        at += usize::from(tokens.get(at).is_some_and(|token| token.text == ";"));
        return at;
    }
    // Not a tree: never stand still.
    at + 1
}

/// Leaves out the items that are for tests alone: `#[cfg(test)]` or `#[cfg(all(test, ...))]` stands before them.
fn without_tests(tokens: Vec<Token>) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().collect::<std::collections::VecDeque<Token>>();
    while let Some(token) = tokens.pop_front() {
        let Some(length) = length_for_tests(&token, &tokens) else {
            kept.push(token);
            continue;
        };
        tokens.drain(..length);
        // To the end of the item: its body, or the semicolon.
        let mut depth = 0_usize;
        let mut is_use = false;
        while let Some(token) = tokens.pop_front() {
            is_use |= depth == 0 && token.text == "use";
            match token.text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && !is_use {
                        break;
                    }
                }
                ";" if depth == 0 => break,
                _ => {}
            }
        }
    }
    kept
}

/// Returns how many tokens of an attribute follow its first one, if it makes what it stands before one for tests alone.
fn length_for_tests(first: &Token, rest: &std::collections::VecDeque<Token>) -> Option<usize> {
    let is_attribute =
        first.text == "#" && rest.iter().zip(["[", "cfg", "("]).all(|(token, sign)| token.text == sign);
    let length = rest.iter().position(|token| token.text == "]").filter(|_| is_attribute)? + 1;
    let words = || rest.iter().take(length).map(|token| token.text.as_str());
    let is_for_tests =
        words().any(|word| word == "test") && !words().any(|word| word == "not" || word == "any");
    is_for_tests.then_some(length)
}

/// Cuts a text into names and signs, without comments, texts and numbers.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => 1 + quoted(&rest[1..]),
            'r' | 'b' | 'c' if raw_text(rest).is_some() => raw_text(rest).unwrap_or(1),
            '\'' => character(rest),
            _ if first == '_' || first.is_alphanumeric() => {
                let is_part = |character: char| character == '_' || character.is_alphanumeric();
                let length = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
                tokens.push(Token { text: rest[..length].to_owned(), line });
                length
            }
            ':' if rest.starts_with("::") => {
                tokens.push(Token { text: "::".to_owned(), line });
                2
            }
            _ => {
                if !first.is_whitespace() {
                    tokens.push(Token { text: first.to_string(), line });
                }
                first.len_utf8()
            }
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of a comment that may have others in it.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Returns the length of a text up to its closing mark, which is counted.
fn quoted(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of `r"..."`, `r#"..."#`, `b"..."` and their like, if this is one.
fn raw_text(text: &str) -> Option<usize> {
    let start = text.find(|character| !matches!(character, 'r' | 'b' | 'c'))?;
    let is_raw = text[..start].contains('r');
    let hashes = text[start..].bytes().take_while(|byte| *byte == b'#').count();
    let inside =
        text[start + hashes..].strip_prefix('"').filter(|_| start <= 2 && (is_raw || hashes == 0))?;
    let length = match is_raw {
        true => {
            let end = format!("\"{}", "#".repeat(hashes));
            inside.find(&end).map_or(inside.len(), |at| at + end.len())
        }
        false => quoted(inside),
    };
    Some(start + hashes + 1 + length)
}

/// Returns the length of a character between marks, or of the mark before a lifetime.
fn character(text: &str) -> usize {
    let mut inside = text[1..].chars();
    match (inside.next(), inside.next()) {
        (Some('\\'), Some(escaped)) => {
            let start = 2 + escaped.len_utf8();
            text[start..].find('\'').map_or(text.len(), |at| start + at + 1)
        }
        (Some(one), Some('\'')) => 2 + one.len_utf8(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let paths = Imports::read(text).paths();
        paths.iter().map(|(path, line)| format!("{line} {}", path.join("::"))).collect()
    }

    #[test]
    fn every_form_of_use_is_read() {
        for (text, expected) in [
            ("use crate::a;", &["1 crate::a"][..]),
            ("use crate::a::B;", &["1 crate::a::B"]),
            ("use crate::a::B as C;", &["1 crate::a::B"]),
            (
                "use crate::a::{self, B, c::{D, E}};",
                &["1 crate::a", "1 crate::a::B", "1 crate::a::c::D", "1 crate::a::c::E"],
            ),
            ("use crate::{\n    a::B,\n    c,\n};", &["2 crate::a::B", "3 crate::c"]),
            ("use super::super::a::*;", &["1 super::super::a::*"]),
            ("use ::std::fmt;", &["1 std::fmt"]),
        ] {
            assert_eq!(paths(text), expected, "{text}");
        }
    }

    #[test]
    fn paths_in_code_are_read_and_names_of_uses_followed() {
        assert_eq!(paths("fn f() -> crate::a::B { x }"), ["1 crate::a::B"]);
        assert_eq!(
            paths("use crate::a;\nfn f() {\n    a::go::<u8>(super::b::C);\n}"),
            ["1 crate::a", "3 a::go", "3 crate::a::go", "3 super::b::C"]
        );
        assert_eq!(paths("pub(in crate::a) fn f() {}"), [] as [&str; 0]);
    }

    #[test]
    fn what_is_given_away_is_used_only_where_its_name_stands() {
        let imports = Imports::read("pub use a::{B, c::D as E};\nfn f(_: E) {}");
        assert_eq!(imports.reexport("B").unwrap().path, ["a", "B"]);
        assert_eq!(imports.reexport("E").unwrap().path, ["a", "c", "D"]);
        assert_eq!(imports.reexport("D"), None);
        assert_eq!(imports.paths(), [(vec!["a".to_owned(), "c".to_owned(), "D".to_owned()], 1)]);
        assert_eq!(Imports::read("use a::B;").reexport("B"), None);
        assert_eq!(paths("pub use a::go;\nfn f() { x.go() }"), [] as [&str; 0]);
    }

    #[test]
    fn comments_texts_and_characters_hold_no_paths() {
        for text in [
            "// crate::a::B\n",
            "/* crate::a /* deep */ ::B */",
            "/// [`crate::a::B`]",
            r#"const A: &str = "crate::a::B \" crate::a::C";"#,
            "const A: &str = r#\"crate::a::B \" \"#;",
            r#"const A: &[u8] = b"crate::a::B";"#,
        ] {
            assert_eq!(paths(text), [] as [&str; 0], "{text}");
        }
        for text in [
            r"let a = '\''; crate::a::B",
            r#"let a = '"'; crate::a::B"#,
            "fn f<'a>(_: &'a str) { crate::a::B }",
            r"let a = '\u{22}'; crate::a::B",
            r##"let r = br#"x"#; crate::a::B"##,
        ] {
            assert_eq!(paths(text), ["1 crate::a::B"], "{text}");
        }
    }

    #[test]
    fn items_for_tests_are_left_out() {
        for item in [
            "use crate::a::{B, C};",
            "use crate::a::B;",
            "mod tests { fn f() { if x { crate::a::B } } }",
            "mod tests;",
            "#[expect(x)] fn f(_: [u8; 2]) -> crate::a::B { crate::a::B {} }",
        ] {
            for condition in ["test", "all(test, unix)"] {
                let text = format!("#[cfg({condition})]\n{item}\nfn f() {{ crate::z::Z }}");
                assert_eq!(paths(&text), ["3 crate::z::Z"], "{text}");
            }
        }
        for condition in ["not(test)", "any(test, unix)", "unix"] {
            let text = format!("#[cfg({condition})]\nuse crate::a::B;");
            assert_eq!(paths(&text), ["2 crate::a::B"], "{text}");
        }
    }
}
