//! Stages that need no more than the documents one by one.

use std::sync::Arc;

use crate::testing::{Memory, check, check_error, objects, run_with};
use crate::{Documents, Pipeline};
use armilla_mongo_expression::{Environment, Scope};
use armilla_value::Object;

const PEOPLE: &str =
    "[{'_id':1,'n':'a','x':3},{'_id':2,'n':'b','x':1},{'_id':3,'n':'c','x':2},{'_id':4,'n':'a'}]";

#[test]
fn one_by_one() {
    for (pipeline, expected) in [
        ("[]", PEOPLE),
        ("[{'$match':{'x':{'$gt':1}}},{'$project':{'x':1}}]", "[{'_id':1,'x':3},{'_id':3,'x':2}]"),
        ("[{'$limit':1}]", "[{'_id':1,'n':'a','x':3}]"),
        ("[{'$skip':3}]", "[{'_id':4,'n':'a'}]"),
        ("[{'$skip':9}]", "[]"),
        ("[{'$skip':1},{'$limit':1},{'$unset':['n','x']}]", "[{'_id':2}]"),
        ("[{'$limit':1},{'$set':{'y':{'$add':['$x',1]}}},{'$unset':'n'}]", "[{'_id':1,'x':3,'y':4}]"),
        ("[{'$count':'total'}]", "[{'total':4}]"),
        ("[{'$match':{'x':99}},{'$count':'total'}]", "[]"),
        ("[{'$limit':2},{'$replaceWith':{'k':'$_id'}}]", "[{'k':1},{'k':2}]"),
        (
            "[{'$limit':1},{'$replaceRoot':{'newRoot':{'$mergeObjects':[{'z':0},'$$ROOT']}}}]",
            "[{'z':0,'_id':1,'n':'a','x':3}]",
        ),
        ("[{'$sortByCount':'$n'},{'$limit':1}]", "[{'_id':'a','count':2}]"),
        ("[{'$sample':{'size':0}}]", "[]"),
        ("[{'$documents':[{'a':1},{'a':2}]},{'$match':{'a':2}}]", "[{'a':2}]"),
    ] {
        check(PEOPLE, pipeline, expected);
    }
    for (pipeline, code) in [
        ("[{'$replaceWith':'$n'}]", 40228),
        ("[{'$replaceWith':'$missing'}]", 40228),
        ("[{'$replaceRoot':{'newRoot':'$x'}}]", 40228),
        ("[{'$documents':1}]", 5858203),
        ("[{'$redact':'x'}]", 17053),
    ] {
        check_error(PEOPLE, pipeline, code);
    }
}

#[test]
fn redactions() {
    let documents = "[{'_id':1,'level':1,'a':{'level':5,'b':1},'c':[{'level':1,'d':1},{'level':5},7,[{'level':5},{'level':1}]]},{'_id':2,'level':5}]";
    check(
        documents,
        "[{'$redact':{'$cond':[{'$lte':['$level',2]},'$$DESCEND','$$PRUNE']}}]",
        "[{'_id':1,'level':1,'c':[{'level':1,'d':1},7,[{'level':1}]]}]",
    );
    check(
        documents,
        "[{'$redact':{'$cond':[{'$eq':['$level',5]},'$$PRUNE','$$KEEP']}},{'$project':{'a':1}}]",
        "[{'_id':1,'a':{'level':5,'b':1}}]",
    );
    check(
        "[{'a':1,'b':{'c':1}}]",
        "[{'$redact':{'$cond':[{'$eq':['$$ROOT.a',1]},'$$DESCEND','$$PRUNE']}}]",
        "[{'a':1,'b':{'c':1}}]",
    );
}

#[test]
fn facets() {
    check(
        PEOPLE,
        "[{'$facet':{'counts':[{'$sortByCount':'$n'},{'$limit':1}],'first':[{'$limit':1},{'$project':{'x':1}}],'none':[{'$match':{'x':99}}],'all':[]}},{'$project':{'counts':1,'first':1,'none':1,'n':{'$size':'$all'}}}]",
        "[{'counts':[{'_id':'a','count':2}],'first':[{'_id':1,'x':3}],'none':[],'n':4}]",
    );
    check("[]", "[{'$facet':{'a':[{'$count':'n'}]}}]", "[{'a':[]}]");
}

#[test]
fn samples_are_drawn_without_repetition() {
    let documents = format!("[{}]", (0..100).map(|n| format!("{{'_id':{n}}}")).collect::<Vec<_>>().join(","));
    for (size, expected) in [(1, 1), (10, 10), (100, 100), (1000, 100)] {
        let mut found =
            run_with(Memory::default(), &documents, &format!("[{{'$sample':{{'size':{size}}}}}]")).unwrap();
        assert_eq!(found.len(), expected);
        found.sort_by_key(|document| document.get("_id").unwrap().as_i64());
        found.dedup();
        assert_eq!(found.len(), expected);
    }
}

#[test]
fn a_limit_stops_asking() {
    let pipeline = crate::testing::array("[{'$match':{'a':1}},{'$set':{'b':1}},{'$limit':2}]");
    let pipeline = Pipeline::parse(&pipeline, &Scope::default()).unwrap();
    let mut asked = 0;
    let input: Documents = Box::new(std::iter::from_fn(move || {
        asked += 1;
        assert!(asked <= 2, "asked for a third document");
        Some(Ok(objects("[{'a':1}]").remove(0)))
    }));
    let found = pipeline.run(input, Arc::new(Environment::default()), Arc::new(Memory::default())).unwrap();
    assert_eq!(found.collect::<Result<Vec<Object>, _>>().unwrap().len(), 2);
}

#[test]
fn unions() {
    let memory = || Memory {
        collections: [("c".to_owned(), objects("[{'_id':10,'x':1},{'_id':11,'x':2}]"))].into(),
        narrows: true,
    };
    for (pipeline, expected) in [
        ("[{'$unionWith':'c'},{'$project':{'_id':1}}]", "[{'_id':1},{'_id':10},{'_id':11}]"),
        (
            "[{'$unionWith':{'coll':'c','pipeline':[{'$match':{'x':2}},{'$project':{'_id':1}}]}}]",
            "[{'_id':1},{'_id':11}]",
        ),
        ("[{'$unionWith':'nothing'}]", "[{'_id':1}]"),
        ("[{'$unionWith':{'pipeline':[{'$documents':[{'a':1}]}]}}]", "[{'_id':1},{'a':1}]"),
    ] {
        let found = run_with(memory(), "[{'_id':1}]", pipeline)
            .unwrap_or_else(|error| panic!("{pipeline} {error:?}"));
        assert_eq!(found, objects(expected), "{pipeline}");
    }
}

#[test]
fn distances() {
    let places = "[{'_id':1,'p':[0,3]},{'_id':2,'p':[1,0]},{'_id':3,'p':{'x':0,'y':2}},{'_id':4},{'_id':5,'p':[[9,0],[0,4]]}]";
    for (options, expected) in [
        ("", "[{'_id':2,'d':1.0},{'_id':3,'d':2.0},{'_id':1,'d':3.0},{'_id':5,'d':4.0}]"),
        (",'maxDistance':2", "[{'_id':2,'d':1.0},{'_id':3,'d':2.0}]"),
        (
            ",'minDistance':2,'maxDistance':3,'distanceMultiplier':10",
            "[{'_id':3,'d':20.0},{'_id':1,'d':30.0}]",
        ),
        (",'query':{'_id':{'$lt':3}}", "[{'_id':2,'d':1.0},{'_id':1,'d':3.0}]"),
    ] {
        check(
            places,
            &format!(
                "[{{'$geoNear':{{'near':[0,0],'key':'p','distanceField':'d.m'{options}}}}},{{'$project':{{'d':'$d.m'}}}}]"
            ),
            expected,
        );
    }
    check(
        "[{'p':[[9,0],[0,4]]}]",
        "[{'$geoNear':{'near':[0,0],'key':'p','distanceField':'d','includeLocs':'l'}},{'$project':{'l':1,'d':1}}]",
        "[{'d':4.0,'l':[0,4]}]",
    );
    // On the globe in metres: a degree of the equator.
    check(
        "[{'p':{'type':'Point','coordinates':[1,0]}},{'p':{'type':'Point','coordinates':[2,0]}}]",
        "[{'$geoNear':{'near':{'type':'Point','coordinates':[0,0]},'key':'p','distanceField':'d','maxDistance':200000}},{'$project':{'d':{'$round':['$d',0]}}}]",
        "[{'d':111319.0}]",
    );
    for (argument, code) in [
        ("1", 10065),
        ("{'distanceField':'d','key':'p'}", 5860400),
        ("{'near':1,'distanceField':'d','key':'p'}", 5860401),
        ("{'near':[0,0],'key':'p'}", 16605),
        ("{'near':[0,0],'distanceField':'d'}", 27),
        ("{'near':[0,0],'distanceField':'d','key':1}", 14),
        ("{'near':[0,0],'distanceField':'d','key':''}", 2),
        ("{'near':[0,0],'distanceField':'d','key':'p','maxDistance':-1}", 2),
        ("{'near':[0,0],'distanceField':'d','key':'p','maxDistance':'x'}", 14),
        ("{'near':[0,0],'distanceField':'d','key':'p','x':1}", 40415),
    ] {
        check_error("[{'p':[0,0]}]", &format!("[{{'$geoNear':{argument}}}]"), code);
    }
}
