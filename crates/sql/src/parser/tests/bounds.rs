//! Each bound at its value and one past it, on a thread with the usual stack of 2 MB.

use crate::limits::{NESTING_MAX, QUERY_TEXT_BYTES_MAX, RECURSION_MAX};
use crate::{SyntaxError, UNEXPECTED_TOKEN, parse, parse_expression};

const STACK_BYTES: usize = 2 * 1024 * 1024;

fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).unwrap();
    thread.join().unwrap()
}

fn assert_too_deep(error: &SyntaxError) {
    assert_eq!(error.code, UNEXPECTED_TOKEN);
    assert_eq!(error.message, "query is nested too deeply");
}

/// A shape is what stands before, in the middle of and after the levels; `levels_max` are as many as are
/// read.
struct Shape {
    open: &'static str,
    middle: &'static str,
    close: &'static str,
    levels_max: usize,
}

const fn shape(open: &'static str, middle: &'static str, close: &'static str, levels_max: usize) -> Shape {
    Shape { open, middle, close, levels_max }
}

#[test]
fn nesting_is_bounded() {
    let shapes = [
        shape("(", "1", ")", RECURSION_MAX - 1),
        shape("[", "1", "]", NESTING_MAX - 1),
        shape("{a: ", "1", "}", NESTING_MAX - 1),
        shape("f(", "1", ")", NESTING_MAX - 1),
        shape("f(", "", ")", NESTING_MAX),
        shape("udf.f(", "1", ")", NESTING_MAX - 1),
        shape("c[", "1", "]", NESTING_MAX - 1),
        shape("x IN (", "1", ")", NESTING_MAX - 1),
        shape("(x IN (", "1", "))", NESTING_MAX - 1),
        shape("x LIKE (", "1", ")", NESTING_MAX - 1),
        shape("x BETWEEN 1 AND (", "1", ")", NESTING_MAX - 1),
        shape("a ? b : ", "1", "", NESTING_MAX - 1),
        shape("a ? ", "1", " : b", NESTING_MAX - 1),
        shape("(a ? (b) : ", "1", ")", NESTING_MAX - 1),
        shape("(LET x = 1 IN ", "1", ")", NESTING_MAX - 1),
        shape("(LET x = ", "1", " IN x)", NESTING_MAX - 1),
        shape("(SELECT VALUE ", "1", ")", NESTING_MAX / 2 - 1),
        shape("EXISTS(SELECT 1 WHERE ", "1", ")", NESTING_MAX / 2 - 1),
        shape("NOT ", "a", "", NESTING_MAX - 1),
        shape("- ", "a", "", NESTING_MAX - 1),
        shape("a ?? ", "b", "", NESTING_MAX - 1),
        shape("(a + ", "1", ")", NESTING_MAX - 1),
        shape("(a OR ", "b", ")", NESTING_MAX - 1),
        shape("(", "a", " OR b)", RECURSION_MAX - 1),
        shape("(", "a", " = b)", NESTING_MAX - 1),
        shape("", "a", " + b", NESTING_MAX - 1),
        shape("", "a", " = b", NESTING_MAX - 1),
        shape("", "a", ".b", NESTING_MAX - 1),
        shape("", "a", "[0]", NESTING_MAX - 1),
        shape("(a ?? b OR c AND d = e || f + g * -", "h", ")", (NESTING_MAX - 1) / 8),
    ];
    on_a_small_stack(move || {
        for Shape { open, middle, close, levels_max } in shapes {
            let nested = |levels: usize| format!("{}{middle}{}", open.repeat(levels), close.repeat(levels));
            let text = nested(levels_max);
            let tree =
                parse_expression(&text).unwrap_or_else(|error| panic!("{open}{middle}{close}: {error}"));
            let printed = tree.to_string();
            let again =
                parse_expression(&printed).unwrap_or_else(|error| panic!("{open}{middle}{close}: {error}"));
            assert_eq!(again, tree.clone());
            assert!(!format!("{tree:?}").is_empty());
            for levels in [levels_max + 1, 4 * levels_max, 10_000] {
                assert_too_deep(&parse_expression(&nested(levels)).expect_err(open));
            }
        }
    });
}

#[test]
fn nesting_of_queries_is_bounded() {
    on_a_small_stack(|| {
        for (open, levels_max) in
            [("SELECT * FROM (", NESTING_MAX - 2), ("SELECT * FROM c JOIN x IN (", NESTING_MAX - 2)]
        {
            let nested = |levels: usize| format!("{}SELECT 1{}", open.repeat(levels), ")".repeat(levels));
            let tree = parse(&nested(levels_max)).unwrap();
            assert_eq!(parse(&tree.to_string()).unwrap(), tree.clone());
            assert!(!format!("{tree:?}").is_empty());
            for levels in [levels_max + 1, 10_000] {
                assert_too_deep(&parse(&nested(levels)).unwrap_err());
            }
        }
        let path = |steps: usize| format!("SELECT 1 FROM c{}", ".a".repeat(steps));
        assert!(parse(&path(NESTING_MAX - 2)).is_ok());
        assert_too_deep(&parse(&path(NESTING_MAX - 1)).unwrap_err());
    });
}

#[test]
fn long_chains_and_lists_are_no_nesting() {
    let joined = |part: &str, separator: &str, count: usize| vec![part; count].join(separator);
    let filters = [
        joined("c.a = 1", " OR ", 10_000),
        joined("c.a = 1", " AND ", 10_000),
        joined("c.a = 1 AND c.b = 2", " OR ", 10_000),
        format!("c.a IN ({})", joined("12345", ", ", 50_000)),
        format!("ARRAY_CONTAINS([{}], c.a)", joined("'x'", ",", 50_000)),
        format!("{{{}}}", joined("a: 1", ",", 50_000)),
        format!("{}a = 1{}", "(".repeat(500), ") OR b = 2".repeat(500)),
    ];
    on_a_small_stack(move || {
        for filter in filters {
            let tree = parse(&format!("SELECT * FROM c WHERE {filter}")).unwrap();
            let printed = tree.to_string();
            if printed.len() <= QUERY_TEXT_BYTES_MAX {
                assert_eq!(parse(&printed).unwrap(), tree.clone());
            }
        }
    });
}

#[test]
fn the_text_is_bounded() {
    let padded = |bytes: usize| format!("SELECT 1{}", " ".repeat(bytes - "SELECT 1".len()));
    assert!(parse(&padded(QUERY_TEXT_BYTES_MAX)).is_ok());
    let error = parse(&padded(QUERY_TEXT_BYTES_MAX + 1)).unwrap_err();
    assert_eq!(error.message, "query text of 524289 bytes is longer than the 524288 allowed");
    assert_eq!((error.span.start, error.span.end), (0, QUERY_TEXT_BYTES_MAX + 1));
    assert!(parse_expression(&" ".repeat(QUERY_TEXT_BYTES_MAX + 1)).is_err());
}
