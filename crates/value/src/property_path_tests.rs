//! Tests of property paths.

use super::*;

#[test]
fn paths_and_their_names() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("/a", &["a"], "/a"),
        ("/a/b_1/c", &["a", "b_1", "c"], "/a/b_1/c"),
        (r#"/a/"b c"/d"#, &["a", "b c", "d"], r#"/a/"b c"/d"#),
        (r#"/"a""#, &["a"], "/a"),
        (r#"/"a/b""#, &["a/b"], r#"/"a/b""#),
        (r#"/"a\"b\\""#, &["a\"b\\"], r#"/"a\"b\\""#),
        (r#"/"""#, &[""], r#"/"""#),
        ("/größe", &["größe"], "/größe"),
        ("/b c", &["b c"], r#"/"b c""#),
    ];
    for (text, names, shown) in cases {
        let path = PropertyPath::parse(text).unwrap();
        assert_eq!(path.names(), *names, "{text}");
        assert_eq!(path.to_string(), *shown);
        assert_eq!(PropertyPath::parse(shown).unwrap(), path);
    }
}

#[test]
fn texts_that_are_none() {
    let cases = [
        ("", "expected '/' at offset 0 of the path"),
        ("a", "expected '/' at offset 0 of the path"),
        ("/", "expected a name at offset 1 of the path"),
        ("/a/", "expected a name at offset 3 of the path"),
        ("//a", "expected a name at offset 1 of the path"),
        ("/\"a", "expected a closing quote at offset 3 of the path"),
        ("/\"a\\", "expected a closing quote at offset 4 of the path"),
        ("/\"a\"b", "expected '/' at offset 4 of the path"),
    ];
    for (text, message) in cases {
        assert_eq!(PropertyPath::parse(text).unwrap_err().to_string(), message, "{text}");
    }
}
