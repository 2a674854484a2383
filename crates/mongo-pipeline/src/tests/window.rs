//! `$setWindowFields`, `$fill` and `$densify`.

use crate::testing::{Memory, check, check_error, run_with, shown};
use armilla_value::Value;

const DOCUMENTS: &str = "[{'_id':1,'p':'a','t':1,'v':10},{'_id':2,'p':'a','t':2,'v':20},{'_id':3,'p':'b','t':1,'v':5},{'_id':4,'p':'a','t':4,'v':30},{'_id':5,'p':'b','t':1,'v':7},{'_id':6,'p':'a','t':8,'v':null}]";

/// Runs one function over the documents in partitions by `p` in order of `t`, and gives its values by `_id`: those of
/// partition a are 1, 2, 4, 6, those of b are 3 and 5.
#[track_caller]
fn values(function: &str, expected: &str) {
    let pipeline = format!(
        "[{{'$setWindowFields':{{'partitionBy':'$p','sortBy':{{'t':1}},'output':{{'r':{function}}}}}}},{{'$group':{{'_id':null,'r':{{'$push':'$r'}}}}}},{{'$project':{{'_id':0}}}}]"
    );
    let found = run_with(Memory::default(), DOCUMENTS, &pipeline)
        .unwrap_or_else(|error| panic!("{function}: {error:?}"));
    let found = shown(&Value::Object(found.into_iter().next().unwrap())).replace('"', "'");
    assert_eq!(found, format!("{{'r':{expected}}}"), "{function}");
}

#[test]
fn functions() {
    for (function, expected) in [
        ("{'$sum':'$v'}", "[60,60,60,60,12,12]"),
        ("{'$sum':'$v','window':{'documents':['unbounded','current']}}", "[10,30,60,60,5,12]"),
        ("{'$sum':'$v','window':{'documents':['current','unbounded']}}", "[60,50,30,0,12,7]"),
        ("{'$sum':'$v','window':{'documents':[-1,1]}}", "[30,60,50,30,12,12]"),
        ("{'$sum':'$v','window':{'documents':[1,2]}}", "[50,30,0,0,7,0]"),
        ("{'$sum':'$v','window':{'documents':[-9,-5]}}", "[0,0,0,0,0,0]"),
        ("{'$sum':'$v','window':{'range':[-1,1]}}", "[30,30,30,0,12,12]"),
        ("{'$sum':'$v','window':{'range':[-2,'current']}}", "[10,30,50,0,12,12]"),
        ("{'$sum':'$v','window':{'range':['unbounded','current']}}", "[10,30,60,60,12,12]"),
        (
            "{'$push':'$_id','window':{'documents':['current','unbounded']}}",
            "[[1,2,4,6],[2,4,6],[4,6],[6],[3,5],[5]]",
        ),
        ("{'$push':'$_id','window':{'documents':['unbounded',-1]}}", "[[],[1],[1,2],[1,2,4],[],[3]]"),
        ("{'$avg':'$v','window':{'documents':[-1,0]}}", "[10.0,15.0,25.0,30.0,5.0,6.0]"),
        ("{'$min':'$v'}", "[10,10,10,10,5,5]"),
        ("{'$count':{},'window':{'documents':['current','unbounded']}}", "[4,3,2,1,2,1]"),
        ("{'$first':'$v'}", "[10,10,10,10,5,5]"),
        ("{'$sum':'$v','window':{'documents':[{'$add':[-2,1]},{'$literal':0}]}}", "[10,30,50,30,5,12]"),
        ("{'$rank':{}}", "[1,2,3,4,1,1]"),
        ("{'$denseRank':{}}", "[1,2,3,4,1,1]"),
        ("{'$documentNumber':{}}", "[1,2,3,4,1,2]"),
        ("{'$shift':{'output':'$none','by':0,'default':'d'}}", "['d','d','d','d','d','d']"),
        ("{'$shift':{'output':'$v','by':1}}", "[20,30,null,null,7,null]"),
        ("{'$shift':{'output':'$v','by':-1,'default':'none'}}", "['none',10,20,30,'none',5]"),
        ("{'$derivative':{'input':'$v'},'window':{'documents':[-1,0]}}", "[null,10.0,5.0,null,null,null]"),
        (
            "{'$integral':{'input':'$v'},'window':{'documents':['unbounded','current']}}",
            "[0,15.0,65.0,65.0,0,0.0]",
        ),
        ("{'$expMovingAvg':{'input':'$v','N':3}}", "[10.0,15.0,22.5,22.5,5.0,6.0]"),
        ("{'$expMovingAvg':{'input':'$v','alpha':0.25}}", "[10.0,12.5,16.875,16.875,5.0,5.5]"),
        ("{'$locf':'$v'}", "[10,20,30,30,5,7]"),
        (
            "{'$covariancePop':['$t','$v'],'window':{'documents':['unbounded','current']}}",
            "[0.0,2.5,10.0,10.0,0.0,0.0]",
        ),
        ("{'$covarianceSamp':['$t','$v']}", "[15.0,15.0,15.0,15.0,0.0,0.0]"),
    ] {
        values(function, expected);
    }
}

#[test]
fn orders_and_fields() {
    check(
        "[{'_id':1,'p':2,'t':1},{'_id':2,'p':1,'t':2},{'_id':3,'p':1,'t':1},{'_id':4,'t':1}]",
        "[{'$setWindowFields':{'partitionBy':'$p','sortBy':{'t':-1},'output':{'a.n':{'$documentNumber':{}},'b':{'$sum':1}}}}]",
        "[{'_id':4,'t':1,'a':{'n':1},'b':1},{'_id':2,'p':1,'t':2,'a':{'n':1},'b':2},{'_id':3,'p':1,'t':1,'a':{'n':2},'b':2},{'_id':1,'p':2,'t':1,'a':{'n':1},'b':1}]",
    );
    check(
        "[{'t':1},{'t':3},{'t':3},{'t':5}]",
        "[{'$setWindowFields':{'sortBy':{'t':1},'output':{'r':{'$rank':{}},'d':{'$denseRank':{}}}}}]",
        "[{'t':1,'r':1,'d':1},{'t':3,'r':2,'d':2},{'t':3,'r':2,'d':2},{'t':5,'r':4,'d':3}]",
    );
    check(
        "[{'a':1},{'a':2}]",
        "[{'$setWindowFields':{'output':{'n':{'$sum':'$a'}}}}]",
        "[{'a':1,'n':3},{'a':2,'n':3}]",
    );
    check("[]", "[{'$setWindowFields':{'output':{'n':{'$sum':'$a'}}}}]", "[]");
}

#[test]
fn windows_of_dates() {
    let day = |day: u32| format!("{{'$day':'2020-01-{day:02}'}}");
    let documents = format!("[{{'d':{},'v':1}},{{'d':{},'v':2}},{{'d':{},'v':4}}]", day(1), day(2), day(5));
    let project = "{'$project':{'_id':0,'d':0,'v':0}}";
    for (function, expected) in [
        ("{'$sum':'$v','window':{'range':[-1,0],'unit':'day'}}", "[{'r':1},{'r':3},{'r':4}]"),
        ("{'$sum':'$v','window':{'range':[-1,'current'],'unit':'month'}}", "[{'r':1},{'r':3},{'r':7}]"),
        (
            "{'$derivative':{'input':'$v','unit':'hour'},'window':{'documents':[-1,0]}}",
            "[{'r':null},{'r':0.041666666666666664},{'r':0.027777777777777776}]",
        ),
        ("{'$integral':{'input':'$v','unit':'day'}}", "[{'r':10.5},{'r':10.5},{'r':10.5}]"),
    ] {
        check(
            &documents,
            &format!("[{{'$setWindowFields':{{'sortBy':{{'d':1}},'output':{{'r':{function}}}}}}},{project}]"),
            expected,
        );
    }
    for (documents, function, code) in [
        (documents.as_str(), "{'$integral':{'input':'$v'}}", 5423902),
        ("[{'d':1,'v':1}]", "{'$integral':{'input':'$v','unit':'day'}}", 5423901),
        (&documents, "{'$derivative':{'input':'$v'},'window':{'documents':[-1,0]}}", 5624901),
    ] {
        check_error(
            documents,
            &format!("[{{'$setWindowFields':{{'sortBy':{{'d':1}},'output':{{'r':{function}}}}}}}]"),
            code,
        );
    }
    check_error(
        &documents,
        "[{'$setWindowFields':{'sortBy':{'d':1},'output':{'r':{'$sum':'$v','window':{'range':[-1,0]}}}}}]",
        5429414,
    );
    check_error(
        "[{'d':1}]",
        "[{'$setWindowFields':{'sortBy':{'d':1},'output':{'r':{'$sum':'$v','window':{'range':[-1,0],'unit':'day'}}}}}]",
        5429513,
    );
    check_error(
        "[{'d':1},{'d':2}]",
        "[{'$setWindowFields':{'sortBy':{'d':1},'output':{'r':{'$derivative':{'input':'$d','unit':'day'},'window':{'documents':[-1,0]}}}}}]",
        5624900,
    );
}

#[test]
fn refusals() {
    for (argument, code) in [
        ("1", 9),
        ("{}", 40414),
        ("{'output':1}", 14),
        ("{'output':{},'x':1}", 40415),
        ("{'output':{},'sortBy':1}", 14),
        ("{'output':{'a':1}}", 9),
        ("{'output':{'a':{}}}", 9),
        ("{'output':{'a':{'x':1}}}", 9),
        ("{'output':{'a':{'$sum':1,'$avg':1}}}", 9),
        ("{'output':{'a':{'$nothing':1}}}", 9),
        ("{'output':{'a':{'$mergeObjects':'$x'}}}", 9),
        ("{'output':{'a':{'$sum':1,'window':1}}}", 9),
        ("{'output':{'a':{'$sum':1,'window':{'x':1}}}}", 9),
        ("{'output':{'a':{'$sum':1,'window':{'documents':[1]}}}}", 9),
        ("{'output':{'a':{'$sum':1,'window':{'documents':[0,1]}}}}", 5339901),
        ("{'sortBy':{'t':1},'output':{'a':{'$sum':1,'window':{'documents':[1,0]}}}}", 5339900),
        ("{'sortBy':{'t':1},'output':{'a':{'$sum':1,'window':{'documents':['x',0]}}}}", 9),
        ("{'sortBy':{'t':1},'output':{'a':{'$sum':1,'window':{'documents':[0,1],'unit':'day'}}}}", 9),
        ("{'sortBy':{'t':1},'output':{'a':{'$sum':1,'window':{'documents':[0,1],'range':[0,1]}}}}", 9),
        ("{'sortBy':{'t':-1},'output':{'a':{'$sum':1,'window':{'range':[0,1]}}}}", 5339902),
        ("{'sortBy':{'t':1,'u':1},'output':{'a':{'$sum':1,'window':{'range':[0,1]}}}}", 5339902),
        ("{'output':{'a':{'$rank':{}}}}", 5371602),
        ("{'sortBy':{'t':1},'output':{'a':{'$rank':1}}}", 5371603),
        ("{'sortBy':{'t':1},'output':{'a':{'$rank':{},'window':{}}}}", 5371601),
        ("{'sortBy':{'t':1},'output':{'a':{'$derivative':{'input':'$x'}}}}", 9),
        (
            "{'sortBy':{'t':1},'output':{'a':{'$derivative':{'input':'$x','unit':'month'},'window':{'documents':[0,1]}}}}",
            5490710,
        ),
        ("{'sortBy':{'t':1},'output':{'a':{'$sum':1,'window':{'documents':['$x',1]}}}}", 9),
        ("{'output':{'a':{'$sum':1},'a.b':{'$sum':1}}}", 6307900),
        ("{'sortBy':{'t':1},'output':{'a':{'$shift':{'output':'$x'}}}}", 9),
        ("{'output':{'a':{'$shift':{'output':'$x','by':1}}}}", 9),
        ("{'sortBy':{'t':1},'output':{'a':{'$expMovingAvg':{'input':'$x'}}}}", 9),
        ("{'sortBy':{'t':1},'output':{'a':{'$expMovingAvg':{'input':'$x','N':0}}}}", 9),
        ("{'sortBy':{'t':1},'output':{'a':{'$expMovingAvg':{'input':'$x','alpha':1}}}}", 9),
        ("{'output':{'a':{'$linearFill':'$x'}}}", 605001),
    ] {
        check_error("[]", &format!("[{{'$setWindowFields':{argument}}}]"), code);
    }
    check_error("[{'p':[1]}]", "[{'$setWindowFields':{'partitionBy':'$p','output':{}}}]", 14);
}

#[test]
fn fills() {
    let documents = "[{'t':0,'v':null},{'t':1,'v':10},{'t':2},{'t':4,'v':40},{'t':5,'v':null}]";
    for (argument, expected) in [
        (
            "{'output':{'v':{'value':0}}}",
            "[{'t':0,'v':0},{'t':1,'v':10},{'t':2,'v':0},{'t':4,'v':40},{'t':5,'v':0}]",
        ),
        (
            "{'sortBy':{'t':1},'output':{'v':{'method':'locf'}}}",
            "[{'t':0,'v':null},{'t':1,'v':10},{'t':2,'v':10},{'t':4,'v':40},{'t':5,'v':40}]",
        ),
        (
            "{'sortBy':{'t':1},'output':{'v':{'method':'linear'}}}",
            "[{'t':0,'v':null},{'t':1,'v':10},{'t':2,'v':20.0},{'t':4,'v':40},{'t':5,'v':null}]",
        ),
        (
            "{'sortBy':{'t':1},'partitionByFields':['x'],'output':{'v':{'method':'locf'},'w':{'value':'$t'}}}",
            "[{'t':0,'v':null,'w':0},{'t':1,'v':10,'w':1},{'t':2,'v':10,'w':2},{'t':4,'v':40,'w':4},{'t':5,'v':40,'w':5}]",
        ),
    ] {
        check(documents, &format!("[{{'$fill':{argument}}}]"), expected);
    }
    for (argument, code) in [
        ("1", 9),
        ("{}", 40414),
        ("{'output':{}}", 6050203),
        ("{'output':{'v':'x'}}", 6050200),
        ("{'output':{'v':{'method':'locf','x':1}}}", 40415),
        ("{'output':{'v':{'method':'x'}}}", 6050202),
        ("{'output':{'v':{'method':'linear'}}}", 605001),
        ("{'output':{'v':{}}}", 40414),
        ("{'partitionBy':'$a','partitionByFields':['a'],'output':{'v':{'value':1}}}", 6050204),
        ("{'partitionBy':'a','output':{'v':{'value':1}}}", 6050205),
        ("{'partitionByFields':['$a'],'output':{'v':{'value':1}}}", 16410),
    ] {
        check_error("[]", &format!("[{{'$fill':{argument}}}]"), code);
    }
    check_error(
        "[{'t':1},{'t':1}]",
        "[{'$fill':{'sortBy':{'t':1},'output':{'v':{'method':'linear'}}}}]",
        6050106,
    );
    check_error("[{'t':1,'v':'x'}]", "[{'$fill':{'sortBy':{'t':1},'output':{'v':{'method':'linear'}}}}]", 14);
    check_error("[{'v':1}]", "[{'$fill':{'sortBy':{'t':1},'output':{'v':{'method':'linear'}}}}]", 14);
    check_error(
        "[{'t':1,'v':1},{'t':{'$day':'2020-01-01'}}]",
        "[{'$fill':{'sortBy':{'t':1},'output':{'v':{'method':'linear'}}}}]",
        14,
    );
}

#[test]
fn gaps() {
    for (documents, argument, expected) in [
        (
            "[{'_id':1,'a':1},{'_id':2,'a':4}]",
            "{'field':'a','range':{'step':1,'bounds':'full'}}",
            "[{'_id':1,'a':1},{'a':2},{'a':3},{'_id':2,'a':4}]",
        ),
        (
            "[{'_id':1,'a':1},{'_id':2,'a':2.5}]",
            "{'field':'a','range':{'step':1,'bounds':'full'}}",
            "[{'_id':1,'a':1},{'a':2},{'_id':2,'a':2.5}]",
        ),
        (
            "[{'_id':1,'a':1},{'_id':2,'a':9},{'_id':3}]",
            "{'field':'a','range':{'step':2,'bounds':[0,5]}}",
            "[{'_id':3},{'a':0},{'_id':1,'a':1},{'a':2},{'a':4},{'_id':2,'a':9}]",
        ),
        ("[]", "{'field':'a','range':{'step':2,'bounds':[0,3]}}", "[{'a':0},{'a':2}]"),
        ("[]", "{'field':'a','range':{'step':2,'bounds':'full'}}", "[]"),
        (
            "[{'p':1,'a':1},{'p':2,'a':5},{'p':1,'a':3},{'p':2,'a':6}]",
            "{'field':'a','partitionByFields':['p'],'range':{'step':1,'bounds':'partition'}}",
            "[{'p':1,'a':1},{'p':1,'a':2},{'p':1,'a':3},{'p':2,'a':5},{'p':2,'a':6}]",
        ),
        (
            "[{'p':1,'a':1},{'p':2,'a':3}]",
            "{'field':'a','partitionByFields':['p'],'range':{'step':1,'bounds':'full'}}",
            "[{'p':1,'a':1},{'p':1,'a':2},{'p':1,'a':3},{'p':2,'a':1},{'p':2,'a':2},{'p':2,'a':3}]",
        ),
        (
            "[{'t':{'$day':'2020-01-31'}},{'t':{'$day':'2020-04-30'}}]",
            "{'field':'t','range':{'step':1,'unit':'month','bounds':'full'}}",
            "[{'t':{'$day':'2020-01-31'}},{'t':{'$day':'2020-02-29'}},{'t':{'$day':'2020-03-31'}},{'t':{'$day':'2020-04-30'}}]",
        ),
        (
            "[{'a':{'b':1}},{'a':{'b':3}}]",
            "{'field':'a.b','range':{'step':1,'bounds':'full'}}",
            "[{'a':{'b':1}},{'a':{'b':2}},{'a':{'b':3}}]",
        ),
    ] {
        check(documents, &format!("[{{'$densify':{argument}}}]"), expected);
    }
    for (documents, argument, code) in [
        ("[]", "1", 5733402),
        ("[]", "{}", 40414),
        ("[]", "{'field':'a','range':{'step':0,'bounds':'full'}}", 5733401),
        ("[]", "{'field':'a','range':{'step':1,'bounds':'x'}}", 5946802),
        ("[]", "{'field':'a','range':{'step':1,'bounds':'partition'}}", 5733408),
        ("[]", "{'field':'a','range':{'step':1,'bounds':[1]}}", 5733403),
        ("[]", "{'field':'a','range':{'step':1,'bounds':[2,1]}}", 5733402),
        ("[]", "{'field':'a','range':{'step':1,'bounds':['a','b']}}", 5733406),
        ("[]", "{'field':'a','range':{'step':1,'unit':'day','bounds':[1,2]}}", 5733409),
        ("[]", "{'field':'a','range':{'step':1,'unit':'day','bounds':[{'$day':'2020-01-01'},2]}}", 5733402),
        ("[]", "{'field':'a','range':{'step':'x','bounds':'full'}}", 14),
        ("[]", "{'field':'a','partitionByFields':['a.b'],'range':{'step':1,'bounds':'full'}}", 8993000),
        ("[]", "{'field':'a.b','partitionByFields':['a'],'range':{'step':1,'bounds':'full'}}", 9554500),
        ("[]", "{'field':'a','range':{'step':1.5,'unit':'day','bounds':'full'}}", 6586400),
        ("[{'a':'x'}]", "{'field':'a','range':{'step':1,'bounds':'full'}}", 5733201),
        ("[{'a':1}]", "{'field':'a','range':{'step':1,'unit':'day','bounds':'full'}}", 6053600),
        ("[{'a':{'$day':'2020-01-01'}}]", "{'field':'a','range':{'step':1,'bounds':'full'}}", 6053600),
        ("[{'a':0},{'a':500002}]", "{'field':'a','range':{'step':1,'bounds':'full'}}", 5897900),
    ] {
        check_error(documents, &format!("[{{'$densify':{argument}}}]"), code);
    }
}

#[test]
fn windows_that_slide_agree_with_those_that_begin_anew() {
    let documents: Vec<String> = (0..60)
        .map(|n| {
            format!(
                "{{'t':{},'v':{}}}",
                n * n % 61,
                ["3", "null", "'x'", "-8", "{'$numberLong':'5'}", "2147483647", "0"][n % 7]
            )
        })
        .collect();
    let documents = format!("[{}]", documents.join(","));
    for window in
        ["'documents':[-3,2]", "'documents':[2,5]", "'documents':[-5,-2]", "'range':[-7,4]", "'range':[1,9]"]
    {
        for function in ["$sum", "$avg", "$min", "$max"] {
            // What is pushed is the window itself, of which the expression makes the same.
            let pipeline = format!(
                "[{{'$setWindowFields':{{'sortBy':{{'t':1}},'output':{{'w':{{'{function}':'$v','window':{{{window}}}}},'p':{{'$push':'$v','window':{{{window}}}}}}}}}}},{{'$set':{{'e':{{'{function}':'$p'}}}}}}]"
            );
            for document in run_with(Memory::default(), &documents, &pipeline).unwrap() {
                assert_eq!(document.get("w"), document.get("e"), "{function} {window} {document:?}");
            }
        }
    }
}

#[test]
fn rates() {
    let tick = |ms: i64, v: i32| format!("{{'t':{{'$date':{{'$numberLong':'{ms}'}}}},'v':{v}}}");
    let ticks = format!(
        "[{},{},{},{}]",
        tick(1_577_836_800_000, 0),
        tick(1_577_836_800_002, 2),
        tick(1_577_836_800_004, 4),
        tick(1_577_836_800_006, 6)
    );
    for (function, expected) in [
        (
            "{'$integral':{'input':'$v','unit':'second'},'window':{'documents':[-1,1]}}",
            "[{'r':0.002},{'r':0.008},{'r':0.016},{'r':0.01}]",
        ),
        (
            "{'$derivative':{'input':'$v','unit':'minute'},'window':{'documents':[-1,0]}}",
            "[{'r':null},{'r':60000.0},{'r':60000.0},{'r':60000.0}]",
        ),
        (
            "{'$integral':{'input':'$v','unit':'second'},'window':{'range':[-1,-1],'unit':'millisecond'}}",
            "[{'r':null},{'r':null},{'r':null},{'r':null}]",
        ),
    ] {
        check(
            &ticks,
            &format!(
                "[{{'$setWindowFields':{{'sortBy':{{'t':1}},'output':{{'r':{function}}}}}}},{{'$project':{{'r':1}}}}]"
            ),
            expected,
        );
    }
    check(
        "[{'t':0,'v':100},{'t':1,'v':105},{'t':3,'v':108}]",
        "[{'$setWindowFields':{'sortBy':{'t':-1},'output':{'r':{'$derivative':{'input':'$v'},'window':{'documents':[0,1]}}}}},{'$project':{'r':1}}]",
        "[{'r':1.5},{'r':5.0},{'r':null}]",
    );
    check(
        "[{'t':0.5,'v':0},{'t':9},{'t':10.09283,'v':11.28374}]",
        "[{'$setWindowFields':{'sortBy':{'t':1},'output':{'v':{'$linearFill':'$v'}}}},{'$match':{'t':9}}]",
        "[{'t':9,'v':9.998278922903879}]",
    );
    check(
        "[{'_id':1},{'_id':2,'n':null},{'_id':3,'n':[null]},{'_id':4,'n':['abc',null]}]",
        "[{'$setWindowFields':{'sortBy':{'n':1},'output':{'r':{'$rank':{}}}}},{'$group':{'_id':'$r','n':{'$sum':1}}}]",
        "[{'_id':1,'n':4}]",
    );
}

#[test]
fn windows_that_grow_without_end_are_refused() {
    let documents: Vec<String> = (0..3000).map(|n| format!("{{'t':{n},'v':'0123456789'}}")).collect();
    check_error(
        &format!("[{}]", documents.join(",")),
        "[{'$setWindowFields':{'sortBy':{'t':1},'output':{'r':{'$push':'$v','window':{'documents':['unbounded','current']}}}}}]",
        292,
    );
}
