//! What upserts take from their filters.

use armilla_mongo_expression::Scope;

use crate::filter::Filter;
use crate::testing::{object, text};

fn filter(query: &str) -> Filter {
    Filter::parse(&object(query), &Scope::default()).unwrap_or_else(|error| panic!("{query}: {error:?}"))
}

#[test]
fn what_upserts_begin_with() {
    for (query, expected) in [
        ("{a: 5}", "{\"a\":5}"),
        ("{a: {$eq: 5}, 'b.c': 'x'}", "{\"a\":5,\"b.c\":\"x\"}"),
        ("{a: {$in: [1]}, b: {$in: [1, 2]}}", "{\"a\":1}"),
        ("{a: {$all: [1]}, b: {$all: [{$elemMatch: {c: 1}}, {$elemMatch: {c: 2}}]}}", "{\"a\":1}"),
        (
            "{a: {$eq: {$regularExpression: {pattern: 'x', options: ''}}}}",
            "{\"a\":{\"$regularExpression\":{\"pattern\":\"x\",\"options\":\"\"}}}",
        ),
        ("{$and: [{a: 1}, {$and: [{b: 2}]}]}", "{\"a\":1,\"b\":2}"),
        ("{$or: [{a: 1}]}", "{\"a\":1}"),
        ("{$or: [{a: 1}, {b: 2}]}", "{}"),
        ("{$nor: [{a: 1}]}", "{}"),
        ("{a: {$gt: 1}, b: {$ne: 2}, c: {$elemMatch: {d: 1}}}", "{}"),
        ("{a: {$regularExpression: {pattern: 'x', options: ''}}}", "{}"),
        ("{a: {$not: {$eq: 1}}}", "{}"),
        ("{a: {$gt: 1, $eq: 2}}", "{\"a\":2}"),
        ("{ab: 1, a: 2}", "{\"ab\":1,\"a\":2}"),
        ("{a: null}", "{\"a\":null}"),
    ] {
        let equalities = filter(query).equalities().expect("good equalities");
        assert_eq!(text(equalities.into_iter().collect::<armilla_value::Object>()), expected, "{query}");
    }
    for query in [
        "{a: 1, $and: [{a: 1}]}",
        "{a: 1, 'a.b': 2}",
        "{'a.b': 2, $and: [{a: 1}]}",
        "{a: {$in: [1], $eq: 1}}",
        "{a: {$all: [1, 2]}}",
        "{a: {$all: [1, 1]}}",
    ] {
        assert_eq!(filter(query).equalities().expect_err("fixed twice").code, 54, "{query}");
    }
}

#[test]
fn what_replacements_begin_with() {
    let id = |query: &str| filter(query).id_equality().map(|id| id.map(text)).map_err(|error| error.code);
    for (query, expected) in [
        ("{_id: 1}", Ok(Some("1"))),
        ("{_id: {$in: [1]}, x: 1, $and: [{x: 2}]}", Ok(Some("1"))),
        ("{_id: 1, x: [1], 'x.y': 1}", Ok(Some("1"))),
        ("{_id: {$gt: 1}}", Ok(None)),
        ("{x: 1}", Ok(None)),
        ("{_id: {$all: [1, 2]}}", Err(54)),
        ("{_id: 1, '_id.x': 1}", Err(54)),
        ("{$and: [{_id: 1}, {_id: 1}]}", Err(54)),
        ("{'_id.x': 1, '_id.y': 2}", Err(111)),
    ] {
        assert_eq!(id(query), expected.map(|id| id.map(str::to_owned)), "{query}");
    }
}
