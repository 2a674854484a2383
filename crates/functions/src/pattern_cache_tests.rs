//! Tests of the bounds on regular expressions; what they match is tested with REGEXMATCH.

use super::*;

#[test]
fn pattern_length() {
    let cache = PatternCache::new();
    let longest = "a".repeat(REGEX_PATTERN_BYTES_MAX);
    assert_eq!(cache.is_match("a", &longest, ""), Some(false));
    assert_eq!(cache.is_match("a", &format!("{longest}a"), ""), None);
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
        assert_eq!(cache.is_match("a", pattern, ""), expected, "{pattern}");
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
    assert_eq!(PatternCache::new().is_match("a", &many, ""), None);
}

#[test]
fn steps_back() {
    let cache = PatternCache::new();
    assert_eq!(cache.is_match(&"a".repeat(40), r"^(?:(a+)+\1?)+$(?<!a)b", ""), None);
}

#[test]
fn nesting_as_deep_as_the_length_allows_is_refused() {
    let cache = PatternCache::new();
    for (open, close) in [("(", ")"), ("(?:", ")"), ("(?=", ")"), ("[", "]"), ("(?>", ")"), ("(a|", ")*")] {
        let depth = REGEX_PATTERN_BYTES_MAX / (open.len() + close.len()) - 1;
        let pattern = format!("{}a{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(cache.is_match("a", &pattern, ""), None, "{open}");
    }
    assert_eq!(cache.is_match("a", &"a|".repeat(REGEX_PATTERN_BYTES_MAX / 2), ""), Some(true));
    assert_eq!(cache.is_match("a", &"a?+*".repeat(REGEX_PATTERN_BYTES_MAX / 4), ""), None);
}

#[test]
fn the_cache_keeps_what_was_used_last() {
    let cache = PatternCache::new();
    // More patterns than a cache holds still work, the first ones too.
    for _ in 0..2 {
        for number in 0..2 * PATTERN_CACHE_MAX {
            assert_eq!(cache.is_match(&number.to_string(), &format!("^{number}$"), ""), Some(true));
            assert_eq!(cache.is_match("0", "^0$", ""), Some(true));
        }
    }
    let patterns = |cache: &PatternCache| -> Vec<String> {
        cache.entries.lock().unwrap().iter().map(|entry| entry.pattern.to_string()).collect()
    };
    assert_eq!(patterns(&cache).len(), PATTERN_CACHE_MAX);
    assert_eq!(patterns(&cache).last().map(String::as_str), Some("^0$"));
    // The same pattern with other modifiers is another, and a bad one is kept too.
    let cache = PatternCache::new();
    assert_eq!(cache.is_match("A", "a", ""), Some(false));
    assert_eq!(cache.is_match("A", "a", "i"), Some(true));
    assert_eq!(cache.is_match("A", "(", ""), None);
    assert_eq!(cache.is_match("A", "(", ""), None);
    assert_eq!(patterns(&cache), ["a", "a", "("]);
}
