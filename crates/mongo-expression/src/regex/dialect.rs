//! PCRE's dialect in the words of `fancy-regex`, where the two say different things or one says nothing.
//!
//! * `\d`, `\w`, `\s` and `\h` mean ASCII, as PCRE takes them unless told otherwise;
//! * inside brackets `[`, `&` and `~` are themselves, and so is white space in verbose patterns;
//! * texts between `\Q` and `\E`, which libraries of Java write, stand for themselves;
//! * `$` at an end also matches before a last line break.
//!
//! Not here: what neither has, which fails to compile.

use std::borrow::Cow;

/// What PCRE takes at the begin of a pattern to say what is so here anyway.
const UNICODE_VERBS: [&str; 3] = ["(*UTF8)", "(*UTF)", "(*UCP)"];

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACE: &str = r"\x09-\x0D\x20";
const HORIZONTAL: &str = r"\x09\x20\xA0";
const LAST_END: &str = r"(?:\n?\z)";

/// Translates a pattern.
pub(super) fn translate<'a>(pattern: &'a str, options: &str) -> Cow<'a, str> {
    let mut pattern = pattern;
    while let Some(rest) = UNICODE_VERBS.iter().find_map(|verb| pattern.strip_prefix(verb)) {
        pattern = rest;
    }
    if !pattern.contains(['\\', '[', '$', '#']) {
        return Cow::Borrowed(pattern);
    }
    let mut translation = Translation {
        rest: pattern,
        out: String::with_capacity(pattern.len() + 16),
        is_verbose: options.contains('x'),
        ends_at_last: !options.contains('m') && !has_inline_lines(pattern),
    };
    translation.run();
    Cow::Owned(translation.out)
}

/// Says whether a pattern may turn on itself that `$` matches at each line.
fn has_inline_lines(pattern: &str) -> bool {
    pattern.split("(?").skip(1).any(|group| {
        let flags = group.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-');
        flags.into_iter().any(|flag| flag == b'm')
    })
}

struct Translation<'a> {
    rest: &'a str,
    out: String,
    is_verbose: bool,
    ends_at_last: bool,
}

impl<'a> Translation<'a> {
    fn run(&mut self) {
        while let Some(letter) = self.next() {
            match letter {
                '\\' => self.escape(),
                '[' => self.class(),
                '$' if self.ends_at_last && (self.rest.is_empty() || self.rest.starts_with([')', '|'])) => {
                    self.out.push_str(LAST_END);
                }
                '#' if self.is_verbose => {
                    let line = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[line..];
                }
                '(' if self.rest.starts_with("?#") => {
                    let end = self.rest.find(')').map_or(self.rest.len(), |at| at + 1);
                    self.rest = &self.rest[end..];
                }
                other => self.out.push(other),
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    /// Returns the text up to `\E`, after which it goes on.
    fn quoted(&mut self) -> &'a str {
        let (text, after) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
        self.rest = after;
        text
    }

    /// Writes what a backslash outside of brackets escapes.
    fn escape(&mut self) {
        let Some(letter) = self.next() else {
            self.out.push('\\');
            return;
        };
        match letter {
            'Q' => {
                let text = fancy_regex::escape(self.quoted());
                // What escapes does not know that blanks mean nothing in verbose patterns.
                for letter in text.chars() {
                    if self.is_verbose && letter.is_ascii_whitespace() {
                        self.push_code(letter);
                    } else {
                        self.out.push(letter);
                    }
                }
            }
            'E' => {}
            'd' => self.bracketed("", DIGIT),
            'D' => self.bracketed("^", DIGIT),
            'w' => self.bracketed("", WORD),
            'W' => self.bracketed("^", WORD),
            's' => self.bracketed("", SPACE),
            'S' => self.bracketed("^", SPACE),
            'h' => self.bracketed("", HORIZONTAL),
            'H' => self.bracketed("^", HORIZONTAL),
            other => self.other_escape(other),
        }
    }

    fn bracketed(&mut self, negation: &str, members: &str) {
        self.out.push('[');
        self.out.push_str(negation);
        self.out.push_str(members);
        self.out.push(']');
    }

    fn other_escape(&mut self, letter: char) {
        // These are themselves to PCRE; here they would be borders of words, or nothing.
        if !matches!(letter, '<' | '>') && letter.is_ascii() {
            self.out.push('\\');
        }
        self.out.push(letter);
    }

    fn push_code(&mut self, letter: char) {
        self.out.push_str(&format!("\\x{:02X}", u32::from(letter)));
    }

    /// Writes a class, whose bracket was read.
    fn class(&mut self) {
        self.out.push('[');
        if let Some(rest) = self.rest.strip_prefix('^') {
            self.out.push('^');
            self.rest = rest;
        }
        // A closing bracket that comes first is a member.
        if let Some(rest) = self.rest.strip_prefix(']') {
            self.out.push_str("\\]");
            self.rest = rest;
        }
        while let Some(letter) = self.next() {
            match letter {
                ']' => {
                    self.out.push(']');
                    return;
                }
                '\\' => self.class_escape(),
                '[' => match self.rest.strip_prefix(':').and_then(|name| name.split_once(":]")) {
                    Some((name, after)) if name.bytes().all(|b| b.is_ascii_lowercase() || b == b'^') => {
                        self.out.push_str("[:");
                        self.out.push_str(name);
                        self.out.push_str(":]");
                        self.rest = after;
                    }
                    _ => self.out.push_str("\\["),
                },
                '&' | '~' => {
                    self.out.push('\\');
                    self.out.push(letter);
                }
                '#' if self.is_verbose => self.push_code(letter),
                letter if self.is_verbose && letter.is_ascii_whitespace() => self.push_code(letter),
                other => self.out.push(other),
            }
        }
    }

    fn class_escape(&mut self) {
        let Some(letter) = self.next() else {
            self.out.push('\\');
            return;
        };
        match letter {
            'd' => self.out.push_str(DIGIT),
            'w' => self.out.push_str(WORD),
            's' => self.out.push_str(SPACE),
            'h' => self.out.push_str(HORIZONTAL),
            'D' => self.bracketed("^", DIGIT),
            'W' => self.bracketed("^", WORD),
            'S' => self.bracketed("^", SPACE),
            'H' => self.bracketed("^", HORIZONTAL),
            // Inside of brackets the letter of borders of words means the backspace.
            'b' => self.out.push_str(r"\x08"),
            'Q' => {
                for letter in self.quoted().chars() {
                    if letter.is_ascii() {
                        self.push_code(letter);
                    } else {
                        self.out.push(letter);
                    }
                }
            }
            'E' => {}
            other => self.other_escape(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::regex::compile;

    #[test]
    fn what_matches_as_in_pcre() {
        for (pattern, options, text, expected) in [
            (r"^\w+$", "", "abc_1", true),
            (r"^\w+$", "", "é", false),
            (r"^\d$", "", "٣", false),
            (r"^[\d.]+$", "", "1.2", true),
            (r"^[\D]+$", "", "ab", true),
            (r"^[\D]+$", "", "a1", false),
            (r"^[^\s\d]$", "", "x", true),
            (r"^[^\s\d]$", "", " ", false),
            (r"a\sb", "", "a b", true),
            (r"a\sb", "x", "a b", true),
            (r"[[]", "", "[", true),
            (r"^[a[b]+$", "", "a[b", true),
            (r"^[]a]+$", "", "]a", true),
            (r"^[^]a]$", "", "b", true),
            (r"^[a&&b]+$", "", "a&b", true),
            (r"^[[:alpha:]]+$", "", "ab", true),
            (r"^[[:^alpha:]]$", "", "1", true),
            (r"^[\[\]]+$", "", "[]", true),
            (r"[\b]", "", "\u{8}", true),
            (r"\bfoo\b", "", "a foo b", true),
            (r"\<a\>", "", "<a>", true),
            (r"a\/b", "", "a/b", true),
            (r"a\-b\_c", "", "a-b_c", true),
            (r"^\é$", "", "é", true),
            (r"abc$", "", "abc\n", true),
            (r"abc$", "", "abc\n\n", false),
            (r"abc$", "", "abc\nx", false),
            (r"abc$", "m", "abc\nx", true),
            (r"(?m)abc$", "", "abc\nx", true),
            (r"(abc|x$)", "", "yx\n", true),
            (r"\$$", "", "a$", true),
            (r"[$]", "", "$", true),
            (r"\Qa.b\E+", "", "a.bbb", true),
            (r"^\Qa b\E$", "x", "a b", true),
            (
                r"^ a [ ] b # comment [
              c$",
                "x",
                "a bc",
                true,
            ),
            (r"a(?#comment [)b", "", "ab", true),
            (r"(?<year>\d{4})-\k<year>", "", "2020-2020", true),
            (r"(?<!a)b", "", "ab", false),
            (r"(?i)ABC", "", "abc", true),
            (r"STRASSE|É", "i", "é", true),
            (r"\x41\u{42}?", "", "A", true),
            (r"a{2,3}", "", "aa", true),
            (r"\p{Lu}", "", "É", true),
        ] {
            let regex =
                compile(pattern, options).unwrap_or_else(|error| panic!("{pattern}: {}", error.message));
            assert_eq!(regex.is_match(text).unwrap(), expected, "{pattern} {options} {text:?}");
        }
    }

    #[test]
    fn unfinished_patterns_fail_without_panic() {
        for pattern in [
            "\\", "[", "[^", "[]", "[\\", "[[:", "(?#", "\\Q", "[\\Q", "(?<", "a\\E", "[a-", "*", "(?", "\\x",
        ] {
            let _ = compile(pattern, "x");
            let _ = compile(pattern, "");
        }
        assert!(compile("\\Q(", "").unwrap().is_match("(").unwrap());
    }
}
