//! Objects, types and sizes.

use super::check;

#[test]
fn members() {
    check(
        r#"{"o": {"a": 1, "b": 2}, "n": null, "$x": 7, "a.b": 8, "list": [{"p": 1}, null, {"q": 2}]}"#,
        &[
            (r#"{"$mergeObjects": ["$o", {"b": 3, "c": 4}]}"#, "{a: 1, b: 3, c: 4}"),
            (r#"{"$mergeObjects": ["$n", "$zzz"]}"#, "{}"),
            (r#"{"$mergeObjects": "$list"}"#, "{p: 1, q: 2}"),
            (r#"{"$mergeObjects": "$o"}"#, "{a: 1, b: 2}"),
            (r#"{"$mergeObjects": ["$o", 1]}"#, "error 40400"),
            (r#"{"$objectToArray": "$o"}"#, "[{k: 'a', v: 1}, {k: 'b', v: 2}]"),
            (r#"{"$objectToArray": "$n"}"#, "null"),
            (r#"{"$objectToArray": 1}"#, "error 40390"),
            (r#"{"$arrayToObject": [[{"k": "a", "v": 1}, {"k": "b", "v": 2}]]}"#, "{a: 1, b: 2}"),
            (r#"{"$arrayToObject": [[["a", 1], ["a", 2]]]}"#, "{a: 2}"),
            (r#"{"$arrayToObject": [[]]}"#, "{}"),
            (r#"{"$arrayToObject": 1}"#, "error 40386"),
            (r#"{"$arrayToObject": [[1]]}"#, "error 40398"),
            (r#"{"$arrayToObject": [[["a", 1], {"k": 1, "v": 1}]]}"#, "error 40391"),
            (r#"{"$arrayToObject": [[{"k": "a", "v": 1}, ["a", 1]]]}"#, "error 40396"),
            (r#"{"$arrayToObject": [[["a", 1, 2]]]}"#, "error 40397"),
            (r#"{"$arrayToObject": [[[1, 1]]]}"#, "error 40395"),
            (r#"{"$arrayToObject": [[{"k": "a"}]]}"#, "error 40392"),
            (r#"{"$arrayToObject": [[{"k": "a", "x": 1}]]}"#, "error 40393"),
            (r#"{"$arrayToObject": [[{"k": 1, "v": 1}]]}"#, "error 40394"),
            (r#"{"$arrayToObject": "$n"}"#, "null"),
            (r#"{"$getField": "a.b"}"#, "8"),
            (r#"{"$getField": {"$literal": "$x"}}"#, "7"),
            (r#"{"$getField": {"field": "b", "input": "$o"}}"#, "2"),
            (r#"{"$getField": {"field": "zzz", "input": "$o"}}"#, "missing"),
            (r#"{"$getField": {"field": "a", "input": "$n"}}"#, "null"),
            (r#"{"$getField": {"field": "a", "input": 1}}"#, "missing"),
            (r#"{"$getField": {"field": 1, "input": "$o"}}"#, "error 5654602"),
            (r#"{"$setField": {"field": "a.c", "input": "$o", "value": 9}}"#, "{a: 1, b: 2, a.c: 9}"),
            (r#"{"$setField": {"field": "a", "input": "$o", "value": "$$REMOVE"}}"#, "{b: 2}"),
            (r#"{"$setField": {"field": "a", "input": "$n", "value": 1}}"#, "null"),
            (r#"{"$setField": {"field": "a", "input": 1, "value": 1}}"#, "error 4161105"),
            (r#"{"$setField": {"field": "a", "input": "$o"}}"#, "error 4161103"),
            (r#"{"$unsetField": {"field": "a", "input": "$o"}}"#, "{b: 2}"),
            (r#"{"$bsonSize": "$o"}"#, "19"),
            (r#"{"$bsonSize": {"$literal": {"s": "abc", "a": [1, true]}}}"#, "35"),
            (r#"{"$bsonSize": 1}"#, "error 31393"),
            (r#"{"$binarySize": "héllo"}"#, "6"),
            (r#"{"$binarySize": {"$binary": {"base64": "AAEC", "subType": "00"}}}"#, "3"),
            (r#"{"$binarySize": 1}"#, "error 51276"),
        ],
    );
}

#[test]
fn types() {
    check(
        r#"{"n": null, "a": [], "o": {}}"#,
        &[
            (r#"{"$type": "$zzz"}"#, "'missing'"),
            (r#"{"$type": "$n"}"#, "'null'"),
            (r#"{"$type": "$a"}"#, "'array'"),
            (r#"{"$type": "$o"}"#, "'object'"),
            (r#"{"$type": 1}"#, "'int'"),
            (r#"{"$type": {"$long": "1"}}"#, "'long'"),
            (r#"{"$type": 1.5}"#, "'double'"),
            (r#"{"$type": {"$numberDecimal": "1"}}"#, "'decimal'"),
            (r#"{"$type": {"$oid": "5ab9cbfa31c2ab715d42129e"}}"#, "'objectId'"),
            (r#"{"$type": "$$NOW"}"#, "'date'"),
            (r#"{"$type": "$$CLUSTER_TIME"}"#, "'timestamp'"),
            (r#"{"$isNumber": {"$numberDecimal": "1"}}"#, "true"),
            (r#"{"$isNumber": "1"}"#, "false"),
            (r#"{"$tsSecond": "$$CLUSTER_TIME"}"#, "1600000000L"),
            (r#"{"$tsIncrement": "$$CLUSTER_TIME"}"#, "7L"),
            (r#"{"$tsSecond": 1}"#, "error 5687301"),
            (r#"{"$tsIncrement": null}"#, "null"),
        ],
    );
}
