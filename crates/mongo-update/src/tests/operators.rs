//! Replacements and the operators on single values.

use super::{apply, check, check_all, environment, object, value};
use crate::Update;
use armilla_mongo_expression::Scope;
use armilla_mongo_filter::Matched;
use armilla_value::{Object, Value};

#[test]
fn replacements() {
    check_all(&[
        (r#"{"_id": 1, "a": 1}"#, r#"{"b": 2}"#, r#"{"_id": 1, "b": 2}"#),
        (r#"{"_id": 1, "a": 1}"#, r#"{}"#, r#"{"_id": 1}"#),
        (r#"{"_id": 1, "a": 1}"#, r#"{"a": 1}"#, "="),
        (r#"{"_id": 1, "a": 1}"#, r#"{"a": 1.0}"#, r#"{"_id": 1, "a": 1.0}"#),
        (r#"{"_id": 1, "a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#, r#"{"_id": 1, "b": 2, "a": 1}"#),
        (r#"{"_id": 1, "a": 1}"#, r#"{"_id": 1, "a": 1}"#, "="),
        (r#"{"_id": 1, "a": 1}"#, r#"{"a": 2, "_id": 1}"#, r#"{"_id": 1, "a": 2}"#),
        (r#"{"_id": 1}"#, r#"{"_id": 1.0}"#, r#"{"_id": 1.0}"#),
        (r#"{"_id": 1}"#, r#"{"_id": 2}"#, "!66 altered to _id: 2"),
        (r#"{"_id": {"a": 1, "b": 2}}"#, r#"{"_id": {"b": 2, "a": 1}}"#, "!66"),
        (r#"{"_id": 1}"#, r#"{"a": 1, "$set": {"b": 1}}"#, "!52 '$set'"),
        (
            r#"{"_id": 1}"#,
            r#"{"a": {"$b": 1}, "c.d": 1, "": 2}"#,
            r#"{"_id": 1, "a": {"$b": 1}, "c.d": 1, "": 2}"#,
        ),
        (r#"{"_id": 1}"#, r#"{"$set": {"b": 1}, "a": 1}"#, "!9 Unknown modifier: a"),
        (
            r#"{"_id": 1}"#,
            r#"{"$sett": {"b": 1}}"#,
            "!9 Unknown modifier: $sett. Expected a valid update modifier",
        ),
        (r#"{"_id": 1}"#, r#"{"$set": 1}"#, "!9 Modifiers operate on fields but we found type long instead."),
        (r#"{"_id": 1}"#, r#"5"#, "!9"),
        (
            r#"{"_id": 1}"#,
            r#"{"t": {"$timestamp": {"t": 0, "i": 0}}, "u": {"t": {"$timestamp": {"t": 0, "i": 0}}}}"#,
            r#"{"_id": 1, "t": {"$timestamp": {"t": 7, "i": 8}}, "u": {"t": {"$timestamp": {"t": 0, "i": 0}}}}"#,
        ),
    ]);
}

#[test]
fn set() {
    check_all(&[
        (r#"{"_id": 1}"#, r#"{"$set": {"a": 1}}"#, r#"{"_id": 1, "a": 1}"#),
        (r#"{"_id": 1, "a": 1}"#, r#"{"$set": {"a": 1}}"#, "="),
        (r#"{"_id": 1, "a": 1}"#, r#"{"$set": {"a": 1.0}}"#, r#"{"_id": 1, "a": 1.0}"#),
        (
            r#"{"_id": 1, "a": 1}"#,
            r#"{"$set": {"a": {"$numberInt": "1"}}}"#,
            r#"{"_id": 1, "a": {"$numberInt": "1"}}"#,
        ),
        (r#"{"_id": 1, "a": 0.0}"#, r#"{"$set": {"a": -0.0}}"#, r#"{"_id": 1, "a": -0.0}"#),
        (r#"{"_id": 1}"#, r#"{"$set": {}}"#, "="),
        // New members come in the order of their paths, those of digits by number.
        (r#"{"z": 1}"#, r#"{"$set": {"c": 1, "a": 2, "b": 3}}"#, r#"{"z": 1, "a": 2, "b": 3, "c": 1}"#),
        (r#"{}"#, r#"{"$set": {"x.10": 1, "x.9": 2, "x.a": 3}}"#, r#"{"x": {"9": 2, "10": 1, "a": 3}}"#),
        (r#"{}"#, r#"{"$set": {"b": 1}, "$inc": {"a": 2}}"#, r#"{"a": 2, "b": 1}"#),
        // Parents are made as objects, also below names of digits.
        (r#"{}"#, r#"{"$set": {"a.b.c": 1}}"#, r#"{"a": {"b": {"c": 1}}}"#),
        (r#"{}"#, r#"{"$set": {"a.0": 1}}"#, r#"{"a": {"0": 1}}"#),
        (r#"{"a": {"b": 1}}"#, r#"{"$set": {"a.c": 2, "a.b": 3}}"#, r#"{"a": {"b": 3, "c": 2}}"#),
        (r#"{"a": {}}"#, r#"{"$set": {"a.b": 1}}"#, r#"{"a": {"b": 1}}"#),
        // Nothing is made inside what has no members.
        (r#"{"a": 1}"#, r#"{"$set": {"a.b": 1}}"#, "!28 Cannot create field 'b' in element {a: 1}"),
        (r#"{"a": null}"#, r#"{"$set": {"a.b": 1}}"#, "!28 Cannot create field 'b' in element {a: null}"),
        (
            r#"{"a": {"b": "x"}}"#,
            r#"{"$set": {"a.b.c.d": 1}}"#,
            "!28 Cannot create field 'c' in element {b: \"x\"}",
        ),
        (
            r#"{"a": [1, 2]}"#,
            r#"{"$set": {"a.b": 1}}"#,
            "!28 Cannot create field 'b' in element {a: [ 1, 2 ]}",
        ),
        (r#"{"a": [1]}"#, r#"{"$set": {"a.-1": 1}}"#, "!28"),
        (r#"{"a": [1]}"#, r#"{"$set": {"a.99999999999": 1}}"#, "!28"),
        // Arrays.
        (r#"{"a": [1, 2]}"#, r#"{"$set": {"a.1": 3}}"#, r#"{"a": [1, 3]}"#),
        (r#"{"a": [1]}"#, r#"{"$set": {"a.3": 3}}"#, r#"{"a": [1, null, null, 3]}"#),
        (r#"{"a": []}"#, r#"{"$set": {"a.1.b": 3}}"#, r#"{"a": [null, {"b": 3}]}"#),
        (
            r#"{"a": []}"#,
            r#"{"$set": {"a.10": 1, "a.9": 2}}"#,
            r#"{"a": [null, null, null, null, null, null, null, null, null, 2, 1]}"#,
        ),
        (r#"{"a": [[1]]}"#, r#"{"$set": {"a.0.1": 2}}"#, r#"{"a": [[1, 2]]}"#),
        (r#"{"a": []}"#, r#"{"$set": {"a.1500001": 1}}"#, "!34 can't backfill more than 1500000 elements"),
        // Names.
        (r#"{}"#, r#"{"$set": {"": 1}}"#, "!56 An empty update path is not valid."),
        (r#"{}"#, r#"{"$set": {"a.": 1}}"#, "!56 'a.'"),
        (r#"{}"#, r#"{"$set": {"a..b": 1}}"#, "!56"),
        (r#"{}"#, r#"{"$set": {"$a": 1}}"#, "!52 '$a'"),
        (r#"{"$a": 1}"#, r#"{"$unset": {"$a": 1}}"#, "{}"),
        (r#"{"$a": {"b": 1}}"#, r#"{"$set": {"$a.b": 1}}"#, "!52"),
        (r#"{}"#, r#"{"$set": {"a.$b": 1}}"#, r#"{"a": {"$b": 1}}"#),
        (r#"{}"#, r#"{"$set": {"a": {"$b": 1, "c.d": 2, "": 3}}}"#, r#"{"a": {"$b": 1, "c.d": 2, "": 3}}"#),
        // `_id` stays.
        (r#"{"_id": 1}"#, r#"{"$set": {"_id": 1}}"#, "="),
        (
            r#"{"_id": 1}"#,
            r#"{"$set": {"_id": 2, "a": 1}}"#,
            "!66 Performing an update on the path '_id' would modify the immutable field '_id'",
        ),
        (r#"{"_id": {"a": 1}}"#, r#"{"$set": {"_id.a": 2}}"#, "!66 on the path '_id.a'"),
        (r#"{"_id": {"a": 1}}"#, r#"{"$set": {"_id.a": 1}}"#, "="),
        (r#"{"_id": 1}"#, r#"{"$unset": {"_id": 1}}"#, "!66"),
        (r#"{"_id": 1}"#, r#"{"$inc": {"_id": 1}}"#, "!66"),
        (r#"{"_id": 1}"#, r#"{"$inc": {"_id": 0}}"#, "="),
        (r#"{"_id": 1}"#, r#"{"$rename": {"_id": "b"}}"#, "!66"),
        (r#"{"_id": 1, "a": 2}"#, r#"{"$rename": {"a": "_id"}}"#, "!66"),
    ]);
    // JSON text has no NaN, so these are made by hand.
    let nan = Object::from([("a", Value::Double(f64::NAN))]);
    let update = Object::from([("$set", Value::Object(nan.clone()))]);
    let update = Update::parse(&Value::Object(update), None, None, &Scope::default()).unwrap();
    assert!(!update.apply(nan.clone(), &Matched::default(), &environment()).unwrap().is_modified);
}

#[test]
fn unset() {
    check_all(&[
        (r#"{"a": 1, "b": 2}"#, r#"{"$unset": {"a": ""}}"#, r#"{"b": 2}"#),
        (r#"{"a": 1}"#, r#"{"$unset": {"b": 1}}"#, "="),
        (r#"{"a": {"b": 1}}"#, r#"{"$unset": {"a.b": 1}}"#, r#"{"a": {}}"#),
        (r#"{"a": 1}"#, r#"{"$unset": {"a.b": 1}}"#, "="),
        (r#"{"a": [1]}"#, r#"{"$unset": {"a.b": 1}}"#, "="),
        (r#"{"a": [1, 2]}"#, r#"{"$unset": {"a.0": 1}}"#, r#"{"a": [null, 2]}"#),
        (r#"{"a": [null]}"#, r#"{"$unset": {"a.0": 1}}"#, "="),
        (r#"{"a": [1]}"#, r#"{"$unset": {"a.5": 1}}"#, "="),
        (r#"{"a": [{"b": 1}]}"#, r#"{"$unset": {"a.0.b": 1}}"#, r#"{"a": [{}]}"#),
        (r#"{"a": 1, "b": 2, "c": 3}"#, r#"{"$unset": {"c": 1, "a": 1}}"#, r#"{"b": 2}"#),
    ]);
}

#[test]
fn arithmetic() {
    check_all(&[
        (r#"{"a": 1}"#, r#"{"$inc": {"a": 2}}"#, r#"{"a": 3}"#),
        (r#"{}"#, r#"{"$inc": {"a.b": 2}}"#, r#"{"a": {"b": 2}}"#),
        (r#"{"a": 1}"#, r#"{"$inc": {"a": 0}}"#, "="),
        (r#"{"a": 1}"#, r#"{"$inc": {"a": 0.0}}"#, r#"{"a": 1.0}"#),
        (
            r#"{"a": {"$numberInt": "1"}}"#,
            r#"{"$inc": {"a": {"$numberInt": "1"}}}"#,
            r#"{"a": {"$numberInt": "2"}}"#,
        ),
        (r#"{"a": {"$numberInt": "1"}}"#, r#"{"$inc": {"a": 0}}"#, r#"{"a": 1}"#),
        (
            r#"{"a": {"$numberInt": "2147483647"}}"#,
            r#"{"$inc": {"a": {"$numberInt": "1"}}}"#,
            r#"{"a": 2147483648}"#,
        ),
        (
            r#"{"_id": 1, "a": 9223372036854775807}"#,
            r#"{"$inc": {"a": 1}}"#,
            "!2 Failed to apply $inc operations to current value ((NumberLong)9223372036854775807) for document {_id: 1}",
        ),
        (r#"{"a": 9223372036854775807}"#, r#"{"$inc": {"a": 1.0}}"#, r#"{"a": 9223372036854775808.0}"#),
        (
            r#"{"a": 1}"#,
            r#"{"$inc": {"a": {"$numberDecimal": "0.5"}}}"#,
            r#"{"a": {"$numberDecimal": "1.5"}}"#,
        ),
        (
            r#"{"_id": 1, "a": "x"}"#,
            r#"{"$inc": {"a": 1}}"#,
            "!14 Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of non-numeric type string",
        ),
        (r#"{"a": null}"#, r#"{"$inc": {"a": 1}}"#, "!14"),
        (r#"{"a": {"b": []}}"#, r#"{"$mul": {"a.b": 1}}"#, "!14 field 'b' of non-numeric type array"),
        (r#"{}"#, r#"{"$inc": {"a": "1"}}"#, "!14 Cannot increment with non-numeric argument: {a: \"1\"}"),
        (r#"{}"#, r#"{"$mul": {"a": null}}"#, "!14 Cannot multiply with non-numeric argument: {a: null}"),
        (r#"{"a": 3}"#, r#"{"$mul": {"a": 2}}"#, r#"{"a": 6}"#),
        (r#"{"a": 3}"#, r#"{"$mul": {"a": 1}}"#, "="),
        (r#"{}"#, r#"{"$mul": {"a": 2}}"#, r#"{"a": 0}"#),
        (r#"{}"#, r#"{"$mul": {"a": {"$numberInt": "2"}}}"#, r#"{"a": {"$numberInt": "0"}}"#),
        (r#"{}"#, r#"{"$mul": {"a": 2.5}}"#, r#"{"a": 0.0}"#),
        (r#"{}"#, r#"{"$mul": {"a": {"$numberDecimal": "2.5"}}}"#, r#"{"a": {"$numberDecimal": "0"}}"#),
        (
            r#"{"a": {"$numberInt": "65536"}}"#,
            r#"{"$mul": {"a": {"$numberInt": "65536"}}}"#,
            r#"{"a": 4294967296}"#,
        ),
        (r#"{"a": 4611686018427387904}"#, r#"{"$mul": {"a": 2}}"#, "!2 Failed to apply $mul"),
        (r#"{"a": [1, 2]}"#, r#"{"$inc": {"a.1": 5}}"#, r#"{"a": [1, 7]}"#),
    ]);
}

#[test]
fn minimum_and_maximum() {
    check_all(&[
        (r#"{"a": 5}"#, r#"{"$min": {"a": 3}}"#, r#"{"a": 3}"#),
        (r#"{"a": 5}"#, r#"{"$min": {"a": 5.0}}"#, "="),
        (r#"{"a": 5}"#, r#"{"$min": {"a": 7}}"#, "="),
        (r#"{"a": 5}"#, r#"{"$max": {"a": 7}}"#, r#"{"a": 7}"#),
        (r#"{"a": 5}"#, r#"{"$max": {"a": 3}}"#, "="),
        (r#"{}"#, r#"{"$max": {"a": 3}, "$min": {"b": null}}"#, r#"{"a": 3, "b": null}"#),
        (r#"{"a": 5}"#, r#"{"$max": {"a": "x"}}"#, r#"{"a": "x"}"#),
        (r#"{"a": 5}"#, r#"{"$min": {"a": null}}"#, r#"{"a": null}"#),
        (r#"{"a": null}"#, r#"{"$min": {"a": 1}}"#, "="),
        (r#"{"a": {"b": 1}}"#, r#"{"$max": {"a": [0]}}"#, r#"{"a": [0]}"#),
    ]);
}

#[test]
fn bits() {
    check_all(&[
        (r#"{"a": 13}"#, r#"{"$bit": {"a": {"and": 10}}}"#, r#"{"a": 8}"#),
        (r#"{"a": 13}"#, r#"{"$bit": {"a": {"and": 10, "or": 1, "xor": 3}}}"#, r#"{"a": 10}"#),
        (
            r#"{"a": {"$numberInt": "1"}}"#,
            r#"{"$bit": {"a": {"or": {"$numberInt": "4"}}}}"#,
            r#"{"a": {"$numberInt": "5"}}"#,
        ),
        (r#"{"a": {"$numberInt": "1"}}"#, r#"{"$bit": {"a": {"or": 4}}}"#, r#"{"a": 5}"#),
        (r#"{"a": 1}"#, r#"{"$bit": {"a": {"or": 1}}}"#, "="),
        (r#"{}"#, r#"{"$bit": {"a": {"or": {"$numberInt": "3"}}}}"#, r#"{"a": {"$numberInt": "3"}}"#),
        (r#"{}"#, r#"{"$bit": {"a": {"and": 3}}}"#, r#"{"a": 0}"#),
        (
            r#"{"_id": 1, "a": 1.0}"#,
            r#"{"$bit": {"a": {"or": 1}}}"#,
            "!2 Cannot apply $bit to a value of non-integral type",
        ),
        (r#"{"a": "x"}"#, r#"{"$bit": {"a": {"or": 1}}}"#, "!2"),
        (r#"{}"#, r#"{"$bit": {"a": 1}}"#, "!2 The $bit modifier is not compatible with a long"),
        (r#"{}"#, r#"{"$bit": {"a": {}}}"#, "!2 You must pass in at least one bitwise operation"),
        (r#"{}"#, r#"{"$bit": {"a": {"not": 1}}}"#, "!2 not 'not'"),
        (r#"{}"#, r#"{"$bit": {"a": {"or": 1.5}}}"#, "!2 a 'double' is not supported here"),
    ]);
}

#[test]
fn current_date() {
    check_all(&[
        (r#"{}"#, r#"{"$currentDate": {"a": true}}"#, r#"{"a": {"$date": {"$numberLong": "1234"}}}"#),
        (r#"{"a": 1}"#, r#"{"$currentDate": {"a": false}}"#, r#"{"a": {"$date": {"$numberLong": "1234"}}}"#),
        (
            r#"{}"#,
            r#"{"$currentDate": {"a.b": {"$type": "date"}}}"#,
            r#"{"a": {"b": {"$date": {"$numberLong": "1234"}}}}"#,
        ),
        (
            r#"{}"#,
            r#"{"$currentDate": {"a": {"$type": "timestamp"}}}"#,
            r#"{"a": {"$timestamp": {"t": 7, "i": 8}}}"#,
        ),
        (r#"{}"#, r#"{"$currentDate": {"a": {"$type": "x"}}}"#, "!2 The '$type' string field is required"),
        (r#"{}"#, r#"{"$currentDate": {"a": {}}}"#, "!2 The '$type' string field is required"),
        (
            r#"{}"#,
            r#"{"$currentDate": {"a": {"type": "date"}}}"#,
            "!2 Unrecognized $currentDate option: type",
        ),
        (r#"{}"#, r#"{"$currentDate": {"a": 1}}"#, "!2 long is not valid type for $currentDate"),
    ]);
}

#[test]
fn rename() {
    check_all(&[
        (r#"{"a": 1, "c": 2}"#, r#"{"$rename": {"a": "b"}}"#, r#"{"c": 2, "b": 1}"#),
        (r#"{"a": 1, "b": 2, "c": 3}"#, r#"{"$rename": {"a": "b"}}"#, r#"{"b": 1, "c": 3}"#),
        (r#"{"a": 1, "b": 1}"#, r#"{"$rename": {"a": "b"}}"#, r#"{"b": 1}"#),
        (r#"{"c": 1}"#, r#"{"$rename": {"a": "b"}}"#, "="),
        (r#"{"b": 1}"#, r#"{"$rename": {"a": "b"}}"#, "="),
        (r#"{"a": {"b": 1}}"#, r#"{"$rename": {"a.b": "c.d"}}"#, r#"{"a": {}, "c": {"d": 1}}"#),
        (r#"{"a": {"b": 1}}"#, r#"{"$rename": {"a.b": "a.c"}}"#, r#"{"a": {"c": 1}}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$rename": {"a": "b"}}"#, r#"{"b": [1, 2]}"#),
        (r#"{"a": 1, "b": [2]}"#, r#"{"$rename": {"a": "b"}}"#, r#"{"b": 1}"#),
        (r#"{"a": 1, "b": 2}"#, r#"{"$rename": {"a": "c", "b": "d"}}"#, r#"{"c": 1, "d": 2}"#),
        (r#"{"a": 1}"#, r#"{"$rename": {"a": "a"}}"#, "!2 must differ: a: \"a\""),
        (r#"{"a": 1}"#, r#"{"$rename": {"a": "a.b"}}"#, "!2 must not be on the same path"),
        (r#"{"a": {"b": 1}}"#, r#"{"$rename": {"a.b": "a"}}"#, "!2 must not be on the same path"),
        (r#"{"a": 1}"#, r#"{"$rename": {"a": 1}}"#, "!2 must be a string: a: 1"),
        (r#"{"a": 1}"#, r#"{"$rename": {"a": ""}}"#, "!56"),
        (r#"{"a": 1}"#, r#"{"$rename": {"a": "b."}}"#, "!56"),
        (
            r#"{"a": 1}"#,
            r#"{"$rename": {"a.$": "b"}}"#,
            "!2 source field for $rename may not be dynamic: a.$",
        ),
        (
            r#"{"a": 1}"#,
            r#"{"$rename": {"a": "b.$[]"}}"#,
            "!2 destination field for $rename may not be dynamic: b.$[]",
        ),
        (r#"{"a": 1}"#, r#"{"$rename": {"a": "$b"}}"#, "!52"),
        (
            r#"{"_id": 1, "a": [1]}"#,
            r#"{"$rename": {"a.0": "b"}}"#,
            "!2 The source field cannot be an array element, 'a.0' in doc with _id: 1 has an array field called 'a'",
        ),
        (
            r#"{"a": [{"b": 1}]}"#,
            r#"{"$rename": {"a.b": "c"}}"#,
            "!28 cannot use the part (a of a.b) to traverse the element ({a: [ { b: 1 } ]})",
        ),
        (r#"{"a": [{"b": 1}]}"#, r#"{"$rename": {"a.0.b": "c"}}"#, "!2"),
        (r#"{"a": 1}"#, r#"{"$rename": {"a.b": "c"}}"#, "!28"),
        (
            r#"{"a": 1, "b": [1]}"#,
            r#"{"$rename": {"a": "b.0"}}"#,
            "!2 The destination field cannot be an array element",
        ),
        (r#"{"a": 1, "b": [1]}"#, r#"{"$rename": {"a": "b.c"}}"#, "!2"),
        (
            r#"{"a": 1, "b": 2}"#,
            r#"{"$rename": {"a": "b.c"}}"#,
            "!28 Cannot create field 'c' in element {b: 2}",
        ),
        (r#"{"a": 1}"#, r#"{"$rename": {"a": "b"}, "$set": {"a": 1}}"#, "!40"),
        (r#"{"a": 1}"#, r#"{"$rename": {"a": "b"}, "$set": {"b.c": 1}}"#, "!40"),
        (r#"{"a": 1}"#, r#"{"$rename": {"a": "b", "b": "c"}}"#, "!40"),
    ]);
}

#[test]
fn conflicts() {
    check_all(&[
        (
            r#"{}"#,
            r#"{"$set": {"a": 1}, "$inc": {"a": 1}}"#,
            "!40 Updating the path 'a' would create a conflict at 'a'",
        ),
        (
            r#"{}"#,
            r#"{"$set": {"a": 1}, "$inc": {"a.b": 1}}"#,
            "!40 Updating the path 'a.b' would create a conflict at 'a'",
        ),
        (
            r#"{}"#,
            r#"{"$set": {"a.b": 1}, "$inc": {"a": 1}}"#,
            "!40 Updating the path 'a' would create a conflict at 'a'",
        ),
        (
            r#"{}"#,
            r#"{"$set": {"a.b": 1, "a.b.c": 1}}"#,
            "!40 Updating the path 'a.b.c' would create a conflict at 'a.b'",
        ),
        (r#"{}"#, r#"{"$set": {"a.b": 1, "a.c": 1}}"#, r#"{"a": {"b": 1, "c": 1}}"#),
        (r#"{}"#, r#"{"$set": {"a": 1}, "$setOnInsert": {"a": 1}}"#, "!40"),
        (r#"{"a": [1]}"#, r#"{"$set": {"a.0": 1, "a.$[]": 1}}"#, "!40 at 'a'"),
        (r#"{"a": [1]}"#, r#"{"$set": {"a.$[]": 1}, "$inc": {"a.$[]": 1}}"#, "!40 at 'a.$[]'"),
        (r#"{"a": [1]}"#, r#"{"$set": {"a": 1}, "$push": {"a": 1}}"#, "!40"),
    ]);
}

#[test]
fn set_on_insert_does_nothing_to_a_document_that_was_found() {
    check_all(&[
        (r#"{"a": 1}"#, r#"{"$setOnInsert": {"a": 2, "b": 3}}"#, "="),
        (r#"{"a": 1}"#, r#"{"$setOnInsert": {"a.b": 2}}"#, "="),
        (r#"{"a": 1}"#, r#"{"$setOnInsert": {"b": 3}, "$set": {"a": 2}}"#, r#"{"a": 2}"#),
    ]);
}

#[test]
fn depth() {
    let path = |count: usize| vec!["a"; count].join(".");
    let set = |count: usize| format!(r#"{{"$set": {{"{}": 1}}}}"#, path(count));
    assert!(apply("{}", "", &set(100), "").unwrap().is_modified);
    check("one too deep", apply("{}", "", &set(101), ""), "{}", "!15");
    check("as deep as paths go", apply("{}", "", &set(200), ""), "{}", "!15");
    check("far too deep", apply("{}", "", &set(300), ""), "{}", "!15");
    let nested = |count: usize| format!("{}1{}", "[".repeat(count), "]".repeat(count));
    let set = |count: usize| format!(r#"{{"$set": {{"a": {}}}}}"#, nested(count));
    assert!(apply("{}", "", &set(99), "").unwrap().is_modified);
    check("one too deep", apply("{}", "", &set(100), ""), "{}", "!15");
    let push = |count: usize| format!(r#"{{"$push": {{"a": {}}}}}"#, nested(count));
    assert!(apply("{}", "", &push(98), "").unwrap().is_modified);
    check("one too deep", apply("{}", "", &push(99), ""), "{}", "!15");
    let replacement = |count: usize| format!(r#"{{"a": {}}}"#, nested(count));
    assert!(apply("{}", "", &replacement(99), "").unwrap().is_modified);
    check("one too deep", apply("{}", "", &replacement(100), ""), "{}", "!15");
    let (document, update) = (format!(r#"{{"a": {}}}"#, nested(98)), r#"{"$rename": {"a": "b.c.d"}}"#);
    check("renamed", apply(&document, "", update, ""), &document, "!15");
}

#[test]
fn backfilling_up_to_the_bound() {
    let update = r#"{"$set": {"a.1500000": 1}}"#;
    let updated = apply(r#"{"a": []}"#, "", update, "").unwrap();
    assert_eq!(updated.document.get("a").unwrap().as_array().unwrap().len(), 1_500_001);
}

#[test]
fn many_paths_take_no_longer_than_few_ones_do_each() {
    let names: Vec<String> = (0..100_000).map(|index| format!("n{index:06}")).collect();
    let members: Object = names.iter().map(|name| (name.as_str(), Value::Int32(1))).collect();
    let mut document = members.clone();
    document.insert("n000007", Value::Int32(2));
    let mut update = Object::from([("$set", Value::Object(members.clone()))]);
    update.insert("$unset", object(r#"{"x": 1}"#));
    let update = Update::parse(&Value::Object(update), None, None, &Scope::default()).unwrap();
    let matched = Matched::default();
    let updated = update.apply(document.clone(), &matched, &environment()).unwrap();
    assert_eq!((updated.is_modified, &updated.document), (true, &members));
    let created = update.apply(Object::new(), &matched, &environment()).unwrap();
    assert_eq!(created.document, members);
    document.insert("x", value("1"));
    assert_eq!(update.apply(document.clone(), &matched, &environment()).unwrap().document, members);
}

#[test]
fn small_updates_cannot_ask_for_any_amount_of_memory() {
    let elements = vec!["[]"; 10_000].join(",");
    let document = format!(r#"{{"a": [{elements}]}}"#);
    let long = "x".repeat(10_000);
    for update in [
        r#"{"$set": {"a.$[].100000": 1}}"#.to_owned(),
        format!(r#"{{"$set": {{"a.$[]": "{long}"}}}}"#),
        format!(r#"{{"$push": {{"a.$[]": "{long}"}}}}"#),
        format!(r#"{{"$push": {{"a.$[]": {{"$each": ["{long}"], "$slice": 5}}}}}}"#),
        format!(r#"{{"$addToSet": {{"a.$[]": "{long}"}}}}"#),
    ] {
        check(&update[..20], apply(&document, "", &update, ""), &document, "!17419");
    }
    let update = format!(r#"{{"$push": {{"a.$[]": {{"$each": ["{long}"], "$slice": 0}}}}}}"#);
    check("nothing is kept", apply(&document, "", &update, ""), &document, "=");
}

#[test]
fn messages_are_short() {
    let path = "x".repeat(100_000);
    let update = format!(r#"{{"$set": {{"{path}": 1, "{path}.a": 2}}}}"#);
    let error = apply("{}", "", &update, "").unwrap_err();
    assert_eq!(error.code, 40);
    assert!(error.message.len() < crate::limits::MESSAGE_BYTES_MAX + 4);
    let document = format!(r#"{{"a": "{path}"}}"#);
    let error = apply(&document, "", r#"{"$set": {"a.b": 1}}"#, "").unwrap_err();
    assert!(error.message.len() < crate::limits::MESSAGE_VALUE_BYTES_MAX + 100);
}
