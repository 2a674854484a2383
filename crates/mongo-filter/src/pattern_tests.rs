//! The beginnings of patterns.

#[test]
fn prefixes_of_patterns() {
    let prefix = |pattern: &str, options: &str| {
        super::Pattern::new(pattern, options)
            .expect("a good pattern")
            .prefix()
            .map(|prefix| format!("{}{}", prefix.text, if prefix.is_whole { "!" } else { "" }))
    };
    for (pattern, options, expected) in [
        ("^abc", "", Some("abc!")),
        ("^abc.*", "", Some("abc!")),
        ("^abc*", "", Some("ab")),
        ("^abc?d", "", Some("ab")),
        ("^abc+", "", Some("ab")),
        ("^ab{2}", "", Some("a")),
        ("^abc$", "", Some("abc")),
        ("^a\\.b", "", Some("a.b!")),
        ("^a\\d", "", Some("a")),
        ("^a|b", "", None),
        ("abc", "", None),
        ("^abc", "i", None),
        ("^abc", "m", None),
        ("^a c", "x", None),
        ("^(abc)", "", None),
        ("^", "", None),
        ("^a[bc]", "s", Some("a")),
    ] {
        assert_eq!(prefix(pattern, options).as_deref(), expected, "{pattern}");
    }
}
