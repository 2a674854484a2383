//! Whatever is read and run gives documents or an error, and never panics.

use std::sync::Arc;

use proptest::prelude::*;

use crate::testing::{Memory, objects, value};
use crate::{Documents, Front, Pipeline};
use armilla_mongo_expression::{Environment, Scope};
use armilla_value::{Object, Value};

/// Arguments that are nearly right, to be put together anew.
const ARGUMENTS: &[&str] = &[
    "1",
    "0",
    "-1",
    "1.5",
    "'a'",
    "'$a'",
    "'$a.b'",
    "'$$ROOT'",
    "'$$x'",
    "null",
    "true",
    "[]",
    "{}",
    "[1,2]",
    "{'a':1}",
    "{'a':0}",
    "{'a':-1,'b':1}",
    "{'a':{'$gt':1}}",
    "{'a':null}",
    "{'x':'$a'}",
    "{'a.b':'$c'}",
    "{'_id':'$a','n':{'$sum':'$b'}}",
    "{'_id':null,'n':{'$push':'$$ROOT'}}",
    "{'_id':{'k':'$b'},'n':{'$avg':'$c'}}",
    "{'path':'$a','includeArrayIndex':'i','preserveNullAndEmptyArrays':true}",
    "{'size':2}",
    "{'newRoot':'$a'}",
    "{'newRoot':{'a':['$b','$c']}}",
    "{'groupBy':'$a','boundaries':[0,2,5],'default':9}",
    "{'groupBy':'$b','buckets':3}",
    "{'groupBy':'$b','buckets':3,'granularity':'E6'}",
    "{'from':'c','localField':'a','foreignField':'b','as':'r'}",
    "{'from':'c','let':{'x':'$a'},'pipeline':[{'$match':{'$expr':{'$eq':['$b','$$x']}}}],'as':'r'}",
    "{'from':'c','startWith':'$a','connectFromField':'a','connectToField':'b','as':'r','maxDepth':3}",
    "{'coll':'c','pipeline':[{'$limit':1}]}",
    "{'f':[{'$count':'n'}],'g':[{'$unwind':'$a'}]}",
    "{'sortBy':{'b':1},'output':{'w':{'$sum':'$a','window':{'documents':[-1,1]}}}}",
    "{'sortBy':{'b':1},'output':{'w':{'$avg':'$a','window':{'range':[-1,1]}}}}",
    "{'partitionBy':'$a','sortBy':{'b':1},'output':{'w':{'$rank':{}},'v':{'$shift':{'output':'$c','by':1}}}}",
    "{'sortBy':{'b':1},'output':{'w':{'$derivative':{'input':'$a'},'window':{'documents':[-1,0]}},'v':{'$linearFill':'$c'}}}",
    "{'field':'b','range':{'step':1,'bounds':'full'}}",
    "{'field':'a','range':{'step':2,'bounds':[0,9]}}",
    "{'sortBy':{'b':1},'output':{'a':{'method':'locf'},'c':{'value':0}}}",
    "{'$cond':[{'$gt':['$a',1]},'$$DESCEND','$$PRUNE']}",
    "[{'a':1},{'b':2}]",
    "{'near':[0,0],'distanceField':'d','key':'a'}",
];

const STAGES: &[&str] = &[
    "$match",
    "$project",
    "$addFields",
    "$set",
    "$unset",
    "$group",
    "$sort",
    "$limit",
    "$skip",
    "$count",
    "$unwind",
    "$lookup",
    "$replaceRoot",
    "$replaceWith",
    "$facet",
    "$sample",
    "$sortByCount",
    "$bucket",
    "$bucketAuto",
    "$unionWith",
    "$redact",
    "$documents",
    "$graphLookup",
    "$setWindowFields",
    "$densify",
    "$fill",
    "$geoNear",
    "$out",
    "$merge",
    "$changeStream",
    "$collStats",
    "$indexStats",
    "$currentOp",
    "$listSessions",
    "$planCacheStats",
];

const VALUES: &[&str] = &[
    "null",
    "1",
    "2",
    "2.5",
    "-7",
    "{'$numberLong':'3'}",
    "{'$numberDecimal':'4.5'}",
    "{'$numberDouble':'NaN'}",
    "{'$numberDouble':'Infinity'}",
    "'x'",
    "''",
    "true",
    "[]",
    "[1,2]",
    "[[1]]",
    "{}",
    "{'b':1}",
    "[{'b':1},{'b':[2]}]",
    "{'$day':'2020-01-01'}",
    "{'$oid':'0123456789abcdef01234567'}",
    "{'$minKey':1}",
];

fn documents() -> impl Strategy<Value = Vec<Object>> {
    let document = proptest::collection::vec(proptest::sample::select(VALUES), 0..5).prop_map(|values| {
        ["a", "b", "c", "_id"].iter().zip(values).map(|(name, text)| (*name, value(text))).collect::<Object>()
    });
    proptest::collection::vec(document, 0..6)
}

/// The argument that fits a stage more often than chance would have it.
fn stage() -> impl Strategy<Value = Value> {
    (proptest::sample::select(STAGES), proptest::sample::select(ARGUMENTS))
        .prop_map(|(name, argument)| Value::Object(Object::from([(name, value(argument))])))
}

/// A stage whose argument was read, so that running is tried as often as reading.
fn readable_stage() -> impl Strategy<Value = Value> {
    let readable: Vec<Value> = STAGES
        .iter()
        .flat_map(|name| {
            ARGUMENTS.iter().map(move |argument| Value::Object(Object::from([(*name, value(argument))])))
        })
        .filter(|stage| Pipeline::parse(std::slice::from_ref(stage), &Scope::default()).is_ok())
        .collect();
    proptest::sample::select(readable)
}

fn outside(narrows: bool) -> Arc<Memory> {
    let foreign =
        "[{'_id':1,'a':1,'b':2},{'_id':2,'a':[2],'b':1},{'_id':3},{'_id':4,'a':null,'b':[[1],{'b':1}]}]";
    Arc::new(Memory { collections: [("c".to_owned(), objects(foreign))].into(), narrows })
}

/// Runs a pipeline to the end or to the first failure, and writes what comes.
fn results(pipeline: &Pipeline, documents: Vec<Object>, narrows: bool) -> Result<Vec<String>, i32> {
    let input: Documents = Box::new(documents.into_iter().map(Ok));
    let found = pipeline
        .run(input, Arc::new(Environment::default()), outside(narrows))
        .map_err(|error| error.code)?;
    found
        .take(1000)
        .map(|document| document.map(|document| format!("{document:?}")).map_err(|error| error.code))
        .collect()
}

fn run(stages: &[Value], documents: Vec<Object>) {
    let Ok(pipeline) = Pipeline::parse(stages, &Scope::default()) else { return };
    let whole = results(&pipeline, documents.clone(), false);
    assert_eq!(whole, results(&pipeline, documents.clone(), true), "narrowed {stages:?} {documents:?}");
    let in_two = in_front(&pipeline.split_front(), documents.clone());
    if let (Ok(whole), Some(Ok(in_two))) = (whole, in_two) {
        assert_eq!(whole, in_two, "in two {stages:?} {documents:?}");
    }
}

/// Does what a store would do, and runs the rest; nothing if the front fails.
fn in_front(front: &Front, mut documents: Vec<Object>) -> Option<Result<Vec<String>, i32>> {
    if let Some(filter) = &front.filter {
        documents.retain(|document| {
            filter.matches(document, &Environment::default()).is_ok_and(|matches| matches)
        });
    }
    if let Some(sort) = &front.sort {
        let mut keyed: Vec<_> = documents
            .into_iter()
            .map(|document| sort.key(&document).map(|key| (key, document)))
            .collect::<Result<_, _>>()
            .ok()?;
        keyed.sort_by(|left, right| sort.compare(&left.0, &right.0));
        documents = keyed.into_iter().map(|(_, document)| document).collect();
    }
    let limit = front.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
    let documents: Vec<Object> =
        documents.into_iter().skip(usize::try_from(front.skip).unwrap()).take(limit).collect();
    if let Some(count) = &front.count_as {
        return Some(results(
            &front.rest,
            count.document(documents.len() as u64).into_iter().collect(),
            false,
        ));
    }
    let found = results(&front.rest, documents.clone(), false);
    if let Some(fields) = &front.needed_fields {
        // What is not needed may as well not be there.
        let few = documents
            .iter()
            .map(|document| document.clone().into_iter().filter(|(name, _)| fields.contains(name)).collect())
            .collect();
        assert_eq!(found, results(&front.rest, few, false), "{fields:?} of {documents:?}");
    }
    Some(found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_panics(stages in proptest::collection::vec(stage(), 1..4), documents in documents()) {
        run(&stages, documents);
    }

    #[test]
    fn what_is_read_runs(stages in proptest::collection::vec(readable_stage(), 1..5), documents in documents()) {
        run(&stages, documents);
    }
}
