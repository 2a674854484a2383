//! What is a path and what is not, and where reading stops.

use expect_test::expect;

use super::*;

#[test]
fn reading_paths() {
    let texts = [
        "/*",
        "/",
        "/?",
        "",
        "*",
        "a/?",
        "/a/?",
        "/a/*",
        "/a",
        "/a/",
        "//?",
        "/a//?",
        "/a/?/b",
        "/a/*/b/?",
        "/a/[]/?",
        "/a/[]/b/?",
        "/[]/?",
        "/a/[0]/?",
        "/a b/?",
        "/a-b/?",
        "/größe/?",
        r#"/"a b"/?"#,
        r#"/"a/b"/*"#,
        r#"/"a\"b\\c\u0041\ud83d\ude00"/?"#,
        r#"/"a\ud83d"/?"#,
        r#"/"a\x"/?"#,
        r#"/"a"#,
        r#"/""/?"#,
        r#"/"a"b/?"#,
        "/t/[]/{a, b}/?",
    ];
    let mut shown = String::new();
    for text in texts {
        let outcome = match IndexPath::parse(text) {
            Ok(path) => format!("{:?} {:?} as {path}", path.segments(), path.end()),
            Err(bad) => format!("stops at {}", bad.position),
        };
        shown.push_str(&format!("{text:<32} {outcome}\n"));
    }
    expect![[r#"
        /*                               [] Subtree as /*
        /                                [] Subtree as /*
        /?                               stops at 1
                                         stops at 0
        *                                stops at 0
        a/?                              stops at 0
        /a/?                             [Property("a")] Scalar as /a/?
        /a/*                             [Property("a")] Subtree as /a/*
        /a                               stops at 2
        /a/                              stops at 3
        //?                              stops at 1
        /a//?                            stops at 3
        /a/?/b                           stops at 6
        /a/*/b/?                         stops at 3
        /a/[]/?                          [Property("a"), Elements] Scalar as /a/[]/?
        /a/[]/b/?                        [Property("a"), Elements, Property("b")] Scalar as /a/[]/b/?
        /[]/?                            [Elements] Scalar as /[]/?
        /a/[0]/?                         stops at 4
        /a b/?                           stops at 2
        /a-b/?                           stops at 2
        /größe/?                         [Property("größe")] Scalar as /größe/?
        /"a b"/?                         [Property("a b")] Scalar as /"a b"/?
        /"a/b"/*                         [Property("a/b")] Subtree as /"a/b"/*
        /"a\"b\\c\u0041\ud83d\ude00"/?   [Property("a\"b\\cA😀")] Scalar as /"a\"b\\c\u0041\ud83d\ude00"/?
        /"a\ud83d"/?                     stops at 3
        /"a\x"/?                         stops at 3
        /"a                              stops at 3
        /""/?                            stops at 2
        /"a"b/?                          stops at 4
        /t/[]/{a, b}/?                   stops at 6
    "#]]
    .assert_eq(&shown);
}

#[test]
fn reading_routes() {
    let texts = ["/a", "/a/b", r#"/"a b"/[]/c"#, "/a/?", "/*", "a", "/", "/a/[]"];
    let mut shown = String::new();
    for text in texts {
        let outcome = |path: Result<PropertyRoute, BadPath>| match path {
            Ok(path) => format!("{:?}", path.segments()),
            Err(bad) => format!("stops at {}", bad.position),
        };
        let inside = outcome(PropertyRoute::parse(text));
        let outside = outcome(PropertyRoute::parse_outside_arrays(text));
        shown.push_str(&format!("{text:<16} {inside} | {outside}\n"));
    }
    expect![[r#"
        /a               [Property("a")] | [Property("a")]
        /a/b             [Property("a"), Property("b")] | [Property("a"), Property("b")]
        /"a b"/[]/c      [Property("a b"), Elements, Property("c")] | stops at 7
        /a/?             stops at 3 | stops at 3
        /*               stops at 1 | stops at 1
        a                stops at 0 | stops at 0
        /                stops at 1 | stops at 1
        /a/[]            [Property("a"), Elements] | stops at 3
    "#]]
    .assert_eq(&shown);
}

#[test]
fn reading_tuples() {
    let texts = [
        "/tags/[]/{a, b}/?",
        "/tags/[]/{a/b,c}/?",
        r#"/tags/[]/{"x, y", c}/?"#,
        "/a/[]/b/[]/{c}/?",
        "/tags/{a, b}/?",
        "/[]/{a, b}/?",
        "/tags/[]/{a, b}/*",
        "/tags/[]/{a, b}",
        "/tags/[]/{a, a}/?",
        "/tags/[]/{a, }/?",
        "/tags/[]/{/a, b}/?",
        "/tags/[]/{a/?, b}/?",
        "/tags/[]/{a/[], b}/?",
        "/tags/[]/{a, {b}}/?",
        "/tags/[]/{a, b",
        "/tags/[]/{a, b}/c/?",
        "{}",
    ];
    let mut shown = String::new();
    for text in texts {
        assert!(TuplePath::is_meant(text), "{text}");
        let outcome = match TuplePath::parse(text) {
            Ok(path) => format!("{:?} {:?}", path.prefix(), path.properties()),
            Err(bad) => format!("stops at {}", bad.position),
        };
        shown.push_str(&format!("{text:<24} {outcome}\n"));
    }
    expect![[r#"
        /tags/[]/{a, b}/?        [Property("tags"), Elements] [[Property("a")], [Property("b")]]
        /tags/[]/{a/b,c}/?       [Property("tags"), Elements] [[Property("a"), Property("b")], [Property("c")]]
        /tags/[]/{"x, y", c}/?   [Property("tags"), Elements] [[Property("x, y")], [Property("c")]]
        /a/[]/b/[]/{c}/?         [Property("a"), Elements, Property("b"), Elements] [[Property("c")]]
        /tags/{a, b}/?           stops at 1
        /[]/{a, b}/?             stops at 1
        /tags/[]/{a, b}/*        stops at 16
        /tags/[]/{a, b}          stops at 6
        /tags/[]/{a, a}/?        stops at 13
        /tags/[]/{a, }/?         stops at 13
        /tags/[]/{/a, b}/?       stops at 10
        /tags/[]/{a/?, b}/?      stops at 12
        /tags/[]/{a/[], b}/?     stops at 12
        /tags/[]/{a, {b}}/?      stops at 13
        /tags/[]/{a, b           stops at 14
        /tags/[]/{a, b}/c/?      stops at 16
        {}                       stops at 0
    "#]].assert_eq(&shown);
    assert!(!TuplePath::is_meant(r#"/"a{b"/?"#));
    assert!(!TuplePath::is_meant(r#"/"a\"{b"/?"#));
}

#[test]
fn quoting_does_not_make_another_path() {
    let same = |left: &str, right: &str| IndexPath::parse(left).unwrap() == IndexPath::parse(right).unwrap();
    assert!(same("/a/b/?", r#"/"a"/"b"/?"#));
    assert!(same("/*", "/"));
    assert!(!same("/a/?", "/a/*"));
    assert!(!same("/a/?", "/A/?"));
    assert!(!same("/a/[]/?", r#"/a/"[]"/?"#));
}

#[test]
fn segments_at_the_bound_and_one_past() {
    let path = |count: usize| format!("{}/?", "/a".repeat(count));
    // The ending is a step too.
    assert!(IndexPath::parse(&path(limits::PATH_SEGMENTS_MAX - 1)).is_ok());
    assert!(IndexPath::parse(&path(limits::PATH_SEGMENTS_MAX)).is_err());
    let tuple = |count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("p{n}")).collect();
        format!("/a/[]/{{{}}}/?", names.join(","))
    };
    assert!(TuplePath::parse(&tuple(limits::TUPLE_PROPERTIES_MAX)).is_ok());
    assert!(TuplePath::parse(&tuple(limits::TUPLE_PROPERTIES_MAX + 1)).is_err());
}
