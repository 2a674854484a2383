//! What filters match: the table of the reference, and the odd corners.

use armilla_mongo_expression::{Environment, Scope};

use super::Filter;
use crate::testing::{object, value};

fn filter(query: &str) -> Filter {
    Filter::parse(&object(query), &Scope::default()).unwrap_or_else(|error| panic!("{query}: {error:?}"))
}

fn is_match(query: &str, document: &str) -> bool {
    filter(query).matches(&object(document), &Environment::default()).expect("matching does not fail")
}

fn code(query: &str) -> i32 {
    match Filter::parse(&object(query), &Scope::default()) {
        Ok(filter) => panic!("{query} was read as {filter:?}"),
        Err(error) => error.code,
    }
}

fn message(query: &str) -> String {
    Filter::parse(&object(query), &Scope::default()).expect_err("a bad filter").message
}

/// The documents of the reference's table by a short name.
const DOCUMENTS: [(&str, &str); 19] = [
    ("1", "{a: 1}"),
    ("[1,5]", "{a: [1, 5]}"),
    ("null", "{a: null}"),
    ("undefined", "{a: undefined}"),
    ("missing", "{}"),
    ("x", "{a: 'x'}"),
    ("[]", "{a: []}"),
    ("[[1]]", "{a: [[1]]}"),
    ("{b}", "{a: {b: 1}}"),
    ("[{b}]", "{a: [{b: 1}, {b: 2}]}"),
    ("2.5", "{a: 2.5}"),
    ("int", "{a: i1}"),
    ("decimal", "{a: d1.0}"),
    ("[null]", "{a: [null]}"),
    ("true", "{a: true}"),
    ("NaN", "{a: NaN}"),
    ("dNaN", "{a: dNaN}"),
    ("date", "{a: {$date: {$numberLong: '0'}}}"),
    ("{}", "{a: {}}"),
];

#[track_caller]
fn check_table(query: &str, expected: &[&str]) {
    let filter = filter(query);
    let matched: Vec<&str> = DOCUMENTS
        .iter()
        .filter(|(_, document)| {
            let document = document.replace("dNaN", "{$numberDecimal: 'NaN'}");
            filter.matches(&object(&document), &Environment::default()).expect("matching does not fail")
        })
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(matched, expected, "{query}");
}

#[track_caller]
fn check_all_but(query: &str, excepted: &[&str]) {
    let expected: Vec<&str> =
        DOCUMENTS.iter().map(|(name, _)| *name).filter(|name| !excepted.contains(name)).collect();
    check_table(query, &expected);
}

#[test]
fn the_table_of_the_reference() {
    let ones = ["1", "[1,5]", "int", "decimal"];
    check_table("{a: 1}", &ones);
    check_table("{a: i1}", &ones);
    check_table("{a: d1}", &ones);
    check_table("{a: {$eq: 1.0}}", &ones);
    check_all_but("{a: {$ne: 1}}", &ones);
    let nulls = ["null", "undefined", "missing", "[null]"];
    for query in
        ["{a: null}", "{a: {$in: [null]}}", "{a: {$gte: null}}", "{a: {$lte: null}}", "{a: {$eq: null}}"]
    {
        check_table(query, &nulls);
    }
    check_all_but("{a: {$ne: null}}", &nulls);
    check_all_but("{a: {$nin: [null]}}", &nulls);
    check_all_but("{a: {$not: {$gte: null}}}", &nulls);
    check_table("{a: {$gt: null}}", &[]);
    check_table("{a: {$lt: null}}", &[]);
    check_table(
        "{'a.b': null}",
        &[
            "1",
            "null",
            "undefined",
            "missing",
            "x",
            "2.5",
            "int",
            "decimal",
            "true",
            "NaN",
            "dNaN",
            "date",
            "{}",
        ],
    );
    check_table("{a: {$gt: 1}}", &["[1,5]", "2.5"]);
    check_table("{a: {$gt: 1, $lt: 5}}", &["[1,5]", "2.5"]);
    check_table("{a: {$elemMatch: {$gt: 1}}}", &["[1,5]"]);
    check_table("{a: {$elemMatch: {$gt: 1, $lt: 5}}}", &[]);
    check_table("{a: [1]}", &["[[1]]"]);
    check_table("{a: {$size: 0}}", &["[]"]);
    check_table("{a: []}", &["[]"]);
    check_table("{a: {$all: []}}", &[]);
    check_table("{a: {$exists: false}}", &["missing"]);
    check_all_but("{a: {$exists: true}}", &["missing"]);
    check_table("{a: {$type: 'array'}}", &["[1,5]", "[]", "[[1]]", "[{b}]", "[null]"]);
    check_table("{a: {$type: 'number'}}", &["1", "[1,5]", "2.5", "int", "decimal", "NaN", "dNaN"]);
    check_table("{a: {$type: 'undefined'}}", &["undefined"]);
    check_table("{a: {$type: [10, 'bool']}}", &["null", "[null]", "true"]);
    for query in ["{a: NaN}", "{a: {$gte: NaN}}", "{a: {$lte: NaN}}", "{a: {$in: [NaN]}}"] {
        check_table(query, &["NaN", "dNaN"]);
    }
    check_table("{a: {$gt: NaN}}", &[]);
    check_table("{a: {$lt: NaN}}", &[]);
    check_table("{a: {$lt: 2}}", &["1", "[1,5]", "int", "decimal"]);
    check_table("{a: {$lte: Inf}}", &["1", "[1,5]", "2.5", "int", "decimal"]);
    check_all_but("{a: {$gt: MinKey}}", &[]);
    check_all_but("{a: {$gte: MinKey}}", &[]);
    check_all_but("{a: {$lt: MaxKey}}", &[]);
    check_all_but("{a: {$lte: MaxKey}}", &[]);
    check_table("{a: MinKey}", &[]);
    check_table("{a: {$lt: MinKey}}", &[]);
    check_table("{a: {$gt: MaxKey}}", &[]);
    check_table("{a: {$lt: [2]}}", &["[1,5]", "[]", "[[1]]", "[null]"]);
    check_table("{a: {$lt: [[1]]}}", &["[1,5]", "[]", "[[1]]", "[{b}]", "[null]"]);
    check_table("{a: true}", &["true"]);
    check_table("{a: {$gt: false}}", &["true"]);
    check_table("{a: {b: 1}}", &["{b}", "[{b}]"]);
    check_table("{a: {$gte: {}}}", &["{b}", "[{b}]", "{}"]);
    check_table("{a: {}}", &["{}"]);
    check_table("{'a.b': 1}", &["{b}", "[{b}]"]);
    check_table("{'a.0': 1}", &["[1,5]"]);
    check_table("{'a.b': {$exists: true}}", &["{b}", "[{b}]"]);
    check_all_but("{'a.b': {$exists: false}}", &["{b}", "[{b}]"]);
}

#[test]
fn extreme_keys_are_values_too() {
    assert!(is_match("{a: MinKey}", "{a: MinKey}"));
    assert!(is_match("{a: {$gte: MinKey}}", "{a: MinKey}"));
    assert!(!is_match("{a: {$gt: MinKey}}", "{a: MinKey}"));
    assert!(is_match("{a: {$lt: MaxKey}}", "{a: MinKey}"));
    assert!(!is_match("{a: {$lt: 5}}", "{a: MinKey}"));
    assert!(!is_match("{a: {$gt: 5}}", "{a: MaxKey}"));
    assert!(is_match("{a: {$gt: MinKey}}", "{a: MaxKey}"));
}

#[test]
fn numbers_compare_by_value_whatever_their_type() {
    let large = "{a: 9007199254740993}";
    assert!(is_match("{a: {$gt: 9007199254740992.0}}", large));
    assert!(!is_match("{a: 9007199254740992.0}", large));
    assert!(is_match("{a: d9007199254740993}", large));
    assert!(is_match("{a: 0.0}", "{a: -0.0}"));
    assert!(is_match("{a: {$in: [1, 2.0, 'x']}}", "{a: i2}"));
    assert!(!is_match("{a: 0.1}", "{a: d0.1}"), "a tenth is not exact in binary");
}

#[test]
fn paths_through_arrays() {
    for (query, document, expected) in [
        ("{'a.b.c': 1}", "{a: [{b: {c: 1}}]}", true),
        ("{'a.b.c': 1}", "{a: [{b: [{c: 1}]}]}", true),
        ("{'a.b': 1}", "{a: [[{b: 1}]]}", false),
        ("{'a.0.b': 1}", "{a: [[{b: 1}]]}", true),
        ("{'a.0.0': 1}", "{a: [[1]]}", true),
        ("{'a.0': 1}", "{a: [[1]]}", false),
        ("{'a.0': [1]}", "{a: [[1]]}", true),
        ("{'a.1': 5}", "{a: [1, 5]}", true),
        ("{'a.01': 5}", "{a: [1, 5]}", false),
        ("{'a.1.b': 2}", "{a: [{b: 1}, {b: 2}]}", true),
        ("{'a.0.b': 2}", "{a: [{b: 1}, {b: 2}]}", false),
        ("{'a.0': 7}", "{a: {'0': 7}}", true),
        ("{'a.0': 7}", "{a: [{'0': 7}]}", true),
        ("{'a.0.b': 7}", "{a: [1, {'0': {b: 7}}]}", true),
        ("{'a.2': {$exists: true}}", "{a: [1, 2]}", false),
        ("{'a.1': {$exists: true}}", "{a: [1, 2]}", true),
        ("{'a.5': null}", "{a: [1, 2]}", false),
        ("{'a.5': null}", "{a: [{}]}", true),
        ("{'a.b': null}", "{a: []}", false),
        ("{'a.b': null}", "{a: [1, 2]}", false),
        ("{'a.b': null}", "{a: [1, {c: 1}]}", true),
        ("{'a.b': null}", "{a: [{b: 1}, {b: 2}]}", false),
        ("{'a.b': null}", "{a: [[]]}", false),
        ("{'a.b': {$ne: null}}", "{a: [1, 2]}", true),
        ("{'a.b': {$ne: 1}}", "{a: [{b: 1}, {b: 2}]}", false),
        ("{'a.b': {$nin: [3]}}", "{a: [{b: 1}, {b: 2}]}", true),
        ("{'a.b': {$exists: false}}", "{a: [{}, {b: 1}]}", false),
        ("{'a.b': {$size: 2}}", "{a: [{b: [1]}, {b: [1, 2]}]}", true),
        ("{'a.b': {$type: 'array'}}", "{a: [{b: []}]}", true),
        ("{a: {$type: 'array'}}", "{a: 1}", false),
        ("{'': 1}", "{'': 1}", true),
        ("{'a.': 1}", "{a: {'': 1}}", true),
        ("{'a.$b': 1}", "{a: {$b: 1}}", true),
    ] {
        assert_eq!(is_match(query, document), expected, "{query} {document}");
    }
}

#[test]
fn several_conditions() {
    for (query, document, expected) in [
        ("{}", "{}", true),
        ("{a: 1, b: 2}", "{a: 1, b: 2}", true),
        ("{a: 1, b: 2}", "{a: 1}", false),
        ("{$and: [{a: 1}, {a: 5}]}", "{a: [1, 5]}", true),
        ("{$or: [{a: 1}, {b: 1}]}", "{b: 1}", true),
        ("{$or: [{a: 1}, {b: 1}]}", "{c: 1}", false),
        ("{$nor: [{a: 1}, {b: 1}]}", "{c: 1}", true),
        ("{$nor: [{a: 1}, {b: 1}]}", "{b: 1}", false),
        ("{a: {$not: {$gt: 1, $lt: 5}}}", "{a: 3}", false),
        ("{a: {$not: {$gt: 1, $lt: 5}}}", "{a: 7}", true),
        ("{a: {$not: {$gt: 1}}}", "{}", true),
        ("{a: {$not: {$gt: 1}}}", "{a: 'x'}", true),
        ("{a: {$not: {$not: {$gt: 1}}}}", "{a: 2}", true),
        ("{a: {$not: {$regex: 'x'}}}", "{a: 'y'}", true),
        ("{a: {$not: {$regularExpression: {pattern: 'x', options: ''}}}}", "{a: 'axa'}", false),
        ("{$comment: 'why', a: {$gt: 1, $comment: 'so'}}", "{a: 2}", true),
        ("{$alwaysTrue: 1}", "{}", true),
        ("{$alwaysFalse: 1}", "{}", false),
        ("{$sampleRate: 1}", "{}", true),
        ("{$sampleRate: 0.0}", "{_id: 7}", false),
        ("{a: {$ne: 1, $exists: true}}", "{a: 2}", true),
        ("{$and: [{$or: [{a: 1}, {a: 2}]}, {b: {$gt: 0}}]}", "{a: 2, b: 1}", true),
    ] {
        assert_eq!(is_match(query, document), expected, "{query} {document}");
    }
}

#[test]
fn lists_and_patterns() {
    for (query, document, expected) in [
        ("{a: {$in: []}}", "{a: 1}", false),
        ("{a: {$nin: []}}", "{}", true),
        ("{a: {$in: [[1, 2]]}}", "{a: [1, 2]}", true),
        ("{a: {$in: [1, {$regularExpression: {pattern: '^x', options: 'i'}}]}}", "{a: 'Xy'}", true),
        ("{a: {$in: [{$regularExpression: {pattern: '^x', options: ''}}]}}", "{a: ['y', 'x']}", true),
        ("{a: {$in: [{b: 1}]}}", "{a: {b: 1.0}}", true),
        ("{a: {$in: [{b: 1, c: 2}]}}", "{a: {c: 2, b: 1}}", false),
        ("{a: {$regex: '^b.*d$'}}", "{a: 'bcd'}", true),
        ("{a: {$regex: 'B', $options: 'i'}}", "{a: 'abc'}", true),
        ("{a: {$options: 'i', $regex: 'B'}}", "{a: 'abc'}", true),
        ("{a: {$regex: '^c', $options: 'm'}}", "{a: 'ab\ncd'}", true),
        ("{a: {$regex: 'a.c'}}", "{a: 'a\nc'}", false),
        ("{a: {$regex: 'a.c', $options: 's'}}", "{a: 'a\nc'}", true),
        ("{a: {$regex: 'a b #c', $options: 'x'}}", "{a: 'ab'}", true),
        ("{a: {$regex: '(a)\\1'}}", "{a: 'aa'}", true),
        ("{a: {$regex: '(?<!x)y'}}", "{a: 'xy'}", false),
        ("{a: {$regex: '1'}}", "{a: 1}", false),
        ("{a: {$regex: 'x'}}", "{a: ['a', 'x']}", true),
        ("{a: {$regex: 'x'}}", "{a: {$symbol: 'x'}}", true),
        ("{a: 'x'}", "{a: {$symbol: 'x'}}", true),
        (
            "{a: {$regularExpression: {pattern: 'x', options: 'i'}}}",
            "{a: {$regularExpression: {pattern: 'x', options: 'i'}}}",
            true,
        ),
        (
            "{a: {$regularExpression: {pattern: 'x', options: ''}}}",
            "{a: {$regularExpression: {pattern: 'x', options: 'i'}}}",
            false,
        ),
        ("{a: {$eq: {$regularExpression: {pattern: 'x', options: ''}}}}", "{a: 'x'}", false),
        ("{a: {$ref: 'c', $id: 1}}", "{a: {$ref: 'c', $id: 1}}", true),
        ("{a: {$all: [1, 2]}}", "{a: [2, 3, 1]}", true),
        ("{a: {$all: [1, 2]}}", "{a: [2, 3]}", false),
        ("{a: {$all: [1]}}", "{a: 1}", true),
        ("{a: {$all: [[1, 2]]}}", "{a: [1, 2]}", true),
        ("{a: {$all: [null]}}", "{}", true),
        ("{a: {$all: [{$regularExpression: {pattern: '^x', options: ''}}, 'y']}}", "{a: ['xz', 'y']}", true),
        ("{a: {$all: [{$elemMatch: {b: 1}}, {$elemMatch: {b: 2}}]}}", "{a: [{b: 1}, {b: 2}]}", true),
        ("{a: {$all: [{$elemMatch: {b: 1}}, {$elemMatch: {b: 3}}]}}", "{a: [{b: 1}, {b: 2}]}", false),
    ] {
        assert_eq!(is_match(query, document), expected, "{query} {document}");
    }
}

#[test]
fn elements() {
    for (query, document, expected) in [
        ("{a: {$elemMatch: {b: 1, c: 2}}}", "{a: [{b: 1, c: 1}, {b: 1, c: 2}]}", true),
        ("{a: {$elemMatch: {b: 1, c: 2}}}", "{a: [{b: 1}, {c: 2}]}", false),
        ("{a: {$elemMatch: {b: 1}}}", "{a: {b: 1}}", false),
        ("{a: {$elemMatch: {}}}", "{a: [{}]}", true),
        ("{a: {$elemMatch: {}}}", "{a: [1]}", false),
        ("{a: {$elemMatch: {$or: [{b: 1}, {b: 2}]}}}", "{a: [{b: 2}]}", true),
        ("{a: {$elemMatch: {'0': 1}}}", "{a: [[1]]}", true),
        ("{a: {$elemMatch: {$elemMatch: {$gt: 4}}}}", "{a: [[1], [5]]}", true),
        ("{a: {$elemMatch: {$gt: 4}}}", "{a: [[5]]}", false),
        ("{a: {$elemMatch: {$not: {$gt: 4}}}}", "{a: [5]}", false),
        ("{a: {$elemMatch: {$not: {$gt: 4}}}}", "{a: [5, 1]}", true),
        ("{a: {$elemMatch: {$in: [1, 2]}}}", "{a: [2]}", true),
        ("{a: {$elemMatch: {$ne: 1}}}", "{a: [1]}", false),
        ("{a: {$elemMatch: {$ne: 1}}}", "{a: []}", false),
        ("{a: {$elemMatch: {$exists: true}}}", "{a: [null]}", true),
        ("{a: {$elemMatch: {$size: 1}}}", "{a: [[1]]}", true),
        ("{'a.b': {$elemMatch: {$gt: 1}}}", "{a: [{b: [1]}, {b: [2]}]}", true),
        ("{a: {$not: {$elemMatch: {b: 1}}}}", "{a: [{b: 2}]}", true),
        ("{a: {$elemMatch: {$ref: 'c', $id: 1}}}", "{a: [{$ref: 'c', $id: 1, x: 1}]}", true),
        ("{a: {$size: 2.0}}", "{a: [1, 2]}", true),
        ("{a: {$size: 1}}", "{a: [[1, 2]]}", true),
        ("{a: {$size: 2}}", "{a: [[1, 2]]}", false),
    ] {
        assert_eq!(is_match(query, document), expected, "{query} {document}");
    }
}

#[test]
fn remainders_and_bits() {
    for (query, document, expected) in [
        ("{a: {$mod: [4, 1]}}", "{a: 5}", true),
        ("{a: {$mod: [4, 1]}}", "{a: 5.9}", true),
        ("{a: {$mod: [4, 1]}}", "{a: d5.9}", true),
        ("{a: {$mod: [4.9, 1]}}", "{a: 5}", true),
        ("{a: {$mod: [4, -1]}}", "{a: -5}", true),
        ("{a: {$mod: [4, 3]}}", "{a: -5}", false),
        ("{a: {$mod: [4, 0]}}", "{a: NaN}", false),
        ("{a: {$mod: [4, 0]}}", "{a: 1e300}", false),
        ("{a: {$mod: [-1, 0]}}", "{a: -9223372036854775808}", true),
        ("{a: {$mod: [4, 0]}}", "{a: '4'}", false),
        ("{a: {$mod: [4, 1]}}", "{a: [2, 5]}", true),
        ("{a: {$bitsAllSet: 6}}", "{a: 7}", true),
        ("{a: {$bitsAllSet: 6}}", "{a: 2}", false),
        ("{a: {$bitsAllSet: [1, 2]}}", "{a: 6}", true),
        ("{a: {$bitsAnySet: [0, 5]}}", "{a: 33}", true),
        ("{a: {$bitsAllClear: 6}}", "{a: 9}", true),
        ("{a: {$bitsAnyClear: 6}}", "{a: 6}", false),
        ("{a: {$bitsAllSet: [200]}}", "{a: -1}", true),
        ("{a: {$bitsAllSet: [200]}}", "{a: 1}", false),
        ("{a: {$bitsAllSet: []}}", "{a: 1}", true),
        ("{a: {$bitsAnySet: []}}", "{a: 1}", false),
        ("{a: {$bitsAllSet: 1}}", "{a: 1.5}", false),
        ("{a: {$bitsAllSet: 1}}", "{a: 1.0}", true),
        ("{a: {$bitsAllSet: 1}}", "{a: d1}", true),
        ("{a: {$bitsAllSet: 1}}", "{a: 'x'}", false),
        ("{a: {$bitsAllSet: {$binary: {base64: 'AQ==', subType: '00'}}}}", "{a: 3}", true),
        ("{a: {$bitsAllSet: [8]}}", "{a: {$binary: {base64: 'AAE=', subType: '00'}}}", true),
        ("{a: {$bitsAllClear: [80]}}", "{a: {$binary: {base64: 'AAE=', subType: '00'}}}", true),
    ] {
        assert_eq!(is_match(query, document), expected, "{query} {document}");
    }
}

#[test]
fn where_it_matched() {
    for (query, document, expected) in [
        ("{a: 5}", "{a: [1, 5]}", Some(1)),
        ("{a: 5}", "{a: 5}", None),
        ("{a: [1, 5]}", "{a: [1, 5]}", None),
        ("{'a.b': 2}", "{a: [{b: 1}, {b: 2}]}", Some(1)),
        ("{'a.b': 2}", "{a: [{b: [1, 3]}, {b: [1, 2]}]}", Some(1)),
        ("{'a.b': 2}", "{a: {b: [1, 3, 2]}}", Some(2)),
        ("{a: {$elemMatch: {b: 2}}}", "{a: [{b: 1}, {b: 2}]}", Some(1)),
        ("{a: {$elemMatch: {$gt: 2}}}", "{a: [1, 2, 3]}", Some(2)),
        ("{a: {$gt: 1, $lt: 9}}", "{a: [0, 4]}", Some(0)),
        ("{_id: 1, a: {$gte: 3}}", "{_id: 1, a: [1, 3]}", Some(1)),
        ("{'a.0': 1}", "{a: [1]}", None),
        ("{'a.0.b': 2}", "{a: [{b: [1, 2]}]}", Some(1)),
        ("{$or: [{a: 5}]}", "{a: [1, 5]}", Some(1)),
        ("{$or: [{a: 5}, {a: 7}]}", "{a: [1, 5]}", Some(1)),
        ("{$or: [{a: 5}, {b: 7}]}", "{a: [1, 5]}", None),
        ("{$or: [{a: 5}, {a: {$gt: 8}}]}", "{a: [1, 5]}", None),
        ("{a: {$ne: 7}}", "{a: [1, 5]}", None),
        ("{a: {$all: [5]}}", "{a: [1, 5]}", Some(1)),
        ("{a: {$exists: true}}", "{a: [1, 5]}", None),
    ] {
        let found =
            filter(query).find(&object(document), &Environment::default()).expect("matching does not fail");
        assert_eq!(
            found.unwrap_or_else(|| panic!("{query} {document}")).position,
            expected,
            "{query} {document}"
        );
    }
    assert_eq!(filter("{a: 7}").find(&object("{a: [1]}"), &Environment::default()), Ok(None));
}

#[test]
fn single_values() {
    let environment = Environment::default();
    for (operators, single, expected) in [
        ("{$gt: 4}", "5", true),
        ("{$gt: 4}", "3", false),
        ("{$gt: 4}", "[3, 5]", true),
        ("{$in: ['a', 'b']}", "'b'", true),
        ("{$ne: 1}", "2", true),
        ("{$elemMatch: {$gt: 1}}", "[2]", true),
        ("{$exists: true}", "null", true),
    ] {
        let filter = Filter::parse_operators(&object(operators), &Scope::default()).expect("good operators");
        assert_eq!(filter.matches_value(&value(single), &environment), Ok(expected), "{operators} {single}");
    }
    for (query, single, expected) in [
        ("{b: 1}", "{b: 1, c: 2}", true),
        ("{b: {$gt: 1}}", "{b: 1}", false),
        ("{b: 1}", "7", false),
        ("{b: null}", "7", true),
        ("{'': {$gt: 3}}", "4", true),
        ("{$or: [{'': 1}, {'': 2}]}", "2", true),
        ("{}", "7", true),
    ] {
        assert_eq!(
            filter(query).matches_value(&value(single), &environment),
            Ok(expected),
            "{query} {single}"
        );
    }
}

#[test]
fn what_is_refused() {
    for (query, expected) in [
        ("{$foo: 1}", 2),
        ("{a: {$foo: 1}}", 2),
        ("{a: {$gt: 1, b: 2}}", 2),
        ("{$and: {}}", 2),
        ("{$and: []}", 2),
        ("{$or: [1]}", 2),
        ("{$nor: []}", 2),
        ("{$not: {a: 1}}", 2),
        ("{a: {$not: 1}}", 2),
        ("{a: {$not: {}}}", 2),
        ("{a: {$in: 1}}", 2),
        ("{a: {$in: [{$gt: 1}]}}", 2),
        ("{a: {$nin: {}}}", 2),
        ("{a: {$all: 1}}", 2),
        ("{a: {$all: [{$gt: 1}]}}", 2),
        ("{a: {$all: [{$elemMatch: {}}, 1]}}", 2),
        ("{a: {$elemMatch: 1}}", 2),
        ("{a: {$size: -1}}", 2),
        ("{a: {$size: 1.5}}", 2),
        ("{a: {$size: 'x'}}", 2),
        ("{a: {$mod: 1}}", 2),
        ("{a: {$mod: [1]}}", 2),
        ("{a: {$mod: [1, 2, 3]}}", 2),
        ("{a: {$mod: [0, 2]}}", 2),
        ("{a: {$mod: [0.5, 2]}}", 2),
        ("{a: {$mod: [NaN, 2]}}", 2),
        ("{a: {$mod: ['x', 2]}}", 2),
        ("{a: {$type: 'foo'}}", 2),
        ("{a: {$type: 20}}", 2),
        ("{a: {$type: 0}}", 2),
        ("{a: {$type: {}}}", 14),
        ("{a: {$type: []}}", 9),
        ("{a: {$regex: 1}}", 2),
        ("{a: {$regex: '('}}", 51091),
        ("{a: {$regex: 'x', $options: 'q'}}", 51108),
        ("{a: {$options: 'i'}}", 2),
        ("{a: {$regex: {$regularExpression: {pattern: 'x', options: 'i'}}, $options: 's'}}", 51075),
        ("{a: {$gt: {$regularExpression: {pattern: 'x', options: 'i'}}}}", 2),
        ("{a: {$ne: {$regularExpression: {pattern: 'x', options: 'i'}}}}", 2),
        ("{a: undefined}", 2),
        ("{a: {$gt: undefined}}", 2),
        ("{a: {$in: [undefined]}}", 2),
        ("{a: {$bitsAllSet: -1}}", 9),
        ("{a: {$bitsAllSet: 1.5}}", 9),
        ("{a: {$bitsAllSet: 'x'}}", 2),
        ("{a: {$bitsAllSet: [-1]}}", 2),
        ("{a: {$bitsAllSet: ['x']}}", 2),
        ("{$where: '1'}", 115),
        ("{$text: {$search: 'x'}}", 115),
        ("{$sampleRate: 2}", 2),
        ("{$sampleRate: 'x'}", 2),
        ("{$alwaysTrue: 2}", 9),
        ("{a: {$maxDistance: 2}}", 2),
    ] {
        assert_eq!(code(query), expected, "{query}");
    }
    assert!(message("{$foo: 1}").starts_with("unknown top level operator: $foo"));
    assert_eq!(message("{a: {$foo: 1}}"), "unknown operator: $foo");
    assert_eq!(
        message("{a: {$size: -1}}"),
        "Failed to parse $size. Expected a non-negative number in: $size: -1"
    );
    assert_eq!(message("{a: {$size: 2.1}}"), "Failed to parse $size. Expected an integer: $size: 2.1");
    assert_eq!(message("{a: {$mod: [0, 2]}}"), "divisor cannot be 0");
    assert_eq!(message("{a: {$in: 5}}"), "$in needs an array");
}

#[test]
fn expressions() {
    // They compare across classes, and do not look into arrays.
    check_table(
        "{$expr: {$gt: ['$a', 1]}}",
        &["[1,5]", "x", "[]", "[[1]]", "{b}", "[{b}]", "2.5", "[null]", "true", "date", "{}"],
    );
    check_table("{$expr: {$eq: ['$a', 1]}}", &["1", "int", "decimal"]);
    check_table("{$expr: '$a.b'}", &["[1,5]", "[]", "[[1]]", "{b}", "[{b}]", "[null]"]);
    for (query, document, expected) in [
        ("{$expr: {$eq: ['$a', '$b']}}", "{a: 1, b: 1.0}", true),
        ("{$expr: {$eq: ['$a', '$b']}}", "{a: 1, b: 2}", false),
        ("{$expr: true}", "{}", true),
        ("{$expr: 0}", "{}", false),
        ("{$expr: '$a'}", "{a: ''}", true),
        ("{$expr: '$a'}", "{a: 0}", false),
        ("{$and: [{$expr: {$lt: ['$a', '$b']}}, {c: 1}]}", "{a: 1, b: 2, c: 1}", true),
        ("{a: {$elemMatch: {$expr: {$eq: ['$b', 1]}}}}", "{a: [{b: 1}]}", true),
    ] {
        assert_eq!(is_match(query, document), expected, "{query} {document}");
    }
    let scope = Scope { variables: vec!["wanted".to_owned()] };
    let filter = Filter::parse(&object("{$expr: {$eq: ['$a', '$$wanted']}}"), &scope).expect("a good filter");
    let environment = Environment { variables: object("{wanted: 5}"), ..Environment::default() };
    assert_eq!(filter.matches(&object("{a: 5}"), &environment), Ok(true));
    assert_eq!(filter.matches(&object("{a: 6}"), &environment), Ok(false));
    assert_eq!(code("{$expr: '$$wanted'}"), 17276);
    assert_eq!(code("{$expr: {$foo: 1}}"), 168);
    assert_eq!(code("{a: {$expr: 1}}"), 2);
}

#[test]
fn nesting_has_a_bound() {
    let nested = |depth: usize| {
        let mut query = object("{a: 1}");
        for _ in 0..depth {
            query = armilla_value::Object::from(vec![(
                "$and".to_owned(),
                armilla_value::Value::Array(vec![armilla_value::Value::Object(query)]),
            )]);
        }
        let filter = Filter::parse(&query, &Scope::default()).map_err(|error| error.code)?;
        filter
            .find(&object("{a: 1}"), &Environment::default())
            .map(|found| found.is_some())
            .map_err(|error| error.code)
    };
    assert_eq!(nested(crate::limits::DEPTH_MAX - 1), Ok(true));
    assert_eq!(nested(crate::limits::DEPTH_MAX), Err(15));
}
