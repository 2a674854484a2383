//! Tests of LIKE.

use proptest::prelude::*;

use super::*;
use crate::limits::LIKE_MASK_CHARACTERS_MAX;
use crate::meter::{Look, Stop};

/// A pattern, its escape, texts that match it and texts that do not.
type Case<'a> = (&'a str, Option<char>, &'a [&'a str], &'a [&'a str]);

#[test]
fn table() {
    let cases: &[Case<'_>] = &[
        ("abc", None, &["abc"], &["ABC", "abcd", "ab", ""]),
        ("", None, &[""], &["a"]),
        ("%", None, &["", "a", "line\nbreak"], &[]),
        ("%%%", None, &["", "a"], &[]),
        ("a%", None, &["a", "abc", "a\n"], &["ba", ""]),
        ("%a", None, &["a", "bca"], &["ab"]),
        ("%a%", None, &["a", "bab"], &["b", ""]),
        ("a%b", None, &["ab", "aab", "a\nb", "abab"], &["a", "b", "aba"]),
        ("_", None, &["a", "é", "😀", "\n"], &["", "ab"]),
        ("_%", None, &["a", "ab"], &[""]),
        ("%_", None, &["a", "ab"], &[""]),
        ("%_%_%", None, &["ab", "abc"], &["a", ""]),
        ("a_c", None, &["abc", "a\nc", "aéc"], &["ac", "abbc"]),
        ("%b_d%", None, &["abcd", "bbcdx", "bxbcd"], &["bd", "bcccd"]),
        ("%ab%ab", None, &["abab", "xabab", "ababab"], &["ab", "abxa"]),
        ("a%_b", None, &["axb", "aab"], &["ab"]),
        ("[abc]x", None, &["ax", "cx"], &["dx", "x", "abcx"]),
        ("[a-f]", None, &["a", "f", "c"], &["g", "A", "-", ""]),
        ("[^a-f]", None, &["g", "A", "-", "é"], &["a", "f", ""]),
        ("[^abc]%", None, &["d", "dabc"], &["a", "abc", ""]),
        ("[-a]", None, &["-", "a"], &["b"]),
        ("[a-]", None, &["-", "a"], &["b"]),
        ("[^-a]", None, &["b"], &["-", "a"]),
        ("[a-cx-z]", None, &["b", "y"], &["m"]),
        ("[z-a]", None, &[], &["z", "a", "m"]),
        ("%20[%]%", None, &["up to 20% off"], &["up to 200 off"]),
        ("[_]n", None, &["_n"], &["an"]),
        ("[[]", None, &["["], &["[[", "a"]),
        ("]", None, &["]"], &["a"]),
        ("a]b", None, &["a]b"], &["ab"]),
        ("[a]]", None, &["a]"], &["a", "]"]),
        // Ours: an unclosed bracket stands for itself, wildcards behind it for what they are.
        ("[abc", None, &["[abc"], &["a"]),
        ("[a%", None, &["[a", "[abc"], &["a"]),
        ("[^", None, &["[^"], &["a"]),
        // Ours: nothing is in an empty set, and everything is outside it.
        ("[]", None, &[], &["", "a", "[]"]),
        ("[^]", None, &["a"], &[""]),
        ("20!%", Some('!'), &["20%"], &["200", "20!%"]),
        ("%20^%%", Some('^'), &["is 20% off"], &["is 200"]),
        ("a!_b", Some('!'), &["a_b"], &["axb"]),
        ("a!!b", Some('!'), &["a!b"], &["a!!b"]),
        ("a![b]", Some('!'), &["a[b]"], &["ab"]),
        ("[!]a]", Some('!'), &["]", "a"], &["!"]),
        ("a!", Some('!'), &["a!"], &["a"]),
        ("%%%", Some('%'), &["%%"], &["%", "a"]),
        ("a\\%", None, &["a\\", "a\\x"], &["a%"]),
        ("é%ü", None, &["éü", "éxü"], &["éu"]),
    ];
    for (pattern, escape, matching, other) in cases {
        let compiled = LikePattern::new(pattern, *escape);
        for text in *matching {
            assert!(compiled.matches(text, &Meter::unlimited()), "{text:?} like {pattern:?}");
        }
        for text in *other {
            assert!(!compiled.matches(text, &Meter::unlimited()), "{text:?} not like {pattern:?}");
        }
    }
}

#[test]
fn shapes_and_prefixes() {
    let text = |text: &str| text.to_owned();
    let cases = [
        ("abc", LikeShape::Exact(text("abc")), "abc"),
        ("", LikeShape::Exact(text("")), ""),
        ("abc%", LikeShape::Prefix(text("abc")), "abc"),
        ("abc%%", LikeShape::Prefix(text("abc")), "abc"),
        ("%", LikeShape::Prefix(text("")), ""),
        ("%abc", LikeShape::Suffix(text("abc")), ""),
        ("%abc%", LikeShape::Contains(text("abc")), ""),
        ("%%abc%%", LikeShape::Contains(text("abc")), ""),
        ("20!%%", LikeShape::Prefix(text("20%")), "20%"),
        ("ab_d%", LikeShape::Other, "ab"),
        ("ab%cd", LikeShape::Other, "ab"),
        ("ab[cd]", LikeShape::Other, "ab"),
        ("_ab", LikeShape::Other, ""),
        ("%ab%cd%", LikeShape::Other, ""),
        ("%_%", LikeShape::Other, ""),
        ("[a", LikeShape::Exact(text("[a")), "[a"),
    ];
    for (pattern, shape, prefix) in cases {
        let compiled = LikePattern::new(pattern, Some('!'));
        assert_eq!(*compiled.shape(), shape, "{pattern}");
        assert_eq!(compiled.literal_prefix(), prefix, "{pattern}");
    }
}

/// Matches by trying everything, straight from the rules.
fn naive(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['%', rest @ ..] => (0..=text.len()).any(|skip| naive(rest, &text[skip..])),
        ['_', rest @ ..] => !text.is_empty() && naive(rest, &text[1..]),
        ['[', inside @ ..] => match inside.iter().position(|&character| character == ']') {
            None => text.first() == Some(&'[') && naive(inside, &text[1..]),
            Some(end) => {
                let (set, rest) = (&inside[..end], &inside[end + 1..]);
                let (negated, set) = if set.first() == Some(&'^') { (true, &set[1..]) } else { (false, set) };
                text.first().is_some_and(|&character| in_set(set, character) != negated)
                    && naive(rest, &text[1..])
            }
        },
        [literal, rest @ ..] => text.first() == Some(literal) && naive(rest, &text[1..]),
    }
}

fn in_set(set: &[char], character: char) -> bool {
    match set {
        [] => false,
        [low, '-', high, rest @ ..] => (*low <= character && character <= *high) || in_set(rest, character),
        [only, rest @ ..] => *only == character || in_set(rest, character),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn agrees_with_trying_everything(pattern in "[ab%_é\\[\\]\\^-]{0,8}", text in "[abé\\[\\]\\-]{0,8}") {
        let characters = |text: &str| text.chars().collect::<Vec<_>>();
        let expected = naive(&characters(&pattern), &characters(&text));
        let compiled = LikePattern::new(&pattern, None);
        prop_assert_eq!(compiled.matches(&text, &Meter::unlimited()), expected, "{} like {}", text, pattern);
        prop_assert!(!expected || text.starts_with(compiled.literal_prefix()));
        // The shortcuts of the simple shapes and the general way say the same.
        prop_assert_eq!(compiled.matches_segments(&text, &Meter::unlimited()), expected);
    }

    #[test]
    fn escaped_text_matches_itself_alone(text in "[ab%_\\[\\]!\\^é]{0,8}", other in "[ab%_]{0,8}") {
        let escaped: String = text.chars().flat_map(|character| ['!', character]).collect();
        let compiled = LikePattern::new(&escaped, Some('!'));
        prop_assert_eq!(compiled.shape(), &LikeShape::Exact(text.clone()));
        prop_assert!(compiled.matches(&text, &Meter::unlimited()));
        prop_assert_eq!(compiled.matches(&other, &Meter::unlimited()), text == other);
    }
}

/// What one search takes must grow with the text alone, whatever stands between the `%`.
#[test]
fn searching_takes_time_in_proportion_to_the_text() {
    let text = "a".repeat(200_000);
    let underscores = "_".repeat(4_000);
    for pattern in [
        format!("%{underscores}z%"),
        format!("%z{underscores}%"),
        format!("%{underscores}z{underscores}%"),
        format!("%{}z%", "a_".repeat(1_000)),
        format!("%{}z%", "[a-c]".repeat(1_000)),
        format!("%{}[^a]%", "_a".repeat(2_000)),
        format!("%{}%{}z%", "a_".repeat(500), "_a".repeat(500)),
    ] {
        let meter = Meter::unlimited();
        assert!(!LikePattern::new(&pattern, None).matches(&text, &meter), "{}", &pattern[..20]);
        // 64 places of the pattern are compared at once.
        assert!(meter.steps() < 10 * text.len() as u64, "{}: {} steps", &pattern[..20], meter.steps());
        let fitting = pattern.replace(['z', '%'], "a").replace(['_', 'b', 'c'], "a");
        if !pattern.contains('[') {
            let pattern = pattern.replace('z', "a");
            assert!(LikePattern::new(&pattern, None).matches(&fitting, &meter), "{}", &pattern[..20]);
        }
    }
}

/// Patterns that are too long to be searched for at once can be stopped.
#[test]
fn a_long_search_can_be_stopped() {
    let text = "a".repeat(1_000_000);
    let pattern = format!("%{}z%", "a_".repeat(LIKE_MASK_CHARACTERS_MAX));
    let meter = Meter::new(&|steps| if steps > 100_000 { Look::Stop(Stop::Time) } else { Look::GoOn(100) });
    assert!(!LikePattern::new(&pattern, None).matches(&text, &meter));
    assert_eq!(meter.stopped(), Some(Stop::Time));
    assert!(meter.steps() < 101_000, "{}", meter.steps());
}
