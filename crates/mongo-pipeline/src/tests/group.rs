//! `$group`.

use std::sync::Arc;

use crate::testing::{Memory, array, check, check_error};
use crate::{Documents, Pipeline};
use armilla_mongo_expression::{Environment, Scope};
use armilla_value::{Object, Value};

#[test]
fn groups() {
    for (documents, pipeline, expected) in [
        ("[]", "[{'$group':{'_id':null}}]", "[]"),
        (
            "[{'a':1},{'a':2}]",
            "[{'$group':{'_id':null,'n':{'$sum':1},'s':{'$sum':'$a'}}}]",
            "[{'_id':null,'n':2,'s':3}]",
        ),
        // Numbers of all types are one key, shown as the first was.
        (
            "[{'a':{'$numberLong':'1'}},{'a':1},{'a':1.0},{'a':{'$numberDecimal':'1.00'}},{'a':'1'},{'a':true}]",
            "[{'$group':{'_id':'$a','n':{'$sum':1}}}]",
            "[{'_id':1,'n':4},{'_id':'1','n':1},{'_id':true,'n':1}]",
        ),
        // Null and missing are one key.
        (
            "[{'a':null},{},{'a':0}]",
            "[{'$group':{'_id':'$a','n':{'$sum':1}}}]",
            "[{'_id':null,'n':2},{'_id':0,'n':1}]",
        ),
        // In an object they are not, and the order of members counts.
        (
            "[{'a':null},{},{'a':0}]",
            "[{'$group':{'_id':{'k':'$a'},'n':{'$sum':1}}}]",
            "[{'_id':{'k':null},'n':1},{'_id':{},'n':1},{'_id':{'k':0},'n':1}]",
        ),
        (
            "[{'a':{'x':1,'y':2}},{'a':{'y':2,'x':1}},{'a':{'x':1.0,'y':2}}]",
            "[{'$group':{'_id':'$a','n':{'$sum':1}}}]",
            "[{'_id':{'x':1,'y':2},'n':2},{'_id':{'y':2,'x':1},'n':1}]",
        ),
        (
            "[{'a':[1,2]},{'a':[2,1]},{'a':[1,2.0]},{'a':[]}]",
            "[{'$group':{'_id':'$a','n':{'$sum':1}}}]",
            "[{'_id':[1,2],'n':2},{'_id':[2,1],'n':1},{'_id':[],'n':1}]",
        ),
        // What was missing in a group is null.
        (
            "[{'_id':1}]",
            "[{'$group':{'_id':'$_id','f':{'$first':'$a'},'p':{'$push':'$a'},'m':{'$max':'$a'}}}]",
            "[{'_id':1,'f':null,'p':[],'m':null}]",
        ),
        (
            "[{'a':1,'b':2},{'a':1,'b':3}]",
            "[{'$group':{'_id':'$a','p':{'$push':{'b':'$b'}},'x':{'$avg':'$b'}}}]",
            "[{'_id':1,'p':[{'b':2},{'b':3}],'x':2.5}]",
        ),
    ] {
        check(documents, pipeline, expected);
    }
}

#[test]
fn refusals() {
    for (argument, code) in [
        ("1", 15947),
        ("{}", 15955),
        ("{'n':{'$sum':1}}", 15955),
        ("{'_id':1,'n':1}", 40234),
        ("{'_id':1,'a.b':{'$sum':1}}", 40235),
        ("{'_id':1,'$a':{'$sum':1}}", 40236),
        ("{'_id':1,'n':{}}", 40238),
        ("{'_id':1,'n':{'$sum':1,'$avg':1}}", 40238),
        ("{'_id':1,'n':{'$nothing':1}}", 15952),
    ] {
        check_error("[]", &format!("[{{'$group':{argument}}}]"), code);
    }
}

/// A hundred thousand documents in a thousand groups; run it by hand with `--nocapture` and a clock.
#[test]
fn many_documents() {
    let pipeline = array(
        "[{'$group':{'_id':'$k','n':{'$sum':1},'s':{'$sum':'$v'},'a':{'$avg':'$v'}}},{'$sort':{'_id':1}}]",
    );
    let pipeline = Pipeline::parse(&pipeline, &Scope::default()).unwrap();
    let input: Documents = Box::new((0..100_000i64).map(|n| {
        Ok(Object::from([
            ("_id", Value::Int64(n)),
            ("k", Value::String(format!("k{:04}", n % 1000))),
            ("v", Value::Int64(n)),
        ]))
    }));
    let found: Vec<Object> = pipeline
        .run(input, Arc::new(Environment::default()), Arc::new(Memory::default()))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(found.len(), 1000);
    assert!(found.iter().all(|group| group.get("n").and_then(Value::as_i64) == Some(100)));
}

#[test]
fn memory_of_groups_is_bounded() {
    let pipeline = array("[{'$group':{'_id':'$_id'}}]");
    let pipeline = Pipeline::parse(&pipeline, &Scope::default()).unwrap();
    let long = "x".repeat(1 << 20);
    let input: Documents =
        Box::new((0..1000i64).map(move |n| Ok(Object::from([("_id", Value::String(format!("{n}{long}")))]))));
    let result: Result<Vec<Object>, _> =
        pipeline.run(input, Arc::new(Environment::default()), Arc::new(Memory::default())).unwrap().collect();
    let error = result.unwrap_err();
    assert_eq!(error.code, 292);
    assert!(error.message.starts_with("Exceeded memory limit for $group"));
}
