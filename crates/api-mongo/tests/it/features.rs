//! What `COMPAT.md` says of single features: those that are refused say so by a code, and rare ones work.

use armilla_value::{Object, Value, json};

use crate::client::Client;
use crate::values::{object, single, value};

/// Commands that are refused, each with the code that says how.
const REFUSED: &[(&str, i64)] = &[
    ("{'find':'c','collation':{'locale':'en'}}", 115),
    ("{'aggregate':'c','pipeline':[],'cursor':{},'collation':{'locale':'de','strength':2}}", 115),
    ("{'update':'c','updates':[{'q':{},'u':{'$set':{'a':1}},'collation':{'locale':'fr'}}]}", 115),
    ("{'createIndexes':'c','indexes':[{'key':{'a':1},'name':'x','collation':{'locale':'en'}}]}", 115),
    ("{'createIndexes':'c','indexes':[{'key':{'a':'text'},'name':'x'}]}", 67),
    ("{'createIndexes':'c','indexes':[{'key':{'a':'2d'},'name':'x'}]}", 67),
    ("{'find':'c','returnKey':true}", 238),
    ("{'find':'c','showRecordId':true}", 238),
    ("{'find':'c','tailable':true}", 2),
    ("{'find':'c','filter':{'$where':'true'}}", 115),
    ("{'find':'c','filter':{'$text':{'$search':'a'}}}", 115),
    ("{'find':'c','projection':{'s':{'$meta':'textScore'}}}", 40_218),
    ("{'aggregate':'c','pipeline':[{'$set':{'a':{'$toHashedIndexKey':1}}}],'cursor':{}}", 238),
    (
        "{'aggregate':'c','pipeline':[{'$set':{'a':{'$function':{'body':'x','args':[],'lang':'js'}}}}],'cursor':{}}",
        238,
    ),
    (
        "{'aggregate':'c','pipeline':[{'$group':{'_id':1,'a':{'$accumulator':{'init':'x','accumulate':'x',\
         'accumulateArgs':[],'merge':'x','lang':'js'}}}}],'cursor':{}}",
        238,
    ),
    ("{'create':'x','capped':true,'size':1000}", 115),
    ("{'create':'x','timeseries':{'timeField':'t'}}", 115),
    ("{'create':'x','clusteredIndex':{'key':{'a':1},'unique':true}}", 197),
    ("{'mapReduce':'c','map':'x','reduce':'x','out':{'inline':1}}", 115),
    ("{'bulkWrite':1,'ops':[],'nsInfo':[]}", 115),
    ("{'createRole':'x','privileges':[],'roles':[]}", 115),
    ("{'addShard':'x'}", 115),
    ("{'moveChunk':'d.c'}", 115),
    ("{'profile':1}", 115),
    ("{'shardCollection':'d.unique','key':{'a':1},'unique':true}", 115),
    ("{'customAction':'GetChangeStreamTokens','collection':'c'}", 115),
    ("{'createSearchIndexes':'c','indexes':[]}", 31_082),
    ("{'configureFailPoint':'anotherFailPoint','mode':'alwaysOn'}", 115),
    ("{'atlasVersion':1}", 59),
];

#[tokio::test]
async fn what_there_is_not_is_refused_by_its_code() {
    let mut client = Client::new().await;
    client.run_text("{'insert':'c','documents':[{'_id':1}]}").await;
    for (command, code) in REFUSED {
        let reply = client.send("d", object(command)).await;
        let of_statement = || {
            let errors = reply.get("writeErrors")?.as_array()?;
            errors.first()?.get("code")
        };
        let found = reply.get("code").or_else(of_statement).and_then(Value::as_i64);
        assert_eq!(found, Some(*code), "{command}: {reply:?}");
    }
    let snapshot = object("{'count':'c','readConcern':{'level':'snapshot'}}");
    assert_eq!(client.try_run("d", snapshot).await.err(), Some(72));
}

/// Expressions that few use, with what they give.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("{'$tsSecond':{'$timestamp':{'t':7,'i':2}}}", "7"),
    ("{'$tsIncrement':{'$timestamp':{'t':7,'i':2}}}", "2"),
    ("{'$median':{'input':[1,2,3],'method':'approximate'}}", "2.0"),
    ("{'$percentile':{'input':[1,2,3,4],'p':[0.5,1],'method':'approximate'}}", "[2.0,4.0]"),
    ("{'$sin':0}", "0.0"),
    ("{'$cosh':0}", "1.0"),
    ("{'$degreesToRadians':0}", "0.0"),
    ("{'$atan2':[0,1]}", "0.0"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rare_expressions_work() {
    let mut client = Client::new().await;
    client.run_text("{'insert':'c','documents':[{'_id':1}]}").await;
    for (expression, expected) in EXPRESSIONS {
        let project = format!(
            "{{'aggregate':'c','pipeline':[{{'$project':{{'_id':0,'x':{expression}}}}}],'cursor':{{}}}}"
        );
        let found =
            client.read_all(object(&project)).await.unwrap_or_else(|code| panic!("{expression}: {code}"));
        assert_eq!(
            json::to_string(found[0].get("x").unwrap()),
            json::to_string(&value(expected)),
            "{expression}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rare_stages_work() {
    let mut client = Client::new().await;
    let places = "{'insert':'c','documents':[{'_id':1,'p':[0.0,0.0]},{'_id':2,'p':[1.0,1.0]}]}";
    client.run_text(places).await;
    client.run_text("{'createIndexes':'c','indexes':[{'key':{'p':'2dsphere'},'name':'p'}]}").await;
    let near = "{'aggregate':'c','pipeline':[{'$geoNear':{'near':{'type':'Point','coordinates':[1.0,1.0]},\
                'distanceField':'far','spherical':true}}],'cursor':{}}";
    let found = client.read_all(object(near)).await.unwrap();
    let ids: Vec<&Value> = found.iter().map(|document| document.get("_id").unwrap()).collect();
    assert_eq!(ids, [&Value::Int32(2), &Value::Int32(1)]);
    for stage in ["{'$planCacheStats':{}}", "{'$indexStats':{}}", "{'$collStats':{'count':{}}}"] {
        let command = format!("{{'aggregate':'c','pipeline':[{stage}],'cursor':{{}}}}");
        assert!(client.read_all(object(&command)).await.is_ok(), "{stage}");
    }
    let mut sessions = object("{'aggregate':1,'pipeline':[{'$listLocalSessions':{}}],'cursor':{}}");
    sessions.insert("lsid", single("id", Value::Binary { subtype: 4, bytes: vec![3; 16] }));
    let reply: Object = client.run(sessions).await;
    assert!(reply.contains("cursor"));
}
