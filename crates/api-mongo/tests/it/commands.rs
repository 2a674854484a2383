//! Commands one by one, where a message says more than a driver shows.

use armilla_value::{Object, Value};

use crate::client::Client;
use crate::values::{object, single};

fn code(reply: &Object) -> Option<i64> {
    reply.get("code").and_then(Value::as_i64)
}

#[tokio::test]
async fn strangers_get_in_with_the_key_only() {
    let client = Client::new().await;
    let mut stranger = client.stranger();
    assert_eq!(stranger.try_run("d", single("find", "c")).await, Err(13));
    assert!(stranger.try_run("admin", object("{'hello':1}")).await.is_ok());
    assert_eq!(stranger.log_in("another key").await, Err(18));
    assert_eq!(stranger.try_run("d", single("find", "c")).await, Err(13));
    assert_eq!(stranger.log_in("dGhlIGtleSBvZiB0aGUgYWNjb3VudA==").await, Ok(()));
    assert!(stranger.try_run("d", single("find", "c")).await.is_ok());
}

#[tokio::test]
async fn what_wants_no_reply_gets_none() {
    let mut client = Client::new().await;
    assert!(client.tell("d", object("{'insert':'c','documents':[{'_id':1}],'writeConcern':{'w':0}}")).await);
    assert!(client.tell("d", object("{'noSuchCommand':1}")).await);
    assert!(client.tell("d", object("{'insert':'c','documents':[{'_id':1}],'writeConcern':{'w':0}}")).await);
    assert_eq!(client.read_all(single("find", "c")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn every_reply_tells_the_time_and_it_goes_on() {
    let mut client = Client::new().await;
    let mut last = (0, 0);
    for number in 0..5 {
        let mut insert = object("{'insert':'c'}");
        insert.insert("documents", Value::Array(vec![single("_id", Value::Int32(number)).into()]));
        let reply = client.run(insert).await;
        let Some(Value::Timestamp { seconds, increment }) = reply.get("operationTime") else {
            panic!("{reply:?}")
        };
        assert!((*seconds, *increment) > last, "{reply:?} after {last:?}");
        last = (*seconds, *increment);
        let told = reply.get("$clusterTime").and_then(|time| time.get("clusterTime")).unwrap();
        assert_eq!(Some(told), reply.get("operationTime"));
    }
    let failure = client.send("d", object("{'noSuchCommand':1}")).await;
    assert_eq!(code(&failure), Some(59));
    assert!(failure.contains("operationTime") && failure.contains("$clusterTime"));
}

#[tokio::test]
async fn cursors_belong_to_no_connection() {
    let mut client = Client::new().await;
    let documents: Vec<Object> = (0..10).map(|number| single("_id", Value::Int32(number))).collect();
    client.insert("c", &documents).await;
    let reply = client.run_text("{'find':'c','batchSize':4}").await;
    let id = reply.get("cursor").and_then(|cursor| cursor.get("id")).unwrap().clone();
    let mut other = client.stranger();
    let more = |id: &Value, collection: &str| {
        let mut more = single("getMore", id.clone());
        more.insert("collection", collection);
        more
    };
    assert_eq!(other.try_run("d", more(&id, "c")).await, Err(13));
    other.log_in("dGhlIGtleSBvZiB0aGUgYWNjb3VudA==").await.unwrap();
    assert_eq!(other.try_run("d", more(&id, "another")).await, Err(13));
    let rest = other.try_run("d", more(&id, "c")).await.unwrap();
    let rest =
        rest.get("cursor").and_then(|cursor| cursor.get("nextBatch")).and_then(Value::as_array).unwrap();
    assert_eq!(rest.len(), 6);
    assert_eq!(other.try_run("d", more(&id, "c")).await, Err(43));
}

/// A write that is sent again is done once, and its answer is the one of the first time.
#[tokio::test]
async fn writes_that_are_sent_again_are_done_once() {
    let mut client = Client::new().await;
    let session = |mut command: Object, number: i64| {
        let id = Value::Binary { subtype: 4, bytes: vec![7; 16] };
        command.insert("lsid", single("id", id));
        command.insert("txnNumber", Value::Int64(number));
        command
    };
    let number = |reply: &Object, name: &str| reply.get(name).and_then(Value::as_i64);
    let insert = session(object("{'insert':'c','documents':[{'_id':1,'n':0},{'_id':2,'n':0}]}"), 1);
    for _ in 0..2 {
        let reply = client.run(insert.clone()).await;
        assert_eq!((number(&reply, "n"), reply.get("writeErrors")), (Some(2), None));
    }
    let update = session(object("{'update':'c','updates':[{'q':{'_id':1},'u':{'$inc':{'n':1}}}]}"), 2);
    for _ in 0..3 {
        let reply = client.run(update.clone()).await;
        assert_eq!((number(&reply, "n"), number(&reply, "nModified")), (Some(1), Some(1)));
    }
    let modify =
        session(object("{'findAndModify':'c','query':{'_id':1},'update':{'$inc':{'n':1}},'new':true}"), 3);
    for _ in 0..3 {
        let reply = client.run(modify.clone()).await;
        assert_eq!(reply.get("value").and_then(|value| value.get("n")).and_then(Value::as_i64), Some(2));
    }
    let delete = session(object("{'delete':'c','deletes':[{'q':{'_id':2},'limit':1}]}"), 4);
    for _ in 0..2 {
        assert_eq!(number(&client.run(delete.clone()).await, "n"), Some(1));
    }
    assert_eq!(
        client.try_run("d", session(object("{'insert':'c','documents':[{'_id':3}]}"), 2)).await,
        Err(225)
    );
    let left = client.read_all(single("find", "c")).await.unwrap();
    assert_eq!(left, [object("{'_id':1,'n':2}")]);
}

#[tokio::test]
async fn no_command_makes_the_answers_of_others_large() {
    // It is moved with every message: once it had 22 KB, nearly all of them for the end of transactions.
    let bytes = Client::new().await.answer_bytes();
    assert!(bytes <= 4 * 1024, "{bytes} bytes");
}
