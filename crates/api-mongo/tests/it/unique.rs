//! Unique indexes over documents that are there.

use armilla_value::Value;

use crate::client::Client;
use crate::values::object;

/// Commands, and the code that each is refused with, if it is.
const STEPS: &[(&str, Option<i64>)] = &[
    (
        "{'insert':'c','documents':[{'_id':1,'a':1},{'_id':2,'a':2},{'_id':3,'a':1.0},{'_id':4},{'_id':5}]}",
        None,
    ),
    // Two have the same, and nothing comes of either index.
    (
        "{'createIndexes':'c','indexes':[{'key':{'b':1},'name':'b'},{'key':{'a':1},'name':'a','unique':true}]}",
        Some(11_000),
    ),
    ("{'dropIndexes':'c','index':'b'}", Some(27)),
    ("{'insert':'c','documents':[{'_id':6,'a':2}]}", None),
    ("{'delete':'c','deletes':[{'q':{'_id':{'$in':[3,6]}},'limit':0}]}", None),
    // Two lack the field.
    ("{'createIndexes':'c','indexes':[{'key':{'a':1},'name':'a','unique':true}]}", Some(11_000)),
    ("{'createIndexes':'c','indexes':[{'key':{'a':1},'name':'a','unique':true,'sparse':true}]}", None),
    ("{'insert':'c','documents':[{'_id':6}]}", None),
    ("{'insert':'c','documents':[{'_id':7,'a':2}]}", Some(11_000)),
    ("{'update':'c','updates':[{'q':{'_id':1},'u':{'$set':{'a':2}}}]}", Some(11_000)),
    ("{'update':'c','updates':[{'q':{'_id':1},'u':{'$set':{'a':3}}}]}", None),
    ("{'insert':'c','documents':[{'_id':7,'a':1}]}", None),
    ("{'dropIndexes':'c','index':'a'}", None),
    ("{'insert':'c','documents':[{'_id':8,'a':1}]}", None),
    (
        "{'createIndexes':'c','indexes':[{'key':{'a':1},'name':'a','unique':true,'sparse':true}]}",
        Some(11_000),
    ),
    ("{'createIndexes':'c','indexes':[{'key':{'a':1,'_id':1},'name':'both','unique':true}]}", None),
    (
        "{'createIndexes':'c','indexes':[{'key':{'z':1},'name':'z','unique':true,'partialFilterExpression':{'b':1}}]}",
        Some(67),
    ),
];

#[tokio::test]
async fn unique_indexes_are_made_and_dropped_over_documents() {
    let mut client = Client::new().await;
    for (command, expected) in STEPS {
        let reply = client.send("d", object(command)).await;
        let written =
            reply.get("writeErrors").and_then(|errors| errors.as_array()?.first()?.get("code")?.as_i64());
        let code = reply.get("code").and_then(Value::as_i64).or(written);
        assert_eq!(code, *expected, "{command}: {reply:?}");
    }
    let reply = client.send("d", object("{'listIndexes':'c'}")).await;
    let listed = reply.get("cursor").and_then(|cursor| cursor.get("firstBatch")?.as_array()).unwrap();
    let names: Vec<&str> = listed.iter().filter_map(|index| index.get("name")?.as_str()).collect();
    assert_eq!(names, ["_id_", "both"]);
}

#[tokio::test]
async fn the_refusal_says_which_documents_are_in_the_way() {
    let mut client = Client::new().await;
    client
        .send("d", object("{'insert':'c','documents':[{'_id':1,'a':{'b':'x'}},{'_id':2,'a':{'b':'x'}}]}"))
        .await;
    let reply = client
        .send(
            "d",
            object("{'createIndexes':'c','indexes':[{'key':{'a.b':1,'z':-1},'name':'n','unique':true}]}"),
        )
        .await;
    let message = reply.get("errmsg").and_then(Value::as_str).unwrap();
    let expected = "E11000 duplicate key error collection: d.c index: n dup key: { a.b: \"x\", z: null }";
    assert!(message.contains(expected), "{message}");
}

#[tokio::test]
async fn both_zeros_are_one_key_and_each_object_id_is_one() {
    let mut client = Client::new().await;
    client.send("d", object("{'shardCollection':'d.s','key':{'k':'hashed'}}")).await;
    let keys = ["0", "-0.0", "{'$oid':'0102030405060708090a0b0c'}", "{'$oid':'0102030405060708090a0b0d'}"];
    for (place, key) in keys.iter().enumerate() {
        let insert = format!("{{'insert':'s','documents':[{{'_id':1,'k':{key}}}]}}");
        let reply = client.send("d", object(&insert)).await;
        let is_refused = reply.get("writeErrors").is_some();
        assert_eq!(is_refused, place == 1, "{key}: {reply:?}");
        let find = format!("{{'find':'s','filter':{{'k':{key}}}}}");
        let reply = client.send("d", object(&find)).await;
        let found = reply.get("cursor").and_then(|cursor| cursor.get("firstBatch")?.as_array()).unwrap();
        assert_eq!(found.len(), 1, "{key}: {reply:?}");
    }
}
