//! Compiled regular expressions, kept between rows, and searching with them.
//!
//! Three ways to search. What goes back, because it refers to groups or looks around, is left to a machine that tries
//! and fails; that cannot be interrupted, so its tries and its text are bounded. Short texts are searched by the quickest
//! means. Long texts are searched by an automaton that is driven byte by byte, so that it can be stopped at any of them.
//!
//! Invariants:
//! * a cache holds at most [`PATTERN_CACHE_MAX`] expressions, the ones used most;
//! * a bad pattern is remembered as such, so that it is compiled once.

use std::sync::{Arc, OnceLock};

use fancy_regex::{Regex, RegexBuilder};
use parking_lot::Mutex;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use crate::limits::{
    PATTERN_CACHE_MAX, REGEX_BACKTRACK_MAX, REGEX_BACKTRACK_TEXT_BYTES_MAX, REGEX_COMPILED_BYTES_MAX,
    REGEX_INSTRUCTIONS_MAX, REGEX_PATTERN_BYTES_MAX, REGEX_QUICK_TEXT_BYTES_MAX,
};
use crate::meter::Meter;

/// The steps that compiling an expression stands for, and each byte of its text.
const COMPILE_STEPS: u64 = 2_000;
const COMPILE_STEPS_PER_BYTE: u64 = 50;

/// How many bytes of a text are gone over in one step.
const SEARCHED_BYTES_PER_STEP: usize = 8;

/// After so many bytes the meter is asked: each may take an automaton long, while it does not know the way.
const BYTES_AT_ONCE: usize = 256;

/// The regular expressions of one query, compiled on first use.
#[derive(Default)]
pub struct PatternCache {
    entries: Mutex<Vec<Entry>>,
}

struct Entry {
    pattern: Box<str>,
    modifiers: Box<str>,
    compiled: Option<Arc<Compiled>>,
    uses: u64,
}

/// A compiled expression.
struct Compiled {
    regex: Regex,
    /// Whether a search may go back.
    goes_back: bool,
    /// What searches long texts, made when there is one; nothing where there is no such thing for the expression.
    automaton: OnceLock<Option<DFA>>,
}

impl PatternCache {
    /// Returns an empty cache.
    pub fn new() -> PatternCache {
        PatternCache::default()
    }

    /// Searches a text; `None` where pattern or modifiers are bad, or the search goes beyond its bound.
    pub(crate) fn is_match(
        &self,
        text: &str,
        pattern: &str,
        modifiers: &str,
        meter: &Meter<'_>,
    ) -> Option<bool> {
        let compiled = self.compiled(pattern, modifiers, meter)?;
        let is_long = text.len() > REGEX_QUICK_TEXT_BYTES_MAX;
        if is_long && !compiled.goes_back {
            let automaton = compiled.automaton.get_or_init(|| automaton(pattern, modifiers));
            match automaton.as_ref().map(|automaton| search(automaton, text, meter)) {
                Some(Searched::Found(found)) => return Some(found),
                Some(Searched::Stopped) => return None,
                // Some expressions ask about characters what an automaton of bytes cannot tell.
                Some(Searched::Unable) | None => {}
            }
        }
        if text.len() > REGEX_BACKTRACK_TEXT_BYTES_MAX
            || !meter.go_on((text.len() / SEARCHED_BYTES_PER_STEP) as u64)
        {
            return None;
        }
        compiled.regex.is_match(text).ok()
    }

    fn compiled(&self, pattern: &str, modifiers: &str, meter: &Meter<'_>) -> Option<Arc<Compiled>> {
        if pattern.len() > REGEX_PATTERN_BYTES_MAX {
            return None;
        }
        // Nothing panics while the lock is held but for lack of memory, and the entries are whole even then.
        let mut entries = self.entries.lock();
        let is_wanted = |entry: &Entry| *entry.pattern == *pattern && *entry.modifiers == *modifiers;
        if let Some(entry) = entries.iter_mut().find(|entry| is_wanted(entry)) {
            entry.uses += 1;
            return entry.compiled.clone();
        }
        drop(entries);
        if !meter.go_on(COMPILE_STEPS + COMPILE_STEPS_PER_BYTE * pattern.len() as u64) {
            return None;
        }
        let compiled = compile(pattern, modifiers).map(Arc::new);
        let entry = Entry {
            pattern: pattern.into(),
            modifiers: modifiers.into(),
            compiled: compiled.clone(),
            uses: 1,
        };
        let mut entries = self.entries.lock();
        if entries.len() >= PATTERN_CACHE_MAX {
            // Of those used least the newest goes: where there are too many, most of them stay.
            let least = entries.iter().enumerate().rev().min_by_key(|(_, entry)| entry.uses);
            if let Some((place, _)) = least {
                entries.swap_remove(place);
            }
        }
        entries.push(entry);
        compiled
    }
}

impl std::fmt::Debug for PatternCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("PatternCache")
    }
}

fn compile(pattern: &str, modifiers: &str) -> Option<Compiled> {
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
    let regex = builder.build().ok()?;
    Some(Compiled { regex, goes_back: goes_back(pattern), automaton: OnceLock::new() })
}

/// Makes the automaton of an expression that never goes back; `None` where there is none.
fn automaton(pattern: &str, modifiers: &str) -> Option<DFA> {
    let syntax = syntax::Config::new()
        .multi_line(modifiers.contains('m'))
        .dot_matches_new_line(modifiers.contains('s'))
        .case_insensitive(modifiers.contains('i'))
        .ignore_whitespace(modifiers.contains('x'));
    DFA::builder()
        .syntax(syntax)
        .thompson(thompson::Config::new().nfa_size_limit(Some(REGEX_COMPILED_BYTES_MAX)))
        .configure(DFA::config().unicode_word_boundary(true).cache_capacity(REGEX_COMPILED_BYTES_MAX))
        .build(pattern)
        .ok()
}

enum Searched {
    Found(bool),
    Stopped,
    Unable,
}

/// Searches a text byte by byte.
fn search(automaton: &DFA, text: &str, meter: &Meter<'_>) -> Searched {
    let mut cache = Cache::new(automaton);
    let input = Input::new(text).anchored(Anchored::No);
    let Ok(mut state) = automaton.start_state_forward(&mut cache, &input) else { return Searched::Unable };
    // An unknown way costs as much as there are states; the meter's watch sees how long it really takes.
    let steps = (BYTES_AT_ONCE / SEARCHED_BYTES_PER_STEP) as u64;
    for bytes in text.as_bytes().chunks(BYTES_AT_ONCE) {
        if !meter.go_on(steps) {
            return Searched::Stopped;
        }
        for byte in bytes {
            match automaton.next_state(&mut cache, state, *byte) {
                Ok(next) => state = next,
                Err(_) => return Searched::Unable,
            }
            if state.is_tagged() {
                if state.is_match() {
                    return Searched::Found(true);
                }
                if state.is_dead() {
                    return Searched::Found(false);
                }
                if state.is_quit() {
                    return Searched::Unable;
                }
            }
        }
    }
    match automaton.next_eoi_state(&mut cache, state) {
        Ok(state) if !state.is_quit() => Searched::Found(state.is_match()),
        _ => Searched::Unable,
    }
}

/// Returns whether a search with an expression may go back: it refers to groups, looks around, or takes without giving
/// back. Taking one for such that is none only bounds the texts that are searched with it.
fn goes_back(pattern: &str) -> bool {
    let is_plain_group = |rest: &str| {
        let flags = rest.trim_start_matches(['i', 'm', 's', 'x', 'u', 'U', 'R', '-']);
        flags.starts_with([':', ')'])
            || rest.starts_with("P<")
            || rest.strip_prefix('<').is_some_and(|name| !name.starts_with(['=', '!']))
    };
    pattern.match_indices("(?").any(|(at, mark)| !is_plain_group(&pattern[at + mark.len()..]))
        || followed_by(pattern, "\\", |next| !PLAIN_ESCAPES.contains(next))
        || takes_without_giving_back(pattern)
}

/// Escapes that mean the same to every machine.
const PLAIN_ESCAPES: &str = "wWdDsSbBnrt.\\/-+*?()[]{}|^$uxpP";

fn followed_by(pattern: &str, mark: &str, admits: fn(char) -> bool) -> bool {
    pattern.match_indices(mark).any(|(at, _)| pattern[at + mark.len()..].chars().next().is_some_and(admits))
}

fn takes_without_giving_back(pattern: &str) -> bool {
    ["++", "*+", "?+", "}+"].iter().any(|quantifier| pattern.contains(quantifier))
}

/// Returns a bound on the number of automata that a pattern is compiled to, among which its memory is divided.
///
/// A pattern without references and assertions is one automaton; otherwise each piece between groups and
/// branches may become one. Taking a pattern for more than it is only makes its share smaller.
fn parts_max(pattern: &str) -> usize {
    let needs_going_back = followed_by(pattern, "(?", |next| next != ':')
        || followed_by(pattern, "\\", |next| !"wWdDsSbBnrt.\\/-+*?()[]{}|^$ux".contains(next))
        || takes_without_giving_back(pattern);
    if !needs_going_back {
        return 1;
    }
    1 + 2 * pattern.matches(['(', '|', '\\']).count()
}

#[cfg(test)]
#[path = "pattern_cache_tests.rs"]
mod tests;
