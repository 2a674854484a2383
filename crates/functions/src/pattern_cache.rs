//! Compiled regular expressions, kept between rows.
//!
//! Invariants:
//! * a cache holds at most [`PATTERN_CACHE_MAX`] expressions, the ones used last;
//! * a bad pattern is remembered as such, so that it is compiled once.

use std::sync::{Arc, Mutex, PoisonError};

use fancy_regex::{Regex, RegexBuilder};

use crate::limits::{
    PATTERN_CACHE_MAX, REGEX_BACKTRACK_MAX, REGEX_COMPILED_BYTES_MAX, REGEX_INSTRUCTIONS_MAX,
    REGEX_PATTERN_BYTES_MAX,
};

/// The regular expressions of one query, compiled on first use.
#[derive(Default)]
pub struct PatternCache {
    /// The one used last at the end.
    entries: Mutex<Vec<Entry>>,
}

struct Entry {
    pattern: Box<str>,
    modifiers: Box<str>,
    regex: Option<Arc<Regex>>,
}

impl PatternCache {
    /// Returns an empty cache.
    pub fn new() -> PatternCache {
        PatternCache::default()
    }

    /// Searches a text; `None` where pattern or modifiers are bad, or the search goes beyond its bound.
    pub(crate) fn is_match(&self, text: &str, pattern: &str, modifiers: &str) -> Option<bool> {
        self.regex(pattern, modifiers)?.is_match(text).ok()
    }

    fn regex(&self, pattern: &str, modifiers: &str) -> Option<Arc<Regex>> {
        if pattern.len() > REGEX_PATTERN_BYTES_MAX {
            return None;
        }
        // Nothing panics while the lock is held but for lack of memory, and the entries are whole even then.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let found =
            entries.iter().rposition(|entry| *entry.pattern == *pattern && *entry.modifiers == *modifiers);
        if let Some(position) = found {
            entries[position..].rotate_left(1);
        } else {
            if entries.len() >= PATTERN_CACHE_MAX {
                entries.remove(0);
            }
            let regex = compile(pattern, modifiers).map(Arc::new);
            entries.push(Entry { pattern: pattern.into(), modifiers: modifiers.into(), regex });
        }
        entries.last().and_then(|entry| entry.regex.clone())
    }
}

impl std::fmt::Debug for PatternCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("PatternCache")
    }
}

fn compile(pattern: &str, modifiers: &str) -> Option<Regex> {
    let part_bytes_max = REGEX_COMPILED_BYTES_MAX / parts_max(pattern);
    let mut builder = RegexBuilder::new(pattern);
    builder
        .backtrack_limit(REGEX_BACKTRACK_MAX)
        .max_prog_size(REGEX_INSTRUCTIONS_MAX)
        .delegate_size_limit(part_bytes_max)
        .delegate_dfa_size_limit(part_bytes_max)
        .delegate_dfa_skip_cache_capacity_check(false);
    for modifier in modifiers.chars() {
        match modifier {
            'm' => builder.multi_line(true),
            's' => builder.dot_matches_new_line(true),
            'i' => builder.case_insensitive(true),
            'x' => builder.verbose_mode(true),
            _ => return None,
        };
    }
    builder.build().ok()
}

/// Returns a bound on the number of automata that a pattern is compiled to, among which its memory is divided.
///
/// A pattern without references and assertions is one automaton; otherwise each piece between groups and
/// branches may become one. Taking a pattern for more than it is only makes its share smaller.
fn parts_max(pattern: &str) -> usize {
    let followed_by = |mark: &str, admits: fn(char) -> bool| {
        pattern
            .match_indices(mark)
            .any(|(at, _)| pattern[at + mark.len()..].chars().next().is_some_and(admits))
    };
    let needs_going_back = followed_by("(?", |next| next != ':')
        || followed_by("\\", |next| !"wWdDsSbBnrt.\\/-+*?()[]{}|^$ux".contains(next))
        || ["++", "*+", "?+", "}+"].iter().any(|quantifier| pattern.contains(quantifier));
    if !needs_going_back {
        return 1;
    }
    1 + 2 * pattern.matches(['(', '|', '\\']).count()
}

#[cfg(test)]
#[path = "pattern_cache_tests.rs"]
mod tests;
