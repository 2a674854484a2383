//! Commits of which it is not known whether they were stored, and what clients are told that send them again.

use std::sync::Arc;

use armilla_kv::fault::{Fault, FaultStore};
use armilla_kv::memory::MemoryStore;
use armilla_value::{Object, Value};

use crate::client::Client;
use crate::values::{object, single};

/// Makes a command part of a session.
fn numbered(mut command: Object, number: i64) -> Object {
    command.insert("lsid", single("id", Value::Binary { subtype: 4, bytes: vec![9; 16] }));
    command.insert("txnNumber", Value::Int64(number));
    command
}

/// Makes a command part of a transaction.
fn part(command: &str, number: i64) -> Object {
    let mut command = numbered(object(command), number);
    command.insert("autocommit", false);
    command
}

/// Begins a transaction that inserts a document.
async fn begin(client: &mut Client, id: i32, number: i64) {
    let mut command = part(&format!("{{'insert':'c','documents':[{{'_id':{id}}}]}}"), number);
    command.insert("startTransaction", true);
    let reply = client.run(command).await;
    assert_eq!(reply.get("n").and_then(Value::as_i64), Some(1), "{reply:?}");
}

/// Sends a command to the database `admin`; returns its code, 0 where it succeeded, and its labels.
async fn ask(client: &mut Client, command: Object) -> (i64, Vec<String>) {
    told(&client.send("admin", command).await)
}

fn told(reply: &Object) -> (i64, Vec<String>) {
    let labels = reply.get("errorLabels").and_then(Value::as_array).unwrap_or_default();
    let labels = labels.iter().map(|label| label.as_str().unwrap().to_owned()).collect();
    (reply.get("code").and_then(Value::as_i64).unwrap_or(0), labels)
}

async fn count(client: &mut Client) -> usize {
    client.read_all(single("find", "c")).await.unwrap().len()
}

async fn with_collection() -> (Arc<FaultStore>, Client) {
    let store = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
    let mut client = Client::on(store.clone(), false).await;
    client.run_text("{'insert':'c','documents':[{'_id':0}]}").await;
    (store, client)
}

const COMMIT: &str = "{'commitTransaction':1}";
const ABORT: &str = "{'abortTransaction':1}";

fn in_doubt() -> (i64, Vec<String>) {
    (262, vec!["RetryableWriteError".to_owned(), "UnknownTransactionCommitResult".to_owned()])
}

fn over() -> (i64, Vec<String>) {
    (251, vec!["TransientTransactionError".to_owned()])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_in_doubt_is_found_out_when_it_is_asked_again() {
    let (store, mut client) = with_collection().await;
    begin(&mut client, 1, 1).await;
    store.fail_next_commit(Fault::UnknownApplied);
    assert_eq!(ask(&mut client, part(COMMIT, 1)).await, in_doubt());
    // It cannot be found out yet, and nobody says what is not known.
    store.kill();
    assert_eq!(ask(&mut client, part(COMMIT, 1)).await, in_doubt());
    let aborted = ask(&mut client, part(ABORT, 1)).await;
    assert_eq!(aborted, (262, vec!["RetryableWriteError".to_owned()]));
    store.revive();
    // No statement is taken any more, and none makes a driver do all of it again.
    let statement = client.send("d", part("{'insert':'c','documents':[{'_id':9}]}", 1)).await;
    assert_eq!(told(&statement), (262, Vec::new()));
    for _ in 0..2 {
        assert_eq!(ask(&mut client, part(COMMIT, 1)).await, (0, Vec::new()));
    }
    assert_eq!(ask(&mut client, part(ABORT, 1)).await.0, 256);
    assert_eq!(count(&mut client).await, 2);

    begin(&mut client, 2, 2).await;
    store.fail_next_commit(Fault::UnknownNotApplied);
    assert_eq!(ask(&mut client, part(COMMIT, 2)).await, in_doubt());
    for _ in 0..2 {
        assert_eq!(ask(&mut client, part(COMMIT, 2)).await, over());
    }
    assert_eq!(count(&mut client).await, 2);
    begin(&mut client, 2, 3).await;
    assert_eq!(ask(&mut client, part(COMMIT, 3)).await, (0, Vec::new()));
    assert_eq!(count(&mut client).await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_in_doubt_is_aborted_only_where_it_was_not_stored() {
    let (store, mut client) = with_collection().await;
    begin(&mut client, 1, 1).await;
    store.fail_next_commit(Fault::UnknownApplied);
    assert_eq!(ask(&mut client, part(COMMIT, 1)).await, in_doubt());
    assert_eq!(ask(&mut client, part(ABORT, 1)).await.0, 256);
    assert_eq!(count(&mut client).await, 2);
    begin(&mut client, 2, 2).await;
    store.fail_next_commit(Fault::UnknownNotApplied);
    assert_eq!(ask(&mut client, part(COMMIT, 2)).await, in_doubt());
    assert_eq!(ask(&mut client, part(ABORT, 2)).await, (0, Vec::new()));
    assert_eq!(ask(&mut client, part(COMMIT, 2)).await, over());
    assert_eq!(count(&mut client).await, 2);
}

/// The receipt of one that was given up is none of one that was stored, also for who knows nothing else of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_given_up_is_not_taken_for_stored() {
    let (store, mut client) = with_collection().await;
    begin(&mut client, 1, 1).await;
    store.fail_next_commit(Fault::UnknownNotApplied);
    assert_eq!(ask(&mut client, part(COMMIT, 1)).await, in_doubt());
    assert_eq!(ask(&mut client, part(COMMIT, 1)).await, over());
    begin(&mut client, 1, 2).await;
    store.fail_next_commit(Fault::UnknownApplied);
    assert_eq!(ask(&mut client, part(COMMIT, 2)).await, in_doubt());
    client.run_text("{'killAllSessions':[]}").await;
    assert_eq!(ask(&mut client, part(COMMIT, 1)).await, over());
    client.run_text("{'killAllSessions':[]}").await;
    assert_eq!(ask(&mut client, part(COMMIT, 2)).await, (0, Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_is_asked_for_twice_at_once_has_one_answer() {
    let (store, mut client) = with_collection().await;
    let mut other = client.another().await;
    for number in 1..=20 {
        begin(&mut client, number, number.into()).await;
        store.fail_next_commit(Fault::ReportLate { polls: 20 });
        let (first, second) = tokio::join!(
            ask(&mut client, part(COMMIT, number.into())),
            ask(&mut other, part(COMMIT, number.into()))
        );
        let stored = client.read_all(object(&format!("{{'find':'c','filter':{{'_id':{number}}}}}"))).await;
        let expected = if stored.unwrap().is_empty() { (false, false) } else { (true, true) };
        assert_eq!((first.0 == 0, second.0 == 0), expected, "{first:?} {second:?}");
        store.calm();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_says_that_nothing_was_written_only_where_nothing_was() {
    let (store, mut client) = with_collection().await;
    let retryable = vec!["RetryableWriteError".to_owned()];
    let nothing_written = vec!["RetryableWriteError".to_owned(), "NoWritesPerformed".to_owned()];
    let insert = |id: i32| object(&format!("{{'insert':'c','documents':[{{'_id':{id}}}]}}"));

    store.fail_next_commit(Fault::FailBefore);
    assert_eq!(told(&client.send("d", numbered(insert(1), 1)).await), (262, nothing_written));
    store.fail_next_commit(Fault::UnknownApplied);
    assert_eq!(told(&client.send("d", numbered(insert(2), 2)).await), (262, retryable.clone()));
    let again = client.send("d", numbered(insert(2), 2)).await;
    assert_eq!((told(&again).0, again.get("writeErrors")), (0, None), "{again:?}");

    // The first hundred are stored together, and the last one is not.
    let documents: Vec<String> = (100..=200).map(|id| format!("{{'_id':{id}}}")).collect();
    let many = object(&format!("{{'insert':'c','documents':[{}]}}", documents.join(",")));
    store.kill_after_commits(1);
    assert_eq!(told(&client.send("d", numbered(many.clone(), 3)).await), (262, retryable));
    store.revive();
    let reply = client.send("d", numbered(many, 3)).await;
    assert_eq!(reply.get("n").and_then(Value::as_i64), Some(101), "{reply:?}");
    assert_eq!(count(&mut client).await, 103);
}

/// Two documents match, and a delete that is sent again deletes no second one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delete_in_doubt_is_done_once() {
    let (store, mut client) = with_collection().await;
    client.run_text("{'insert':'c','documents':[{'_id':1,'a':1},{'_id':2,'a':1}]}").await;
    let delete = numbered(object("{'delete':'c','deletes':[{'q':{'a':1},'limit':1}]}"), 1);
    store.fail_next_commit(Fault::UnknownApplied);
    assert_eq!(told(&client.send("d", delete.clone()).await).0, 262);
    let reply = client.send("d", delete).await;
    assert_eq!((told(&reply).0, reply.get("writeErrors")), (0, None), "{reply:?}");
    assert_eq!(reply.get("n").and_then(Value::as_i64), Some(1), "{reply:?}");
    assert_eq!(count(&mut client).await, 2);
}
