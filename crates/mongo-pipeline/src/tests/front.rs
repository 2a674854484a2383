//! What stores do of a pipeline.

use crate::testing::{array, object};
use crate::{Front, Pipeline, Stage};
use armilla_mongo_expression::{Environment, Scope};

fn front(pipeline: &str) -> Front {
    Pipeline::parse(&array(pipeline), &Scope::default()).unwrap().split_front()
}

#[test]
fn fronts() {
    // Filter, order, how many are skipped, how many are left, and the stages of the rest.
    for (pipeline, filter, sort, skip, limit, rest) in [
        ("[]", false, false, 0, None, ""),
        ("[{'$match':{'a':1}}]", true, false, 0, None, ""),
        (
            "[{'$match':{}},{'$sort':{'a':1}},{'$skip':5},{'$limit':3},{'$project':{'a':1}}]",
            true,
            true,
            5,
            Some(3),
            "$project",
        ),
        ("[{'$limit':10},{'$skip':3}]", false, false, 3, Some(7), ""),
        ("[{'$limit':10},{'$skip':3},{'$limit':2},{'$skip':1}]", false, false, 4, Some(1), ""),
        ("[{'$limit':2},{'$skip':3}]", false, false, 3, Some(0), ""),
        ("[{'$skip':3},{'$skip':4}]", false, false, 7, None, ""),
        ("[{'$limit':2},{'$sort':{'a':1}}]", false, false, 0, Some(2), "$sort"),
        ("[{'$project':{'a':1}},{'$match':{'a':1}}]", false, false, 0, None, "$project $match"),
        ("[{'$match':{'a':1}},{'$match':{'b':1}}]", true, false, 0, None, ""),
        (
            "[{'$sort':{'a':1}},{'$match':{'b':1}},{'$limit':1},{'$match':{'c':1}}]",
            true,
            true,
            0,
            Some(1),
            "$match",
        ),
        ("[{'$sort':{'a':1}},{'$sort':{'b':1}}]", false, true, 0, None, "$sort"),
    ] {
        let front = front(pipeline);
        let names: Vec<&str> = front.rest.stages.iter().map(Stage::name).collect();
        assert_eq!(
            (front.filter.is_some(), front.sort.is_some(), front.skip, front.limit, names.join(" ").as_str()),
            (filter, sort, skip, limit, rest),
            "{pipeline}"
        );
        assert!(front.count_as.is_none());
    }
}

#[test]
fn filters_are_joined() {
    let filter = front("[{'$match':{'a':1,'b':2}},{'$sort':{'a':1}},{'$match':{'c':3}}]").filter.unwrap();
    for (document, expected) in [("{'a':1,'b':2,'c':3}", true), ("{'a':1,'b':2}", false), ("{'c':3}", false)]
    {
        assert_eq!(
            filter.matches(&object(document), &Environment::default()).unwrap(),
            expected,
            "{document}"
        );
    }
}

#[test]
fn counts() {
    for (pipeline, expected) in [
        ("[{'$match':{'a':1}},{'$count':'n'}]", Some("{'n':7}")),
        ("[{'$count':'n'}]", Some("{'n':7}")),
        (
            "[{'$match':{}},{'$skip':1},{'$limit':9},{'$group':{'_id':1,'n':{'$sum':1}}}]",
            Some("{'_id':1,'n':7}"),
        ),
        ("[{'$group':{'_id':null,'n':{'$count':{}}}}]", Some("{'_id':null,'n':7}")),
        ("[{'$group':{'_id':null,'n':{'$sum':1.0}}}]", Some("{'_id':null,'n':7.0}")),
        (
            "[{'$group':{'_id':null,'n':{'$sum':{'$numberLong':'1'}}}}]",
            Some("{'_id':null,'n':{'$numberLong':'7'}}"),
        ),
        ("[{'$group':{'_id':null,'n':{'$sum':2}}}]", None),
        ("[{'$group':{'_id':null,'n':{'$sum':'$a'}}}]", None),
        ("[{'$group':{'_id':'$a','n':{'$sum':1}}}]", None),
        ("[{'$group':{'_id':null,'n':{'$sum':1},'m':{'$sum':1}}}]", None),
        ("[{'$project':{'a':1}},{'$count':'n'}]", None),
    ] {
        let found = front(pipeline).count_as.and_then(|count| count.document(7));
        assert_eq!(found, expected.map(object), "{pipeline}");
    }
    assert_eq!(front("[{'$count':'n'}]").count_as.unwrap().document(0), None);
}

#[test]
fn needed_fields() {
    for (rest, expected) in [
        ("", None),
        ("{'$set':{'b':1}}", None),
        ("{'$group':{'_id':'$a.b','n':{'$sum':'$c'}}}", Some("a c")),
        ("{'$group':{'_id':null,'n':{'$push':'$$ROOT'}}}", None),
        ("{'$group':{'_id':null,'n':{'$push':'$$ROOT.x.y'}}}", Some("x")),
        ("{'$group':{'_id':null,'n':{'$top':{'sortBy':{'s.t':1},'output':'$o'}}}}", Some("o s")),
        ("{'$group':{'_id':{'$getField':'g'}}}", Some("g")),
        ("{'$project':{'a':1,'b.c':1}}", Some("_id a b")),
        ("{'$project':{'_id':0,'a':'$z','l':{'$literal':'$no'}}}", Some("a l z")),
        ("{'$project':{'a':0}}", None),
        ("{'$project':{'_id':0}}", None),
        ("{'$match':{'taken':1}},{'$project':{'a':1}}", Some("_id a")),
        (
            "{'$unwind':'$t'},{'$match':{'$or':[{'m.x':1},{'$expr':{'$gt':['$e',1]}}]}},{'$group':{'_id':'$t'}}",
            Some("e m t"),
        ),
        ("{'$set':{'q':'$w'}},{'$sort':{'s':1}},{'$project':{'_id':1,'q':1}}", Some("_id q s w")),
        (
            "{'$lookup':{'from':'c','localField':'l','foreignField':'f','as':'r'}},{'$project':{'r':1}}",
            Some("_id l r"),
        ),
        ("{'$replaceWith':'$d'}", Some("d")),
        ("{'$replaceWith':'$$ROOT'}", None),
        ("{'$unset':'x'},{'$match':{'$jsonSchema':{'required':['a']}}},{'$project':{'a':1}}", None),
        ("{'$unset':'a'},{'$count':'n'}", Some("")),
    ] {
        let found = front(&format!("[{{'$match':{{'first':1}}}},{rest}]").replace(",]", "]")).needed_fields;
        assert_eq!(found.map(|fields| fields.join(" ")).as_deref(), expected, "{rest}");
    }
}

#[test]
fn the_end_that_writes() {
    let pipeline = Pipeline::parse(&array("[{'$limit':1},{'$out':'x'}]"), &Scope::default()).unwrap();
    let (before, output) = pipeline.split_output();
    assert_eq!(before.stages.len(), 1);
    assert!(matches!(output, Some(Stage::Out(_))));
    assert!(before.split_output().1.is_none());
}

#[test]
fn other_collections() {
    let pipeline = array(
        "[{'$lookup':{'from':'a','as':'r','pipeline':[{'$unionWith':'b'}]}},{'$facet':{'x':[{'$graphLookup':{'from':'c','startWith':1,'connectFromField':'d','connectToField':'e','as':'f'}}]}},{'$lookup':{'from':{'db':'d','coll':'e'},'localField':'x','foreignField':'y','as':'z'}}]",
    );
    let pipeline = Pipeline::parse(&pipeline, &Scope::default()).unwrap();
    assert_eq!(pipeline.collections(), [(None, "a"), (None, "b"), (None, "c"), (Some("d"), "e")]);
}
