//! `$bucket` and `$bucketAuto`.

use crate::testing::{check, check_error};

#[test]
fn buckets() {
    let documents =
        "[{'_id':1,'a':5},{'_id':2,'a':0},{'_id':3,'a':9.5},{'_id':4,'a':10},{'_id':5,'a':'x'},{'_id':6}]";
    check(
        documents,
        "[{'$bucket':{'groupBy':'$a','boundaries':[0,5,10],'default':'other'}}]",
        "[{'_id':0,'count':1},{'_id':5,'count':2},{'_id':'other','count':3}]",
    );
    check(
        documents,
        "[{'$match':{'a':{'$lt':10}}},{'$bucket':{'groupBy':'$a','boundaries':[0,5,10],'output':{'ids':{'$push':'$_id'}}}}]",
        "[{'_id':0,'ids':[2]},{'_id':5,'ids':[1,3]}]",
    );
    check_error(documents, "[{'$bucket':{'groupBy':'$a','boundaries':[0,5,10]}}]", 40066);
    for (argument, code) in [
        ("1", 40201),
        ("{'x':1}", 40197),
        ("{'groupBy':'$a'}", 40198),
        ("{'groupBy':'a','boundaries':[0,1]}", 40202),
        ("{'groupBy':{'a':1},'boundaries':[0,1]}", 40202),
        ("{'groupBy':'$a','boundaries':1}", 40200),
        ("{'groupBy':'$a','boundaries':['$a',1]}", 40191),
        ("{'groupBy':'$a','boundaries':[1]}", 40192),
        ("{'groupBy':'$a','boundaries':[1,'a']}", 40193),
        ("{'groupBy':'$a','boundaries':[1,1]}", 40194),
        ("{'groupBy':'$a','boundaries':[0,1],'default':'$a'}", 40195),
        ("{'groupBy':'$a','boundaries':[0,1],'default':0.5}", 40199),
        ("{'groupBy':'$a','boundaries':[0,1],'output':1}", 40196),
    ] {
        check_error("[]", &format!("[{{'$bucket':{argument}}}]"), code);
    }
}

#[test]
fn automatic_buckets() {
    let documents = format!("[{}]", (0..10).map(|n| format!("{{'a':{n}}}")).collect::<Vec<_>>().join(","));
    for (argument, expected) in [
        (
            "{'groupBy':'$a','buckets':2}",
            "[{'_id':{'min':0,'max':5},'count':5},{'_id':{'min':5,'max':9},'count':5}]",
        ),
        (
            "{'groupBy':'$a','buckets':3}",
            "[{'_id':{'min':0,'max':3},'count':3},{'_id':{'min':3,'max':6},'count':3},{'_id':{'min':6,'max':9},'count':4}]",
        ),
        ("{'groupBy':'$a','buckets':1,'output':{'s':{'$sum':'$a'}}}", "[{'_id':{'min':0,'max':9},'s':45}]"),
        (
            "{'groupBy':'$a','buckets':2,'granularity':'R5'}",
            "[{'_id':{'min':0.0,'max':6.3},'count':7},{'_id':{'min':6.3,'max':10.0},'count':3}]",
        ),
    ] {
        check(&documents, &format!("[{{'$bucketAuto':{argument}}}]"), expected);
    }
    // Equal values stay together.
    check(
        "[{'a':1},{'a':1},{'a':1},{'a':2}]",
        "[{'$bucketAuto':{'groupBy':'$a','buckets':4}}]",
        "[{'_id':{'min':1,'max':2},'count':3},{'_id':{'min':2,'max':2},'count':1}]",
    );
    check("[]", "[{'$bucketAuto':{'groupBy':'$a','buckets':4}}]", "[]");
    check(
        "[{}]",
        "[{'$bucketAuto':{'groupBy':'$a','buckets':4,'output':{}}}]",
        "[{'_id':{'min':null,'max':null},'count':1}]",
    );
    // The bucket of zeros ends where the next begins.
    check(
        "[{'a':0},{'a':1},{'a':7}]",
        "[{'$bucketAuto':{'groupBy':'$a','buckets':3,'granularity':'R5'}}]",
        "[{'_id':{'min':0.0,'max':0.63},'count':1},{'_id':{'min':0.63,'max':1.6},'count':1},{'_id':{'min':1.6,'max':10.0},'count':1}]",
    );
    for (argument, code) in [
        ("1", 40240),
        ("{'x':1}", 40245),
        ("{'groupBy':'$a'}", 40246),
        ("{'groupBy':1,'buckets':1}", 40239),
        ("{'groupBy':{'a':'$a'},'buckets':1}", 40239),
        ("{'groupBy':'$a','buckets':'x'}", 40241),
        ("{'groupBy':'$a','buckets':1.5}", 40242),
        ("{'groupBy':'$a','buckets':0}", 40243),
        ("{'groupBy':'$a','buckets':1,'output':1}", 40244),
        ("{'groupBy':'$a','buckets':1,'granularity':1}", 40261),
        ("{'groupBy':'$a','buckets':1,'granularity':'x'}", 40257),
    ] {
        check_error("[]", &format!("[{{'$bucketAuto':{argument}}}]"), code);
    }
    for (document, code) in
        [("{'a':'x'}", 40258), ("{'a':-1}", 40260), ("{'a':{'$numberDouble':'NaN'}}", 40259)]
    {
        check_error(
            &format!("[{document}]"),
            "[{'$bucketAuto':{'groupBy':'$a','buckets':1,'granularity':'R5'}}]",
            code,
        );
    }
}
