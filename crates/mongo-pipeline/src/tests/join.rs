//! `$lookup` and `$graphLookup`.

use crate::testing::{Memory, check_error, objects, run_with, shown};
use armilla_value::Value;

const FOREIGN: &str = "[{'_id':0,'f':1},{'_id':1,'f':2.0},{'_id':2,'f':null},{'_id':3},{'_id':4,'f':[1,3]},{'_id':5,'f':[]},{'_id':6,'f':[[1]]},{'_id':7,'f':{'x':1}},{'_id':8,'f':'1'}]";

fn joined(narrows: bool, documents: &str, foreign: &str, pipeline: &str) -> String {
    let memory = Memory { collections: [("c".to_owned(), objects(foreign))].into(), narrows };
    let found = run_with(memory, documents, pipeline).unwrap_or_else(|error| panic!("{pipeline}: {error:?}"));
    shown(&Value::Array(found.into_iter().map(Value::Object).collect())).replace('"', "'")
}

#[test]
fn equalities() {
    for (local, expected) in [
        ("1", "[0,4]"),
        ("{'$numberDecimal':'1'}", "[0,4]"),
        ("2", "[1]"),
        ("null", "[2,3]"),
        ("[]", "[2,3]"),
        ("[1,2]", "[0,1,4]"),
        ("[null,2]", "[1,2,3]"),
        ("[[1]]", "[6]"),
        ("[[1,3]]", "[4]"),
        ("{'x':1}", "[7]"),
        ("[{'x':1.0}]", "[7]"),
        ("'1'", "[8]"),
        ("{'$regularExpression':{'pattern':'1','options':''}}", "[]"),
        ("{'$gt':0}", "[]"),
        ("99", "[]"),
    ] {
        let expected = format!("[{{'ids':{expected}}}]");
        for narrows in [false, true] {
            let found = joined(
                narrows,
                &format!("[{{'_id':1,'l':{local}}}]"),
                FOREIGN,
                "[{'$lookup':{'from':'c','localField':'l','foreignField':'f','as':'r'}},{'$project':{'_id':0,'ids':'$r._id'}}]",
            );
            assert_eq!(found, expected, "{local} {narrows}");
        }
    }
    let missing = joined(
        true,
        "[{'_id':1}]",
        FOREIGN,
        "[{'$lookup':{'from':'c','localField':'l.m','foreignField':'f','as':'a.b'}},{'$project':{'_id':0,'ids':'$a.b._id'}}]",
    );
    assert_eq!(missing, "[{'ids':[2,3]}]");
}

#[test]
fn paths_through_arrays() {
    // On the local side what leads nowhere is null only if all does; on the other side each object tells.
    let documents = "[{'_id':0,'a':{'n':1}},{'_id':1,'a':[{'n':1},{'n':2}]},{'_id':2,'a':[{'n':2},{'x':1}]},{'_id':3,'a':[{'x':null},{'x':[1]}]},{'_id':4},{'_id':5,'a':[1]},{'_id':6,'a':[]},{'_id':7,'a':[[1]]},{'_id':8,'a':{'x':2}},{'_id':9,'a':5},{'_id':10,'a':{'x':[[1],2]}},{'_id':11,'a':[{'x':[1]}]},{'_id':12,'a':{'x':[]}}]";
    for (value, local, foreign) in [
        ("null", "[0,1,3,4,5,6,7,9,12]", "[0,1,2,3,4,9]"),
        ("1", "[2,3,11]", "[2,3,11]"),
        ("[1]", "[2,3,10,11]", "[2,3,11]"),
    ] {
        let single = format!("[{{'_id':0,'b':{value}}}]");
        for narrows in [false, true] {
            let found = joined(
                narrows,
                documents,
                &single,
                "[{'$lookup':{'from':'c','localField':'a.x','foreignField':'b','as':'r'}},{'$match':{'r':{'$ne':[]}}},{'$group':{'_id':null,'ids':{'$push':'$_id'}}},{'$project':{'_id':0}}]",
            );
            assert_eq!(found, format!("[{{'ids':{local}}}]"), "{value} local {narrows}");
            let found = joined(
                narrows,
                &single,
                documents,
                "[{'$lookup':{'from':'c','localField':'b','foreignField':'a.x','as':'r'}},{'$project':{'_id':0,'ids':'$r._id'}}]",
            );
            assert_eq!(found, format!("[{{'ids':{foreign}}}]"), "{value} foreign {narrows}");
        }
    }
}

#[test]
fn pipelines_with_variables() {
    let documents = "[{'_id':1,'k':1},{'_id':2,'k':2},{'_id':3},{'_id':4,'k':[1]}]";
    let foreign = "[{'_id':10,'f':1,'g':5},{'_id':11,'f':2,'g':6},{'_id':12,'f':1,'g':7},{'_id':13,'f':[1]},{'_id':14}]";
    for (lookup, expected) in [
        (
            "{'from':'c','let':{'x':'$k'},'pipeline':[{'$match':{'$expr':{'$eq':['$f','$$x']}}},{'$project':{'_id':1}}],'as':'r'}",
            "[[10,12],[11],[14],[13]]",
        ),
        (
            "{'from':'c','let':{'x':'$k'},'pipeline':[{'$match':{'$expr':{'$and':[{'$eq':['$$x','$f']},{'$gt':['$g',5]}]}}}],'as':'r'}",
            "[[12],[11],[],[]]",
        ),
        (
            "{'from':'c','let':{'x':'$k'},'pipeline':[{'$match':{'g':{'$gt':5}}},{'$match':{'$expr':{'$lte':['$f','$$x']}}}],'as':'r'}",
            "[[12],[11,12],[],[11,12]]",
        ),
        ("{'from':'c','pipeline':[{'$match':{'f':2}}],'as':'r'}", "[[11],[11],[11],[11]]"),
        (
            "{'from':'c','pipeline':[],'as':'r'}",
            "[[10,11,12,13,14],[10,11,12,13,14],[10,11,12,13,14],[10,11,12,13,14]]",
        ),
        (
            "{'from':'c','localField':'k','foreignField':'f','pipeline':[{'$match':{'g':{'$gte':6}}}],'as':'r'}",
            "[[12],[11],[],[12]]",
        ),
        (
            "{'from':'c','localField':'k','foreignField':'f','let':{'i':'$_id'},'pipeline':[{'$match':{'$expr':{'$lt':['$$i',2]}}}],'as':'r'}",
            "[[10,12,13],[],[],[]]",
        ),
        ("{'pipeline':[{'$documents':[{'_id':1},{'_id':2}]}],'as':'r'}", "[[1,2],[1,2],[1,2],[1,2]]"),
        ("{'from':'nothing','pipeline':[{'$match':{'a':1}}],'as':'r'}", "[[],[],[],[]]"),
    ] {
        for narrows in [false, true] {
            let found = joined(
                narrows,
                documents,
                foreign,
                &format!(
                    "[{{'$lookup':{lookup}}},{{'$group':{{'_id':null,'ids':{{'$push':'$r._id'}}}}}},{{'$project':{{'_id':0}}}}]"
                ),
            );
            assert_eq!(found, format!("[{{'ids':{expected}}}]"), "{lookup} {narrows}");
        }
    }
}

#[test]
fn lookups_in_lookups_see_variables_of_both() {
    let found = joined(
        true,
        "[{'_id':1,'k':1},{'_id':2,'k':2}]",
        "[{'_id':10,'f':1},{'_id':11,'f':2}]",
        "[{'$lookup':{'from':'c','as':'r','let':{'x':'$k'},'pipeline':[{'$lookup':{'from':'c','as':'s','let':{'y':'$f'},'pipeline':[{'$match':{'$expr':{'$and':[{'$eq':['$f','$$x']},{'$eq':['$f','$$y']}]}}}]}},{'$project':{'n':{'$size':'$s'}}}]}},{'$project':{'r':'$r.n'}}]",
    );
    assert_eq!(found, "[{'_id':1,'r':[1,0]},{'_id':2,'r':[0,1]}]");
}

#[test]
fn many_documents_are_joined_in_batches() {
    let documents = |count: usize| {
        format!(
            "[{}]",
            (0..count).map(|n| format!("{{'_id':{n},'k':{}}}", n % 97)).collect::<Vec<_>>().join(",")
        )
    };
    for narrows in [false, true] {
        let found = joined(
            narrows,
            &documents(3000),
            &documents(970),
            "[{'$lookup':{'from':'c','localField':'k','foreignField':'k','as':'r'}},{'$group':{'_id':{'$size':'$r'},'n':{'$sum':1}}}]",
        );
        assert_eq!(found, "[{'_id':10,'n':3000}]");
    }
}

#[test]
fn lookup_refusals() {
    for (argument, code) in [
        ("1", 9),
        ("{'from':'c'}", 9),
        ("{'as':'r','localField':'a','foreignField':'b'}", 9),
        ("{'from':'c','as':'r'}", 9),
        ("{'from':'c','as':'r','localField':'a'}", 9),
        ("{'from':'c','as':'r','localField':'a','pipeline':[]}", 9),
        ("{'from':1,'as':'r','pipeline':[]}", 9),
        ("{'from':'c','as':'r','pipeline':[],'x':1}", 9),
        ("{'from':'c','as':'$r','pipeline':[]}", 16410),
        ("{'from':'c','as':'r','pipeline':1}", 14),
        ("{'from':'c','as':'r','pipeline':[],'let':1}", 9),
        ("{'from':'c','as':'r','localField':'a','foreignField':'b','let':{'x':1}}", 9),
        ("{'from':'c','as':'r','pipeline':[],'let':{'X':1}}", 9),
        ("{'from':'c','as':'r','pipeline':[{'$match':{'$expr':'$$nothing'}}]}", 17276),
        ("{'from':'c','as':'r','pipeline':[{'$nothing':1}]}", 40324),
    ] {
        check_error("[]", &format!("[{{'$lookup':{argument}}}]"), code);
    }
}

#[test]
fn graphs() {
    let staff = "[{'_id':1,'name':'Dev'},{'_id':2,'name':'Eliot','boss':'Dev'},{'_id':3,'name':'Ron','boss':'Eliot'},{'_id':4,'name':'Andrew','boss':'Eliot'},{'_id':5,'name':'Asya','boss':'Ron'},{'_id':6,'name':'Loop','boss':['Loop','Ron']}]";
    for (options, expected) in [
        ("", "[[],[1],[2,1],[2,1],[3,2,1],[6,3,2,1]]"),
        (",'maxDepth':0", "[[],[1],[2],[2],[3],[3,6]]"),
        (",'maxDepth':1", "[[],[1],[2,1],[2,1],[3,2],[3,6,2]]"),
        (",'restrictSearchWithMatch':{'name':{'$ne':'Eliot'}}", "[[],[1],[],[],[3],[3,6]]"),
    ] {
        for narrows in [false, true] {
            let found = joined(
                narrows,
                staff,
                staff,
                &format!(
                    "[{{'$graphLookup':{{'from':'c','startWith':'$boss','connectFromField':'boss','connectToField':'name','as':'r'{options}}}}},{{'$group':{{'_id':null,'ids':{{'$push':'$r._id'}}}}}},{{'$project':{{'_id':0}}}}]"
                ),
            );
            let sorted = |text: &str| {
                let mut lists: Vec<Vec<char>> =
                    text.split('[').map(|list| list.chars().filter(char::is_ascii_digit).collect()).collect();
                lists.iter_mut().for_each(|list| list.sort_unstable());
                lists
            };
            assert_eq!(sorted(&found), sorted(&format!("[{{'ids':{expected}}}]")), "{options} {found}");
        }
    }
    let found = joined(
        true,
        "[{'_id':1,'s':'Asya'}]",
        staff,
        "[{'$graphLookup':{'from':'c','startWith':'$s','connectFromField':'boss','connectToField':'name','as':'r','depthField':'d'}},{'$project':{'_id':0,'d':'$r.d'}}]",
    );
    assert_eq!(found, "[{'d':[0,1,2,3]}]");
    for (argument, code) in [
        ("1", 9),
        ("{}", 9),
        ("{'from':''}", 73),
        ("{'from':'c','as':'r','startWith':1,'connectFromField':'a'}", 40105),
        ("{'x':1}", 40104),
        ("{'from':1}", 9),
        ("{'as':1}", 40103),
        ("{'restrictSearchWithMatch':{'a':{'$near':[0,0]}}}", 5626500),
        ("{'maxDepth':'x'}", 40100),
        ("{'maxDepth':-1}", 40101),
        ("{'maxDepth':1.5}", 40102),
        ("{'restrictSearchWithMatch':1}", 40185),
        ("{'connectToField':'$a'}", 16410),
    ] {
        check_error("[]", &format!("[{{'$graphLookup':{argument}}}]"), code);
    }
}

#[test]
fn nothing_is_not_null_in_graphs() {
    let documents = "[{'_id':0,'x':1,'y':1},{'_id':1,'x':1,'y':null},{'_id':2,'x':1}]";
    for narrows in [false, true] {
        let found = joined(
            narrows,
            documents,
            documents,
            "[{'$graphLookup':{'from':'c','startWith':'$y','connectFromField':'x','connectToField':'y','as':'r','maxDepth':0}},{'$group':{'_id':null,'ids':{'$push':'$r._id'}}},{'$project':{'_id':0}}]",
        );
        assert_eq!(found, "[{'ids':[[0],[1],[]]}]", "{narrows}");
    }
}
