//! `$`, `$[]` and `$[id]`.

use super::{apply, check};

/// Rows of document, filter, update, filters of elements, result.
fn check_rows(rows: &[(&str, &str, &str, &str, &str)]) {
    for (document, filter, update, array_filters, expected) in rows {
        let what = format!("{document} {filter} {update} {array_filters}");
        check(&what, apply(document, filter, update, array_filters), document, expected);
    }
}

#[test]
fn the_element_that_was_found() {
    check_rows(&[
        (r#"{"a": [1, 2, 3]}"#, r#"{"a": 2}"#, r#"{"$set": {"a.$": 9}}"#, "", r#"{"a": [1, 9, 3]}"#),
        (r#"{"a": [1, 5, 7]}"#, r#"{"a": {"$gt": 4}}"#, r#"{"$inc": {"a.$": 1}}"#, "", r#"{"a": [1, 6, 7]}"#),
        (
            r#"{"a": [{"b": 1}, {"b": 2}]}"#,
            r#"{"a.b": 2}"#,
            r#"{"$set": {"a.$.c": 9}}"#,
            "",
            r#"{"a": [{"b": 1}, {"b": 2, "c": 9}]}"#,
        ),
        (
            r#"{"a": [{"b": 1, "c": 1}, {"b": 2, "c": 1}]}"#,
            r#"{"a": {"$elemMatch": {"b": 2, "c": 1}}}"#,
            r#"{"$unset": {"a.$.b": 9}}"#,
            "",
            r#"{"a": [{"b": 1, "c": 1}, {"c": 1}]}"#,
        ),
        (r#"{"a": [1, 2]}"#, r#"{"a": 2}"#, r#"{"$unset": {"a.$": 1}}"#, "", r#"{"a": [1, null]}"#),
        (
            r#"{"a": [1, 2]}"#,
            r#"{"a": 2}"#,
            r#"{"$set": {"a.$": 5, "b": 1}}"#,
            "",
            r#"{"a": [1, 5], "b": 1}"#,
        ),
        (r#"{"a": [1, 2]}"#, r#"{"a": 2}"#, r#"{"$set": {"a.$": 5, "a.0": 1.0}}"#, "", r#"{"a": [1.0, 5]}"#),
        // Both are known to be the same element only when the document is.
        (
            r#"{"a": [1, 2]}"#,
            r#"{"a": 2}"#,
            r#"{"$set": {"a.$": 5, "a.1": 3}}"#,
            "",
            "!40 Update created a conflict at 'a.1'",
        ),
        (
            r#"{"a": [{}, {"x": 1}]}"#,
            r#"{"a.x": 1}"#,
            r#"{"$set": {"a.$.b": 5, "a.1.c": 3}}"#,
            "",
            r#"{"a": [{}, {"x": 1, "b": 5, "c": 3}]}"#,
        ),
        (
            r#"{"_id": 1, "a": [1, 2]}"#,
            r#"{"_id": 1}"#,
            r#"{"$set": {"a.$": 5}}"#,
            "",
            "!2 The positional operator did not find the match needed from the query.",
        ),
        (r#"{"a": [1, 2]}"#, "", r#"{"$set": {"a.$": 5}}"#, "", "!2"),
        (r#"{"a": [1]}"#, "", r#"{"$set": {"$": 5}}"#, "", "!2 first position in path '$'"),
        (r#"{"a": [1]}"#, "", r#"{"$set": {"a.$.b.$": 5}}"#, "", "!2 Too many positional"),
    ]);
}

#[test]
fn all_elements() {
    check_rows(&[
        (r#"{"a": [1, 2, 3]}"#, "", r#"{"$inc": {"a.$[]": 1}}"#, "", r#"{"a": [2, 3, 4]}"#),
        (r#"{"a": []}"#, "", r#"{"$inc": {"a.$[]": 1}}"#, "", "="),
        (r#"{"a": [{"b": 1}, {}]}"#, "", r#"{"$set": {"a.$[].b": 1}}"#, "", r#"{"a": [{"b": 1}, {"b": 1}]}"#),
        (
            r#"{"a": [{"b": 1}, 2]}"#,
            "",
            r#"{"$set": {"a.$[].b": 1}}"#,
            "",
            "!28 Cannot create field 'b' in element {1: 2}",
        ),
        (r#"{"a": [[1, 2], [3]]}"#, "", r#"{"$mul": {"a.$[].$[]": 2}}"#, "", r#"{"a": [[2, 4], [6]]}"#),
        (
            r#"{"a": [{"b": [1]}, {"b": [2, 3]}]}"#,
            "",
            r#"{"$push": {"a.$[].b": 0}}"#,
            "",
            r#"{"a": [{"b": [1, 0]}, {"b": [2, 3, 0]}]}"#,
        ),
        (r#"{"a": [1, 2]}"#, "", r#"{"$unset": {"a.$[]": 1}}"#, "", r#"{"a": [null, null]}"#),
        (
            r#"{"a": 1}"#,
            "",
            r#"{"$set": {"a.$[]": 1}}"#,
            "",
            "!2 Cannot apply array updates to non-array element a: 1",
        ),
        (r#"{"a": {"0": 1}}"#, "", r#"{"$set": {"a.$[]": 1}}"#, "", "!2"),
        (
            r#"{}"#,
            "",
            r#"{"$set": {"a.$[]": 1}}"#,
            "",
            "!2 The path 'a' must exist in the document in order to apply array updates.",
        ),
        (r#"{}"#, "", r#"{"$unset": {"a.b.$[]": 1}}"#, "", "!2 The path 'a.b' must exist"),
        (r#"{}"#, "", r#"{"$set": {"$[]": 1}}"#, "", "!2"),
    ]);
}

#[test]
fn elements_that_a_filter_lets_through() {
    check_rows(&[
        (
            r#"{"a": [1, 5, 9]}"#,
            "",
            r#"{"$set": {"a.$[i]": 0}}"#,
            r#"[{"i": {"$gt": 3}}]"#,
            r#"{"a": [1, 0, 0]}"#,
        ),
        (r#"{"a": [1, 5, 9]}"#, "", r#"{"$set": {"a.$[i]": 0}}"#, r#"[{"i": 5}]"#, r#"{"a": [1, 0, 9]}"#),
        (r#"{"a": [1, 5, 9]}"#, "", r#"{"$set": {"a.$[i]": 0}}"#, r#"[{"i": 7}]"#, "="),
        (
            r#"{"a": [{"b": 1, "c": 1}, {"b": 2}]}"#,
            "",
            r#"{"$set": {"a.$[x].c": 9}}"#,
            r#"[{"x.b": 2}]"#,
            r#"{"a": [{"b": 1, "c": 1}, {"b": 2, "c": 9}]}"#,
        ),
        (
            r#"{"a": [1, 5, 9]}"#,
            "",
            r#"{"$set": {"a.$[i]": 0}}"#,
            r#"[{"$or": [{"i": 1}, {"i": 9}]}]"#,
            r#"{"a": [0, 5, 0]}"#,
        ),
        (
            r#"{"a": [1, 5, 9]}"#,
            "",
            r#"{"$set": {"a.$[i]": 0}}"#,
            r#"[{"$and": [{"i": {"$gt": 1}}, {"i": {"$lt": 9}}]}]"#,
            r#"{"a": [1, 0, 9]}"#,
        ),
        (
            r#"{"a": [{"b": 1, "c": 2}, {"b": 1, "c": 3}]}"#,
            "",
            r#"{"$inc": {"a.$[i].b": 1}}"#,
            r#"[{"i.b": 1, "i.c": 3}]"#,
            r#"{"a": [{"b": 1, "c": 2}, {"b": 2, "c": 3}]}"#,
        ),
        (
            r#"{"a": [{"k": 1, "b": [1, 2]}, {"k": 2, "b": [1, 2]}]}"#,
            "",
            r#"{"$set": {"a.$[x].b.$[y]": 0}}"#,
            r#"[{"x.k": 2}, {"y": {"$gt": 1}}]"#,
            r#"{"a": [{"k": 1, "b": [1, 2]}, {"k": 2, "b": [1, 0]}]}"#,
        ),
        // Two filters may let the same element through, if what happens there does not clash.
        (
            r#"{"a": [{"b": 1}]}"#,
            "",
            r#"{"$set": {"a.$[x].c": 1, "a.$[].d": 2}}"#,
            r#"[{"x.b": 1}]"#,
            r#"{"a": [{"b": 1, "c": 1, "d": 2}]}"#,
        ),
        (
            r#"{"a": [1, 2]}"#,
            "",
            r#"{"$set": {"a.$[x]": 5, "a.$[y]": 6}}"#,
            r#"[{"x": 1}, {"y": 2}]"#,
            r#"{"a": [5, 6]}"#,
        ),
        (
            r#"{"a": [1, 2]}"#,
            "",
            r#"{"$set": {"a.$[x]": 5, "a.$[y]": 6}}"#,
            r#"[{"x": 1}, {"y": {"$lt": 5}}]"#,
            "!40 Update created a conflict at 'a.0'",
        ),
        (
            r#"{"a": [{"b": 1}]}"#,
            "",
            r#"{"$set": {"a.$[x]": 5, "a.$[].b": 6}}"#,
            r#"[{"x.b": 1}]"#,
            "!40 'a.0'",
        ),
        // What is wrong with them.
        (
            r#"{"a": [1]}"#,
            "",
            r#"{"$set": {"a.$[i]": 0}}"#,
            "",
            "!2 No array filter found for identifier 'i' in path 'a.$[i]'",
        ),
        (r#"{"a": [1]}"#, "", r#"{"$set": {"a.$[i]": 0}}"#, r#"[{"j": 1}]"#, "!2"),
        (
            r#"{"a": [1]}"#,
            "",
            r#"{"$set": {"a.$[i]": 0}}"#,
            r#"[{"i": 1}, {"j": 1}]"#,
            "!9 The array filter for identifier 'j' was not used in the update { $set: { a.$[i]: 0 } }",
        ),
        (
            r#"{"a": [1]}"#,
            "",
            r#"{"$set": {"a.$[i]": 0}}"#,
            r#"[{"i": 1}, {"i": 2}]"#,
            "!9 Found multiple array filters with the same top-level field name i",
        ),
        (
            r#"{"a": [1]}"#,
            "",
            r#"{"$set": {"a.$[i]": 0}}"#,
            r#"[{"i": 1, "j": 2}]"#,
            "!9 Error parsing array filter :: caused by :: Expected a single top-level field name, found 'i' and 'j'",
        ),
        (r#"{"a": [1]}"#, "", r#"{"$set": {"a.$[i]": 0}}"#, r#"[{}]"#, "!9 without a top-level field name"),
        (
            r#"{"a": [1]}"#,
            "",
            r#"{"$set": {"a.$[I]": 0}}"#,
            r#"[{"I": 1}]"#,
            "!2 must be an alphanumeric string beginning with a lowercase letter, found 'I'",
        ),
        (r#"{"a": [1]}"#, "", r#"{"$set": {"a.$[i_j]": 0}}"#, r#"[{"i_j": 1}]"#, "!2"),
        (r#"{"a": [1]}"#, "", r#"{"$set": {"a.$[i]": 0}}"#, r#"[1]"#, "!14"),
        (r#"{"a": [1]}"#, "", r#"{"$set": {"a.$[i]": 0}}"#, r#"[{"i": {"$foo": 1}}]"#, "!2"),
        (r#"{"a": 1}"#, "", r#"{"$set": {"a.$[i]": 0}}"#, r#"[{"i": 1}]"#, "!2"),
        (r#"{"a": 1}"#, "", r#"{"a": 2}"#, r#"[{"i": 1}]"#, "!9"),
        (r#"{"a": 1}"#, "", r#"[]"#, r#"[{"i": 1}]"#, "!9"),
        (r#"{"a": [1]}"#, "", r#"{"$set": {"$[i]": 0}}"#, r#"[{"i": 1}]"#, "!2"),
    ]);
}
