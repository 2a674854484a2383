//! Accumulators over a few documents.

use super::{environment, object, scope, shown, value};
use crate::{Accumulator, Error};

fn gathered(documents: &[&str], specification: &str) -> Result<String, Error> {
    let accumulator = Accumulator::parse("field", &value(specification), &scope())?;
    let mut gathered = accumulator.begin();
    for document in documents {
        accumulator.add(&mut gathered, &object(document), &environment())?;
    }
    Ok(accumulator.finish(gathered)?.map_or_else(|| "missing".to_owned(), |value| shown(&value)))
}

fn check(documents: &[&str], cases: &[(&str, &str)]) {
    for (specification, expected) in cases {
        let found =
            gathered(documents, specification).unwrap_or_else(|error| format!("error {}", error.code));
        assert_eq!(found, *expected, "{specification}");
    }
}

#[test]
fn of_a_group() {
    check(
        &[
            r#"{"a": 3, "s": "x", "t": "b", "o": {"p": 1, "q": 1}}"#,
            r#"{"a": 1.5, "s": "y", "t": "a", "o": null}"#,
            r#"{"a": null, "s": "x", "t": "d", "o": {"q": 2}}"#,
            r#"{"a": "text", "t": "c"}"#,
            r#"{"a": 3.0, "t": "e"}"#,
        ],
        &[
            (r#"{"$sum": 1}"#, "5"),
            (r#"{"$sum": "$a"}"#, "7.5"),
            (r#"{"$sum": "$zzz"}"#, "0"),
            (r#"{"$sum": ["$a"]}"#, "7.5"),
            (r#"{"$avg": "$a"}"#, "2.5"),
            (r#"{"$avg": "$zzz"}"#, "null"),
            (r#"{"$min": "$a"}"#, "1.5"),
            (r#"{"$max": "$a"}"#, "'text'"),
            (r#"{"$max": "$zzz"}"#, "null"),
            (r#"{"$first": "$s"}"#, "'x'"),
            (r#"{"$last": "$s"}"#, "null"),
            (r#"{"$last": "$t"}"#, "'e'"),
            (r#"{"$push": "$a"}"#, "[3, 1.5, null, 'text', 3.0]"),
            (r#"{"$push": "$s"}"#, "['x', 'y', 'x']"),
            (r#"{"$push": {"s": "$s"}}"#, "[{s: 'x'}, {s: 'y'}, {s: 'x'}, {}, {}]"),
            (r#"{"$addToSet": "$a"}"#, "[null, 1.5, 3, 'text']"),
            (r#"{"$addToSet": "$s"}"#, "['x', 'y']"),
            (r#"{"$count": {}}"#, "5"),
            (r#"{"$stdDevPop": "$a"}"#, "0.7071067811865476"),
            (r#"{"$mergeObjects": "$o"}"#, "{p: 1, q: 2}"),
            (r#"{"$top": {"sortBy": {"t": 1}, "output": "$t"}}"#, "'a'"),
            (r#"{"$bottom": {"sortBy": {"t": 1}, "output": "$t"}}"#, "'e'"),
            (
                r#"{"$topN": {"n": 2, "sortBy": {"t": -1}, "output": ["$t", "$a"]}}"#,
                "[['e', 3.0], ['d', null]]",
            ),
            (
                r#"{"$topN": {"n": 9, "sortBy": {"a": 1, "t": -1}, "output": "$t"}}"#,
                "['d', 'a', 'e', 'b', 'c']",
            ),
            (r#"{"$bottomN": {"n": 2, "sortBy": {"t": -1}, "output": "$t"}}"#, "['b', 'a']"),
            (r#"{"$firstN": {"n": 4, "input": "$s"}}"#, "['x', 'y', 'x', null]"),
            (r#"{"$lastN": {"n": 2, "input": "$t"}}"#, "['c', 'e']"),
            (r#"{"$maxN": {"n": 2, "input": "$a"}}"#, "['text', 3]"),
            (r#"{"$minN": {"n": 9, "input": "$a"}}"#, "[1.5, 3, 3.0, 'text']"),
            (r#"{"$median": {"input": "$a", "method": "approximate"}}"#, "3.0"),
            (r#"{"$percentile": {"input": "$zzz", "p": [0.5, 1], "method": "approximate"}}"#, "[null, null]"),
        ],
    );
}

#[test]
fn sums_are_as_wide_as_needed() {
    let long = r#"{"a": {"$long": "9223372036854775807"}}"#;
    for (documents, expected) in [
        (vec![r#"{"a": 2147483647}"#, r#"{"a": 1}"#], "2147483648L"),
        (vec![long], "9223372036854775807L"),
        (vec![long, r#"{"a": 1}"#], "9.223372036854776e18"),
        (vec![long, r#"{"a": 1}"#, r#"{"a": -1}"#], "9223372036854775807L"),
        (vec![r#"{"a": 1e16}"#, r#"{"a": 1.0}"#, r#"{"a": 1.0}"#, r#"{"a": -1e16}"#], "2.0"),
        (vec![r#"{"a": 1}"#, r#"{"a": {"$numberDecimal": "0.10"}}"#], "1.10m"),
        (vec![r#"{"a": {"$numberDouble": "Infinity"}}"#, r#"{"a": 1}"#], "inf"),
        (vec![r#"{"a": {"$numberDouble": "Infinity"}}"#, r#"{"a": {"$numberDouble": "-Infinity"}}"#], "NaN"),
    ] {
        assert_eq!(gathered(&documents, r#"{"$sum": "$a"}"#).unwrap(), expected, "{documents:?}");
    }
}

#[test]
fn what_is_no_accumulator() {
    check(
        &[],
        &[
            (r#"{"$nope": 1}"#, "error 15952"),
            (r#"{"$sum": [1, 2]}"#, "error 40237"),
            (r#"1"#, "error 40234"),
            (r#"{}"#, "error 40238"),
            (r#"{"$sum": 1, "$avg": 1}"#, "error 40238"),
            (r#"{"$count": 1}"#, "error 14"),
            (r#"{"$accumulator": {}}"#, "error 238"),
            (r#"{"$topN": {"sortBy": {"a": 1}, "output": 1}}"#, "error 5788003"),
            (r#"{"$top": {"sortBy": {"a": 1}}}"#, "error 5788004"),
            (r#"{"$top": {"output": 1}}"#, "error 5788005"),
            (r#"{"$firstN": {"n": 0, "input": 1}}"#, "error 5787908"),
            (r#"{"$sum": "$$nope"}"#, "error 17276"),
        ],
    );
    assert_eq!(Accumulator::parse("a.b", &value(r#"{"$sum": 1}"#), &scope()).unwrap_err().code, 40235);
    assert_eq!(Accumulator::parse("$a", &value(r#"{"$sum": 1}"#), &scope()).unwrap_err().code, 40236);
}

#[test]
fn memory_is_bounded() {
    let accumulator = Accumulator::parse("all", &value(r#"{"$push": "$s"}"#), &scope()).unwrap();
    let mut gathered = accumulator.begin();
    let mut document = object("{}");
    document.insert("s", "x".repeat(1 << 20));
    let code =
        (0..200).find_map(|_| accumulator.add(&mut gathered, &document, &environment()).err()).unwrap().code;
    assert_eq!(code, 146);
    assert!(gathered.bytes() > crate::limits::GATHERED_BYTES_MAX);
}

#[test]
fn the_number_of_values_may_depend_on_the_group() {
    let specification = r#"{"$firstN": {"n": {"$cond": [{"$eq": ["$k", "few"]}, 1, 2]}, "input": "$a"}}"#;
    let accumulator = Accumulator::parse("field", &value(specification), &scope()).unwrap();
    for (key, expected) in [(r#"{"k": "few"}"#, "[1]"), (r#"{"k": "many"}"#, "[1, 2]")] {
        let mut gathered = accumulator.begin_for(&object(key), &environment()).unwrap();
        for document in [r#"{"a": 1}"#, r#"{"a": 2}"#, r#"{"a": 3}"#] {
            accumulator.add(&mut gathered, &object(document), &environment()).unwrap();
        }
        assert_eq!(shown(&accumulator.finish(gathered).unwrap().unwrap()), expected);
    }
}
