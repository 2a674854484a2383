//! What projections make of documents, and which they refuse.

use armilla_mongo_expression::{Environment, Scope};

use super::{AddFields, Metadata, Projection};
use crate::filter::{Filter, Matched};
use crate::sort::SortKey;
use crate::testing::{object, text, value};

fn apply(specification: &str, document: &str) -> String {
    let projection = Projection::parse(&object(specification), None, &Scope::default())
        .unwrap_or_else(|error| panic!("{specification}: {error:?}"));
    let result = projection.apply(&object(document), &Matched::default(), &Environment::default());
    text(result.unwrap_or_else(|error| panic!("{specification} {document}: {error:?}")))
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (specification, document, expected) in cases {
        assert_eq!(apply(specification, document), text(object(expected)), "{specification} {document}");
    }
}

fn code(specification: &str, query: &str) -> i32 {
    let filter = Filter::parse(&object(query), &Scope::default()).expect("a good filter");
    Projection::parse(&object(specification), Some(&filter), &Scope::default())
        .map(|projection| panic!("{specification} was read as {projection:?}"))
        .unwrap_or_else(|error| error.code)
}

fn aggregation_code(specification: &str) -> i32 {
    Projection::parse_aggregation(&object(specification), &Scope::default())
        .expect_err("a bad projection")
        .code
}

#[test]
fn inclusion() {
    check(&[
        ("{}", "{_id: 1, a: 2}", "{_id: 1, a: 2}"),
        ("{b: 1, a: true}", "{_id: 1, a: 2, b: 3, c: 4}", "{_id: 1, a: 2, b: 3}"),
        ("{a: 1, _id: 0}", "{_id: 1, a: 2}", "{a: 2}"),
        ("{_id: 1}", "{_id: 1, a: 2}", "{_id: 1}"),
        ("{x: 1}", "{_id: 1, a: 2}", "{_id: 1}"),
        ("{a: 0.5}", "{_id: 1, a: 2, b: 1}", "{_id: 1, a: 2}"),
        ("{a: d1}", "{_id: 1, a: 2, b: 1}", "{_id: 1, a: 2}"),
        ("{'a.b': 1}", "{a: {b: 1, c: 2}}", "{a: {b: 1}}"),
        ("{a: {b: 1}}", "{a: {b: 1, c: 2}}", "{a: {b: 1}}"),
        ("{a: {b: 1, 'c.d': 1}}", "{a: {b: 1, c: {d: 2, e: 3}}}", "{a: {b: 1, c: {d: 2}}}"),
        ("{'a.b': 1}", "{a: {c: 2}}", "{a: {}}"),
        ("{'a.b': 1}", "{a: 5}", "{}"),
        ("{'a.b': 1}", "{a: null}", "{}"),
        (
            "{'a.b': 1}",
            "{a: [{b: 1, c: 1}, {c: 1}, 5, [{b: 2, c: 2}, 7], []]}",
            "{a: [{b: 1}, {}, [{b: 2}], []]}",
        ),
        ("{'a.0': 1}", "{a: [1, 2]}", "{a: []}"),
        ("{'a.0': 1}", "{a: {'0': 1, '1': 2}}", "{a: {'0': 1}}"),
        ("{'_id.x': 1}", "{_id: {x: 1, y: 2}, a: 1}", "{_id: {x: 1}}"),
        ("{'a.b.c': 1}", "{a: [{b: [{c: 1, d: 1}]}]}", "{a: [{b: [{c: 1}]}]}"),
    ]);
}

#[test]
fn exclusion() {
    check(&[
        ("{a: 0}", "{_id: 1, a: 2, b: 3}", "{_id: 1, b: 3}"),
        ("{_id: 0}", "{_id: 1, a: 2}", "{a: 2}"),
        ("{_id: 1, a: 0}", "{_id: 1, a: 2, b: 3}", "{_id: 1, b: 3}"),
        ("{_id: 0, a: 0}", "{_id: 1, a: 2, b: 3}", "{b: 3}"),
        ("{'a.b': 0}", "{a: {b: 1, c: 2}}", "{a: {c: 2}}"),
        ("{a: {b: false}}", "{a: {b: 1, c: 2}}", "{a: {c: 2}}"),
        ("{'a.b': 0}", "{a: [{b: 1, c: 1}, 5, [{b: 2}, 7], null]}", "{a: [{c: 1}, 5, [{}, 7], null]}"),
        ("{'a.b': 0}", "{a: 5}", "{a: 5}"),
        ("{'a.0': 0}", "{a: [1, 2]}", "{a: [1, 2]}"),
    ]);
}

#[test]
fn slices() {
    check(&[
        ("{a: {$slice: 2}}", "{_id: 1, a: [1, 2, 3], b: 1}", "{_id: 1, a: [1, 2], b: 1}"),
        ("{a: {$slice: -2}}", "{a: [1, 2, 3]}", "{a: [2, 3]}"),
        ("{a: {$slice: 0}}", "{a: [1, 2, 3]}", "{a: []}"),
        ("{a: {$slice: 9}}", "{a: [1, 2, 3]}", "{a: [1, 2, 3]}"),
        ("{a: {$slice: -9}}", "{a: [1, 2, 3]}", "{a: [1, 2, 3]}"),
        ("{a: {$slice: [1, 1]}}", "{a: [1, 2, 3]}", "{a: [2]}"),
        ("{a: {$slice: [-2, 1]}}", "{a: [1, 2, 3]}", "{a: [2]}"),
        ("{a: {$slice: [-9, 2]}}", "{a: [1, 2, 3]}", "{a: [1, 2]}"),
        ("{a: {$slice: [9, 2]}}", "{a: [1, 2, 3]}", "{a: []}"),
        ("{a: {$slice: 1}}", "{a: 5}", "{a: 5}"),
        ("{a: {$slice: 1}, b: 1}", "{_id: 1, a: [1, 2], b: 2, c: 3}", "{_id: 1, a: [1], b: 2}"),
        ("{a: {$slice: 1}, b: 0}", "{_id: 1, a: [1, 2], b: 2, c: 3}", "{_id: 1, a: [1], c: 3}"),
        ("{a: {$slice: 1}, _id: 1}", "{_id: 1, a: [1, 2], c: 3}", "{_id: 1, a: [1]}"),
        ("{a: {$slice: 1}, _id: 0}", "{_id: 1, a: [1, 2], c: 3}", "{a: [1], c: 3}"),
        ("{'a.b': {$slice: 1}}", "{a: [{b: [1, 2], c: 1}, 5]}", "{a: [{b: [1], c: 1}, 5]}"),
        ("{a: {$slice: 1e20}}", "{a: [1]}", "{a: [1]}"),
    ]);
}

#[test]
fn elements() {
    check(&[
        (
            "{a: {$elemMatch: {b: 2}}}",
            "{_id: 1, a: [{b: 1}, {b: 2, c: 1}, {b: 2}], d: 1}",
            "{_id: 1, a: [{b: 2, c: 1}]}",
        ),
        ("{a: {$elemMatch: {$gt: 1}}}", "{_id: 1, a: [1, 2, 3]}", "{_id: 1, a: [2]}"),
        ("{a: {$elemMatch: {b: 9}}}", "{_id: 1, a: [{b: 1}]}", "{_id: 1}"),
        ("{a: {$elemMatch: {b: 9}}}", "{_id: 1, a: {b: 9}}", "{_id: 1}"),
        ("{a: {$elemMatch: {b: 1}}, z: 1}", "{_id: 1, a: [{b: 1}], z: 2}", "{_id: 1, z: 2, a: [{b: 1}]}"),
        (
            "{a: {$elemMatch: {b: 1}}, z: 0}",
            "{_id: 1, a: [{b: 0}, {b: 1}], y: 1, z: 2}",
            "{_id: 1, a: [{b: 1}], y: 1}",
        ),
        ("{a: {$elemMatch: {b: 1}}, _id: 0}", "{_id: 1, a: [{b: 1}], y: 1}", "{a: [{b: 1}]}"),
    ]);
}

#[test]
fn positions() {
    let apply = |specification: &str, query: &str, document: &str| {
        let filter = Filter::parse(&object(query), &Scope::default()).expect("a good filter");
        let environment = Environment::default();
        let projection = Projection::parse(&object(specification), Some(&filter), &Scope::default())
            .unwrap_or_else(|error| panic!("{specification}: {error:?}"));
        assert!(projection.needs_position());
        let document = object(document);
        let matched = filter.find(&document, &environment).expect("matching does not fail").expect("a match");
        projection.apply(&document, &matched, &environment).map(text).map_err(|error| error.code)
    };
    for (specification, query, document, expected) in [
        ("{'a.$': 1}", "{a: {$gt: 1}}", "{_id: 1, a: [1, 2, 3], b: 1}", "{_id: 1, a: [2]}"),
        ("{'a.$': 1, b: 1}", "{'a.x': 2}", "{a: [{x: 1}, {x: 2, y: 1}], b: 1}", "{a: [{x: 2, y: 1}], b: 1}"),
        ("{'a.b.$': 1}", "{'a.b': 2}", "{a: {b: [1, 2], c: 1}}", "{a: {b: [2]}}"),
        ("{'a.b.$': 1}", "{'a.b': 2}", "{a: [{b: [1]}, {b: [1, 2], c: 1}]}", "{a: [{b: [1, 2]}]}"),
        ("{'a.$': 1}", "{a: 1}", "{a: 1}", "{a: 1}"),
        ("{'a.$': 1}", "{a: {$elemMatch: {x: 1}}}", "{a: [{x: 0}, {x: 1}]}", "{a: [{x: 1}]}"),
    ] {
        assert_eq!(
            apply(specification, query, document),
            Ok(text(object(expected))),
            "{specification} {query}"
        );
    }
    assert_eq!(apply("{'a.$': 1}", "{a: {$exists: true}}", "{a: [1]}"), Err(51246));
    assert_eq!(apply("{'a.$': 1}", "{}", "{a: []}"), Err(51246));
    assert_eq!(apply("{'a.$': 1}", "{}", "{a: 1}"), Ok("{\"a\":1}".to_owned()));
    assert_eq!(apply("{'a.$': 1}", "{a: {$exists: true}, b: 3}", "{a: [1], b: [1, 2, 3]}"), Err(51247));
}

#[test]
fn what_is_refused() {
    for (specification, query, expected) in [
        ("{a: 1, b: 0}", "{}", 31254),
        ("{a: 0, b: 1}", "{}", 31253),
        ("{a: {b: 1, c: 0}}", "{}", 31254),
        ("{a: {b: 0, c: 1}}", "{}", 31253),
        ("{a: 1, 'a.b': 1}", "{}", 31249),
        ("{'a.b': 1, a: 1}", "{}", 31250),
        ("{a: {b: 1}, 'a.b': 1}", "{}", 31250),
        ("{a: {}}", "{}", 51270),
        ("{'': 1}", "{}", 40352),
        ("{'a.': 1}", "{}", 40353),
        ("{'a..b': 1}", "{}", 15998),
        ("{$a: 1}", "{}", 16410),
        ("{'a.$': 1, 'b.$': 1}", "{a: 1, b: 1}", 31276),
        ("{'a.$.b': 1}", "{a: 1}", 31394),
        ("{'a.$': 0}", "{a: 1}", 31395),
        ("{'a.$': {b: 1}}", "{a: 1}", 31271),
        ("{'a.$': 'x'}", "{a: 1}", 31308),
        ("{'a.$': 1, b: {$elemMatch: {}}}", "{a: 1}", 31255),
        ("{b: {$elemMatch: {}}, 'a.$': 1}", "{a: 1}", 31256),
        ("{b: 0, 'a.$': 1}", "{a: 1}", 31253),
        ("{a: {$elemMatch: 1}}", "{}", 31274),
        ("{'a.b': {$elemMatch: {c: 1}}}", "{}", 31275),
        ("{a: {b: {$elemMatch: {c: 1}}}}", "{}", 31275),
        ("{a: {$elemMatch: {$foo: 1}}}", "{}", 2),
        ("{a: {$meta: 'textScore'}}", "{}", 40218),
        ("{a: {$meta: 'foo'}}", "{}", 17308),
    ] {
        assert_eq!(code(specification, query), expected, "{specification}");
    }
    for (specification, expected) in
        [("{}", 51272), ("{'a.$': 1}", 31324), ("{a: {$elemMatch: {b: 1}}}", 168), ("{a: 1, b: 0}", 31254)]
    {
        assert_eq!(aggregation_code(specification), expected, "{specification}");
    }
}

#[test]
fn metadata() {
    let projection =
        Projection::parse(&object("{k: {$meta: 'sortKey'}}"), None, &Scope::default()).expect("good");
    assert!(projection.needs_sort_key());
    let key = SortKey(vec![value("3"), value("'x'")]);
    let metadata = Metadata { sort_key: Some(&key), distance: None };
    let document = object("{_id: 1, a: 2}");
    let result = projection.apply_with(&document, &Matched::default(), metadata, &Environment::default());
    assert_eq!(result.map(text), Ok(text(object("{_id: 1, a: 2, k: [3, 'x']}"))));
    assert_eq!(apply("{k: {$meta: 'sortKey'}, _id: 1}", "{_id: 1, a: 2}"), "{\"_id\":1}");
}

#[test]
fn unset() {
    let apply = |operand: &str, document: &str| {
        Projection::parse_unset(&value(operand))
            .and_then(|unset| unset.apply(&object(document), &Matched::default(), &Environment::default()))
            .map(text)
            .map_err(|error| error.code)
    };
    assert_eq!(apply("'a'", "{a: 1, b: 2}"), Ok("{\"b\":2}".to_owned()));
    assert_eq!(apply("['a.b', 'c']", "{a: [{b: 1, d: 1}], c: 2}"), Ok("{\"a\":[{\"d\":1}]}".to_owned()));
    assert_eq!(apply("[]", "{}"), Err(31119));
    assert_eq!(apply("[1]", "{}"), Err(31120));
    assert_eq!(apply("1", "{}"), Err(31002));
    assert_eq!(apply("['a', 'a.b']", "{}"), Err(31249));
    assert_eq!(apply("['a', 'a']", "{}"), Err(31250));
    assert_eq!(apply("'a.$'", "{}"), Err(16410));
}

#[test]
fn needed_fields() {
    let fields = |specification: &str| {
        let projection = Projection::parse(&object(specification), None, &Scope::default()).expect("good");
        projection.needed_fields().map(|names| names.join(","))
    };
    assert_eq!(fields("{a: 1, 'b.c': 1}").as_deref(), Some("a,b,_id"));
    assert_eq!(fields("{a: 1, _id: 0}").as_deref(), Some("a"));
    assert_eq!(fields("{a: 0}"), None);
    assert_eq!(fields("{}"), None);
}

#[test]
fn added_fields_are_checked() {
    for (specification, expected) in [
        ("{}", 40177),
        ("{a: {}}", 40180),
        ("{a: {$add: [1], b: 1}}", 40181),
        ("{a: {b: 1, $add: [1]}}", 40181),
        ("{a: {'b.c': 1}}", 40183),
        ("{'a.': 1}", 40353),
        ("{$a: 1}", 16410),
    ] {
        let error = AddFields::parse(&object(specification), &Scope::default()).expect_err("bad");
        assert_eq!(error.code, expected, "{specification}");
    }
}

#[test]
fn computed_fields() {
    check(&[
        ("{x: 'lit'}", "{_id: 1, a: 2}", "{_id: 1, x: 'lit'}"),
        ("{x: '$a'}", "{_id: 1, a: 2}", "{_id: 1, x: 2}"),
        ("{x: '$nope'}", "{_id: 1, a: 2}", "{_id: 1}"),
        ("{a: '$b', c: 1}", "{_id: 1, a: 2, b: 3, c: 4}", "{_id: 1, c: 4, a: 3}"),
        ("{c: 1, x: {$add: ['$a', 1]}, y: null}", "{_id: 1, a: 2, c: 4}", "{_id: 1, c: 4, x: 3, y: null}"),
        ("{_id: 0, x: ['$a', 1, '$nope']}", "{_id: 1, a: 2}", "{x: [2, 1, null]}"),
        ("{_id: '$a'}", "{_id: 1, a: 2}", "{_id: 2}"),
        ("{'a.b': '$x'}", "{_id: 1, a: {b: 1, c: 2}, x: 7}", "{_id: 1, a: {b: 7}}"),
        ("{'a.b': '$x', 'a.c': 1}", "{_id: 1, a: {b: 1, c: 2}, x: 7}", "{_id: 1, a: {c: 2, b: 7}}"),
        ("{'a.b': '$x'}", "{_id: 1, a: [1, {c: 1}, [2]], x: 7}", "{_id: 1, a: [{b: 7}, {b: 7}, [{b: 7}]]}"),
        ("{'a.b': '$x', z: 1}", "{_id: 1, a: 5, x: 7, z: 1}", "{_id: 1, z: 1, a: {b: 7}}"),
        ("{a: {b: {$literal: 1}}}", "{_id: 1}", "{_id: 1, a: {b: 1}}"),
        ("{a: {$slice: ['$b', 1]}}", "{_id: 1, b: [1, 2]}", "{_id: 1, a: [1]}"),
        ("{a: {$literal: 0}}", "{_id: 1, a: 5}", "{_id: 1, a: 0}"),
        ("{a: {$cond: [true, '$$REMOVE', 1]}}", "{_id: 1, a: 5}", "{_id: 1}"),
    ]);
    for (specification, expected) in [
        ("{a: 0, b: 'x'}", 31310),
        ("{a: 0, b: {$add: [1, 2]}}", 31252),
        ("{b: {$add: [1, 2]}, a: 0}", 31254),
        ("{a: {$foo: 1}}", 31325),
        ("{a: {$add: [{$foo: 1}]}}", 168),
        ("{a: {$slice: 'x'}}", 28667),
        ("{a: {$slice: [1, 0]}}", 28724),
        ("{a: '$$nope'}", 17276),
    ] {
        assert_eq!(code(specification, "{}"), expected, "{specification}");
    }
}

#[test]
fn aggregation_projections() {
    let apply = |specification: &str, document: &str| {
        let projection = Projection::parse_aggregation(&object(specification), &Scope::default())
            .unwrap_or_else(|error| panic!("{specification}: {error:?}"));
        let result = projection.apply(&object(document), &Matched::default(), &Environment::default());
        text(result.unwrap_or_else(|error| panic!("{specification} {document}: {error:?}")))
    };
    for (specification, document, expected) in [
        ("{a: 1}", "{_id: 1, a: 2, b: 3}", "{_id: 1, a: 2}"),
        ("{a: 0}", "{_id: 1, a: 2, b: 3}", "{_id: 1, b: 3}"),
        ("{_id: 0}", "{_id: 1, a: 2}", "{a: 2}"),
        ("{s: {$slice: ['$a', 1]}}", "{_id: 1, a: [1, 2]}", "{_id: 1, s: [1]}"),
        ("{x: {y: '$a', z: 'lit'}}", "{_id: 1, a: 2}", "{_id: 1, x: {y: 2, z: 'lit'}}"),
        ("{_id: 0, x: {y: '$nope'}}", "{_id: 1, a: 2}", "{x: {}}"),
    ] {
        assert_eq!(apply(specification, document), text(object(expected)), "{specification}");
    }
    assert_eq!(aggregation_code("{a: {$foo: 1}}"), 31325);
}

#[test]
fn added_fields() {
    for (specification, document, expected) in [
        ("{x: 1}", "{_id: 1, a: 2}", "{_id: 1, a: 2, x: 1}"),
        ("{a: 1}", "{_id: 1, a: 2, b: 3}", "{_id: 1, a: 1, b: 3}"),
        ("{a: '$b', b: '$a'}", "{a: 1, b: 2}", "{a: 2, b: 1}"),
        ("{a: '$nope'}", "{a: 1, b: 2}", "{b: 2}"),
        ("{a: '$$REMOVE'}", "{a: 1, b: 2}", "{b: 2}"),
        ("{'a.b': 9}", "{a: {b: 1, c: 2}}", "{a: {b: 9, c: 2}}"),
        ("{a: {b: 9, d: '$x'}}", "{a: {b: 1, c: 2}, x: 3}", "{a: {b: 9, c: 2, d: 3}, x: 3}"),
        ("{'a.b': 9}", "{a: [{b: 1, c: 1}, 5, [{}]]}", "{a: [{b: 9, c: 1}, {b: 9}, [{b: 9}]]}"),
        ("{'a.b': 9}", "{a: 5}", "{a: {b: 9}}"),
        ("{'a.b.c': 9}", "{}", "{a: {b: {c: 9}}}"),
        ("{'a.b': '$$REMOVE'}", "{a: {b: 1, c: 2}}", "{a: {c: 2}}"),
        ("{a: ['$x', 1]}", "{x: 2}", "{x: 2, a: [2, 1]}"),
        ("{z: 1, y: 2}", "{}", "{z: 1, y: 2}"),
        ("{a: false, b: null}", "{}", "{a: false, b: null}"),
    ] {
        let add_fields = AddFields::parse(&object(specification), &Scope::default())
            .unwrap_or_else(|error| panic!("{specification}: {error:?}"));
        let environment = Environment::default();
        let added = add_fields.apply(&object(document), &environment).expect("adding does not fail");
        assert_eq!(text(added), text(object(expected)), "{specification} {document}");
        let added = add_fields.apply_owned(object(document), &environment).expect("adding does not fail");
        assert_eq!(text(added), text(object(expected)), "{specification} {document} owned");
    }
    for (specification, expected) in
        [("{a: 1, 'a.b': 1}", 40176), ("{'a.b': 1, a: 1}", 40176), ("{a: {$foo: 1}}", 168)]
    {
        let error = AddFields::parse(&object(specification), &Scope::default()).expect_err("bad");
        assert_eq!(error.code, expected, "{specification}");
    }
}
