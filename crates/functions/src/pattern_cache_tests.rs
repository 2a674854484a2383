//! Tests of the bounds on regular expressions; what they match is tested with REGEXMATCH.

use super::*;
use crate::meter::{Look, Stop};

fn is_match(cache: &PatternCache, text: &str, pattern: &str, modifiers: &str) -> Option<bool> {
    cache.is_match(text, pattern, modifiers, &Meter::unlimited())
}

#[test]
fn pattern_length() {
    let cache = PatternCache::new();
    let longest = "a".repeat(REGEX_PATTERN_BYTES_MAX);
    assert_eq!(is_match(&cache, "a", &longest, ""), Some(false));
    assert_eq!(is_match(&cache, "a", &format!("{longest}a"), ""), None);
}

#[test]
fn compiled_size() {
    let cache = PatternCache::new();
    let cases = [
        (r"\w+@\w+\.\w{2,20}", Some(false)),
        (r"(?i)(\w+)\s(\w+)\s\1", Some(false)),
        (r"\w{300}", None),
        ("(?:(?:a{1000}){1000}){1000}", None),
        // Calls of a group are written out.
        ("(a(?1)?(?1)?(?1)?b)", None),
    ];
    for (pattern, expected) in cases {
        assert_eq!(is_match(&cache, "a", pattern, ""), expected, "{pattern}");
    }
}

#[test]
fn every_part_shares_the_memory() {
    let cases = [
        ("abc", 1),
        ("(a|b)(?:c)", 1),
        (r"\d+\.\d+", 1),
        ("(?=a)b", 3),
        (r"(a)\1", 5),
        ("a++", 1),
        ("(?i)a|b", 5),
    ];
    for (pattern, expected) in cases {
        assert_eq!(parts_max(pattern), expected, "{pattern}");
    }
    // Thousands of assertions, each of which alone would be fine.
    let many = r"(?=\w{9})".repeat(REGEX_PATTERN_BYTES_MAX / 10);
    assert_eq!(is_match(&PatternCache::new(), "a", &many, ""), None);
}

#[test]
fn steps_back() {
    let cache = PatternCache::new();
    assert_eq!(is_match(&cache, &"a".repeat(40), r"^(?:(a+)+\1?)+$(?<!a)b", ""), None);
}

#[test]
fn nesting_as_deep_as_the_length_allows_is_refused() {
    let cache = PatternCache::new();
    for (open, close) in [("(", ")"), ("(?:", ")"), ("(?=", ")"), ("[", "]"), ("(?>", ")"), ("(a|", ")*")] {
        let depth = REGEX_PATTERN_BYTES_MAX / (open.len() + close.len()) - 1;
        let pattern = format!("{}a{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(is_match(&cache, "a", &pattern, ""), None, "{open}");
    }
    assert_eq!(is_match(&cache, "a", &"a|".repeat(REGEX_PATTERN_BYTES_MAX / 2), ""), Some(true));
    assert_eq!(is_match(&cache, "a", &"a?+*".repeat(REGEX_PATTERN_BYTES_MAX / 4), ""), None);
}

#[test]
fn the_cache_keeps_what_was_used_most() {
    let cache = PatternCache::new();
    // More patterns than a cache holds still work, the first ones too.
    for _ in 0..2 {
        for number in 0..2 * PATTERN_CACHE_MAX {
            assert_eq!(is_match(&cache, &number.to_string(), &format!("^{number}$"), ""), Some(true));
            assert_eq!(is_match(&cache, "0", "^0$", ""), Some(true));
        }
    }
    let patterns = |cache: &PatternCache| -> Vec<String> {
        cache.entries.lock().iter().map(|entry| entry.pattern.to_string()).collect()
    };
    assert_eq!(patterns(&cache).len(), PATTERN_CACHE_MAX);
    assert!(patterns(&cache).contains(&"^0$".to_owned()));
    // Of too many that come in turn, most are compiled once all the same.
    let first = patterns(&cache);
    for number in 0..2 * PATTERN_CACHE_MAX {
        assert_eq!(is_match(&cache, "x", &format!("^{number}$"), ""), Some(false));
    }
    let kept = patterns(&cache).iter().filter(|pattern| first.contains(pattern)).count();
    assert!(kept >= PATTERN_CACHE_MAX - 1, "{kept}");
    // The same pattern with other modifiers is another, and a bad one is kept too.
    let cache = PatternCache::new();
    assert_eq!(is_match(&cache, "A", "a", ""), Some(false));
    assert_eq!(is_match(&cache, "A", "a", "i"), Some(true));
    assert_eq!(is_match(&cache, "A", "(", ""), None);
    assert_eq!(is_match(&cache, "A", "(", ""), None);
    assert_eq!(patterns(&cache), ["a", "a", "("]);
}

#[test]
fn texts_of_any_length_give_the_same_answer() {
    let cases = [
        ("b$", ""),
        ("^a+b", ""),
        ("A+B$", "i"),
        (r"(?i)A{10}B", ""),
        (r"\bab\b", ""),
        (r"a.b", "s"),
        (r"^x?a", "m"),
        (r"(?<name>a)b", ""),
        (r"[^ab]", ""),
        (r"\p{L}b$", ""),
        ("a  b # spaces", "x"),
    ];
    for (pattern, modifiers) in cases {
        for (unit, end) in [("a", "b"), ("a", "a"), ("\u{e4} ", "ab"), ("ab\n", "ab"), ("-", "-")] {
            let short = format!("{}{end}", unit.repeat(100));
            let cache = PatternCache::new();
            let expected = is_match(&cache, &short, pattern, modifiers);
            let compiled = cache.compiled(pattern, modifiers, &Meter::unlimited()).unwrap();
            assert!(!compiled.goes_back, "{pattern}");
            let automaton = automaton(pattern, modifiers).unwrap();
            match search(&automaton, &short, &Meter::unlimited()) {
                Searched::Found(found) => assert_eq!(Some(found), expected, "{pattern} in {short}"),
                Searched::Stopped => panic!("{pattern} was stopped"),
                Searched::Unable => assert!(!short.is_ascii(), "{pattern} in {short}"),
            }
        }
    }
}

#[test]
fn a_search_in_a_long_text_can_be_stopped() {
    // Every byte leads to a state that is not known yet, and there are more of them than memory.
    let bits: String = (0u64..2_000_000)
        .map(|number| if number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61 & 1 == 1 { '1' } else { '0' })
        .collect();
    let watch = |steps| if steps > 20_000 { Look::Stop(Stop::Time) } else { Look::GoOn(100) };
    for pattern in ["[01]*1[01]{200}x", "(?:0|1|00|11|01){100}x"] {
        let meter = Meter::new(&watch);
        assert_eq!(PatternCache::new().is_match(&bits, pattern, "", &meter), None, "{pattern}");
        assert_eq!(meter.stopped(), Some(Stop::Time), "{pattern}");
        assert!(meter.steps() < 30_000, "{pattern}: {} steps", meter.steps());
    }
}

#[test]
fn what_goes_back_is_for_short_texts() {
    let cache = PatternCache::new();
    let longest = "a".repeat(REGEX_BACKTRACK_TEXT_BYTES_MAX);
    for pattern in ["a(?=a)", r"(a)\1", "(?<!b)a", "a++", "(?>a)"] {
        assert!(goes_back(pattern), "{pattern}");
        assert_eq!(is_match(&cache, &longest, pattern, ""), Some(true), "{pattern}");
        assert_eq!(is_match(&cache, &format!("{longest}a"), pattern, ""), None, "{pattern}");
    }
}
