//! Shapes, names and positions of stages, and what is wrong with their arguments.

use crate::testing::{Memory, array, check_error, object, run_with};
use crate::{Merge, Out, Pipeline, Stage, WhenMatched, WhenNotMatched};
use armilla_mongo_expression::{Environment, Scope};
use armilla_value::Value;

#[test]
fn shapes_and_positions() {
    for (pipeline, code) in [
        ("[1]", 14),
        ("[{}]", 40323),
        ("[{'$match':{},'$limit':1}]", 40323),
        ("[{'$nothing':{}}]", 40324),
        ("[{'match':{}}]", 40324),
        ("[{'$out':'a'},{'$limit':1}]", 40601),
        ("[{'$merge':'a'},{'$limit':1}]", 40601),
        ("[{'$limit':1},{'$collStats':{}}]", 40602),
        ("[{'$limit':1},{'$indexStats':{}}]", 40602),
        ("[{'$limit':1},{'$changeStream':{}}]", 40602),
        ("[{'$limit':1},{'$currentOp':{}}]", 40602),
        ("[{'$changeStream':{}},{'$limit':1}]", 20),
        ("[{'$changeStream':{}},{'$unionWith':'c'}]", 20),
        ("[{'$changeStreamSplitLargeEvent':{}}]", 20),
        ("[{'$changeStream':{}},{'$changeStreamSplitLargeEvent':{}},{'$match':{}}]", 40601),
        ("[{'$limit':1},{'$documents':[]}]", 40602),
        ("[{'$facet':{'a':[{'$out':'x'}]}}]", 40600),
        ("[{'$facet':{'a':[{'$facet':{'b':[]}}]}}]", 40600),
        ("[{'$facet':{'a':[{'$collStats':{}}]}}]", 40600),
        ("[{'$facet':{'a':[{'$merge':'x'}]}}]", 40600),
        ("[{'$facet':{}}]", 40169),
        ("[{'$facet':1}]", 40169),
        ("[{'$facet':{'a':1}}]", 40170),
        ("[{'$facet':{'a':[1]}}]", 40171),
        ("[{'$facet':{'$a':[]}}]", 16410),
        ("[{'$facet':{'a.b':[]}}]", 16412),
        ("[{'$lookup':{'from':'x','as':'y','pipeline':[{'$out':'z'}]}}]", 51047),
        ("[{'$unionWith':{'coll':'x','pipeline':[{'$out':'z'}]}}]", 31441),
        ("[{'$merge':{'into':'x','whenMatched':[{'$limit':1}]}}]", 72),
        ("[{'$search':{}}]", 31082),
        ("[{'$match':1}]", 15959),
        ("[{'$project':1}]", 15969),
        ("[{'$addFields':1}]", 40272),
        ("[{'$set':1}]", 40272),
        ("[{'$unset':1}]", 31002),
        ("[{'$unset':[]}]", 31119),
        ("[{'$unset':[1]}]", 31120),
        ("[{'$unset':['a','a']}]", 31250),
        ("[{'$sort':1}]", 15973),
        ("[{'$sort':{}}]", 15976),
        ("[{'$sort':{'a':2}}]", 15975),
        ("[{'$limit':0}]", 15958),
        ("[{'$limit':-1}]", 5107201),
        ("[{'$limit':1.5}]", 5107201),
        ("[{'$limit':'1'}]", 5107201),
        ("[{'$limit':{'$numberDouble':'NaN'}}]", 5107201),
        ("[{'$limit':1e30}]", 5107201),
        ("[{'$skip':-1}]", 5107200),
        ("[{'$skip':'x'}]", 5107200),
        ("[{'$count':1}]", 40156),
        ("[{'$count':''}]", 40157),
        ("[{'$count':'$a'}]", 40158),
        ("[{'$count':'a.b'}]", 40160),
        ("[{'$sample':1}]", 28745),
        ("[{'$sample':{'size':'x'}}]", 28746),
        ("[{'$sample':{'size':-1}}]", 28747),
        ("[{'$sample':{'size':1,'x':1}}]", 28748),
        ("[{'$sample':{}}]", 28749),
        ("[{'$replaceRoot':1}]", 40229),
        ("[{'$replaceRoot':{'a':1}}]", 40230),
        ("[{'$replaceRoot':{}}]", 40231),
        ("[{'$sortByCount':1}]", 40149),
        ("[{'$sortByCount':'a'}]", 40148),
        ("[{'$sortByCount':{'a':1}}]", 40147),
        ("[{'$unionWith':1}]", 9),
        ("[{'$unionWith':{}}]", 9),
        ("[{'$unionWith':{'pipeline':[{'$limit':1}]}}]", 9),
        ("[{'$unionWith':{'coll':'a','pipeline':[{'$listLocalSessions':{}}]}}]", 73),
        ("[{'$unionWith':{'coll':'a','pipeline':[{'$changeStream':{}}]}}]", 31441),
        ("[{'$unionWith':{'coll':1}}]", 14),
        ("[{'$unionWith':{'coll':'a','x':1}}]", 40415),
        ("[{'$indexStats':{'a':1}}]", 28803),
        ("[{'$collStats':1}]", 40166),
        ("[{'$collStats':{'x':1}}]", 40415),
        ("[{'$currentOp':{'x':1}}]", 9),
        ("[{'$out':1}]", 16990),
        ("[{'$out':{'db':'x'}}]", 16994),
        ("[{'$match':{'a':{'$near':[0,0]}}}]", 5626500),
    ] {
        check_error("[]", pipeline, code);
    }
}

#[test]
fn a_thousand_stages_and_not_one_more() {
    let stages = |count: usize| array(&format!("[{}]", vec!["{'$limit':1}"; count].join(",")));
    assert_eq!(Pipeline::parse(&stages(1000), &Scope::default()).unwrap().stages.len(), 1000);
    assert_eq!(Pipeline::parse(&stages(1001), &Scope::default()).unwrap_err().code, 7749501);
}

#[test]
fn pipelines_in_pipelines_end() {
    let mut text = "[]".to_owned();
    for _ in 0..20 {
        text = format!("[{{'$lookup':{{'from':'x','as':'y','pipeline':{text}}}}}]");
    }
    Pipeline::parse(&array(&text), &Scope::default()).unwrap();
    let text = format!("[{{'$unionWith':{{'coll':'x','pipeline':{text}}}}}]");
    assert_eq!(Pipeline::parse(&array(&text), &Scope::default()).unwrap_err().code, 232);
}

fn last(pipeline: &str) -> Stage {
    Pipeline::parse(&array(pipeline), &Scope::default()).unwrap().stages.pop().unwrap()
}

#[test]
fn out() {
    for (argument, database) in [("'c'", None), ("{'db':'d','coll':'c'}", Some("d"))] {
        let Stage::Out(Out { database: found, collection }) = last(&format!("[{{'$out':{argument}}}]"))
        else {
            panic!()
        };
        assert_eq!((found.as_deref(), collection.as_str()), (database, "c"));
    }
}

fn merge(argument: &str) -> Merge {
    match last(&format!("[{{'$merge':{argument}}}]")) {
        Stage::Merge(merge) => Merge::clone(&merge),
        other => panic!("{other:?}"),
    }
}

#[test]
fn merges() {
    let plain = merge("'c'");
    assert!(plain.on.is_none() && plain.database.is_none() && plain.collection == "c");
    assert!(matches!(plain.when_matched, WhenMatched::Merge));
    assert_eq!(plain.when_not_matched, WhenNotMatched::Insert);
    let full = merge(
        "{'into':{'db':'d','coll':'c'},'on':['a','b.c'],'let':{'x':'$y'},'whenMatched':[{'$set':{'z':'$$x','w':'$$new.w'}}],'whenNotMatched':'discard'}",
    );
    assert_eq!(full.database.as_deref(), Some("d"));
    assert_eq!(
        full.on.unwrap().iter().map(|path| path.as_str().to_owned()).collect::<Vec<_>>(),
        ["a", "b.c"]
    );
    let names: Vec<&str> = full.variables.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x", "new"]);
    assert!(matches!(full.when_matched, WhenMatched::Pipeline(_)));
    assert_eq!(full.when_not_matched, WhenNotMatched::Discard);
    for (argument, code) in [
        ("1", 51182),
        ("{}", 40414),
        ("{'into':1}", 51178),
        ("{'into':{'db':'a'}}", 40414),
        ("{'into':'c','x':1}", 40415),
        ("{'into':'c','on':[]}", 51187),
        ("{'into':'c','on':[1]}", 51134),
        ("{'into':'c','on':['a','a']}", 31465),
        ("{'into':'c','on':1}", 51186),
        ("{'into':'c','whenMatched':'x'}", 2),
        ("{'into':'c','whenNotMatched':'x'}", 2),
        ("{'into':'c','whenMatched':1}", 51191),
        ("{'into':'c','whenMatched':'fail','whenNotMatched':'fail'}", 51181),
        ("{'into':'c','whenMatched':'keepExisting','whenNotMatched':'discard'}", 51181),
        ("{'into':'c','let':{'a':1},'whenMatched':'replace'}", 51199),
        ("{'into':'c','let':{'new':1},'whenMatched':[]}", 51273),
        ("{'into':'c','whenMatched':[{'$set':{'a':'$$x'}}]}", 17276),
    ] {
        check_error("[]", &format!("[{{'$merge':{argument}}}]"), code);
    }
}

#[test]
fn merges_by_fields() {
    let merge =
        merge("{'into':'c','on':['a','b.c'],'whenMatched':[{'$set':{'z':'$$new.a'}}],'let':{'y':'$b'}}");
    let found = merge.on_values(&object("{'a':1,'b':{'c':2}}")).unwrap().unwrap();
    assert_eq!(found, [("a".to_owned(), Value::Int32(1)), ("b.c".to_owned(), Value::Int32(2))]);
    for (document, code) in [
        ("{'a':1}", 51132),
        ("{'a':null,'b':{'c':1}}", 51132),
        ("{'a':[1],'b':{'c':1}}", 51185),
        ("{'a':1,'b':[{'c':1}]}", 51132),
    ] {
        assert_eq!(merge.on_values(&object(document)).unwrap_err().code, code, "{document}");
    }
    let inner = merge.environment(&object("{'a':1,'b':2}"), &Environment::default()).unwrap();
    assert_eq!(inner.variables, object("{'y':2,'new':{'a':1,'b':2}}"));
}

#[test]
fn stages_of_the_caller_pass_documents_through() {
    for pipeline in [
        "[{'$collStats':{'count':{}}},{'$limit':1}]",
        "[{'$limit':1},{'$out':'x'}]",
        "[{'$changeStream':{}},{'$match':{'a':2}},{'$changeStreamSplitLargeEvent':{}}]",
    ] {
        assert_eq!(
            run_with(Memory::default(), "[{'a':1},{'a':2}]", pipeline).unwrap().len(),
            1,
            "{pipeline}"
        );
    }
}
